//! What every built-in tool says of itself, and that it agrees with its `plugin.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use host_sdk::export::{Call, call, preview};
use host_sdk::{Failure, Tool, ToolDef};
use serde_json::Value;

/// Each plugin's folder, and the tools that it exports.
fn plugins() -> Vec<(&'static str, Vec<Tool>)> {
    vec![
        ("apply_patch", plugin_apply_patch::tools()),
        ("discovered", plugin_discovered::tools()),
        ("edit", plugin_edit::tools()),
        ("glob", plugin_glob::tools()),
        ("grep", plugin_grep::tools()),
        ("ls", plugin_ls::tools()),
        ("memory", plugin_memory::tools()),
        ("read_file", plugin_read_file::tools()),
        ("read_many_files", plugin_read_many_files::tools()),
        ("shell", plugin_shell::tools()),
        ("todo", plugin_todo::tools()),
        ("web_fetch", plugin_web_fetch::tools()),
        ("web_search", plugin_web_search::tools()),
        ("write_file", plugin_write_file::tools()),
    ]
}

fn each_tool(mut check: impl FnMut(&str, &ToolDef)) {
    for (folder, tools) in plugins() {
        tools.iter().for_each(|tool| check(folder, &tool.definition()));
    }
}

#[test]
fn every_argument_is_described_and_no_other_is_taken() {
    each_tool(|folder, definition| {
        let schema: Value = serde_json::from_str(&definition.input_schema).expect("a schema is JSON");
        assert_eq!(schema["type"], "object", "{folder}");
        assert_eq!(schema["additionalProperties"], false, "{folder}");
        let properties = schema["properties"].as_object().expect("properties");
        for (name, property) in properties {
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.') && property["type"].is_string(), "{folder}: {name}");
        }
        for required in schema["required"].as_array().expect("a list of what is required") {
            assert!(properties.contains_key(required.as_str().expect("a name")), "{folder}: {required}");
        }
        assert!(definition.description.len() > 40 && definition.title.is_some(), "{folder}");
    });
}

#[test]
fn an_argument_that_does_not_exist_is_refused_before_anything_happens() {
    for (folder, tools) in plugins() {
        let call_of =
            |arguments: &str| Call { id: "1".to_owned(), tool: folder.to_owned(), arguments: arguments.to_owned() };
        for arguments in [r#"{"no_such_argument": 1}"#, "[]", "null", "{"] {
            let refused = call(&tools, &call_of(arguments));
            assert!(matches!(refused, Err(Failure::InvalidArguments(_))), "{folder} {arguments}: {refused:?}");
        }
        let previewed = preview(&tools, &call_of(r#"{"no_such_argument": 1}"#));
        assert!(matches!(previewed, Ok(None) | Err(Failure::InvalidArguments(_))), "{folder}: {previewed:?}");
    }
}

#[test]
fn a_manifest_asks_for_what_its_tools_need() {
    for (folder, tools) in plugins() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("plugin.toml");
        let text = std::fs::read_to_string(&path).expect("a plugin has a manifest");
        let manifest: toml::Table = text.parse().expect("a manifest is TOML");
        assert_eq!(manifest["name"].as_str(), Some(folder));
        assert_eq!(manifest["version"].as_str(), Some(env!("CARGO_PKG_VERSION")), "{folder}");
        assert_eq!(manifest["license"].as_str(), Some("Apache-2.0"), "{folder}");

        let asked: BTreeMap<String, (String, String)> = manifest["capabilities"]
            .as_table()
            .expect("a table")
            .iter()
            .map(|(name, need)| {
                let text = |key: &str| need[key].as_str().expect("text").to_owned();
                (name.clone(), (text("scope"), text("reason")))
            })
            .collect();
        let needed: BTreeMap<String, (String, String)> = tools
            .iter()
            .flat_map(|tool| tool.definition().capabilities)
            .map(|need| (need.name, (need.scope, need.reason)))
            .collect();
        assert_eq!(asked, needed, "{folder}");
        assert_eq!(tools.first().map(Tool::name), Some(folder), "the first tool has the name of its plugin");
    }
}

#[test]
fn tool_definitions_are_read_only_exactly_where_nothing_is_changed() {
    let mut reading = Vec::new();
    each_tool(|_, definition| {
        let writes = definition.capabilities.iter().any(|need| matches!(need.name.as_str(), "fs-write" | "process"));
        assert!(!(writes && definition.annotations.read_only), "{}", definition.name);
        if definition.annotations.read_only {
            reading.push(definition.name.clone());
        }
    });
    assert_eq!(reading, ["glob", "grep", "ls", "read_file", "read_many_files", "todo", "web_fetch", "web_search"]);
}
