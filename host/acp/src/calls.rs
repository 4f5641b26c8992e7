//! The shapes of a call: its kind, the files that it is about, and what it changed.
//!
//! A kind follows from the capabilities that the tool's manifest names, so it is right for unknown plugins, too.
//! Deliberately not here: when a call is reported (`updates`, `replay`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{Diff, ToolCallContent, ToolCallLocation, ToolKind};
use host_app::session::Session;
use host_capability::Capability;
use host_message::FunctionCall;
use host_plugin::Workspace;
use host_text::{Newlines, clip, escape_exact, visible, visible_line};
use serde_json::Value;

/// The longest text of a call that a client is sent, in characters. Protects the client; the model has more.
const TEXT: usize = 20_000;

/// Tools whose results are places rather than contents.
const SEARCHES: [&str; 2] = ["grep", "glob"];

/// The tools of a session: their kinds, and the folder that paths are relative to.
pub(crate) struct Tools {
    kinds: HashMap<String, ToolKind>,
    workspace: Workspace,
}

impl Tools {
    /// Reads the tools of a session.
    pub(crate) fn new(session: &Session) -> Self {
        let app = session.app();
        let tools = app.plugins().iter().flat_map(|plugin| &plugin.manifest.tools);
        let kinds = tools.map(|tool| {
            let name = tool.spec.name.as_str();
            (name.to_owned(), kind(name, |capability| tool.needs(capability)))
        });
        let agents = session.agents().all().iter().map(|agent| (agent.name().to_owned(), ToolKind::Think));
        Self { kinds: kinds.chain(agents).collect(), workspace: Workspace::new(app.workspace().root().to_owned()) }
    }

    /// The kind of a tool.
    pub(crate) fn kind(&self, tool: &str) -> ToolKind {
        self.kinds.get(tool).copied().unwrap_or(ToolKind::Other)
    }

    /// The files that a call names, with the line where one is named.
    pub(crate) fn locations(&self, call: &FunctionCall) -> Vec<ToolCallLocation> {
        let is_of_files = matches!(self.kind(call.name.as_str()), ToolKind::Read | ToolKind::Edit | ToolKind::Search);
        let path = call.arguments.get("path").and_then(Value::as_str).filter(|_| is_of_files);
        let Some(path) = path.and_then(|path| self.absolute(path)) else { return Vec::new() };
        let line = call.arguments.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        vec![ToolCallLocation::new(path).line(line)]
    }

    /// The path as the protocol wants it.
    pub(crate) fn absolute(&self, path: &str) -> Option<PathBuf> {
        self.workspace.absolute(path).ok()
    }
}

fn kind(name: &str, needs: impl Fn(Capability) -> bool) -> ToolKind {
    match () {
        () if needs(Capability::Process) => ToolKind::Execute,
        () if needs(Capability::FsWrite) => ToolKind::Edit,
        () if needs(Capability::Http) => ToolKind::Fetch,
        () if needs(Capability::FsRead) && SEARCHES.contains(&name) => ToolKind::Search,
        () if needs(Capability::FsRead) => ToolKind::Read,
        () => ToolKind::Other,
    }
}

/// What a call is called: its tool and, if there is one, its title.
pub(crate) fn title(tool: &str, title: &str) -> String {
    let (tool, title) = (visible_line(tool), visible_line(title));
    if title.is_empty() { tool.into_owned() } else { format!("{tool}: {title}") }
}

/// A text of a call, safe to show.
pub(crate) fn text(text: &str) -> ToolCallContent {
    ToolCallContent::from(clip(&visible(text), TEXT).into_owned())
}

/// A change of a file as the protocol shows it: a change for each hunk of the difference, and where they are.
pub(crate) fn changes(path: &Path, unified: &str) -> (Vec<ToolCallContent>, Vec<ToolCallLocation>) {
    let (mut contents, mut locations) = (Vec::new(), Vec::new());
    for hunk in hunks(unified) {
        let old = hunk.old.map(|old| shown(&old));
        contents.push(Diff::new(path, shown(&hunk.new)).old_text(old).into());
        locations.push(ToolCallLocation::new(path).line(hunk.line));
    }
    (contents, locations)
}

