//! A plugin whose one tool does nothing. It is written against the contract alone, without the SDK, so that its component imports
//! nothing and any host of components can load it.

use exports::host::tool::tool::{Confirmation, Failure, Guest, Outcome, ToolCall, ToolDef};
use host::tool::types::{Annotations, Content};

wit_bindgen::generate!({ path: "../../../wit/tool", world: "plugin" });

struct Nothing;

export!(Nothing);

impl Guest for Nothing {
    fn describe() -> Vec<ToolDef> {
        vec![ToolDef {
            name: "nothing".to_owned(),
            title: None,
            description: "Does nothing.".to_owned(),
            input_schema: r#"{"type":"object","additionalProperties":false}"#.to_owned(),
            output_schema: None,
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
            capabilities: Vec::new(),
        }]
    }

    fn preview(_: ToolCall) -> Result<Option<Confirmation>, Failure> {
        Ok(None)
    }

    fn revise(call: ToolCall, _: String) -> Result<String, Failure> {
        Ok(call.arguments)
    }

    fn call(_: ToolCall) -> Result<Outcome, Failure> {
        Ok(Outcome { content: vec![Content::Text("done".to_owned())], structured: None, display: None })
    }
}
