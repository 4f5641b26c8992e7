//! `host skill`: which skills there are here, and whether a folder is a valid one.

use std::fmt::Write as _;
use std::path::Path;

use host_extensions::plugins::{brought, sources::installed};
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::Project;
use host_settings::skills::{self, Skills};
use host_text::{excerpt, visible_line};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::exit::Code;
use crate::printer::{self, Out};

/// Maximum number of characters of a description in the list: it is one line.
const FIRST_WORDS: usize = 100;

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
    if json {
        let rows = skills.all().map(|skill| {
            json!({
                "name": skill.file.name,
                "description": skill.file.description,
                "source": skill.origin.words(),
                "path": skill.path(),
            })
        });
        return Ok(format!("{:#}\n", Value::Array(rows.collect())));
    }
    let mut text = String::new();
    for skill in skills.all() {
        // A string takes everything.
        let _ = writeln!(text, "{}  {}, {}", skill.file.name, skill.origin.words(), skill.place());
        let _ = writeln!(text, "  {}", excerpt(&skill.file.description, FIRST_WORDS));
        if !skill.file.compatibility.is_empty() {
            let _ = writeln!(text, "  needs: {}", visible_line(&skill.file.compatibility));
        }
    }
    if text.is_empty() {
        text.push_str("There are no skills here. docs/skills.md says where they are looked for.\n");
    }
    Ok(text)
}

fn check(folder: &Path) -> Result<String, Failure> {
    let skill = skills::check(folder)?;
    Ok(format!("`{}` is a valid skill.\n", skill.name))
}
