//! What becomes of a subagent's work, its failures and its tools.

use std::io::{BufRead, BufReader};

use host_tests::host::{Host, guest_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{SEARCHER, answer, calls, expecting, report};

fn investigate() -> Value {
    calls(&[("codebase_investigator", json!({"objective": "How does it fly?"}))])
}

/// What the parent is told, and its answer to that.
fn told(words: &str) -> Value {
    expecting(json!({"responses": [words]}), answer("Done."))
}

#[test]
fn a_subagent_investigates_and_its_report_reaches_its_parent() {
    let child = |tools: Value, reply: Value| {
        let mut expected = json!({"system": "You are **Codebase Investigator**"});
        expected["tools"] = tools;
        expecting(expected, reply)
    };
    let mut look = calls(&[("ls", json!({"path": "src"}))]);
    look["chunks"].as_array_mut().expect("a list").insert(0, json!({"thought": "**Looking around** first"}));
    look["chunks"].as_array_mut().expect("a list").push(json!({"usage": {"input": 100, "output": 10}}));
    let replies = [
        expecting(json!({"tools": ["codebase_investigator", "shell"]}), investigate()),
        child(json!(["ls", "read_file", "glob", "grep", "complete_task"]), look),
        child(json!([]), calls(&[("complete_task", report())])),
        told(
            "Subagent 'codebase_investigator' finished.\nTermination reason: GOAL\nResult:\n{\n  \"SummaryOfFindings\"",
        ),
    ];
    let host = Host::scripted(&replies, &["--output-format", "stream-json", "How?"]).file("src/main.rs", "");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<String> = ended
        .lines()
        .iter()
        .map(|line| {
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", word("agent_id"), word("type"), word("tool_name")).trim().to_owned()
        })
        .collect();
    let id = "main/codebase_investigator-1";
    assert_eq!(
        lines,
        [
            "init",
            "message",
            "tool_use codebase_investigator",
            &format!("{id} message"),
            &format!("{id} tool_use ls"),
            &format!("{id} tool_result ls"),
            &format!("{id} tool_use complete_task"),
            &format!("{id} tool_result complete_task"),
            "tool_result codebase_investigator",
            "message",
            "result",
        ]
    );
    let stats = &ended.lines().pop().expect("the result")["stats"];
    assert_eq!((&stats["turns"], &stats["tokens"]["total"]), (&json!(2), &json!(110)), "its tokens are the run's");
    let subagents = json!({"codebase_investigator": {"runs": 1, "goals": 1, "turns": 2, "tokens": 110}});
    assert_eq!(stats["subagents"], subagents);

    let session = host.session();
    let at = |kind: &str, agent: &str| {
        let is = |line: &Value| line["type"] == kind && line["agent_id"] == agent;
        session.iter().position(is).unwrap_or_else(|| panic!("{kind} of {agent} in {session:?}"))
    };
    assert!(at("run_started", "main") < at("run_started", id) && at("run_ended", id) < at("run_ended", "main"));
    let of_child = |line: &&Value| line["prompt"]["agent"] == id && line["type"] == "call_started";
    assert_eq!(session.iter().filter(of_child).count(), 2, "its calls are written down under its id");
}

#[test]
fn subagent_that_failed_is_reported_as_a_failure() {
    let replies = [
        investigate(),
        answer("I think it flies."),
        answer("I still think so."),
        told(
            "Subagent 'codebase_investigator' did not finish: ERROR_NO_COMPLETE_TASK_CALL after 1 turn.\n\
             It has no result. The last that it wrote:\nI still think so.",
        ),
    ];
    let ended = Host::scripted(&replies, &["--output-format", "stream-json", "How?"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.lines();
    let result = lines.iter().find(|line| line["type"] == "tool_result").expect("the call settled");
    assert_eq!((&result["tool_name"], &result["status"]), (&json!("codebase_investigator"), &json!("error")));
}

// promise subagent.tools: A subagent calls no other agent and no tool that it does not declare.
#[test]
fn a_subagent_calls_no_agent_and_no_tool_but_its_own() {
    let unauthorized = |name: &str| format!("the tool `{name}` is not available to this agent");
    let wanted = calls(&[
        ("codebase_investigator", json!({"objective": "again"})),
        ("searcher", json!({"topic": "x"})),
        ("shell", json!({"command": "touch made"})),
        ("write_file", json!({"path": "made", "content": "x"})),
    ]);
    let names = ["codebase_investigator", "searcher", "shell", "write_file"];
    let replies = [
        investigate(),
        wanted,
        expecting(json!({"responses": names.map(unauthorized)}), calls(&[("complete_task", report())])),
        told("GOAL"),
    ];
    let searcher = SEARCHER.replace("web_search, ", "");
    let host = Host::scripted(&replies, &["--approval-mode", "yolo", "How?"]).agent("searcher.md", &searcher);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!host.repository().join("made").exists());
}

// promise subagent.reads: A subagent's tools hold grants for reading only, whatever their names and annotations claim.
/// The name and the annotations of a tool are what its author says. What stops it is that it holds nothing.
#[tokio::test]
async fn a_tool_that_lies_about_reading_is_stopped_by_its_grants() {
    let folder = tempfile::tempdir().expect("a folder");
    let impostor = guest_file("impostor", folder.path()).await;
    let plugin = impostor.to_str().expect("a plain path");
    let write = |path: &str| ("web_search", json!({"path": path}));
    let search = calls(&[("searcher", json!({"topic": "x"}))]);
    let none = "`impostor` has no fs-write grant for `.`, and no answer allows it: a subagent";
    let replies = [
        calls(&[write("by_the_run.txt")]),
        expecting(json!({"responses": ["written"]}), search),
        calls(&[write("by_the_subagent.txt"), ("memory", json!({"action": "save", "fact": "x"}))]),
        expecting(json!({"responses": [none, "state"]}), calls(&[("complete_task", json!({"result": "nothing"}))])),
        told("GOAL"),
    ];
    let host =
        Host::scripted(&replies, &["--approval-mode", "yolo", "--plugin", plugin, "Go"]).agent("searcher.md", SEARCHER);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
    assert!(host.repository().join("by_the_run.txt").exists(), "with the run's own grants it writes");
    assert!(!host.repository().join("by_the_subagent.txt").exists(), "with a subagent's it does not");
}

// promise subagent.ends
#[tokio::test]
async fn a_first_ctrl_c_reaches_a_subagent_and_the_run_ends() {
    let hang = json!({"chunks": [{"text": "I begin"}, {"hang": true}]});
    let host = Host::scripted(&[investigate(), hang], &["--output-format", "stream-json", "How?"]);
    let mut child = host.command().spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.expect("read")).expect("each line is JSON"));
    lines.find(|line| line["agent"] == "codebase_investigator" && line["type"] == "message").expect("it begins");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(pid, Signal::INT).expect("it runs");
    let call = lines.find(|line| line["type"] == "tool_result").expect("the call settles");
    assert_eq!((&call["tool_name"], &call["status"]), (&json!("codebase_investigator"), &json!("cancelled")));
    assert!(call["output"].as_str().is_some_and(|output| output.contains("I begin")), "{call}");
    let result = lines.find(|line| line["type"] == "result").expect("the run ends");
    assert_eq!(result["terminate_reason"], "ABORTED");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let ends: Vec<_> = host.session().into_iter().filter(|line| line["type"] == "run_ended").collect();
    let ids: Vec<_> = ends.iter().map(|line| line["agent_id"].as_str().unwrap_or_default()).collect();
    assert_eq!(ids, ["main/codebase_investigator-1", "main"]);
}

