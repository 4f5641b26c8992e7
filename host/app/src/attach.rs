//! `@path` in a prompt puts a file, a folder's listing or the files that match a glob behind the prompt, and
//! `@server:uri` a resource of an MCP server.
//!
//! The tools that a model reads with read them (`read_file`, `ls`, `read_many_files`), in the same sandbox and with the
//! same grants, limits and ignore rules. A file or folder outside of the workspace that the user typed counts as asked
//! about: it is attached, and may be read until the session ends. From a pipe or a script it is refused, as are keys
//! and passwords. A file that exists and may not be read is an error, since the answer would be without it; a name
//! without a file is text (`@Override`, `@types/node`).

pub mod images;
mod mention;
mod resource;

use std::path::PathBuf;
use std::sync::Arc;

use host_capability::Grants;
use host_extensions::grants::UserGrants;
use host_message::{CallId, FunctionCall, InlineData, Output, OutputPart, Part, PartData, ToolName};
use host_plugin::{FileKind, Found, ReadError, Reader};
use host_settings::error::{ErrorKind, Failure};
use host_settings::outside::expanded;
use host_text::{clip, exact};
use host_tool::{CallContext, FailureKind, LiveOutput, Outcome, PausableClock, Registry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::mention::{Mention, Prompt};
use self::resource::Resource;
use crate::app::{App, Offered};
use crate::context::name;

/// The most files and folders that one prompt attaches. Protects against a pasted text that is full of names.
const MAX_ATTACHED: usize = 50;

/// The most text that is attached in all, in characters: about a tenth of the largest window of a model.
const MAX_TEXT: usize = 400_000;

/// The most bytes of images and other data that are attached in all. Services take requests of up to 20 MB, in which
/// data is a third larger.
const MAX_DATA: usize = 14 << 20;

/// The longest path that is repeated in a note, in characters.
const SHOWN_PATH: usize = 100;

/// A prompt with what it attaches.
#[derive(Debug, Default)]
pub struct Attached {
    /// The text of the prompt.
    pub prompt: String,
    /// Text that was piped into it, which the model gets as a part of its own.
    pub piped: Option<String>,
    /// The parts behind it.
    pub parts: Vec<Part>,
    /// What the user should know: mentions that look like paths but are not.
    pub notes: Vec<String>,
    /// Whether the limits on calls that were set for this prompt hold in its run; otherwise the run begins without any.
    pub keeps_limits: bool,
    /// The model that answers this prompt; `None` for the session's.
    pub model: Option<String>,
}

/// A mention of a file, a folder or a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attachment {
    path: String,
    by: ReadBy,
}

/// What reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ReadBy {
    Tool(ReadingTool),
    Server(Resource),
}

/// The tool that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadingTool {
    File,
    Folder,
    Glob,
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user, who is there to see what it attaches.
    User,
    /// Nobody knows: a pipe, or a script.
    Unknown,
}

/// What a frontend attaches to a prompt besides its words: the user chose it there.
#[derive(Clone, Debug, PartialEq)]
pub enum Supplied {
    /// A file or folder, which is read as if it were mentioned with `@path`.
    Path(String),
    /// A text that the frontend has, such as a selection or a file with unsaved changes.
    Text {
        /// What it is: a path or an address. Not escaped.
        name: String,
        /// The text.
        text: String,
    },
    /// An image.
    Data(InlineData),
}

/// What came of reading an attachment.
enum Contents {
    Output(Output),
    /// There is none; explains to the model why.
    Missing(String),
}

/// The room that is left.
struct Budget {
    characters: usize,
    bytes: usize,
}

/// Reads the files, folders and globs that a prompt mentions.
///
/// # Errors
///
/// If something that is mentioned exists and may not be read, or if there is too much.
pub async fn attach(
    prompt: &str,
    author: Author,
    app: &App,
    grants: &UserGrants,
    stop: &CancellationToken,
) -> Result<Attached, Failure> {
    attach_supplied(prompt, Vec::new(), author, app, grants, stop).await
}

/// The same, with what the frontend attaches. Its texts and images share the room of the files.
///
/// # Errors
///
/// As [`attach`].
pub async fn attach_supplied(
    prompt: &str,
    supplied: Vec<Supplied>,
    author: Author,
    app: &App,
    grants: &UserGrants,
    stop: &CancellationToken,
) -> Result<Attached, Failure> {
    let tools = app.tools_of(&app.plugins, grants, Offered::default())?;
    let Prompt { text, mut mentions } = Prompt::read(prompt);
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for one in supplied {
        match one {
            Supplied::Path(path) => mentions.push(Mention { path, quoted: true }),
            Supplied::Text { name, text } => texts.push((name, text)),
            Supplied::Data(data) => images.push(data),
        }
    }
    let mut notes = Vec::new();
    let all = mentioned(&mentions, author, app, grants, &mut notes)?;
    let count = all.len() + texts.len() + images.len();
    if count > MAX_ATTACHED {
        let message = format!("the prompt attaches {count} files and folders, over the limit of {MAX_ATTACHED}");
        return Err(Failure::input(message)
            .help("name a folder or a glob instead, or let the model look for itself; write `\\@` for a plain `@`"));
    }
    let mut budget = Budget { characters: MAX_TEXT, bytes: MAX_DATA };
    let mut attached = Vec::new();
    for (number, attachment) in all.iter().enumerate() {
        let read = match &attachment.by {
            ReadBy::Tool(tool) => read(attachment, *tool, number, &tools, stop).await?,
            ReadBy::Server(resource) => tokio::select! {
                biased;
                () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
                read = resource.read(app) => Contents::Output(read?),
            },
        };
        attached.extend(parts(&attachment.path, read, &mut budget));
    }
    for (name, text) in texts {
        attached.extend(parts(&name, Contents::Output(Output::text(text)), &mut budget));
    }
    for data in images {
        let output = Output { content: vec![OutputPart::Data(data)], ..Output::default() };
        attached.extend(parts("an image", Contents::Output(output), &mut budget));
    }
    Ok(Attached { prompt: text, piped: None, parts: attached, notes, keeps_limits: false, model: None })
}

