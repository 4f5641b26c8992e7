//! Answers for the session, a no with a reason, and what is taken back.

use super::*;

// promise approval.session
#[test]
fn approvals_yes_for_the_session_holds_until_it_ends_and_is_stored_nowhere() {
    for way in WAYS {
        let calls = [shell("git commit -m 1"), shell("git commit -m 2"), write("a.txt", "1"), write("b.txt", "2")];
        let host = calling(&calls, &["fatal", "fatal", "a.txt", "b.txt"], &[]);
        let mut pty = begin(&host, way, 80, 30);
        pty.sees("2 s  Yes, for this session: commands that begin with `git commit`");
        answers(&mut pty, "│ git commit -m 1", "s");
        pty.sees("2 s  Yes, for this session: all edits by `write_file`");
        answers(&mut pty, "write_file wants to change a.txt", "s");
        done(&mut pty, way);
        let asked = pty.everything().matches("wants to").count();
        assert_eq!((asked, rules(&host)), (2, None), "{}", pty.everything());
    }
}

// promise approval.reason: A no can carry a reason: the model gets it as one line, without control characters.
#[test]
fn approvals_no_with_a_reason_tells_the_model_why() {
    for way in WAYS {
        let told = "Reason: the user rejected this call: use[2J tabs and no spaces";
        let host = calling(&[write("a.txt", "1"), shell("ls")], &[told, BEHIND], &[]);
        let mut pty = begin(&host, way, 80, 30);
        pty.sees("7 r  No, and tell the model why");
        answers(&mut pty, "write_file wants to change a.txt", "r");
        // Letters and digits are text now, and a paste cannot send it or steer the terminal.
        pty.sees("why › ")
            .types("n")
            .types("\u{7f}")
            .types("\u{1b}[200~use\u{1b}[2J\ntabs\u{1b}[201~")
            .sees("why › use");
        pty.types(" and no spaces").sees("tabs and no spaces").types("\r");
        done(&mut pty, way);
        let written = pty.written();
        assert!(!written.contains("use\u{1b}[2J"), "{written:?}");
        assert!(pty.everything().contains("› No, and tell the model why: use"), "{}", pty.everything());
        assert_eq!(file(&host, "a.txt"), None);
    }
}

#[test]
fn approvals_reason_that_is_left_with_escape_leads_back_to_the_choices() {
    let host = calling(&[write("a.txt", "1")], &["a.txt"], &[]);
    let mut pty = begin(&host, Way::Task, 40, 30);
    answers(&mut pty, "a.txt", "r");
    pty.sees("why › ").types("no\u{1b}").sees("› 7 r  No, and tell the model why").types("y");
    done(&mut pty, Way::Task);
    assert_eq!(file(&host, "a.txt").as_deref(), Some("1"));
}

#[test]
fn approvals_reason_is_typed_on_a_terminal_that_sends_lines() {
    let host = calling(&[write("a.txt", "1")], &["rejected this call: too early"], &[]);
    let mut pty = begin_as(&host, Way::Task, 80, 30, &[("TERM", "dumb")]);
    pty.sees("Esc to reject").types("r\n").sees("why › ").types("too early\n");
    done(&mut pty, Way::Task);
    assert_eq!(file(&host, "a.txt"), None);
}

// promise approval.typing
#[test]
fn approvals_text_that_goes_on_is_the_reason_of_a_no_and_loses_nothing() {
    for (terminal, typed) in [("xterm-256color", "no, use src instead"), ("dumb", "no, use src instead\n")] {
        let told = "Reason: the user rejected this call: no, use src instead";
        let host = calling(&[write("a.txt", "1")], &[told], &[]);
        let mut pty = begin_as(&host, Way::Task, 80, 30, &[("TERM", terminal)]);
        pty.sees("Esc to reject").types(typed);
        if terminal != "dumb" {
            pty.sees("why › no, use src instead").types("\r");
        }
        done(&mut pty, Way::Task);
        assert_eq!(file(&host, "a.txt"), None);
    }
}

// promise approval.switch
#[test]
fn approvals_answer_switches_to_auto_and_the_next_command_is_not_asked_about() {
    for way in WAYS {
        let replies = [
            json!({"chunks": [shell("touch one")]}),
            json!({"chunks": [shell("touch two"), write("three", "3")]}),
            json!({"chunks": [{"text": "All is done."}]}),
        ];
        let host = Host::scripted(&replies, &["--confine", "auto"]);
        let mut pty = begin(&host, way, 80, 30);
        pty.sees("m  Yes, and switch to auto: programs run confined, fewer questions");
        answers(&mut pty, "│ touch one", "m");
        pty.saw("All is done.").saw("mode: auto – also runs confined programs");
        if way == Way::Talk {
            pty.sees("auto › ").types("\u{4}");
        }
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert_eq!(pty.everything().matches("wants to").count(), 1, "{}", pty.everything());
        assert!(["one", "two", "three"].iter().all(|name| file(&host, name).is_some()), "{}", pty.everything());
    }
}

