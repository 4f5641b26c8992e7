//! A tool of a plugin: each call runs in the sandbox with the plugin's grants, and however it ends is an outcome.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use host_capability::Grants;
use host_message::{FunctionCall, ToolSpec};
use host_plugin::admission::AdmissionError;
use host_plugin::{CallError, CallListener, Failure, Invocation, Plugin, Runtime, Workspace};
use serde_json::Value;

use crate::{CallContext, CallFailure, FailureKind, LiveOutput, Outcome, Tool};

/// One tool of a plugin, with what a call of it may touch.
pub struct PluginTool {
    spec: ToolSpec,
    plugin: Arc<Plugin>,
    sandbox: Sandbox,
}

/// What the tools of a plugin run in.
#[derive(Clone)]
pub struct Sandbox {
    /// Runs the calls.
    pub runtime: Arc<Runtime>,
    /// What the calls may touch. The runtime cuts it down to what the plugin asks for.
    pub grants: Arc<Grants>,
    /// Where relative paths start.
    pub workspace: Arc<Workspace>,
    /// The plugin's own configuration, each value as JSON text.
    pub config: Arc<BTreeMap<String, String>>,
}

impl PluginTool {
    /// The tool with this spec, out of the plugin's manifest.
    pub fn new(spec: ToolSpec, plugin: Arc<Plugin>, sandbox: Sandbox) -> Self {
        Self { spec, plugin, sandbox }
    }
}

impl Tool for PluginTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        let invocation = Invocation {
            id: call.id.clone(),
            tool: self.spec.name.clone(),
            arguments: Value::Object(call.arguments.clone()).to_string(),
            grants: Arc::clone(&self.sandbox.grants),
            workspace: Arc::clone(&self.sandbox.workspace),
            config: Arc::clone(&self.sandbox.config),
            cancel: context.cancel,
            listener: Arc::new(Listener(context.live)),
        };
        Box::pin(async move {
            match self.sandbox.runtime.call(&self.plugin, invocation).await {
                Ok(output) => Outcome::Success(output),
                Err(error) => outcome(error),
            }
        })
    }
}

/// Hands a guest's live output on.
struct Listener(LiveOutput);

impl CallListener for Listener {
    fn output(&self, text: &str) {
        self.0.output(text);
    }

    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        self.0.progress(done, total, message);
    }
}

fn outcome(error: CallError) -> Outcome {
    let kind = match &error {
        CallError::Failure(failure) => match failure {
            Failure::InvalidArguments(_) => FailureKind::InvalidArguments,
            Failure::Denied { .. } => FailureKind::Denied,
            Failure::NotFound(_) => FailureKind::NotFound,
            Failure::Conflict(_) => FailureKind::Conflict,
            Failure::Unavailable(_) => FailureKind::Unavailable,
            Failure::Failed(_) => FailureKind::Failed,
            Failure::Cancelled(partial) => {
                let partial = Some(partial.clone()).filter(|partial| !partial.is_empty());
                return Outcome::Cancelled { reason: "the call was told to stop".to_owned(), partial };
            }
        },
        CallError::Admission(AdmissionError::Ungranted(denied)) => {
            return CallFailure::new(FailureKind::Denied, denied.explain()).into();
        }
        CallError::Admission(_) | CallError::Runtime(_) => FailureKind::Failed,
        CallError::Crashed { .. } | CallError::Limit { .. } | CallError::TooMuch { .. } | CallError::NotJson { .. } => {
            FailureKind::Crashed
        }
        CallError::TimedOut { .. } => FailureKind::TimedOut,
    };
    CallFailure::new(kind, error.to_string()).into()
}
