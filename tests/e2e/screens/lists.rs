//! What the other commands print for a reader.

use super::*;

#[test]
fn screens_lists_of_tools_agents_and_rules() {
    let host = Host::new(["run"]).in_git();
    for (name, arguments) in [
        ("tool_list", &["tool", "list"][..]),
        ("tool_show", &["tool", "show", "ls"]),
        ("agent_list", &["agent", "list"]),
        ("policy_check", &["policy", "check", "shell", "{\"command\": \"git status && rm -rf target\"}"]),
        ("trust_status", &["trust", "status"]),
        ("session_list_empty", &["session", "list"]),
    ] {
        printed(&host, name, &host.run_of(arguments));
    }
}

#[test]
fn screens_session_that_was_recorded() {
    let calls = [call("ls", json!({})), call("shell", json!({"command": "make"}))];
    let host = calling(&calls, &["Build it"]);
    assert_eq!(host.run().code, Some(0));
    for (name, arguments) in [
        ("session_list", &["session", "list"][..]),
        ("session_show", &["session", "show"]),
        ("session_export", &["session", "export"]),
    ] {
        printed(&host, name, &host.run_of(arguments));
    }
}
