//! `host mcp` and `host doctor`: the servers, and what is wrong with them.

use super::*;

fn server() -> Server {
    let mut odd = tool("read-file", "Reads too.");
    odd["title"] = json!("Read\u{1b}[2J");
    let prompts = json!({"prompts": [{"name": "review", "description": "Reviews.", "arguments": [{"name": "pull", "required": true}]}]});
    let resources = json!({"resources": [{"uri": "note://1", "name": "A note", "mimeType": "text/plain"}]});
    Server::new(&json!([tool("read_file", "Reads a file."), odd]), &text("x"))
        .answers("prompts.list", prompts)
        .answers("resources.list", resources)
}

#[test]
fn mcp_list_says_what_each_server_offers_and_what_is_not_used() {
    let host = server().of(Host::new(["mcp", "list"]), "");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let script = script(&host).display().to_string();
    let expected = format!(
        "files: connected · 1 tool, 1 resource, 1 prompt · sh {script}\n  the tool `read-file` is not used: its name looks like `read_file`\n"
    );
    assert_eq!(ended.stdout, expected);
    let json = host.run_of(&["mcp", "list", "--json"]).json();
    assert_eq!(json[0]["state"], "ready");
    assert_eq!(json[0]["called"], json!(["files__read_file"]));
    assert_eq!(json[0]["program"], json!({"name": "files", "version": "1.2.3"}));
    assert_eq!(json[0]["revision"], "2025-11-25");
}

#[test]
fn mcp_show_and_test_say_what_a_server_says_about_itself() {
    let host = server().of(Host::new(["mcp", "show", "files"]), "net = [\"api.example.com\"]\n");
    let shown = host.run();
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for words in [
        "program        files 1.2.3",
        "protocol       2025-11-25",
        "may reach      api.example.com",
        "its hints      not believed",
        "files__read_file: Reads a file.",
        "@files:note://1: A note",
        "/files:review: Reviews.",
        "Use it for files.",
    ] {
        assert!(shown.stdout.contains(words), "{words} in {}", shown.stdout);
    }
    assert!(!shown.stdout.contains('\u{1b}'), "{:?}", shown.stdout);
    let tested = host.run_of(&["mcp", "test", "files"]);
    assert!(
        tested.stdout.starts_with("files: connected in ") && tested.stdout.contains("protocol 2025-11-25"),
        "{tested:?}"
    );
    let unknown = host.run_of(&["mcp", "show", "fils"]);
    assert!(
        unknown.stderr.contains("there is no MCP server `fils`") && unknown.stderr.contains("did you mean `files`?"),
        "{unknown:?}"
    );
}

#[test]
fn mcp_commands_without_a_server_say_how_to_configure_one() {
    let host = Host::new(["mcp", "list"]);
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.stderr.contains("no MCP server is configured"), "{ended:?}");
    assert_eq!(host.run_of(&["mcp", "list", "--json"]).json(), json!([]));
    for command in ["show", "test", "login"] {
        let ended = host.run_of(&["mcp", command, "x"]);
        assert_eq!(ended.code, Some(42), "{ended:?}");
        assert!(ended.stderr.contains("no MCP server is configured"), "{ended:?}");
    }
}

#[test]
fn mcp_test_and_doctor_name_a_server_that_cannot_be_used() {
    let broken = SERVER.replace("while ", "echo 'cannot find the module' >&2; exit 3\nwhile ");
    let host = server().of(Host::new(["mcp", "test", "files"]), "").home_file("files/server.sh", broken);
    let tested = host.run();
    assert_eq!(tested.code, Some(52), "{tested:?}");
    assert!(tested.stderr.contains("cannot find the module"), "{tested:?}");
    let doctor = host.run_of(&["doctor"]);
    assert!(doctor.stdout.contains("bad   MCP servers     files: unavailable"), "{}", doctor.stdout);
    let away = "[mcp.files]\nurl = \"http://127.0.0.1:9/mcp\"\n";
    for (configured, words) in [
        (away, "cannot connect: Connection refused"),
        ("[mcp.files]\ncommand = \"no-such-program\"\n", "there is no program `no-such-program` in `PATH`"),
        ("[mcp.files]\ncommand = \"/no/such/file\"\n", "there is no program `/no/such/file` ·"),
    ] {
        let host = Host::new(["mcp", "list"]).configured(configured);
        let listed = host.run();
        assert!(listed.stdout.starts_with("files: unavailable") && listed.stdout.contains(words), "{listed:?}");
        assert_eq!(listed.stderr, "", "what a library logs is no message to a user");
    }
    let good = server().of(Host::new(["doctor"]), "").run();
    assert!(good.stdout.contains("good  MCP servers     files: connected · 1 tool"), "{}", good.stdout);
}

#[test]
fn mcp_configuration_mistakes_are_reported_with_the_key() {
    for (text, words) in [
        ("[mcp.files]\ncommand = \"a\"\nurl = \"https://b\"\n", "both `command` and `url` are set"),
        ("[mcp.a__b]\ncommand = \"a\"\n", "`a__b` cannot be the name of an MCP server"),
        ("[mcp.files]\ncomand = \"a\"\n", "did you mean `command`?"),
        ("[mcp.files]\ncommand = \"a\"\nnet = [\"a b c\"]\n", "`[mcp.files]` cannot be used"),
        ("[mcp.files]\nurl = \"ftp://a\"\n", "`mcp.files.url` is `ftp://a`"),
    ] {
        let ended = Host::new(["mcp", "list"]).configured(text).run();
        assert_eq!(ended.code, Some(52), "{text}: {ended:?}");
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
    let missing = "[mcp.files]\ncommand = \"a\"\nenv = { TOKEN = { env = \"NO_SUCH_VARIABLE\" } }\n";
    let ended = Host::new(["mcp", "list"]).configured(missing).run();
    assert!(ended.stderr.contains("`files` is left out until you set the variable NO_SUCH_VARIABLE"), "{ended:?}");
}

#[test]
fn mcp_tools_are_listed_and_shown_beside_the_others() {
    let host = server().of(Host::new(["tool", "list"]), "");
    let listed = host.run();
    assert!(listed.stdout.contains("files__read_file") && listed.stdout.contains("mcp (not granted)"), "{listed:?}");
    let granted = host.run_of(&["tool", "list", "--grant", GRANT]);
    assert!(!granted.stdout.contains("mcp (not granted)"), "{granted:?}");
    let shown = host.run_of(&["tool", "show", "files__read_file"]);
    assert!(shown.stdout.contains("Reads a file.") && shown.stdout.contains("may call this tool alone"), "{shown:?}");
    let preview = host.run_of(&["tool", "call", "files__read_file", r#"{"path": "a"}"#, "--preview"]);
    assert!(preview.stdout.contains("call `read_file` of the MCP server `files`"), "{preview:?}");
    assert!(asked(&host, "tools/call").is_empty());
    let checked = host.run_of(&["policy", "check", "files__read_file", r#"{"path": "a"}"#]);
    assert!(checked.stdout.contains("ask") && checked.stdout.contains("mcp=files/read_file"), "{checked:?}");
}
