//! A recorded session as a list of what was said and done, each call with its outcome: what is shown and exported.
//!
//! The shapes that are serialised here are the program's interface, apart from the log's own. Deliberately not here:
//! pages for a reader, which each frontend writes.

use std::sync::Arc;

use host_journal::{CallEnd, CallReport, CallStatus, Calls, Fact, Logged, MAIN, ReadError, Stored, TerminateReason};
use host_message::{ChecklistItem, Content, Display, FunctionCall, Part, PartData, ResponseBody, Role, Usage};
use host_settings::error::{ErrorKind, Failure};
use host_text::Advice;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::notices;

/// A session, as far as its log can be read.
#[derive(Debug, Default, Serialize)]
pub struct Transcript {
    /// The session's id.
    pub id: String,
    /// When its first entry was written.
    pub began: Option<Timestamp>,
    /// The folder that it works in.
    pub workspace: Option<String>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// Token usage of all requests of all agents.
    pub usage: Usage,
    /// Bytes of a half-written entry at the end, which is left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub torn_bytes: u64,
    /// The messages, calls and events, in order.
    pub entries: Vec<Entry>,
    #[serde(skip)]
    damage: Option<ReadError>,
}

/// A message, call or event.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// When it was recorded.
    pub time: Timestamp,
    /// The agent of the session; `None` if the entry is about the session itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The kind of entry, with its details.
    #[serde(flatten)]
    pub what: What,
}

/// The kind of entry, with its details.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// A run of an agent started.
    RunStarted {
        /// The agent's name.
        name: String,
        /// The model that it asks.
        model: String,
    },
    /// The session was resumed.
    Resumed {
        /// The model that is asked now.
        model: String,
    },
    /// A message of the user, or of the host in the user's place.
    User(Message),
    /// A message of the model.
    Model(Message),
    /// A call.
    Call(Box<Call>),
    /// A shell line of a command file ran.
    CommandLine {
        /// The command as it is typed, such as `/review`.
        command: String,
        /// The id under which changes of files are kept.
        id: String,
        /// The line.
        line: String,
    },
    /// The conversation before this was replaced.
    HistoryReplaced {
        /// The messages in its place.
        messages: Vec<Content>,
    },
    /// The last prompt was removed from the conversation.
    TakenBack {
        /// Number of messages of the conversation that stay.
        messages: u64,
    },
    /// The user chose another model.
    ModelChosen {
        /// The model.
        model: String,
    },
    /// A limit was reached, and the model is asked to wrap up.
    RecoveryStarted {
        /// The limit.
        reason: TerminateReason,
    },
    /// The last request has no reply.
    Withdrawn,
    /// Something failed.
    Error {
        /// What.
        message: String,
    },
    /// A run ended.
    RunEnded {
        /// How.
        terminate_reason: TerminateReason,
        /// Number of its turns.
        turns: u32,
        /// The tokens that it used.
        usage: Usage,
    },
}

/// A message.
#[derive(Debug, Serialize)]
pub struct Message {
    /// Its visible text.
    pub text: String,
    /// The model's thoughts; empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thoughts: String,
    /// Its contents other than text, by media type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
}

/// A call with its outcome.
#[derive(Debug, Serialize)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The call that made it; `None` for one of the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What it is called on one line, beside the tool's name; safe to show.
    pub title: String,
    /// Its outcome; `None` until it has settled.
    #[serde(flatten)]
    pub outcome: Option<Outcome>,
}

/// The outcome of a call.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The way it ended.
    #[serde(flatten)]
    pub status: CallStatus,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// The text of the response that the model got.
    pub response: String,
    /// Its contents other than text, by media type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// What else is shown of it, such as the difference of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// What a user reads about it; a log of an older host has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<CallReport>,
}

impl Transcript {
    /// Reads a log to its end, or to the first entry that cannot be read.
    pub fn read(stored: &Stored) -> Self {
        let mut transcript = Self { id: stored.id.to_string(), ..Self::default() };
        transcript.damage = transcript.take_all(stored).err();
        transcript
    }

    /// The transcript, if the log could be read to its end.
    ///
    /// # Errors
    ///
    /// When it could not.
    pub fn whole(mut self) -> Result<Self, Failure> {
        match self.damage.take() {
            None => Ok(self),
            Some(error) => Err(Failure::from_error(ErrorKind::Input, &error)
                .cause(format!("the session `{}` cannot be read further", self.id))
                .help(
                    Advice::default()
                        .bare_command(format!("session show {}", self.id))
                        .text(" shows what comes before"),
                )),
        }
    }

