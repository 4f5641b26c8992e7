//! `promises.md`: each promise with the tests that hold it.
//!
//! A promise is a comment above its first test, `// promise AREA.NAME: text`, and `// promise AREA.NAME` above each
//! further one, so that a test which moves or is renamed takes its promise along.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::sources::{Source, beneath};
use super::{Page, cell};

/// The areas in the order of the page, each with its title.
const AREAS: &[(&str, &str)] = &[
    ("run", "What a run is granted"),
    ("budget", "Budgets"),
    ("preview", "What a call shows and then does"),
    ("approval", "Asking before a call"),
    ("policy", "Rules"),
    ("subagent", "Subagents"),
    ("project", "Projects"),
    ("command-tools", "Tools behind a command"),
    ("plugin", "Every plugin"),
    ("wasi", "The WASI baseline"),
    ("files", "`fs-read` and `fs-write`"),
    ("process", "`process`"),
    ("confine", "Confined programs"),
    ("http", "`http`"),
    ("secret", "Secrets of plugins"),
    ("state", "`state`"),
    ("tools", "`tools`"),
    ("code", "Scripts over tools"),
    ("model", "Models"),
    ("session", "Sessions"),
    ("undo", "Undo"),
    ("skills", "Skills"),
    ("commands", "Command files"),
    ("memory", "Instructions of folders"),
    ("audit", "Verifying sessions"),
    ("hooks", "Hooks"),
    ("check", "Checks before a run ends"),
    ("import", "Importing from other agents"),
    ("folders", "Added folders"),
    ("plan", "Plans"),
    ("reading", "Reading outside of the workspace"),
    ("writing", "Changing files outside of the workspace"),
    ("calls", "Calls as a user reads them"),
    ("terminal", "Answers on a terminal"),
    ("update", "A newer release in the place of the program"),
    ("conversation", "A conversation"),
    ("ask", "Questions of a model"),
    ("mcp", "MCP servers and clients"),
    ("todo", "The list of steps"),
    ("background", "Commands in the background"),
    ("tty", "Commands on a terminal"),
    ("grep", "Searching in files"),
    ("search", "Searching the web"),
    ("acp", "Editors"),
    ("bundle", "Bundles and keys"),
    ("install", "Registries and installation"),
    ("index", "Indexes of plugins"),
    ("cache", "The cache of compiled components"),
    ("contract", "The contract"),
    ("design", "Structure of the code"),
];

const MARK: &str = "// promise ";

/// A promise and what holds it.
#[derive(Default)]
struct Promise {
    text: Option<String>,
    /// Names of tests, each with its file.
    tests: Vec<(String, String)>,
}

pub(super) fn page() -> Page {
    let mut promises: BTreeMap<String, Promise> = BTreeMap::new();
    for source in beneath(&["host", "plugins", "sdk", "tests"]) {
        collect(&source, &mut promises);
    }
    let mut body = "What SECURITY.md and ARCHITECTURE.md promise, and the tests that hold each promise.\n".to_owned();
    for (area, title) in AREAS {
        let _ = write!(body, "\n## {title}\n\n| promise | text | tests |\n|---|---|---|\n");
        let mut rows = 0;
        for (id, promise) in promises.iter().filter(|(id, _)| id.split('.').next() == Some(area)) {
            rows += 1;
            let text = promise.text.as_deref().unwrap_or_else(|| panic!("no test says what `promise {id}` is"));
            let tests: Vec<String> = promise.tests.iter().map(|(test, _)| format!("`{test}`")).collect();
            let _ = writeln!(body, "| `{id}` | {} | {} |", cell(text), tests.join(", "));
        }
        assert!(rows > 0, "no promise is of the area `{area}`");
    }
    for id in promises.keys() {
        let known = AREAS.iter().any(|(area, _)| id.split('.').next() == Some(area));
        assert!(known, "`promise {id}` is of an area that `AREAS` does not have");
    }
    Page { file: "promises.md", title: "Promises and the tests that hold them", body }
}

fn collect(source: &Source, promises: &mut BTreeMap<String, Promise>) {
    for (at, line) in source.lines.iter().enumerate() {
        let Some(said) = line.trim_start().strip_prefix(MARK) else { continue };
        let here = format!("{}, line {}", source.path, at + 1);
        let (id, text) = match said.split_once(": ") {
            Some((id, text)) => (id, Some(continued(text, &source.lines[at + 1..]))),
            None => (said.trim_end(), None),
        };
        let is_id = id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
        assert!(is_id && id.contains('.'), "{here}: write `{MARK}AREA.NAME: text`");
        let promise = promises.entry(id.to_owned()).or_default();
        if let Some(text) = text {
            assert!(promise.text.is_none(), "{here}: `promise {id}` has its text already, at another test");
            assert!(text.ends_with('.'), "{here}: `promise {id}` breaks off: indent the lines that continue it");
            promise.text = Some(text);
        }
        let test =
            test_below(&source.lines[at + 1..]).unwrap_or_else(|| panic!("{here}: no test is below the promise"));
        promise.tests.push((test, source.path.clone()));
    }
    for promise in promises.values_mut() {
        promise.tests.sort();
        promise.tests.dedup_by(|a, b| a.0 == b.0);
    }
}

/// The text with the comment lines that continue it, which are indented.
fn continued(text: &str, below: &[String]) -> String {
    let more = below.iter().map_while(|line| line.trim_start().strip_prefix("//   "));
    std::iter::once(text).chain(more).map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The name of the test that the comment is above of.
fn test_below(below: &[String]) -> Option<String> {
    let item = below.iter().map(|line| line.trim()).find(|line| !line.starts_with("//") && !line.starts_with("#["))?;
    let name = item.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ")?;
    Some(name.split(['(', '<']).next()?.to_owned())
}
