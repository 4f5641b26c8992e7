//! Checks that help the author of a plugin before users install it.
//!
//! Deliberately not here: what the host refuses by itself, such as an import that the manifest does not declare.

use std::path::Path;

use host_capability::Capability;
use host_manifest::{Manifest, ToolEntry};
use host_plugin::admission::Imports;
use host_tool::Schema;
use serde_json::Value;

use crate::license::license_gap;

/// The severity of a finding, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is wrong.
    Error,
    /// It is probably not meant.
    Warning,
    /// The user who installs it will ask.
    Note,
}

impl Severity {
    /// Its name in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// The part.
    pub what: String,
}

/// The shortest description that says what a tool does and when to use it.
const MIN_DESCRIPTION: usize = 20;

/// Returns all findings, the most serious first. The licence is a file beside the plugin, with its text.
pub(super) fn lint(manifest: &Manifest, imports: &Imports, license: Option<(&Path, &str)>) -> Vec<Finding> {
    let mut found = Findings(Vec::new());
    if let Some((file, gap)) = license.and_then(|(file, text)| Some((file, license_gap(text)?))) {
        found.error(format!("`{}` is still a template of a licence: it contains `{gap}`", file.display()));
    }
    capabilities(manifest, imports, &mut found);
    if manifest.tools.is_empty() && manifest.files.is_empty() {
        found.error("it has no tools, skills, commands, agents or hooks".to_owned());
    }
    for tool in &manifest.tools {
        of_tool(tool, &mut found);
    }
    found.0.sort_by_key(|finding| finding.severity);
    found.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn error(&mut self, what: String) {
        self.0.push(Finding { severity: Severity::Error, what });
    }

    fn warning(&mut self, what: String) {
        self.0.push(Finding { severity: Severity::Warning, what });
    }
}

fn capabilities(manifest: &Manifest, imports: &Imports, found: &mut Findings) {
    for (name, declared) in &manifest.capabilities {
        let Ok(capability) = name.parse::<Capability>() else { continue };
        if !imports.capabilities.contains(capability) {
            found.error(format!(
                "it asks for `{name}` and does not import it: take `[capabilities.{name}]` out of plugin.toml"
            ));
        }
        if !manifest.tools.iter().any(|tool| tool.needs(capability)) {
            found.warning(format!("no tool needs `{name}`, so none gets it: add it to a tool's needs"));
        }
        if declared.scope.trim() == "*" && matches!(capability, Capability::Process | Capability::Http) {
            let whole = if capability == Capability::Http { "port 443 of any server" } else { "any program" };
            let what = format!("`{name}` = `*` asks for {whole}: where it is known which, name them");
            found.0.push(Finding { severity: Severity::Note, what });
        }
    }
}

fn of_tool(tool: &ToolEntry, found: &mut Findings) {
    let (name, spec) = (&tool.spec.name, &tool.spec);
    match spec.description.trim().chars().count() {
        0 => found.error(format!("`{name}` has no description: a model knows nothing else of it")),
        length if length < MIN_DESCRIPTION => {
            found.warning(format!("`{name}` is described in {length} characters: say what it does and when to use it"));
        }
        _ => {}
    }
    if spec.annotations.read_only {
        for changing in [Capability::FsWrite, Capability::Process].into_iter().filter(|it| tool.needs(*it)) {
            found.error(format!("`{name}` says that it only reads, and needs `{changing}`"));
        }
        if spec.annotations.destructive {
            found.error(format!("`{name}` says that it only reads, and that it can lose something"));
        }
    }
    schema(&format!("`{name}`, arguments"), &spec.input_schema, found);
    if spec.input_schema.get("type") != Some(&Value::String("object".to_owned())) {
        found.error(format!("`{name}`, arguments: the type is not `object`"));
    }
    if spec.input_schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        found.warning(format!(
            "`{name}`, arguments: without `additionalProperties: false` a misspelt argument is not noticed"
        ));
    }
    for (argument, schema) in properties(&spec.input_schema) {
        if schema.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
            found.warning(format!("`{name}`, arguments: `{argument}` has no description"));
        }
    }
    if let Some(output) = &spec.output_schema {
        schema(&format!("`{name}`, result"), output, found);
    }
}

fn schema(what: &str, schema: &Value, found: &mut Findings) {
    if let Err(error) = Schema::compile(schema) {
        found.error(format!("{what}: {error}"));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !properties(schema).any(|(property, _)| property == name) {
            found.error(format!("{what}: `{name}` is required and is not a property"));
        }
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_capability::CapabilitySet;
    use host_manifest::Source;
    use serde_json::json;

    fn found(edit: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut manifest = json!({
            "manifest": 1, "name": "acme/fetch", "version": "1.0.0", "license": "MIT", "contract": "0.1.0",
            "capabilities": {"fs-write": {"scope": "out", "reason": "to keep what was fetched"}},
            "tools": [{
                "name": "fetch", "description": "Fetches a page and keeps it.", "capabilities": ["fs-write"],
                "annotations": {"read_only": false},
                "input_schema": {
                    "type": "object", "additionalProperties": false, "required": ["url"],
                    "properties": {"url": {"type": "string", "description": "Which page."}},
                },
            }],
        });
        edit(&mut manifest);
        let manifest = Manifest::parse(&manifest.to_string(), Source::BuiltIn("test")).expect("it is one");
        let mut capabilities = CapabilitySet::default();
        capabilities.insert(Capability::FsWrite);
        let imports = Imports { names: Vec::new(), capabilities, wasi: false, empty: false };
        lint(&manifest, &imports, None).iter().map(|it| format!("{}: {}", it.severity.word(), it.what)).collect()
    }

    fn check(edit: impl FnOnce(&mut Value), says: &str) {
        let found = found(edit);
        assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:#?}");
    }

    #[test]
    fn lint_reports_nothing_about_a_good_plugin() {
        assert_eq!(found(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn lint_reports_each_mistake_once() {
        let fetch = json!({"scope": "example.com", "reason": "to fetch"});
        check(
            |it| {
                it["capabilities"]["http"] = fetch;
                it["tools"][0]["capabilities"] = json!(["fs-write", "http"]);
            },
            "error: it asks for `http` and does not import it",
        );
        check(|it| it["tools"][0]["capabilities"] = json!([]), "warning: no tool needs `fs-write`");
        check(|it| it["tools"][0]["description"] = json!(""), "error: `fetch` has no description");
        check(|it| it["tools"][0]["description"] = json!("Fetches."), "warning: `fetch` is described in 8 characters");
        check(
            |it| it["tools"][0]["annotations"] = json!({"read_only": true, "destructive": false}),
            "error: `fetch` says that it only reads, and needs `fs-write`",
        );
        let schema = |edit: fn(&mut Value)| move |it: &mut Value| edit(&mut it["tools"][0]["input_schema"]);
        check(
            schema(|it| it["properties"]["url"]["type"] = json!("strin")),
            "error: `fetch`, arguments: invalid JSON Schema",
        );
        check(
            schema(|it| it["required"] = json!(["url", "most"])),
            "error: `fetch`, arguments: `most` is required and is not",
        );
        check(schema(|it| it["additionalProperties"] = json!(true)), "warning: `fetch`, arguments: without");
        check(
            schema(|it| it["properties"]["url"]["description"] = json!("")),
            "warning: `fetch`, arguments: `url` has no",
        );
        check(|it| it["tools"][0]["output_schema"] = json!({"type": 1}), "error: `fetch`, result: invalid JSON Schema");
    }
}
