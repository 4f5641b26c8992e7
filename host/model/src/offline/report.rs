//! The report, in Markdown: the findings, how much of them is shown, and who wrote it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use host_text::counted;

use super::findings::{Findings, KnownFiles, Search};
use super::output::Tree;
use super::project;

/// The most hits of one search that are shown; the total is shown too.
const SHOWN_HITS: usize = 10;

/// The most kinds of files, files and folders that are listed.
const SHOWN_NAMES: usize = 12;

/// The most files of a search that are named as those with the most matches.
const SHOWN_TOP: usize = 3;

/// The most lines of a named file that are shown.
const SHOWN_LINES: usize = 20;

/// The most characters of a line or an error that are shown.
const SHOWN_CHARS: usize = 160;

/// States what wrote the report. Every report ends with it.
const SIGNATURE: &str = "_This is the offline planner of `host`, not a language model: it lists, reads and searches, \
    and understands nothing. For a language model set `GEMINI_API_KEY` and pass `--model gemini/gemini-3.6-flash`, or \
    set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for another server) and pass `--model openai/NAME`._\n";

/// Writes the report.
pub(super) fn write(findings: &Findings) -> String {
    let mut out = String::new();
    if findings.survey {
        what_it_is(&mut out, findings);
        size(&mut out, &findings.known);
    }
    for search in &findings.searches {
        found(&mut out, search);
    }
    for (path, text) in &findings.looked_at {
        looked_at(&mut out, path, text);
    }
    shortcomings(&mut out, findings);
    out + "---\n\n" + SIGNATURE
}

fn what_it_is(out: &mut String, findings: &Findings) {
    out.push_str("## What it is\n\n");
    let before = out.len();
    for (path, manifest) in &findings.manifests {
        let ecosystem = project::ecosystem(path).unwrap_or("unknown");
        match &manifest.name {
            Some(name) => _ = write!(out, "- **{name}** ({ecosystem}, by `{path}`)"),
            None => _ = write!(out, "- A {ecosystem} project without a name of its own, by `{path}`"),
        }
        if let Some(description) = &manifest.description {
            _ = write!(out, ": {description}");
        }
        if !manifest.members.is_empty() {
            _ = write!(out, "; its members are {}", names(&manifest.members));
        }
        out.push('\n');
    }
    // Manifests that were not read are named.
    let root = findings.known.root.iter().flat_map(|folder| &folder.files);
    for path in root.filter(|path| !findings.manifests.iter().any(|(read, _)| read == *path)) {
        if let Some(ecosystem) = project::ecosystem(path) {
            _ = writeln!(out, "- {ecosystem}, by `{path}`");
        }
    }
    if out.len() > before {
        out.push('\n');
    }
    if let Some((path, readme)) = &findings.readme {
        match (&readme.title, &readme.paragraph) {
            (Some(title), Some(paragraph)) => _ = writeln!(out, "`{path}`, “{title}”:\n\n> {paragraph}\n"),
            (None, Some(paragraph)) => _ = writeln!(out, "`{path}`:\n\n> {paragraph}\n"),
            (Some(title), None) => _ = writeln!(out, "`{path}` is titled “{title}”.\n"),
            (None, None) => _ = writeln!(out, "`{path}` has no paragraph of prose.\n"),
        }
    }
    if out.len() == before {
        out.push_str(match (&findings.known.root, &findings.known.tree) {
            (None, None) => "The files could not be listed, so this is not known.\n\n",
            _ => "No README was read, and no manifest that this planner knows was found.\n\n",
        });
    }
}

