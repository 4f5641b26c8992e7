//! The difference between the plugins of a session and those that their sources have now.
//!
//! Promises: a plugin that became invalid stays as it was; if the plugins cannot be used together, all of them stay.
//!
//! Deliberately not here: searching the sources (`sources`), and giving the tools to an agent (`session`).

use host_manifest::{Changes, Manifest};
use host_settings::error::Failure;
use host_text::Notice;

use super::sources::{SearchResult, check_names};
use super::{LoadedPlugin, PluginOrigin};

/// The most changes of one plugin that are shown.
const SHOWN_CHANGES: usize = 4;

/// When plugins are reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReloadTrigger {
    /// If a file of theirs changed.
    FilesChanged,
    /// In any case, since the user asked for it.
    Requested,
}

/// The result of a reload.
#[derive(Debug, Default)]
pub struct ReloadOutcome {
    /// All plugins; `None` if none of them changed.
    pub plugins: Option<Vec<LoadedPlugin>>,
    /// What the user should know, a line each.
    pub notices: Vec<Notice>,
}

impl ReloadOutcome {
    /// Compares the plugins before with what the sources have now.
    pub fn new(before: &[LoadedPlugin], found: SearchResult) -> Self {
        let (mut plugins, mut notices): (Vec<LoadedPlugin>, Vec<Notice>) = Default::default();
        let mut is_changed = false;
        for now in found.plugins {
            match before.iter().find(|before| before.origin == now.origin) {
                // The old one, which is linked already.
                Some(before) if is_same(before, &now) => plugins.push(before.clone()),
                before => {
                    is_changed = true;
                    notices.push(described(before, &now).into());
                    plugins.push(now);
                }
            }
        }
        for (origin, failure) in found.invalid {
            let kept: Vec<&LoadedPlugin> = before.iter().filter(|before| is_from(before, &origin)).collect();
            let names: Vec<String> = kept.iter().map(|kept| format!("`{}`", kept.manifest.name)).collect();
            let what = if names.is_empty() { origin.to_string() } else { names.join(", ") };
            let stays = if names.is_empty() { "is not used" } else { "stays as it was" };
            notices.push(Notice::from(format!("{what} {stays}: ")).then(failure.notice()));
            plugins.extend(kept.into_iter().cloned());
        }
        for gone in before.iter().filter(|before| plugins.iter().all(|now| now.origin != before.origin)) {
            is_changed = true;
            notices.push(format!("`{}` is gone, and its tools with it", gone.manifest.name).into());
        }
        if !is_changed {
            return Self { plugins: None, notices };
        }
        match check_names(&plugins) {
            Ok(()) => Self { plugins: Some(plugins), notices },
            // The notices are about changes that are not made.
            Err(error) => Self::unchanged(&error.into()),
        }
    }

    /// Creates the result of a reload that changed nothing because of this failure.
    pub fn unchanged(failure: &Failure) -> Self {
        let notice = Notice::from("the plugins stay as they were: ").then(failure.notice());
        Self { plugins: None, notices: vec![notice] }
    }
}

/// Returns whether a plugin is from this origin, or from a folder that can no longer be read.
fn is_from(plugin: &LoadedPlugin, origin: &PluginOrigin) -> bool {
    match (&plugin.origin, origin) {
        (PluginOrigin::Path(file), PluginOrigin::Path(path)) => file.starts_with(path),
        (one, other) => one == other,
    }
}

fn is_same(before: &LoadedPlugin, now: &LoadedPlugin) -> bool {
    before.plugin.digest() == now.plugin.digest()
        && before.manifest == now.manifest
        && before.agreed == now.agreed
        && before.commands == now.commands
}

/// Describes a new or changed plugin in one line.
fn described(before: Option<&LoadedPlugin>, now: &LoadedPlugin) -> String {
    let (name, version) = (&now.manifest.name, &now.manifest.version);
    let Some(before) = before else {
        let tools: Vec<String> = now.manifest.tools.iter().map(|tool| format!("`{}`", tool.spec.name)).collect();
        return format!("`{name}` {version} is new, with {}", tools.join(", "));
    };
    let changes = match now.commands.is_empty() {
        true => Changes::between(&before.manifest, &now.manifest),
        // It requests one command for each tool: the changes of the tools say that.
        false => {
            let capabilities = now.manifest.capabilities.clone();
            Changes::between(&Manifest { capabilities, ..before.manifest.clone() }, &now.manifest)
        }
    };
    let mut words: Vec<&str> = changes.iter().take(SHOWN_CHANGES).map(|change| change.what.as_str()).collect();
    let more = changes.iter().count().saturating_sub(SHOWN_CHANGES);
    let more_words = format!("{more} more changes");
    if more > 0 {
        words.push(&more_words);
    }
    if words.is_empty() {
        words.push("its tools and what it asks for are as they were");
    }
    format!("`{name}` {version} was reloaded: {}", words.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reload_failure_is_one_line() {
        let failure = Failure::input("it is\nwrong").cause("of this").help("not shown");
        let outcome = ReloadOutcome::unchanged(&failure);
        let words: Vec<String> = outcome.notices.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["the plugins stay as they were: it is wrong: of this"]);
    }
}
