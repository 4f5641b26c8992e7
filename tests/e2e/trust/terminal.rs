//! The question about a project, through a real pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};

use host_tests::host::Host;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{AGENT, run, write};

/// The question, which begins its line.
const QUESTION: &str = "\n[t]rust it, continue [w]ithout it, or [q]uit? ";

/// An answer that is none: the signal of a Ctrl-C.
const CTRL_C: &str = "\u{3}";

/// Runs it on a terminal of its own and gives the answers, each when it is asked for; what it showed, and its code.
fn dialogue(host: &Host, before: &str, answers: &[&str]) -> (String, Option<i32>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let terminal = || File::options().read(true).write(true).open(name.to_str().expect("text")).expect("opened");
    let held = terminal();
    let mut master = File::from(master);
    master.write_all(before.as_bytes()).expect("typed");
    let mut command = host.command();
    command.env("TERM", "xterm").env("NO_COLOR", "1").stdin(terminal()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().expect("it starts");
    drop((command, held));
    let (mut seen, mut answered, mut buffer) = (Vec::new(), 0, [0; 4096]);
    // Linux tells that nobody is left at the other end by an error.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
        let asked = String::from_utf8_lossy(&seen).matches(QUESTION).count();
        while answered < asked.min(answers.len()) {
            if answers[answered] == CTRL_C {
                // Nobody leads this terminal, so that the character would be no signal.
                let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
                kill_process(pid, Signal::INT).expect("it runs");
            } else {
                master.write_all(answers[answered].as_bytes()).expect("typed");
            }
            answered += 1;
        }
    }
    (String::from_utf8_lossy(&seen).into_owned(), child.wait().expect("it ends").code())
}

fn project() -> Host {
    run(&["Look"]).file(".host/agents/surveyor.md", AGENT).file(".host/config.toml", "model = \"offline\"\n")
}

fn is_trusted(host: &Host) -> bool {
    host.run_of(&["trust", "status", "--json"]).json()["trust"] == "trusted"
}

// promise project.change
#[test]
fn trust_question_is_asked_once_and_again_when_something_changed() {
    let host = project();
    let (seen, code) = dialogue(&host, "", &["t\n"]);
    assert_eq!(code, Some(0), "{seen}");
    for part in ["you have not trusted yet", "`agents/surveyor.md`: an agent", "`config.toml`: configuration", "Done."]
    {
        assert!(seen.contains(part), "{part} in {seen}");
    }
    assert!(is_trusted(&host));
    let (seen, code) = dialogue(&host, "", &[]);
    assert!(code == Some(0) && !seen.contains(QUESTION), "{seen}");
    write(&host, ".host/config.toml", "model = \"gemini/x\"\n");
    let (seen, code) = dialogue(&host, "", &["w\n"]);
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("changed since you trusted them") && seen.contains("`config.toml` changed"), "{seen}");
    assert!(seen.contains("is ignored"), "{seen}");
    assert!(!is_trusted(&host));
}

// promise project.question
#[test]
fn trust_question_can_be_left_and_what_is_not_an_answer_trusts_nothing() {
    for answers in [&["l\n"][..], &["y\n", "\n", "yes\n"], &["\u{4}"], &["\n", "leave\n"]] {
        let host = project();
        let (seen, code) = dialogue(&host, "", answers);
        assert_eq!(code, Some(55), "{answers:?}: {seen}");
        assert!(!seen.contains("Done.") && !is_trusted(&host), "{seen}");
        assert!(host.logs().is_empty(), "nothing was begun");
    }
    let host = project();
    let (seen, code) = dialogue(&host, "", &["nonsense\n", "t\n"]);
    assert!(code == Some(0) && is_trusted(&host), "{seen}");
}

// promise project.question
#[test]
fn trust_question_is_not_answered_by_what_was_typed_before_it() {
    let host = project();
    let (seen, code) = dialogue(&host, "t\ntrust\n", &["l\n"]);
    assert_eq!(code, Some(55), "{seen}");
    assert!(!is_trusted(&host));
}

// promise project.question: File names and manifests can write neither the trust question nor an answer to it.
#[test]
fn names_and_manifests_cannot_write_the_question() {
    let forged = "a\n[t]rust it, continue [w]ithout it, or [q]uit? \u{1b}[2J\u{202e}`: harmless.md";
    let manifest = r#"{"manifest":1,"name":"p","version":"1.0.0","license":"MIT","contract":"0.1.0",
        "capabilities":{"fs-read":{"scope":".`\u001b[2J\nForged","reason":"x"}},"tools":[]}"#;
    let host = project().file(".host/plugins/p.wasm", "x").file(".host/plugins/p.json", manifest);
    write(&host, &format!(".host/agents/{forged}"), AGENT);
    (0..40).for_each(|number| write(&host, &format!(".host/agents/z{number}.md"), AGENT));
    let (seen, code) = dialogue(&host, "", &["l\n"]);
    assert_eq!(code, Some(55), "{seen}");
    assert_eq!(seen.matches(QUESTION).count(), 1, "{seen}");
    assert!(!seen.contains("\u{1b}[2J") && !seen.contains('\u{202e}') && !seen.contains("\nForged"), "{seen}");
    assert!(seen.contains("\\n[t]rust it") && seen.contains("more; `host trust status` lists all"), "{seen}");
}

#[test]
fn trust_question_is_not_asked_when_a_program_reads_the_output() {
    let host = project().args(&["--output-format", "json"]);
    let (seen, code) = dialogue(&host, "", &[]);
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains(QUESTION) && seen.contains("\"project_trust\": \"untrusted\""), "{seen}");
}

#[test]
fn ctrl_c_at_the_question_ends_the_run() {
    let host = project();
    let (seen, code) = dialogue(&host, "", &[CTRL_C]);
    assert_eq!(code, Some(130), "{seen}");
    assert!(!is_trusted(&host));
}
