//! `host model`: what is known about models, and newer facts about them.
//!
//! Deliberately not here: which model is asked (`host-settings`), and the catalogue itself (`host-model`).

use host_app::session::pages::models;
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::models::known;
use host_text::{counted, visible_line};
use jiff::Zoned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::model::Model;
use crate::exit::Code;
use crate::printer::Out;

pub(crate) async fn run(command: Model, environment: Environment) -> Result<Code, Failure> {
    let text = match command {
        Model::List { json: true } => format!("{:#}\n", json!(models::all(&configuration(&environment)?.known))),
        Model::List { json: false } => models::list(&configuration(&environment)?.known),
        Model::Show { id, json } => {
            let known = configuration(&environment)?.known;
            let facts = models::find(&known, &id)?;
            if json { format!("{:#}\n", json!(facts)) } else { models::show(&known, facts) }
        }
        Model::Update { from } => update(&from, &environment).await?,
    };
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// The configuration of the user alone: no project changes what is known about models.
fn configuration(environment: &Environment) -> Result<Configuration, Failure> {
    Configuration::read(environment, &environment.folders()?, None)
}

async fn update(from: &str, environment: &Environment) -> Result<String, Failure> {
    let folders = environment.folders()?;
    let catalogue = known::get(from, Zoned::now().date()).await?;
    known::save(&catalogue, &folders)?;
    Ok(format!(
        "Saved {} of {} (read on {}) in {}.\n",
        counted(catalogue.models().len(), "model"),
        visible_line(&catalogue.source),
        catalogue.read,
        known::path(&folders).display()
    ))
}
