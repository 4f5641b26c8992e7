//! Compares the result of a call with what a case expects.
//!
//! Deliberately not here: running the call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host_message::{Display, Output, OutputPart};
use host_plugin::{CallError, Claim, Confirmation, Failure, SeenRequest};
use host_tool::Schema;
use serde_json::Value;
use similar::TextDiff;

use super::case::{After, Expect, Kind, Preview};

/// Everything that is observed of a call.
pub(super) struct Seen {
    pub(super) answer: Result<Output, Failed>,
    pub(super) preview: Option<Result<Option<Confirmation>, CallError>>,
    pub(super) before: Tree,
    pub(super) after: Tree,
    pub(super) requests: Vec<SeenRequest>,
}

/// The files of a workspace, by their path in it.
pub(super) type Tree = BTreeMap<String, Vec<u8>>;

/// The failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) kind: Kind,
    pub(super) words: String,
    pub(super) capability: Option<String>,
}

impl Failed {
    pub(super) fn new(kind: Kind, words: impl Into<String>) -> Self {
        Self { kind, words: words.into(), capability: None }
    }
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        let words = error.to_string();
        match error {
            CallError::Failure(Failure::InvalidArguments(_)) => Self::new(Kind::InvalidArguments, words),
            CallError::Failure(Failure::Denied { capability, .. }) => {
                Self { kind: Kind::Denied, words, capability: Some(capability) }
            }
            CallError::Failure(Failure::Claimed { claim: Claim::Denied, .. }) => Self::new(Kind::Failed, words),
            CallError::Failure(Failure::Claimed { claim: Claim::Cancelled, .. }) => Self::new(Kind::Cancelled, words),
            CallError::Failure(Failure::NotFound(_)) => Self::new(Kind::NotFound, words),
            CallError::Failure(Failure::Conflict(_)) | CallError::Unsaved { .. } | CallError::Changed { .. } => {
                Self::new(Kind::Conflict, words)
            }
            CallError::Failure(Failure::Unavailable(_)) => Self::new(Kind::Unavailable, words),
            CallError::Failure(Failure::Cancelled(_)) => Self::new(Kind::Cancelled, words),
            CallError::Failure(Failure::Failed(_)) => Self::new(Kind::Failed, words),
            CallError::Admission(host_plugin::admission::AdmissionError::Ungranted(denied)) => {
                Self { kind: Kind::Denied, words, capability: Some(denied.capability.to_string()) }
            }
            CallError::Admission(_)
            | CallError::Crashed { .. }
            | CallError::Limit { .. }
            | CallError::TooMuch { .. }
            | CallError::TooMany { .. }
            | CallError::TimedOut { .. }
            | CallError::NotJson { .. }
            | CallError::Runtime(_) => Self::new(Kind::Crashed, words),
        }
    }
}

/// The differences from what was expected, a line or several each; empty if there are none.
pub(super) fn judge(expect: &Expect, seen: &Seen, output_schema: Option<&Schema>) -> Vec<String> {
    let mut wrong = Vec::new();
    preview(expect, seen, &mut wrong);
    match (&seen.answer, expect.failure, &expect.denied) {
        (Ok(output), None, None) => answer(expect, output, output_schema, &mut wrong),
        (Ok(output), kind, denied) => {
            let expected = match (kind, denied) {
                (_, Some(capability)) => format!("`{capability}` to be denied"),
                (Some(kind), None) => format!("the failure `{}`", kind.word()),
                (None, None) => "a failure".to_owned(),
            };
            wrong.push(format!("expected {expected}, but the call succeeded:\n{}", text(output)));
        }
        (Err(failed), kind, denied) => failure(expect, failed, kind, denied.as_deref(), &mut wrong),
    }
    files(expect, seen, &mut wrong);
    requests(expect, seen, &mut wrong);
    wrong
}

fn preview(expect: &Expect, seen: &Seen, wrong: &mut Vec<String>) {
    let (Some(expected), Some(preview)) = (expect.preview, &seen.preview) else { return };
    let found = match preview {
        Err(error) => return wrong.push(format!("the preview failed: {error}")),
        Ok(None) => Preview::None,
        Ok(Some(Confirmation::Exec { .. })) => Preview::Exec,
        Ok(Some(Confirmation::Edit { .. } | Confirmation::Edits { .. })) => Preview::Edit,
        Ok(Some(Confirmation::Info { .. })) => Preview::Info,
        Ok(Some(Confirmation::Mcp { .. } | Confirmation::Call)) => Preview::Call,
    };
    if found != expected {
        wrong.push(format!("expected the preview `{}`, but it is `{}`", expected.word(), found.word()));
    }
}

