//! A tool as a client sees it.

use std::sync::Arc;

use host_message::{Annotations, ToolSpec};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

/// Returns the definition of a tool. The hints are the plugin's words about itself, as they are in a run.
pub(super) fn tool(spec: ToolSpec) -> Tool {
    let ToolSpec { name, title, description, input_schema, output_schema, annotations } = spec;
    let Annotations { read_only, destructive, idempotent, open_world } = annotations;
    let mut tool = Tool::new(name.to_string(), description, object(input_schema).unwrap_or_default());
    tool.title = title;
    // A schema of anything but an object cannot be declared in the revisions before 2026-07-28.
    tool.output_schema = output_schema.and_then(object).filter(|schema| is_object(schema));
    tool.annotations = Some(
        ToolAnnotations::new()
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world),
    );
    tool
}

fn object(schema: Arc<Value>) -> Option<Arc<JsonObject>> {
    match Arc::unwrap_or_clone(schema) {
        Value::Object(schema) => Some(Arc::new(schema)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn is_object(schema: &JsonObject) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}
