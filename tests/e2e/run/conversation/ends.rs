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

// promise conversation.stopped: A prompt that is stopped or fails keeps its calls, with the open one as stopped; the
//   model learns who stopped it and what changed, here and in a later process; `/undo-prompt` forgets the prompt.
#[test]
fn conversation_stopped_prompt_keeps_its_calls_and_goes_on_with_other_words() {
    let replies = [
        json!({"chunks": [call("write_file", json!({"path": "main.rs", "content": "fn main() {}\n"}))]}),
        json!({"chunks": [call("shell", json!({"command": "echo begun > other.txt; echo begun; sleep 1011"}))]}),
        answers("no, use src instead", "I use src."),
    ];
    let (host, mut pty) = talk(&replies, &["--approval-mode", "auto"]);
    pty.types("write it\r").until("the command runs", |screen| screen.contains("begun")).types("\u{1b}");
    pty.saw("stopped · 2 calls kept, changed: main.rs, other.txt (/undo undoes that)");
    pty.types("no, use src instead\r").sees("I use src.").types("/undo-prompt\r").sees("removed the last prompt");
    pty.types("\u{15}/undo-prompt\r").sees("still changed: main.rs").types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());

    let (mut stopped, mut asked) = (Vec::new(), Vec::new());
    for entry in host.session() {
        match entry["type"].as_str() {
            Some("call_settled") => stopped.push(entry.clone()),
            Some("content") if entry["content"]["role"] == "user" => asked.push(Host::texts(&entry)),
            _ => {}
        }
    }
    assert_eq!(stopped.len(), 2);
    let partial = stopped[1]["parts"].to_string();
    assert!(partial.contains("[Operation Cancelled]") && partial.contains("begun"), "{partial}");
    let last = asked.last().expect("it was asked");
    assert_eq!(last[0], "no, use src instead");
    assert!(last[1].contains("Files that the calls before this prompt changed: main.rs, other.txt"), "{last:?}");
    assert!(last[2].contains("The user stopped your work on the prompt before this one."), "{last:?}");
}

#[test]
fn conversation_prompt_that_is_stopped_before_a_reply_returns_to_the_input_line() {
    let (host, mut pty) = talk(&[hangs(""), answers("other words", "Yes.")], &[]);
    pty.types("some words\r").sees("thinking").types("\u{1b}").saw("stopped · no reply came, so nothing was kept");
    pty.sees("default › some words").types("\u{15}other words\r").sees("Yes.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let taken: Vec<_> = host.session().into_iter().filter(|entry| entry["type"] == "taken_back").collect();
    assert_eq!(taken.len(), 1);
}

#[test]
fn conversation_what_was_kept_of_a_failed_prompt_is_there_for_a_later_process() {
    let look = || json!({"chunks": [call("ls", json!({}))]});
    let fails = json!({"chunks": [{"error": {"kind": "server", "message": "it broke"}}]});
    let replies = [answer("One."), look(), look(), hangs("third round"), look(), look(), fails];
    let (host, mut pty) = talk(&replies, &[]);
    pty.types("first\r").sees("One.").types("bad words\r").sees("third round").types("\u{3}");
    pty.sees("stopped · 2 calls kept · /undo-prompt forgets the prompt");
    pty.types("worse words\r").sees("it broke").sees("failed · 2 calls kept").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let script = host.home().join("next.jsonl");
    std::fs::write(&script, format!("{}\n", answers("broke off because of an error", "Three."))).expect("written");
    let ended = host.run_of(&["run", "--resume", "--model", &format!("scripted:{}", script.display()), "third"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "Three.\n", ""), "{ended:?}");
    assert!(!host.session().iter().any(|entry| entry["type"] == "taken_back"));
}

// promise conversation.rewind: A conversation goes back to before any of its prompts, with its files or without.
#[test]
fn conversation_rewinds_to_any_prompt_with_its_files_or_without() {
    let write =
        |path: &str, content: &str| json!({"chunks": [call("write_file", json!({"path": path, "content": content}))]});
    let replies = [
        write("one.txt", "one"),
        answer("First."),
        write("two.txt", "two"),
        answer("Second."),
        answer("Third."),
        answer("Better."),
        answer("Anew."),
    ];
    let (host, mut pty) = talk(&replies, &["--approval-mode", "auto-edit"]);
    let there = |name: &str| host.repository().join(name).exists();
    pty.types("prompt one\r").sees("First.").types("prompt two\r").sees("Second.");
    pty.types("prompt three\r").sees("Third.").sees("auto-edit › ");
    // Esc twice opens the list.
    pty.types("\u{1b}")
        .sees("Esc again")
        .types("\u{1b}")
        .sees("Go back to before which prompt?")
        .sees("3  prompt three");
    pty.sees("changed since: one.txt two.txt")
        .sees("↑↓ and Enter")
        .types("\u{1b}[B\r")
        .sees("What goes back?")
        .sees("› 1 b")
        .types("c");
    pty.sees("back to before prompt 2; files stay as they are").sees("› prompt two");
    assert!(there("one.txt") && there("two.txt"));
    pty.types("\u{15}better\r").sees("Better.").types("/rewind 1 files\r").sees("removed one.txt");
    assert!(!there("one.txt"));
    pty.types("/rewind 1 both\r")
        .sees("back to before prompt 1")
        .sees("› prompt one")
        .types("\u{15}anew\r")
        .sees("Anew.");
    pty.types("/rewind 9\r").sees("there is no prompt 9").sees("use a number from 1 to 1").types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let taken: Vec<_> = host.session().into_iter().filter(|entry| entry["type"] == "taken_back").collect();
    assert_eq!(taken.iter().map(|entry| &entry["messages"]).collect::<Vec<_>>(), [4, 0]);
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
