//! A plugin that does what it says: what others publish and install in the tests.

use host_sdk::{Annotations, Outcome, Tool, export_plugin, fs_read};
use serde::Deserialize;

export_plugin!(count_lines());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

fn count_lines() -> Tool {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string","description":"The file."}},"required":["path"],"additionalProperties":false}"#;
    Tool::new("count_lines", "Counts the lines of a file.", schema, |Arguments { path }| {
        let lines = fs_read::read_whole(&path)?.data.iter().filter(|byte| **byte == b'\n').count();
        Ok(Outcome::text(format!("{lines} lines")))
    })
    .annotations(Annotations::READ_ONLY)
    .needs("fs-read", "*", "to read what is counted")
}
