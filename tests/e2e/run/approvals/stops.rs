//! Esc, Ctrl-C and keys that were pressed too early, in each state.

use super::*;

#[track_caller]
fn stopped(pty: &mut Pty, way: Way) {
    match way {
        Way::Task => assert_eq!(pty.ends(), Some(130), "{}", pty.everything()),
        Way::Talk => {
            pty.sees("stopped").sees("default › ").types("\u{4}");
            assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        }
    }
}

/// What the log of the session says of how its calls ended.
fn settled(host: &Host) -> Vec<Value> {
    host.session().into_iter().filter(|entry| entry["type"] == "call_settled").collect()
}

#[test]
fn ctrl_c_while_the_model_answers_stops_it() {
    for way in WAYS {
        let host = Host::scripted(&[json!({"chunks": [{"text": "I begin"}, {"hang": true}]})], &[]);
        let mut pty = begin(&host, way, 80, 24);
        pty.sees("I begin").types("\u{3}");
        stopped(&mut pty, way);
    }
}

#[test]
fn ctrl_c_while_it_is_asked_is_a_no_to_all_and_stops() {
    for way in WAYS {
        let host = calling(&[shell("touch a"), write("b", "x")], &[], &[]);
        let mut pty = begin(&host, way, 80, 24);
        pty.sees(LISTENS).types("\u{3}");
        stopped(&mut pty, way);
        assert!(!host.repository().join("a").exists() && !host.repository().join("b").exists());
        assert!(!pty.everything().contains("All is done."), "{}", pty.everything());
        assert_eq!(settled(&host).len(), 2, "each call has its outcome");
    }
}

#[test]
fn ctrl_c_before_a_question_listens_stops_too() {
    for way in WAYS {
        let host = calling(&[shell("touch a")], &[], &[]);
        let mut pty = begin(&host, way, 80, 24);
        pty.sees("1 y  Yes, this once").types("\u{3}");
        stopped(&mut pty, way);
        assert!(!host.repository().join("a").exists());
    }
}

#[test]
fn ctrl_c_while_the_allowed_call_runs_ends_it_and_keeps_what_it_printed() {
    for way in WAYS {
        let host = calling(&[shell("echo $$ > pid; echo begun; exec sleep 1007")], &[], &[]);
        let mut pty = begin(&host, way, 80, 24);
        answers(&mut pty, "│ echo $$", "y");
        pty.sees("    begun").types("\u{3}");
        stopped(&mut pty, way);
        let pid = file(&host, "pid").expect("it began");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        assert!(!stat.is_ok_and(|stat| stat.contains("(sleep) S")), "it is gone");
        assert!(settled(&host)[0].to_string().contains("begun"), "{:?}", settled(&host));
    }
}

#[test]
fn ctrl_c_in_the_editor_is_the_editors() {
    let script = "trap 'exit 9' INT; printf 'editing'; while :; do sleep 0.05; done";
    for way in WAYS {
        let host = editor(calling(&[shell("touch a")], &[DECLINED], &[]), script);
        let mut pty = begin(&host, way, 80, 24);
        pty.sees(LISTENS).types("e").sees("editing").types("\u{3}");
        answers(&mut pty, "failed (exit status: 9)", "n");
        done(&mut pty, way);
    }
}

#[test]
fn approvals_esc_rejects_the_call_and_the_run_continues() {
    for way in WAYS {
        let host = calling(&[shell("touch a")], &[DECLINED], &[]);
        let mut pty = begin(&host, way, 80, 24);
        pty.sees(LISTENS).types("\u{1b}").sees("› rejected");
        done(&mut pty, way);
        assert!(!host.repository().join("a").exists());
    }
}

// promise approval.typed-ahead: A key pressed before a question appears never answers it.
#[test]
fn approvals_key_typed_before_a_question_is_visible_never_answers_it() {
    // The first call ends when the test says so, and has been allowed; keys are pressed while it runs.
    let waits = shell("echo begun; while [ ! -e go ]; do sleep 0.02; done");
    for way in WAYS {
        let host = calling(&[waits.clone(), shell("touch a")], &["begun", DECLINED], &[]);
        let mut pty = begin(&host, way, 80, 24);
        answers(&mut pty, "│ echo begun", "y");
        pty.sees("    begun").types("y1aaa");
        if way == Way::Task {
            pty.types("\r");
        }
        std::fs::write(host.repository().join("go"), "").expect("written");
        // Typed on while the question is there and does not listen yet; then nothing more.
        pty.sees("│ touch a").types("y").types("y");
        pty.sees(LISTENS);
        assert!(!host.repository().join("a").exists() && pty.screen().contains("│ touch a"), "{}", pty.screen());
        // A paste does not answer either.
        pty.types("\u{1b}[200~y\r\u{1b}[201~");
        answers(&mut pty, "│ touch a", "n");
        pty.saw("All is done.");
        if way == Way::Talk {
            pty.sees("default › y1aaa").types("\u{15}");
        }
        leaves(&mut pty, way);
        assert!(!host.repository().join("a").exists());
    }
}
