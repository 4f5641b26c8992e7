//! Reporting and recording, and what happens when recording fails.

use std::io::{self, Write};
use std::path::PathBuf;

use host_journal::{Clock, SessionLog};
use host_message::SessionId;

use super::*;
use host_journal::TerminateReason::*;

/// A file that has no room from the entry with this word in it on.
#[derive(Clone, Default)]
pub(super) struct Disk {
    full_at: Option<&'static str>,
    text: Arc<Mutex<String>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = std::str::from_utf8(bytes).expect("a line is text");
        if self.full_at.is_some_and(|word| line.contains(word)) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.text.lock().expect("no test panics with it").push_str(line);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk {
    /// The entries as they are written.
    pub(super) fn lines(&self) -> Vec<Value> {
        let text = self.text.lock().expect("no test panics with it");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    pub(super) fn log(&self) -> Arc<dyn Journal> {
        let id = SessionId::new("s").expect("an id");
        let clock = Clock::fixed("2026-03-01T12:00:00Z".parse().expect("a time"));
        let log = SessionLog::onto(Box::new(self.clone()), id, PathBuf::from("/logs/s.jsonl"), clock);
        Arc::new(log.expect("the first line fits"))
    }

    /// The types of the entries, with what each is about.
    fn entries(&self) -> Vec<String> {
        let text = self.text.lock().expect("no test panics with it");
        let entry = |line: &str| {
            let line: Value = serde_json::from_str(line).expect("a line is JSON");
            let about = ["name", "status", "terminate_reason"].map(|key| line[key].as_str().unwrap_or_default());
            let role = line["content"]["role"].as_str().unwrap_or_default();
            format!("{} {}{role}", line["type"].as_str().expect("a type"), about.concat()).trim_end().to_owned()
        };
        text.lines().map(entry).collect()
    }
}

pub(super) fn session(full_at: Option<&'static str>) -> Disk {
    Disk { full_at, text: Arc::default() }
}

#[tokio::test(start_paused = true)]
async fn everything_is_written_down_in_its_order() {
    let disk = session(None);
    let replies = [calls([("write", json!({})), ("wriet", json!({}))]), text("done")];
    let mut bench = bench_with(definition(Completion::Text), replies, Some(disk.log()));
    bench.run().await;
    assert_eq!(
        disk.entries(),
        [
            "session",
            "run_started",
            "content user",
            "usage",
            "content model",
            "call_settled error",
            "call_started write",
            "call_settled success",
            "usage",
            "content model",
            "run_ended GOAL",
        ]
    );
    let text = disk.text.lock().expect("no test panics with it").clone();
    assert!(text.contains("You test tests.") && text.contains("write did it"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_nothing_came_of_is_withdrawn() {
    let disk = session(None);
    let replies = [hangs("half"), text("done")];
    bench_with(definition(Completion::Text), replies, Some(disk.log())).run().await;
    let want = [
        "content user",
        "withdrawn",
        "recovery_started",
        "content user",
        "usage",
        "content model",
        "run_ended TIMEOUT",
    ];
    assert_eq!(disk.entries()[2..], want);
}

#[tokio::test(start_paused = true)]
async fn initial_messages_are_written_down_once() {
    let disk = session(None);
    let mut definition = definition(Completion::Text);
    definition.prompt.initial_messages.push(crate::InitialMessage { role: Role::Model, text: "Ready.".to_owned() });
    let mut bench = bench_with(definition, [text("one")], Some(disk.log()));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let going_on = std::mem::replace(&mut bench.cancel, cancelled);
    bench.run().await;
    bench.cancel = going_on;
    bench.run().await;
    assert_eq!(disk.entries()[1..4], ["run_started", "history_replaced", "run_ended ABORTED"]);
    assert_eq!(disk.entries()[4..], ["run_started", "content user", "usage", "content model", "run_ended GOAL"]);
}

// promise session.recorded: No call runs before it is recorded, and no call that was recorded as done runs again,
//   wherever the process was killed.
#[tokio::test(start_paused = true)]
async fn record_call_that_cannot_be_recorded_does_not_run() {
    let writes = || calls([("read", json!({})), ("write", json!({})), ("write", json!({}))]);
    // The entry for which there is no room, and the calls that ran.
    for (full_at, ran) in [
        ("run_started", ""),
        ("\"role\":\"user\"", ""),
        ("\"role\":\"model\"", ""),
        ("\"call_id\":\"main#0-1\"", "read"),
        ("read did it", "read"),
        ("write did it", "read write"),
    ] {
        let disk = session(Some(full_at));
        let mut bench = bench_with(definition(Completion::Text), [writes()], Some(disk.log()));
        let result = bench.run().await;
        assert_eq!((result.terminate_reason, result.result), (Error, None), "{full_at}");
        let error = result.error.expect("it says why");
        assert!(matches!(error, RunError::Session(host_journal::SessionError::Write { .. })), "{full_at}: {error:?}");
        assert_eq!(error.advice(), Some("free space on the disk that holds `/logs/s.jsonl` and run again".into()));
        let lines = bench.watcher.lines.lock().expect("no test panics with it");
        let worked = lines.iter().filter(|line| line["type"] == "call_settled" && line["status"] == "success");
        let name = |line: &Value| line["parts"][0]["function_response"]["name"].as_str().map(str::to_owned);
        let worked: Vec<_> = worked.filter_map(name).collect();
        assert_eq!(worked.join(" "), ran, "{full_at}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_recorded_is_handed_over_as_partial() {
    let disk = session(Some("run_ended"));
    let mut bench = bench_with(definition(Completion::Text), [text("found")], Some(disk.log()));
    assert_eq!(came_to(&bench.run().await), (Error, None, Some("found"), 1));
    assert_eq!(bench.watcher.types().last().map(String::as_str), Some("run_ended"));
}

#[tokio::test(start_paused = true)]
async fn every_step_is_an_event() {
    let thoughtful = reply(vec![Part::thought("**Look** first"), Part::text("I look."), call("read", json!({}))]);
    let mut bench = bench(definition(Completion::Text), [thoughtful, text("done")]);
    bench.run().await;
    assert_eq!(
        bench.watcher.types(),
        [
            "run_requested",
            "asked",
            "run_started",
            "turn_started",
            "content",
            "thought",
            "content",
            "finished",
            "usage",
            "content",
            "tool_call_request",
            "call_started",
            "tool_call_output",
            "call_settled",
            "turn_started",
            "content",
            "finished",
            "usage",
            "content",
            "run_ended",
        ]
    );
    let lines = bench.watcher.lines.lock().expect("no test panics with it");
    assert_eq!(
        lines[5],
        json!({"agent": "tester", "agent_id": "main", "type": "thought", "subject": "Look", "text": "**Look** first"})
    );
    assert_eq!(
        lines[13],
        json!({
            "agent": "tester", "agent_id": "main", "type": "call_settled", "call_id": "main#0-0",
            "prompt": {"agent": "main", "turn": 0}, "status": "success", "decided": "allowed", "duration_ms": 0,
            "parts": [{"function_response": {
                "id": "main#0-0", "name": "read", "body": {"output": "read did it"},
            }}],
            "report": {"title": "", "summary": "read did it", "printed": {"tail": ["working"], "lines": 1}},
        })
    );
    assert_eq!(
        lines[19],
        json!({
            "agent": "tester", "agent_id": "main", "type": "run_ended", "terminate_reason": "GOAL", "result": "done",
            "turns": 2, "usage": {"input": 20, "output": 2, "cached": 0, "thought": 0},
        })
    );
}
