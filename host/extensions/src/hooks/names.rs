//! What other agents call our events, tools and arguments, so that people's files and scripts work as they are.
//!
//! A hook of Claude Code's file reads `Bash` and `file_path`, one of Gemini CLI's `run_shell_command`, and one of our
//! own configuration our names. A matcher may use any of these names. Deliberately not here: reading a file, and JSON.

use std::path::Path;

use host_message::FunctionCall;
use host_settings::foreign_names::ForeignNames;
use host_settings::mcp::SEPARATOR;
use host_tool::HookEvent;
use serde_json::{Map, Value};

/// Whose names a hook reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// Our own.
    Host,
    /// Claude Code's, which Codex uses too.
    Claude,
    /// Gemini CLI's.
    Gemini,
}

/// Gemini CLI's names of events.
const GEMINI_EVENTS: &[(&str, HookEvent)] = &[
    ("BeforeAgent", HookEvent::UserPromptSubmit),
    ("BeforeTool", HookEvent::PreToolUse),
    ("AfterTool", HookEvent::PostToolUse),
    ("AfterAgent", HookEvent::Stop),
    ("PreCompress", HookEvent::PreCompact),
];

/// Returns the event with this name: ours, which Claude Code and Codex share, or Gemini CLI's.
pub(super) fn event(name: &str) -> Option<HookEvent> {
    let own = HookEvent::ALL.into_iter().find(|event| event.name() == name);
    own.or_else(|| GEMINI_EVENTS.iter().find(|(known, _)| *known == name).map(|(_, event)| *event))
}

/// Returns all names of a tool that a matcher may use.
pub(super) fn names_of(tool: &str) -> Vec<String> {
    let mut names = vec![tool.to_owned()];
    names.extend(ForeignNames::of(tool).into_iter().flat_map(ForeignNames::all).map(str::to_owned));
    names.extend(of_server(tool));
    names
}

/// Returns what others call a tool of an MCP server.
fn of_server(tool: &str) -> Option<String> {
    tool.contains(SEPARATOR).then(|| format!("mcp{SEPARATOR}{tool}"))
}

impl Convention {
    /// Returns its name of an event.
    pub(super) fn event(self, event: HookEvent) -> &'static str {
        let gemini = GEMINI_EVENTS.iter().find(|(_, known)| *known == event).map(|(name, _)| *name);
        match (self, gemini) {
            (Self::Gemini, Some(name)) => name,
            (Self::Host | Self::Claude | Self::Gemini, _) => event.name(),
        }
    }

    /// Returns its name of a tool.
    pub(super) fn tool(self, tool: &str) -> String {
        let known = ForeignNames::of(tool);
        match (self, known) {
            (Self::Host, _) => tool.to_owned(),
            (Self::Claude, Some(known)) => known.claude.to_owned(),
            (Self::Gemini, Some(known)) => known.gemini.to_owned(),
            (Self::Claude | Self::Gemini, None) => of_server(tool).unwrap_or_else(|| tool.to_owned()),
        }
    }

    /// Returns the arguments of a call by its names. Paths of files are absolute, as others have them.
    pub(super) fn arguments(self, call: &FunctionCall, workspace: &Path) -> Map<String, Value> {
        let renamed = |(name, value): (&String, &Value)| {
            let name = self.argument(call.name.as_str(), name);
            let value = match (self, name, value) {
                (Self::Claude | Self::Gemini, "file_path", Value::String(path)) => {
                    Value::from(workspace.join(path).to_string_lossy().into_owned())
                }
                (_, _, value) => value.clone(),
            };
            (name.to_owned(), value)
        };
        call.arguments.iter().map(renamed).collect()
    }

    /// Returns the arguments that a hook answered by our names. What it left as it was `sent` stays as the call has it.
    pub(super) fn arguments_back(
        self,
        call: &FunctionCall,
        sent: &Map<String, Value>,
        answered: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut ours = Map::new();
        for (theirs, value) in answered {
            let name = self.own_argument(call.name.as_str(), theirs);
            let before = call.arguments.get(name).filter(|_| sent.get(theirs) == Some(value));
            ours.insert(name.to_owned(), before.unwrap_or(value).clone());
        }
        ours
    }

    fn argument<'n>(self, tool: &str, name: &'n str) -> &'n str {
        let found = renamed(tool).find(|(ours, ..)| *ours == name);
        match (self, found) {
            (Self::Claude, Some((_, claude, _))) => claude,
            (Self::Gemini, Some((_, _, gemini))) => gemini,
            (Self::Host, _) | (Self::Claude | Self::Gemini, None) => name,
        }
    }

    fn own_argument<'n>(self, tool: &str, name: &'n str) -> &'n str {
        let is_it = |(_, claude, gemini): &&(&'static str, &'static str, &'static str)| match self {
            Self::Host => false,
            Self::Claude => *claude == name,
            Self::Gemini => *gemini == name,
        };
        renamed(tool).find(is_it).map_or(name, |(ours, ..)| ours)
    }
}

