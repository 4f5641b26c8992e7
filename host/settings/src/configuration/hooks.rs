//! `[hooks]`: programs and components that are asked about calls, prompts and ends, and whose files of other agents are
//! used.
//!
//! Deliberately not here: files with hooks (`host_extensions::hooks`), and running them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use host_tool::HookEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AtLeastOne;
use super::fault::ConfigurationFault;

/// The default of a hook's time limit, in seconds: what Claude Code had and Gemini CLI has. Protects the session from a
/// hook that hangs.
pub const HOOK_SECONDS: u64 = 60;

/// `[hooks]`: programs that are asked about events of a session. They run confined, unless `confine.mode` is `off`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HooksConfig {
    /// The other agents whose hooks in your home are used too.
    pub read: BTreeSet<ForeignAgent>,
    /// The servers that confined hooks may reach, such as `hooks.example.com`.
    pub net: Vec<String>,
    /// Further files and folders that confined hooks may read.
    pub readable: Vec<PathBuf>,
    /// Further files and folders that confined hooks may change.
    pub writable: Vec<PathBuf>,
    /// When a session begins, before its first prompt. Matches `startup`, `resume` or `clear`.
    #[serde(rename = "SessionStart")]
    pub session_start: Vec<HookConfig>,
    /// Before a prompt is sent.
    #[serde(rename = "UserPromptSubmit")]
    pub user_prompt_submit: Vec<HookConfig>,
    /// Before a call is decided. Matches names of tools.
    #[serde(rename = "PreToolUse")]
    pub pre_tool_use: Vec<HookConfig>,
    /// Before you are asked about a call. Matches names of tools.
    #[serde(rename = "PermissionRequest")]
    pub permission_request: Vec<HookConfig>,
    /// After a call. Matches names of tools.
    #[serde(rename = "PostToolUse")]
    pub post_tool_use: Vec<HookConfig>,
    /// Before a subagent ends. Matches its name.
    #[serde(rename = "SubagentStop")]
    pub subagent_stop: Vec<HookConfig>,
    /// Before the conversation is compressed. Matches `manual` or `auto`.
    #[serde(rename = "PreCompact")]
    pub pre_compact: Vec<HookConfig>,
    /// Before the agent ends with an answer.
    #[serde(rename = "Stop")]
    pub stop: Vec<HookConfig>,
    /// When the session ends. Matches `clear`, `exit` or `other`.
    #[serde(rename = "SessionEnd")]
    pub session_end: Vec<HookConfig>,
    /// When you are notified. Matches the kind, such as `permission_prompt`.
    #[serde(rename = "Notification")]
    pub notification: Vec<HookConfig>,
}

/// A hook.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HookConfig {
    /// What it is asked about: names with `|` between them, or a regular expression; everything if it is not set.
    pub matcher: Option<String>,
    /// The line of the shell that runs.
    pub command: Option<String>,
    /// The file of a component that is asked instead: an absolute path, or one that begins with `~/`.
    pub component: Option<PathBuf>,
    /// What it is called in messages; the line or the file if it is not set.
    pub name: Option<String>,
    /// How long it may take.
    #[schemars(extend("default" = HOOK_SECONDS))]
    pub(crate) timeout_seconds: Option<AtLeastOne<u64>>,
}

impl HookConfig {
    /// Returns how long it may take.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.map_or(HOOK_SECONDS, AtLeastOne::get))
    }
}

/// Another agent, whose files with hooks can be used, and whose configuration can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignAgent {
    /// Claude Code: `~/.claude/settings.json`.
    Claude,
    /// Codex: `~/.codex/hooks.json`.
    Codex,
    /// Gemini CLI: `~/.gemini/settings.json`.
    Gemini,
}

impl ForeignAgent {
    /// Returns its name in commands, in `hooks.read` and in file names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

impl HooksConfig {
    /// Returns the hooks of an event.
    pub fn of(&self, event: HookEvent) -> &[HookConfig] {
        match event {
            HookEvent::SessionStart => &self.session_start,
            HookEvent::UserPromptSubmit => &self.user_prompt_submit,
            HookEvent::PreToolUse => &self.pre_tool_use,
            HookEvent::PermissionRequest => &self.permission_request,
            HookEvent::PostToolUse => &self.post_tool_use,
            HookEvent::SubagentStop => &self.subagent_stop,
            HookEvent::PreCompact => &self.pre_compact,
            HookEvent::Stop => &self.stop,
            HookEvent::SessionEnd => &self.session_end,
            HookEvent::Notification => &self.notification,
        }
    }

    /// Rejects a hook that runs nothing.
    pub(super) fn check(&self) -> Result<(), ConfigurationFault> {
        for event in HookEvent::ALL {
            for hook in self.of(event) {
                let has_line = hook.command.as_deref().is_some_and(|line| !line.trim().is_empty());
                if has_line == hook.component.is_some() {
                    return Err(ConfigurationFault::Hook { event, has_both: has_line });
                }
            }
        }
        Ok(())
    }
}
