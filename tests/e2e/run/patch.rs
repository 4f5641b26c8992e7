//! How models change files: which tools each family has, and patches from the request of a model to the files.

use std::fs;

use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::server::{Answer, Server};
use serde_json::{Value, json};

use super::approvals::answers;
use super::formats::{FORMATS, Say};
use super::{answer, call};

const PATCH: &str = "*** Begin Patch\n*** Add File: new\n+1\n*** Delete File: old\n*** Update File: f\n@@\n a\n-b\n+B\n\
                     *** End Patch\n";

fn patched(path: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-b\n+B\n*** End Patch\n")})
}

/// Runs the host while the server of the test answers.
async fn beside(host: Host, run: impl FnOnce(&Host) -> Ended + Send + 'static) -> (Host, Ended) {
    let running = tokio::task::spawn_blocking(move || {
        let ended = run(&host);
        (host, ended)
    });
    running.await.expect("it runs")
}

/// The tools that the model is offered and that change files.
fn offered(arguments: &[&str], configuration: &str) -> Vec<&'static str> {
    let host = Host::new(["agent", "prompt", "--approval-mode", "default"]).args(arguments);
    let shown = host.configured(configuration).run();
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let tools = shown.stdout.lines().find_map(|line| line.strip_prefix("Tools: ")).expect("a list of tools");
    let has = |name: &str| tools.split(", ").any(|tool| tool == name);
    ["edit", "write_file", "apply_patch"].into_iter().filter(|name| has(name)).collect()
}

// promise files.family: A model is offered one way to change files: that of its family, or the one that the user set.
#[test]
fn patch_is_offered_to_the_families_that_work_best_with_it() {
    let (edit, patch) = (["edit", "write_file"], ["apply_patch"]);
    for (model, tools) in [
        ("openai-responses/gpt-5.6-terra", &patch[..]),
        ("openai/gpt-5", &patch),
        ("anthropic/claude-sonnet-5", &edit),
        ("gemini/gemini-3.6-pro", &edit),
        ("ollama/gpt-oss:20b", &edit),
    ] {
        assert_eq!(offered(&["--model", model], ""), tools, "{model}");
        assert_eq!(offered(&["--model", model], "editing = \"patch\"\n"), patch, "{model}");
        assert_eq!(offered(&["--model", model], "editing = \"edit\"\n"), edit, "{model}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_of_a_model_changes_files_on_each_wire_and_is_undone() {
    for format in FORMATS {
        let server =
            Server::start(move |request| match (request.path.as_str(), request.body.contains("Deleted `old`")) {
                ("/token", _) => Answer::ok(json!({"access_token": "t0ken", "expires_in": 3600}).to_string()),
                (_, true) => format.reply(&[Say::Text("Done.")]),
                (_, false) => format.reply(&[Say::Call("apply_patch", json!({"patch": PATCH}))]),
            })
            .await;
        let host = format.host(&server, &["--approval-mode", "auto-edit", "Change it"], "editing = \"patch\"\n");
        let host = host.file("old", "gone\n").file("f", "a\nb\n");
        let (host, ended) = beside(host, Host::run).await;
        assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "Done."), "{}: {ended:?}", format.name());
        let text = |name: &str| fs::read_to_string(host.repository().join(name)).ok();
        assert_eq!(
            ["new", "old", "f"].map(text),
            [Some("1\n".into()), None, Some("a\nB\n".into())],
            "{}",
            format.name()
        );
        let (host, undone) = beside(host, |host| host.run_of(&["undo", "--to", "1"])).await;
        assert_eq!(undone.code, Some(0), "{undone:?}");
        let text = |name: &str| fs::read_to_string(host.repository().join(name)).ok();
        assert_eq!(["new", "old", "f"].map(text), [None, Some("gone\n".into()), Some("a\nb\n".into())]);
    }
}

/// The events of a reply that calls `apply_patch` with a text by its grammar.
fn custom_call() -> String {
    let item = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "apply_patch", "input": PATCH,
                      "status": "completed"});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let response = json!({"status": "completed", "output": [], "usage": {"input_tokens": 50, "output_tokens": 7}});
    let completed = json!({"type": "response.completed", "response": response});
    format!("data: {done}\n\ndata: {completed}\n\n")
}

