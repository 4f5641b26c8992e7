//! `host model`: what is known about models, and newer facts about them.
//!
//! Deliberately not here: which model is asked (`host-settings`), and the catalogue itself (`host-model`).

use std::fmt::Write as _;

use host_app::report::run_stats::count;
use host_model::{Catalogue, Effort, ListPrice, ModelFacts};
use host_settings::configuration::Configuration;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::models::known;
use host_text::{counted, exact, nearest, visible_line};
use jiff::Zoned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::model::Model;
use crate::exit::Code;
use crate::printer::Out;

pub(crate) async fn run(command: Model, environment: Environment) -> Result<Code, Failure> {
    let text = match command {
        Model::List { json } => list(&environment, json)?,
        Model::Show { id, json } => show(&id, &environment, json)?,
        Model::Update { from } => update(&from, &environment).await?,
    };
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// The configuration of the user alone: no project changes what is known about models.
fn configuration(environment: &Environment) -> Result<Configuration, Failure> {
    Configuration::read(environment, &environment.folders()?)
}

fn list(environment: &Environment, json: bool) -> Result<String, Failure> {
    let known = configuration(environment)?.known;
    let catalogues: Vec<&Catalogue> = known.catalogues().collect();
    // What an earlier catalogue has is not what counts of a later one.
    let mut found: Vec<&ModelFacts> = Vec::new();
    for facts in catalogues.iter().flat_map(|catalogue| catalogue.models()) {
        if found.iter().all(|other| other.id != facts.id) {
            found.push(facts);
        }
    }
    if json {
        return Ok(format!("{:#}\n", json!(found)));
    }
    let width = found.iter().map(|facts| facts.id.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for facts in &found {
        let price = facts.prices.map(price).unwrap_or_default();
        let line = format!("{:width$}  {:>6}  {:24}  {price}", facts.id, count(facts.window), efforts(&facts.efforts));
        // A string takes everything.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let read = catalogues.iter().map(|catalogue| format!("{} ({})", visible_line(&catalogue.source), catalogue.read));
    let read: Vec<String> = read.collect();
    let _ = writeln!(
        text,
        "\n{}: name, window, efforts, US dollars for a million tokens sent / cached / received.\nFrom {}.",
        counted(found.len(), "model"),
        read.join(", then ")
    );
    Ok(text)
}

fn show(id: &str, environment: &Environment, json: bool) -> Result<String, Failure> {
    let known = configuration(environment)?.known;
    // `openai/gpt-5`, or the service's own name, which may have a `/` as well.
    let Some(facts) = known.find(id) else {
        let names = known.catalogues().flat_map(|catalogue| catalogue.models().iter().map(|facts| facts.id.as_str()));
        let failure = Failure::input(format!("nothing is known about the model `{}`", visible_line(id)));
        return Err(match nearest(id, names) {
            Some(name) => failure.help(format!("did you mean `{name}`? `host model list` has all")),
            None => failure.help("`host model list` has all; `host model update` fetches newer facts"),
        });
    };
    if json {
        return Ok(format!("{:#}\n", json!(facts)));
    }
    let mut text = format!("{}\n", exact(&facts.id));
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<14}{value}");
    };
    row("window", format!("{} tokens", facts.window));
    if let Some(output) = facts.output {
        row("answer", format!("up to {output} tokens"));
    }
    if let Some(comfortable) = known.comfortable(&facts.id) {
        row("compressed", format!("from {comfortable} tokens on, unless `[compression] threshold` is set"));
    }
    if !facts.efforts.is_empty() {
        let usual = facts.usual_effort().map(|effort| format!(" (usually {effort})")).unwrap_or_default();
        row("efforts", format!("{}{usual}", efforts(&facts.efforts)));
    }
    let takes: Vec<&str> = [(facts.images, "images"), (facts.pdfs, "PDFs")]
        .into_iter()
        .filter_map(|(has, what)| has.then_some(what))
        .collect();
    if !takes.is_empty() {
        row("also reads", takes.join(", "));
    }
    if let Some(prices) = facts.prices {
        row("price", format!("{} US dollars for a million tokens sent / cached / received", price(prices)));
    }
    if let Some(long) = facts.long {
        row("long requests", format!("{} above {} tokens", price(long.price), long.above));
    }
    Ok(text)
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

fn efforts(efforts: &[Effort]) -> String {
    match efforts {
        [] => "-".to_owned(),
        [one] => one.to_string(),
        [least, .., most] => format!("{least} to {most}"),
    }
}

fn price(ListPrice { input, cached, output, .. }: ListPrice) -> String {
    format!("{input} / {} / {output}", cached.unwrap_or(input))
}
