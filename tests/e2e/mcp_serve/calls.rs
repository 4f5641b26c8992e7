//! What a client sees of the tools, and what becomes of its calls.

use host_tests::eventually;
use host_tests::host::{Host, guest_file};
use serde_json::{Value, json};

use super::client::{Client, NEW, OLD, text};

/// The names in a list of tools.
fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("a list, not {list}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

// promise mcp.tools: `host mcp serve` lists every tool that a run has, with schemas and annotations, in both revisions
//   of the protocol and in the same order each time; the tools that are the agent itself are not among them.
#[test]
fn mcp_serve_lists_the_tools_of_a_run_in_both_revisions() {
    let host = Host::new(["run"]);
    let mut old = Client::old(&host, &[], json!({}));
    let mut new = Client::new(&host, &[], json!({}));
    let discovered = new.request("server/discover", json!({}));
    let versions = &discovered["result"]["supportedVersions"];
    assert!(
        versions.as_array().is_some_and(|all| all.contains(&json!(NEW)) && all.contains(&json!(OLD))),
        "{versions}"
    );
    let (first, second) = (old.request("tools/list", json!({})), new.request("tools/list", json!({})));
    assert_eq!(names(&first), names(&second));
    for name in ["read_file", "grep", "write_file", "shell"] {
        assert!(names(&first).contains(&name), "{name} in {:?}", names(&first));
    }
    for own in ["complete_task", "ask_user", "present_plan", "codebase_investigator"] {
        assert!(!names(&first).contains(&own), "{own}");
    }
    let tool = |name: &str| {
        let tools = first["result"]["tools"].as_array().expect("a list");
        tools.iter().find(|tool| tool["name"] == name).expect("it is there").clone()
    };
    let read = tool("read_file");
    assert_eq!(read["title"], "Read a file");
    assert_eq!(read["inputSchema"]["required"], json!(["path"]));
    assert_eq!(read["annotations"]["readOnlyHint"], true, "{read}");
    assert_eq!(tool("write_file")["annotations"]["readOnlyHint"], false);
    assert_eq!(first["result"].get("resultType"), None, "older clients do not know it");
    assert_eq!(second["result"]["resultType"], "complete");
    for client in [old, new] {
        let (code, stderr) = client.close();
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("agents such as `codebase_investigator` are not served"), "{stderr}");
    }
}

// promise mcp.served: A call of a client runs in the sandbox of a run; its text, data, structured result and progress
//   reach the client, and a failure is a result that says why.
#[tokio::test]
async fn mcp_serve_returns_every_kind_of_result() {
    let host = Host::new(["run"]).file("a.txt", "first\nsecond\n");
    let plugin = guest_file("conformance", host.home()).await;
    let plugin = plugin.to_str().expect("a path");
    let mut old = Client::old(&host, &["--plugin", plugin], json!({}));
    let mut new = Client::new(&host, &["--plugin", plugin], json!({}));
    for client in [&mut old, &mut new] {
        let read = client.call("read_file", json!({"path": "a.txt"}));
        assert!(text(&read).contains("1\tfirst\n2\tsecond"), "{read}");
        assert_eq!(read["isError"], false);
        assert_eq!(read["_meta"]["host/decided"], "allowed", "{read}");
        let added = client.call("add", json!({"a": 2, "b": 3}));
        assert_eq!((text(&added), &added["structuredContent"]), ("5", &json!({"sum": 5})));
        let image = client.call("test_image_content", json!({}));
        assert_eq!(
            (&image["content"][0]["type"], &image["content"][0]["mimeType"]),
            (&json!("image"), &json!("image/png"))
        );
        let failed = client.call("test_error_handling", json!({}));
        assert_eq!(failed["isError"], true);
        assert!(text(&failed).contains("intentionally returns an error"), "{failed}");
        let invalid = client.call("add", json!({"a": "two"}));
        assert_eq!(invalid["isError"], true);
        assert!(text(&invalid).starts_with("invalid arguments for `add`:"), "{invalid}");
        let missing = client.call("read_file", json!({"path": "b.txt"}));
        assert_eq!(missing["isError"], true);
        client.held.clear();
        client.call("test_tool_with_progress", json!({}));
        let reported: Vec<Value> = client.held.iter().map(|message| message["params"]["progress"].clone()).collect();
        assert_eq!(reported, [json!(0), json!(50), json!(100)].map(|value| json!(value.as_f64())), "{:?}", client.held);
    }
    let list = old.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    let add = tools.iter().find(|tool| tool["name"] == "add").expect("it is there");
    assert_eq!(add["outputSchema"]["required"], json!(["sum"]), "{add}");
}

// promise mcp.cancel: A call that a client cancels ends, and so do the programs that it started.
#[tokio::test]
async fn mcp_serve_cancel_ends_the_call_and_its_programs() {
    let host = Host::new(["run"]);
    for new in [false, true] {
        let start = if new { Client::new } else { Client::old };
        let mut client = start(&host, &["--approval-mode", "yolo"], json!({}));
        let call = client.begin("shell", json!({"command": "echo $$ > pid; echo be\"\"gun; exec sleep 1017"}));
        client.wait("progress", |message| message["params"]["message"] == "begun");
        let pid = std::fs::read_to_string(host.repository().join("pid")).expect("it runs");
        client.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call, "reason": "enough"}
        }));
        eventually(|| !is_alive(&pid)).await;
        // The client gets no response, and the server goes on.
        let list = client.request("tools/list", json!({}));
        assert!(list["result"]["tools"].is_array());
        assert!(client.held.iter().all(|message| message["id"] != call), "{:?}", client.held);
        assert_eq!(client.close().0, Some(0));
    }
}

// promise mcp.gone: When the client is gone, the calls that it began end, and so do their programs and the server.
#[tokio::test]
async fn mcp_serve_ends_its_programs_when_the_client_closes_its_streams() {
    let begin = |host: &Host| {
        let mut command = host.command_of(&["mcp", "serve", "--approval-mode", "yolo"]);
        command.stdin(std::process::Stdio::piped()).spawn().expect("it starts")
    };
    for closes_input in [false, true] {
        let host = Host::new(["run"]);
        let mut child = begin(&host);
        let mut input = child.stdin.take().expect("a pipe");
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
        }});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "shell", "arguments": {"command": "echo $$ > pid; mv pid begun; exec sleep 1018"}
        }});
        std::io::Write::write_all(&mut input, format!("{hello}\n{call}\n").as_bytes()).expect("it reads");
        let begun = host.repository().join("begun");
        eventually(|| begun.exists()).await;
        let pid = std::fs::read_to_string(&begun).expect("it runs");
        assert!(is_alive(&pid));
        // The other end of standard output; with the input still open nobody has said goodbye.
        drop(child.stdout.take());
        if closes_input {
            drop(input);
        }
        child.wait().expect("it ends");
        eventually(|| !is_alive(&pid)).await;
    }
}

pub(super) fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}
