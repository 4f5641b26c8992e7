//! Scripts that call tools, with the real binary: each call is one of the model's to everyone, and nothing else is in
//! reach.

use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use serde_json::{Value, json};

use super::approvals::answers;

mod reads;

/// A model that runs this script and says that it is done. `expect` is what it reads of the script.
fn scripted(code: &str, expect: &str, arguments: &[&str]) -> Host {
    let call = json!({"call": {"name": "run_code", "arguments": {"code": code}}});
    let replies =
        [json!({"chunks": [call]}), json!({"expect": {"responses": [expect]}, "chunks": [{"text": "Done."}]})];
    let arguments = [&["--output-format", "stream-json"], arguments, &["Go"]].concat();
    Host::scripted(&replies, &arguments).configured("code_mode = true\n")
}

fn run(host: &Host) -> Ended {
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

/// The calls of a run with their parents, and how each ended, in the order of their ends.
fn calls(ended: &Ended) -> Vec<String> {
    let lines = ended.lines();
    let parent = |id: &Value| {
        let asked = lines.iter().find(|line| line["type"] == "tool_use" && line["tool_id"] == *id);
        let parent = asked.and_then(|line| line["parent_tool_id"].as_str());
        parent.map(|parent| {
            let of = lines.iter().find(|line| line["type"] == "tool_use" && line["tool_id"] == parent);
            format!("{} > ", of.and_then(|line| line["tool_name"].as_str()).unwrap_or("?"))
        })
    };
    let ends = lines.iter().filter(|line| line["type"] == "tool_result");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    ends.map(|end| {
        let parent = parent(&end["tool_id"]).unwrap_or_default();
        format!("{parent}{} {}", text(&end["tool_name"]), text(&end["status"]))
    })
    .collect()
}

// promise code.calls: Each call of a script passes its own checks, rules and questions, and is recorded and shown with
//   the call that made it.
#[test]
fn code_script_calls_tools_and_each_call_is_shown_recorded_and_undone_by_itself() {
    let code = "const files = ['a.txt', 'b.txt'];
        const texts = await Promise.all(files.map((path) => tools.read_file({path})));
        let refused = '';
        try { await tools.shell({command: 'make'}) } catch (error) { refused = error.message }
        try { await tools.grep({}) } catch (error) { refused += '\\n' + error.kind }
        await tools.write_file({path: 'sum.txt', content: String(texts.length)});
        console.log('texts', texts.length);
        return refused;";
    let expect = "texts 2\n\nshell: `shell` has no process grant for `make`";
    let host = scripted(code, expect, &["--approval-mode", "auto-edit", "--confine", "off"])
        .file("a.txt", "one\n")
        .file("b.txt", "two\n");
    let ended = run(&host);
    assert_eq!(
        calls(&ended),
        [
            "run_code > read_file success",
            "run_code > read_file success",
            "run_code > shell error",
            "run_code > grep error",
            "run_code > write_file success",
            "run_code success",
        ]
    );
    assert_eq!(std::fs::read_to_string(host.repository().join("sum.txt")).expect("written"), "2");
    let shown = host.run_of(&["session", "show"]);
    assert!(shown.stdout.contains("↳ ✓ write_file"), "{shown:?}");
    let blamed = host.run_of(&["session", "blame", "sum.txt"]);
    assert!(blamed.stdout.contains("write_file"), "{blamed:?}");
    let undone = host.run_of(&["undo", "--to", "1"]);
    assert!(undone.stdout.contains("sum.txt"), "{undone:?}");
    assert!(!host.repository().join("sum.txt").exists());
    let verified = host.run_of(&["session", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

// promise code.once: A call that was denied is not decided again in the same script, and none runs after one that the
//   user rejected.
#[test]
fn code_denied_call_in_a_loop_is_decided_once() {
    let code = "const words = new Set();
        for (let i = 0; i < 50; i++) {
          try { await tools.shell({command: 'make'}) } catch (error) { words.add(error.message) }
        }
        return [...words];";
    let host = scripted(code, "has no process grant", &["--confine", "off"]);
    let ended = run(&host);
    assert_eq!(calls(&ended), ["run_code > shell error", "run_code success"]);
}

// promise code.reach: A script calls neither itself nor a tool that is the agent itself, and no more than 256 calls.
#[test]
fn code_script_reaches_no_tool_of_the_agent_and_makes_no_calls_without_end() {
    let code = "const words = [];
        const of = {run_code: {code: 'return 1'}, ask_user: {questions: [{question: 'Which?'}]}, todo: {todos: []},
            tool_search: {query: 'x'}, nothing: {}};
        for (const [name, given] of Object.entries(of)) {
          try { await tools[name](given); words.push('called') } catch (error) { words.push(error.kind) }
        }
        let made = 0;
        try { for (;;) { await tools.ls({path: '.'}); made += 1 } } catch (error) { words.push(made, error.kind) }
        return words.join(' ');";
    let expect = "not-found not-found denied not-found not-found 252 unavailable";
    let ended = run(&scripted(code, expect, &[]));
    assert_eq!(calls(&ended).len(), 252 + 4 + 1);
}

// promise code.ends: A script that fills its memory ends by its limit, and the run goes on; one that computes without
//   end is ended with its run.
#[test]
fn code_script_that_fills_its_memory_ends_by_its_limit() {
    for code in [
        "const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length);",
        "let text = 'x'; for (;;) text += text;",
    ] {
        let ended = run(&scripted(code, "", &[]));
        assert_eq!(calls(&ended), ["run_code error"], "{code}");
    }
}

// promise code.ends
#[test]
fn code_script_that_computes_without_end_is_ended_with_its_run() {
    for code in ["for (;;) {}", "await new Promise(() => { for (;;) {} })", "/(a+)+$/.test('a'.repeat(64) + 'b')"] {
        let host = scripted(code, "", &["--timeout", "2s"]);
        let ended = host.run();
        assert_eq!(ended.lines().last().expect("a result")["terminate_reason"], "TIMEOUT", "{code}: {ended:?}");
        assert_ne!(ended.code, Some(0), "{code}: {ended:?}");
    }
}

// promise code.once
#[test]
fn code_script_makes_no_call_after_one_that_the_user_rejected() {
    let code = "const words = [];
        for (const name of ['a', 'b']) {
          try { await tools.write_file({path: name, content: name}) } catch (error) { words.push(error.kind) }
        }
        return words.join(' ');";
    let call = json!({"call": {"name": "run_code", "arguments": {"code": code}}});
    let replies = [json!({"chunks": [call]}), json!({"chunks": [{"text": "All is done."}]})];
    let host = Host::scripted(&replies, &["--approval-mode", "default", "Go"]).configured("code_mode = true\n");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 40);
    answers(&mut pty, "wants to change a", "n");
    pty.saw("All is done.").ends();
    let all = pty.everything();
    assert!(!all.contains("wants to change b"), "{all}");
    assert!(["a", "b"].iter().all(|name| !host.repository().join(name).exists()), "{all}");
}

// promise code.family: A model is offered scripts only if its family is trained on them, or the user says so.
#[test]
fn code_is_offered_by_family_and_setting() {
    let is_offered = |model: &str, configuration: &str| {
        let host = Host::new(["agent", "prompt", "--approval-mode", "default", "--model", model]);
        let shown = host.configured(configuration).run();
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let tools = shown.stdout.lines().find_map(|line| line.strip_prefix("Tools: ")).expect("a list of tools");
        tools.split(", ").any(|tool| tool == "run_code")
    };
    for (model, by_itself) in [("openai/gpt-5", true), ("anthropic/claude-sonnet-5", false), ("offline", false)] {
        assert_eq!(is_offered(model, ""), by_itself, "{model}");
        assert!(is_offered(model, "code_mode = true\n") && !is_offered(model, "code_mode = false\n"), "{model}");
    }
}
