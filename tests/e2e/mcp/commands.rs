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
}

#[test]
fn mcp_server_that_is_left_out_is_named_where_none_can_be_used() {
    let missing = "[mcp.files]\ncommand = \"a\"\nenv = { TOKEN = { env = \"NO_SUCH_VARIABLE\" } }\n";
    let host = Host::new(["mcp", "list"]).configured(missing);
    host_snapshot!(host, ["mcp", "list"], @r"
    exit: 0
    ----- stdout
    ----- stderr
    note: the MCP server `files` is left out until you set the variable NO_SUCH_VARIABLE, in which \
    `mcp.files.env.TOKEN` is
    note: no MCP server can be used
    ");
    host_snapshot!(host, ["mcp", "show", "files"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    note: the MCP server `files` is left out until you set the variable NO_SUCH_VARIABLE, in which \
    `mcp.files.env.TOKEN` is
    error: no MCP server can be used
      caused by: the MCP server `files` is left out until you set the variable NO_SUCH_VARIABLE, in which \
    `mcp.files.env.TOKEN` is
    ");
    let with_another = format!("{missing}[mcp.notes]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let host = Host::new(["mcp", "list"]).configured(&with_another);
    host_snapshot!(host, ["mcp", "test", "files"], @r"
    exit: 42
    ----- stdout
    ----- stderr
    note: the MCP server `files` is left out until you set the variable NO_SUCH_VARIABLE, in which \
    `mcp.files.env.TOKEN` is
    error: the MCP server `files` cannot be used
      caused by: the MCP server `files` is left out until you set the variable NO_SUCH_VARIABLE, in which \
    `mcp.files.env.TOKEN` is
    ");
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

#[test]
fn mcp_add_writes_what_is_read_and_remove_takes_it_back() {
    let own = "# mine\nmodel = \"offline\"\n";
    let host = server().of(Host::new(["mcp", "list"]), "").configured(own);
    let script = script(&host).display().to_string();
    let added = host.run_of(&["mcp", "add", "files", "--env", "TOKEN=s3cret-value", "--", "sh", &script]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let file = host.home().join(".config/host/config.toml");
    assert_eq!(added.stdout, format!("added `files` to {}\n", file.display()));
    assert!(added.stderr.contains("host mcp test files"), "{added:?}");
    let text = std::fs::read_to_string(&file).expect("read");
    assert!(text.starts_with(own) && text.contains("[mcp.files]") && !text.contains("s3cret"), "{text}");
    assert!(host.run().stdout.starts_with("files: connected · 1 tool"));
    let secret = host.home().join(".config/host/mcp-secrets/files.TOKEN");
    assert_eq!(std::fs::read_to_string(&secret).expect("read"), "s3cret-value");
    let again = host.run_of(&["mcp", "add", "files", "--", "sh", &script]);
    assert_eq!(again.code, Some(42), "{again:?}");
    assert!(again.stderr.contains("already") && again.stderr.contains("host mcp remove files"), "{again:?}");
    let removed = host.run_of(&["mcp", "remove", "files"]);
    assert_eq!((removed.code, removed.stdout), (Some(0), format!("removed `files` from {}\n", file.display())));
    assert_eq!(std::fs::read_to_string(&file).expect("read"), own);
    assert!(!secret.exists());
    let missing = host.run_of(&["mcp", "remove", "files"]);
    assert!(missing.code == Some(42) && missing.stderr.contains("--scope project"), "{missing:?}");
    // What is at an address, and what a package runner fetches.
    for (arguments, expected) in [
        (
            &["docs", "https://a.example/mcp", "--header", "X-Key: ${DOCS_KEY}"][..],
            "[mcp.docs]\nheaders = { X-Key = { env = \"DOCS_KEY\" } }\nurl = \"https://a.example/mcp\"\n",
        ),
        (
            &["npm", "--", "npx", "-y", "a-server"],
            "[mcp.npm]\nargs = [\"-y\", \"a-server\"]\ncommand = \"npx\"\nnet = [\"registry.npmjs.org\"",
        ),
    ] {
        let added = host.run_of(&[&["mcp", "add"], arguments].concat());
        assert_eq!(added.code, Some(0), "{added:?}");
        let text = std::fs::read_to_string(&file).expect("read");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn mcp_add_writes_a_projects_file_that_has_to_be_trusted() {
    let before = "{\n  \"other\": 1,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}\n  }\n}\n";
    let host = Host::new(["mcp", "list"]).file(".mcp.json", before).file("sub/x", "");
    let sub = host.repository().join("sub").display().to_string();
    let added = host.run_of(&["mcp", "add", "-s", "project", "-C", &sub, "docs", "--", "npx", "-y", "d"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.stderr.contains("host trust add"), "{added:?}");
    let file = host.repository().join(".mcp.json");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("read")).expect("JSON");
    let docs = json!({"command": "npx", "args": ["-y", "d"]});
    assert_eq!(written, json!({"other": 1, "mcpServers": {"a": {"command": "b"}, "docs": docs}}));
    let removed = host.run_of(&["mcp", "remove", "docs", "--scope", "project"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("read")).expect("JSON");
    assert_eq!(written, serde_json::from_str::<Value>(before).expect("JSON"));
}

#[test]
fn mcp_add_mistakes_say_what_to_do() {
    let host = Host::new(["mcp", "list"]);
    for (arguments, words) in [
        (&["a__b", "--", "x"][..], "cannot be the name of an MCP server"),
        (&["a", "https://b.example", "c"], "follows the address"),
        (&["a", "-t", "sse", "https://b.example/sse"], "streamable HTTP"),
        (&["a", "-t", "http", "--", "x"], "needs an address"),
        (&["a", "-e", "X=1", "https://b.example"], "--header 'NAME: VALUE'"),
        (&["a", "-e", "s3cret", "--", "x"], "--env NAME=VALUE"),
        (&["a", "--", "x", "${TOKEN}"], "--env NAME='${NAME}'"),
        (&["a", "ftp://b.example"], "is not the address of an MCP server"),
        (&["a", "--net", "b", "https://b.example"], "is about a program"),
        (&["a", "-s", "project", "--net", "b", "--", "x"], "[mcp.a]"),
    ] {
        let ended = host.run_of(&[&["mcp", "add"], arguments].concat());
        assert_eq!(ended.code, Some(42), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(words) && !ended.stderr.contains("s3cret"), "{words} in {ended:?}");
    }
    assert!(!host.home().join(".config/host/config.toml").exists());
}
