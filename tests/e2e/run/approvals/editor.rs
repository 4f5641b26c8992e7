//! Changing what a call would do, in the user's own editor.

use super::*;

// promise approval.changed
#[test]
fn another_content_is_shown_and_asked_about_again_and_then_written() {
    for way in WAYS {
        let replies = [
            json!({"chunks": [write("a.txt", "one\nthe model's\n"), edit("b.txt", "old", "new")]}),
            json!({"expect": {"responses": ["the user's", "the user's b"]}, "chunks": [{"text": "All is done."}]}),
        ];
        let host = Host::scripted(&replies, &[]).file("a.txt", "one\n").file("b.txt", "old\nrest\n");
        let host = editor(
            host,
            "case \"$1\" in *.txt) ;; *) exit 3;; esac; sed -i -e \"s/model's/user's/\" -e \"s/^new/the user's b/\" \"$1\"",
        );
        let mut pty = begin(&host, way, 80, 40);
        pty.sees(" + the model's");
        answers(&mut pty, " + the model's", "e");
        pty.sees(" + the user's");
        assert_eq!(file(&host, "a.txt").as_deref(), Some("one\n"), "nothing is written before the second answer");
        answers(&mut pty, " + the user's", "y");
        answers(&mut pty, " + new", "e");
        answers(&mut pty, " + the user's b", "y");
        done(&mut pty, way);
        assert_eq!(file(&host, "a.txt").as_deref(), Some("one\nthe user's\n"));
        assert_eq!(file(&host, "b.txt").as_deref(), Some("the user's b\nrest\n"));
    }
}

#[test]
fn approvals_edited_command_is_asked_about_again_and_reported_to_the_model() {
    for way in WAYS {
        let host = calling(&[shell("echo model > a.txt")], &["echo user > b.txt"], &[]);
        let host = editor(host, "echo 'echo user > b.txt' > \"$1\"");
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ echo model > a.txt", "e");
        answers(&mut pty, "│ echo user > b.txt", "y");
        done(&mut pty, way);
        assert_eq!((file(&host, "a.txt"), file(&host, "b.txt").as_deref()), (None, Some("user\n")));
        let all = pty.everything();
        let line = all.lines().find(|line| line.starts_with('✓')).expect("the call's line");
        assert!(line.starts_with("✓ shell echo user > b.txt") && !line.contains("model"), "what ran: {line}");
    }
}

#[test]
fn approvals_edited_call_can_still_be_rejected_and_nothing_of_it_runs() {
    for way in WAYS {
        let host = editor(calling(&[shell("echo model > a.txt")], &[DECLINED], &[]), "echo 'touch b.txt' > \"$1\"");
        let mut pty = begin(&host, way, 80, 30);
        answers(&mut pty, "│ echo model > a.txt", "e");
        answers(&mut pty, "│ touch b.txt", "n");
        done(&mut pty, way);
        assert_eq!((file(&host, "a.txt"), file(&host, "b.txt")), (None, None));
    }
}

#[test]
fn approvals_editor_that_fails_or_changes_nothing_is_reported_and_the_question_returns() {
    for (script, words) in [
        ("exit 7", "failed (exit status: 7)"),
        ("true", "nothing was changed in the editor"),
        ("printf '\\377' > \"$1\"", "not UTF-8"),
        ("rm \"$1\"", "cannot run the editor"),
    ] {
        let host = editor(calling(&[write("a.txt", "new\n")], &["a.txt"], &[]), script);
        let mut pty = begin(&host, Way::Task, 80, 30);
        pty.sees(LISTENS).types("e").sees(words).sees(LISTENS);
        assert_eq!(file(&host, "a.txt"), None, "{script}");
        pty.types("y");
        done(&mut pty, Way::Task);
        assert_eq!(file(&host, "a.txt").as_deref(), Some("new\n"));
    }
}

// promise approval.changed
#[test]
fn a_change_to_what_may_never_run_is_not_taken() {
    let host = editor(calling(&[shell("touch a.txt")], &[DECLINED], &[]), "echo 'echo x > .git/config' > \"$1\"");
    let mut pty = begin(&host, Way::Task, 80, 30);
    pty.sees(LISTENS).types("e").sees("! ").sees(".git").sees("│ touch a.txt").sees(LISTENS).types("n");
    done(&mut pty, Way::Task);
    assert_eq!(file(&host, ".git/config"), None);
}

#[test]
fn an_editor_has_the_terminal_for_itself() {
    let script = "printf 'in the editor> '; read line; echo \"echo $line > b.txt\" > \"$1\"";
    for way in WAYS {
        let host = editor(calling(&[shell("true > a.txt")], &["typed"], &[]), script);
        let mut pty = begin(&host, way, 80, 30);
        pty.sees(LISTENS).types("e").sees("in the editor> ").types("typed\r");
        answers(&mut pty, "│ echo typed > b.txt", "y");
        done(&mut pty, way);
        assert_eq!(file(&host, "b.txt").as_deref(), Some("typed\n"));
    }
}
