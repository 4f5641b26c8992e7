//! Many definitions, resources and prompts in a conversation.

use host_tests::pty::Pty;

use super::*;

// promise mcp.deferred: Definitions of MCP servers over a share of the model's window are not declared; the model finds
//   and loads them with `tool_search`.
#[test]
fn mcp_definitions_over_a_share_of_the_window_are_found_by_tool_search() {
    let tools: Vec<Value> =
        (0..60).map(|at| tool(&format!("tool_{at}"), &format!("Does number {at}. {}", "x".repeat(2_000)))).collect();
    let mut wanted = tool("send_mail", "Sends a mail.");
    wanted["description"] = json!("Sends a mail to somebody.");
    let tools = json!([&tools[..], &[wanted]].concat());
    let replies = [
        json!({"chunks": [call("tool_search", json!({"query": "send a mail", "max_results": 1}))]}),
        json!({"expect": {"responses": ["files__send_mail"]}, "chunks": [call("files__send_mail", json!({"path": "a"}))]}),
        json!({"expect": {"responses": ["sent"]}, "chunks": [{"text": "Done."}]}),
    ];
    let arguments = ["--grant", GRANT, "Do it"];
    let server = Server::new(&tools, &text("sent"));
    let share = "[context]\nmcp_share = 0.05\n";
    let host = server.of(Host::scripted(&replies, &arguments), share);
    went_well(&host.run());
    assert_eq!(asked(&host, "tools/call").len(), 1);
    // Below the share all are declared, and there is nothing to search.
    let replies = [
        json!({"chunks": [call("tool_search", json!({"query": "mail"}))]}),
        json!({"expect": {"responses": ["there is no tool `tool_search`"]}, "chunks": [{"text": "Done."}]}),
    ];
    let host = server.of(Host::scripted(&replies, &arguments), "[context]\nmcp_share = 1.0\n");
    went_well(&host.run());
}

#[test]
fn mcp_resources_are_attached_and_prompts_are_sent_in_a_conversation() {
    let prompts = json!({"prompts": [{"name": "review", "description": "Reviews.", "arguments": [{"name": "pull", "required": true}]}]});
    let prompt =
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Review number 7, please."}}]});
    let resources = json!({"resources": [{"uri": "note://1", "name": "A note", "mimeType": "text/plain"}]});
    let resource = json!({"contents": [{"uri": "note://1", "mimeType": "text/plain", "text": "buy milk"}]});
    let server = Server::new(&json!([tool("read", "Reads.")]), &text("x"))
        .answers("prompts.list", prompts)
        .answers("prompts.get", prompt)
        .answers("resources.list", resources)
        .answers("resources.read", resource);
    let replies = [
        json!({"expect": {"last_text": "buy milk"}, "chunks": [{"text": "Noted."}]}),
        json!({"expect": {"last_text": "Review number 7, please."}, "chunks": [{"text": "Reviewed."}]}),
    ];
    let host = server.of(Host::scripted(&replies, &[]), "");
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 100, 40);
    pty.sees("default › ").types("see @files:note://1.\r").sees("Noted.").sees("default › ");
    pty.types("/files:review\r").sees("the prompt needs `pull`").sees("/files:review <pull>");
    pty.types("\u{15}/files:review 7\r").sees("Reviewed.").sees("default › ");
    pty.types("/mcp\r").sees("files: connected · 1 tool, 1 resource, 1 prompt").sees("/files:review <pull>");
    pty.types("/context\r").sees("MCP server files: ").types("/quit\r");
    assert_eq!(pty.ends(), Some(0));
    let got = asked(&host, "prompts/get");
    assert_eq!(got[0]["params"]["arguments"], json!({"pull": "7"}), "{got:?}");
    assert_eq!(asked(&host, "resources/read")[0]["params"]["uri"], "note://1");
}

// promise mcp.attached: A prompt that the user did not type attaches nothing of an MCP server without a grant.
#[test]
fn mcp_resource_in_the_words_of_a_script_is_attached_only_with_a_grant() {
    let resource = json!({"contents": [{"uri": "note://1", "mimeType": "text/plain", "text": "buy milk"}]});
    let server = Server::new(&json!([]), &text("x")).answers("resources.read", resource);
    let replies = [json!({"expect": {"last_text": "buy milk"}, "chunks": [{"text": "Done."}]})];
    let host = server.of(Host::scripted(&replies, &["see @files:note://1"]), "");
    let ended = host.run();
    assert_eq!(ended.code, Some(42), "{ended:?}");
    assert!(ended.stderr.contains("add --grant mcp:mcp=files"), "{ended:?}");
    assert!(asked(&host, "resources/read").is_empty());
    let host = server.of(Host::scripted(&replies, &["--grant", GRANT, "see @files:note://1"]), "");
    went_well(&host.run());
}

// promise mcp.programs
#[test]
fn mcp_server_ends_with_the_session() {
    let server = Server::new(&json!([tool("read", "Reads.")]), &text("x"));
    let lasting = SERVER.replace("echo start >> asked", "echo start >> asked; sleep 1000 & echo $$ $! > pids");
    let host =
        server.of(calling(&[call("files__read", json!({"path": "a"}))], &["x"], &["--grant", GRANT, "Do it"]), "");
    let host = host.home_file("files/server.sh", lasting);
    went_well(&host.run());
    let pids = std::fs::read_to_string(host.home().join("files/pids")).expect("it wrote them");
    assert_eq!(pids.split_whitespace().count(), 2, "{pids}");
    for pid in pids.split_whitespace() {
        // What has ended and nobody has waited for yet has no command line.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(line.is_empty(), "{pid} goes on: {}", String::from_utf8_lossy(&line));
    }
}
