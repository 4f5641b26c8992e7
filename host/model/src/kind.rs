//! Which providers there are, and how a model's name picks one.
//!
//! Owns the names, the variables that errors speak of, and the one place where a provider is made. The
//! environment is not read here: whoever reads it hands over [`Access`].

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::offline::Offline;
use crate::ollama::Ollama;
use crate::openai::OpenAi;
use crate::openai_responses::OpenAiResponses;
use crate::scripted::Scripted;
use crate::vertex::Vertex;
use crate::{ApiKey, Login, ModelError, Provider};

/// A provider that this crate can speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// Anthropic's messages, and every server that speaks them.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// OpenAI's chat completions, and every server that speaks them.
    #[serde(rename = "openai")]
    OpenAi,
    /// Ollama's own chat.
    Ollama,
    /// OpenAI's responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// The planner in code that needs nothing.
    Offline,
    /// The replies of a script, for tests.
    Scripted,
    /// Gemini by way of Google Cloud.
    Vertex,
}

impl ProviderKind {
    /// The forms that a model's name takes, for help texts.
    pub const FORMS: &'static str = "`gemini/NAME`, `vertex/NAME`, `openai/NAME`, `openai-responses/NAME`, `anthropic/NAME`, `ollama/NAME`, `offline`, \
         `scripted:FILE`";

    /// What names, messages and logs call it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::OpenAiResponses => "openai-responses",
            Self::Offline => "offline",
            Self::Scripted => "scripted",
            Self::Vertex => "vertex",
        }
    }

    /// The variable in which users keep its key, as the service's own clients have it. Vertex AI has none: it is
    /// [logged in](crate::Login) to.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => Some("OLLAMA_API_KEY"),
            Self::OpenAi | Self::OpenAiResponses => Some("OPENAI_API_KEY"),
            Self::Offline | Self::Scripted | Self::Vertex => None,
        }
    }

    /// The variable in which users keep its base address, as the service's own clients have it.
    pub fn address_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Self::Gemini => Some("GOOGLE_GEMINI_BASE_URL"),
            Self::Ollama => Some("OLLAMA_HOST"),
            Self::OpenAi | Self::OpenAiResponses => Some("OPENAI_BASE_URL"),
            Self::Vertex => Some("GOOGLE_VERTEX_BASE_URL"),
            Self::Offline | Self::Scripted => None,
        }
    }

    /// The base address where none is given; that of Vertex AI depends on the location.
    pub fn default_address(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::OpenAi | Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::Offline | Self::Scripted | Self::Vertex => None,
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A model's name, read: whom to ask, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A model of Anthropic's, by the name that the service has for it.
    Anthropic(String),
    /// A model of the Gemini API, by the name that the service has for it.
    Gemini(String),
    /// A model behind chat completions, by the name that the server has for it.
    OpenAi(String),
    /// A model that Ollama has, by the name that it has for it.
    Ollama(String),
    /// A model behind OpenAI's responses, by the name that the server has for it.
    OpenAiResponses(String),
    /// The planner in code.
    Offline,
    /// The script in this file.
    Scripted(PathBuf),
    /// A model of Vertex AI, by the name that the service has for it.
    Vertex(String),
}

impl FromStr for Selection {
    type Err = ModelError;

    fn from_str(id: &str) -> Result<Self, ModelError> {
        let fail = |why| Err(ModelError::UnknownModel { id: crate::text::clip(id), why });
        if id == ProviderKind::Offline.as_str() {
            return Ok(Self::Offline);
        }
        if let Some(file) = id.strip_prefix("scripted:") {
            return if file.is_empty() { fail("no file follows the colon") } else { Ok(Self::Scripted(file.into())) };
        }
        let Some((provider, name)) = id.split_once('/') else { return fail("no provider stands before a `/`") };
        if name.is_empty() || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return fail("the name after the `/` is empty or has white space in it");
        }
        match provider {
            "anthropic" => Ok(Self::Anthropic(name.to_owned())),
            "gemini" => Ok(Self::Gemini(name.to_owned())),
            "openai" => Ok(Self::OpenAi(name.to_owned())),
            "ollama" => Ok(Self::Ollama(name.to_owned())),
            "openai-responses" => Ok(Self::OpenAiResponses(name.to_owned())),
            "vertex" => Ok(Self::Vertex(name.to_owned())),
            _ => fail("there is no such provider"),
        }
    }
}

impl Selection {
    /// Which provider it picks.
    pub fn provider(&self) -> ProviderKind {
        match self {
            Self::Anthropic(_) => ProviderKind::Anthropic,
            Self::Gemini(_) => ProviderKind::Gemini,
            Self::OpenAi(_) => ProviderKind::OpenAi,
            Self::Ollama(_) => ProviderKind::Ollama,
            Self::OpenAiResponses(_) => ProviderKind::OpenAiResponses,
            Self::Offline => ProviderKind::Offline,
            Self::Scripted(_) => ProviderKind::Scripted,
            Self::Vertex(_) => ProviderKind::Vertex,
        }
    }

