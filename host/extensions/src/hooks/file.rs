//! A file with hooks, in the shape that Claude Code, Codex and Gemini CLI share: under `hooks`, a list of groups for
//! each event, and in each group a matcher and the hooks.
//!
//! Promises: a hook that cannot be used is reported and keeps no other one from being used. What differs: a time limit
//! is in seconds, and in milliseconds in Gemini CLI's file. Deliberately not here: which files there are.

use std::time::Duration;

use host_files::FileError;
use host_plugin::MAX_HOOK_TIME;
use host_settings::configuration::HOOK_SECONDS;
use host_text::excerpt;
use host_tool::HookEvent;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::matcher::{Matcher, MatcherFault};
use super::names::{self, Convention};

/// The most hooks of one file. Protects the machine from a file that starts programs without end.
const MAX_HOOKS: usize = 64;

/// The longest command, in bytes. Protects memory and the lists that show it.
const MAX_COMMAND: usize = 32 << 10;

/// A hook as a file has it.
#[derive(Clone, Debug)]
pub(super) struct FileHook {
    pub(super) event: HookEvent,
    pub(super) matcher: Matcher,
    pub(super) name: Option<String>,
    pub(super) argv: Vec<String>,
    pub(super) limit: Duration,
}

/// What a file has: the hooks, and why others are not used, safe to show.
#[derive(Debug, Default)]
pub(super) struct FileHooks {
    pub(super) hooks: Vec<FileHook>,
    /// Events of other agents that there are not here.
    pub(super) unknown: Vec<String>,
    pub(super) notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFile {
    #[serde(default)]
    hooks: Map<String, Value>,
    #[serde(default)]
    hooks_config: RawSwitches,
    #[serde(default)]
    disable_all_hooks: bool,
}

/// Gemini CLI's switches.
#[derive(Default, Deserialize)]
struct RawSwitches {
    enabled: Option<bool>,
    #[serde(default)]
    disabled: Vec<String>,
}

#[derive(Deserialize)]
struct RawGroup {
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Value>,
}

#[derive(Deserialize)]
struct RawHook {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    timeout: Option<f64>,
}

/// Why a hook, or a file with hooks, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HookFault {
    /// The file is of another form.
    #[error("it is not JSON as expected: {0}")]
    NotJson(serde_json::Error),
    /// The hook is of another form.
    #[error("{}", excerpt(&.0.to_string(), 120))]
    Form(serde_json::Error),
    /// Its matcher.
    #[error(transparent)]
    Matcher(#[from] MatcherFault),
    /// It is of another type.
    #[error("hooks of the type `{}` are not supported; use `command`", excerpt(.0, 40))]
    Kind(String),
    /// It runs nothing.
    #[error("it has no `command`")]
    NoCommand,
    /// Its command cannot be run.
    #[error("its command is over the limit of {MAX_COMMAND} bytes, or has a NUL character")]
    Command,
    /// Its timeout.
    #[error("its timeout `{0}` is not a valid time")]
    Timeout(f64),
    /// Other users could have written the file.
    #[error("{0}; `chmod go-w` it, since it names programs that run")]
    Exposed(FileError),
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(FileError),
    /// One of the hooks of a file whose hooks all have to be right.
    #[error("{0}")]
    Left(String),
}

impl FileHooks {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it is not JSON of that shape.
    pub(super) fn read(bytes: &[u8], convention: Convention) -> Result<Self, HookFault> {
        let raw: RawFile = serde_json::from_slice(bytes).map_err(HookFault::NotJson)?;
        let mut found = Self::default();
        if raw.disable_all_hooks || raw.hooks_config.enabled == Some(false) {
            return Ok(found);
        }
        for (name, groups) in raw.hooks {
            // Switches of earlier versions of Gemini CLI, among its events.
            if convention == Convention::Gemini && matches!(name.as_str(), "enabled" | "disabled" | "notifications") {
                continue;
            }
            let Some(event) = names::event(&name) else {
                found.unknown.push(excerpt(&name, 60));
                continue;
            };
            let groups: Vec<RawGroup> = match serde_json::from_value(groups) {
                Ok(groups) => groups,
                Err(error) => {
                    found.notes.push(format!(
                        "`{name}` is not a list of groups with hooks: {}",
                        excerpt(&error.to_string(), 120)
                    ));
                    continue;
                }
            };
            for group in groups {
                found.add(event, group, convention, &raw.hooks_config.disabled);
            }
        }
        Ok(found)
    }

