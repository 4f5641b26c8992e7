//! The user's configuration file: read once, strict, every key read by somebody.
//!
//! Flags win over the environment, the environment over this file. A project's own file is not read: whoever opens a
//! repository has not said that its words count.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::arguments::ApprovalMode;
use crate::environment::{Environment, Folders};
use crate::exit::Failure;

/// The largest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// Everything that can be configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Configuration {
    /// The model, as `--model` has it.
    pub(crate) model: Option<String>,
    /// The mode, as `--approval-mode` has it.
    pub(crate) approval_mode: Option<ApprovalMode>,
    /// How long a run may go on.
    pub(crate) run: Run,
    /// What one call may use.
    pub(crate) limits: Limits,
    /// Where services are, when they are not where they usually are.
    pub(crate) providers: Providers,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Run {
    pub(crate) max_turns: Option<u32>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) grace_seconds: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    pub(crate) call_seconds: Option<u64>,
    pub(crate) process_call_seconds: Option<u64>,
    pub(crate) memory_mib: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Providers {
    pub(crate) gemini: Service,
    pub(crate) openai: Service,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Service {
    pub(crate) base_url: Option<String>,
}

impl Configuration {
    /// Reads the file that `HOST_CONFIG` names, which must be there, or the usual one, which need not.
    pub(crate) fn read(environment: &Environment, folders: &Folders) -> Result<Self, Failure> {
        let (path, named) = match environment.variable("HOST_CONFIG") {
            Some(path) => (PathBuf::from(path), true),
            None => (folders.configuration.join("config.toml"), false),
        };
        let unreadable = |error: std::io::Error| {
            Failure::configuration(format!("the configuration `{}` cannot be read", path.display()))
                .cause(error.to_string())
                .help("mend or remove the file, or set HOST_CONFIG to another")
        };
        match std::fs::metadata(&path) {
            Ok(about) if about.len() > MAX_FILE => Err(unreadable(std::io::Error::other(format!(
                "it has {} bytes, over the limit of {MAX_FILE}",
                about.len()
            )))),
            Ok(_) => Self::parse(&std::fs::read_to_string(&path).map_err(unreadable)?, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => Ok(Self::default()),
            Err(error) => Err(unreadable(error)),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|error| {
            let failure = Failure::configuration(format!("the configuration `{}` makes no sense", path.display()))
                .cause(error.to_string().trim_end().to_owned());
            match nearest_key(error.message()) {
                Some(key) => failure.help(format!("the nearest key is `{key}`")),
                None => failure.help("the line and column are above; `docs/configuration.md` has all keys"),
            }
        })
    }

    /// What one call may use.
    pub(crate) fn limits(&self) -> host_plugin::Limits {
        let usual = host_plugin::Limits::default();
        host_plugin::Limits {
            time: self.limits.call_seconds.map_or(usual.time, Duration::from_secs),
            process_time: self.limits.process_call_seconds.map_or(usual.process_time, Duration::from_secs),
            memory: self.limits.memory_mib.map_or(usual.memory, |mib| mib.saturating_mul(1 << 20)),
        }
    }
}

/// The key nearest to an unknown one, out of the parser's own words.
fn nearest_key(message: &str) -> Option<String> {
    let mut words = message.split('`').skip(1).step_by(2);
    let unknown = message.starts_with("unknown field").then(|| words.next())??;
    words.map(|known| (strsim::damerau_levenshtein(unknown, known), known)).min().map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Configuration, Failure> {
        Configuration::parse(text, Path::new("config.toml"))
    }

    #[test]
    fn an_unknown_key_is_told_with_its_line_and_the_nearest() {
        let failure = parse("model = \"offline\"\naproval_mode = \"plan\"\n").expect_err("it has a mistake");
        assert!(failure.causes[0].contains("line 2"), "{failure:?}");
        assert_eq!(failure.help.as_deref(), Some("the nearest key is `approval_mode`"));
        let failure = parse("[limits]\ncall_second = 3\n").expect_err("it has a mistake");
        assert_eq!(failure.help.as_deref(), Some("the nearest key is `call_seconds`"));
    }

    #[test]
    fn what_is_set_is_taken() {
        let configuration = parse("approval_mode = \"auto-edit\"\n[limits]\ncall_seconds = 3\n").expect("it is right");
        assert_eq!(configuration.approval_mode, Some(ApprovalMode::AutoEdit));
        assert_eq!(configuration.limits().time, Duration::from_secs(3));
    }
}
