//! Settings of plugins: `[plugins."NAME"]` of a configuration, and the variable `HOST_PLUGINS`, which has the same
//! format.
//!
//! Deliberately not here: which keys and secrets a plugin has (`host_extensions::plugins::settings` checks the
//! settings against its manifest).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use host_capability::PluginName;
use host_text::{Advice, Notice};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::environment::Environment;
use crate::error::{ErrorKind, Fault};

/// The variable with a TOML table of plugins by their names.
pub const VARIABLE: &str = "HOST_PLUGINS";

/// Settings of all plugins, by name.
pub type PluginConfigs = BTreeMap<PluginName, PluginConfig>;

/// Settings of one plugin.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PluginConfig {
    /// Values of its configuration, by key.
    pub config: BTreeMap<String, ConfigValue>,
    /// Its secrets, by their names: `{ env = "VARIABLE" }`, `{ file = "PATH" }` or the secret itself.
    pub secrets: BTreeMap<String, SecretSource>,
}

/// A value that JSON has too.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(with = "Value")]
#[serde(try_from = "toml::Value")]
pub struct ConfigValue(pub Value);

impl TryFrom<toml::Value> for ConfigValue {
    type Error = ConfigValueError;

    fn try_from(value: toml::Value) -> Result<Self, ConfigValueError> {
        let json = match value {
            toml::Value::Datetime(time) => return Err(ConfigValueError::Time(time.to_string())),
            toml::Value::Float(number) if !number.is_finite() => return Err(ConfigValueError::Number(number)),
            toml::Value::Array(list) => {
                let list = list.into_iter().map(|value| Self::try_from(value).map(|value| value.0));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            toml::Value::Table(_) => return Err(ConfigValueError::Table),
            toml::Value::String(text) => Value::String(text),
            toml::Value::Integer(number) => Value::from(number),
            toml::Value::Float(number) => Value::from(number),
            toml::Value::Boolean(is) => Value::Bool(is),
        };
        Ok(Self(json))
    }
}

/// The location of a secret. `Debug` does not show one that is written here directly.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the secret itself, `{ env = \"VARIABLE\" }` or `{ file = \"PATH\" }`")]
pub enum SecretSource {
    /// Here.
    Here(String),
    /// In a variable of the environment.
    Variable(VariableSecret),
    /// In a file.
    File(FileSecret),
}

/// A secret in a variable of the environment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariableSecret {
    /// The name of the variable.
    pub env: String,
}

/// A secret in a file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSecret {
    /// The path of the file.
    pub file: PathBuf,
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(_) => f.write_str("Here(…)"),
            Self::Variable(VariableSecret { env }) => f.debug_tuple("Variable").field(env).finish(),
            Self::File(FileSecret { file }) => f.debug_tuple("File").field(file).finish(),
        }
    }
}

/// Why `HOST_PLUGINS` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginsVariableError {
    /// It is not text.
    #[error("invalid variable {VARIABLE}")]
    NotText,
    /// It is not TOML as expected.
    #[error("invalid variable {VARIABLE}")]
    Toml(String),
}

impl Fault for PluginsVariableError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NotText => vec!["it is not text".to_owned().into()],
            Self::Toml(cause) => vec![cause.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        Some(
            format!("write it as TOML, as under `[plugins]`: {VARIABLE}='\"acme/fetch\".config.region = \"eu\"'")
                .into(),
        )
    }
}

/// Why a value is none of a plugin's configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigValueError {
    /// JSON has no times.
    #[error("`{0}` is a time: write it as a string, in quotes")]
    Time(String),
    /// It is infinite, or no number.
    #[error("`{0}` is not a number")]
    Number(f64),
    /// It is a table.
    #[error("a value is a string, a number, `true`, `false` or a list")]
    Table,
}

/// Parses `HOST_PLUGINS`.
pub fn from_environment(environment: &Environment) -> Result<PluginConfigs, PluginsVariableError> {
    let Some(text) = environment.variable(VARIABLE) else { return Ok(PluginConfigs::new()) };
    let text = text.to_str().ok_or(PluginsVariableError::NotText)?;
    // The parser's full error shows the invalid line, which may contain a secret.
    toml::from_str(text).map_err(|error: toml::de::Error| PluginsVariableError::Toml(error.message().to_owned()))
}

/// Overrides settings with others: each key and each secret separately.
pub fn overlay(own: PluginConfigs, over: PluginConfigs) -> PluginConfigs {
    let mut all = own;
    for (name, of_plugin) in over {
        let both = all.entry(name).or_default();
        both.config.extend(of_plugin.config);
        both.secrets.extend(of_plugin.secrets);
    }
    all
}

/// Returns whether these settings contain a secret directly.
pub(super) fn holds_a_secret(of_plugins: &PluginConfigs) -> bool {
    of_plugins.values().flat_map(|of_plugin| of_plugin.secrets.values()).any(|source| match source {
        SecretSource::Here(_) => true,
        SecretSource::Variable(_) | SecretSource::File(_) => false,
    })
}
