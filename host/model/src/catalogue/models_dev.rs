//! Reads the list of models.dev: `{ SERVICE: { "models": { NAME: { "limit", "cost", "modalities", "reasoning" … } } }
//! }`.
//!
//! Of the services only the makers' own count where several offer a model: `anthropic`, `openai`, `google`. Of all
//! others the smallest window counts, since a name may be offered with less. The list has no efforts, wires or kinds of
//! tools but that a model calls functions; the built-in catalogue's stay for the models that it has. A model that calls
//! none is taken if it answers in text.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;

use super::{Catalogue, Family, ListPrice, ModelFacts, ToolKind, is_snapshot};

/// Why a list of models.dev cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelsDevError {
    /// It is not such a list.
    #[error("this is neither a catalogue nor a list of models.dev")]
    Form(#[source] serde_json::Error),
    /// It has no model with a window.
    #[error("the list has no model with a context limit")]
    Empty,
}

#[derive(Deserialize)]
struct Service {
    #[serde(default)]
    models: BTreeMap<String, Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    tool_call: bool,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    cost: Option<Price>,
    #[serde(default)]
    modalities: Modalities,
}

#[derive(Default, Deserialize)]
struct Limit {
    #[serde(default)]
    context: u64,
    /// The most tokens of a request, where the context counts the answer as well.
    #[serde(default)]
    input: Option<u64>,
    #[serde(default)]
    output: u64,
}

#[derive(Clone, Copy, Deserialize)]
struct Price {
    #[serde(default)]
    input: f64,
    #[serde(default)]
    output: f64,
    #[serde(default)]
    cache_read: Option<f64>,
    #[serde(default)]
    cache_write: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Modalities {
    #[serde(default)]
    input: Vec<String>,
    #[serde(default)]
    output: Vec<String>,
}

/// The services of the makers, whose word counts.
const MAKERS: &[(&str, Family)] = &[("anthropic", Family::Claude), ("openai", Family::Gpt), ("google", Family::Gemini)];

pub(super) fn parse(text: &str, source: &str, read: Date) -> Result<Catalogue, ModelsDevError> {
    let services: BTreeMap<String, Service> = serde_json::from_str(text).map_err(ModelsDevError::Form)?;
    let mut found: BTreeMap<String, ModelFacts> = BTreeMap::new();
    for (service, Service { models }) in services {
        let maker = MAKERS.iter().find(|(name, _)| *name == service).map(|(_, maker)| *maker);
        for (name, listed) in models.into_iter().filter(|(_, listed)| listed.is_usable()) {
            let id = name.rsplit('/').next().unwrap_or(&name).to_owned();
            let facts = listed.facts(id, maker.unwrap_or(Family::Other));
            found
                .entry(facts.id.clone())
                .and_modify(|known| match (maker, known.family) {
                    (Some(_), _) => *known = facts.clone(),
                    (None, Family::Other) => {
                        known.window = known.window.min(facts.window);
                        // A service that offers it with functions shows that it can.
                        if facts.tools != Some(Vec::new()) {
                            known.tools.clone_from(&facts.tools);
                        }
                    }
                    // A gateway says nothing about a model that its maker has listed.
                    (None, _) => {}
                })
                .or_insert(facts);
        }
    }
    if found.is_empty() {
        return Err(ModelsDevError::Empty);
    }
    let is_known = |name: &str| {
        name.rmatch_indices('-').any(|(at, _)| {
            is_snapshot(&name[at..]) && found.get(&name[..at]).is_some_and(|base| base.window == found[name].window)
        })
    };
    let models = found.keys().filter(|name| !is_known(name)).map(|name| found[name].clone()).collect();
    Ok(Catalogue { source: source.to_owned(), read, models })
}

impl Listed {
    fn window(&self) -> u64 {
        self.limit.input.unwrap_or(self.limit.context)
    }

    fn is_usable(&self) -> bool {
        self.window() > 0 && (self.tool_call || self.modalities.output.iter().any(|kind| kind == "text"))
    }

    fn facts(self, id: String, family: Family) -> ModelFacts {
        let window = self.window();
        let built_in = Catalogue::built_in().find(&id);
        let known = built_in.and_then(|known| known.tools.clone()).filter(|tools| !tools.is_empty());
        let takes = |kind: &str| self.modalities.input.iter().any(|taken| taken == kind);
        // What a gateway asks for is not the maker's price.
        let price = self.cost.filter(|price| family != Family::Other && price.input > 0.0);
        ModelFacts {
            window,
            output: Some(self.limit.output).filter(|output| (1..window).contains(output)),
            efforts: built_in.map(|known| known.efforts.clone()).unwrap_or_default(),
            tools: Some(match (self.tool_call, known) {
                (false, _) => Vec::new(),
                (true, Some(known)) => known,
                // A search at a service that has none is its error; a tool in a form that it rejects is no request.
                (true, None) if family != Family::Other => vec![ToolKind::Functions, ToolKind::WebSearch],
                (true, None) => vec![ToolKind::Functions],
            }),
            wire: Some(built_in.and_then(|known| known.wire).unwrap_or(family.wire())),
            images: takes("image"),
            pdfs: takes("pdf"),
            prices: price.map(|Price { input, output, cache_read, cache_write }| ListPrice {
                input,
                output,
                cached: cache_read,
                cache_write,
            }),
            // The list has no prices of long requests that all of its services agree about.
            long: built_in.and_then(|known| known.long),
            id,
            family,
        }
    }
}
