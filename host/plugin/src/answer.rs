//! Converts a guest's answers to the host's own types, and checks them against the contract's limits.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use host_message::{Annotations, Display, InlineData, Output, OutputPart, ToolName, ToolSpec};

use crate::bindings::exported;
use crate::bindings::tool_types as wit;
use crate::checklist;
use crate::counted;
use crate::denials::HostActs;
use crate::difference::{There, of_file};
use crate::error::{CallError, Claim, Failure};
use crate::limits::{
    MAX_OUTPUT_DATA, MAX_OUTPUT_TEXT, MAX_PARTS, MAX_PREVIEW, MAX_PREVIEW_ITEMS, MAX_PREVIEW_NAMED, MAX_VALUES,
};

/// The largest description of a tool. Protects each request to a model.
pub const MAX_DESCRIPTION: usize = 16 << 10;
/// The largest schema of a tool. Protects each request to a model.
pub const MAX_SCHEMA: usize = 64 << 10;
/// The most tools in one plugin. Protects the list of tools.
pub const MAX_TOOLS: usize = 128;
/// The most frames of a backtrace that are shown. Protects the reader.
const MAX_FRAMES: usize = 16;

/// The longest text that is repeated of a claim about the host, in characters. Protects the reader.
const MAX_CLAIM: usize = 400;

/// The longest name of a frame, in bytes. Protects the reader and the host's memory.
const MAX_FRAME: usize = 500;

/// Parts of names by which the frames of a Rust panic are recognised.
const PANIC_MACHINERY: &[&str] =
    &["rust_panic", "rust_begin_unwind", "std::panicking", "core::panicking", "alloc::alloc::handle_alloc_error"];

/// A tool as a plugin describes it when it is built.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDef {
    /// The description for a model.
    pub spec: ToolSpec,
    /// The capabilities that it needs: for each the name, the scope in the words of a grant, and the reason.
    pub needs: Vec<Need>,
}

/// One capability that a tool needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The name of the capability.
    pub name: String,
    /// The scope, in the words of a grant.
    pub scope: String,
    /// The reason, in one line.
    pub reason: String,
}

/// Where a program runs, and so how long it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ground {
    /// In its call, with which it ends.
    #[default]
    Call,
    /// In the background of its session, with which it ends.
    Background,
    /// The same, on a terminal of its own, into which later calls type.
    Terminal,
}

impl Ground {
    /// Whether it goes on after its call.
    pub fn outlasts_call(self) -> bool {
        match self {
            Self::Call => false,
            Self::Background | Self::Terminal => true,
        }
    }
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// It runs a command.
    Exec {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The folder it runs in.
        directory: String,
        /// The program's standard input; `None` if it is empty. A preview cannot set it: the host knows which tools
        /// pass the arguments of the call to their programs, and adds these.
        input: Option<String>,
        /// Where it runs.
        ground: Ground,
    },
    /// It changes a file.
    Edit {
        /// The file.
        path: String,
        /// A unified diff.
        unified: String,
        /// The whole new content.
        proposed: String,
    },
    /// It changes several files, or removes some.
    Edits {
        /// At least one, each file once.
        changes: Vec<FileChange>,
    },
    /// It does something else that the user should be asked about.
    Info {
        /// A description for the user.
        text: String,
        /// The requests that it sends, each a method and an address.
        requests: Vec<(String, String)>,
        /// The files that it changes.
        writes: Vec<String>,
    },
    /// It calls a tool of an MCP server with the arguments of the call. A preview cannot say so: the host knows which
    /// tool of which server a name means.
    Mcp {
        /// The server's name.
        server: String,
        /// Its command or its address.
        identity: String,
        /// The tool, as the server calls it.
        tool: String,
        /// A unified diff from the definition that the user allowed earlier to the present one, if it changed.
        changed: Option<String>,
    },
    /// It does what its name and its arguments say, nothing more specific.
    Call,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// A unified diff.
    pub unified: String,
    /// The whole new content; `None` if the file is removed.
    pub proposed: Option<String>,
}