    /// The transcript as JSON that is safe on a terminal.
    ///
    /// # Errors
    ///
    /// When it cannot be serialised.
    pub fn json(&self) -> Result<String, Failure> {
        to_json(self)
    }

    /// Returns the list of steps that the main agent wrote last; empty if it wrote none.
    pub fn checklist(&self) -> &[ChecklistItem] {
        let calls = self.entries.iter().rev().filter(|entry| entry.agent.as_deref() == Some(MAIN));
        let displays = calls.filter_map(|entry| {
            let What::Call(call) = &entry.what else { return None };
            let outcome = call.outcome.as_ref()?;
            outcome.display.as_ref().filter(|_| outcome.status == CallStatus::Success)
        });
        let mut lists = displays.filter_map(|display| match display {
            Display::Checklist { items } => Some(items.as_slice()),
            Display::Summary(_) | Display::Difference { .. } => None,
        });
        lists.next().unwrap_or_default()
    }

    fn take_all(&mut self, stored: &Stored) -> Result<(), ReadError> {
        let mut calls = Calls::default();
        // The position of each call in the entries, by its number.
        let mut positions = Vec::new();
        let mut records = stored.records()?;
        for logged in records.by_ref() {
            let logged = logged?;
            let ended = calls.take_in(&logged);
            let Logged { time, fact } = logged;
            self.began.get_or_insert(time);
            let mut add = |agent: Option<String>, what| self.entries.push(Entry { time, agent, what });
            match fact {
                Fact::Session { workspace, model, .. } => {
                    self.workspace = workspace;
                    self.model = model.map(|model| model.to_string());
                }
                Fact::Resumed { model, .. } => {
                    add(None, What::Resumed { model: model.to_string() });
                    self.model = Some(model.to_string());
                }
                Fact::RunStarted { agent, agent_id, model, .. } => {
                    add(Some(agent_id.to_string()), What::RunStarted { name: agent, model });
                }
                Fact::Content { prompt, content } => {
                    let agent = prompt.agent.to_string();
                    for what in said(Arc::unwrap_or_clone(content)) {
                        if let What::Call(_) = what {
                            positions.push(self.entries.len());
                        }
                        self.entries.push(Entry { time, agent: Some(agent.clone()), what });
                    }
                }
                Fact::NestedCall { prompt, parent, call } => {
                    positions.push(self.entries.len());
                    let call = Call { parent: Some(parent.to_string()), ..Call::new(Arc::unwrap_or_clone(call)) };
                    let (agent, what) = (Some(prompt.agent.to_string()), What::Call(Box::new(call)));
                    self.entries.push(Entry { time, agent, what });
                }
                Fact::HistoryReplaced { agent_id, contents } => {
                    let messages = Arc::unwrap_or_clone(contents);
                    add(Some(agent_id.to_string()), What::HistoryReplaced { messages });
                }
                Fact::TakenBack { agent_id, messages } => {
                    add(Some(agent_id.to_string()), What::TakenBack { messages });
                }
                Fact::ModelChosen { model } => {
                    add(None, What::ModelChosen { model: model.to_string() });
                    self.model = Some(model.to_string());
                }
                Fact::Usage { usage, .. } => self.usage.add(usage),
                Fact::RecoveryStarted { agent_id, reason } => {
                    add(Some(agent_id.to_string()), What::RecoveryStarted { reason });
                }
                Fact::Discarded { prompt, reason, .. } => {
                    let message = format!("{reason}; the reply was discarded");
                    add(Some(prompt.agent.to_string()), What::Error { message });
                }
                Fact::Withdrawn { prompt } => add(Some(prompt.agent.to_string()), What::Withdrawn),
                Fact::CommandLine { command, call_id, line } => {
                    add(None, What::CommandLine { command, id: call_id.to_string(), line });
                }
                Fact::CallSettled { end, .. } => {
                    let at = ended.and_then(|call| positions.get(call.number).copied());
                    if let Some(Entry { what: What::Call(call), .. }) = at.and_then(|at| self.entries.get_mut(at)) {
                        call.settle(Arc::unwrap_or_clone(end));
                    }
                }
                Fact::Error { agent_id, message } => add(Some(agent_id.to_string()), What::Error { message }),
                Fact::RunEnded { agent_id, terminate_reason, turns, usage, .. } => {
                    add(Some(agent_id.to_string()), What::RunEnded { terminate_reason, turns, usage });
                }
                other => {
                    if let Some(message) = notices::fact(&other) {
                        add(other.agent().map(ToString::to_string), What::Error { message });
                    }
                }
            }
        }
        self.torn_bytes = records.torn_bytes();
        Ok(())
    }
}

