//! Clients on standard streams that do not behave.

use std::collections::BTreeSet;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::client::{Client, OLD, forms};

// promise mcp.hostile: Rubbish, messages without end, requests out of order and floods from a client are refused or
//   ignored; the server answers what is valid afterwards.
#[test]
fn mcp_serve_survives_a_client_that_sends_rubbish() {
    let host = Host::new(["run"]);
    let mut client = Client::start(&host, &[]);
    for rubbish in ["", "\u{feff}{", "null", "[]", "{\"jsonrpc\":\"1.0\"}", "{\"id\":1}", "\u{1b}[2J\u{0}", "{\"a\":"] {
        client.send_bytes(format!("{rubbish}\n").as_bytes());
    }
    client.send_bytes(b"\xff\xfe\xfd\n");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/nothing"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
    // Before the handshake nothing runs.
    let early = client.request("tools/call", json!({"name": "ls", "arguments": {}}));
    assert!(early["error"].is_object(), "{early}");
    // A line that never ends is not kept, and what comes after it is read.
    let long = vec![b'x'; 1 << 20];
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"");
    for _ in 0..9 {
        client.send_bytes(&long);
    }
    client.send_bytes(b"\"}\n");
    let hello = client.initialize(OLD, json!({}));
    assert_eq!(hello["result"]["serverInfo"]["name"], "host", "{hello}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}}));
    client.send(&json!({"jsonrpc": "2.0", "id": 1234, "result": {"action": "accept"}}));
    let unknown = client.request("tools/unknown", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let listed = client.request("tools/list", json!({"cursor": "-1"}));
    assert_eq!(listed["error"]["code"], -32602, "{listed}");
    assert!(client.request("ping", json!({}))["result"].is_object());
    let (code, stderr) = client.close();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains(['\u{1b}', '\u{0}']) && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn mcp_serve_reports_a_name_that_no_tool_has_as_an_error_of_the_protocol() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &["--deny", "*:process"], forms());
    for name in ["read_fil", "", "complete_task", "ask_user", "../../x\u{1b}[2J", "codebase_investigator"] {
        let refused = client.request("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let words = refused["error"]["message"].as_str().expect("words");
        assert!(words.starts_with("unknown tool") && !words.contains('\u{1b}'), "{words}");
    }
    let near = client.request("tools/call", json!({"name": "read_fil", "arguments": {}}));
    assert!(near["error"]["message"].as_str().is_some_and(|words| words.contains("`read_file`")), "{near}");
    // What was denied is neither listed nor asked about, and a call of it says so.
    let list = client.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    assert!(tools.iter().all(|tool| tool["name"] != "shell"), "{list}");
    let denied = client.call("shell", json!({"command": "touch a.txt"}));
    assert_eq!(denied["isError"], true, "{denied}");
    assert!(!host.repository().join("a.txt").exists());
    // No argument grants anything.
    let id = client.ask(
        "tools/call",
        json!({"name": "shell", "arguments": {"command": "touch a.txt", "grant": "shell:process=*"}, "grant": "*"}),
    );
    assert_eq!(client.response(id)["result"]["isError"], true);
    assert!(!host.repository().join("a.txt").exists());
}

#[test]
fn mcp_serve_limits_what_a_client_leaves_unread() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], json!({}));
    // Each answer is some 30 KB: without a limit 100 MB would wait here.
    let all: Vec<u64> = (0..3_000).map(|_| client.ask("tools/list", json!({}))).collect();
    let mut missing: BTreeSet<u64> = all.into_iter().collect();
    while !missing.is_empty() {
        let message = client.receive();
        let is_known = message["result"]["tools"].is_array() || message["error"]["code"] == -32600;
        assert!(is_known, "{message}");
        assert!(missing.remove(&message["id"].as_u64().expect("an id")), "{} was answered twice", message["id"]);
    }
    // An id that is in use is refused, so that nothing is answered in the place of something else.
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], forms());
    let call = client.begin("write_file", json!({"path": "a.txt", "content": ""}));
    let question = client.question();
    client.send(&json!({"jsonrpc": "2.0", "id": call, "method": "tools/list", "params": {}}));
    assert_eq!(client.response(call)["error"]["code"], -32600);
    client.answer(&question, json!({"action": "decline"}));
}

#[test]
fn mcp_serve_runs_no_more_calls_than_it_has_places_for() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], forms());
    let calls: Vec<u64> =
        (0..70).map(|at| client.begin("write_file", json!({"path": format!("{at}.txt"), "content": ""}))).collect();
    let (mut asked, mut refused): (Vec<Value>, u64) = (Vec::new(), 0);
    for _ in &calls {
        let message = client.receive();
        match message["method"].as_str() {
            Some("elicitation/create") => asked.push(message),
            _ => {
                let words = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
                assert!(words.contains("64 calls are running"), "{message}");
                refused += 1;
            }
        }
    }
    assert_eq!((asked.len(), refused), (64, 6));
    for question in &asked {
        client.answer(question, json!({"action": "decline"}));
    }
    for _ in &asked {
        assert_eq!(client.receive()["result"]["isError"], true);
    }
    assert!(client.call("ls", json!({}))["isError"] == false, "its places are free again");
}