impl Confirmation {
    /// Returns the files that it names as changed.
    pub fn writes(&self) -> Vec<&str> {
        match self {
            Self::Edit { path, .. } => vec![path],
            Self::Edits { changes } => changes.iter().map(|change| change.path.as_str()).collect(),
            Self::Info { writes, .. } => writes.iter().map(String::as_str).collect(),
            Self::Exec { .. } | Self::Mcp { .. } | Self::Call => Vec::new(),
        }
    }
}

/// The changes that a preview has named so far.
#[derive(Debug, Default)]
pub(crate) struct NamedChanges {
    changes: Vec<FileChange>,
    /// Counted beyond what is kept, so that too much is an error and not a shorter question.
    count: usize,
    size: usize,
}

impl NamedChanges {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn add(&mut self, change: FileChange) {
        self.count += 1;
        let size = change.path.len() + change.unified.len() + change.proposed.as_ref().map_or(0, String::len);
        self.size = self.size.saturating_add(size);
        if self.count <= MAX_PREVIEW_NAMED && self.size <= MAX_PREVIEW {
            self.changes.push(change);
        }
    }

    /// Returns what the user is asked about.
    fn confirmation(self, tool: &str, returned: &exported::Confirmation) -> Result<Confirmation, CallError> {
        check_size(tool, "preview", self.size, MAX_PREVIEW)?;
        check_count(tool, "items of a preview", self.count, MAX_PREVIEW_NAMED)?;
        let wrong = |what: String| Err(CallError::from(Failure::Failed(what)));
        if !matches!(returned, exported::Confirmation::Call) {
            // Two descriptions of one call: the user would see one of them.
            return wrong(format!(
                "the preview of `{tool}` named changes to files and returned something else than `call`"
            ));
        }
        let mut paths: Vec<&str> = self.changes.iter().map(|change| change.path.as_str()).collect();
        paths.sort_unstable();
        if let Some(twice) = paths.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first()) {
            return wrong(format!("the preview of `{tool}` named `{}` twice", host_text::exact(twice)));
        }
        Ok(Confirmation::Edits { changes: self.changes })
    }
}

/// Formats a command as a user would type it: the line itself if `sh -c` runs one, otherwise its words, quoted where a
/// shell would interpret them.
pub fn command_line(argv: &[String]) -> String {
    if let [shell, flag, line] = argv
        && shell == "sh"
        && flag == "-c"
    {
        return line.clone();
    }
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    argv.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Converts the result of a call.
pub(crate) fn output(
    tool: &str,
    outcome: Result<exported::Outcome, exported::Failure>,
    acts: &HostActs,
) -> Result<Output, CallError> {
    let outcome = outcome.map_err(|error| failure(tool, error, acts))?;
    // Sizes come first: what is over a limit is not even converted.
    let (mut text, mut data) = (outcome.structured.as_ref().map_or(0, String::len), 0usize);
    for part in &outcome.content {
        let (words, bytes) = match part {
            wit::Content::Text(part) => (part.len(), 0),
            wit::Content::Blob(blob) => (blob.mime_type.len(), blob.data.len()),
            wit::Content::Link(link) => (link.uri.len() + link.title.as_ref().map_or(0, String::len), 0),
        };
        text = text.saturating_add(words);
        data = data.saturating_add(bytes);
    }
    text = text.saturating_add(match &outcome.display {
        None => 0,
        Some(wit::Display::Summary(line)) => line.len(),
        Some(wit::Display::Difference(change)) => change.path.len() + change.unified.len(),
    });
    check_size(tool, "text", text, MAX_OUTPUT_TEXT)?;
    check_size(tool, "data", data, MAX_OUTPUT_DATA)?;
    check_count(tool, "parts", outcome.content.len(), MAX_PARTS)?;
    let content = outcome.content.into_iter().map(|part| match part {
        wit::Content::Text(part) => OutputPart::Text(part),
        wit::Content::Blob(blob) => {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&blob.data);
            OutputPart::Data(InlineData { mime_type: blob.mime_type, base64 })
        }
        wit::Content::Link(link) => OutputPart::Link { uri: link.uri, title: link.title },
    });
    let content = content.collect();
    // After the sizes: JSON grows when it is parsed.
    let structured = outcome.structured.map(|json| parse(tool, "a structured result", &json)).transpose()?;
    let display = outcome.display.map(|display| match display {
        wit::Display::Summary(line) => Display::Summary(line),
        wit::Display::Difference(change) => Display::Difference { path: change.path, unified: change.unified },
    });
    // A list of steps is shown as one even if its plugin says nothing of how it looks.
    let display = display.or_else(|| checklist::of(structured.as_ref()?));
    Ok(Output { content, structured, display, found: Vec::new() })
}

