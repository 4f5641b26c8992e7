//! The tools for an agent that is not ours: each call by itself, through the same registry, gate and sandbox as a
//! run's.
//!
//! Owns which tools such an agent sees, and one call from its name to its end. What a call may touch comes from the
//! user's grants of this process; a question goes to the queue that comes with the call, so that each client is asked
//! about its own calls, and what was answered holds for the process.
//!
//! Deliberately not here: a protocol, showing a question, and the tools that are the agent itself (`complete_task`,
//! `ask_user`, `present_plan`): a client has its own.

mod agents;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host_message::{CallId, FunctionCall, ToolName, ToolSpec};
use host_settings::error::{ErrorKind, Failure};
use host_text::{Notice, did_you_mean, escape_name};
use host_tool::{ApprovalQueue, CallChange, CallEvent, Cancel, Gate, Live, Registry, Scheduler, SettledCall};
use serde_json::{Map, Value};

use self::agents::ServedAgents;
use crate::app::App;

/// How much of an unknown name is repeated, in characters: a client may send anything as a name.
const SHOWN_NAME: usize = 64;

/// What a running call reports, before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallProgress<'a> {
    /// How far it is.
    Units {
        /// Units done.
        done: u64,
        /// Units in all, if known.
        total: Option<u64>,
        /// What is being done. It comes from a plugin: not escaped.
        message: &'a str,
    },
    /// Output as the tool printed it: not escaped.
    Output(&'a str),
    /// A step of an agent, on one line that is safe to show.
    Step(&'a str),
}

/// Receives the progress of one call, from several threads. It must be quick and must not block.
pub type ProgressSink = Arc<dyn Fn(CallProgress<'_>) + Send + Sync>;

/// One use of a tool, as a client asks for it.
pub struct CallRequest {
    /// The name of the tool.
    pub name: String,
    /// The arguments, not checked yet.
    pub arguments: Map<String, Value>,
    /// Where its questions go. Without a listener, a call that would be asked about is denied.
    pub approvals: ApprovalQueue,
    /// Receives its progress.
    pub progress: ProgressSink,
}

/// The tools of an application, for clients.
pub struct ToolService {
    app: App,
    gate: Gate,
    tools: Registry,
    agents: ServedAgents,
    calls: AtomicU64,
}

impl ToolService {
    /// Makes the tools of an application callable. Nothing is compiled and no model is chosen before a call needs it.
    /// `model` is what agents ask that want no model of their own; with `None` the configured one.
    ///
    /// # Errors
    ///
    /// If two tools have one name, or an agent is invalid.
    pub fn new(app: App, model: Option<String>) -> Result<Self, Failure> {
        // The guards of calls are asked about those of any agent.
        let gate = app.gate(ApprovalQueue::new(), app.grants().mode()).with_hooks(app.session_hooks(None, None, None));
        // What can never run here is not listed, as in a run.
        let tools = app.tools(app.grants())?.undeclaring(|tool| gate.never(tool));
        let agents = ServedAgents::read(&app, model)?;
        for spec in agents.specs() {
            if tools.get(&spec.name).is_some() {
                return Err(Failure::input(format!("there are a tool and an agent `{}`", spec.name))
                    .help("change the name of one of them"));
            }
        }
        Ok(Self { app, gate, tools, agents, calls: AtomicU64::new(0) })
    }

    /// The application whose tools these are.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Returns what the user should know about what is not listed, a line each.
    pub fn notices(&self) -> Vec<Notice> {
        self.agents.notice().into_iter().collect()
    }

    /// Returns the descriptions of all tools, agents last; the order is the same each time.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs().iter().chain(self.agents.specs()).cloned().collect()
    }

    /// Whether there is a tool with this name, callable or not.
    pub fn has(&self, name: &str) -> bool {
        let name = ToolName::new(name);
        self.tools.get(&name).is_some() || self.agents.has(&name)
    }

    /// Returns the words about a name that no tool has, with the nearest names. Safe to show.
    pub fn unknown(&self, name: &str) -> String {
        let nearest = did_you_mean(self.tools.nearest(name)).map(|help| format!("; {help}"));
        format!("unknown tool `{}`{}", escape_name(name, SHOWN_NAME), nearest.unwrap_or_default())
    }

    /// Runs a call to its end. When `cancel` is cancelled, the call gets its grace to end by itself. Dropping the
    /// future drops the call with all that it started.
    ///
    /// # Errors
    ///
    /// If an agent cannot be started, for example without a model. Everything else is the outcome of the call.
    pub async fn call(&self, request: CallRequest, cancel: &Cancel) -> Result<SettledCall, Failure> {
        let CallRequest { name, arguments, approvals, progress } = request;
        let id = CallId::new(format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1));
        let call = FunctionCall::new(id, ToolName::new(name), arguments);
        let gate = self.gate.asking(approvals);
        let agents;
        let registry = match self.agents.has(&call.name) {
            true => {
                agents = self.agents.registry(&self.app, &call, &gate, &progress).await?;
                &agents
            }
            false => &self.tools,
        };
        let observe = |event: CallEvent<'_>| {
            match event.change {
                CallChange::Live(Live::Output(text)) => progress(CallProgress::Output(text)),
                CallChange::Live(Live::Progress { done, total, message }) => {
                    progress(CallProgress::Units { done: *done, total: *total, message });
                }
                CallChange::Validating(_)
                | CallChange::AwaitingApproval(_)
                | CallChange::Scheduled { .. }
                | CallChange::Executing(_)
                | CallChange::Settled(_) => {}
            }
            ControlFlow::Continue(())
        };
        let settled = Scheduler::new(registry).with_gate(Some(&gate)).run(vec![call], cancel, &observe).await;
        settled.into_iter().next().ok_or_else(|| Failure::new(ErrorKind::Tool, "the call was lost"))
    }
}
