//! `@path` in a prompt puts a file, a folder's listing or the files that match a glob behind the prompt.
//!
//! They are read by the tools that a model reads with (`read_file`, `ls`, `read_many_files`), in the same sandbox and
//! with the same grants, limits and ignore rules: what a deny leaves out, or a link leads out to, does not get in this
//! way either. What is there and may not be read is an error, so that nobody takes an answer for one that knew it; what
//! is not there is text (`@Override`, `@types/node`).

mod mention;

use std::sync::Arc;

use host_message::{CallId, FunctionCall, InlineData, Output, OutputPart, Part, PartData, ToolName};
use host_plugin::{FileKind, Found, ReadError, Reader};
use host_text::clip;
use host_tool::{CallContext, FailureKind, LiveOutput, Outcome, PausableClock, Registry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::mention::{Mention, Prompt};
use crate::app::App;
use crate::context::name;
use crate::error::{ErrorKind, Failure};
use crate::grants::UserGrants;

/// The most files and folders that one prompt attaches. Protects against a pasted text that is full of names.
const MAX_ATTACHED: usize = 50;

/// The most text that is attached in all, in characters: about a tenth of the largest window that a model has.
const MAX_TEXT: usize = 400_000;

/// The most bytes of images and the like that are attached in all. A service takes a request of 20 MB, in which they
/// take a third more.
const MAX_DATA: usize = 14 << 20;

/// The longest path that is repeated in a note, in characters.
const SHOWN_PATH: usize = 100;

/// A prompt with what it attaches.
#[derive(Debug)]
pub struct Attached {
    /// What the person wants.
    pub prompt: String,
    /// What goes behind it.
    pub parts: Vec<Part>,
    /// What the person should know: mentions that look like paths and are none.
    pub notes: Vec<String>,
}

/// What a mention means.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meant {
    path: String,
    tool: ReadingTool,
}

/// Which tool reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadingTool {
    File,
    Folder,
    Glob,
}

/// How much more fits.
struct Budget {
    characters: usize,
    bytes: usize,
}

/// Reads what the prompt mentions.
///
/// # Errors
///
/// When something is mentioned that is there and may not be read, or too much is.
pub async fn attach(said: &str, app: &App, grants: &UserGrants, stop: &CancellationToken) -> Result<Attached, Failure> {
    let tools = app.tools(grants)?;
    let Prompt { text, mentions } = Prompt::read(said);
    let mut attached = Attached { prompt: text, parts: Vec::new(), notes: Vec::new() };
    let mut all: Vec<Meant> = Vec::new();
    for mention in &mentions {
        match resolve(mention, app, grants)? {
            Some(meant) if all.contains(&meant) => {}
            Some(meant) => all.push(meant),
            None if looks_like_a_path(&mention.path) => {
                let path = clip(&mention.path, SHOWN_PATH);
                attached.notes.push(format!("there is no file `{path}`; `@{path}` stays text"));
            }
            None => {}
        }
    }
    if all.len() > MAX_ATTACHED {
        let message = format!("the prompt attaches {} files and folders, over the limit of {MAX_ATTACHED}", all.len());
        return Err(Failure::input(message)
            .help("name a folder or a glob instead, or let the model look for itself; `\\@` is a plain `@`"));
    }
    let mut budget = Budget { characters: MAX_TEXT, bytes: MAX_DATA };
    for (number, meant) in all.iter().enumerate() {
        attached.parts.extend(parts(meant, read(meant, number, &tools, stop).await?, &mut budget));
    }
    Ok(attached)
}

/// What a mention means; none when there is nothing of that name.
fn resolve(mention: &Mention, app: &App, grants: &UserGrants) -> Result<Option<Meant>, Failure> {
    let Some(reading) = app.plugin("read_file") else { return Ok(None) };
    let grants = Arc::new(grants.granted_to(reading));
    let reader = Reader::new(Arc::clone(&app.workspace), grants, reading.manifest.plugin_name());
    for path in mention.candidates() {
        let meant = |tool| Ok(Some(Meant { path: path.to_owned(), tool }));
        match reader.stat(path) {
            Ok(Found { ignored: true, .. }) => {
                return Err(refused(path)
                    .cause("the project's ignore rules leave it out")
                    .help("take the `@` away, or give the text on standard input; `\\@` is a plain `@`"));
            }
            Ok(Found { kind: FileKind::File, .. }) => return meant(ReadingTool::File),
            Ok(Found { kind: FileKind::Folder, .. }) => return meant(ReadingTool::Folder),
            Ok(Found { kind: FileKind::Link | FileKind::Other, .. }) => {
                return Err(refused(path).cause("it is neither a regular file nor a folder"));
            }
            Err(ReadError::NotFound(_) | ReadError::WrongKind(_) | ReadError::TooLarge { .. }) => {}
            // What is granted to nobody and is not there was meant as text.
            Err(ReadError::Denied { help, .. }) => {
                let absolute = app.workspace.absolute(path);
                if absolute.is_ok_and(|path| path.symlink_metadata().is_ok()) {
                    return Err(refused(path).cause(help).help("`\\@` is a plain `@`"));
                }
            }
            Err(ReadError::LeadsOut { help, .. }) => return Err(refused(path).cause(help)),
            Err(ReadError::Io(why)) => return Err(refused(path).cause(why)),
        }
    }
    Ok(mention.glob().map(|glob| Meant { path: glob.to_owned(), tool: ReadingTool::Glob }))
}