fn check_size(tool: &str, what: &'static str, size: usize, limit: usize) -> Result<(), CallError> {
    if size > limit {
        return Err(CallError::TooMuch { tool: tool.to_owned(), what, size, limit });
    }
    Ok(())
}

fn check_count(tool: &str, what: &'static str, count: usize, limit: usize) -> Result<(), CallError> {
    if count > limit {
        return Err(CallError::TooMany { tool: tool.to_owned(), what, count, limit });
    }
    Ok(())
}

/// Converts the result of a preview; `ground` is where it announced that its command runs, `named` the changes to files
/// that it named besides.
pub(crate) fn confirmation(
    tool: &str,
    answer: Result<Option<exported::Confirmation>, exported::Failure>,
    ground: Ground,
    named: NamedChanges,
    acts: &HostActs,
) -> Result<Option<Confirmation>, CallError> {
    let Some(confirmation) = answer.map_err(|error| failure(tool, error, acts))? else { return Ok(None) };
    if !named.is_empty() {
        return named.confirmation(tool, &confirmation).map(Some);
    }
    // What is only informed about names files and requests one by one; the user has to be able to read it.
    let most = match &confirmation {
        wit::Confirmation::Info(_) => MAX_PREVIEW_NAMED,
        wit::Confirmation::Exec(_) | wit::Confirmation::Edit(_) | wit::Confirmation::Call => MAX_PREVIEW_ITEMS,
    };
    let (items, size) = match &confirmation {
        wit::Confirmation::Exec(exec) => {
            (exec.argv.len(), exec.argv.iter().map(String::len).sum::<usize>() + exec.directory.len())
        }
        wit::Confirmation::Edit(edit) => (1, edit.path.len() + edit.unified.len() + edit.proposed.len()),
        wit::Confirmation::Info(info) => {
            let requests = info.requests.iter().map(|request| request.method.len() + request.url.len());
            let size = requests.chain(info.writes.iter().map(String::len)).sum::<usize>();
            (info.requests.len() + info.writes.len(), size + info.text.len())
        }
        wit::Confirmation::Call => (0, 0),
    };
    check_size(tool, "preview", size, MAX_PREVIEW)?;
    check_count(tool, "items of a preview", items, most)?;
    Ok(Some(match confirmation {
        wit::Confirmation::Exec(exec) => {
            // No plugin can name an input: a guest that could would hand a shell lines that no rule has read.
            Confirmation::Exec { argv: exec.argv, directory: exec.directory, input: None, ground }
        }
        wit::Confirmation::Edit(edit) => {
            Confirmation::Edit { path: edit.path, unified: edit.unified, proposed: edit.proposed }
        }
        wit::Confirmation::Info(info) => Confirmation::Info {
            text: info.text,
            requests: info.requests.into_iter().map(|request| (request.method, request.url)).collect(),
            writes: info.writes,
        },
        wit::Confirmation::Call => Confirmation::Call,
    }))
}

