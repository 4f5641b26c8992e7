//! The checks of a session: the commands of `[check]`, run before a run that changed files ends.
//!
//! Promises: the commands are those of the configuration as it was when the session began, so that nothing that the run
//! changes decides what is checked; those of a project are only there if it is trusted.
//!
//! Deliberately not here: when they run and what follows (`host-agent`), and their walls (`host-plugin`).

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_agent::{CheckEnd, Checks};
use host_capability::Resources;
use host_journal::CheckResult;
use host_plugin::{HookCommand, HookEnd, Runtime};
use host_process::ConfineMode;
use host_settings::configuration::CheckSettings;
use host_text::counted;
use host_undo::{CallRecorder, Recorder};

/// How the changes of checks are named in the journal of undo.
pub const CHECK: &str = "check-";

/// The checks of one session.
pub struct SessionChecks {
    /// What is checked.
    pub settings: CheckSettings,
    /// Runs the commands.
    pub runtime: Arc<Runtime>,
    /// The folder that they run in.
    pub workspace: PathBuf,
    /// Whether they are confined.
    pub confine: ConfineMode,
    /// Knows what changed, and keeps what the commands change.
    pub changes: Arc<Recorder>,
}

impl SessionChecks {
    async fn ended(&self, line: &str) -> CheckEnd {
        let id = format!("{CHECK}{}", jiff::Timestamp::now().as_millisecond());
        // One stream, so that errors stand where they were printed. A line of its own: `line` may be any.
        let line = format!("exec 2>&1\n{line}");
        let command = HookCommand {
            argv: ["sh".to_owned(), "-c".to_owned(), line].into(),
            directory: self.workspace.clone(),
            environment: Vec::new(),
            resources: Resources::default(),
            confine: self.confine,
            only_reads: false,
            limit: self.settings.limit,
            changes: Some(CallRecorder::new(Arc::clone(&self.changes), &id)),
        };
        let (end, output) = self.runtime.run_check(&command).await;
        let (result, reason) = match end {
            HookEnd::Code(0) => (CheckResult::Passed, String::new()),
            // What a shell says of a program that it cannot find or start.
            HookEnd::Code(code @ (126 | 127)) => (
                CheckResult::NotStarted,
                format!("exit code {code}, which a shell has for a program that it cannot start"),
            ),
            HookEnd::Code(code) => (CheckResult::Failed, format!("exit code {code}")),
            HookEnd::Signal(signal) => (CheckResult::Failed, format!("signal {signal}")),
            HookEnd::TimedOut => {
                let limit = counted(self.settings.limit.as_secs(), "second");
                (CheckResult::TimedOut, format!("it was ended after {limit} (`seconds` of [check])"))
            }
            HookEnd::TooMuch => (CheckResult::Failed, "it printed too much".to_owned()),
            HookEnd::NotStarted(why) => (CheckResult::NotStarted, why),
        };
        CheckEnd { result, reason, output }
    }
}

impl Checks for SessionChecks {
    fn commands(&self) -> &[String] {
        &self.settings.commands
    }

    fn attempts(&self) -> u32 {
        self.settings.attempts
    }

    fn changes(&self) -> usize {
        // Nothing is made by looking.
        if !self.changes.folder().exists() {
            return 0;
        }
        // Where the journal cannot be opened, nothing can be changed either.
        self.changes.with_journal(|journal| journal.changes().len() + journal.gaps().len()).unwrap_or_default()
    }

    fn run<'a>(&'a self, command: &'a str) -> BoxFuture<'a, CheckEnd> {
        self.ended(command).boxed()
    }
}