// promise approval.forgotten
#[test]
fn approvals_what_was_allowed_is_listed_and_taken_back_in_a_conversation() {
    let replies = [
        json!({"chunks": [shell("git commit -m 1"), write("a.txt", "1")]}),
        json!({"expect": {"responses": ["fatal", "a.txt"]}, "chunks": [{"text": "All is done."}]}),
        json!({"chunks": [write("b.txt", "1"), shell("git commit -m 2")]}),
        json!({"expect": {"responses": ["b.txt", DECLINED]}, "chunks": [{"text": "Again done."}]}),
    ];
    let host = Host::scripted(&replies, &[]);
    let mut pty = begin(&host, Way::Talk, 80, 40);
    answers(&mut pty, "│ git commit -m 1", "a");
    answers(&mut pty, "write_file wants to change a.txt", "s");
    pty.saw("All is done.").sees("default › ").types("/permissions\r");
    pty.sees("  1  always        `shell`: commands that begin with `git commit`");
    pty.sees("  2  this session  `write_file`: changes of files in ").sees("/permissions forget NUMBER takes one back");
    pty.types("/permissions forget 3\r").sees("there is no number 3");
    pty.types("/permissions forget git commit\r")
        .sees("no longer allowed: `shell`: commands that begin with `git commit`");
    assert_eq!(rules(&host).expect("the file stays").trim(), "");
    pty.types("Again\r");
    // Nothing else was taken back.
    answers(&mut pty, "│ git commit -m 2", "n");
    pty.saw("Again done.").sees("default › ").types("/permissions forget 1\r").sees("no longer allowed: `write_file`");
    pty.types("/permissions\r").sees("No answer of yours allows anything here so far.");
    leaves(&mut pty, Way::Talk);
}

// promise approval.forgotten
#[test]
fn approvals_lasting_answers_are_listed_with_numbers_and_forgotten_by_the_command_line() {
    let host = calling(&[shell("git commit -m 1"), write("a.txt", "1")], &["fatal", "a.txt"], &[]);
    let mut pty = begin(&host, Way::Task, 80, 30);
    answers(&mut pty, "│ git commit -m 1", "a");
    answers(&mut pty, "write_file wants to change a.txt", "t");
    done(&mut pty, Way::Task);
    let policy = |arguments: &[&str]| host.run_of(&[&["policy"], arguments].concat());
    let listed = policy(&["list"]).stdout;
    let repository = std::fs::canonicalize(host.repository()).expect("there").display().to_string();
    assert!(
        listed.contains(&format!("#   1  `shell`: commands that begin with `git commit` (in {repository})\n")),
        "{listed}"
    );
    assert!(listed.contains("#   2  `write_file`: changes of files in "), "{listed}");
    for (what, why) in [("3", "there is no number 3"), ("nothing", "nothing that you allowed contains `nothing`")] {
        let ended = policy(&["forget", what]);
        assert!(ended.code == Some(42) && ended.stderr.contains(why), "{ended:?}");
    }
    let ended = policy(&["forget", "git", "commit"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        ended.stdout,
        format!("no longer allowed: `shell`: commands that begin with `git commit` (in {repository})\n")
    );
    let kept = rules(&host).expect("the other one stays");
    assert!(!kept.contains("git commit") && kept.contains("write_file"), "{kept}");
    assert_eq!(policy(&["forget", "1"]).code, Some(0));
    assert!(policy(&["forget", "1"]).stderr.contains("nothing to revoke"));
}

// promise approval.session
#[test]
fn approvals_answers_for_the_session_end_with_the_conversation_and_lasting_ones_do_not() {
    let replies = [
        json!({"chunks": [shell("git commit -m 1"), write("a.txt", "1")]}),
        json!({"expect": {"responses": ["fatal", "a.txt"]}, "chunks": [{"text": "All is done."}]}),
        json!({"chunks": [shell("git commit -m 2"), write("b.txt", "1")]}),
        json!({"expect": {"responses": ["fatal", DECLINED]}, "chunks": [{"text": "Again done."}]}),
    ];
    let host = Host::scripted(&replies, &[]);
    let mut pty = begin(&host, Way::Talk, 80, 40);
    answers(&mut pty, "│ git commit -m 1", "a");
    answers(&mut pty, "write_file wants to change a.txt", "s");
    pty.saw("All is done.").sees("default › ").types("/clear\r").sees("new conversation").types("Again\r");
    answers(&mut pty, "write_file wants to change b.txt", "n");
    pty.saw("Again done.");
    leaves(&mut pty, Way::Talk);
}
