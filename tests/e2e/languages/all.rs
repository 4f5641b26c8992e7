//! Each capability, and each thing that a preview can be, by way of the binding of each language.

use std::sync::Arc;

use host_capability::{Capability, Grants, McpPermit, McpServerName, Scope};
use host_message::OutputPart;
use host_plugin::{
    Answering, CallError, CallListener, Confirmation, Failure, Ground, Invocation, McpAnswer, McpClient, PlacedSecret,
    Placement, Secrets,
};
use host_tests::languages::{LANGUAGES, Language, Project, kept, load};
use host_tests::server::{Answer, Server};
use host_tests::{Bench, runtime, text};
use serde_json::{Map, Value, json};

const VALUE: &str = "s3cret-of-a-person";

/// A server that says what was called.
struct Echo;

impl McpClient for Echo {
    fn is_program(&self, _: &McpServerName) -> bool {
        false
    }

    fn only_reads(&self, _server: &McpServerName, _tool: &str) -> bool {
        false
    }

    fn call(&self, permit: McpPermit, arguments: Map<String, Value>, _: Arc<dyn CallListener>) -> Answering {
        let said = format!("{}/{} {}", permit.server(), permit.tool(), Value::Object(arguments));
        Box::pin(async { Ok(McpAnswer { content: vec![OutputPart::Text(said)], ..McpAnswer::default() }) })
    }
}

fn built(language: Language) -> std::path::PathBuf {
    let (file, source) = match language.name {
        "c" => ("plugin.c", include_str!("all/plugin.c")),
        "zig" => ("plugin.zig", include_str!("all/plugin.zig")),
        "js" => ("plugin.js", include_str!("all/plugin.js")),
        "python" => ("plugin.py", include_str!("all/plugin.py")),
        "go" => ("plugin.go", include_str!("all/plugin.go")),
        other => panic!("no probe in {other}"),
    };
    let written = Project::begun(language, "all").text("plugin.toml");
    // How it is built is as the template has it.
    let build = written.find("[build]").map_or("", |at| written[at..].split("\n[").next().unwrap_or_default());
    let manifest = format!("{}\n{build}\n", include_str!("all/plugin.toml"));
    kept(Project::new(language, "all").file("plugin.toml", &manifest).file(file, source))
}

