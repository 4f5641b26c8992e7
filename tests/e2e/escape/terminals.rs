//! Attacks on the user's terminal by text that others wrote: programs, files, names of files and models.

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::json;

use super::Failures;

/// What a terminal would do, and what makes it do so.
const SEQUENCES: &[(&str, &str)] = &[
    ("write the clipboard", "\u{1b}]52;c;ZXZpbA==\u{7}"),
    ("change the title", "\u{1b}]0;evil-title\u{7}"),
    ("hide an address behind a link", "\u{1b}]8;;http://evil.example\u{1b}\\"),
    ("clear the screen", "\u{1b}[2J\u{1b}[99;1Hevil"),
    ("write over earlier lines", "\u{1b}[7A\u{1b}[2Kevil"),
    ("hide text", "\u{1b}[8mevil"),
    ("answer with what was written", "\u{1b}P$qm\u{1b}\\"),
    ("report its state as input", "\u{1b}[6n"),
    ("take over the other screen", "\u{1b}[?1049hevil"),
    ("reset", "\u{1b}cevil"),
    ("obey a control of one byte", "\u{9b}2Jevil"),
    ("obey a command of one byte", "\u{9d}0;evil\u{9c}"),
    ("send a file", "\u{1b}]1337;File=inline=1:ZXZpbA==\u{7}"),
    ("run a program of kitty", "\u{1b}_Gevil\u{1b}\\"),
    ("write over a line", "good\revil"),
    ("erase what was written", "good\u{8}\u{8}\u{8}\u{8}evil"),
    ("turn the direction of writing", "\u{202e}live\u{202c}"),
    ("turn it within a word", "\u{2066}evil\u{2069}"),
    ("show nothing for a letter", "ev\u{200b}il"),
    ("join what is two words", "ev\u{2060}il"),
    ("carry a text in tags", "ok\u{e0065}\u{e0076}\u{e0069}\u{e006c}"),
    ("carry bytes in variants", "ok\u{fe01}\u{e0101}"),
];

/// Names and texts with each of them, as a script of the shell that prints them.
fn script() -> String {
    let octal = |text: &str| text.bytes().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    SEQUENCES.iter().map(|(_, text)| format!("printf '<{}>\\n'; ", octal(text))).collect()
}

// promise plugin.terminal
#[test]
fn escape_no_text_of_others_steers_the_terminal_or_hides_in_it() {
    let mut failures = Failures::default();
    let all: String = SEQUENCES.iter().map(|(_, text)| format!("<{text}> ")).collect();
    let call = |name: &str, arguments: serde_json::Value| json!({"call": {"name": name, "arguments": arguments}});
    let replies = [
        json!({"chunks": [
            {"thought": format!("**I think {all}**\n")},
            {"text": format!("I say {all}.\n")},
            call("shell", json!({"command": script()})),
        ]}),
        json!({"chunks": [
            call("shell", json!({"command": format!("{} >&2; exit 3", script())})),
            call("ls", json!({})),
            call("read_file", json!({"path": "text"})),
            call("grep", json!({"pattern": "evil"})),
            call("read_file", json!({"path": all.replace('/', "")})),
            call(&format!("no_{}", all.replace(' ', "")), json!({})),
            call("write_file", json!({"path": "new", "content": all})),
        ]}),
        json!({"chunks": [{"text": format!("All is done: {all}.")}]}),
    ];
    let mut host = Host::scripted(&replies, &["--approval-mode", "yolo", "Look"]).file("text", &all);
    for (index, (_, text)) in SEQUENCES.iter().enumerate() {
        host = host.file(&format!("{index}-{}", text.replace('/', "")), "");
    }
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 200, 50);
    pty.saw("All is done");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let written = pty.written();
    let log = host.session().iter().map(|line| line.to_string()).collect::<String>();
    for (what, text) in SEQUENCES {
        failures.check(what, !written.contains(text), "the terminal got it");
        // It was there: the log has all of it.
        let recorded = serde_json::to_string(text).expect("text");
        let is_there = log.contains(recorded.trim_matches('"'));
        failures.check(&format!("the control of {what}"), is_there, "nobody wrote it");
    }
    // Recorded, it is shown as safely, on a terminal and in a pipe.
    for arguments in [&["session", "show"][..], &["session", "export"]] {
        let ended = host.run_of(arguments);
        failures.check(&arguments.join(" "), ended.code == Some(0) && !ended.stdout.is_empty(), &ended.stderr);
        for (what, text) in SEQUENCES {
            failures.check(&format!("{}: {what}", arguments.join(" ")), !ended.stdout.contains(text), "it is there");
        }
    }
    failures.report(SEQUENCES.len() * 3);
}

// promise tty.screen: What a program draws on a terminal of its own reaches the model as text alone, and the user's
//   terminal not at all.
#[test]
fn escape_no_screen_of_a_program_steers_the_terminal_of_the_user() {
    let mut failures = Failures::default();
    let draws = format!("({}) | tee raw; touch drawn; exec sleep 1043", script());
    let call = |name: &str, arguments: serde_json::Value| json!({"call": {"name": name, "arguments": arguments}});
    let replies = [
        json!({"chunks": [call("shell", json!({"command": draws, "tty": true}))]}),
        json!({"chunks": [call("shell", json!({"command": "until [ -e drawn ]; do :; done"}))]}),
        json!({"chunks": [call("process", json!({"action": "type", "id": "p1", "text": "x", "keys": ["enter"]}))]}),
        json!({"chunks": [{"text": "All is done."}]}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "Look"]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 200, 50);
    pty.saw("All is done");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let written = pty.written();
    let drawn = std::fs::read_to_string(host.repository().join("raw")).expect("it drew");
    let settled = host.session().into_iter().filter(|line| line["type"] == "call_settled");
    let responses: Vec<String> = settled.map(|line| line.to_string()).collect();
    assert!(responses.iter().any(|response| response.contains("Screen of 100")), "{responses:?}");
    for (what, text) in SEQUENCES {
        failures.check(&format!("the control of {what}"), drawn.contains(text), "nobody drew it");
        failures.check(what, !written.contains(text), "the terminal got it");
    }
    for (index, response) in responses.iter().enumerate() {
        let controls = ["\\u001b", "\\u0007", "\\u0008", "\\b", "\\r", "\u{9b}", "\u{9d}"];
        let found: Vec<_> = controls.into_iter().filter(|control| response.contains(control)).collect();
        failures.check(&format!("response {index}"), found.is_empty(), &format!("the model got {found:?}: {response}"));
    }
    failures.report(SEQUENCES.len() * 2);
}
