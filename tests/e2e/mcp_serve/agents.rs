//! Agents as tools of a client.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::client::{Client, text};

/// The model of an agent that looks around and reports.
fn script(host: &Host) -> String {
    let call = |name: &str, arguments: Value| json!({"chunks": [{"call": {"name": name, "arguments": arguments}}]});
    let report = json!({"report": {
        "SummaryOfFindings": "It flies.",
        "ExplorationTrace": ["Listed the folder."],
        "RelevantLocations": [{"FilePath": "src/main.rs", "Reasoning": "It lifts off.", "KeySymbols": ["main"]}],
    }});
    let replies = [call("ls", json!({"path": "src"})), call("complete_task", report)];
    let path = host.home().join("script.jsonl");
    std::fs::write(&path, replies.iter().map(|reply| format!("{reply}\n")).collect::<String>()).expect("written");
    format!("scripted:{}", path.display())
}

// promise mcp.agents: Agents are tools of a client if a model is configured; their steps are progress, their calls only
//   read, and each call is a session of its own.
#[test]
fn mcp_serve_runs_an_agent_as_a_tool() {
    let host = Host::new(["run"]).file("src/main.rs", "");
    let model = script(&host);
    let mut client = Client::old(&host, &["--model", &model], json!({}));
    let list = client.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    let agent = tools.iter().find(|tool| tool["name"] == "codebase_investigator").expect("it is there");
    assert_eq!(
        (&agent["title"], &agent["annotations"]["readOnlyHint"]),
        (&json!("Codebase Investigator Agent"), &json!(true))
    );
    assert_eq!(agent["inputSchema"]["required"], json!(["objective"]));
    assert!(host.logs().is_empty(), "nothing is recorded before a call");
    let invalid = client.call("codebase_investigator", json!({}));
    assert_eq!(invalid["isError"], true, "{invalid}");
    assert!(host.logs().is_empty(), "nor for a call that does not run");
    let found = client.call("codebase_investigator", json!({"objective": "How does it fly?"}));
    assert_eq!(found["isError"], false, "{found}");
    assert!(text(&found).contains("It flies."), "{found}");
    let steps: Vec<&str> = client.held.iter().filter_map(|message| message["params"]["message"].as_str()).collect();
    assert!(steps.contains(&"turn 1") && steps.contains(&"ls src"), "{steps:?}");
    assert_eq!(client.close().0, Some(0));
    let recorded = host.logs();
    let texts: Vec<String> = recorded.iter().map(|log| std::fs::read_to_string(log).expect("read")).collect();
    assert!(texts.iter().any(|text| text.contains("It flies.")), "{recorded:?}");
}

#[test]
fn mcp_serve_reports_an_agent_without_its_model() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &["--model", "scripted:/nothing/there.jsonl"], json!({}));
    let failed = client.call("codebase_investigator", json!({"objective": "How?"}));
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(text(&failed).contains("there.jsonl"), "{failed}");
    assert_eq!(client.call("ls", json!({}))["isError"], false, "the tools go on");
}