/// What the mentions of a prompt mean, each once. A note says what they open, and which of them stay text.
fn mentioned(
    mentions: &[Mention],
    author: Author,
    app: &App,
    grants: &UserGrants,
    notes: &mut Vec<String>,
) -> Result<Vec<Attachment>, Failure> {
    let mut all: Vec<Attachment> = Vec::new();
    for mention in mentions {
        if let Some(resource) = resource::resolve(mention, author, app, grants)? {
            let attachment = Attachment { path: resource.shown(), by: ReadBy::Server(resource) };
            if !all.contains(&attachment) {
                all.push(attachment);
            }
            continue;
        }
        match resolve(mention, author, app, grants)? {
            Some((attachment, _)) if all.contains(&attachment) => {}
            Some((attachment, place)) => {
                if place == Place::Outside {
                    let path = exact(&attachment.path);
                    notes.push(format!("tools may read `{path}`, outside of the workspace, for this session"));
                }
                all.push(attachment);
            }
            None if looks_like_a_path(&mention.path) => {
                let path = clip(&mention.path, SHOWN_PATH);
                notes.push(format!("there is no file `{path}`; `@{path}` is sent as plain text"));
            }
            None => {}
        }
    }
    Ok(all)
}

/// Where an attachment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Where tools read without being asked about.
    Granted,
    /// Elsewhere: the user typed the path.
    Outside,
}

/// The attachment that a mention means; `None` if there is no such file.
fn resolve(
    mention: &Mention,
    author: Author,
    app: &App,
    grants: &UserGrants,
) -> Result<Option<(Attachment, Place)>, Failure> {
    let Some(reading) = app.plugin("read_file") else { return Ok(None) };
    let held = grants.granted_to(reading);
    let reader = |besides: &Grants| {
        let held = Arc::new(held.join(&besides.meet(&grants.ceiling_of(reading))));
        Reader::new(Arc::clone(&app.workspace), held, reading.manifest.plugin_name()).worded(app.runtime.wording())
    };
    let before = reader(&grants.reads().grants());
    for path in mention.candidates() {
        let (mut path, mut place) = (path.to_owned(), Place::Granted);
        let mut found = before.stat(&path);
        let is_elsewhere = match &found {
            Err(ReadError::Denied { .. }) => true,
            Err(ReadError::NotFound(_)) => path.starts_with("~/"),
            Ok(_) | Err(_) => false,
        };
        if is_elsewhere
            && author == Author::User
            && let Some(outside) = outside(&path, app, grants)
        {
            path = outside;
            place = Place::Outside;
            found = reader(&grants.reads().grants()).stat(&path);
        }
        let of_tool = |tool| Ok(Some((Attachment { path: path.clone(), by: ReadBy::Tool(tool) }, place)));
        match found {
            Ok(Found { ignored: true, .. }) => {
                return Err(refused(&path)
                    .cause("the project's ignore rules leave it out")
                    .help("take the `@` away, or give the text on standard input; write `\\@` for a plain `@`"));
            }
            Ok(Found { kind: FileKind::File, .. }) => return of_tool(ReadingTool::File),
            Ok(Found { kind: FileKind::Folder, .. }) => return of_tool(ReadingTool::Folder),
            Ok(Found { kind: FileKind::Link | FileKind::Other, .. }) => {
                return Err(refused(&path).cause("it is neither a regular file nor a folder"));
            }
            Err(ReadError::NotFound(_) | ReadError::WrongKind(_) | ReadError::TooLarge { .. }) => {}
            // A path that is denied and does not exist is meant as text.
            Err(ReadError::Denied { help, .. }) => {
                if absolute(&path, app).is_some_and(|path| path.symlink_metadata().is_ok()) {
                    return Err(refused(&path).cause(help).help("write `\\@` for a plain `@`"));
                }
            }
            Err(ReadError::LeadsOut { help, .. }) => return Err(refused(&path).cause(help)),
            Err(ReadError::Io(why)) => return Err(refused(&path).cause(why)),
        }
    }
    Ok(mention
        .glob()
        .map(|glob| (Attachment { path: glob.to_owned(), by: ReadBy::Tool(ReadingTool::Glob) }, Place::Granted)))
}

