//! `/output` and Ctrl-O: a call of the session whole, in the pager.
//!
//! Ctrl-O works while the model does, so a task of its own waits for the key.
//!
//! Deliberately not here: finding the call (`host_app::session::ended_calls`), and running the pager (`pager`).

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use host_app::session::Session;
use host_app::session::ended_calls::{self, EndedCall, Found};
use host_app::session::find;
use host_journal::{CallStatus, Sessions};
use host_message::{Display, SessionId};
use host_settings::error::Failure;
use host_terminal::Terminal;
use host_text::{clip, counted, exact};
use serde_json::Value;
use tokio::task::AbortHandle;

use crate::exit;
use crate::pager::Pager;
use crate::printer::Style;

/// The longest argument that is shown whole, in characters: a file's content is not what a user looks for here.
const ARGUMENT: usize = 20_000;

/// Shows calls of a session.
#[derive(Clone)]
pub(super) struct CallPages {
    terminal: Terminal,
    pager: Pager,
    sessions: Sessions,
    /// The session that is under way; `/clear` begins another one.
    session: Arc<Mutex<SessionId>>,
}

/// Waits for Ctrl-O until it is dropped.
pub(super) struct PageTask(AbortHandle);

impl Drop for PageTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CallPages {
    pub(super) fn new(session: &Session, terminal: Terminal) -> Self {
        let pager = Pager::from_environment(&session.app().environment, terminal.mode());
        let sessions = Sessions::new(&session.app().folders.sessions);
        Self { terminal, pager, sessions, session: Arc::new(Mutex::new(session.id().clone())) }
    }

    /// Looks at this session from now on.
    pub(super) fn follow(&self, session: &SessionId) {
        session.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows the last call at each Ctrl-O.
    pub(super) fn listen(&self, style: Style) -> PageTask {
        let pages = self.clone();
        let listening = tokio::spawn(async move {
            loop {
                pages.terminal.expands().await;
                if let Err(failure) = pages.show(None).await {
                    pages.terminal.lines(&exit::words(&failure, style));
                }
            }
        });
        PageTask(listening.abort_handle())
    }

    /// Shows a call: the last one, or another one, counted from the last.
    pub(super) async fn show(&self, back: Option<&str>) -> Result<(), Failure> {
        let back = back.map_or(Ok(1), parse)?;
        let id = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stored = find::by_id(&self.sessions, id.as_str())?;
        // A long log takes its time, and the model may be at work.
        let reading = tokio::task::spawn_blocking(move || ended_calls::ended(&stored, back));
        let found = reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let Found { call, calls } = found?;
        let Some(call) = call else {
            return Err(match calls {
                0 => Failure::input("no call has ended in this session yet"),
                calls => Failure::input(format!("there is no call {back}: {} ended", counted(calls, "call")))
                    .help("/output 1 is the last call, 2 the one before it"),
            });
        };
        self.pager.show(&self.terminal, &page(&call, back, calls)).await;
        Ok(())
    }
}

fn parse(back: &str) -> Result<usize, Failure> {
    let number = back.parse().ok().filter(|back| (1..=ended_calls::MAX_BACK).contains(back));
    number.ok_or_else(|| {
        let most = ended_calls::MAX_BACK;
        Failure::input(format!("`{}` is not a number from 1 to {most}", exact(&clip(back, 40))))
            .help("/output shows the last call, /output 2 the one before it")
    })
}

/// The text of a call.
fn page(call: &EndedCall, back: usize, calls: usize) -> String {
    let EndedCall { agent, call: made, status, duration_ms, report, response, cut, display } = call;
    let mark = match status {
        _ if report.failed => "✗",
        CallStatus::Success => "✓",
        CallStatus::Error { .. } => "✗",
        CallStatus::Cancelled | CallStatus::Interrupted => "■",
    };
    let mut text = [mark, made.name.as_str(), &report.title].join(" ").trim_end().to_owned();
    if !report.summary.is_empty() {
        // A string takes everything, here and below.
        let _ = write!(text, " · {}", report.summary);
    }
    let _ = writeln!(text, " ({}.{} s)", duration_ms / 1_000, duration_ms % 1_000 / 100);
    let whose = if agent.is_subagent() { format!(" · agent {agent}") } else { String::new() };
    let _ = writeln!(text, "call {} of {calls}{whose}", calls.saturating_sub(back) + 1);
    if !made.arguments.is_empty() {
        text.push_str("\nArguments\n");
    }
    for (name, value) in &made.arguments {
        match value {
            Value::String(value) if value.contains('\n') => {
                let _ = writeln!(text, "  {name}:");
                clip(value, ARGUMENT).lines().for_each(|line| text.extend(["    ", line, "\n"]));
            }
            Value::String(value) => {
                let _ = writeln!(text, "  {name}: {}", clip(value, ARGUMENT));
            }
            value => {
                let _ = writeln!(text, "  {name}: {}", clip(&value.to_string(), ARGUMENT));
            }
        }
    }
    if let Some(Display::Difference { unified, .. }) = display {
        let made = if *status == CallStatus::Success { "Change" } else { "Proposed change" };
        let _ = writeln!(text, "\n{made}\n{}", unified.trim_end());
    }
    let _ = writeln!(text, "\nResponse\n{}", response.trim_end());
    if let Some(why) = cut {
        let _ = writeln!(text, "\nThe response was cut: {why}");
    }
    text
}

#[cfg(test)]
mod tests {
    use host_journal::CallReport;
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use serde_json::json;

    use super::*;

    #[test]
    fn output_page_has_arguments_and_response() {
        let arguments = json!({"command": "make\nmake test", "directory": "sub", "n": 3});
        let arguments = arguments.as_object().cloned().expect("an object");
        let report = CallReport {
            title: "make↵ make test (in sub)".to_owned(),
            summary: "exit 2".to_owned(),
            failed: true,
            ..CallReport::default()
        };
        let call = EndedCall {
            agent: AgentId::new("main"),
            call: FunctionCall::new(CallId::new("c"), ToolName::new("shell"), arguments),
            status: CallStatus::Success,
            duration_ms: 3_249,
            report,
            response: "Output:\na\nb\nExit code: 2\n".to_owned(),
            cut: Some("the disk is gone".to_owned()),
            display: None,
        };
        let expected = "✗ shell make↵ make test (in sub) · exit 2 (3.2 s)\ncall 4 of 5\n\nArguments\n  command:\n    make\n    make test\n  directory: sub\n  n: 3\n\nResponse\nOutput:\na\nb\nExit code: 2\n\nThe response was cut: the disk is gone\n";
        assert_eq!(page(&call, 2, 5), expected);
    }

    #[test]
    fn output_number_is_counted_from_the_last() {
        assert_eq!(parse("2").ok(), Some(2));
        for wrong in ["0", "-1", "x", "1001", "99999999999999999999", "\u{1b}[2J"] {
            let failure = parse(wrong).expect_err(wrong);
            assert!(failure.message.ends_with("is not a number from 1 to 1000") && !failure.message.contains('\u{1b}'));
        }
    }
}
