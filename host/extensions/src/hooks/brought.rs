//! Hooks that plugins bring: `hooks/NAME.wasm`, and what it is asked about in `hooks/NAME.toml`.
//!
//! Promises: such a hook never allows a call, since nothing that is installed answers for the user; one that cannot be
//! used is an error, since a guard that is left out guards nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host_capability::PluginName;
use host_manifest::FileKind;
use host_plugin::HookComponent;
use host_settings::brought::Brought;
use host_settings::configuration::HOOK_SECONDS;
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, Notice};
use host_tool::HookEvent;
use serde::Deserialize;

use super::matcher::Matcher;
use super::names::Convention;
use super::{Hook, Owner, Runs};

/// What a hook is asked about, as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    events: Vec<HookEvent>,
    matcher: Option<String>,
    timeout_seconds: Option<u64>,
}

/// A hook that a plugin brings cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the hook `{hook}` of the plugin `{plugin}` cannot be used")]
pub(crate) struct BroughtHookError {
    /// The hook.
    pub hook: String,
    /// The plugin.
    pub plugin: String,
    /// Why.
    pub why: String,
}

impl Fault for BroughtHookError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        vec![self.why.clone().into()]
    }

    fn help(&self) -> Option<Advice> {
        let report = Advice::from("report it to its publisher; ");
        Some(report.command(format!("plugin remove {}", self.plugin)).text(" removes it"))
    }
}

/// Returns the hooks that a plugin brings.
///
/// # Errors
///
/// If one of them cannot be used.
pub(crate) fn hooks_of(brought: Brought<'_>) -> Result<Vec<Arc<Hook>>, BroughtHookError> {
    let mut hooks = Vec::new();
    let names = brought.files.items().into_iter().filter(|(kind, _)| *kind == FileKind::Hook).map(|(_, name)| name);
    for name in names {
        let unusable = |why: String| BroughtHookError { hook: name.clone(), plugin: brought.plugin.to_owned(), why };
        let file = |end: &str| brought.files.get(&format!("hooks/{name}.{end}")).unwrap_or_default();
        let text = std::str::from_utf8(file("toml")).map_err(|error| unusable(error.to_string()))?;
        let declared: Declared = toml::from_str(text).map_err(|error| unusable(error.to_string()))?;
        let component = HookComponent::new(PluginName::new(&name), file("wasm").to_vec());
        let component = Arc::new(component.map_err(|error| unusable(error.to_string()))?);
        let matcher = Matcher::parse(declared.matcher.as_deref().unwrap_or_default())
            .map_err(|fault| unusable(fault.to_string()))?;
        if declared.events.is_empty() {
            return Err(unusable("`events` names none".to_owned()));
        }
        let limit = Duration::from_secs(declared.timeout_seconds.unwrap_or(HOOK_SECONDS).max(1));
        // Where it is from, for lists.
        let path = PathBuf::from(format!("{}/hooks/{name}.wasm", brought.plugin));
        hooks.extend(declared.events.into_iter().map(|event| {
            Arc::new(Hook {
                event,
                matcher: matcher.clone(),
                name: format!("{name} of {}", brought.plugin),
                runs: Runs::Component(path.clone(), Arc::clone(&component)),
                limit: limit.min(host_plugin::MAX_HOOK_TIME),
                convention: Convention::Host,
                source: PathBuf::from(brought.plugin),
                owner: Owner::Plugin,
                programs: Vec::new(),
                reads: Vec::new(),
            })
        }));
    }
    Ok(hooks)
}
