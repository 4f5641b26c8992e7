//! Writing a prompt: lines, pastes, what was said before, what can be completed.

use super::*;

#[test]
fn a_prompt_has_as_many_lines_as_it_is_given() {
    let (_host, mut pty) = talk(&[answers("a\nb\nc\nd", "All four.")], &[]);
    pty.types("a\u{1b}\rb\nc\\\rd").sees("d").types("\r").sees("All four.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn a_paste_of_lines_is_one_prompt_and_nothing_in_it_is_a_key() {
    let (_host, mut pty) = talk(&[answers("one\ntwo [2Jthree", "One prompt.")], &[]);
    pty.types("\u{1b}[200~one\r\ntwo \u{1b}[2Jthree\u{3}\u{1b}[201~").sees("three").types("\r").sees("One prompt.");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn conversation_history_is_kept_for_the_next_one_and_private_to_the_user() {
    let (host, mut pty) = talk(&[answer("One."), answer("Two.")], &[]);
    pty.types("first thing\r").sees("One.").types("other\r").sees("Two.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let mut pty = open(&host, 80, 24);
    pty.types("\u{1b}[A").sees("› other").types("\u{1b}[A").sees("› first thing").types("\u{1b}[B").sees("› other");
    pty.types("\u{1b}[B").until("the empty line", |screen| screen.contains("default › \nscript.jsonl"));
    pty.types("fi\u{1b}[A").sees("› first thing").types(" again\r").sees("One.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let history = host.home().join(".local/state/host/history");
    let text = std::fs::read_to_string(&history).expect("it is kept");
    assert_eq!(text, "\"first thing\"\n\"other\"\n\"first thing again\"\n");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&history).expect("it is there"));
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn tab_completes_commands_and_paths_and_leaves_out_what_is_ignored() {
    let replies = [answer("Read.")];
    let host = Host::scripted(&replies, &[])
        .file(".gitignore", "secret*\n")
        .file("secret.txt", "")
        .file("section/part one.txt", "the part")
        .file("section/other.txt", "");
    let mut pty = open(&host, 80, 24);
    pty.types("/sta\t").sees("› /stats ").types("\u{15}");
    pty.types("see @sec\t").sees("› see @section/").sees("› section/other.txt").types("p\t");
    pty.sees("@\"section/part one.txt\"").types("\r").sees("Read.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!pty.everything().contains("secret"), "{}", pty.everything());
    let asked = host.session().into_iter().find(|entry| entry["type"] == "content").expect("it was asked");
    assert!(asked["content"].to_string().contains("the part"), "{asked}");
}

#[test]
fn conversation_path_that_may_not_be_read_is_reported_and_the_prompt_returns() {
    let host = Host::scripted(&[answers("fine", "Fine.")], &[]).file(".gitignore", "x\n").file("x", "");
    let mut pty = open(&host, 80, 24);
    pty.types("what is @x\r").sees("cannot be attached").sees("default › what is @x").types("\u{15}fine\r");
    pty.sees("Fine.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}
