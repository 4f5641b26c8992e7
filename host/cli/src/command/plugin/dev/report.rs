//! Output of one `plugin dev` cycle: build result, API changes, test results and a command to try it.
//!
//! Plain lines, the same in a pipe as on a terminal except for colour.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anstyle::AnsiColor;
use host_devkit::{BuiltPlugin, CaseResult, Changed, DevError, DevEvent};
use host_manifest::{Changes, Manifest, ToolEntry, Weight};
use host_text::{exact, visible_line};
use serde_json::Value;

use super::super::test;
use super::failed;
use crate::exit;
use crate::printer::{Out, Style, to_stderr};

/// Files that are named as changed.
const NAMED: usize = 3;

/// Prints the rounds.
pub(super) struct Report {
    out: Out,
    style: Style,
    /// For standard error.
    errors: Style,
    /// The target folder of builds, as the user wrote it.
    target: PathBuf,
    round: AtomicU32,
}

impl Report {
    pub(super) fn new(out: Out, style: Style, errors: Style, target: PathBuf) -> Self {
        Self { out, style, errors, target, round: AtomicU32::new(0) }
    }

    /// Prints one event.
    pub(super) fn show(&self, event: &DevEvent<'_>) {
        match event {
            DevEvent::Watching { folder, files } => self.begins(folder, *files),
            DevEvent::Round { changed, folder } => self.round(changed, folder),
            DevEvent::Built { plugins, before, took } => self.built(plugins, before, *took),
            DevEvent::NotBuilt { error, before } => self.not_built(error, *before),
            DevEvent::Case(case) => self.case(case),
            DevEvent::Cases { results, filter } => self.cases(results, *filter),
            DevEvent::Good(plugins) => self.good(plugins),
            DevEvent::NotKept { before } => self.not_kept(*before),
            DevEvent::Failed(error) => self.failed(error),
        }
    }

    /// Watching has begun.
    fn begins(&self, folder: &Path, files: usize) {
        let folder = exact(&folder.display().to_string()).into_owned();
        self.line(&format!("watching {files} files in {folder}; Ctrl-C ends it"));
    }

    /// A round begins.
    fn round(&self, changed: &Changed, folder: &Path) {
        let round = self.round.fetch_add(1, Ordering::Relaxed) + 1;
        let files: Vec<&PathBuf> = changed.sources.iter().chain(&changed.cases).collect();
        let name = |path: &&PathBuf| {
            let path = path.strip_prefix(folder).unwrap_or(path);
            exact(&path.display().to_string()).replace(['\n', '\t'], " ")
        };
        let mut named: Vec<String> = files.iter().take(NAMED).map(name).collect();
        if let Some(more) = files.len().checked_sub(NAMED).filter(|more| *more > 0) {
            named.push(format!("{more} more"));
        }
        let why = if named.is_empty() { String::new() } else { format!(": {} changed", named.join(", ")) };
        self.out.write(&format!("\n{}{why}\n", self.style.bold(&format!("round {round}"))));
    }

    /// The plugins were built; these were the ones before.
    fn built(&self, plugins: &[BuiltPlugin], before: &[Manifest], took: Duration) {
        for BuiltPlugin { manifest, component, .. } in plugins {
            let name = self.style.bold(&exact(&manifest.name));
            self.line(&format!("{name} {}, {} bytes", manifest.version, grouped(component.len())));
            match before.iter().find(|old| old.name == manifest.name) {
                None => self.line(&format!("  tools     {}", tools(manifest))),
                Some(old) => self.changes(&Changes::between(old, manifest)),
            }
        }
        for gone in before.iter().filter(|old| plugins.iter().all(|plugin| plugin.manifest.name != old.name)) {
            self.line(&format!("{} is gone", exact(&gone.name)));
        }
        self.line(&self.style.dim(&format!("built in {:.1} s", took.as_secs_f64())));
    }

    fn changes(&self, changes: &Changes) {
        for change in changes.iter() {
            let colour = match change.weight {
                Weight::Breaking => AnsiColor::Red,
                Weight::Addition => AnsiColor::Green,
                Weight::Fix => AnsiColor::Cyan,
            };
            let word = self.style.paint(&format!("{:9}", change.weight), colour);
            self.line(&format!("  {word} {}", visible_line(&change.what)));
        }
        if changes.iter().next().is_none() {
            self.line(&self.style.dim("  its tools and requests are unchanged"));
        }
    }

    /// One case has ended.
    fn case(&self, case: &CaseResult) {
        if !case.passed() {
            self.out.write(&test::told(case, self.style, Some(case)));
        }
    }