fn refused(path: &str) -> Failure {
    Failure::input(format!("`@{path}` cannot be attached"))
}

fn looks_like_a_path(path: &str) -> bool {
    let path = path.trim_end_matches(|c: char| !c.is_alphanumeric());
    path.contains('/') || path.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() <= 8)
}

/// What the tool says to it; or why it is not attached, in words for the model.
async fn read(
    meant: &Meant,
    number: usize,
    tools: &Registry,
    stop: &CancellationToken,
) -> Result<Result<Output, String>, Failure> {
    let (tool, arguments) = match meant.tool {
        ReadingTool::File => ("read_file", json!({"path": meant.path})),
        ReadingTool::Folder => ("ls", json!({"path": meant.path})),
        ReadingTool::Glob => ("read_many_files", json!({"include": [meant.path.trim_start_matches("./")]})),
    };
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => serde_json::Map::new(),
    };
    let id = CallId::new(format!("attached-{number}"));
    let call = FunctionCall { id, name: ToolName::new(tool), arguments };
    let admitted = tools.admit(&call).map_err(|failure| refused(&meant.path).cause(failure.message))?;
    let context = CallContext {
        cancel: stop.child_token(),
        live: LiveOutput::nowhere(),
        run_clock: PausableClock::default(),
        allowance: Arc::default(),
    };
    let outcome = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        outcome = admitted.call(&call, context) => outcome,
    };
    match outcome {
        Outcome::Success(output) => Ok(Ok(output)),
        Outcome::Error(failure) => match failure.kind {
            FailureKind::Denied => Err(refused(&meant.path).cause(failure.message)),
            // A binary file, or one that is too large, is named.
            FailureKind::InvalidArguments | FailureKind::NotFound | FailureKind::Conflict => Ok(Err(failure.message)),
            FailureKind::UnknownTool
            | FailureKind::Unavailable
            | FailureKind::TimedOut
            | FailureKind::Crashed
            | FailureKind::Failed
            | FailureKind::Unauthorized => Err(refused(&meant.path).cause(failure.message)),
        },
        Outcome::Cancelled { reason, .. } => Err(Failure::new(ErrorKind::Cancelled, reason)),
    }
}

/// The text of an attachment between lines that name it, and behind it its data.
fn parts(meant: &Meant, read: Result<Output, String>, budget: &mut Budget) -> Vec<Part> {
    let mut texts = Vec::new();
    let mut data: Vec<InlineData> = Vec::new();
    match read {
        Ok(output) => {
            for part in output.content {
                match part {
                    OutputPart::Text(text) => texts.push(text),
                    OutputPart::Link { uri, .. } => texts.push(uri),
                    OutputPart::Data(one) => {
                        let size = one.base64.len() / 4 * 3;
                        match budget.bytes.checked_sub(size) {
                            Some(left) => {
                                budget.bytes = left;
                                data.push(one);
                            }
                            None => texts.push(format!(
                                "({} of {size} bytes is left out: over {MAX_DATA} bytes of data in all)",
                                one.mime_type
                            )),
                        }
                    }
                }
            }
        }
        Err(why) => texts.push(format!("(not attached: {why})")),
    }
    let text = texts.join("\n");
    let shown = clip(&text, budget.characters);
    budget.characters = budget.characters.saturating_sub(text.chars().count());
    let path = name(&meant.path);
    let text = format!("\n--- attached: {path} ---\n{}\n--- end of {path} ---\n", shown.trim_end_matches('\n'));
    std::iter::once(Part::text(text)).chain(data.into_iter().map(|data| PartData::InlineData(data).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(path: &str) -> Meant {
        Meant { path: path.to_owned(), tool: ReadingTool::File }
    }

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().filter_map(Part::as_text).collect()
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut budget = Budget { characters: 10, bytes: 6 };
        let image =
            || OutputPart::Data(InlineData { mime_type: "image/png".to_owned(), base64: "AAAAAAAA".to_owned() });
        let output = |content| Ok(Output { content, ..Output::default() });
        let first = parts(&meant("a"), output(vec![OutputPart::Text("12345\n".to_owned()), image()]), &mut budget);
        assert_eq!(texts(&first), ["\n--- attached: a ---\n12345\n--- end of a ---\n"]);
        assert_eq!(first.len(), 2);
        let second = parts(&meant("b\nc"), output(vec![OutputPart::Text("123456".to_owned()), image()]), &mut budget);
        assert_eq!(texts(&second), ["\n--- attached: b\\nc ---\n1234… (cut)\n--- end of b\\nc ---\n"]);
        assert_eq!(second.len(), 1, "the second image does not fit");
        let third = parts(&meant("x.bin"), Err("it is a binary file".to_owned()), &mut budget);
        assert_eq!(texts(&third), ["\n--- attached: x.bin ---\n… (cut)\n--- end of x.bin ---\n"]);
    }

    #[test]
    fn a_note_is_made_of_what_looks_like_a_path() {
        for (path, looks) in [
            ("src/mian.rs", true),
            ("mian.rs", true),
            ("types/node", true),
            ("Override", false),
            ("Override.", false),
            ("me", false),
        ] {
            assert_eq!(looks_like_a_path(path), looks, "{path}");
        }
    }
}