// promise files.grammar: On the Responses wire a patch is written by its grammar, and is not wrapped in JSON.
#[tokio::test(flavor = "multi_thread")]
async fn patch_by_its_grammar_changes_files_on_the_responses_wire() {
    let format = FORMATS.iter().find(|format| format.provider() == "openai-responses").expect("there is one");
    let server = Server::start(move |request| match request.body.contains("custom_tool_call_output") {
        true => format.reply(&[Say::Text("Done.")]),
        false => format.stream(custom_call()),
    })
    .await;
    let configuration = format!("[models.\"{}\"]\ncustom_tools = true\n", format.model);
    let host = format.host(&server, &["--approval-mode", "auto-edit", "Change it"], &configuration);
    let host = host.file("old", "gone\n").file("f", "a\nb\n");
    let (host, ended) = beside(host, Host::run).await;
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "Done."), "{ended:?}");
    assert_eq!(fs::read_to_string(host.repository().join("f")).expect("text"), "a\nB\n");
    let requests = format.asked(&server);
    let first = requests.first().expect("it was asked").json();
    let tools = first["tools"].as_array().expect("tools");
    let patch = tools.iter().find(|tool| tool["name"] == "apply_patch").expect("it is declared");
    assert_eq!((&patch["type"], &patch["format"]["syntax"]), (&json!("custom"), &json!("lark")));
    assert!(patch["format"]["definition"].as_str().is_some_and(|grammar| grammar.contains("*** Begin Patch")));
    let last = requests.last().expect("it was asked").body.clone();
    assert!(last.contains("Deleted `old`"), "{last}");
}

// promise files.shown
#[test]
fn patch_is_asked_about_once_with_every_file() {
    let replies = [json!({"chunks": [call("apply_patch", json!({"patch": PATCH}))]}), answer("Done.")];
    let host = Host::scripted(&replies, &["--approval-mode", "default"]).configured("editing = \"patch\"\n");
    let host = host.file("old", "gone\n").file("f", "a\nb\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 40);
    pty.sees("› ").types("change it\r").sees("apply_patch wants to change 3 files").sees("`new`:").sees("1 + 1");
    pty.sees("`old` is removed:").sees("1 - gone").sees("`f`:");
    assert!(host.repository().join("old").exists());
    answers(&mut pty, "2 + B", "y");
    pty.sees("✓ apply_patch new, old, f").sees("Done.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(!host.repository().join("old").exists() && host.repository().join("new").exists());
}

// promise files.seen
#[test]
fn patch_changes_and_deletes_no_file_that_the_user_changed_since() {
    let delete = json!({"patch": "*** Begin Patch\n*** Delete File: g\n*** End Patch\n"});
    let replies = [
        json!({"chunks": [call("read_file", json!({"path": "f"})), call("read_file", json!({"path": "g"}))]}),
        answer("Read."),
        json!({"chunks": [call("apply_patch", patched("f"))]}),
        json!({"chunks": [call("apply_patch", delete)], "expect": {"responses": ["+mine"]}}),
        json!({"chunks": [{"text": "Stopped."}], "expect": {"responses": ["+mine"]}}),
    ];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit"]).configured("editing = \"patch\"\n");
    let host = host.file("f", "a\nb\n").file("g", "a\nb\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 80, 24);
    pty.sees("› ").types("look\r").sees("Read.");
    for name in ["f", "g"] {
        fs::write(host.repository().join(name), "a\nb\nmine\n").expect("written");
    }
    pty.types("change\r").sees("Stopped.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    for name in ["f", "g"] {
        assert_eq!(fs::read_to_string(host.repository().join(name)).expect("text"), "a\nb\nmine\n");
    }
}

// promise files.by-name: A rule that denies `edit` or `write_file`, or asks about them, holds for `apply_patch`.
#[test]
fn patch_is_held_by_rules_about_the_tools_in_whose_place_it_is() {
    for tool in ["edit", "write_file", "apply_patch"] {
        let replies = [json!({"chunks": [call("apply_patch", patched("f"))]}), answer("Done.")];
        let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "Change it"]);
        let host = host.configured("editing = \"patch\"\n").file("f", "a\nb\n");
        let rule = format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"deny\"\n");
        let ended = host.home_file(".config/host/policies/mine.toml", rule);
        let content = |host: &Host| fs::read_to_string(host.repository().join("f")).expect("text");
        assert_eq!(ended.run().code, Some(0));
        assert_eq!(content(&ended), "a\nb\n", "{tool}");
    }
    // Without the rule it changes the file.
    let replies = [json!({"chunks": [call("apply_patch", patched("f"))]}), answer("Done.")];
    let host = Host::scripted(&replies, &["--approval-mode", "auto-edit", "Change it"]);
    let host = host.configured("editing = \"patch\"\n").file("f", "a\nb\n");
    assert_eq!(host.run().code, Some(0));
    assert_eq!(fs::read_to_string(host.repository().join("f")).expect("text"), "a\nB\n");
}