/// Content of a file in which nothing is hidden.
fn shown(content: &str) -> String {
    escape_exact(content, Newlines::Keep).into_owned()
}

/// A part of a file before and after a change.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// `None` in a file that did not exist.
    old: Option<String>,
    new: String,
    /// The first line of the change in the new file, from 1.
    line: u32,
}

/// Reads a unified diff. What is none has no hunks.
fn hunks(unified: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    // Without an old side a client shows the file as new.
    let is_new = unified.lines().take_while(|line| !line.starts_with("@@")).any(|line| line == "--- /dev/null");
    // Which side the line before belongs to, for the mark of a missing newline.
    let (mut in_old, mut in_new) = (false, false);
    for line in unified.split_inclusive('\n') {
        if let Some(line) = first_line(line) {
            hunks.push(Hunk { old: (!is_new).then(String::new), new: String::new(), line });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let content = line.get(1..).unwrap_or_default();
        match line.as_bytes().first() {
            Some(b'\\') => {
                let old = hunk.old.as_mut().filter(|_| in_old);
                for side in old.into_iter().chain(in_new.then_some(&mut hunk.new)) {
                    side.pop();
                }
                continue;
            }
            Some(b'-') => (in_old, in_new) = (true, false),
            Some(b'+') => (in_old, in_new) = (false, true),
            _ => (in_old, in_new) = (true, true),
        }
        if let Some(old) = hunk.old.as_mut().filter(|_| in_old) {
            old.push_str(content);
        }
        if in_new {
            hunk.new.push_str(content);
        }
    }
    hunks
}

/// The first new line of a hunk, from its header `@@ -1,2 +3,4 @@`.
fn first_line(header: &str) -> Option<u32> {
    let new = header.strip_prefix("@@ -")?.split_once(" +")?.1;
    let digits: String = new.chars().take_while(char::is_ascii_digit).collect();
    Some(digits.parse::<u32>().ok()?.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: Option<&str>, new: &str, line: u32) -> Hunk {
        Hunk { old: old.map(str::to_owned), new: new.to_owned(), line }
    }

    #[test]
    fn calls_difference_becomes_a_change_for_each_hunk() {
        for (unified, expected) in [
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n", vec![hunk(Some("a\nc\n"), "b\nc\n", 1)]),
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+\n", vec![hunk(None, "a\n\n", 1)]),
            (
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
                vec![hunk(Some("a"), "b", 1)],
            ),
            (
                // A removed line `-- a` and an added `++ b`.
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +12 @@ f()\n-c\n",
                vec![hunk(Some("-- a\n"), "++ b\n", 1), hunk(Some("c\n"), "", 12)],
            ),
            ("", vec![]),
            ("@@ rubbish\n+a\n", vec![]),
            ("@@ -1 +99999999999 @@\n+a\n", vec![]),
            ("@@ -1 +1 @@\n\n", vec![hunk(Some(""), "", 1)]),
        ] {
            assert_eq!(hunks(unified), expected, "{unified}");
        }
    }

    #[test]
    fn calls_change_hides_nothing() {
        let (contents, locations) = changes(Path::new("/w/x"), "@@ -1 +4 @@\n-a\n+\tb\u{202e}\u{200b}\n");
        let json = serde_json::to_value(&contents).expect("plain data");
        assert_eq!(json[0]["newText"], "\tb\\u{202e}\\u{200b}\n");
        assert_eq!((json[0]["oldText"].as_str(), locations[0].line), (Some("a\n"), Some(4)));
    }

    #[test]
    fn calls_have_the_kind_of_the_most_that_they_need() {
        for (name, needs, expected) in [
            ("shell", &[Capability::FsRead, Capability::Process][..], ToolKind::Execute),
            ("edit", &[Capability::FsRead, Capability::FsWrite], ToolKind::Edit),
            ("web_fetch", &[Capability::Http], ToolKind::Fetch),
            ("grep", &[Capability::FsRead], ToolKind::Search),
            ("count_lines", &[Capability::FsRead], ToolKind::Read),
            ("todo", &[Capability::State], ToolKind::Other),
        ] {
            assert_eq!(kind(name, |capability| needs.contains(&capability)), expected, "{name}");
        }
    }
}
