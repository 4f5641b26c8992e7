//! What is known about models: limits, prices, and what they accept.
//!
//! Owns the form of a catalogue, the built-in one, and the search in it. A catalogue is data: the built-in one says
//! when and from where it was read, and one that the user fetched replaces what it has. A name that is in neither is a
//! model that nothing is known about, and its numbers are careful guesses.
//!
//! Deliberately not here: where the user's own is, and what a user configured for a model, which wins
//! (`host-settings`).

mod fetch;
mod models_dev;

use std::sync::{Arc, OnceLock};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::effort::Effort;
use crate::provider::spec::ProviderId;
use crate::verbosity::Verbosity;
use crate::{Anthropic, Gemini, OpenAi, OpenAiResponses};

pub use fetch::{FetchError, fetch};
pub use models_dev::ModelsDevError;

/// The built-in catalogue, made by `release/models.py`.
const BUILT_IN: &str = include_str!("catalogue.json");

/// The fewest digits of a number that is a date or a build, and no version: a name that ends with it is a snapshot.
const SNAPSHOT_DIGITS: usize = 3;

/// The window of an unknown model. Small, since a request over the window fails and an early summary does not.
const UNKNOWN_WINDOW: u64 = 128_000;

/// Families by the beginning of a model's name, and the window of a model of the family that is not in the catalogue:
/// the smallest of its current models. The first match counts.
const FAMILIES: &[(&str, Family, u64)] = &[
    ("claude-", Family::Claude, 200_000),
    ("gemini-", Family::Gemini, 1_048_576),
    ("gemma-", Family::Gemini, 131_072),
    ("gpt-oss", Family::Other, 131_072),
    ("gpt-", Family::Gpt, 272_000),
    ("codex", Family::Gpt, 200_000),
    ("o1", Family::Gpt, 200_000),
    ("o3", Family::Gpt, 200_000),
    ("o4", Family::Gpt, 200_000),
];

/// Where a long conversation becomes worse or dearer than a new one with a summary, as a share of the window, for a
/// model whose window is larger than [`LARGE_WINDOW`] and whose price has no step. A judgement, not a measurement:
/// makers publish the windows, and not how well a model uses what is in the middle of them.
const LARGE_SHARE: f64 = 0.5;
/// See [`LARGE_SHARE`].
const LARGE_WINDOW: u64 = 400_000;

/// The most bytes of a catalogue: ten times what models.dev has today.
pub const MAX_CATALOGUE: u64 = 32 * 1024 * 1024;

/// Facts about models, by their names.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Where the facts are from, for a user.
    pub source: String,
    /// The day on which they were read.
    pub read: Date,
    models: Vec<ModelFacts>,
}

/// What is known about one model.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// Its name at its service, without a date.
    pub id: String,
    /// Whose models it is one of.
    pub family: Family,
    /// The most tokens of a request.
    pub window: u64,
    /// The most tokens of an answer, if that is less than the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The efforts that it accepts; empty if it has none to choose from, or none that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
    /// Whether it sees images.
    #[serde(default, skip_serializing_if = "is_false")]
    pub images: bool,
    /// Whether it reads PDFs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pdfs: bool,
    /// The kinds of tools that it takes: empty for a model that calls none, `None` if the catalogue does not say, such
    /// as one that an earlier version saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolKind>>,
    /// The wire on which its maker's own service, or most servers that have it, is spoken to; `None` if the catalogue
    /// does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Its prices at its maker's own service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<ListPrice>,
    /// The prices of long requests, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// Whose models a model is one of: they follow the same instructions and have the same settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Anthropic's.
    Claude,
    /// OpenAI's, without its open models.
    Gpt,
    /// Google's.
    Gemini,
    /// Anybody else's.
    Other,
}

/// A kind of tool that a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Functions, whose arguments are JSON by a schema.
    Functions,
    /// Custom tools, whose input is a text by a grammar.
    Custom,
    /// Functions that are loaded in the course of a conversation, once a search found them.
    Deferred,
    /// The search of the web by the model's own service.
    WebSearch,
}

impl ToolKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Functions, Self::Custom, Self::Deferred, Self::WebSearch];

    /// Returns its name in a list for a user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Custom => "custom tools",
            Self::Deferred => "deferred tools",
            Self::WebSearch => "web search",
        }
    }
}

