//! The user's settings for plugins: configuration that a plugin reads, and secrets that its requests carry without the
//! plugin reading them.
//!
//! Promises: an unknown key or secret is an error; a value has the type that the manifest declares; a project's plugin
//! gets none of the user's secrets; a plugin without a required setting is skipped, with a message that says what is
//! missing and where to set it. No message has a part of a secret in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_capability::PluginName;
use host_files::{Access, Exposed, FileError, PrivateFile};
use host_manifest::{DeclaredSecret, Manifest};
use host_plugin::{PlacedSecret, SecretError, Secrets};
use host_settings::configuration::{
    Configuration, FileSecret, McpConfig, PluginConfig, PluginConfigs, SecretSource, VARIABLE, VariableSecret,
    from_environment, overlay,
};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Notice, exact, visible_line};

use crate::plugins::{LoadedPlugin, PluginOrigin, reach};

/// Bytes of a file with a secret. Protects memory; no header field takes more.
const MAX_FILE: u64 = 64 << 10;

/// The user's settings for plugins, with the environment that secrets can be in.
#[derive(Clone)]
pub struct PluginSettings {
    of_plugins: PluginConfigs,
    /// Variables with secrets of MCP servers.
    of_servers: Vec<String>,
    environment: Environment,
}

/// The result of applying the settings to a plugin.
pub enum ConfigResolution {
    /// The plugin with its configuration and secrets.
    Applied(Box<LoadedPlugin>),
    /// A required setting is missing; says which.
    Skipped(Notice),
    /// It is built in, requires settings, and the user made none for it.
    Unused,
}

impl PluginSettings {
    /// Reads the configuration, and over it the variable.
    pub fn read(configuration: &Configuration, environment: &Environment) -> Result<Self, Failure> {
        let of_plugins = overlay(configuration.plugins.clone(), from_environment(environment)?);
        let servers = configuration.mcp.values().flat_map(McpConfig::secrets);
        let variable = |source: &SecretSource| match source {
            SecretSource::Variable(VariableSecret { env }) => Some(env.clone()),
            SecretSource::Here(_) | SecretSource::File(_) => None,
        };
        let of_servers = servers.filter_map(variable).collect();
        Ok(Self { of_plugins, of_servers, environment: environment.clone() })
    }

    /// The environment without the variables that have secrets: no program that a plugin runs may see them.
    pub fn environment_for_programs(&self) -> Vec<(OsString, OsString)> {
        let sources = self.of_plugins.values().flat_map(|of_plugin| of_plugin.secrets.values());
        let secret: Vec<&str> = sources
            .filter_map(|source| match source {
                SecretSource::Variable(VariableSecret { env }) => Some(env.as_str()),
                SecretSource::Here(_) | SecretSource::File(_) => None,
            })
            .chain(self.of_servers.iter().map(String::as_str))
            .chain([VARIABLE])
            .collect();
        let mut variables = self.environment.all();
        variables.retain(|(name, _)| !secret.iter().any(|secret| name == secret));
        variables
    }

    /// Applies the settings for a plugin.
    ///
    /// # Errors
    ///
    /// If a setting is unknown or has another type than declared, or a secret cannot be read.
    pub fn apply(&self, installed: LoadedPlugin) -> Result<ConfigResolution, Failure> {
        let manifest = &installed.manifest;
        let nothing = PluginConfig::default();
        let set = self.of_plugins.get(installed.name()).unwrap_or(&nothing);
        check_known("config", installed.name(), set.config.keys(), manifest.config.keys())?;
        check_known("secrets", installed.name(), set.secrets.keys(), manifest.secrets.keys())?;
        let mut missing = Vec::new();
        let mut config = config(manifest, set, &mut missing)?;
        config.extend(installed.config.iter().map(|(key, value)| (key.clone(), value.clone())));
        let secrets = match installed.origin.is_project() {
            false => secrets(manifest, set, &self.environment, &mut missing)?,
            true => withheld(manifest, &mut missing),
        };
        // Nothing of it was asked for, so nothing is missing.
        let is_unused = set.config.is_empty() && set.secrets.is_empty();
        if !missing.is_empty() && is_unused && matches!(installed.origin, PluginOrigin::BuiltIn(_)) {
            return Ok(ConfigResolution::Unused);
        }
        if !missing.is_empty() {
            let mut why = Notice::from(format!("the plugin `{}` is left out until ", manifest.name));
            for (number, missing) in missing.into_iter().enumerate() {
                why = why.text(if number == 0 { "" } else { " and " }).then(missing);
            }
            return Ok(ConfigResolution::Skipped(why));
        }
        let reach = reach::of(&installed, &config)?;
        let (config, secrets) = (Arc::new(config), Arc::new(secrets));
        Ok(ConfigResolution::Applied(Box::new(LoadedPlugin { config, secrets, reach, ..installed })))
    }
}

