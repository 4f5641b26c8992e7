//! Each command does what it says.

use super::*;

#[test]
fn conversation_commands_list_what_is_available() {
    let (host, mut pty) = talk(&[answer("One.")], &["--approval-mode", "plan"]);
    pty.types("/help\r").saw("/undo-prompt").saw("Alt-Enter").types("/tools\r").saw("read_file");
    pty.types("/agents\r").saw("codebase_investigator").types("/mode\r").sees("› plan");
    pty.types("first\r").sees("One.").types("/stats\r").sees("prompts   1, 1 turn");
    pty.types("/model\r").sees("/model ID to change").types("/quit\r");
    assert_eq!(pty.ends(), Some(0));
    assert_eq!(host.logs().len(), 1);
}

#[test]
fn conversation_unknown_command_is_reported_and_can_be_sent_as_text() {
    let (_host, mut pty) = talk(&[answers("/etc/hosts has what?", "A list.")], &[]);
    pty.types("/qiut\r").sees("did you mean `/quit`?").types("\u{15}");
    pty.types("/etc/hosts has what?\r").sees("there is no command `/etc/hosts`");
    pty.types("\u{1}/\r").sees("A list.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_prompt_taken_back_is_forgotten_also_by_a_later_process() {
    let replies = [answer("One."), answer("Two."), answers("better words", "Three.")];
    let (host, mut pty) = talk(&replies, &[]);
    pty.types("first\r").sees("One.").types("bad words\r").sees("Two.").types("/undo-prompt\r");
    let taken_back = |pty: &mut Pty, times| {
        pty.until("it is removed", |screen| screen.matches("removed the last prompt").count() == times);
    };
    taken_back(&mut pty, 1);
    pty.types(" indeed").sees("default › bad words indeed").types("\u{15}better words\r").sees("Three.");
    pty.types("/undo-prompt\r");
    taken_back(&mut pty, 2);
    pty.types("\u{15}/undo-prompt\r");
    taken_back(&mut pty, 3);
    pty.types("\u{15}/undo-prompt\r").sees("there is no prompt to remove").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let taken: Vec<_> = host.session().into_iter().filter(|entry| entry["type"] == "taken_back").collect();
    assert_eq!(taken.iter().map(|entry| &entry["messages"]).collect::<Vec<_>>(), [2, 2, 0]);
}

#[test]
fn a_new_conversation_knows_nothing_of_the_last_one() {
    let (host, mut pty) = talk(&[answer("One."), answers("second", "Two.")], &[]);
    pty.types("first\r").sees("One.").types("/clear\r").sees("new conversation").types("second\r").sees("Two.");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let logs = host.logs();
    assert_eq!(logs.len(), 2);
    let said =
        logs.iter().map(|log| std::fs::read_to_string(log).expect("read")).filter(|log| log.contains("\"first\""));
    assert_eq!(said.count(), 1);
}

#[test]
fn another_model_answers_and_the_session_remembers_it() {
    let (host, mut pty) = talk(&[answer("One.")], &[]);
    pty.types("first\r").sees("One.").types("/model nonsense\r").sees("error:");
    pty.types("/model offline\r").sees("model: offline").types("Survey this\r").saw("not a language model");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(host.session().iter().any(|entry| entry["type"] == "model_chosen" && entry["model"] == "offline"));
}

#[test]
fn the_last_answer_goes_to_the_clipboard_as_it_was_written() {
    let (_host, mut pty) = talk(&[answer("**Ä**")], &[]);
    pty.types("/copy\r").sees("there is no answer to copy").types("first\r").sees("Ä").types("/copy\r");
    pty.sees("copied 5 characters").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(pty.written().contains("\u{1b}]52;c;KirDhCoq\u{7}"), "{:?}", pty.written());
}

#[test]
fn a_session_is_written_to_a_file_and_no_key_from_before_the_question_writes_over_another() {
    let (host, mut pty) = talk(&[answer("One.")], &[]);
    let file = host.repository().join("a.txt");
    pty.types("first\r").sees("One.").types("/export b.md\r").sees("session written to");
    assert!(std::fs::read_to_string(host.repository().join("b.md")).expect("it is there").contains("One."));
    // All of it comes at once: the `y` was pressed before anything was asked.
    pty.types("/export a.txt\ry").sees("already exists").sees("› 1 n  Keep");
    assert_eq!(std::fs::read_to_string(&file).expect("read"), "");
    pty.types("\r").sees("nothing was written").sees("default › y").types("\u{15}/export a.txt\r");
    pty.until("the next question", |screen| screen.matches("already exists").count() == 2).sees("› 1 n").types("y");
    pty.until("it is written", |screen| screen.matches("session written to").count() == 2).types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(std::fs::read_to_string(&file).expect("read").contains("One."));
}

#[test]
fn a_conversation_is_made_shorter() {
    let story: String = (0..400).map(|n| format!("chapter {n}. ")).collect();
    let summary = json!({"expect": {"last_text": "has to keep in detail:\nthe names of the chapters"},
                         "chunks": [{"text": "<state_snapshot>a story</state_snapshot>"}]});
    let (host, mut pty) = talk(&[answer(&story), answer("Two."), summary, answers("on", "Three.")], &[]);
    pty.types("/compress\r").sees("nothing to compact yet").types("first\r").saw("chapter 399");
    pty.types("second\r").sees("Two.").types("/compact the names of the chapters\r").sees("its beginning was");
    pty.types("on\r").sees("Three.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(host.session().iter().any(|entry| entry["type"] == "history_replaced"));
}
