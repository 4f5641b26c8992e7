//! What a user reads about a call that ended, made once for every frontend and for the session log.
//!
//! Promises: the title is one line that is safe to show; a call whose command failed has failed, although its output is
//! an answer for the model; all of it is bounded.
//!
//! Deliberately not here: colours, and how much of the output a frontend shows.

use host_message::{Display, OutputPart};
use host_text::clip;
use host_tool::{Outcome, Printed, ProgramEnd, Response, SettledCall};
use serde::{Deserialize, Serialize};

/// The longest summary of an outcome, in characters: it is one line.
const SUMMARY_CHARACTERS: usize = 160;

/// What a user reads about a call that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// What the call is called on one line, beside the name of its tool; safe to show. Empty if its arguments say
    /// nothing.
    #[serde(default)]
    pub title: String,
    /// One line about its result; empty if there is nothing to say, as of a command that succeeded.
    #[serde(default)]
    pub summary: String,
    /// Whether it failed, or the command that it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// How the command ended that it ran; `None` if it ran none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ProgramEnd>,
    /// The end of what it printed while it ran.
    #[serde(default, skip_serializing_if = "Printed::is_empty")]
    pub printed: Printed,
    /// The name of the file with the whole response, in the folder beside the session log, if the response was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
    /// The BLAKE3 digest of that file, in hexadecimal digits; a log of an older host has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_digest: Option<String>,
}

impl CallReport {
    /// Makes the report of a call that got this response.
    pub fn new(settled: &SettledCall, response: &Response) -> Self {
        let SettledCall { outcome, title, printed, command, .. } = settled;
        let command_failed = command.filter(|command| !command.is_success());
        let failed = match outcome {
            Outcome::Success(_) => command_failed.is_some(),
            Outcome::Error(_) => true,
            Outcome::Cancelled { .. } => false,
        };
        let title = title.to_string();
        let summary = match (outcome, command_failed) {
            (Outcome::Success(_), Some(end)) => end_words(end),
            (_, _) => Some(summary(outcome)).filter(|summary| *summary != title).unwrap_or_default(),
        };
        let name = response.whole.as_ref().and_then(|whole| whole.path.file_name()?.to_str());
        let (whole, whole_digest) =
            (name.map(str::to_owned), response.whole.as_ref().map(|whole| whole.digest.clone()));
        Self { title, summary, failed, command: *command, printed: printed.clone(), whole, whole_digest }
    }
}

/// Returns how a command failed.
fn end_words(end: ProgramEnd) -> String {
    match (end.timed_out, end.signal, end.code) {
        (true, ..) => "ended: no output for too long".to_owned(),
        (false, Some(signal), _) => format!("signal {signal}"),
        (false, None, Some(code)) => format!("exit {code}"),
        (false, None, None) => "ended".to_owned(),
    }
}

/// Summarises an outcome in one line: the tool's own summary, or else the first line of what it returned.
fn summary(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Success(output) => match &output.display {
            Some(Display::Summary(line)) => line.as_str(),
            Some(Display::Difference { unified, .. }) => return changed_lines(unified),
            Some(Display::Checklist { .. }) | None => match output.content.first() {
                Some(OutputPart::Text(text)) => text,
                Some(OutputPart::Link { uri, .. }) => uri,
                Some(OutputPart::Data(data)) => &data.mime_type,
                None => "",
            },
        },
        Outcome::Error(failure) => &failure.message,
        Outcome::Cancelled { reason, .. } => reason,
    };
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    // Trimmed, so no line is after the last break.
    match memchr::memchr_iter(b'\n', text.as_bytes()).count() {
        0 => clip(line, SUMMARY_CHARACTERS).into_owned(),
        breaks => format!("{} ({} lines)", clip(line, SUMMARY_CHARACTERS), breaks + 1),
    }
}

