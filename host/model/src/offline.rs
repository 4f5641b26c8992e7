//! A planner in code that replaces a model: no key, no network, no weights.
//!
//! It drives the real loop with real tool calls. It sees what a model sees, the conversation and the declared tools,
//! and nothing else; its position in the plan follows from the conversation, so it has no state. The plan: list the
//! folder and the files; read the README and the manifests, and search for every word that the prompt names; then
//! report the findings. Each call is made once, so the plan ends. The report states that it is not from a language
//! model, and a failed call is reported as failed.
//!
//! Deliberately not here: changing anything, and understanding a prompt. It only extracts words, paths, and whether the
//! prompt is about the whole project.

mod answer;
mod findings;
mod output;
mod past;
mod project;
mod prompt;
mod report;

use std::sync::Arc;

use futures::{StreamExt, stream};
use host_message::{CallId, FinishReason, FunctionCall, Part, PartData, ToolName, ToolSpec};
use serde_json::{Map, Value, json};

use self::findings::Findings;
use self::past::Past;
use self::prompt::Task;
use crate::provider::spec::{LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::{Chunk, ModelEvent, ModelStream, Provider, Request};

/// How many characters one piece of streamed text has; as few as a model's, so that the display is tested.
const PIECE_CHARS: usize = 24;

/// The most files of one kind (manifests, named files) that are read, so that a report stays readable.
const MAX_READS: usize = 4;

/// The tool with which an agent returns its result.
const COMPLETE_TASK: &str = "complete_task";

/// The planner. It has no state.
#[derive(Debug, Default)]
pub struct Offline(());

impl Offline {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "offline",
        models: ModelIds::Single,
        key_variable: None,
        address: None,
        login: LoginSpec::Never,
        usual_models: None,
        connect: |_, _| Ok(Arc::new(Self::new())),
    });

    /// Creates a planner.
    pub fn new() -> Self {
        Self(())
    }
}

impl Provider for Offline {
    fn name(&self) -> &str {
        Self::PROVIDER.name()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        stream::once(async move { stream::iter(reply(&request)).map(|chunk| Ok(ModelEvent::Chunk(chunk))) })
            .flatten()
            .boxed()
    }
}

/// Returns the whole reply to a request.
fn reply(request: &Request<'_>) -> Vec<Chunk> {
    let past = Past::new(request.contents);
    let task = Task::read(past.prompt);
    let calls = if past.wrap_up { Vec::new() } else { next_calls(&task, &past, request.tools) };
    let mut parts = Vec::new();
    if calls.is_empty() {
        let findings = Findings::gather(&task, &past, request.tools);
        let report = report::write(&findings);
        // Some agents can be ended only by a call.
        let finishing = request.tools.iter().find(|tool| tool.name.as_str() == COMPLETE_TASK);
        match finishing {
            // If it was rejected once, the same call would be rejected forever.
            Some(tool) if !past.made(COMPLETE_TASK) => {
                parts.push(call(COMPLETE_TASK, answer::arguments(&tool.input_schema, &report, &findings)).into());
            }
            // In pieces, as a service streams them.
            Some(_) | None => parts.extend(pieces(&report).map(Part::text)),
        }
    } else {
        parts.push(Part::thought(thought(&calls)));
        parts.extend(calls.into_iter().map(Part::from));
    }
    let mut chunks: Vec<Chunk> =
        parts.into_iter().map(|part| Chunk { parts: vec![part], ..Chunk::default() }).collect();
    chunks.push(Chunk { finish: Some(FinishReason::Stop), ..Chunk::default() });
    chunks
}

/// Returns the calls that are needed now, possible, and not made yet.
fn next_calls(task: &Task, past: &Past<'_>, tools: &[ToolSpec]) -> Vec<PartData> {
    let looks_around = task.survey || !task.paths.is_empty();
    let mut wanted = Vec::new();
    if looks_around {
        wanted.push(("ls", json!({"path": "."})));
        wanted.push(("glob", json!({"pattern": "**/*"})));
    }
    // Searches are made together with the second look, when the readable files are known.
    let can_look = looks_around && tools.iter().any(|tool| matches!(tool.name.as_str(), "ls" | "glob"));
    if !can_look || past.made("ls") || past.made("glob") {
        let known = findings::KnownFiles::new(past);
        wanted.extend(known.reads(task).into_iter().map(|path| ("read_file", json!({"path": path}))));
        wanted.extend(known.lists(task).into_iter().map(|path| ("ls", json!({"path": path}))));
        let grep = tools.iter().find(|tool| tool.name.as_str() == "grep");
        wanted.extend(task.words.iter().flat_map(|word| searches(word, grep)).map(|arguments| ("grep", arguments)));
    }
    // A tool that is not there is not called, as with a model that follows its list.
    let declared = |name: &str| tools.iter().any(|tool| tool.name.as_str() == name);
    wanted
        .into_iter()
        .filter(|(name, _)| declared(name))
        .map(|(name, arguments)| call(name, object(arguments)))
        // Each call once, so that the plan ends.
        .filter(|call| !past.made_with(call))
        .collect()
}

/// Returns the searches for a word: one that counts over the whole tree, one that shows where. A `grep` without these
/// modes gets the arguments that it supports.
fn searches(word: &str, grep: Option<&ToolSpec>) -> Vec<Value> {
    let has = |name: &str| grep.is_some_and(|tool| tool.input_schema["properties"].get(name).is_some());
    let search = if has("fixed_strings") {
        json!({"pattern": word, "fixed_strings": true})
    } else {
        json!({"pattern": escape(word)})
    };
    if !has("output") {
        return vec![search];
    }
    let with = |mode: &str| {
        let mut search = search.clone();
        search["output"] = mode.into();
        search
    };
    vec![with("count"), with("matches")]
}

/// Returns the word as a regular expression that matches only itself.
fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for c in word.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '_' | '-' | ':' | '/' | '"' | '\'' | '<' | '>') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Describes the next calls, with a subject as thinking models write it.
fn thought(calls: &[PartData]) -> String {
    let of = |name: &str| {
        let is = |call: &&PartData| matches!(call, PartData::FunctionCall(call) if call.name.as_str() == name);
        calls.iter().filter(is).count()
    };
    if of("glob") > 0 {
        "**Looking around** I list the folder and its files.".to_owned()
    } else if of("grep") > 0 {
        format!("**Searching** I read {} files and make {} searches.", of("read_file"), of("grep"))
    } else {
        format!("**Reading** I read {} files.", of("read_file"))
    }
}

fn call(name: &str, arguments: Map<String, Value>) -> PartData {
    PartData::FunctionCall(FunctionCall::new(CallId::new(""), ToolName::new(name), arguments))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Splits the text into small pieces.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(PIECE_CHARS).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
