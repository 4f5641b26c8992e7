//! Definitions of agents, and templates.

use std::path::Path;

use host_agent::{Declared, fill};
use serde_json::{Map, Value};

/// A definition is read or rejected at a line that it has. A template is filled with exactly the inputs that it names.
pub fn definition(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    match Declared::parse(text, Path::new("agent.md")) {
        Ok(declared) => assert!(!declared.definition.name.is_empty()),
        Err(error) => {
            // To YAML, a lone carriage return ends a line too.
            let lines = text.split(['\n', '\r']).count() as u64;
            assert!((1..=lines + 1).contains(&error.line), "line {} of {lines}: {error}", error.line);
        }
    }
    match fill(text, &Map::new()) {
        Ok(filled) => assert_eq!(filled, text),
        Err(error) => {
            let inputs: Map<String, Value> = error.missing.iter().map(|name| (name.clone(), Value::Null)).collect();
            assert!(fill(text, &inputs).is_ok(), "{error}");
        }
    }
}