/// Returns the number of added and removed lines of a unified diff, such as `+3 −1`.
fn changed_lines(unified: &str) -> String {
    let (mut added, mut removed) = (0_u64, 0_u64);
    // The names of the files come before the first hunk; within one, any line can begin with `---`.
    for line in unified.lines().skip_while(|line| !line.starts_with("@@")) {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    format!("+{added} −{removed}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use host_message::{CallId, FunctionCall, Output, ToolName};
    use host_tool::{CallFailure, FailureKind};
    use serde_json::Map;

    use super::*;

    fn report(outcome: Outcome, command: Option<ProgramEnd>) -> CallReport {
        let call = FunctionCall::new(CallId::new("c"), ToolName::new("t"), Map::new());
        let settled = SettledCall {
            call: Arc::new(call),
            outcome,
            decided: None,
            duration: Duration::ZERO,
            dropped: 0,
            proposed: None,
            title: "cargo test".into(),
            printed: Printed { tail: vec!["x".to_owned()], lines: 1 },
            command,
            mcp_meta: None,
        };
        CallReport::new(&settled, &Response { parts: Vec::new(), whole: None })
    }

    fn check(outcome: Outcome, command: Option<ProgramEnd>, failed: bool, summary: &str) {
        let report = report(outcome, command);
        assert_eq!((report.failed, report.summary.as_str()), (failed, summary));
    }

    fn ended(code: Option<i32>, signal: Option<i32>, timed_out: bool) -> Option<ProgramEnd> {
        Some(ProgramEnd { code, signal, timed_out })
    }

    fn said(line: &str) -> Outcome {
        let display = Some(Display::Summary(line.to_owned()));
        Outcome::Success(Output {
            content: vec![OutputPart::Text("a\nb".to_owned())],
            structured: None,
            display,
            found: Vec::new(),
        })
    }

    #[test]
    fn call_report_of_a_command_is_by_its_end() {
        check(said("3 tests"), ended(Some(0), None, false), false, "3 tests");
        check(said("all is well"), ended(Some(101), None, false), true, "exit 101");
        check(said("all is well"), ended(None, Some(9), false), true, "signal 9");
        check(said("all is well"), ended(None, Some(15), true), true, "ended: no output for too long");
        check(said("all is well"), ended(Some(0), None, true), true, "ended: no output for too long");
        check(said("all is well"), ended(None, None, false), true, "ended");
        let cancelled = Outcome::Cancelled { reason: "cancelled".to_owned(), partial: None };
        check(cancelled, ended(None, Some(15), false), false, "cancelled");
        let failure = CallFailure::new(FailureKind::NotFound, "no such program\nlook again");
        check(failure.into(), None, true, "no such program (2 lines)");
    }

    #[test]
    fn call_report_says_nothing_twice() {
        check(said("cargo test"), None, false, "");
        check(said(" 12 matches "), None, false, "12 matches");
        check(Outcome::Success(Output::text("one\ntwo")), None, false, "one (2 lines)");
        check(Outcome::Success(Output::default()), None, false, "");
    }

    #[test]
    fn call_report_of_a_change_counts_its_lines() {
        for (unified, summary) in [
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,4 @@\n-a\n+b\n+c\n+d\n e\n", "+3 −1"),
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "+1 −0"),
            // A removed line `-- a` and an added `++ b`.
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +9 @@\n-c\n", "+1 −2"),
            ("", "+0 −0"),
        ] {
            let display = Some(Display::Difference { path: "x".to_owned(), unified: unified.to_owned() });
            check(Outcome::Success(Output { display, ..Output::default() }), None, false, summary);
        }
    }

    #[test]
    fn call_report_names_the_file_of_the_whole_response_without_its_folder() {
        let call = FunctionCall::new(CallId::new("c"), ToolName::new("t"), Map::new());
        let settled = SettledCall {
            call: Arc::new(call),
            outcome: Outcome::Success(Output::default()),
            decided: None,
            duration: Duration::ZERO,
            dropped: 0,
            proposed: None,
            title: "".into(),
            printed: Printed::default(),
            command: None,
            mcp_meta: None,
        };
        let path = PathBuf::from("/home/x/session.outputs/output-3.txt");
        let whole = Some(host_tool::WholeText { path, digest: "ab".to_owned() });
        let report = CallReport::new(&settled, &Response { parts: Vec::new(), whole });
        let json = serde_json::to_string(&report).expect("plain data");
        assert_eq!(json, r#"{"title":"","summary":"","whole":"output-3.txt","whole_digest":"ab"}"#);
        assert_eq!(serde_json::from_str::<CallReport>(&json).expect("it reads what it wrote"), report);
    }
}
