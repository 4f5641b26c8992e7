//! Logs that are hostile: whatever lies in them is shown, exported and listed without a panic, and safely.

use std::path::PathBuf;

use host_journal::{Journals, Sessions, Stored};
use host_message::{Content, SessionId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{list, markdown, show};
use crate::transcript::Transcript;

/// A log with everything in it that is shown, full of what steers a terminal.
fn log() -> Vec<String> {
    let prompt = json!({"agent": "main\u{1b}", "turn": 0});
    let bad = "\u{1b}[2J\u{9b}31m\u{202e}```</details>";
    let calls = json!({"role": "model", "parts": [
        {"text": bad, "thought": true}, {"text": bad}, {"inline_data": {"mime_type": bad, "base64": "AA"}},
        {"function_call": {"id": bad, "name": bad, "arguments": {bad: bad}}},
    ]});
    let outcome = json!([{"function_response": {"id": bad, "name": bad, "body": {"error": bad}}}]);
    let usage = json!({"input": u64::MAX, "output": 1, "cached": 0, "thought": 0});
    let entries = [
        json!({"type": "session", "version": 1, "id": "s1", "workspace": bad, "model": bad}),
        json!({"type": "run_started", "agent": bad, "agent_id": "main\u{1b}", "model": bad, "system": bad}),
        json!({"type": "content", "prompt": prompt, "content": Content::user(bad)}),
        json!({"type": "usage", "prompt": prompt, "usage": usage}),
        json!({"type": "content", "prompt": prompt, "content": calls}),
        json!({"type": "call_started", "prompt": prompt, "call_id": bad, "name": bad}),
        json!({
            "type": "call_settled", "prompt": prompt, "call_id": bad, "status": "success", "duration_ms": u64::MAX,
            "parts": outcome, "display": {"difference": {"path": bad, "unified": bad}},
            "report": {"title": bad, "summary": bad, "failed": true, "printed": {"tail": [bad], "lines": u64::MAX}},
        }),
        json!({"type": "history_replaced", "agent_id": "main\u{1b}", "contents": [Content::user(bad)]}),
        json!({"type": "withdrawn", "prompt": prompt}),
        json!({"type": "recovery_started", "agent_id": "main\u{1b}", "reason": "TIMEOUT"}),
        json!({"type": "error", "agent_id": "main\u{1b}", "message": bad}),
        json!({
            "type": "run_ended", "agent_id": "main\u{1b}", "terminate_reason": "GOAL", "turns": u32::MAX, "usage": usage,
        }),
        json!({"type": "resumed", "pid": 1, "model": bad, "torn_bytes": 0}),
    ];
    let timed = |mut entry: Value| {
        entry["time"] = "2026-03-01T12:00:00Z".into();
        entry.to_string()
    };
    entries.map(timed).to_vec()
}

/// Shows, exports and lists a log, and fails when anything of it would steer a terminal.
fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("s1.jsonl");
    std::fs::write(&path, bytes).expect("written");
    let all = Sessions::new(folder.path(), folder.path().join("audit")).list().expect("listed");
    let [stored] = all.as_slice() else { panic!("there is one") };
    assert_eq!(stored.id, SessionId::new("s1").expect("an id"));
    let transcript = |stored: &Stored| Transcript::read(stored);
    let listed = crate::list::list(&Sessions::new(folder.path(), folder.path().join("audit")), None).expect("listed");
    let mut texts = vec![list::text(&listed, true), list::json(&listed).expect("plain data")];
    texts.push(show::text(&transcript(stored)));
    texts.push(markdown::text(&transcript(stored)));
    texts.push(transcript(stored).json().expect("plain data"));
    for text in &texts {
        assert!(host_text::visible(text) == *text, "{text:?}");
    }
    let entries = |json: &str| serde_json::from_str::<Value>(json).expect("it is still JSON")["entries"].clone();
    assert!(entries(&texts[4]).is_array());
}

// promise session.tampered
#[test]
fn session_show_cannot_control_the_terminal_wherever_the_log_breaks_off() {
    let whole = log().join("\n") + "\n";
    for end in 0..=whole.len() {
        check(&whole.as_bytes()[..end]);
    }
    assert!(whole.contains("\u{9b}"), "the log holds what must not get through");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    // promise session.tampered
    #[test]
    fn no_log_makes_a_command_panic(
        order in prop::collection::vec(prop::sample::select(log()), 0..20),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut text = (std::iter::once(log()[0].clone()).chain(order).collect::<Vec<_>>().join("\n") + "\n").into_bytes();
        text.extend(&bytes);
        check(&text);
        check(&bytes);
    }
}
