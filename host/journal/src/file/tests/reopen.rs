//! Resumed logs: the lock, the repaired end, the calls that were left behind.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use serde_json::json;

use super::*;

/// A log file with these lines behind the first.
fn file(folder: &tempfile::TempDir, lines: &[Value]) -> PathBuf {
    let path = folder.path().join("s1.jsonl");
    let time = "2026-03-01T12:00:00Z";
    let first = json!({"time": time, "type": "session", "version": 1, "id": "s1", "pid": 4711, "workspace": "/work"});
    let mut text = format!("{first}\n");
    for line in lines {
        let mut line = line.clone();
        line["time"] = time.into();
        text += &format!("{line}\n");
    }
    fs::write(&path, text).expect("written");
    path
}

fn question(turn: u32) -> Value {
    json!({"type": "content", "prompt": {"agent": "main", "turn": turn}, "content": Content::user("do it")})
}

fn calls(turn: u32, ids: &[&str]) -> Value {
    let parts: Vec<_> =
        ids.iter().map(|id| json!({"function_call": {"id": id, "name": "write", "arguments": {}}})).collect();
    let content = json!({"role": "model", "parts": parts});
    json!({"type": "content", "prompt": {"agent": "main", "turn": turn}, "content": content})
}

fn begun(turn: u32, id: &str) -> Value {
    json!({"type": "call_started", "prompt": {"agent": "main", "turn": turn}, "call_id": id, "name": "write"})
}

fn settled(turn: u32, id: &str) -> Value {
    let response = json!({"function_response": {"id": id, "name": "write", "body": {"output": "done"}}});
    json!({
        "type": "call_settled", "prompt": {"agent": "main", "turn": turn}, "call_id": id, "status": "success",
        "duration_ms": 1, "parts": [response],
    })
}

fn reopen(path: &Path) -> Result<Reopened, SessionError> {
    SessionLog::reopen(path, clock(), &chains(path.parent().expect("a folder")))
}

/// Returns the outcomes that the model gets last, a word for each.
fn told(past: &Past) -> Vec<String> {
    let last = past.history().contents().last();
    let words = last.iter().flat_map(|last| last.function_responses()).map(|response| {
        let text = response.body.text();
        let word = ["interrupted", "not run", "done"].into_iter().find(|word| text.contains(word));
        format!("{} {}", response.id, word.unwrap_or(text))
    });
    words.collect()
}

#[test]
fn session_log_call_that_ran_is_interrupted_and_one_that_had_not_begun_is_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [question(0), calls(0, &["a", "b", "c"]), begun(0, "b"), settled(0, "b"), begun(0, "a")];
    let path = file(&folder, &lines);
    let reopened = reopen(&path).expect("it is whole");
    assert_eq!(reopened.recorded().past(&AgentId::new("main")).map(Past::left), Some(Left::Outcomes));
    let (log, recorded) = reopened.resume(&model()).expect("there is room");
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!(told(&past), ["a interrupted", "b done", "c not run"]);
    drop(log);
    let text = fs::read_to_string(&path).expect("read");
    let added: Vec<Value> = text.lines().skip(6).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let short: Vec<_> = added.iter().map(|line| (&line["type"], &line["call_id"], &line["status"])).collect();
    assert_eq!(
        short,
        [
            (&json!("resumed"), &Value::Null, &Value::Null),
            (&json!("call_settled"), &json!("a"), &json!("interrupted")),
            (&json!("call_settled"), &json!("c"), &json!("cancelled")),
        ]
    );
    // Resuming once more finds nothing open, and the same conversation.
    let (_, again) = reopen(&path).expect("it is whole").resume(&model()).expect("there is room");
    let again = again.into_past(&AgentId::new("main"));
    assert_eq!(again.history().contents(), past.history().contents());
}

