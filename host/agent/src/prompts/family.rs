//! The families of models that get different words, and the family of a model by its id.
//!
//! Deliberately not here: windows, prices and abilities of models (`host-model`).

use host_model::{Family, KnownModels, Selection};

/// The provider whose models run on the user's machine, unless their size says otherwise.
const LOCAL: &str = "ollama";

/// Models up to this size, in thousands of millions of parameters, get the long form.
const SMALL: f64 = 40.0;

/// How the names of open models begin that mostly run on small machines, whichever company made them.
const SMALL_NAMES: [&str; 3] = ["gpt-oss", "gemma", "phi"];

/// The models that get the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptFamily {
    /// GPT models that reason.
    Gpt,
    /// Claude.
    Claude,
    /// Gemini.
    Gemini,
    /// Other models of services.
    Other,
    /// Small models, and those on the user's machine. They get the longest form, with steps and an example.
    Small,
}

impl PromptFamily {
    /// All families.
    pub const ALL: [Self; 5] = [Self::Gpt, Self::Claude, Self::Gemini, Self::Other, Self::Small];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpt => "gpt",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Other => "other",
            Self::Small => "small",
        }
    }

    /// Returns the family of a model by its id, such as `openai/gpt-5.6-terra`, and what is known about it.
    pub fn of(id: &str, known: &KnownModels) -> Self {
        // The name of a script's file says nothing about a model.
        let Ok(Selection { provider, model }) = id.parse::<Selection>() else { return Self::Other };
        if provider.models != host_model::ModelIds::Named {
            return Self::Other;
        }
        let name = model.rsplit('/').next().unwrap_or(&model).to_ascii_lowercase();
        if SMALL_NAMES.iter().any(|start| name.starts_with(start)) {
            return Self::Small;
        }
        match known.family(&model) {
            Family::Claude => Self::Claude,
            Family::Gemini => Self::Gemini,
            // Without reasoning, what is short for the others is too short.
            Family::Gpt if known.find(&model).is_some_and(|facts| facts.efforts.is_empty()) => Self::Other,
            Family::Gpt => Self::Gpt,
            Family::Other => match size(&name) {
                Some(size) if size <= SMALL => Self::Small,
                Some(_) => Self::Other,
                // A model of which nothing is known, on a machine that is rarely a server.
                None if provider.name == LOCAL && !name.ends_with("cloud") => Self::Small,
                None => Self::Other,
            },
        }
    }
}

/// The size that a model's name gives, such as 30 for `qwen3-coder:30b-a3b` and 7 for `mixtral-8x7b`.
fn size(name: &str) -> Option<f64> {
    let words = name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    let sizes = words.filter_map(|word| word.strip_suffix('b')?.rsplit('x').next()?.parse::<f64>().ok());
    sizes.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_family_follows_from_what_is_known_about_a_model() {
        for (id, family) in [
            ("openai/gpt-5.6-terra", PromptFamily::Gpt),
            ("openai/codex-mini-latest", PromptFamily::Gpt),
            ("openai-responses/gpt-6.1-sol", PromptFamily::Gpt),
            ("openai/openai/o4-mini", PromptFamily::Gpt),
            ("openai/gpt-4.1", PromptFamily::Other),
            ("ollama/gpt-oss:120b", PromptFamily::Small),
            ("anthropic/claude-sonnet-5", PromptFamily::Claude),
            ("openai/anthropic/claude-opus-5", PromptFamily::Claude),
            ("gemini/gemini-3.6-flash", PromptFamily::Gemini),
            ("vertex/gemini-3.6-pro", PromptFamily::Gemini),
            ("openai/moonshotai/kimi-k3", PromptFamily::Other),
            ("openai/llama-3.3-70b-instruct", PromptFamily::Other),
            ("ollama/llama3.3:70b", PromptFamily::Other),
            ("openai/mixtral-8x7b", PromptFamily::Small),
            ("ollama/qwen3-coder:30b-a3b", PromptFamily::Small),
            ("ollama/qwen2.5:0.5b", PromptFamily::Small),
            ("ollama/mistral", PromptFamily::Small),
            ("ollama/kimi-k3:cloud", PromptFamily::Other),
            ("ollama/gemma3", PromptFamily::Small),
            ("offline", PromptFamily::Other),
            ("scripted:/tmp/claude-sonnet-5/gpt-5", PromptFamily::Other),
            ("auto", PromptFamily::Other),
        ] {
            assert_eq!(PromptFamily::of(id, &KnownModels::default()), family, "{id}");
        }
    }
}
