//! `host skill`: which skills there are here, and whether a folder is a valid one.

use std::path::Path;

use host_extensions::plugins::{brought, sources::installed};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::Project;
use host_settings::skills::{self, Skills, listed};
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(crate) fn run(command: &arguments::Skill, environment: &Environment) -> Result<Code, Failure> {
    let text = match command {
        arguments::Skill::List { json } => list(environment, *json)?,
        arguments::Skill::Check { folder } => check(folder)?,
    };
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

fn list(environment: &Environment, json: bool) -> Result<String, Failure> {
    let here = std::fs::canonicalize(".")
        .map_err(|error| Failure::input(format!("the current folder cannot be read: {error}")))?;
    let folders = environment.folders()?;
    let project = Project::find(&here, &folders)?;
    printer::notes(project.note().as_slice(), environment);
    let files = project.files();
    let plugins = installed(&files, &folders, &here)?;
    let found = skills::sources::find(&files.skills, &here, environment, &folders, &brought(&plugins))?;
    let skills = Skills::read(found, files.unlisted_skills);
    printer::notes(&skills.notices, environment);
    Ok(if json { format!("{:#}\n", listed::json(&skills)) } else { listed::text(&skills) })
}

fn check(folder: &Path) -> Result<String, Failure> {
    let skill = skills::check(folder)?;
    Ok(format!("`{}` is a valid skill.\n", skill.name))
}
