//! Lists of tools that a command printed.

use host_schema::Schema;
use host_tool::{Surroundings, discovered};

use crate::shown;

/// Each listed tool has a name and a description that a model's service takes, and a schema that compiles.
pub fn discovery(data: &[u8]) {
    let is_taken = |name: &str| name == "read_file";
    let around = Surroundings { listed_by: "list", called_by: "call", is_taken: &is_taken };
    match discovered(data, around) {
        Ok(tools) => {
            for (at, tool) in tools.iter().enumerate() {
                let name = tool.spec.name.as_str();
                let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                assert!((1..=64).contains(&name.len()) && name.chars().all(fits), "{name:?}");
                assert!(!is_taken(name) && tools[..at].iter().all(|other| other.spec.name != tool.spec.name));
                assert!(tool.spec.description.len() <= host_plugin::MAX_DESCRIPTION);
                assert!(Schema::compile(&tool.spec.input_schema).is_ok() && tool.spec.input_schema["type"] == "object");
                assert!(!tool.original.chars().any(char::is_control));
            }
        }
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
}