// promise tools.resumed: A call that another call made is settled before it when the session is resumed, and no model
//   gets it.
#[test]
fn session_log_nested_calls_that_were_left_behind_settle_before_their_parent() {
    let nested = |id: &str| {
        let call = json!({"id": id, "name": "write", "arguments": {}});
        json!({"type": "nested_call", "prompt": {"agent": "main", "turn": 0}, "parent": "a", "call": call})
    };
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        question(0),
        calls(0, &["a"]),
        begun(0, "a"),
        nested("a.1"),
        nested("a.2"),
        nested("a.3"),
        begun(0, "a.1"),
        settled(0, "a.1"),
        begun(0, "a.2"),
    ];
    let path = file(&folder, &lines);
    let (log, recorded) = reopen(&path).expect("it is whole").resume(&model()).expect("there is room");
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!(told(&past), ["a interrupted"]);
    drop(log);
    let text = fs::read_to_string(&path).expect("read");
    let added: Vec<Value> = text.lines().skip(11).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let short: Vec<_> = added.iter().map(|line| format!("{} {}", line["call_id"], line["status"])).collect();
    assert_eq!(short, ["\"a.2\" \"interrupted\"", "\"a.3\" \"cancelled\"", "\"a\" \"interrupted\""]);
    // What never was a call of this reply is damage, and so is a second end.
    for lines in [
        vec![question(0), calls(0, &["a"]), begun(0, "a.1")],
        vec![question(0), calls(0, &["a"]), nested("a")],
        vec![question(0), calls(0, &["a"]), nested("a.1"), settled(0, "a.1"), settled(0, "a.1")],
    ] {
        let path = file(&folder, &lines);
        let error = reopen(&path).err();
        assert!(matches!(error, Some(SessionError::Read { cause: ReadError::Damaged { .. }, .. })), "{error:?}");
    }
}

#[test]
fn session_log_shows_what_was_left_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = |turn: u32| json!({"type": "content", "prompt": {"agent": "main", "turn": turn}, "content": Content::model("done")});
    let withdrawn = json!({"type": "withdrawn", "prompt": {"agent": "main", "turn": 0}});
    let recovery = json!({"type": "recovery_started", "agent_id": "main", "reason": "MAX_TURNS"});
    let ended = |reason: &str| {
        let usage = json!({"input": 0, "output": 0, "cached": 0, "thought": 0});
        json!({"type": "run_ended", "agent_id": "main", "terminate_reason": reason, "turns": 1, "usage": usage})
    };
    let called = [question(0), calls(0, &["a"]), settled(0, "a")];
    for (lines, left) in [
        (vec![], Left::Nothing),
        (vec![question(0)], Left::Question),
        (vec![question(0), withdrawn.clone(), ended("TIMEOUT")], Left::Question),
        // A failed or cancelled message is not sent again.
        (vec![question(0), withdrawn.clone(), ended("ERROR")], Left::Nothing),
        (vec![question(0), withdrawn.clone(), ended("ABORTED")], Left::Nothing),
        (vec![question(0), answer(0)], Left::Nothing),
        (called.to_vec(), Left::Outcomes),
        ([&called[..], &[ended("MAX_TURNS")]].concat(), Left::Outcomes),
        ([&called[..], &[ended("GOAL")]].concat(), Left::Nothing),
        ([&called[..], &[answer(1)]].concat(), Left::Nothing),
        // The host's own warning is not a question.
        ([&called[..], &[recovery, question(1)]].concat(), Left::Outcomes),
    ] {
        let path = file(&folder, &lines);
        let recorded = reopen(&path).expect("it is whole").resume(&model()).expect("there is room").1;
        assert_eq!(recorded.into_past(&AgentId::new("main")).left(), left, "{lines:?}");
    }
}

#[test]
fn session_log_withdrawn_message_is_not_part_of_the_conversation() {
    let folder = tempfile::tempdir().expect("a folder");
    let withdrawn = json!({"type": "withdrawn", "prompt": {"agent": "main", "turn": 1}});
    let path = file(&folder, &[question(0), calls(0, &["a"]), settled(0, "a"), question(1), withdrawn]);
    let recorded = reopen(&path).expect("it is whole").resume(&model()).expect("there is room").1;
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!((past.history().contents().len(), past.left()), (3, Left::Question));
    assert_eq!(past.into_parts().next_prompt, 2, "the number of a withdrawn request is not taken again");
}

