//! One call of a tool, its preview, or the decision about it, without a model, a session or a question: through the
//! same registry and sandbox.
//!
//! What it may touch are the user's grants of this process. Deliberately not here: approvals, which a session has and
//! `tool_service`, and what a call looks like.

use std::sync::Arc;

use host_agent::{ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH};
use host_capability::{Grants, Scope};
use host_extensions::plugins::LoadedPlugin;
use host_journal::MAIN;
use host_manifest::ToolEntry;
use host_message::{AgentId, FunctionCall, Output};
use host_plugin::{CallError, Confirmation, Invocation};
use host_settings::error::{ErrorKind, Failure};
use host_settings::mcp::SEPARATOR;
use host_text::{Advice, did_you_mean};
use host_tool::{
    ApprovalQueue, CallContext, Decision, FailureWords, LiveOutput, Looking, Outcome, PausableClock, ProgramInput,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// The tools that the agent itself has.
const OF_THE_AGENT: [&str; 5] = [ACTIVATE_SKILL, ASK_USER, COMPLETE_TASK, PRESENT_PLAN, TOOL_SEARCH];

/// How a call ended.
#[derive(Debug)]
pub enum Ended {
    /// With a result.
    Success {
        /// The result.
        output: Output,
        /// What an MCP server said beside its answer, for programs.
        mcp_meta: Option<Arc<Map<String, Value>>>,
    },
    /// With an error.
    Failed(Failure),
    /// By a cancel.
    Cancelled {
        /// What it had printed. Not escaped.
        partial: String,
        /// Why it was cancelled.
        failure: Failure,
    },
}

/// Runs a call.
///
/// # Errors
///
/// If there is no such tool, or its arguments are invalid.
pub async fn run(app: &App, call: FunctionCall, stop: &CancellationToken) -> Result<Ended, Failure> {
    let tools = app.settled_tools(app.grants(), Some(call.name.as_str())).await?;
    let tool = tools.admit(&call).map_err(|failure| Failure::input(failure.message))?;
    let live = LiveOutput::nowhere();
    let context = CallContext {
        cancel: stop.clone(),
        live: live.clone(),
        run_clock: PausableClock::default(),
        allowance: Arc::default(),
        questions: None,
        tools: None,
    };
    let ended = tool.call(&call, context);
    tokio::pin!(ended);
    let outcome = tokio::select! {
        outcome = &mut ended => outcome,
        () = stop.cancelled() => match tokio::time::timeout(host_tool::CANCEL_GRACE, ended).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Cancelled { reason: "it did not stop by itself".to_owned(), partial: None },
        },
    };
    Ok(match outcome {
        Outcome::Success(output) => Ended::Success { output, mcp_meta: live.mcp_meta() },
        Outcome::Error(failure) => {
            // Only the tools of MCP servers are in no manifest.
            let whose = find(app, call.name.as_str())
                .map_or(FailureWords::OfServer, |(installed, _)| installed.origin.failure_words());
            let words = match whose.stand_alone(failure.kind) {
                true => failure.message,
                false => format!("`{}` failed: {}", call.name, failure.message),
            };
            Ended::Failed(Failure::new(ErrorKind::Tool, words))
        }
        Outcome::Cancelled { reason, partial } => {
            let failure = Failure::new(ErrorKind::Cancelled, reason);
            Ended::Cancelled { partial: partial.unwrap_or_default(), failure }
        }
    })
}

/// Returns what a call would do; `None` if it would run without a question.
///
/// # Errors
///
/// If there is no such tool, its arguments are invalid, or its preview fails.
pub async fn preview(app: &App, call: FunctionCall) -> Result<Option<Confirmation>, Failure> {
    let tools = app.settled_tools(app.grants(), Some(call.name.as_str())).await?;
    let tool = tools.admit(&call).map_err(|failure| Failure::input(failure.message))?;
    if call.name.as_str().contains(SEPARATOR) {
        let intent = tool.intent(&call, Looking::default()).await;
        let intent = intent.map_err(|failure| Failure::new(ErrorKind::Tool, failure.message))?;
        return Ok(intent.confirmation);
    }
    let (installed, _) = find(app, call.name.as_str())?;
    let (grants, workspace) = (Arc::new(app.grants().granted_to(installed)), Arc::clone(&app.workspace));
    let arguments = Value::Object(call.arguments.clone()).to_string();
    let invocation = Invocation {
        config: Arc::clone(&installed.config),
        ..Invocation::new(call.id, call.name.clone(), arguments, grants, workspace)
    };
    let tool = invocation.tool.clone();
    let preview = app.runtime.preview(&installed.plugin, invocation).await;
    let words = |error: CallError| installed.origin.failure_words().of(&tool, &error);
    let confirmation = preview.map_err(|error| Failure::new(ErrorKind::Tool, words(error)))?;
    let input = match installed.commands.contains_key(&call.name) {
        true => ProgramInput::Arguments,
        false => ProgramInput::Nothing,
    };
    Ok(confirmation.map(|confirmation| input.added(confirmation, &call.arguments)))
}