    /// All cases have ended.
    fn cases(&self, ended: &[CaseResult], filter: Option<&str>) {
        let failed = ended.iter().filter(|case| !case.passed()).count();
        let passed = ended.len() - failed;
        self.line(&match (ended.len(), filter) {
            (0, None) => "no cases: tests/*.toml has none".to_owned(),
            (0, Some(filter)) => format!("no case has `{}` in its name", exact(filter)),
            (..) if failed == 0 => {
                format!("{}, 0 failed", self.style.paint(&format!("{passed} passed"), AnsiColor::Green))
            }
            (..) => format!("{passed} passed, {}", self.style.paint(&format!("{failed} failed"), AnsiColor::Red)),
        });
    }

    /// The build is good, and written.
    fn good(&self, plugins: &[BuiltPlugin]) {
        let target = shown(&self.target);
        match plugins.iter().find_map(|plugin| plugin.manifest.tools.first()) {
            Some(tool) => {
                let name = exact(tool.spec.name.as_str()).into_owned();
                self.line(&format!("try it: host tool call {name} '{}' --plugin {target}", arguments(tool)));
            }
            None => self.line(&format!("try it: host run --plugin {target}")),
        }
    }

    /// A case failed.
    fn not_kept(&self, before: bool) {
        self.stays("not written: its cases fail", before);
    }

    /// The sources do not build.
    fn not_built(&self, error: &DevError, before: bool) {
        self.failed(error);
        self.stays("not built", before);
    }

    /// Something else went wrong.
    fn failed(&self, error: &DevError) {
        to_stderr(&exit::words(&failed(error), self.errors));
    }

    fn stays(&self, what: &str, before: bool) {
        let what = self.style.paint(what, AnsiColor::Red);
        let target = shown(&self.target);
        self.line(&match before {
            true => format!("{what}; {target} keeps the last good build"),
            false => format!("{what}; nothing was written to {target}"),
        });
    }

    /// A line of a round.
    fn line(&self, text: &str) {
        let indent = if self.round.load(Ordering::Relaxed) == 0 { "" } else { "  " };
        self.out.write(&format!("{indent}{text}\n"));
    }
}

/// A path as it is given to a shell.
fn shown(path: &Path) -> String {
    let path = exact(&path.display().to_string()).into_owned();
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+~".contains(c));
    if plain { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn tools(manifest: &Manifest) -> String {
    let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.spec.name.as_str()).collect();
    exact(&names.join(", ")).into_owned()
}

/// Digits in groups of three.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The arguments that a tool has to be given, to be filled in.
fn arguments(tool: &ToolEntry) -> String {
    let schema = &tool.spec.input_schema;
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields: Vec<String> = required
        .iter()
        .filter_map(Value::as_str)
        .map(|name| {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("string") => "\"…\"",
                Some("integer" | "number") => "0",
                Some("boolean") => "false",
                Some("array") => "[]",
                Some("object") => "{}",
                Some(_) | None => "null",
            };
            format!("{}: {value}", Value::from(name))
        })
        .collect();
    // It goes between quotes of the shell.
    exact(&format!("{{{}}}", fields.join(", "))).replace('\'', "'\\''")
}

#[cfg(test)]
mod tests {
    use host_manifest::{Manifest, Source};
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_and_paths_are_written_to_be_read_and_pasted() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (57_524, "57,524"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        for (path, text) in
            [("dist", "dist"), ("/a/b-c_1.0", "/a/b-c_1.0"), ("my dist", "'my dist'"), ("a'b", "'a'\\''b'")]
        {
            assert_eq!(shown(Path::new(path)), text);
        }
    }

    #[test]
    fn plugin_dev_report_shows_the_required_arguments_to_fill_in() {
        for (schema, expected) in [
            (json!({"type": "object"}), "{}"),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}}), "{}"),
            (
                json!({"type": "object", "required": ["path", "n", "yes", "list", "any"], "properties": {
                    "path": {"type": "string"}, "n": {"type": "integer"}, "yes": {"type": "boolean"},
                    "list": {"type": "array"}, "any": {}
                }}),
                r#"{"path": "…", "n": 0, "yes": false, "list": [], "any": null}"#,
            ),
            (json!({"type": "object", "required": ["it's \u{1b}"]}), r#"{"it'\''s \u001b": null}"#),
        ] {
            let manifest = json!({
                "manifest": 1, "name": "a", "version": "0.1.0", "license": "MIT", "contract": "0.1.0", "capabilities": {},
                "tools": [{"name": "t", "description": "T.", "input_schema": schema, "annotations": {}}],
            });
            let manifest = Manifest::parse(&manifest.to_string(), Source::Bundle);
            let manifest = manifest.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(arguments(&manifest.tools[0]), expected);
        }
    }
}