#[test]
fn the_configuration_bounds_overrides_and_disables_agents() {
    let replies = [investigate(), told("this run has started 1 subagent, which is the limit")];
    let twice = [replies[0].clone(), calls(&[("complete_task", report())]), investigate(), replies[1].clone()];
    let ended = Host::scripted(&twice, &["How?"]).configured("[run]\nmax_subagents = 1\n").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    for off in ["[agents.codebase_investigator]\nenabled = false\n", "[run]\nmax_subagents = 0\n"] {
        let replies = [investigate(), told("there is no tool `codebase_investigator`")];
        let ended = Host::scripted(&replies, &["How?"]).configured(off).run();
        assert_eq!(ended.code, Some(0), "{off}: {ended:?}");
    }

    // What holds for every agent's run holds for a subagent's.
    let replies = [investigate(), answer(""), told("did not finish: ERROR after 1 turn.")];
    let ended = Host::scripted(&replies, &["How?"]).configured("[retry]\nreply_attempts = 1\n").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut replies = vec![investigate()];
    replies.extend(vec![calls(&[("ls", json!({}))]); 7]);
    replies.extend([calls(&[("complete_task", report())]), told("GOAL")]);
    let ended = Host::scripted(&replies, &["How?"]).configured("[run]\nloop_detection = false\n").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let look = calls(&[("ls", json!({}))]);
    let last = expecting(json!({"last_text": "1 turn,"}), calls(&[("complete_task", report())]));
    let replies = [investigate(), look, last, told("its best answer after MAX_TURNS")];
    let ended = Host::scripted(&replies, &["How?"]).configured("[agents.codebase_investigator]\nmax_turns = 1\n").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let ended = Host::scripted(&[], &["How?"]).configured("[agents.codebase_investigater]\nmax_turns = 1\n").run();
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.contains("did you mean `codebase_investigator`?"), "{ended:?}");
}