impl Message {
    /// The message of a content.
    pub fn from_content(content: &Content) -> Self {
        let thoughts = content.parts.iter().filter(|part| part.thought).filter_map(Part::as_text).collect();
        Self { text: content.visible_text(), thoughts, data: data(&content.parts) }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thoughts.is_empty() && self.data.is_empty()
    }
}

impl Call {
    fn new(call: FunctionCall) -> Self {
        Self {
            title: host_tool::title_of_arguments(&call),
            id: call.id.to_string(),
            parent: None,
            name: call.name.to_string(),
            arguments: call.arguments,
            outcome: None,
        }
    }
}

impl Outcome {
    fn new(end: CallEnd) -> Self {
        let CallEnd { status, duration_ms, display, report, .. } = end;
        let data = data(&end.parts);
        let response = end.parts.into_iter().find_map(|part| match part.data {
            PartData::FunctionResponse(response) => Some(response.body),
            PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_) | PartData::FunctionCall(_) => {
                None
            }
        });
        let response = match response {
            Some(ResponseBody::Output(text) | ResponseBody::Error(text)) => text,
            None => String::new(),
        };
        Self { status, duration_ms, response, data, display, report }
    }
}

impl Call {
    fn settle(&mut self, end: CallEnd) {
        if let Some(report) = &end.report {
            self.title.clone_from(&report.title);
        }
        self.outcome = Some(Outcome::new(end));
    }

    /// Returns whether it failed, or the command that it ran.
    pub fn failed(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| match &outcome.report {
            Some(report) => report.failed,
            None => matches!(outcome.status, CallStatus::Error { .. }),
        })
    }

    /// Returns how it ended, in words.
    pub fn ending(&self) -> String {
        match &self.outcome {
            None => "no outcome yet".to_owned(),
            Some(Outcome { status, duration_ms, report, .. }) => match (status, report) {
                (CallStatus::Success, Some(report)) if report.failed => format!("{}, {duration_ms} ms", report.summary),
                (CallStatus::Success, _) => format!("{duration_ms} ms"),
                (CallStatus::Error { .. }, _) => format!("failed, {duration_ms} ms"),
                (CallStatus::Cancelled, _) => "cancelled".to_owned(),
                (CallStatus::Interrupted, _) => "interrupted".to_owned(),
            },
        }
    }
}

/// A value as JSON in which every character that is unsafe on a terminal is escaped.
///
/// # Errors
///
/// When it cannot be serialised.
pub fn to_json(value: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::configuration(format!("cannot write the session as JSON: {error}")))?;
    let mut safe = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        // Such a character can only be within a text, where its code means the same.
        if character != '\n' && host_text::is_unsafe(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    safe.push('\n');
    Ok(safe)
}

/// Returns what a content says, and the calls in it.
fn said(content: Content) -> Vec<What> {
    let said = Message::from_content(&content);
    match content.role {
        Role::User => vec![What::User(said)],
        Role::Model => {
            let said = Some(said).filter(|said| !said.is_empty()).map(What::Model);
            let calls = content.parts.into_iter().filter_map(call_of);
            said.into_iter().chain(calls.map(|call| What::Call(Box::new(call)))).collect()
        }
    }
}

fn call_of(part: Part) -> Option<Call> {
    match part.data {
        PartData::FunctionCall(call) => Some(Call::new(call)),
        PartData::Text(_) | PartData::InlineData(_) | PartData::FileReference(_) | PartData::FunctionResponse(_) => {
            None
        }
    }
}

fn data(parts: &[Part]) -> Vec<String> {
    let types = parts.iter().filter_map(|part| match &part.data {
        PartData::InlineData(data) => Some(data.mime_type.clone()),
        PartData::FileReference(file) => Some(file.mime_type.clone()),
        PartData::Text(_) | PartData::FunctionCall(_) | PartData::FunctionResponse(_) => None,
    });
    types.collect()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