fn size(out: &mut String, known: &KnownFiles) {
    if known.tree.is_none() && known.root.is_none() {
        return;
    }
    out.push_str("## Size\n\n");
    if let Some(tree) = &known.tree {
        _ = writeln!(out, "- {}", counted(tree.total, "file"));
        let mut extensions: HashMap<&str, usize> = HashMap::new();
        for path in &tree.paths {
            *extensions.entry(extension(path)).or_default() += 1;
        }
        if !extensions.is_empty() {
            _ = writeln!(out, "- By extension{}: {}", of_the_first(tree), ranked(extensions));
        }
    }
    if let Some(root) = &known.root {
        // Version control's own folder is not part of the survey.
        let own = root.folders.iter().filter(|name| name.as_str() != ".git");
        let mut folders: HashMap<&str, usize> = own.map(|name| (name.as_str(), 0)).collect();
        for path in known.tree.iter().flat_map(|tree| &tree.paths) {
            if let Some(count) = path.split_once('/').and_then(|(top, _)| folders.get_mut(top)) {
                *count += 1;
            }
        }
        match &known.tree {
            Some(tree) if !folders.is_empty() => {
                _ = writeln!(out, "- Top-level folders by files{}: {}", of_the_first(tree), ranked(folders));
            }
            _ if root.folders.is_empty() => out.push_str("- No top-level folders\n"),
            Some(_) | None => _ = writeln!(out, "- Top-level folders: {}", names(&root.folders)),
        }
        if !root.files.is_empty() {
            _ = writeln!(out, "- Top-level files: {}", names(&root.files));
        }
    }
    out.push('\n');
}

fn found(out: &mut String, search: &Search) {
    let Search { word, total, more, files, hits, top } = search;
    if *total == 0 {
        _ = writeln!(out, "## `{word}`\n\nNo line contains it.\n");
        return;
    }
    let at_least = if *more { "at least " } else { "" };
    let (lines, files) = (counted(*total, "line"), counted(*files, "file"));
    _ = writeln!(out, "## `{word}`: {at_least}{lines} in {files}\n");
    for hit in hits.iter().take(SHOWN_HITS) {
        _ = writeln!(out, "- `{}:{}`: {}", hit.path, hit.line, code(&hit.text));
    }
    let left = total.saturating_sub(hits.len().min(SHOWN_HITS));
    if left > 0 {
        _ = write!(out, "- … and {at_least}{left} more");
        if top.len() > 1 {
            let most = top.iter().take(SHOWN_TOP).map(|(path, count)| format!("`{path}` ({count})"));
            _ = write!(out, "; most are in {}", most.collect::<Vec<_>>().join(", "));
        }
        out.push('\n');
    }
    out.push('\n');
}

fn looked_at(out: &mut String, path: &str, text: &str) {
    let fence = host_text::fence_for(text);
    let lines = text.lines().count();
    _ = writeln!(out, "## `{path}`\n\n{fence}");
    for line in text.lines().take(SHOWN_LINES) {
        _ = writeln!(out, "{}", clip(line));
    }
    _ = writeln!(out, "{fence}\n");
    if lines > SHOWN_LINES {
        _ = writeln!(out, "These are the first {SHOWN_LINES} of the {lines} lines that were read.\n");
    }
}

fn shortcomings(out: &mut String, findings: &Findings) {
    if findings.failures.is_empty() && findings.missing.is_empty() {
        return;
    }
    out.push_str("## What did not work\n\n");
    for (call, why) in &findings.failures {
        _ = writeln!(out, "- {}: {}", code(call), clip(&why.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    for tool in &findings.missing {
        _ = writeln!(out, "- The tool `{tool}` is not available here, so its part of the answer is missing.");
    }
    out.push('\n');
}

fn extension(path: &str) -> &str {
    match project::file_name(path).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => extension,
        _ => "",
    }
}

/// Formats the names with their numbers, the largest first.
fn ranked(counts: HashMap<&str, usize>) -> String {
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_unstable_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let others = counts.len().saturating_sub(SHOWN_NAMES);
    let shown = counts.iter().take(SHOWN_NAMES).map(|(name, count)| match *name {
        "" => format!("none {count}"),
        name => format!("`{name}` {count}"),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    if others > 0 { format!("{shown}, and {others} other kinds") } else { shown }
}

/// Formats the names, and how many were left out.
fn names(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let others = names.len().saturating_sub(SHOWN_NAMES);
    if others > 0 { format!("{shown}, and {others} more") } else { shown }
}

/// Says how many files the numbers cover, if not all were listed.
fn of_the_first(tree: &Tree) -> String {
    if tree.paths.len() < tree.total { format!(" (of the first {} listed)", tree.paths.len()) } else { String::new() }
}

/// Formats the text as code within a line.
fn code(text: &str) -> String {
    if text.is_empty() { "(blank)".to_owned() } else { format!("`{}`", clip(&text.replace('`', "'"))) }
}

fn clip(text: &str) -> Cow<'_, str> {
    host_text::clip(text, SHOWN_CHARS)
}
