//! The calls of a session that ended, each whole: with its arguments and its whole response.
//!
//! They come from the session log, so they are there after a resumption too, and a session that runs holds none of them
//! in memory. A response that was cut for the model is read from the file that holds the whole of it.
//!
//! Deliberately not here: how a call is shown.

use std::collections::VecDeque;
use std::sync::Arc;

use host_journal::{Artifacts, CallEnd, CallReport, CallStatus, Calls, LoggedCall, Stored};
use host_message::{AgentId, Display, FunctionCall};
use host_settings::error::{ErrorKind, Failure};
use host_tool::title_of_arguments;

/// The furthest call that can be looked at, counted from the last one. Protects memory: a response can have megabytes.
pub const MAX_BACK: usize = 1_000;

/// The largest file with a whole response that is read, in bytes: twice what a tool may return as text.
const MAX_WHOLE: u64 = 16 << 20;

/// A call that ended.
#[derive(Clone, Debug)]
pub struct EndedCall {
    /// The agent whose call it was.
    pub agent: AgentId,
    /// The call as the model wrote it.
    pub call: FunctionCall,
    /// How it ended.
    pub status: CallStatus,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// What a user reads about it.
    pub report: CallReport,
    /// The response: all of it, unless `cut` says why not.
    pub response: String,
    /// Why the response is not whole; `None` if it is.
    pub cut: Option<String>,
    /// A change that it made, or one that it proposed but did not make.
    pub display: Option<Display>,
}

/// A call of a session, and how many there are.
#[derive(Clone, Debug)]
pub struct Found {
    /// The call; `None` if the session has fewer.
    pub call: Option<EndedCall>,
    /// Number of calls that ended.
    pub calls: usize,
}

/// Returns the call that ended last (1), or one before it (2 and more), in the order in which they ended.
///
/// # Errors
///
/// When the log cannot be read.
pub fn ended(stored: &Stored, back: usize) -> Result<Found, Failure> {
    let back = back.clamp(1, MAX_BACK);
    let unreadable = |error: host_journal::ReadError| {
        Failure::from_error(ErrorKind::Input, &error).cause(format!("the session `{}` cannot be read", stored.id))
    };
    let (mut calls, mut last) = (Calls::default(), VecDeque::new());
    let mut ended = 0;
    for logged in stored.records().map_err(unreadable)? {
        let Some(call) = calls.take_in(&logged.map_err(unreadable)?) else { continue };
        ended += 1;
        if last.len() == back {
            last.pop_front();
        }
        last.push_back(call);
    }
    let call = if ended >= back { last.pop_front() } else { None };
    Ok(Found { call: call.and_then(of_log).map(|call| with_whole(call, &stored.artifacts())), calls: ended })
}

/// Returns a call that ended as its log has it.
fn of_log(LoggedCall { prompt, call, end, .. }: LoggedCall) -> Option<EndedCall> {
    let end = Arc::unwrap_or_clone(end?);
    let response = end.response().to_owned();
    let CallEnd { status, duration_ms, display, report, .. } = end;
    let report = report.unwrap_or_else(|| CallReport {
        title: title_of_arguments(&call),
        failed: matches!(status, CallStatus::Error { .. }),
        ..CallReport::default()
    });
    Some(EndedCall { agent: prompt.agent, call, status, duration_ms, report, response, cut: None, display })
}

