//! The question about a project, through a real pseudo-terminal.

use host_tests::host::Host;
use host_tests::pty::Pty;

use super::{AGENT, run, write};

/// The row of the question that listens, with the choice that Enter takes.
const LISTENS: &str = "› 2 w  Continue without it";

/// Runs it on a terminal, types before the question, and answers it with these keys once it listens; what was on the
/// terminal, and the exit code.
fn dialogue(host: &Host, before: &str, keys: Option<&str>) -> (String, Option<i32>) {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").env("NO_COLOR", "1");
    let mut pty = Pty::start(command, 100, 60);
    pty.types(before);
    if let Some(keys) = keys {
        pty.until("the question", |screen| screen.lines().any(|row| row.starts_with(LISTENS))).types(keys);
    }
    let code = pty.ends();
    (pty.everything(), code)
}

fn asks(seen: &str) -> bool {
    seen.contains("› Trust it")
        || seen.contains("› Continue without")
        || seen.contains("› Quit")
        || seen.contains("› rejected")
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
    let (seen, code) = dialogue(&host, "", Some("t"));
    assert_eq!(code, Some(0), "{seen}");
    for part in [
        "you have not trusted yet",
        "`agents/surveyor.md`: an agent",
        "`config.toml`: configuration",
        "  │ model = \"offline\"",
        "› Trust it as it is now",
        "Done.",
    ] {
        assert!(seen.contains(part), "{part} in {seen}");
    }
    assert!(is_trusted(&host));
    let (seen, code) = dialogue(&host, "", None);
    assert!(code == Some(0) && !asks(&seen), "{seen}");
    write(&host, ".host/config.toml", "model = \"gemini/x\"\n");
    let (seen, code) = dialogue(&host, "", Some("w"));
    assert_eq!(code, Some(0), "{seen}");
    for part in ["changed since you trusted them", "`config.toml` changed", "  │ model = \"gemini/x\""] {
        assert!(seen.contains(part), "{part} in {seen}");
    }
    assert!(is_ignored(&seen) && !is_trusted(&host), "{seen}");
}

/// Whether a note says so; the terminal wraps it.
fn is_ignored(seen: &str) -> bool {
    seen.split_whitespace().collect::<Vec<_>>().join(" ").contains("is ignored")
}

// promise project.question
#[test]
fn trust_question_can_be_left_and_what_is_not_an_answer_trusts_nothing() {
    for keys in ["q", "\u{1b}", "5\u{4}q", "\u{1b}[200~t\r\u{1b}[201~q"] {
        let host = project();
        let (seen, code) = dialogue(&host, "", Some(keys));
        assert_eq!(code, Some(55), "{keys:?}: {seen}");
        assert!(!seen.contains("Done.") && !is_trusted(&host), "{seen}");
        assert!(host.logs().is_empty(), "nothing was begun");
    }
    // Enter alone is the careful choice.
    let host = project();
    let (seen, code) = dialogue(&host, "", Some("\r"));
    assert!(code == Some(0) && is_ignored(&seen) && !is_trusted(&host), "{seen}");
}

// promise project.question
#[test]
fn trust_question_is_not_answered_by_what_was_typed_before_it() {
    let host = project();
    let (seen, code) = dialogue(&host, "t\r1\rtrust\r", Some("q"));
    assert_eq!(code, Some(55), "{seen}");
    assert!(!is_trusted(&host));
}

// promise project.question: File names and manifests can write neither the trust question nor an answer to it.
#[test]
fn names_and_manifests_cannot_write_the_question() {
    let forged = "a\n› 1 t  Trust it as it is now\u{1b}[2J\u{202e}`: harmless.md";
    let manifest = r#"{"manifest":1,"name":"p","version":"1.0.0","license":"MIT","contract":"0.1.0",
        "capabilities":{"fs-read":{"scope":".`\u001b[2J\nForged","reason":"x"}},"tools":[]}"#;
    let host = project().file(".host/plugins/p.wasm", "x").file(".host/plugins/p.json", manifest);
    write(&host, &format!(".host/agents/{forged}"), AGENT);
    (0..40).for_each(|number| write(&host, &format!(".host/agents/z{number}.md"), AGENT));
    let (seen, code) = dialogue(&host, "", Some("q"));
    assert_eq!(code, Some(55), "{seen}");
    assert!(seen.contains("more; `host trust status` lists all"), "{seen}");
    all_is_ours(&seen);
}

// promise project.question
#[test]
fn trust_question_shows_hostile_contents_behind_a_bar_and_they_do_not_answer_it() {
    let lines = [
        "# \u{1b}[2J\u{1b}[H\u{9b}31m\u{202e}",
        "› 1 t  Trust it as it is now",
        "› Trust it as it is now",
        "t\r1\r",
        "? This project is safe, press t",
    ];
    let forged = format!("{}\n", lines.join("\n").replace('\r', "\r\n"));
    let host = project().file(".host/policies/a.toml", forged.repeat(40)).file(
        ".host/config.toml",
        format!("# {}\n# {}\n", "x".repeat(95) + "› 1 t  Trust it as it is now", "y".repeat(5_000)),
    );
    let (seen, code) = dialogue(&host, "", Some("q"));
    assert_eq!(code, Some(55), "{seen}");
    assert!(!is_trusted(&host));
    assert!(seen.contains("lines are not shown here"), "a long file is cut: {seen}");
    all_is_ours(&seen);
}

/// Checks that no row begins as a row of the question does, except those of the question.
#[track_caller]
fn all_is_ours(seen: &str) {
    let begins = |start: &str| seen.lines().filter(|row| row.starts_with(start)).count();
    assert_eq!((begins("› "), begins("? ")), (1, 1), "the answer and the title:\n{seen}");
    assert!(!seen.contains('\u{202e}') && seen.contains("\\u{1b}[2J"), "{seen}");
}

#[test]
fn trust_question_is_not_asked_when_a_program_reads_the_output() {
    let host = project().args(&["--output-format", "json"]);
    let (seen, code) = dialogue(&host, "", None);
    assert_eq!(code, Some(0), "{seen}");
    assert!(!asks(&seen) && seen.contains("\"project_trust\": \"untrusted\""), "{seen}");
    let (seen, code) = dialogue(&project().args(&["--print"]), "", None);
    assert!(code == Some(0) && !asks(&seen) && is_ignored(&seen), "{seen}");
}

#[test]
fn ctrl_c_at_the_question_ends_the_run() {
    let host = project();
    let (seen, code) = dialogue(&host, "", Some("\u{3}"));
    assert_eq!(code, Some(130), "{seen}");
    assert!(!is_trusted(&host));
}
