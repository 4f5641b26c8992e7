//! `host agent`: which agents there are, what each of them is, and what the main one's model gets.

use host_app::session::pages::agents as pages;
use host_app::session::prompt_report;
use host_extensions::agents::Agents;
use host_extensions::plugins::brought;
use host_extensions::plugins::sources::installed;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::Project;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::exit::Code;
use crate::printer::{self, Out};

pub(crate) async fn run(
    command: arguments::Agent,
    environment: Environment,
    stop: CancellationToken,
) -> Result<Code, Failure> {
    let out = Out::new(stop.clone());
    let text = match command {
        arguments::Agent::Prompt { model, headless, sizes, place, access } => {
            let app = super::tool::open(&place, &access, &environment, &stop).await?;
            let report = prompt_report::read(&app, model.as_deref(), !headless).await?;
            pages::prompt(&report, !headless, sizes)
        }
        arguments::Agent::List { json } => {
            let agents = Found::read(&environment)?.agents;
            match json {
                true => printer::json(&agents.all().iter().map(pages::row).collect::<Value>())?,
                false => pages::page(agents.all()).text(),
            }
        }
        arguments::Agent::Show { name, json } => {
            let Found { agents, project } = Found::read(&environment)?;
            let agent = agents.find(&name, &project)?;
            if json { printer::json(&pages::whole(agent))? } else { pages::show(agent) }
        }
    };
    out.write(&text);
    Ok(Code::Done)
}

/// The agents of the current folder, and its project.
struct Found {
    agents: Agents,
    project: Project,
}

impl Found {
    fn read(environment: &Environment) -> Result<Self, Failure> {
        let folders = environment.folders()?;
        let here = std::fs::canonicalize(".")
            .map_err(|error| Failure::input(format!("the current folder cannot be read: {error}")))?;
        let project = Project::find(&here, &folders)?;
        printer::notes(project.note().as_slice(), environment);
        let files = project.files();
        let configuration = Configuration::read(environment, &folders, files.configuration.as_ref())?;
        let plugins = installed(&files, &folders, &here)?;
        let agents = Agents::read(&folders, &configuration, &files.agents, &brought(&plugins))?;
        printer::notes(agents.left_out(), environment);
        Ok(Self { agents, project })
    }
}