/// Replaces a response that was cut for the model by the whole of it.
fn with_whole(call: EndedCall, artifacts: &Artifacts) -> EndedCall {
    let Some(name) = call.report.whole.as_deref() else { return call };
    let Some(path) = artifacts.output(name) else {
        let cut =
            Some(format!("the log names a file `{}`, which does not belong to the session", host_text::exact(name)));
        return EndedCall { cut, ..call };
    };
    match host_files::read_found(&path, MAX_WHOLE) {
        Ok(bytes) => EndedCall { response: String::from_utf8_lossy(&bytes).into_owned(), ..call },
        Err(error) => {
            let cut = Some(format!("`{}` cannot be read: {error}", host_text::exact(&path.to_string_lossy())));
            EndedCall { cut, ..call }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use host_journal::{Journals, Sessions};

    use super::*;

    const CALLS: &[(&str, &str)] = &[("one", r#""report":{"title":"a"}"#), ("two", r#""report":{"title":"b"}"#)];

    /// A session whose model made these calls, each with more of its settled entry.
    fn stored(folder: &Path, calls: &[(&str, &str)]) -> Stored {
        let mut log = String::from(
            "{\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"session\",\"version\":1,\"id\":\"s1\",\"pid\":1}\n",
        );
        let line = |log: &mut String, rest: String| {
            log.push_str(&format!(
                "{{\"time\":\"2026-01-01T00:00:01Z\",\"prompt\":{{\"agent\":\"main\",\"turn\":0}},{rest}}}\n"
            ));
        };
        for (id, _) in calls {
            let call = format!(r#"{{"function_call":{{"id":"{id}","name":"t","arguments":{{"path":"{id}.rs"}}}}}}"#);
            line(&mut log, format!(r#""type":"content","content":{{"role":"model","parts":[{call}]}}"#));
        }
        for (id, more) in calls {
            let body = format!(r#"{{"function_response":{{"id":"{id}","name":"t","body":{{"output":"of {id}"}}}}}}"#);
            let more = if more.is_empty() { String::new() } else { format!(",{more}") };
            line(
                &mut log,
                format!(
                    r#""type":"call_settled","call_id":"{id}","status":"success","duration_ms":7,"parts":[{body}]{more}"#
                ),
            );
        }
        std::fs::write(folder.join("s1.jsonl"), log).expect("written");
        let mut all = Sessions::new(folder, folder.join("audit")).list().expect("it is a folder");
        all.pop().expect("one session")
    }

    #[test]
    fn ended_calls_are_counted_from_the_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let stored = stored(folder.path(), CALLS);
        for (back, title, response) in [(1, "b", "of two"), (2, "a", "of one"), (0, "b", "of two")] {
            let found = ended(&stored, back).expect("it is read");
            let call = found.call.expect("there are two");
            assert_eq!((call.report.title.as_str(), call.response.as_str(), found.calls), (title, response, 2));
            assert_eq!((call.duration_ms, call.cut), (7, None));
        }
        let found = ended(&stored, 3).expect("it is read");
        assert!(found.call.is_none() && found.calls == 2);
    }

    #[test]
    fn ended_call_of_an_older_log_has_the_title_of_its_arguments() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = ended(&stored(folder.path(), &[("one", "")]), 1).expect("it is read");
        assert_eq!(found.call.expect("there is one").report.title, "one.rs");
    }

    #[test]
    fn ended_call_whose_response_was_cut_is_read_whole_and_from_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let outputs = folder.path().join("s1.outputs");
        std::fs::create_dir(&outputs).expect("made");
        std::fs::write(outputs.join("output-1.txt"), "all of it").expect("written");
        std::fs::write(folder.path().join("secret.txt"), "secret").expect("written");
        for (name, response, cut) in [
            ("output-1.txt", "all of it", None),
            ("output-2.txt", "of one", Some("cannot be read")),
            ("../secret.txt", "of one", Some("does not belong to the session")),
            ("output-../../secret.txt", "of one", Some("does not belong to the session")),
            ("output-.txt", "of one", Some("does not belong to the session")),
            ("/etc/hosts", "of one", Some("does not belong to the session")),
        ] {
            let more = format!(r#""report":{{"title":"a","whole":"{name}"}}"#);
            let found = ended(&stored(folder.path(), &[("one", &more)]), 1).expect("it is read");
            let call = found.call.expect("there is one");
            assert_eq!(call.response, response, "{name}");
            let said = call.cut.unwrap_or_default();
            assert!(cut.map_or(said.is_empty(), |cut| said.contains(cut)), "{name}: {said}");
        }
    }
}
