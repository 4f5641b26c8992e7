//! The events of a run as updates of the protocol.
//!
//! Text and thoughts are the main agent's; calls are those of its subagents too, each with the name of its agent. Live
//! output of a call is sent as its end, at most a few times a second, since each update replaces the one before.
//!
//! Promises: text from a model or a tool is escaped; nothing here waits.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::{
    ContentChunk, Meta, NoticeSeverity, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionId, SessionUpdate,
    ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use host_agent::{Event, EventKind, Observer};
use host_journal::{CallReport, CallStatus, Fact};
use host_message::{AgentId, CallId, ChecklistItem, ChecklistState, Display, FunctionCall};
use host_sessions::report::notices;
use host_sessions::steps::{Step, steps};
use host_text::{Escaper, Newlines, visible_line};
use serde_json::Value;

use crate::calls::{self, Tools};
use crate::outbox::Outbox;

/// How much of a call's live output is shown, in bytes.
const LIVE: usize = 4 << 10;

/// The key under which a client finds the call that made a call.
const PARENT: &str = "host.parentToolCallId";

/// The least time between two updates of a call's live output.
const PAUSE: Duration = Duration::from_millis(200);

/// Sends the events of a session.
pub(crate) struct Updates {
    session: SessionId,
    outbox: Outbox,
    tools: Arc<Tools>,
    state: Mutex<State>,
}

struct State {
    message: Escaper,
    thought: Escaper,
    live: HashMap<ToolCallId, Live>,
    /// The running calls that other calls made.
    nested: HashSet<ToolCallId>,
}

/// The live output of a running call.
struct Live {
    end: String,
    sent: Option<Instant>,
}

impl Updates {
    /// Creates the observer of a session.
    pub(crate) fn new(session: SessionId, outbox: Outbox, tools: Arc<Tools>) -> Self {
        let escaper = || Escaper::new(Newlines::Keep);
        let state =
            Mutex::new(State { message: escaper(), thought: escaper(), live: HashMap::new(), nested: HashSet::new() });
        Self { session, outbox, tools, state }
    }

    fn push(&self, update: SessionUpdate, size: usize) {
        self.outbox.push(&self.session, update, size);
    }

    fn notice(&self, severity: NoticeSeverity, text: &str) {
        self.outbox.notice(&self.session, severity, text);
    }

    fn said(&self, text: String) {
        if !text.is_empty() {
            self.outbox.message(&self.session, text);
        }
    }

    fn thought(&self, text: String) {
        if !text.is_empty() {
            let size = text.len();
            self.push(SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.into())), size);
        }
    }

    /// Ends the texts of a reply.
    fn end_texts(&self) {
        let (said, thought) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (state.message.finish(), state.thought.finish())
        };
        self.thought(thought);
        self.said(said);
    }

    fn change(&self, id: ToolCallId, fields: ToolCallUpdateFields, size: usize) {
        self.push(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)), size);
    }

    fn live(&self, id: ToolCallId, more: &str, replaces: bool) {
        let now = Instant::now();
        let end = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let live = state.live.entry(id.clone()).or_insert(Live { end: String::new(), sent: None });
            if replaces {
                live.end.clear();
            }
            live.end.push_str(more);
            let cut = live.end.len().saturating_sub(LIVE);
            let cut = live.end.ceil_char_boundary(cut);
            live.end.drain(..cut);
            if live.sent.is_some_and(|sent| now.duration_since(sent) < PAUSE) {
                return;
            }
            live.sent = Some(now);
            live.end.clone()
        };
        let size = end.len();
        self.change(id, ToolCallUpdateFields::new().content(vec![calls::text(&end)]), size);
    }

    fn begun(&self, agent: &str, id: ToolCallId, call: &FunctionCall, parent: Option<ToolCallId>, title: &str) {
        if parent.is_some() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).nested.insert(id.clone());
        }
        let title = self.title(&id, of_agent(agent, calls::title(call.name.as_str(), title)));
        let input = Value::Object(call.arguments.clone());
        let size = input.to_string().len();
        let update = ToolCall::new(id, title)
            .name(call.name.to_string())
            .kind(self.tools.kind(call.name.as_str()))
            .status(ToolCallStatus::Pending)
            .locations(self.tools.locations(call))
            .raw_input(input)
            .meta(parent.map(|parent| Meta::from_iter([(PARENT.to_owned(), Value::from(parent.to_string()))])));
        self.push(SessionUpdate::ToolCall(update), size);
    }

    /// Returns the title of a call, with a mark if another call made it.
    fn title(&self, id: &ToolCallId, title: String) -> String {
        let is_nested = self.state.lock().unwrap_or_else(PoisonError::into_inner).nested.contains(id);
        if is_nested { format!("↳ {title}") } else { title }
    }

    fn fact(&self, event: &Event<'_>, agent: &str, fact: &Fact) {
        let is_main = !event.agent_id.is_subagent();
        match fact {
            Fact::CallStarted { call_id: call, name, title, .. } => {
                let id = call_id(event.agent_id, call);
                let title = self.title(&id, of_agent(agent, calls::title(name.as_str(), title)));
                let fields = ToolCallUpdateFields::new().title(title).status(ToolCallStatus::InProgress);
                self.change(id, fields, 0);
            }
            Fact::CallSettled { call_id: call, end, .. } => {
                let id = call_id(event.agent_id, call);
                self.state.lock().unwrap_or_else(PoisonError::into_inner).live.remove(&id);
                let (status, response) = (end.status, end.response());
                let (report, display) = (end.report.as_ref(), end.display.as_ref());
                let fields = Ended { tool: end.tool(), status, report, display, response }.fields(agent, &self.tools);
                self.change(id, fields, response.len());
                if let (Some(Display::Checklist { items }), CallStatus::Success, true) = (display, status, is_main) {
                    self.push(SessionUpdate::Plan(plan(items)), 0);
                }
            }
            Fact::RunEnded { .. } if is_main => self.end_texts(),
            other => {
                if let Some(words) = notices::fact(other) {
                    self.notice(NoticeSeverity::Info, &words);
                }
            }
        }
    }
}