/// The path as a user writes it; `~/` is the home.
fn absolute(path: &str, app: &App) -> Option<PathBuf> {
    app.workspace.absolute(expanded(path, app.environment.home()).to_str()?).ok()
}

/// Lets tools read what the user typed, if it is there and no secret; returns its path without links.
fn outside(path: &str, app: &App, grants: &UserGrants) -> Option<String> {
    let real = std::fs::canonicalize(absolute(path, app)?).ok()?;
    let shown = real.to_str()?.to_owned();
    grants.reads().allow(&real).then_some(shown)
}

fn refused(path: &str) -> Failure {
    Failure::input(format!("`@{path}` cannot be attached"))
}

fn looks_like_a_path(path: &str) -> bool {
    let path = path.trim_end_matches(|c: char| !c.is_alphanumeric());
    path.contains('/') || path.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() <= 8)
}

/// Reads an attachment with a tool.
async fn read(
    attachment: &Attachment,
    tool: ReadingTool,
    number: usize,
    tools: &Registry,
    stop: &CancellationToken,
) -> Result<Contents, Failure> {
    let (tool, arguments) = match tool {
        ReadingTool::File => ("read_file", json!({"path": attachment.path})),
        ReadingTool::Folder => ("ls", json!({"path": attachment.path})),
        ReadingTool::Glob => ("read_many_files", json!({"include": [attachment.path.trim_start_matches("./")]})),
    };
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => serde_json::Map::new(),
    };
    let id = CallId::new(format!("attached-{number}"));
    let call = FunctionCall::new(id, ToolName::new(tool), arguments);
    let admitted = tools.admit(&call).map_err(|failure| refused(&attachment.path).cause(failure.message))?;
    let context = CallContext {
        cancel: stop.child_token(),
        live: LiveOutput::nowhere(),
        run_clock: PausableClock::default(),
        allowance: Arc::default(),
        questions: None,
        tools: None,
    };
    let outcome = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        outcome = admitted.call(&call, context) => outcome,
    };
    match outcome {
        Outcome::Success(output) => Ok(Contents::Output(output)),
        Outcome::Error(failure) => match failure.kind {
            FailureKind::Denied => Err(refused(&attachment.path).cause(failure.message)),
            // A binary file, or one that is too large: the model is shown why it is missing.
            FailureKind::InvalidArguments | FailureKind::NotFound | FailureKind::Conflict => {
                Ok(Contents::Missing(failure.message))
            }
            FailureKind::UnknownTool
            | FailureKind::Unavailable
            | FailureKind::TimedOut
            | FailureKind::Crashed
            | FailureKind::Failed
            | FailureKind::Unauthorized => Err(refused(&attachment.path).cause(failure.message)),
        },
        Outcome::Cancelled { reason, .. } => Err(Failure::new(ErrorKind::Cancelled, reason)),
    }
}

/// The text of an attachment between lines that name it, and behind it its data.
fn parts(path: &str, read: Contents, budget: &mut Budget) -> Vec<Part> {
    let mut texts = Vec::new();
    let mut data: Vec<InlineData> = Vec::new();
    match read {
        Contents::Output(output) => {
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
        Contents::Missing(why) => texts.push(format!("(not attached: {why})")),
    }
    let text = texts.join("\n");
    let shown = clip(&text, budget.characters);
    budget.characters = budget.characters.saturating_sub(text.chars().count());
    let path = name(path);
    let text = format!("\n--- attached: {path} ---\n{}\n--- end of {path} ---\n", shown.trim_end_matches('\n'));
    std::iter::once(Part::text(text)).chain(data.into_iter().map(|data| PartData::InlineData(data).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().filter_map(Part::as_text).collect()
    }

    #[test]
    fn attachment_that_does_not_fit_is_named() {
        let mut budget = Budget { characters: 10, bytes: 6 };
        let image =
            || OutputPart::Data(InlineData { mime_type: "image/png".to_owned(), base64: "AAAAAAAA".to_owned() });
        let output = |content| Contents::Output(Output { content, ..Output::default() });
        let first = parts("a", output(vec![OutputPart::Text("12345\n".to_owned()), image()]), &mut budget);
        assert_eq!(texts(&first), ["\n--- attached: a ---\n12345\n--- end of a ---\n"]);
        assert_eq!(first.len(), 2);
        let second = parts("b\nc", output(vec![OutputPart::Text("123456".to_owned()), image()]), &mut budget);
        assert_eq!(texts(&second), ["\n--- attached: b\\nc ---\n1234… (cut)\n--- end of b\\nc ---\n"]);
        assert_eq!(second.len(), 1, "the second image does not fit");
        let third = parts("x.bin", Contents::Missing("it is a binary file".to_owned()), &mut budget);
        assert_eq!(texts(&third), ["\n--- attached: x.bin ---\n… (cut)\n--- end of x.bin ---\n"]);
    }

    #[test]
    fn attachment_note_is_for_what_looks_like_a_path() {
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
