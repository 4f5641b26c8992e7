//! The table of providers, and how the id of a model selects one.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::offline::Offline;
use crate::ollama::Ollama;
use crate::openai::OpenAi;
use crate::openai_responses::OpenAiResponses;
use crate::provider::spec::{ModelIds, ProviderId};
use crate::scripted::Scripted;
use crate::vertex::Vertex;
use crate::{Access, ModelError, Provider};

/// All providers. If no model is named, the first one with usual models whose key is set is used.
pub const PROVIDERS: &[ProviderId] = &[
    Gemini::PROVIDER,
    Vertex::PROVIDER,
    OpenAi::PROVIDER,
    OpenAiResponses::PROVIDER,
    Anthropic::PROVIDER,
    Ollama::PROVIDER,
    Offline::PROVIDER,
    Scripted::PROVIDER,
];

/// Returns the forms that the id of a model can have.
pub fn model_forms() -> impl Iterator<Item = String> {
    PROVIDERS.iter().map(|provider| provider.model_form())
}

/// Read from its name, such as `gemini`.
impl<'de> Deserialize<'de> for ProviderId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        PROVIDERS.iter().find(|provider| provider.name == name).copied().ok_or_else(|| {
            let known: Vec<String> = PROVIDERS.iter().map(|provider| format!("`{provider}`")).collect();
            serde::de::Error::custom(format!("unknown provider `{name}`, expected one of {}", known.join(", ")))
        })
    }
}

/// A model and its provider, read from the id of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The provider.
    pub provider: ProviderId,
    /// The service's name for the model, or the file of a script; empty if the provider has one model only.
    pub model: String,
}

impl FromStr for Selection {
    type Err = ModelError;

    fn from_str(id: &str) -> Result<Self, ModelError> {
        let fail = |why| {
            let forms = model_forms().map(|form| format!("`{form}`")).collect::<Vec<_>>().join(", ");
            Err(ModelError::UnknownModel { id: crate::text::clip(id), why, forms })
        };
        let find = |name: &str, models| {
            PROVIDERS.iter().find(|provider| provider.name == name && provider.models == models).copied()
        };
        if let Some(provider) = find(id, ModelIds::Single) {
            return Ok(Self { provider, model: String::new() });
        }
        if let Some((provider, file)) = id.split_once(':')
            && let Some(provider) = find(provider, ModelIds::File)
        {
            return match file {
                "" => fail("no file follows the colon"),
                file => Ok(Self { provider, model: file.to_owned() }),
            };
        }
        // At the first: names of models have slashes.
        let Some((provider, name)) = id.split_once('/') else { return fail("it has no provider before a `/`") };
        // It becomes a part of an address, or of a message.
        if name.is_empty() || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return fail("the name after the `/` is empty or has white space in it");
        }
        match find(provider, ModelIds::Named) {
            Some(provider) => Ok(Self { provider, model: name.to_owned() }),
            None => fail("there is no such provider"),
        }
    }
}

impl Selection {
    /// Returns the name of the model for [`crate::Request::model`].
    pub fn model(&self) -> &str {
        match self.provider.models {
            ModelIds::Named => &self.model,
            ModelIds::File | ModelIds::Single => self.provider.name(),
        }
    }

    /// Creates the provider; see [`ProviderSpec::connect`](crate::ProviderSpec::connect).
    ///
    /// # Errors
    ///
    /// If a key is missing where the service requires one, the address is invalid, or the script or the credentials
    /// cannot be read.
    pub fn connect(&self, access: Access) -> Result<Arc<dyn Provider>, ModelError> {
        (self.provider.connect)(&self.model, access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_id_picks_its_provider() {
        let check = |id: &str, provider: ProviderId, model: &str| {
            let selection: Selection = id.parse().expect(id);
            assert_eq!((selection.provider, &*selection.model), (provider, model), "{id}");
        };
        check("gemini/gemini-2.5-pro", Gemini::PROVIDER, "gemini-2.5-pro");
        check("openai/gpt-5", OpenAi::PROVIDER, "gpt-5");
        check("anthropic/claude-sonnet-5", Anthropic::PROVIDER, "claude-sonnet-5");
        check("ollama/qwen3:8b", Ollama::PROVIDER, "qwen3:8b");
        check("openai-responses/gpt-5", OpenAiResponses::PROVIDER, "gpt-5");
        check("vertex/gemini-3-pro", Vertex::PROVIDER, "gemini-3-pro");
        check("openai/meta/llama-3", OpenAi::PROVIDER, "meta/llama-3");
        check("offline", Offline::PROVIDER, "");
        check("scripted:a/b.jsonl", Scripted::PROVIDER, "a/b.jsonl");
    }

    #[test]
    fn selection_invalid_id_is_an_error_with_all_forms() {
        for id in ["", "gemini", "gemini/", "gpt-5", "openai/a b", "nobody/x", "scripted:", "Offline", "offline/x"] {
            let error = id.parse::<Selection>().expect_err(id);
            assert_eq!(error.kind(), crate::ErrorKind::Configuration, "{id}");
            let help = error.help().expect("a help");
            assert!(model_forms().all(|form| help.contains(&format!("`{form}`"))), "{id}: {help}");
        }
    }

    #[test]
    fn providers_each_has_its_own_name_and_reads_its_own_ids() {
        for provider in PROVIDERS {
            assert_eq!(PROVIDERS.iter().filter(|other| *other == provider).count(), 1, "{provider}");
            let id = provider.model_form();
            assert_eq!(id.parse::<Selection>().expect("an id").provider, *provider, "{id}");
            assert_eq!(provider.address.is_some(), provider.models == ModelIds::Named, "{provider}");
            if let Some(usual) = provider.usual_models {
                assert!(provider.key_variable.is_some(), "{provider}: its key picks the usual models");
                for id in [usual.main, usual.simple, usual.classifier] {
                    assert_eq!(id.parse::<Selection>().expect("an id").provider, *provider, "{id}");
                }
            }
        }
    }

    #[test]
    fn gemini_without_a_key_reports_the_variable() {
        let selection: Selection = "gemini/x".parse().expect("an id");
        let error = selection.connect(Access::default()).err().expect("there is no key");
        assert_eq!(error.kind(), crate::ErrorKind::Authentication);
        assert!(error.help().expect("a help").contains("GEMINI_API_KEY"));
    }

    #[test]
    fn openai_local_server_needs_no_key() {
        let access = Access { address: Some("http://127.0.0.1:1/v1".to_owned()), ..Access::default() };
        let selection: Selection = "openai/x".parse().expect("an id");
        assert_eq!(selection.connect(access).expect("it needs no key").name(), "openai");
    }
}