    /// The model's name for [`crate::Request::model`].
    pub fn model(&self) -> &str {
        match self {
            Self::Anthropic(name)
            | Self::Gemini(name)
            | Self::Ollama(name)
            | Self::OpenAi(name)
            | Self::OpenAiResponses(name)
            | Self::Vertex(name) => name,
            Self::Offline | Self::Scripted(_) => self.provider().as_str(),
        }
    }

    /// Makes the provider. Nothing is sent and no certificate is read before the first request; a script and a file of
    /// credentials are read here.
    ///
    /// # Errors
    ///
    /// When a key is missing where the service cannot do without one, the address is none, or the script or the
    /// credentials cannot be read.
    pub fn connect(&self, access: Access) -> Result<Arc<dyn Provider>, ModelError> {
        Ok(match self {
            Self::Anthropic(_) => Arc::new(Anthropic::new(access)?),
            Self::Gemini(_) => Arc::new(Gemini::new(access)?),
            Self::OpenAi(_) => Arc::new(OpenAi::new(access)?),
            Self::Ollama(_) => Arc::new(Ollama::new(access)?),
            Self::OpenAiResponses(_) => Arc::new(OpenAiResponses::new(access)?),
            Self::Offline => Arc::new(Offline::new()),
            Self::Scripted(file) => Arc::new(Scripted::open(file)?),
            Self::Vertex(_) => Arc::new(Vertex::new(access)?),
        })
    }
}

/// What it takes to reach a service. The default is its own address, and no key.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The base address instead of the service's own, such as `http://127.0.0.1:11434/v1`.
    pub address: Option<String>,
    /// The key.
    pub key: Option<ApiKey>,
    /// How to log in at Google, instead of a key.
    pub login: Option<Login>,
    /// The project of Google Cloud that pays, for Vertex AI.
    pub project: Option<String>,
    /// The place of Google Cloud where the model runs, for Vertex AI; none is `global`.
    pub location: Option<String>,
    /// Headers that go with each request besides those of the format, such as those that a gateway wants. They may
    /// hold secrets, so they are not shown.
    pub headers: Vec<(String, ApiKey)>,
    /// The proxy to use instead of the one that the environment names.
    pub proxy: Option<String>,
    /// How long the service may send nothing before the reply counts as broken; none is 300 s.
    pub silence: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_picks_its_provider() {
        let check = |id: &str, expected: Selection| assert_eq!(id.parse::<Selection>().unwrap(), expected, "{id}");
        check("gemini/gemini-2.5-pro", Selection::Gemini("gemini-2.5-pro".to_owned()));
        check("openai/gpt-5", Selection::OpenAi("gpt-5".to_owned()));
        check("anthropic/claude-sonnet-5", Selection::Anthropic("claude-sonnet-5".to_owned()));
        check("ollama/qwen3:8b", Selection::Ollama("qwen3:8b".to_owned()));
        check("openai-responses/gpt-5", Selection::OpenAiResponses("gpt-5".to_owned()));
        check("vertex/gemini-3-pro", Selection::Vertex("gemini-3-pro".to_owned()));
        check("openai/meta/llama-3", Selection::OpenAi("meta/llama-3".to_owned()));
        check("offline", Selection::Offline);
        check("scripted:a/b.jsonl", Selection::Scripted("a/b.jsonl".into()));
    }

    #[test]
    fn a_name_that_names_no_model_is_refused_with_the_forms() {
        for id in ["", "gemini", "gemini/", "gpt-5", "openai/a b", "nobody/x", "scripted:", "Offline"] {
            let error = id.parse::<Selection>().expect_err(id);
            assert_eq!(error.kind(), crate::ErrorKind::Configuration, "{id}");
            assert!(error.help().unwrap().contains("scripted:FILE"), "{id}");
        }
    }

    #[test]
    fn gemini_without_a_key_says_which_variable_to_set() {
        let error = Selection::Gemini("x".to_owned()).connect(Access::default()).err().expect("there is no key");
        assert_eq!(error.kind(), crate::ErrorKind::Authentication);
        assert!(error.help().unwrap().contains("GEMINI_API_KEY"));
    }

    #[test]
    fn a_local_server_needs_no_key() {
        let access = Access { address: Some("http://127.0.0.1:1/v1".to_owned()), ..Access::default() };
        assert_eq!(Selection::OpenAi("x".to_owned()).connect(access).unwrap().name(), "openai");
    }
}
