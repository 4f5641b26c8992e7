//! What the start of a server costs: nothing is compiled, no model is chosen and nothing is recorded before a call.

use host_tests::host::Host;
use serde_json::json;

use super::client::Client;

// promise mcp.start: Starting a server and listing its tools compiles nothing, asks no model and writes no file.
#[test]
fn mcp_serve_prepares_nothing_before_the_first_call() {
    let host =
        Host::new(["run"]).env("GEMINI_API_KEY", "a-key-of-nobody").env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9");
    let cache = tempfile::tempdir().expect("a folder");
    let host = host.env("XDG_CACHE_HOME", cache.path());
    let mut client = Client::old(&host, &[], json!({}));
    let list = client.request("tools/list", json!({}));
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{list}");
    let compiled = || std::fs::read_dir(cache.path().join("host/components")).map_or(0, Iterator::count);
    assert_eq!(compiled(), 0);
    assert_eq!(client.call("ls", json!({}))["isError"], false);
    assert!(compiled() > 0, "a call compiles what it needs");
    assert_eq!(client.close().0, Some(0));
    assert!(host.logs().is_empty());
}

// promise mcp.project: What a project brings is served only if it is trusted.
#[test]
fn mcp_serve_uses_nothing_of_a_project_that_is_not_trusted() {
    let host = Host::new(["run"]).file(".host/config.toml", "approval_mode = \"plan\"\n");
    let mut client = Client::old(&host, &[], json!({}));
    let list = client.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    assert!(tools.iter().any(|tool| tool["name"] == "shell"), "{list}");
    let (code, stderr) = client.close();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("not trusted"), "{stderr}");
}