/// A wire format: how a model's service is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// OpenAI's chat completions, which most other services and servers speak as well.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI's Responses API.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
}

impl Wire {
    /// Returns the provider that speaks it.
    pub fn provider(self) -> ProviderId {
        match self {
            Self::Anthropic => Anthropic::PROVIDER,
            Self::Gemini => Gemini::PROVIDER,
            Self::OpenAi => OpenAi::PROVIDER,
            Self::OpenAiResponses => OpenAiResponses::PROVIDER,
        }
    }
}

/// Prices of a million tokens in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ListPrice {
    /// Tokens sent.
    pub input: f64,
    /// Tokens sent that the service had cached; those of `input` if the service has no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Tokens that the service caches for later requests, if they cost more than others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Tokens of the answer, and of thinking.
    pub output: f64,
}

/// The prices of a request that is longer than a limit: they hold for all of its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct LongPrice {
    /// The tokens above which they hold.
    pub above: u64,
    /// The prices.
    #[serde(flatten)]
    pub price: ListPrice,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Catalogue {
    /// Returns the catalogue that comes with the program.
    pub fn built_in() -> &'static Self {
        static READ: OnceLock<Catalogue> = OnceLock::new();
        READ.get_or_init(|| serde_json::from_str(BUILT_IN).expect("a test reads the file"))
    }

    /// Reads a catalogue in the host's own form.
    ///
    /// # Errors
    ///
    /// If the text is not one, with the place of the fault.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads the list of models.dev (`api.json`). `read` is today's date.
    ///
    /// # Errors
    ///
    /// If the text is not such a list, or no model of it can be used.
    pub fn from_models_dev(text: &str, source: &str, read: Date) -> Result<Self, ModelsDevError> {
        models_dev::parse(text, source, read)
    }

    /// Returns the catalogue in the host's own form, one model on a line.
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| serde_json::to_string(text).expect("a text can be written");
        let line = |facts: &ModelFacts| format!("    {}", serde_json::to_string(facts).expect("all keys are texts"));
        let models: Vec<String> = self.models.iter().map(line).collect();
        let (source, read) = (quoted(&self.source), self.read);
        format!(
            "{{\n  \"source\": {source},\n  \"read\": \"{read}\",\n  \"models\": [\n{}\n  ]\n}}\n",
            models.join(",\n")
        )
    }

    /// Returns all models.
    pub fn models(&self) -> &[ModelFacts] {
        &self.models
    }

    /// Returns what is known about a model by the service's name for it. A prefix of a gateway (`anthropic/`) does not
    /// count, and a snapshot (`-20260101`, `@20260101`) is the model that it is one of.
    pub fn find(&self, name: &str) -> Option<&ModelFacts> {
        let name = bare(name);
        let exactly = |wanted: &str| self.models.iter().find(|facts| facts.id == wanted);
        exactly(name).or_else(|| {
            // From the whole name to ever shorter beginnings of it: the longest known one counts.
            let mut cut = name.rmatch_indices('-').filter_map(|(at, _)| Some((exactly(&name[..at])?, &name[at..])));
            cut.next().filter(|(_, rest)| is_snapshot(rest)).map(|(facts, _)| facts)
        })
    }
}

/// What is known about models in this process: what the user fetched wins over the built-in catalogue.
#[derive(Clone, Debug, Default)]
pub struct KnownModels {
    own: Option<Arc<Catalogue>>,
}

impl KnownModels {
    /// Creates it with the catalogue that the user fetched, if there is one.
    pub fn new(own: Option<Catalogue>) -> Self {
        Self { own: own.map(Arc::new) }
    }

    /// Returns the catalogues, the one that counts first.
    pub fn catalogues(&self) -> impl Iterator<Item = &Catalogue> {
        self.own.as_deref().into_iter().chain([Catalogue::built_in()])
    }

    /// Returns what is known about a model; `None` if nothing is.
    pub fn find(&self, name: &str) -> Option<&ModelFacts> {
        self.catalogues().find_map(|catalogue| catalogue.find(name))
    }

    /// Returns the most tokens that a model accepts in one request, by the service's name for it: a careful guess if
    /// nothing is known about it.
    pub fn window(&self, name: &str) -> u64 {
        let guess = || FAMILIES.iter().find(|(start, ..)| bare(name).starts_with(start)).map(|(.., window)| *window);
        self.find(name).map(|facts| facts.window).or_else(guess).unwrap_or(UNKNOWN_WINDOW)
    }

