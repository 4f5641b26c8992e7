//! Calls that ended: finished, failed, folded; and one shown whole.

use super::*;

/// Ctrl-O.
const EXPAND: &str = "\u{f}";

/// A conversation in a mode that asks nothing, on a terminal of this width, with this pager.
fn talk(host: &Host, columns: u16, pager: &str) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").env("PAGER", pager);
    Pty::start(command, columns, 40)
}

fn one_by_one(calls: &[Value], arguments: &[&str]) -> Host {
    // One call a turn: the lines of several come in the order in which they end.
    let mut replies: Vec<Value> = calls.iter().map(|call| json!({"chunks": [call]})).collect();
    replies.push(answer("All is done."));
    Host::scripted(&replies, arguments).file("src/fuel.rs", "fn main() {\n    let fuel = 1;\n}\n")
}

fn shell(command: &str) -> Value {
    call("shell", json!({"command": command}))
}

// promise calls.shown: A call is one line with its tool, its title and its result, and the end of a command's output
//   stays.
#[test]
fn screens_calls_that_ended_at_three_widths() {
    let edit =
        json!({"path": "src/fuel.rs", "old_string": "let fuel = 1;", "new_string": "let fuel = 2;\nburn(fuel);"});
    let calls = [
        call("grep", json!({"pattern": "fuel", "path": "src"})),
        call("read_file", json!({"path": "src/engine/combustion/chamber.rs"})),
        call("edit", edit),
        shell("seq 1 43"),
        shell("seq 1 43; echo 'error: the tank is empty, and there is nobody who could fill it' >&2; exit 101"),
        shell("true"),
        call("memory", json!({"action": "add", "fact": "fuel is counted in litres"})),
    ];
    for columns in [40, 80, 120] {
        let host = one_by_one(&calls, &["--approval-mode", "yolo"]);
        let mut pty = talk(&host, columns, "cat");
        pty.sees("yolo › ").types("Go\r").saw("All is done.").sees("yolo › ").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        shown(&host, &format!("calls_{columns}"), &mut pty);
    }
}

// promise calls.failed: A command that fails is never shown as a success.
#[test]
fn screens_calls_whose_command_failed_are_never_green() {
    for (command, result) in
        [("exit 3", "exit 3"), ("kill -9 $$", "signal 9"), ("echo well; nosuchprogram", "exit 127")]
    {
        let host = one_by_one(&[shell(command)], &["--approval-mode", "yolo"]);
        let mut pty = begin(&host, &["Go"]);
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let all = pty.everything();
        assert!(all.contains(&format!("✗ shell {command} · {result}")), "{all}");
        assert!(!pty.written().contains('✓') && pty.written().contains("\u{1b}[31m✗"), "{:?}", pty.written());
        // To the model it is an answer like any other.
        let settled = host.session().into_iter().find(|entry| entry["type"] == "call_settled").expect("it ended");
        assert_eq!((&settled["status"], &settled["report"]["failed"]), (&json!("success"), &json!(true)), "{settled}");
    }
}

#[test]
fn screens_calls_are_shown_whole_by_key_and_by_command() {
    let long = "seq 1 20000; printf '\\033[2Jcleared\\n'";
    let host = one_by_one(&[call("ls", json!({"path": "src"})), shell(long)], &["--approval-mode", "yolo"]);
    let paged = host.repository().join("paged");
    let text = || std::fs::read_to_string(&paged).unwrap_or_default();
    let mut pty = talk(&host, 80, "cat > paged.new; mv paged.new paged");
    pty.sees("yolo › ").types(EXPAND).saw("no call has ended in this session yet");
    pty.types("Go\r").saw("All is done.").sees("… +19996 lines (Ctrl-O)").sees("yolo › ").types(EXPAND);
    pty.until("the last call", |_| text().starts_with("✓ shell seq 1 20000;"));
    let last = text();
    assert!(last.contains("call 2 of 2\n\nArguments\n  command: seq 1 20000; printf '\\033[2Jcleared\\n'\n"), "{last}");
    // The model got the beginning and the end of it.
    assert!(last.contains("\n9999\n10000\n10001\n") && last.contains("\n20000\n\\u{1b}[2Jcleared\n"), "all of it");
    assert!(!last.contains("are left out here") && !last.contains('\u{1b}'));
    // The pager has the terminal until the prompt is there again.
    pty.sees("yolo › \nscript.jsonl").types("/output 2\r");
    pty.until("the call before it", |_| text().starts_with("✓ ls src · 1 entry"));
    pty.sees("yolo › \nscript.jsonl").types("/output 3\r").saw("there is no call 3: 2 calls ended").types("\u{15}");
    pty.types("/output x\r").saw("`x` is not a number from 1 to 1000").types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    // Another process finds the same in the log; without a pager it is printed.
    let mut command = host.command();
    command.env("TERM", "xterm-256color").env("PAGER", "cat").args(["--continue"]);
    let mut pty = Pty::start(command, 80, 40);
    pty.sees("yolo › ").types("/output 2\r").saw("✓ ls src · 1 entry").saw("call 1 of 2").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

#[test]
fn screens_calls_are_shown_whole_while_the_model_works_and_a_question_waits_for_it() {
    let waits = shell("echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended");
    let write = call("write_file", json!({"path": "b.txt", "content": "new\n"}));
    let replies = [
        json!({"chunks": [call("ls", json!({"path": "src"}))]}),
        json!({"chunks": [waits, write]}),
        answer("All is done."),
    ];
    let host = Host::scripted(&replies, &["--grant", "shell:process=*"]).file("src/a.rs", "");
    let (root, made) = (host.repository().to_owned(), |path: &std::path::Path| std::fs::write(path, "").expect("made"));
    let mut pty = talk(&host, 80, "cat > paged; while [ ! -e close ]; do sleep 0.02; done");
    pty.sees("default › ").types("Go\r").sees("begun").types(EXPAND);
    pty.until("the pager", |_| root.join("paged").exists());
    made(&root.join("go"));
    let asked = || {
        host.session()
            .iter()
            .any(|entry| entry["type"] == "call_settled" && entry["parts"].to_string().contains("ended"))
    };
    pty.until("the end of the command", |_| asked());
    assert!(!pty.screen().contains("wants to change"), "another program has the terminal:\n{}", pty.screen());
    made(&root.join("close"));
    pty.sees("write_file wants to change b.txt").sees("› 1 y  Yes, this once");
    pty.types("y").saw("All is done.").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let all = pty.everything();
    assert!(all.contains("✓ shell echo begun;") && all.contains("✓ write_file b.txt (+1 −0)"), "{all}");
}

#[test]
fn screens_calls_begin_on_a_line_of_their_own_on_a_dumb_terminal() {
    let text = json!({"text": "I will look at it."});
    let replies = [json!({"chunks": [text, call("ls", json!({"path": "src"}))]}), answer("All is done.")];
    let host = Host::scripted(&replies, &["Go"]).file("src/a.rs", "");
    let mut command = host.command();
    command.env("TERM", "dumb");
    let mut pty = Pty::start(command, 80, 24);
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let all = pty.everything();
    assert!(all.contains("I will look at it.\n✓ ls src · 1 entry\n") && all.contains("All is done.\n"), "{all}");
}
