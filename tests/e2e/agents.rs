//! Agents that are declared: run as a subagent of the main one, or as the run itself.

mod declared;
mod names;
mod prompt;
mod subagents;

use serde_json::{Value, json};

fn answer(text: &str) -> Value {
    json!({"chunks": [{"text": text}]})
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let calls = calls.iter().map(|(name, arguments)| json!({"call": {"name": name, "arguments": arguments}}));
    json!({"chunks": calls.collect::<Vec<_>>()})
}

/// The same reply, to a request that has this.
fn expecting(expected: Value, reply: Value) -> Value {
    json!({"expect": expected, "chunks": reply["chunks"]})
}

fn report() -> Value {
    json!({"report": {
        "SummaryOfFindings": "It flies.",
        "ExplorationTrace": ["Listed the folder."],
        "RelevantLocations": [{"FilePath": "src/main.rs", "Reasoning": "It lifts off.", "KeySymbols": ["main"]}],
    }})
}

/// An agent that may search the web, and answers with a text.
const SEARCHER: &str = "---
name: searcher
description: Searches the web.
tools: [web_search, memory]
inputs:
  topic: {type: string, description: What to look for.}
  depth: {type: integer, description: How far., required: false}
---
You search for ${topic}.
";
