//! Ctrl-C in each phase, and how a conversation ends.

use super::*;

#[test]
fn conversation_continues_after_ctrl_c_stops_a_reply() {
    let (_host, mut pty) = talk(&[hangs("I begin"), answers("next", "Still here.")], &[]);
    pty.types("first\r").sees("I begin").types("\u{3}").sees("stopped").types("next\r").sees("Still here.");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn ctrl_c_stops_a_call_keeps_what_it_printed_and_gives_back_what_was_queued() {
    let replies = [waits_for_go(), answers("second", "After it.")];
    let (_host, mut pty) = talk(&replies, &["--approval-mode", "yolo"]);
    pty.types("first\r").sees("begun").types("second\r").sees("next turn › second").types("\u{3}").sees("stopped");
    pty.sees("yolo › second").types("\r").sees("After it.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_second_ctrl_c_while_it_stops_leaves_at_once() {
    let command = "trap '' TERM INT; echo begun; while :; do sleep 1; done";
    let replies = [json!({"chunks": [call("shell", json!({"command": command}))]})];
    let (_host, mut pty) = talk(&replies, &["--approval-mode", "yolo"]);
    pty.types("first\r").sees("begun").types("\u{3}\u{3}");
    assert_eq!(pty.ends(), Some(130));
}

#[test]
fn at_the_prompt_ctrl_c_clears_and_the_second_on_an_empty_line_leaves() {
    let (_host, mut pty) = talk(&[], &[]);
    pty.types("some words\u{3}").until("a clear line", |screen| !screen.contains("some words"));
    pty.types("\u{3}")
        .sees("press Ctrl-C again")
        .types("x\u{7f}")
        .until("it was taken back", |screen| !screen.contains("press Ctrl-C again"));
    pty.types("\u{3}").sees("press Ctrl-C again").types("\u{3}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_signal_is_a_ctrl_c_and_those_that_end_a_process_end_it() {
    let (_host, mut pty) = talk(&[hangs("I begin")], &[]);
    pty.types("first\r").sees("I begin").signal(Signal::INT).sees("stopped").signal(Signal::INT);
    pty.sees("press Ctrl-C again").signal(Signal::TERM);
    assert_eq!(pty.ends(), Some(130));
    let (_host, mut pty) = talk(&[hangs("I begin")], &[]);
    pty.types("first\r").sees("I begin").signal(Signal::TERM);
    assert_eq!(pty.ends(), Some(130));
    let (_host, mut pty) = talk(&[], &[]);
    pty.signal(Signal::HUP);
    assert_eq!(pty.ends(), Some(130));
}

#[test]
fn conversation_continues_after_a_prompt_that_fails_is_reported() {
    let fails = json!({"chunks": [{"error": {"kind": "authentication", "message": "gone", "status": 401}}]});
    let (_host, mut pty) = talk(&[fails, answers("again", "Better.")], &[]);
    pty.types("first\r").sees("error:").sees("default › ").types("again\r").sees("Better.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_prompt_that_is_stopped_or_fails_in_a_later_round_is_taken_back_also_for_a_later_process() {
    let look = || json!({"chunks": [call("ls", json!({}))]});
    let fails = json!({"chunks": [{"error": {"kind": "server", "message": "it broke"}}]});
    let replies = [
        answer("One."),
        look(),
        look(),
        hangs("third round"),
        look(),
        look(),
        fails,
        json!({"expect": {"last_text": "better"}, "chunks": [{"text": "Two."}]}),
    ];
    let (host, mut pty) = talk(&replies, &[]);
    pty.types("first\r").sees("One.").types("bad words\r").sees("third round").types("\u{3}");
    pty.sees("stopped; the prompt was removed").types("worse words\r").sees("it broke");
    pty.until("it is taken back too", |screen| screen.matches("was removed").count() == 2);
    pty.types("better\r").sees("Two.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let taken: Vec<_> = host.session().into_iter().filter(|entry| entry["type"] == "taken_back").collect();
    assert_eq!(taken.iter().map(|entry| &entry["messages"]).collect::<Vec<_>>(), [2, 2]);
    // The request of another process has all that is left: two prompts with their answers, and the new one.
    let script = host.home().join("next.jsonl");
    std::fs::write(&script, format!("{}\n", answers("third", "Three."))).expect("written");
    let ended = host.run_of(&["run", "--resume", "--model", &format!("scripted:{}", script.display()), "third"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Three.\n", ""), "{ended:?}");
    let asked: Vec<_> = host.session().into_iter().filter(|entry| entry["content"]["role"] == "user").collect();
    let last = asked.last().expect("it was asked");
    assert_eq!(last["content"]["parts"], json!([{"text": "third"}]), "nothing is asked again inside of it");
}

#[test]
fn the_answer_after_a_time_limit_is_printed_once() {
    let wait = json!({"chunks": [{"text": "I wait."}, call("shell", json!({"command": "sleep 1007"}))]});
    let (_host, mut pty) = talk(&[wait, answer("My best answer.")], &["--approval-mode", "yolo", "--timeout", "1s"]);
    pty.types("first\r").sees("My best answer.").sees("timed out after 1 turn").sees("send `continue`").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(pty.everything().matches("My best answer.").count(), 1, "{}", pty.everything());
}

#[test]
fn ctrl_d_while_the_model_works_leaves_when_it_is_done_unless_that_is_taken_back() {
    let (host, mut pty) =
        talk(&[waits_for_go(), answer("First done."), answers("second", "Second done.")], &["--approval-mode", "yolo"]);
    pty.types("first\r").sees("begun").types("\u{4}").sees("quitting when the model is done").types("s");
    pty.until("it was taken back", |screen| !screen.contains("quitting when"))
        .types("econd\t\u{4}")
        .sees("quitting when");
    go(&host);
    pty.saw("First done.").saw("Second done.");
    assert_eq!(pty.ends(), Some(0));
}