/// The TOML with which a user would set what a plugin requires; `None` if it requires nothing.
pub fn to_be_set(manifest: &Manifest) -> Option<String> {
    let keys = manifest.config.iter().filter(|(_, key)| key.required);
    let keys = keys.map(|(name, key)| format!("config.{name} = …  # {}\n", visible_line(&key.description)));
    let secrets = manifest.secrets.iter().filter(|(_, secret)| !secret.optional);
    let secrets = secrets.map(|(name, secret)| {
        let description = visible_line(&secret.description);
        format!("secrets.{name} = {{ env = \"{}\" }}  # {description}\n", variable(&manifest.name, name))
    });
    let lines: String = keys.chain(secrets).collect();
    (!lines.is_empty()).then(|| format!("[plugins.\"{}\"]\n{lines}", manifest.name))
}

/// A name for the variable that a secret could be in.
fn variable(plugin: &str, secret: &str) -> String {
    let own = plugin.rsplit('/').next().unwrap_or(plugin);
    format!("{own}_{secret}").replace('-', "_").to_uppercase()
}

/// Why the settings of a plugin cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The plugin declares no such name.
    #[error("unknown setting `plugins.\"{plugin}\".{section}.{}`", exact(.name))]
    Unknown {
        /// The plugin.
        plugin: PluginName,
        /// `config` or `secrets`.
        section: &'static str,
        /// The name.
        name: String,
        /// The names that it declares.
        known: Vec<String>,
    },
    /// A value is of another kind.
    #[error("`{key}` is `{value}`")]
    Kind {
        /// The key.
        key: String,
        /// The value, safe to show.
        value: String,
        /// The kind that the plugin takes.
        kind: &'static str,
        /// What the plugin says of it, safe to show.
        description: String,
    },
    /// A secret cannot be placed.
    #[error("`{key}` cannot be used")]
    Secret {
        /// The key.
        key: String,
        /// Why.
        cause: SecretError,
    },
    /// The path of a file is relative.
    #[error("`{key}` cannot be in the file `{file}`")]
    Relative {
        /// The key.
        key: String,
        /// The file, safe to show.
        file: String,
    },
    /// Other users could have read the file.
    #[error("`{key}` cannot be read")]
    Exposed {
        /// The key.
        key: String,
        /// The file, safe to show.
        file: String,
        /// What others may do.
        how: Exposed,
    },
    /// The file cannot be read.
    #[error("`{key}` cannot be read")]
    Unreadable {
        /// The key.
        key: String,
        /// The file, safe to show.
        file: String,
        /// Why, in words.
        why: String,
    },
}

impl Fault for SettingsError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unknown { plugin, .. } => vec![format!("the plugin `{plugin}` declares no such name").into()],
            Self::Kind { kind, description, .. } => {
                vec![format!("the plugin takes a `{kind}` there: {description}").into()]
            }
            Self::Secret { cause, .. } => vec![cause.to_string().into()],
            Self::Relative { .. } => Vec::new(),
            Self::Exposed { file, how, .. } => vec![format!("`{file}`: {how}").into()],
            Self::Unreadable { file, why, .. } => vec![format!("`{file}`: {why}").into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unknown { name, known, .. } => Some(help_on(name, known)),
            Self::Kind { .. } => Some("set it to one, or leave it out".into()),
            Self::Secret { .. } => Some("set another value".into()),
            Self::Relative { .. } => Some("write the whole path, beginning with `/` or `~/`".into()),
            Self::Exposed { file, .. } => Some(format!("make it yours alone: chmod 600 '{file}'").into()),
            Self::Unreadable { .. } => None,
        }
    }
}

/// What to do about a name that the plugin does not declare.
fn help_on(name: &str, known: &[String]) -> Advice {
    match known {
        [] => "remove it: the plugin has none".into(),
        known => {
            let all = Advice::default().command("plugin explain").text(" lists all names");
            Advice::on_name(name, known.iter().map(String::as_str), all)
        }
    }
}

/// Rejects settings that the plugin does not declare.
fn check_known<'a>(
    section: &'static str,
    plugin: &PluginName,
    set: impl Iterator<Item = &'a String>,
    known: impl Iterator<Item = &'a String> + Clone,
) -> Result<(), SettingsError> {
    for name in set {
        if known.clone().any(|known| known == name) {
            continue;
        }
        let (plugin, name) = (plugin.clone(), name.clone());
        return Err(SettingsError::Unknown { plugin, section, name, known: known.cloned().collect() });
    }
    Ok(())
}

