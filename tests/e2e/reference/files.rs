//! `files.md`: where the host keeps what, from the struct that has the places and the function that fills it.

use std::fmt::Write as _;

use host_tests::repository;

use super::sources::{doc_above, plain};
use super::{Page, cell};

/// The source that declares them.
const FILE: &str = "host/settings/src/environment.rs";

/// The folders that the places are in, as the function calls them and as a user does.
const BASES: [(&str, &str, &str); 4] = [
    ("configuration", "XDG_CONFIG_HOME", "~/.config"),
    ("cache", "XDG_CACHE_HOME", "~/.cache"),
    ("data", "XDG_DATA_HOME", "~/.local/share"),
    ("state", "XDG_STATE_HOME", "~/.local/state"),
];

pub(super) fn page() -> Page {
    let text = std::fs::read_to_string(repository().join(FILE)).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut body = "Where `host` keeps what.\n\n| variable | usual value |\n|---|---|\n".to_owned();
    for (_, variable, usual) in BASES {
        let _ = writeln!(body, "| `{variable}` | `{usual}` |");
    }
    body.push_str("\n| path | content |\n|---|---|\n");
    let begin = lines.iter().position(|line| line == "pub struct Folders {").expect("the struct is in this file");
    let mut rows = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(begin).take_while(|(_, line)| *line != "}") {
        let Some((name, _)) = line.trim().strip_prefix("pub ").and_then(|field| field.split_once(": ")) else {
            continue;
        };
        let doc = doc_above(&lines, at);
        assert!(!doc.is_empty(), "{FILE}: `{name}` has no documentation");
        rows.push(format!("| `{}` | {} |", path(&lines, name), cell(&plain(&doc))));
    }
    assert!(rows.len() > 15, "{FILE} declares {} places", rows.len());
    rows.sort();
    body += &rows.join("\n");
    Page { file: "files.md", title: "Files", body }
}

/// Returns the path of a place, from the line that fills it.
fn path(lines: &[String], name: &str) -> String {
    let shown = |base: &str| {
        let (_, variable, _) = BASES.iter().find(|(known, ..)| *known == base)?;
        Some(format!("${variable}/host"))
    };
    let joined = |line: &String| {
        let (base, rest) = line.trim().strip_prefix(&format!("{name}: "))?.split_once(".join(\"")?;
        Some(format!("{}/{}", shown(base)?, rest.strip_suffix("\"),")?))
    };
    let itself = || lines.iter().find(|line| line.trim() == format!("{name},")).and_then(|_| shown(name));
    lines.iter().find_map(joined).or_else(itself).unwrap_or_else(|| panic!("{FILE}: nothing fills `{name}`"))
}