#[test]
fn a_replaced_history_is_the_conversation_from_there_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = [Content::user("in short"), Content::model("understood")];
    let replaced = json!({"type": "history_replaced", "agent_id": "main", "contents": short});
    let lines = [question(0), calls(0, &["a"]), settled(0, "a"), replaced, calls(7, &["b"]), settled(7, "b")];
    let recorded = reopen(&file(&folder, &lines)).expect("it is whole").resume(&model()).expect("there is room").1;
    let past = recorded.into_past(&AgentId::new("main"));
    assert_eq!(past.history().contents()[..2], short);
    assert_eq!((past.history().contents().len(), told(&past)), (4, vec!["b done".to_owned()]));
    assert_eq!(past.into_parts().next_prompt, 8);
}

// promise session.recorded
#[test]
fn a_log_that_broke_off_at_any_byte_is_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [question(0), calls(0, &["a", "b"]), begun(0, "a"), settled(0, "a"), begun(0, "b")];
    let whole = fs::read(file(&folder, &lines)).expect("read");
    let first = whole.iter().position(|byte| *byte == b'\n').expect("there are lines");
    let path = folder.path().join("s1.jsonl");
    for end in first..=whole.len() {
        fs::write(&path, &whole[..end]).expect("written");
        let (log, recorded) = reopen(&path).expect("it is only torn").resume(&model()).expect("there is room");
        let past = recorded.into_past(&AgentId::new("main"));
        drop(log);
        let text = fs::read_to_string(&path).expect("read");
        let kept = end
            - text
                .lines()
                .find_map(|line| {
                    let line: Value = serde_json::from_str(line).expect("each line is JSON");
                    (line["type"] == "resumed").then(|| line["torn_bytes"].as_u64().expect("a number") as usize)
                })
                .expect("it says that it is resumed");
        assert_eq!(text.as_bytes()[..kept], whole[..kept], "nothing whole is lost at {end}");
        let again = Recorded::read(&mut Records::new(text.as_bytes())).expect("it is whole again");
        let again = again.into_past(&AgentId::new("main"));
        assert_eq!(again.history().contents(), past.history().contents(), "at {end}");
        assert!(crate::History::from_contents(past.history().contents().to_vec()).is_ok(), "at {end}");
    }
}

#[test]
fn a_session_is_written_by_one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = create(folder.path()).expect("it can be made");
    let path = log.path().to_owned();
    let error = reopen(&path).expect_err("it is being written");
    let us = std::process::id();
    assert_eq!(error.to_string(), format!("the session log `{}` is being written by process {us}", path.display()));
    assert_eq!(error.help(), format!("wait until process {us} has ended, or end it, and try again"));
    drop(log);
    let first = reopen(&path).expect("nobody holds it any more");
    assert!(matches!(reopen(&path), Err(SessionError::Held { .. })));
    let (log, _) = first.resume(&model()).expect("there is room");
    assert!(matches!(reopen(&path), Err(SessionError::Held { .. })));
    drop(log);
    reopen(&path).expect("nobody holds it any more");
}

#[test]
fn a_damaged_log_is_not_continued_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder, &[question(0)]);
    let mut log = OpenOptions::new().append(true).open(&path).expect("open");
    std::io::Write::write_all(&mut log, b"rubbish\n{}").expect("written");
    let before = fs::read(&path).expect("read");
    let error = reopen(&path).expect_err("it is damaged");
    assert!(matches!(error, SessionError::Read { cause: ReadError::Damaged { line: 3, .. }, .. }), "{error:?}");
    assert_eq!(fs::read(&path).expect("read"), before);
}

#[test]
fn the_session_that_was_written_last_comes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = sessions(&folder.path().join("sessions"));
    assert_eq!(sessions.list().expect("no folder is no session"), []);
    let logs = [0, 1, 2].map(|_| create(&folder.path().join("sessions")).expect("it can be made"));
    for name in ["notes.txt", "a b.jsonl", "x.outputs"] {
        fs::write(folder.path().join("sessions").join(name), "").expect("written");
    }
    for (log, seconds) in logs.iter().zip([20, 30, 10]) {
        let file = OpenOptions::new().append(true).open(log.path()).expect("open");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).expect("set");
    }
    let all = sessions.list().expect("listed");
    assert_eq!(all.iter().map(|stored| &stored.id).collect::<Vec<_>>(), [logs[1].id(), logs[0].id(), logs[2].id()]);
    assert_eq!(all[0].workspace().expect("it says so").as_deref(), Some("/work"));
}
