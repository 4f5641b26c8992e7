//! One conversation through each frontend: in process, as a page would hold it, on a terminal, in an editor, and over
//! the Model Context Protocol.
//!
//! A frontend decides nothing, so all leave the same files and the same decisions. Deliberately not
//! here: what each frontend looks like.

mod acp;
mod commands;
mod in_process;
mod over_mcp;
mod terminal;

use std::path::Path;

use host_tests::host::Host;
use serde_json::{Value, json};

use self::acp::InEditor;
use self::in_process::InProcess;
use self::over_mcp::OverMcp;
use self::terminal::OnTerminal;
use crate::publisher::{self, Publisher, READS};

/// What the user answers to a question about a call.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Yes,
    No,
    /// Change what is proposed, then yes to what it is then.
    Change,
}

/// A frontend that holds one conversation.
trait Frontend: Sized {
    /// Starts it with this script for a model, in a new session or in the last one.
    fn start(host: &Host, script: &Path, resumes: bool) -> Self;

    /// Installs a bundle for the user, if the question about it is answered with a yes.
    fn install(host: &Host, bundle: &Path, yes: bool);

    /// Sends a prompt, answers its questions in order, and returns when the model has said `end`.
    fn prompt(&mut self, text: &str, replies: &[Reply], end: &str);

    /// Sends a prompt, waits until its program has printed `begun` (which its command line does not show), and cancels
    /// it.
    fn cancel(&mut self, text: &str);

    /// Leaves the conversation.
    fn leave(self);

    /// What was decided about each call, with how it ended: from the session log.
    fn decided(host: &Host) -> Vec<Value> {
        let settled = host.session().into_iter().filter(|entry| entry["type"] == "call_settled");
        settled.map(|entry| json!([entry["status"], entry["decided"]])).collect()
    }
}

fn write(path: &str, content: &str) -> Value {
    json!({"call": {"name": "write_file", "arguments": {"path": path, "content": content}}})
}

fn calls(call: Value) -> Value {
    json!({"chunks": [call]})
}

fn says(expected: &str, text: &str) -> Value {
    json!({"expect": {"responses": [expected]}, "chunks": [{"text": text}]})
}

/// Whether a frontend lets the user change what a call proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    Possible,
    Impossible,
}

/// The model of the first process.
fn first(changes: Changes) -> Vec<Value> {
    let counted = match changes {
        Changes::Possible => "changed.txt",
        Changes::Impossible => "approved.txt",
    };
    let mut replies = vec![
        calls(write("denied.txt", "no\n")),
        says("[Operation Cancelled]", "Denied it is."),
        calls(write("approved.txt", "yes\n")),
        says("approved.txt", "Approved it is."),
        calls(write("changed.txt", "the model's\n")),
        says("the user's", "Changed it is."),
        calls(json!({"call": {"name": "count_lines", "arguments": {"path": counted}}})),
        says("1 lines", "Counted it is."),
        calls(
            json!({"call": {"name": "shell", "arguments": {"command": "echo be\"\"gun; while [ ! -e never ]; do sleep 0.02; done"}}}),
        ),
    ];
    if changes == Changes::Impossible {
        replies.drain(4..6);
    }
    replies
}

/// The model of the second process, which resumes the session.
fn second() -> Vec<Value> {
    vec![json!({"expect": {"last_text": "and now"}, "chunks": [{"text": "Resumed it is."}]})]
}

/// Installs a plugin and holds the conversation; the files that it left, and what was decided about each call.
fn hold<F: Frontend>(changes: Changes) -> (Vec<(String, String)>, Vec<Value>) {
    let host = Host::new(["run"]).file(".host/config.toml", "[compression]\nthreshold = 0.7\n");
    let script = |name: &str, replies: &[Value]| {
        let path = host.home().join(name);
        std::fs::write(&path, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
        path
    };
    let acme = Publisher::new("acme");
    publisher::trust(&host, &acme);
    let bundle = host.home().join("counts.tar");
    let signed = tokio::runtime::Runtime::new().expect("threads").block_on(acme.signed("1.0.0", READS));
    std::fs::write(&bundle, signed.to_archive()).expect("written");
    let installed = || host.run_of(&["plugin", "list", "--json"]).stdout.contains("acme/counts");
    F::install(&host, &bundle, false);
    assert!(!installed(), "nothing is kept after a no");
    F::install(&host, &bundle, true);
    assert!(installed());
    // The project is trusted by the answer to a question; the second process finds it trusted.
    let mut frontend = F::start(&host, &script("first.jsonl", &first(changes)), false);
    frontend.prompt("deny it", &[Reply::No], "Denied it is.");
    frontend.prompt("approve it", &[Reply::Yes], "Approved it is.");
    if changes == Changes::Possible {
        frontend.prompt("change it", &[Reply::Change, Reply::Yes], "Changed it is.");
    }
    frontend.prompt("count it", &[], "Counted it is.");
    frontend.cancel("cancel it");
    frontend.leave();
    assert_eq!(host.run_of(&["trust", "status", "--json"]).json()["trust"], "trusted");
    let mut frontend = F::start(&host, &script("second.jsonl", &second()), true);
    frontend.prompt("and now", &[], "Resumed it is.");
    frontend.leave();
    let files = ["denied.txt", "approved.txt", "changed.txt"];
    let read = |name: &&str| Some(((*name).to_owned(), std::fs::read_to_string(host.repository().join(name)).ok()?));
    (files.iter().filter_map(read).collect(), F::decided(&host))
}

#[test]
fn frontends_hold_the_same_conversation_with_the_same_decisions() {
    let (files, decided) = hold::<InProcess>(Changes::Possible);
    let expected = [("approved.txt", "yes\n"), ("changed.txt", "the user's\n")];
    assert_eq!(files, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    let statuses: Vec<&str> = decided.iter().map(|one| one[0].as_str().unwrap_or_default()).collect();
    assert_eq!(statuses, ["cancelled", "success", "success", "success", "cancelled"], "{decided:?}");
    assert_eq!(hold::<OnTerminal>(Changes::Possible), (files.clone(), decided.clone()));
    // A client gets no response to a call that it cancelled.
    assert_eq!(hold::<OverMcp>(Changes::Possible), (files, decided[..4].to_vec()));
}

#[test]
fn frontends_without_an_editor_for_changes_hold_the_rest_of_the_conversation() {
    let (files, decided) = hold::<InProcess>(Changes::Impossible);
    assert_eq!(files, [("approved.txt".to_owned(), "yes\n".to_owned())]);
    let statuses: Vec<&str> = decided.iter().map(|one| one[0].as_str().unwrap_or_default()).collect();
    assert_eq!(statuses, ["cancelled", "success", "success", "cancelled"], "{decided:?}");
    assert_eq!(hold::<InEditor>(Changes::Impossible), (files, decided));
}