/// Returns the plugin of a tool, and what its manifest says of the tool.
///
/// # Errors
///
/// If no plugin has it.
pub fn find<'p>(app: &'p App, name: &str) -> Result<(&'p LoadedPlugin, &'p ToolEntry), Failure> {
    let found = app.plugins.iter().find_map(|installed| {
        let tool = installed.manifest.tools.iter().find(|tool| tool.spec.name.as_str() == name)?;
        Some((installed, tool))
    });
    if let Some(found) = found {
        return Ok(found);
    }
    if OF_THE_AGENT.contains(&name) {
        let failure = Failure::input(format!("`{name}` is a tool of the agent itself, not of a plugin"));
        let help = Advice::from("a run has it without a grant; ").command("tool").text(" cannot show or call it");
        return Err(failure.help(help));
    }
    let failure = Failure::input(format!("there is no tool `{name}`"));
    Err(match did_you_mean(app.tools(app.grants())?.nearest(name)) {
        Some(help) => failure.help(help),
        None => failure,
    })
}

/// The decision about a call that was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    decision: &'static str,
    touches: String,
    granted: String,
    reasons: Vec<String>,
    words: String,
    /// The answer to the call if there is no user to ask.
    headless: Option<String>,
}

impl Decided {
    /// Describes it. Not escaped.
    pub fn text(&self) -> String {
        let Self { touches, granted, words, headless, .. } = self;
        let headless = headless.as_ref().map(|answer| format!("Without a terminal: {answer}\n")).unwrap_or_default();
        format!("{words}It would touch: {touches}\nGranted without asking: {granted}\n{headless}")
    }

    /// Returns it as data.
    pub fn json(&self) -> Value {
        let Self { decision, touches, granted, reasons, headless, .. } = self;
        json!({
            "decision": decision, "reasons": reasons, "touches": touches, "granted": granted, "headless": headless,
        })
    }
}

/// Returns the decision about a call of this agent, without running it.
///
/// # Errors
///
/// If there is no such tool, or its arguments are invalid.
pub async fn decided(
    app: &App,
    call: &FunctionCall,
    agent: &str,
    stop: &CancellationToken,
) -> Result<Decided, Failure> {
    let tools = match agent == MAIN {
        true => app.settled_tools(app.grants(), Some(call.name.as_str())).await?,
        // As a subagent has it, when it is one that calls.
        false => app.reading_tools(app.grants())?,
    };
    let tool = tools.admit(call).map_err(|failure| Failure::input(failure.message))?;
    let gate = app.gate(ApprovalQueue::new(), app.grants().mode()).for_agent(agent, &AgentId::new(agent));
    Ok(match gate.explain(call, &tool, stop).await {
        Ok((intent, verdict)) => Decided {
            decision: verdict.decision.name(),
            touches: shown(&intent.touches),
            granted: shown(&intent.granted),
            reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
            words: verdict.explain(),
            headless: intent.refusal.filter(|_| verdict.decision == Decision::Ask),
        },
        Err(failure) => Decided {
            decision: Decision::Deny.name(),
            touches: "nothing".to_owned(),
            granted: "nothing".to_owned(),
            reasons: vec![failure.message.clone()],
            words: format!("deny: {}\n", failure.message),
            headless: None,
        },
    })
}

/// Grants without the long list of what is never written.
fn shown(grants: &Grants) -> String {
    let scope = |scope: &Scope| match scope {
        Scope::FsRead(paths) | Scope::FsWrite(paths) => {
            let roots: Vec<String> = paths.roots().map(|root| root.path().display().to_string()).collect();
            format!("{}={}", scope.capability(), roots.join(","))
        }
        Scope::Process(_) | Scope::Http(_) | Scope::State(_) | Scope::Mcp(_) | Scope::Tools(_) => {
            format!("{}={scope}", scope.capability())
        }
    };
    let scopes: Vec<String> = grants.iter().map(scope).collect();
    if scopes.is_empty() { "nothing".to_owned() } else { scopes.join(" ") }
}
