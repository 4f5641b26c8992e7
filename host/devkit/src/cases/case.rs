//! A case of `host plugin test`, as a file of a plugin's folder `tests` has it.
//!
//! Promises: an unknown key is an error with its line. Deliberately not here: running the case, and judging the result.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_plugin::{PreparedAnswer, PreparedNetwork};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::built::Reason;

/// The largest file of cases. Protects memory; a written text is far smaller.
const MAX_FILE: u64 = 16 << 20;

/// Why a file of cases is not used.
#[derive(Debug, thiserror::Error)]
pub enum CaseFileError {
    /// It cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// It is too large.
    #[error("`{}` has {size} bytes, over the limit of {MAX_FILE}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
    },
    /// It is not a valid list of cases.
    #[error("invalid case file `{}`", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason, with the line or the case.
        #[source]
        why: Reason,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    case: Vec<Case>,
}

/// One call, what the world is like before it, and what is expected of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Case {
    /// Name of the case: what it shows.
    pub(super) name: String,
    /// The tool; not needed if the plugin has only one.
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
    /// The files of the workspace.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Content>,
    /// Calls that are made first, and have to succeed.
    #[serde(default)]
    pub(super) before: Vec<Before>,
    /// The grants, in the format of `--grant`; without it the workspace, the plugin's own state and the servers of the
    /// prepared answers.
    pub(super) grants: Option<BTreeMap<String, String>>,
    /// The plugin's configuration.
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    /// The secrets that are given, by their names.
    #[serde(default)]
    pub(super) secrets: Vec<String>,
    /// Answers in place of the network.
    #[serde(default)]
    http: Vec<Answer>,
    #[serde(default)]
    pub(super) expect: Expect,
}

/// A call before the one under test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Before {
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
}

/// The content of a file.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "text, or a table with `base64`")]
pub(super) enum Content {
    Text(String),
    Bytes(Base64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Base64 {
    base64: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default = "get")]
    method: String,
    url: String,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default = "empty")]
    body: Content,
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}

fn empty() -> Content {
    Content::Text(String::new())
}

/// The expectations. Anything else is not checked, with two exceptions: a call is expected to succeed, and to leave
/// files as they are.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// The text for the model, whole.
    pub(super) text: Option<String>,
    /// Parts of the text.
    #[serde(default)]
    pub(super) contains: OneOrMore,
    /// The result as JSON, whole.
    pub(super) structured: Option<Value>,
    /// The line for the user.
    pub(super) summary: Option<String>,
    /// The kind of failure.
    pub(super) failure: Option<Kind>,
    /// A part of the failure's message.
    pub(super) message: Option<String>,
    /// The capability that it is denied.
    pub(super) denied: Option<String>,
    /// The kind of its preview.
    pub(super) preview: Option<Preview>,
    /// Files after it: their content, or `false` for those that are gone.
    #[serde(default)]
    pub(super) files: BTreeMap<String, After>,
    /// The requests that it sends, `METHOD ADDRESS`, in order, and ` with SECRET` behind one that carries it.
    pub(super) requests: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(untagged, expecting = "text, or a list of texts")]
pub(super) enum OneOrMore {
    #[default]
    None,
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let (one, more) = match self {
            Self::None => (None, &[][..]),
            Self::One(one) => (Some(one), &[][..]),
            Self::More(more) => (None, more.as_slice()),
        };
        one.into_iter().chain(more).map(String::as_str)
    }
}

/// The expected state of a file.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "text, a table with `base64`, or `false`")]
pub(super) enum After {
    Content(Content),
    IsThere(bool),
}

/// The cases of the contract's `failure`, and the end of a call that the plugin had no say in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    InvalidArguments,
    Denied,
    NotFound,
    Conflict,
    Unavailable,
    Cancelled,
    Failed,
    /// It trapped, took too long or too much, or broke the contract.
    Crashed,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::Denied => "denied",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
        }
    }
}

/// The kinds of the contract's `confirmation`; `none` is for a call that asks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Preview {
    None,
    Exec,
    Edit,
    Info,
    Call,
}

impl Preview {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Exec => "exec",
            Self::Edit => "edit",
            Self::Info => "info",
            Self::Call => "call",
        }
    }
}

/// The cases of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Case>, CaseFileError> {
    let unreadable = |error| CaseFileError::Unreadable { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_FILE {
        return Err(CaseFileError::TooLarge { path: path.to_owned(), size });
    }
    let text = host_files::read_text(path, MAX_FILE).map_err(|error| unreadable(error.into()))?;
    let wrong = |why: &str| CaseFileError::Invalid { path: path.to_owned(), why: Reason(why.trim_end().to_owned()) };
    let file: File = toml::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    if file.case.is_empty() {
        return Err(wrong("it has no `[[case]]`"));
    }
    for case in &file.case {
        case.check().map_err(|why| wrong(&format!("the case `{}`: {why}", case.name)))?;
    }
    Ok(file.case)
}

impl Case {
    /// Rejects a contradictory case before anything runs.
    fn check(&self) -> Result<(), String> {
        for name in self.files.keys().chain(self.expect.files.keys()) {
            let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
            if name.is_empty() || !plain {
                return Err(format!("`{name}` is not a path beneath the workspace"));
            }
        }
        for content in self.files.values().chain(self.http.iter().map(|answer| &answer.body)) {
            content.bytes()?;
        }
        let expect = &self.expect;
        if let (Some(_), Some(Kind::InvalidArguments | Kind::NotFound | Kind::Conflict | Kind::Unavailable)) =
            (&expect.denied, expect.failure)
        {
            return Err("`denied` and another `failure` cannot both be expected".to_owned());
        }
        let fails = expect.failure.is_some() || expect.denied.is_some();
        if fails && (expect.text.is_some() || expect.structured.is_some() || expect.summary.is_some()) {
            return Err("a failure has no `text`, `structured` or `summary`; use `message` for its text".to_owned());
        }
        if expect.message.is_some() && !fails {
            return Err("`message` is the text of a failure; add `failure` or `denied`".to_owned());
        }
        self.network().map(drop)
    }

    /// The answers to its requests.
    pub(super) fn network(&self) -> Result<PreparedNetwork, String> {
        let answers = self.http.iter().map(|answer| {
            Ok(PreparedAnswer {
                method: answer.method.clone(),
                url: answer.url.clone(),
                status: answer.status,
                headers: answer.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
                body: answer.body.bytes()?,
            })
        });
        PreparedNetwork::new(answers.collect::<Result<_, String>>()?).map_err(|error| error.to_string())
    }
}

impl Content {
    pub(super) fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Bytes(bytes) => STANDARD.decode(&bytes.base64).map_err(|error| format!("`base64`: {error}")),
        }
    }
}
