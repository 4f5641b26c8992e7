//! A conversation that was, as updates: for a client that loads a session.
//!
//! What is replayed is the conversation as the model has it: prompts that were removed are not in it, and what was
//! compressed is its summary. Calls have their titles, results and changes from the session log.
//!
//! Deliberately not here: the calls of subagents, whose results are the results of the calls that started them.

use std::collections::HashMap;

use agent_client_protocol::v1::schema::{
    ContentChunk, SessionId, SessionUpdate, ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate,
};
use host_app::session::Session;
use host_journal::MAIN;
use host_message::{Content, FunctionCall, Part, PartData, Role};
use host_sessions::find;
use host_sessions::transcript::{Call, Transcript, What};
use host_settings::error::Failure;
use host_text::visible;
use serde_json::Value;

use crate::calls::{self, Tools};
use crate::outbox::Outbox;
use crate::updates::{Ended, plan};

/// Sends the conversation of a session.
///
/// # Errors
///
/// If its log cannot be read.
pub(crate) fn send(session: &Session, id: &SessionId, tools: &Tools, outbox: &Outbox) -> Result<(), Failure> {
    let stored = find::by_whole_id(&**session.app().journals(), session.id().as_str())?;
    let transcript = Transcript::read(&stored);
    let items = transcript.checklist().to_vec();
    let calls = transcript.entries.into_iter().filter(|entry| entry.agent.as_deref() == Some(MAIN));
    let calls = calls.filter_map(|entry| match entry.what {
        What::Call(call) => Some((call.id.clone(), *call)),
        _ => None,
    });
    let calls: HashMap<String, Call> = calls.collect();
    let replay = Replay { id, tools, outbox, calls: &calls };
    session.history().contents().iter().for_each(|content| replay.content(content));
    if !items.is_empty() {
        outbox.push(id, SessionUpdate::Plan(plan(&items)), 0);
    }
    Ok(())
}

struct Replay<'a> {
    id: &'a SessionId,
    tools: &'a Tools,
    outbox: &'a Outbox,
    calls: &'a HashMap<String, Call>,
}

impl Replay<'_> {
    fn content(&self, content: &Content) {
        // What the host added was not said by the user.
        for part in content.parts.iter().filter(|part| part.kept_heading().is_none()) {
            self.part(content.role, part);
        }
    }

    fn part(&self, role: Role, part: &Part) {
        let text = match &part.data {
            PartData::Text(text) => visible(text).into_owned(),
            PartData::InlineData(data) => format!("[{}]", visible(&data.mime_type)),
            PartData::FileReference(_) => "[file]".to_owned(),
            PartData::FunctionCall(call) => return self.call(call),
            // It is the result of a call, which has it.
            PartData::FunctionResponse(_) => return,
        };
        let size = text.len();
        let chunk = ContentChunk::new(text.into());
        let update = match (role, part.thought) {
            (Role::User, _) => SessionUpdate::UserMessageChunk(chunk),
            (Role::Model, false) => SessionUpdate::AgentMessageChunk(chunk),
            (Role::Model, true) => SessionUpdate::AgentThoughtChunk(chunk),
        };
        self.outbox.push(self.id, update, size);
    }

    fn call(&self, call: &FunctionCall) {
        // The same id as when it ran, so that a client that was there recognises it.
        let id = ToolCallId::new(call.id.as_str());
        let recorded = self.calls.get(call.id.as_str());
        let title = calls::title(call.name.as_str(), recorded.map_or("", |call| call.title.as_str()));
        let input = Value::Object(call.arguments.clone());
        let size = input.to_string().len();
        let begun = ToolCall::new(id.clone(), title)
            .name(call.name.to_string())
            .kind(self.tools.kind(call.name.as_str()))
            .status(ToolCallStatus::Pending)
            .locations(self.tools.locations(call))
            .raw_input(input);
        self.outbox.push(self.id, SessionUpdate::ToolCall(begun), size);
        let Some(outcome) = recorded.and_then(|call| call.outcome.as_ref()) else { return };
        let ended = Ended {
            tool: call.name.as_str(),
            status: outcome.status,
            report: outcome.report.as_ref(),
            display: outcome.display.as_ref(),
            response: &outcome.response,
        };
        let update = ToolCallUpdate::new(id, ended.fields("", self.tools));
        self.outbox.push(self.id, SessionUpdate::ToolCallUpdate(update), outcome.response.len());
    }
}