impl Observer for Updates {
    fn event(&self, event: &Event<'_>) {
        let is_main = !event.agent_id.is_subagent();
        // Subagents' calls are shown with the name of their agent, and their texts not at all.
        let agent = if is_main { "" } else { event.agent };
        let id = |call: &CallId| call_id(event.agent_id, call);
        match event.kind {
            EventKind::Content { text } if is_main => {
                // Escaped in pieces: a sequence may be cut between two.
                let text = self.state.lock().unwrap_or_else(PoisonError::into_inner).message.push(text);
                self.said(text);
            }
            EventKind::Thought { text, .. } if is_main => {
                let text = self.state.lock().unwrap_or_else(PoisonError::into_inner).thought.push(text);
                self.thought(text);
            }
            EventKind::Finished { .. } if is_main => self.end_texts(),
            EventKind::Fact(fact) => self.fact(event, agent, fact),
            EventKind::Retry { reason, wait_ms, attempt, attempts } => {
                // What a failed attempt had begun is over; the next one begins a text of its own.
                self.end_texts();
                self.notice(NoticeSeverity::Warning, &notices::again(reason, wait_ms, attempt, attempts));
            }
            EventKind::ModelSwitched { model, reason } => {
                self.end_texts();
                self.notice(NoticeSeverity::Warning, &notices::switched(model, reason));
            }
            EventKind::ToolCallRequest { call, parent, title } => {
                self.begun(agent, id(&call.id), call, parent.map(id), title);
            }
            EventKind::ToolCallOutput { call_id, text, .. } => self.live(id(call_id), text, false),
            EventKind::ToolCallProgress { call_id, done, total, message, .. } => {
                let of = total.map_or_else(String::new, |total| format!(" of {total}"));
                self.live(id(call_id), &format!("{message} ({done}{of})"), true);
            }
            EventKind::ChatCompressed { status, tokens_before, tokens_after, reason } => {
                let words = notices::compressed(status, tokens_before, tokens_after, reason);
                self.notice(NoticeSeverity::Info, &words);
            }
            EventKind::Checking { command } => self.notice(NoticeSeverity::Info, &notices::checking(command)),
            EventKind::LoopDetected { repeated } => {
                self.notice(NoticeSeverity::Warning, &notices::repetition(repeated));
            }
            // Written out: a new event must be shown or left out on purpose.
            EventKind::Content { .. }
            | EventKind::HookWaiting { .. }
            | EventKind::Thought { .. }
            | EventKind::Finished { .. }
            | EventKind::RunRequested { .. }
            | EventKind::Asked { .. }
            | EventKind::TurnStarted { .. }
            | EventKind::ToolCallForming { .. }
            | EventKind::Citation { .. }
            | EventKind::ToolCallConfirmation { .. }
            | EventKind::UserCancelled => {}
        }
    }
}

/// The id of a call: those of subagents have ids of their own.
pub(crate) fn call_id(agent: &AgentId, call: &CallId) -> ToolCallId {
    if agent.is_subagent() { ToolCallId::new(format!("{agent}/{call}")) } else { ToolCallId::new(call.as_str()) }
}

fn of_agent(agent: &str, title: String) -> String {
    if agent.is_empty() { title } else { format!("{}: {title}", visible_line(agent)) }
}

/// A call that ended.
pub(crate) struct Ended<'a> {
    pub(crate) tool: &'a str,
    pub(crate) status: CallStatus,
    pub(crate) report: Option<&'a CallReport>,
    pub(crate) display: Option<&'a Display>,
    pub(crate) response: &'a str,
}

impl Ended<'_> {
    /// What a client is sent about it.
    pub(crate) fn fields(&self, agent: &str, tools: &Tools) -> ToolCallUpdateFields {
        let has_failed = self.report.is_some_and(|report| report.failed);
        let status = match self.status {
            CallStatus::Success if !has_failed => ToolCallStatus::Completed,
            CallStatus::Success | CallStatus::Error { .. } | CallStatus::Cancelled | CallStatus::Interrupted => {
                ToolCallStatus::Failed
            }
        };
        let mut fields = ToolCallUpdateFields::new().status(status);
        if let Some(report) = self.report {
            fields = fields.title(of_agent(agent, calls::title(self.tool, &report.title)));
        }
        let changed = match (self.display, self.status) {
            (Some(Display::Difference { path, unified }), CallStatus::Success) => {
                tools.absolute(path).map(|path| calls::changes(&path, unified))
            }
            _ => None,
        };
        match changed.filter(|(contents, _)| !contents.is_empty()) {
            Some((contents, locations)) => fields.content(contents).locations(locations),
            None => fields.content(vec![calls::text(self.response)]),
        }
    }
}

/// The list of steps that the model keeps, as a plan.
pub(crate) fn plan(items: &[ChecklistItem]) -> Plan {
    let entry = |step: Step| {
        let status = match step.state {
            ChecklistState::Pending => PlanEntryStatus::Pending,
            ChecklistState::InProgress => PlanEntryStatus::InProgress,
            // A plan has no other state for what is not done any more, and the text says which it is.
            ChecklistState::Done | ChecklistState::Cancelled => PlanEntryStatus::Completed,
        };
        // The list has no priorities.
        PlanEntry::new(step.text, PlanEntryPriority::Medium, status)
    };
    Plan::new(steps(items).into_iter().map(entry).collect())
}
