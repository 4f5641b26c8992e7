//! What is known about models.

use std::fmt::Write as _;

use host_model::{Effort, KnownModels, ListPrice, ModelFacts, Verbosity};
use host_settings::error::Failure;
use host_text::{Advice, counted, exact, nearest, visible_line};

use host_sessions::report::run_stats::count;

/// Returns the models of all catalogues. What an earlier catalogue has is not what counts of a later one.
pub fn all(known: &KnownModels) -> Vec<&ModelFacts> {
    let mut found: Vec<&ModelFacts> = Vec::new();
    for facts in known.catalogues().flat_map(|catalogue| catalogue.models()) {
        if found.iter().all(|other| other.id != facts.id) {
            found.push(facts);
        }
    }
    found
}

/// A line for each model, and where the facts come from.
pub fn list(known: &KnownModels) -> String {
    let found = all(known);
    let width = found.iter().map(|facts| facts.id.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for facts in &found {
        let price = facts.prices.map(price).unwrap_or_default();
        let line = format!("{:width$}  {:>6}  {:24}  {price}", facts.id, count(facts.window), efforts(&facts.efforts));
        // A string takes everything.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let read = known.catalogues().map(|catalogue| format!("{} ({})", visible_line(&catalogue.source), catalogue.read));
    let read: Vec<String> = read.collect();
    let _ = writeln!(
        text,
        "\n{}: name, window, efforts, US dollars for a million tokens sent / cached / received.\nFrom {}.",
        counted(found.len(), "model"),
        read.join(", then ")
    );
    text
}

/// Returns what is known about a model.
///
/// # Errors
///
/// If nothing is.
pub fn find<'k>(known: &'k KnownModels, id: &str) -> Result<&'k ModelFacts, Failure> {
    // `openai/gpt-5`, or the service's own name, which may have a `/` as well.
    known.find(id).ok_or_else(|| {
        let names = known.catalogues().flat_map(|catalogue| catalogue.models().iter().map(|facts| facts.id.as_str()));
        let failure = Failure::input(format!("nothing is known about the model `{}`", visible_line(id)));
        match nearest(id, names) {
            Some(name) => {
                failure.help(Advice::from(format!("did you mean `{name}`? ")).command("model list").text(" has all"))
            }
            None => {
                let all = Advice::default().command("model list").text(" has all; ");
                failure.help(all.command("model update").text(" fetches newer facts"))
            }
        }
    })
}

/// A model with all that is known about it.
pub fn show(known: &KnownModels, facts: &ModelFacts) -> String {
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
    if known.verbosities(&facts.id).is_some_and(|all| !all.is_empty()) {
        row("verbosity", Verbosity::list());
    }
    if let Some(wire) = known.wire(&facts.id) {
        row("wire", format!("{}, unless you name another one", wire.provider()));
    }
    let tools = known.tools(&facts.id).unwrap_or_default();
    let labels: Vec<&str> = tools.iter().map(|kind| kind.label()).collect();
    row("tools", if labels.is_empty() { "none: they are described in text".to_owned() } else { labels.join(", ") });
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
    text
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