/// Converts the arguments of a call that a user changed.
pub(crate) fn arguments(
    tool: &str,
    answer: Result<String, exported::Failure>,
    acts: &HostActs,
) -> Result<serde_json::Map<String, serde_json::Value>, CallError> {
    let text = answer.map_err(|error| failure(tool, error, acts))?;
    check_size(tool, "revised arguments", text.len(), MAX_OUTPUT_TEXT)?;
    match parse(tool, "the revised arguments", &text)? {
        serde_json::Value::Object(arguments) => Ok(arguments),
        _ => Err(CallError::NotJson {
            tool: tool.to_owned(),
            what: "the revised arguments",
            error: "they are not an object".to_owned(),
        }),
    }
}

/// Converts a plugin's description of its tools.
pub(crate) fn tools(described: Vec<exported::ToolDef>) -> Result<Vec<ToolDef>, CallError> {
    if described.is_empty() || described.len() > MAX_TOOLS {
        let found = described.len();
        return Err(
            Failure::Failed(format!("a plugin has 1 to {MAX_TOOLS} tools, but this one describes {found}")).into()
        );
    }
    described.into_iter().map(tool).collect()
}

fn tool(def: exported::ToolDef) -> Result<ToolDef, CallError> {
    let name = def.name.clone();
    let wrong = |what: String| CallError::from(Failure::Failed(what));
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // The letters that all services of models accept in a name.
    if !starts || name.len() > 64 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return Err(wrong(format!(
            "`{}` is not a valid tool name: it has 1 to 64 of ASCII letters, digits, `_` and `-`, the first a letter",
            host_text::exact(&name)
        )));
    }
    for (what, text, limit) in [
        ("description", Some(&def.description), MAX_DESCRIPTION),
        ("input schema", Some(&def.input_schema), MAX_SCHEMA),
        ("output schema", def.output_schema.as_ref(), MAX_SCHEMA),
    ] {
        if let Some(text) = text
            && text.len() > limit
        {
            return Err(wrong(format!("the {what} of `{name}` has {} bytes, over the limit of {limit}", text.len())));
        }
    }
    let input_schema = parse(&name, "an input schema", &def.input_schema)?;
    // Services take arguments as an object alone.
    if input_schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
        return Err(wrong(format!("the input schema of `{name}` is not of type `object`")));
    }
    let output_schema = def.output_schema.map(|json| parse(&name, "an output schema", &json)).transpose()?;
    let hints = def.annotations;
    Ok(ToolDef {
        spec: ToolSpec {
            name: ToolName::new(name),
            title: def.title,
            description: def.description,
            input_schema: Arc::new(input_schema),
            output_schema: output_schema.map(Arc::new),
            annotations: Annotations {
                read_only: hints.read_only,
                destructive: hints.destructive,
                idempotent: hints.idempotent,
                open_world: hints.open_world,
            },
        },
        needs: def
            .capabilities
            .into_iter()
            .map(|need| Need { name: need.name, scope: need.scope, reason: need.reason })
            .collect(),
    })
}