#[tokio::test]
async fn every_capability_is_used_by_every_language() {
    let server = Server::start(|request| {
        let of = |name: &str| request.header(name).unwrap_or("nobody").to_owned();
        Answer::ok(format!("{} {}", of("x-who"), of("authorization")))
    })
    .await;
    let place = format!("127.0.0.1:{}", server.port());
    for language in LANGUAGES {
        let name = language.name;
        let http = format!("http={place}");
        let bench =
            Bench::with(load(&built(language)), &["fs-write=.", "process=cat", "state=write", "mcp=files/read", &http]);
        let servers = Grants::none().with(Scope::parse_absolute(Capability::Http, &place).expect("a scope"));
        let mut secrets = Secrets::default();
        let placement = Placement::new("authorization", "Bearer {}").expect("a place");
        secrets.give("token", PlacedSecret::new(VALUE, placement, servers).expect("a secret"));
        let (secrets, config) = (Arc::new(secrets), [("greeting".to_owned(), "\"hello\"".to_owned())]);
        let call = |tool: &str, arguments: Value| {
            let mut invocation = bench.invocation(tool, arguments);
            invocation.secrets = Arc::clone(&secrets);
            invocation.config = Arc::new(config.clone().into());
            invocation.mcp = Some(Arc::new(Echo));
            let bench = &bench;
            async move { bench.invoke(invocation).await.map(|output| text(&output)) }
        };
        let check = |answer: Result<String, CallError>, says: &str| match answer {
            Ok(answer) => assert_eq!(answer, says, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        };

        check(call("note", json!({"path": "a.txt", "text": "grüße"})).await, "noted");
        assert_eq!(bench.content("a.txt"), "grüße", "{name}");
        let again = call("note", json!({"path": "a.txt", "text": "x"})).await;
        assert!(matches!(again, Err(CallError::Failure(Failure::Conflict(_)))), "{name}: {again:?}");
        check(call("run", json!({"argv": ["cat"]})).await, "from stdin, 0");
        let denied = call("run", json!({"argv": ["rm"]})).await;
        assert!(matches!(denied, Err(CallError::Failure(Failure::Denied { .. }))), "{name}: {denied:?}");
        let terminal = |key: &str| json!({"argv": ["cat"], "key": key});
        let talked = talk(&bench, terminal("enter")).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(talked.starts_with("typed\n") && talked.ends_with("\n40"), "{name}: {talked}");
        let unknown = talk(&bench, terminal("hyper-x")).await;
        let is_invalid =
            matches!(&unknown, Err(CallError::Failure(Failure::InvalidArguments(why))) if why.contains("hyper-x"));
        assert!(is_invalid, "{name}: {unknown:?}");
        let blotted = "*".repeat(VALUE.len());
        check(call("fetch", json!({"url": server.url("/")})).await, &format!("200 me Bearer {blotted}"));
        let denied = call("fetch", json!({"url": "https://other.example/"})).await;
        assert!(matches!(denied, Err(CallError::Failure(Failure::Denied { .. }))), "{name}: {denied:?}");
        check(call("keep", json!({"key": "k"})).await, "nothing, hello");
        check(call("keep", json!({"key": "k"})).await, "kept, hello");
        check(call("ask", json!({"tool": "read"})).await, "files/read {\"a\":1}");
        let denied = call("ask", json!({"tool": "write"})).await;
        assert!(matches!(denied, Err(CallError::Failure(Failure::Denied { .. }))), "{name}: {denied:?}");
    }
}

/// Starts a program on a terminal, as it does once its preview was decided about, and types.
async fn talk(bench: &Bench, arguments: Value) -> Result<String, CallError> {
    let shown = bench.preview("talk", arguments.clone()).await.expect("it has a preview");
    assert!(matches!(shown, Some(Confirmation::Exec { ground: Ground::Terminal, .. })), "{shown:?}");
    let background = Some(Arc::default());
    let invocation = Invocation { shown: shown.map(Arc::new), background, ..bench.invocation("talk", arguments) };
    bench.invoke(invocation).await.map(|output| text(&output))
}

#[tokio::test]
async fn languages_user_sees_and_can_change_what_a_tool_of_any_language_would_do() {
    for language in LANGUAGES {
        let name = language.name;
        let plugin = load(&built(language));
        let bench = Bench::with(Arc::clone(&plugin), &["fs-write=."]);
        let preview = async |tool: &str, arguments: Value| {
            let invocation = bench.invocation(tool, arguments);
            runtime().preview(&plugin, invocation).await.unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let note = json!({"path": "a.txt", "text": "one"});
        let (path, unified, proposed) = ("a.txt".to_owned(), "+one".to_owned(), "one".to_owned());
        match preview("note", note.clone()).await {
            Some(Confirmation::Edit { path: p, unified: u, proposed: t }) => {
                assert_eq!((p, t), (path, proposed), "{name}");
                assert!(u.contains(&unified), "{name}: {u}");
            }
            other => panic!("{name}: {other:?}"),
        }
        let revised = runtime().revise(&plugin, bench.invocation("note", note), "two \"2\"").await;
        let revised = revised.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Value::Object(revised), json!({"path": "a.txt", "text": "two \"2\""}), "{name}");
        let argv = vec!["cat".to_owned(), "b".to_owned()];
        match preview("run", json!({ "argv": argv })).await {
            Some(Confirmation::Exec { argv: shown, .. }) => assert_eq!(shown, argv, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
        match preview("fetch", json!({"url": "https://a.example/"})).await {
            Some(Confirmation::Info { text, requests, writes }) => {
                assert_eq!((text.as_str(), writes.len()), ("fetches", 0), "{name}");
                assert_eq!(requests, [("GET".to_owned(), "https://a.example/".to_owned())], "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
        bench.file("old.txt", "old\n");
        match preview("patch", json!({"path": "new.txt"})).await {
            Some(Confirmation::Edits { changes }) => {
                let named: Vec<_> =
                    changes.iter().map(|change| (change.path.as_str(), change.proposed.as_deref())).collect();
                assert_eq!(named, [("new.txt", Some("new")), ("old.txt", None)], "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(preview("keep", json!({"key": "k"})).await, Some(Confirmation::Call), "{name}");
        let refused = runtime().revise(&plugin, bench.invocation("keep", json!({"key": "k"})), "x").await;
        assert!(refused.is_err(), "{name}: {refused:?}");
    }
}