fn config(
    manifest: &Manifest,
    set: &PluginConfig,
    missing: &mut Vec<Notice>,
) -> Result<BTreeMap<String, String>, SettingsError> {
    let mut config = BTreeMap::new();
    for (name, key) in &manifest.config {
        match set.config.get(name).map(|value| &value.0).or(key.default.as_ref()) {
            Some(value) if key.kind.fits(value) => {
                config.insert(name.clone(), value.to_string());
            }
            Some(value) => {
                let of = format!("plugins.\"{}\".config.{name}", manifest.name);
                return Err(SettingsError::Kind {
                    key: of,
                    value: exact(&value.to_string()).into_owned(),
                    kind: key.kind.name(),
                    description: visible_line(&key.description).into_owned(),
                });
            }
            None if key.required => {
                missing.push(unset(&format!("plugins.\"{}\".config.{name}", manifest.name), &key.description).into());
            }
            None => {}
        }
    }
    Ok(config)
}

fn secrets(
    manifest: &Manifest,
    set: &PluginConfig,
    environment: &Environment,
    missing: &mut Vec<Notice>,
) -> Result<Secrets, Failure> {
    let mut secrets = Secrets::default();
    for (name, declared) in &manifest.secrets {
        let of = format!("plugins.\"{}\".secrets.{name}", manifest.name);
        let found = match set.secrets.get(name) {
            Some(source) => value(source, &of, environment),
            None => Err(NoValue::Unset(unset(&of, &declared.description))),
        };
        match found {
            Ok(value) => secrets.give(name, secret(declared, &value, &of)?),
            Err(NoValue::Unusable(failure)) => return Err(failure),
            Err(NoValue::Unset(help)) => {
                if !declared.optional {
                    missing.push(help.clone().into());
                }
                secrets.lack(name, help);
            }
        }
    }
    Ok(secrets)
}

/// A project's plugin can pretend to be another one: secrets are for the plugin that the user installed.
fn withheld(manifest: &Manifest, missing: &mut Vec<Notice>) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, declared) in &manifest.secrets {
        let why = format!(" (a project's own gets no secret, such as `{name}`)");
        if !declared.optional {
            missing.push(Notice::from("you install it with ").command("plugin install").text(&why));
        }
        // The plugin passes it on to a model, which speaks to a user of any frontend.
        secrets.lack(name, format!("you install it yourself{why}"));
    }
    secrets
}

/// Returns how to set a missing value, as the end of a sentence.
fn unset(of: &str, description: &str) -> String {
    format!("you set `{of}` in config.toml ({})", visible_line(description).trim_end_matches('.'))
}

fn secret(declared: &DeclaredSecret, value: &str, of: &str) -> Result<PlacedSecret, SettingsError> {
    let placement = declared.placement();
    let placed = placement.and_then(|placement| PlacedSecret::new(value, placement, declared.reach()));
    placed.map_err(|cause| SettingsError::Secret { key: of.to_owned(), cause })
}

/// Why there is no value.
pub(crate) enum NoValue {
    /// It is not set: what the user does to set it, as the end of a sentence.
    Unset(String),
    /// What is set cannot be used.
    Unusable(Failure),
}

impl<E: Fault> From<E> for NoValue {
    fn from(error: E) -> Self {
        Self::Unusable(error.into())
    }
}

/// Returns the value that is set there.
pub(crate) fn value(source: &SecretSource, of: &str, environment: &Environment) -> Result<String, NoValue> {
    match source {
        SecretSource::Here(value) => Ok(value.clone()),
        SecretSource::Variable(VariableSecret { env }) => match environment.text(env) {
            Some(value) => Ok(value.trim().to_owned()),
            None => Err(NoValue::Unset(format!("you set the variable {}, in which `{of}` is", exact(env)))),
        },
        SecretSource::File(FileSecret { file }) => {
            let path = absolute(file, of, environment)?;
            Ok(read(&path, of)?)
        }
    }
}

pub(crate) fn absolute(file: &Path, of: &str, environment: &Environment) -> Result<PathBuf, SettingsError> {
    let home = || environment.variable("HOME").map(PathBuf::from);
    let path = match file.strip_prefix("~") {
        Ok(beneath) => home().map(|home| home.join(beneath)),
        Err(_) => Some(file.to_owned()),
    };
    path.filter(|path| path.is_absolute()).ok_or_else(|| SettingsError::Relative {
        key: of.to_owned(),
        file: exact(&file.to_string_lossy()).into_owned(),
    })
}

fn read(path: &Path, of: &str) -> Result<String, SettingsError> {
    let file = || exact(&path.to_string_lossy()).into_owned();
    let unreadable = |why: String| SettingsError::Unreadable { key: of.to_owned(), file: file(), why };
    match PrivateFile::new(path, Access::ReadOrWrite, MAX_FILE).read() {
        Ok(Some(text)) => Ok(text.trim().to_owned()),
        Ok(None) => Err(unreadable(std::io::Error::from(std::io::ErrorKind::NotFound).to_string())),
        Err(FileError::Exposed(how)) => Err(SettingsError::Exposed { key: of.to_owned(), file: file(), how }),
        Err(error) => Err(unreadable(error.to_string())),
    }
}