/// Converts a failure. A denial that the host did not make is what the tool says, and so is being cancelled by nobody.
fn failure(tool: &str, failure: exported::Failure, acts: &HostActs) -> CallError {
    let size = match &failure {
        wit::Failure::Denied(denial) => denial.capability.len() + denial.wanted.len() + denial.help.len(),
        wit::Failure::InvalidArguments(text)
        | wit::Failure::NotFound(text)
        | wit::Failure::Conflict(text)
        | wit::Failure::Unavailable(text)
        | wit::Failure::Cancelled(text)
        | wit::Failure::Failed(text) => text.len(),
    };
    // Before the words are used: a failure is output like any other.
    if let Err(error) = check_size(tool, "text", size, MAX_OUTPUT_TEXT) {
        return error;
    }
    let claims = |claim: Claim, text: &str| Failure::Claimed {
        tool: tool.to_owned(),
        claim,
        words: host_text::quoted_excerpt(text, MAX_CLAIM),
    };
    CallError::Failure(match failure {
        wit::Failure::InvalidArguments(text) => Failure::InvalidArguments(text),
        wit::Failure::Denied(wit::Denial { capability, wanted, help }) => {
            // Only what this host denied in this call counts. A guest could word a denial itself, with a flag to copy.
            match acts.denials.has(&capability, &wanted, &help) {
                true => Failure::Denied { capability, wanted, help },
                false => claims(Claim::Denied, &help),
            }
        }
        wit::Failure::NotFound(text) => Failure::NotFound(text),
        wit::Failure::Conflict(text) => Failure::Conflict(text),
        wit::Failure::Unavailable(text) => Failure::Unavailable(text),
        // Said when nobody cancelled it, it would end with the exit code of an interrupt.
        wit::Failure::Cancelled(text) if acts.cancelled => Failure::Cancelled(text),
        wit::Failure::Cancelled(text) => claims(Claim::Cancelled, &text),
        wit::Failure::Failed(text) => Failure::Failed(text),
    })
}

fn parse(tool: &str, what: &'static str, json: &str) -> Result<serde_json::Value, CallError> {
    counted::read(json, MAX_VALUES).map_err(|error| CallError::NotJson {
        tool: tool.to_owned(),
        what,
        error: error.to_string(),
    })
}

/// Formats the frames of a trap, innermost first, by name if the component has names.
pub(crate) fn backtrace(trace: &wasmtime::WasmBacktrace) -> String {
    let names: Vec<String> = trace
        .frames()
        .iter()
        .map(|frame| frame.func_name().map_or_else(|| format!("function {}", frame.func_index()), demangled))
        // No name of a component begins a line of its own.
        .map(|name| host_text::exact(&name).into_owned())
        .collect();
    // The frames of Rust's panic machinery do not explain the cause.
    let machinery = names.iter().rposition(|name| PANIC_MACHINERY.iter().any(|part| name.contains(part)));
    let telling = names.get(machinery.map_or(0, |last| last + 1)..).unwrap_or_default();
    let mut lines: Vec<String> = telling.iter().take(MAX_FRAMES).map(|name| format!("at {name}")).collect();
    if telling.len() > MAX_FRAMES {
        lines.push(format!("… and {} more", telling.len() - MAX_FRAMES));
    }
    lines.join("\n")
}

fn demangled(name: &str) -> String {
    // A component chooses its names, and a mangled one can mean a text of any length.
    let mut shown = Limited { text: String::new(), left: MAX_FRAME };
    // It fails when there is more, which is what the mark says.
    if write!(shown, "{:#}", rustc_demangle::demangle(name)).is_err() {
        shown.text.push_str(host_text::CUT_MARK);
    }
    shown.text
}

/// Text up to a number of bytes; what is longer is an error.
struct Limited {
    text: String,
    left: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.text.push_str(text);
        Ok(())
    }
}
/// Returns what a preview asks about with the diff to be shown of each file, of which `there` is what was found.
pub(crate) fn checked(confirmation: Confirmation, there: impl Fn(&str) -> Option<Option<There>>) -> Confirmation {
    match confirmation {
        Confirmation::Edit { path, unified, proposed } => {
            let unified = of_file(&path, there(&path), &proposed, unified);
            Confirmation::Edit { path, unified, proposed }
        }
        Confirmation::Edits { mut changes } => {
            for FileChange { path, unified, proposed } in &mut changes {
                *unified = of_file(path, there(path), proposed.as_deref().unwrap_or(""), std::mem::take(unified));
            }
            Confirmation::Edits { changes }
        }
        other @ (Confirmation::Exec { .. }
        | Confirmation::Info { .. }
        | Confirmation::Mcp { .. }
        | Confirmation::Call) => other,
    }
}
