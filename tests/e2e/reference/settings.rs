//! `settings.md`: every key of `config.toml`, from the JSON Schema that `host schema config` prints.

use std::fmt::Write as _;
use std::process::Command;

use host_tests::host::binary;
use serde_json::Value;

use super::sources::plain;
use super::{Page, cell};

pub(super) fn page() -> Page {
    let schema = schema();
    let mut body =
        "Every key of `config.toml`; [configuration.md](../configuration.md) shows how to use them. A key that is \
                    not set has its default. `host schema config` prints the JSON Schema for editors.\n"
            .to_owned();
    let (mut top, mut tables) = (String::new(), String::new());
    for (key, property) in properties(&schema) {
        let target = resolved(&schema, property);
        match (target.get("properties"), target.get("additionalProperties").filter(|each| each.is_object())) {
            (Some(_), _) => table(&schema, key, property, target, &mut tables),
            (None, Some(each)) => {
                table(&schema, &format!("{key}.NAME"), property, resolved(&schema, each), &mut tables);
            }
            (None, None) => row(&schema, key, property, &mut top),
        }
    }
    let _ = write!(body, "\n## Top level\n\n| key | type | default | meaning |\n|---|---|---|---|\n{top}{tables}");
    Page { file: "settings.md", title: "Settings", body }
}

/// What `host schema config` prints.
fn schema() -> Value {
    let output = Command::new(binary()).args(["schema", "config"]).env_clear().env("HOME", "/nonexistent").output();
    let output = output.expect("the host starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a schema is JSON")
}

fn table(schema: &Value, name: &str, property: &Value, target: &Value, body: &mut String) {
    let meaning = description(name, property, target);
    let _ = write!(body, "\n## `[{name}]`\n\n{meaning}\n\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for (key, property) in properties(target) {
        let nested = resolved(schema, property);
        if nested.get("properties").is_some() {
            for (below, property) in properties(nested) {
                row(schema, &format!("{key}.{below}"), property, body);
            }
        } else {
            row(schema, key, property, body);
        }
    }
}

fn row(schema: &Value, key: &str, property: &Value, body: &mut String) {
    let target = resolved(schema, property);
    let default = property.get("default").filter(|default| !default.is_null() && !is_empty(default));
    let default = default.map(|default| format!("`{default}`")).unwrap_or_default();
    let meaning = description(key, property, target);
    let kind = cell(&kind(schema, target));
    let _ = writeln!(body, "| `{key}` | {kind} | {} | {} |", cell(&default), cell(&meaning));
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn description(key: &str, property: &Value, target: &Value) -> String {
    let text = property.get("description").or_else(|| target.get("description")).and_then(Value::as_str);
    plain(text.unwrap_or_else(|| panic!("the setting `{key}` has no documentation"))).replace('\n', " ")
}

/// The properties of an object, in the order of their names.
fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema["properties"].as_object().into_iter().flatten().map(|(key, property)| (key.as_str(), property))
}

/// The schema that is meant: behind a reference, and without the alternative that it is null.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).expect("a reference leads somewhere");
        return resolved(root, target);
    }
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let other = alternatives.and_then(|all| all.iter().find(|one| one["type"] != "null")).filter(|_| {
        // An untagged enum has several.
        alternatives.is_some_and(|all| all.iter().filter(|one| one["type"] != "null").count() == 1)
    });
    other.map_or(schema, |other| resolved(root, other))
}

/// The type in words.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(values) = schema.get("oneOf").and_then(Value::as_array) {
        return values.iter().map(|value| format!("`{}`", value["const"])).collect::<Vec<_>>().join(", ");
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => Vec::new(),
    };
    match names.as_slice() {
        ["string"] => "text".to_owned(),
        ["boolean"] => "`true`, `false`".to_owned(),
        ["integer"] if schema["minimum"] == 1 => "integer from 1".to_owned(),
        ["integer"] => "integer".to_owned(),
        ["number"] if schema.get("exclusiveMinimum").is_some() => "number between 0 and 1".to_owned(),
        ["number"] => "number".to_owned(),
        ["array"] => format!("list of {}s", kind(root, resolved(root, &schema["items"]))),
        ["object"] => match schema.get("additionalProperties").filter(|each| each.is_object()) {
            Some(each) => format!("table of {}s", kind(root, resolved(root, each))),
            None => "table".to_owned(),
        },
        _ => "value".to_owned(),
    }
}
