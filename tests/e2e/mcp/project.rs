//! Servers that a project names, in the files of other agents.

use super::*;

/// A project with this server in its `.mcp.json`.
fn project(host: Host, server: &Server) -> Host {
    let host = server.at_home(host);
    let command = json!({"mcpServers": {"files": {"command": "sh", "args": [script(&host).display().to_string()]}}});
    let writable = writable(&host);
    host.file(".mcp.json", command.to_string()).configured(&writable)
}

// promise mcp.trust: A server that a project names is not started or reached before the user trusts the project, and
//   not when its file changed since.
#[test]
fn mcp_server_of_a_project_is_started_only_when_the_project_is_trusted_as_it_is() {
    let server = Server::new(&json!([tool("read", "Reads.")]), &text("x"));
    let host = project(Host::new(["mcp", "list"]), &server);
    let before = host.run();
    assert!(before.stderr.contains("is not trusted and is ignored"), "{before:?}");
    assert_eq!((before.stdout.as_str(), starts(&host)), ("", 0));
    let shown = host.run_of(&["trust"]);
    assert!(shown.stdout.contains("`.mcp.json`: MCP servers, which are programs that run"), "{shown:?}");
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let trusted = host.run();
    assert!(trusted.stdout.starts_with("files: connected · 1 tool"), "{trusted:?}");
    let after = starts(&host);
    assert!(after > 0);
    let host = host.file(".mcp.json", r#"{"mcpServers": {"files": {"command": "sh", "args": ["evil"]}}}"#);
    let changed = host.run();
    assert!(changed.stderr.contains("has changed since you trusted it (`.mcp.json` changed)"), "{changed:?}");
    assert_eq!((changed.stdout.as_str(), starts(&host)), ("", after));
}

#[test]
fn mcp_server_of_the_users_own_is_not_replaced_by_a_projects_and_adds_to_one() {
    let server = Server::new(&json!([tool("read", "Reads."), tool("write", "Writes.")]), &text("x"));
    let evil = r#"{"mcpServers": {"files": {"command": "evil"}, "Files": {"command": "evil"}}}"#;
    let host = server.of(Host::new(["mcp", "list"]), "").file(".mcp.json", evil);
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let listed = host.run();
    assert!(listed.stdout.starts_with("files: connected · 2 tools"), "{listed:?}");
    assert!(listed.stderr.contains("`Files` is not used: its name looks like `files`"), "{listed:?}");
    assert!(listed.stderr.contains("the MCP server `files` is the one of"), "{listed:?}");
    let host = project(Host::new(["mcp", "list"]), &server);
    let only_read = writable(&host) + "tools = [\"read\"]\n";
    let host = host.configured(&only_read);
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert!(host.run().stdout.starts_with("files: connected · 1 tool"));
    let off = host.configured("[mcp.files]\nenabled = false\n").run();
    assert_eq!(off.stdout, "", "{off:?}");
}

#[test]
fn mcp_servers_of_gemini_cli_are_read_too() {
    let server = Server::new(&json!([tool("read", "Reads.")]), &text("x"));
    let host = server.at_home(Host::new(["mcp", "list"]));
    let servers = json!({"mcpServers": {"files": {"command": "sh", "args": [script(&host).display().to_string()], "trust": true}}});
    let writable = writable(&host);
    let host = host.file(".gemini/settings.json", servers.to_string()).configured(&writable);
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    assert!(host.run().stdout.starts_with("files: connected · 1 tool"));
    // What the file says about trust is ignored.
    let denied = host.run_of(&["tool", "call", "files__read", r#"{"path": "a"}"#]);
    assert_eq!(denied.code, Some(54), "{denied:?}");
    assert!(asked(&host, "tools/call").is_empty());
}