fn renamed(tool: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    ForeignNames::of(tool).into_iter().flat_map(|known| known.arguments)
}

#[cfg(test)]
mod tests {
    use host_message::{CallId, ToolName};
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: &Value) -> FunctionCall {
        let arguments = arguments.as_object().cloned().expect("an object");
        FunctionCall::new(CallId::new("c"), ToolName::new(name), arguments)
    }

    #[test]
    fn hook_events_of_others_are_ours() {
        for (name, expected) in [
            ("PreToolUse", Some(HookEvent::PreToolUse)),
            ("BeforeTool", Some(HookEvent::PreToolUse)),
            ("AfterAgent", Some(HookEvent::Stop)),
            ("PreCompress", Some(HookEvent::PreCompact)),
            ("BeforeModel", None),
        ] {
            assert_eq!(event(name), expected, "{name}");
        }
        assert_eq!(Convention::Gemini.event(HookEvent::PreToolUse), "BeforeTool");
        assert_eq!(Convention::Claude.event(HookEvent::PreToolUse), "PreToolUse");
        assert_eq!(Convention::Gemini.event(HookEvent::SessionEnd), "SessionEnd");
    }

    #[test]
    fn hook_arguments_have_the_names_of_others_and_come_back() {
        let edit = call("edit", &json!({"path": "src/a.rs", "old_string": "a", "new_string": "b"}));
        let sent = Convention::Claude.arguments(&edit, Path::new("/w"));
        assert_eq!(json!(sent), json!({"file_path": "/w/src/a.rs", "old_string": "a", "new_string": "b"}));
        assert_eq!(Convention::Claude.arguments_back(&edit, &sent, &sent), edit.arguments, "nothing was changed");
        let answered = json!({"file_path": "/w/src/b.rs", "old_string": "a"});
        let back = Convention::Claude.arguments_back(&edit, &sent, answered.as_object().expect("an object"));
        assert_eq!(json!(back), json!({"path": "/w/src/b.rs", "old_string": "a"}));
        let shell = call("shell", &json!({"command": "ls", "background": true}));
        assert_eq!(
            json!(Convention::Gemini.arguments(&shell, Path::new("/w"))),
            json!({"command": "ls", "is_background": true})
        );
        assert_eq!(Convention::Host.arguments(&shell, Path::new("/w")), shell.arguments);
    }

    #[test]
    fn hook_tools_have_all_their_names() {
        assert!(names_of("shell").contains(&"Bash".to_owned()));
        assert!(names_of("edit").contains(&"replace".to_owned()) && names_of("edit").contains(&"MultiEdit".to_owned()));
        assert!(names_of("read_many_files").contains(&"Read".to_owned()), "a guard of reading sees it too");
        assert_eq!(names_of("github__issue"), ["github__issue", "mcp__github__issue"]);
        assert_eq!(Convention::Claude.tool("github__issue"), "mcp__github__issue");
        assert_eq!(Convention::Host.tool("shell"), "shell");
    }
}