    fn add(&mut self, event: HookEvent, group: RawGroup, convention: Convention, disabled: &[String]) {
        let matcher = match Matcher::parse(group.matcher.as_deref().unwrap_or_default()) {
            Ok(matcher) => matcher,
            Err(fault) => return self.notes.push(fault.to_string()),
        };
        for hook in group.hooks {
            let read = serde_json::from_value(hook).map_err(HookFault::Form);
            match read.and_then(|raw| usable(event, &matcher, raw, convention)) {
                Ok(_) if self.hooks.len() >= MAX_HOOKS => {
                    return self.notes.push(format!("the file has over {MAX_HOOKS}"));
                }
                Ok(hook) if hook.name.as_ref().is_some_and(|name| disabled.contains(name)) => {}
                Ok(hook) => self.hooks.push(hook),
                Err(fault) => self.notes.push(format!("`{}`: {fault}", event.name())),
            }
        }
    }
}

fn usable(event: HookEvent, matcher: &Matcher, raw: RawHook, convention: Convention) -> Result<FileHook, HookFault> {
    let RawHook { kind, name, command, args, timeout } = raw;
    if let Some(kind) = kind.filter(|kind| kind != "command") {
        return Err(HookFault::Kind(kind));
    }
    let command = command.filter(|command| !command.trim().is_empty()).ok_or(HookFault::NoCommand)?;
    let argv = match args {
        Some(args) => std::iter::once(command).chain(args).collect(),
        None => vec!["sh".to_owned(), "-c".to_owned(), command],
    };
    if argv.iter().map(String::len).sum::<usize>() > MAX_COMMAND || argv.iter().any(|word| word.contains('\0')) {
        return Err(HookFault::Command);
    }
    let unit = if convention == Convention::Gemini { 0.001 } else { 1.0 };
    let seconds = timeout.map_or(HOOK_SECONDS as f64, |timeout| timeout * unit);
    let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
    let limit = limit.ok_or(HookFault::Timeout(seconds))?.min(MAX_HOOK_TIME);
    Ok(FileHook { event, matcher: matcher.clone(), name, argv, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hooks of a file, in the order of events.
    fn read(text: &str, convention: Convention) -> FileHooks {
        let mut found = FileHooks::read(text.as_bytes(), convention).expect("it has the shape");
        found.hooks.sort_by_key(|hook| hook.event);
        found
    }

    #[test]
    fn hooks_of_all_files_are_read_as_other_agents_read_them() {
        let claude = include_str!("../../../../tests/e2e/hooks/fixtures/claude-settings.json");
        let found = read(claude, Convention::Claude);
        assert!(found.notes.is_empty(), "{:?}", found.notes);
        let events: Vec<&str> = found.hooks.iter().map(|hook| hook.event.name()).collect();
        assert_eq!(events, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PreToolUse", "PostToolUse", "Stop"]);
        let [_, _, bash, exec, ..] = found.hooks.as_slice() else { panic!("{found:?}") };
        assert_eq!((bash.argv[0].as_str(), bash.limit), ("sh", Duration::from_secs(5)));
        assert_eq!((exec.argv[0].as_str(), exec.argv.len(), exec.limit), ("python3", 2, Duration::from_secs(60)));
        let gemini =
            read(include_str!("../../../../tests/e2e/hooks/fixtures/gemini-settings.json"), Convention::Gemini);
        assert_eq!((gemini.unknown, gemini.notes.len()), (vec!["BeforeModel".to_owned()], 0));
        let events: Vec<&str> = gemini.hooks.iter().map(|hook| hook.event.name()).collect();
        assert_eq!(events, ["UserPromptSubmit", "PreToolUse", "PostToolUse"]);
        assert_eq!(
            (gemini.hooks[1].limit, gemini.hooks[1].name.as_deref()),
            (Duration::from_millis(5000), Some("secrets"))
        );
        let codex = read(include_str!("../../../../tests/e2e/hooks/fixtures/codex-hooks.json"), Convention::Claude);
        assert_eq!((codex.hooks.len(), codex.notes.len()), (3, 0), "{codex:?}");
    }

    #[test]
    fn hook_that_cannot_be_used_is_reported_and_keeps_no_other_one_away() {
        let text = r#"{"hooks": {"PreToolUse": [
            {"matcher": "(?=x)", "hooks": [{"type": "command", "command": "a"}]},
            {"hooks": [{"type": "prompt", "prompt": "Is it fine?"}, {"type": "command"}, {"command": "ok"}, 3,
                       {"type": "command", "command": "b", "timeout": -1}, {"type": "command", "command": "b", "timeout": 0}]}
        ], "Stop": {}, "WorktreeCreate": [], "e\u001b[2J": []}}"#;
        let found = read(text, Convention::Claude);
        assert_eq!((found.hooks.len(), found.notes.len(), found.unknown.len()), (1, 7, 2), "{found:?}");
        assert!(found.notes.iter().chain(&found.unknown).all(|note| !note.contains('\u{1b}')), "{:?}", found.notes);
        for text in ["", "{\"hooks\": []}", "// comment"] {
            assert!(FileHooks::read(text.as_bytes(), Convention::Claude).is_err(), "{text}");
        }
        let off = "{\"disableAllHooks\": true, \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"x\"}]}]}}";
        assert!(read(off, Convention::Claude).hooks.is_empty());
        let hook = "{\"type\": \"command\", \"command\": \"x\"},".repeat(MAX_HOOKS);
        let many = format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{hook}{{\"command\": \"last\"}}]}}]}}}}");
        let found = read(&many, Convention::Claude);
        assert_eq!((found.hooks.len(), found.notes.len()), (MAX_HOOKS, 1));
    }
}
