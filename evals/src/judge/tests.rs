//! Each expectation fails when it does not hold: a judge that cannot fail a case judges nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::run::Call;

/// A run in a folder without Git that read `a.txt`, ran `cargo test` and changed `a.txt`.
fn finished() -> Finished {
    let folder = tempfile::tempdir().expect("made");
    let repository = folder.path().join("repository");
    std::fs::create_dir(&repository).expect("made");
    std::fs::write(repository.join("a.txt"), "new text\n").expect("written");
    let call = |tool: &str, arguments, failed| Call { id: tool.to_owned(), tool: tool.to_owned(), arguments, failed };
    Finished {
        folder,
        code: Some(0),
        errors: "a note\n".to_owned(),
        calls: vec![
            call("read_file", json!({"path": "a.txt"}), false),
            call("shell", json!({"command": "cargo test --lib"}), true),
        ],
        answer: "I changed a.txt:1.".to_owned(),
        turns: 3,
        tokens: 100,
        cost: None,
        time: Duration::ZERO,
        before: BTreeMap::from([("a.txt".to_owned(), b"old text\n".to_vec())]),
    }
}

/// What is wrong by these expectations.
fn wrong(expect: &str) -> Vec<String> {
    let text =
        format!("title = \"t\"\ntags = []\nprompt = \"p\"\ngit = false\nrecorded = \"by hand\"\n[expect]\n{expect}");
    judge(&toml::from_str(&text).expect("it is a case"), &finished()).expect("it can be judged")
}

#[test]
fn judge_passes_what_holds() {
    let expect = "changed = [\"a.txt\"]\nused = [\"read_file\"]\nunused = [\"edit\"]\norder = [\"read_file\", \"shell\"]\n\
                  ran = [\"^cargo test\"]\nnever_ran = [\"git commit\"]\nsays = [\"A\\\\.TXT:1\"]\nnever_says = [\"sorry\"]\n\
                  check = \"grep -q new a.txt\"\nmost_turns = 3\nmost_calls = 2\nmost_tokens = 100\nmost_failed = 1\n\
                  [expect.files.\"a.txt\"]\nis = \"new text\\n\"\nhas = [\"new\"]\nlacks = [\"old\"]\n\
                  [expect.files.\"b.txt\"]\nabsent = true";
    assert_eq!(wrong(expect), Vec::<String>::new());
}

#[test]
fn judge_fails_each_expectation_that_does_not_hold() {
    for (expect, said) in [
        ("exit = 1", "it ended with 0, not 1: a note"),
        ("changed = []", "`a.txt` is not as it was"),
        ("changed = [\"a.txt\", \"b.txt\"]", "`b.txt` did not change"),
        ("used = [\"edit\"]", "`edit` was not used"),
        ("unused = [\"shell\"]", "`shell` was used"),
        ("order = [\"shell\", \"read_file\"]", "`read_file` was not used in its place: read_file, shell"),
        ("ran = [\"npm test\"]", "no command was `npm test`"),
        ("never_ran = [\"cargo\"]", "a command was `cargo test --lib`"),
        ("says = [\"b.txt\"]", "the answer does not say `b.txt`: I changed a.txt:1."),
        ("never_says = [\"changed\"]", "the answer says `changed`: I changed a.txt:1."),
        ("check = \"echo why; exit 3\"", "`echo why; exit 3` fails: why"),
        ("most_turns = 2", "3 turns, more than 2"),
        ("most_calls = 1", "2 calls, more than 1"),
        ("most_tokens = 99", "100 tokens, more than 99"),
        ("most_failed = 0", "1 failed calls, more than 0"),
        ("[expect.files.\"a.txt\"]\nis = \"old\"", "`a.txt` is: new text\n"),
        ("[expect.files.\"a.txt\"]\nhas = [\"old\"]", "`a.txt` does not have `old`"),
        ("[expect.files.\"a.txt\"]\nlacks = [\"new\"]", "`a.txt` has `new`"),
        ("[expect.files.\"a.txt\"]\nabsent = true", "`a.txt` is still there"),
        ("[expect.files.\"b.txt\"]\nhas = [\"x\"]", "there is no `b.txt`"),
    ] {
        assert_eq!(wrong(expect), [said], "{expect}");
    }
}