    /// Returns whose models a model is one of.
    pub fn family(&self, name: &str) -> Family {
        let guess = || FAMILIES.iter().find(|(start, ..)| bare(name).starts_with(start)).map(|(_, family, _)| *family);
        self.find(name).map(|facts| facts.family).or_else(guess).unwrap_or(Family::Other)
    }

    /// Returns the kinds of tools that a model takes, by the service's name for it; `None` if nothing is known about
    /// it. A catalogue that does not say leaves it to the next one, and a model of which none says takes functions.
    pub fn tools(&self, name: &str) -> Option<&[ToolKind]> {
        let facts = self.find(name)?;
        let said = facts.tools.as_deref().or_else(|| Catalogue::built_in().find(name)?.tools.as_deref());
        Some(said.unwrap_or(&[ToolKind::Functions]))
    }

    /// Returns the wire on which a model is spoken to if the user names none; `None` if nothing is known about it.
    pub fn wire(&self, name: &str) -> Option<Wire> {
        let facts = self.find(name)?;
        let said = facts.wire.or_else(|| Catalogue::built_in().find(name)?.wire);
        Some(said.unwrap_or(facts.family.wire()))
    }

    /// Returns how wordy a model can be asked to be: empty if it does not let a client choose, `None` if nothing is
    /// known about it. OpenAI has the choice since GPT-5; its models for chatting and the Codex variants accept no
    /// other value than their own.
    pub fn verbosities(&self, name: &str) -> Option<&'static [Verbosity]> {
        let major = bare(name).strip_prefix("gpt-").map(|rest| rest.split(['.', '-']).next().unwrap_or(rest));
        let chooses = major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 5);
        match self.family(name) {
            Family::Gpt if chooses && !["-chat", "-codex"].iter().any(|part| name.contains(part)) => {
                Some(&Verbosity::ALL)
            }
            Family::Claude | Family::Gpt | Family::Gemini => Some(&[]),
            Family::Other => self.find(name).map(|_| &[] as _),
        }
    }

    /// Returns up to how many tokens a conversation with this model works well and costs its usual price; `None` if
    /// that is up to its window. Nine tenths of the step of a price leave room for the next request, as in Codex.
    pub fn comfortable(&self, name: &str) -> Option<u64> {
        let facts = self.find(name)?;
        match facts.long {
            Some(long) => Some(long.above / 10 * 9),
            None if facts.window > LARGE_WINDOW => Some((facts.window as f64 * LARGE_SHARE) as u64),
            None => None,
        }
    }
}

impl Family {
    /// Returns the wire of its maker's own service; that of most servers if the maker is not one of these.
    pub fn wire(self) -> Wire {
        match self {
            Self::Claude => Wire::Anthropic,
            Self::Gpt => Wire::OpenAiResponses,
            Self::Gemini => Wire::Gemini,
            Self::Other => Wire::OpenAi,
        }
    }
}

impl ModelFacts {
    /// Returns the effort to ask for if the user chose none; `None` leaves it to the service.
    ///
    /// A service's own default is made for short questions: for some of OpenAI's models it is not to think at all, and
    /// Anthropic's think only if asked to. An agent's work needs thoughts.
    pub fn usual_effort(&self) -> Option<Effort> {
        match self.family {
            Family::Gpt => Effort::Medium.nearest(&self.efforts),
            Family::Claude => Effort::High.nearest(&self.efforts),
            Family::Gemini | Family::Other => None,
        }
    }
}

/// Returns a model's name without what gateways put before it and without a version behind `@`.
fn bare(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Returns whether the end of a name is that of a snapshot and not that of another model: `-20260101`, `-2026-01-01`,
/// `-001`, `-latest` or `-preview-09-2025`, but not `-5` or `-mini`, which are other models.
pub fn is_snapshot(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix('-') else { return rest.is_empty() };
    let mut parts = rest.split('-');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |part: &str| is_number(part) && part.len() >= SNAPSHOT_DIGITS;
    let begins = parts.next().is_some_and(|part| matches!(part, "latest" | "preview") || is_date(part));
    begins && parts.all(is_number)
}

#[cfg(test)]
mod tests;
