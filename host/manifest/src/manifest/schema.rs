//! The JSON Schemas of both manifests, for editors and other programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

use super::{Build, ConfigKey, Declared, DeclaredSecret, Manifest};

/// Returns the schema of `plugin.toml`, read as JSON.
pub fn written_schema() -> Value {
    schemars::schema_for!(Written).to_value()
}

/// Returns the schema of the shipped manifest.
pub fn shipped_schema() -> Value {
    schemars::schema_for!(Manifest).to_value()
}

/// A `plugin.toml`, as its author writes it.
#[derive(JsonSchema)]
#[schemars(title = "A plugin's `plugin.toml`", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Written {
    /// The plugin's name, with its publisher before a slash where it has one: `name` or `publisher/name`.
    #[schemars(regex(pattern = r"^([a-z][a-z0-9_-]{0,63}/)?[a-z][a-z0-9_-]{0,63}$"))]
    name: String,
    /// Its version, as https://semver.org has it.
    version: String,
    /// Its licence, as an SPDX expression.
    license: String,
    /// A description in one line. A plugin is packed only with one.
    description: Option<String>,
    /// Where its sources are.
    source: Option<String>,
    /// Where there is more to read.
    homepage: Option<String>,
    /// The capabilities that it requests, by name.
    #[serde(default)]
    capabilities: BTreeMap<String, Declared>,
    /// The configuration that a user can set, by key.
    #[serde(default)]
    config: BTreeMap<String, ConfigKey>,
    /// The secrets that it sends without reading them, by their names.
    #[serde(default)]
    secrets: BTreeMap<String, DeclaredSecret>,
    /// What a call of a tool is called on one line, by the names of the tools: a template such as `{path}`.
    #[serde(default)]
    titles: BTreeMap<String, String>,
    /// How it is built, where that is not seen from its files.
    build: Option<Build>,
}

/// One tool of a shipped manifest.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is used")]
pub(super) struct Tool {
    /// Its name, as a model calls it.
    name: String,
    /// A name for people.
    title: Option<String>,
    /// What it does and when to use it.
    description: String,
    /// JSON Schema (draft 2020-12) of the arguments.
    input_schema: Value,
    /// JSON Schema of the structured result.
    output_schema: Option<Value>,
    /// Its effects, as the plugin states them.
    annotations: Option<Annotations>,
    /// The capabilities that it needs, of those that the plugin asks for.
    capabilities: Option<Vec<String>>,
    /// What a call of it is called on one line: a template such as `{path}`.
    call_title: Option<String>,
}

/// Hints by which calls are scheduled and questions are worded. They permit nothing.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Annotations {
    /// It changes nothing.
    read_only: Option<bool>,
    /// A call can destroy data; true if omitted.
    destructive: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    idempotent: Option<bool>,
    /// It communicates with something outside this machine; true if omitted.
    open_world: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, value: &Value, right: bool) {
        let schema = host_schema::Schema::compile(schema).expect("it is a schema");
        assert_eq!(schema.check(value).is_ok(), right, "{value}");
    }

    #[test]
    fn manifest_schemas_accept_what_the_built_in_plugins_ship() {
        let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let mut seen = 0;
        for entry in std::fs::read_dir(&plugins).expect("the plugins").flatten() {
            let Ok(text) = std::fs::read_to_string(entry.path().join("plugin.toml")) else { continue };
            let written: toml::Table = text.parse().expect("it is TOML");
            let name = entry.file_name().into_string().expect("a plain name");
            let shipped = std::fs::read_to_string(plugins.join(format!("dist/{name}.json"))).expect("it is built");
            check(&written_schema(), &serde_json::to_value(written).expect("it is data"), true);
            check(&shipped_schema(), &serde_json::from_str(&shipped).expect("it is JSON"), true);
            super::super::SourceManifest::parse(&text, &super::super::Source::Bundle).expect("it is read");
            let read = Manifest::parse(&shipped, super::super::Source::Bundle).expect("it is read");
            assert_eq!(read.to_json(), shipped);
            seen += 1;
        }
        assert!(seen >= 10, "{seen} plugins");
    }

    #[test]
    fn manifest_schema_does_not_accept_an_unknown_key() {
        let good = serde_json::json!({"name": "acme/fetch", "version": "1.0.0", "license": "MIT"});
        check(&written_schema(), &good, true);
        for (key, value) in [("descripton", "x"), ("name", "Acme"), ("name", "a/b/c")] {
            let mut wrong = good.clone();
            wrong[key] = value.into();
            check(&written_schema(), &wrong, false);
        }
    }
}
