//! The tools that the conformance suite of the Model Context Protocol calls by their fixed names, and some for our own
//! tests of the server: one of each kind of result, one that reports its progress, and one that has to be asked about.

use host_sdk::{Annotations, Blob, Content, Failure, Outcome, Tool, context, export_plugin, fs_write};
use serde::Deserialize;

/// A red point.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

/// A sound without samples.
const WAV: &[u8] = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0";

/// Whatever arguments there are.
const ANYTHING: &str = r#"{"type":"object"}"#;

/// A schema with what drafts before 2020-12 do not have.
const SCHEMA_2020: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

/// A schema with an argument that clients repeat in a header.
const HEADERS: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;

/// A schema of a number in words.
const ADDED: &str = r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#;

export_plugin!(
    reading("test_simple_text", |_| Ok(Outcome::text("This is a simple text response for testing."))),
    reading("test_image_content", |_| Ok(Outcome::of(vec![blob("image/png", PNG)]))),
    reading("test_audio_content", |_| Ok(Outcome::of(vec![blob("audio/wav", WAV)]))),
    reading("test_embedded_resource", |_| {
        Ok(Outcome::of(vec![blob("text/plain", b"This is an embedded resource content.")]))
    }),
    reading("test_multiple_content_types", |_| {
        let resource = blob("application/json", br#"{"test":"data","value":123}"#);
        Ok(Outcome::of(vec![Content::Text("Multiple content types test:".to_owned()), blob("image/png", PNG), resource]))
    }),
    reading("test_error_handling", |_| {
        Err(Failure::failed("This tool intentionally returns an error for testing"))
    }),
    reading("test_tool_with_progress", |_| {
        for done in [0, 50, 100] {
            context::progress(done, Some(100), "half of it");
        }
        Ok(Outcome::text("done"))
    }),
    Tool::new("json_schema_2020_12_tool", "Has a schema of draft 2020-12.", SCHEMA_2020, |_: Anything| {
        Ok(Outcome::text("valid"))
    })
    .annotations(Annotations::READ_ONLY),
    Tool::new("add", "Adds two numbers.", r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}"#, |Numbers { a, b }| {
        let sum = a.checked_add(b).ok_or_else(|| Failure::invalid("the sum is too large"))?;
        Ok(Outcome::text(format!("{sum}")).with_structured(format!("{{\"sum\":{sum}}}")))
    })
    .annotations(Annotations::READ_ONLY)
    .title("Add")
    .output_schema(ADDED),
    Tool::new("test_headers", "Has an argument that is in a header too.", HEADERS, |_: Anything| {
        Ok(Outcome::text("the headers agree"))
    })
    .annotations(Annotations::READ_ONLY),
    reading("test_logging_tool", |_| {
        context::emit("nobody asked for this\n");
        Ok(Outcome::text("done"))
    }),
    asking("test_input_required_result_capabilities"),
    asking("test_input_required_result_elicitation"),
    asking("test_input_required_result_tampered_state"),
    asking("test_streaming_elicitation"),
);

/// Arguments that do not matter.
#[derive(Deserialize)]
struct Anything {}

/// Two numbers.
#[derive(Deserialize)]
struct Numbers {
    a: i64,
    b: i64,
}

fn blob(mime_type: &str, data: &[u8]) -> Content {
    Content::Blob(Blob { mime_type: mime_type.to_owned(), data: data.to_vec() })
}

fn reading(name: &str, call: fn(Anything) -> Result<Outcome, Failure>) -> Tool {
    Tool::new(name, "For the conformance suite.", ANYTHING, call).annotations(Annotations::READ_ONLY)
}

/// A tool that writes, and so is asked about.
fn asking(name: &str) -> Tool {
    Tool::new(name, "Writes a file, which the user is asked about.", ANYTHING, |_: Anything| {
        fs_write::write("asked.txt", b"asked", &fs_write::Expected::Anything)?;
        Ok(Outcome::text("written"))
    })
    .needs("fs-write", "*", "to have something to ask about")
}