fn answer(expect: &Expect, output: &Output, schema: Option<&Schema>, wrong: &mut Vec<String>) {
    let found = text(output);
    if let Some(expected) = &expect.text
        && *expected != found
    {
        wrong.push(format!("the text is different:\n{}", difference(expected, &found)));
    }
    for part in expect.contains.iter().filter(|part| !found.contains(part)) {
        wrong.push(format!("the text does not contain `{part}`:\n{found}"));
    }
    if let Some(expected) = &expect.structured {
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        match &output.structured {
            Some(found) if found == expected => {}
            Some(found) => {
                wrong.push(format!("the JSON is different:\n{}", difference(&pretty(expected), &pretty(found))));
            }
            None => wrong.push("the result has no structured JSON".to_owned()),
        }
    }
    match (schema, &output.structured) {
        (Some(schema), Some(value)) => {
            if let Err(violations) = schema.check(value) {
                wrong.push(format!("the JSON does not meet the tool's output schema:\n{violations}"));
            }
        }
        (Some(_), None) => wrong.push("the tool has an output schema, and its result has no JSON".to_owned()),
        (None, _) => {}
    }
    if let Some(expected) = &expect.summary {
        match &output.display {
            Some(Display::Summary(found)) if found == expected => {}
            Some(Display::Summary(found)) => {
                wrong.push(format!("the summary is different:\n{}", difference(expected, found)));
            }
            Some(Display::Difference { .. }) => wrong.push("the user is shown a diff, not a summary".to_owned()),
            Some(Display::Checklist { .. }) => wrong.push("the user is shown a checklist, not a summary".to_owned()),
            None => wrong.push("there is no summary".to_owned()),
        }
    }
}

fn failure(expect: &Expect, failed: &Failed, kind: Option<Kind>, denied: Option<&str>, wrong: &mut Vec<String>) {
    let told = format!("`{}`: {}", failed.kind.word(), failed.words);
    if let Some(capability) = denied {
        match &failed.capability {
            Some(found) if found == capability => {}
            Some(_) | None => {
                wrong.push(format!("expected `{capability}` to be denied, but the call failed with {told}"))
            }
        }
    }
    match kind {
        Some(kind) if kind != failed.kind => {
            wrong.push(format!("expected the failure `{}`, but the call failed with {told}", kind.word()));
        }
        None if denied.is_none() => wrong.push(format!("the call failed with {told}")),
        Some(_) | None => {}
    }
    if let Some(part) = &expect.message
        && !failed.words.contains(part)
    {
        wrong.push(format!("the message of the failure does not contain `{part}`: {}", failed.words));
    }
}

fn files(expect: &Expect, seen: &Seen, wrong: &mut Vec<String>) {
    let names: BTreeSet<&String> = seen.before.keys().chain(seen.after.keys()).chain(expect.files.keys()).collect();
    for name in names {
        let (before, after) = (seen.before.get(name), seen.after.get(name));
        let unexpected = match (expect.files.get(name), after) {
            (None, after) if after == before => None,
            (None, None) => Some("is gone".to_owned()),
            (None, Some(after)) => Some(changed("was changed", before, after)),
            (Some(After::IsThere(true)), Some(_)) | (Some(After::IsThere(false)), None) => None,
            (Some(After::IsThere(false)), Some(_)) => Some("is still there".to_owned()),
            (Some(After::IsThere(true) | After::Content(_)), None) => Some("is not there".to_owned()),
            (Some(After::Content(content)), Some(after)) => match content.bytes() {
                Ok(expected) if expected == *after => None,
                Ok(expected) => Some(changed("is different", Some(&expected), after)),
                Err(why) => Some(why),
            },
        };
        wrong.extend(unexpected.map(|what| format!("the file `{name}` {what}")));
    }
}

fn changed(what: &str, expected: Option<&Vec<u8>>, found: &[u8]) -> String {
    match (expected.map(|bytes| std::str::from_utf8(bytes)).transpose(), std::str::from_utf8(found)) {
        (Ok(expected), Ok(found)) => format!("{what}:\n{}", difference(expected.unwrap_or_default(), found)),
        (Ok(_), Err(_)) | (Err(_), _) => format!("{what}: {} bytes that are not text", found.len()),
    }
}

/// A request as a case has it.
fn request_line(request: &SeenRequest) -> String {
    let with = match request.secrets.as_slice() {
        [] => String::new(),
        secrets => format!(" with {}", secrets.join(", ")),
    };
    format!("{} {}{with}", request.method, request.url)
}

fn requests(expect: &Expect, seen: &Seen, wrong: &mut Vec<String>) {
    let Some(expected) = &expect.requests else { return };
    let found: Vec<String> = seen.requests.iter().map(request_line).collect();
    if *expected != found {
        wrong.push(format!("the requests are different:\n{}", difference(&lines(expected), &lines(&found))));
    }
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The text for the model.
fn text(output: &Output) -> String {
    let part = |part: &OutputPart| match part {
        OutputPart::Text(text) => text.clone(),
        OutputPart::Data(data) => format!("({}, {} base64 characters)", data.mime_type, data.base64.len()),
        OutputPart::Link { uri, .. } => uri.clone(),
    };
    output.content.iter().map(part).collect::<Vec<_>>().join("\n")
}

/// Lines that were expected behind `-`, lines that were found behind `+`.
fn difference(expected: &str, found: &str) -> String {
    let difference = TextDiff::from_lines(expected, found);
    let mut text = String::new();
    for change in difference.iter_all_changes() {
        text.push_str(&format!("{}{}", change.tag(), change.value().trim_end_matches('\n')));
        text.push('\n');
    }
    text.pop();
    if expected.ends_with('\n') != found.ends_with('\n') {
        text.push_str("\n(one of them ends with a line break, the other does not)");
    }
    text
}

/// The files in a folder, with the folders themselves left out; something that is not a file is marked as such.
pub(super) fn tree(folder: &Path) -> std::io::Result<Tree> {
    let mut tree = Tree::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file() {
                tree.insert(name, std::fs::read(&path)?);
            } else {
                tree.insert(name, b"(no file)".to_vec());
            }
        }
    }
    Ok(tree)
}
