//! Tools that a service loads in the course of a conversation: what is sent on each wire, over real HTTP.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::server::{Answer, Request, Server as Web};
use serde_json::{Value, json};

use super::formats::{FORMATS, Format, Say};
use super::prefix::{Cached, is_asked, sibling};
use crate::mcp::{Server, text, tool};

/// What the server says of its tool. It must not be sent before the tool was found.
const LOOKS: &str = "Looks into the glass.";

/// The wires on which a service can load tools.
fn loading() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| ["anthropic", "openai-responses"].contains(&format.provider()))
}

/// What says that the server of the test is one that loads tools, as the models' own services are.
fn loads(model: &str) -> String {
    format!("[models.\"{model}\"]\ndeferred_tools = true\n")
}

/// Checks what the two services reject in a request, by their documentation and by the errors that they give.
fn check_accepted(name: &str, body: &Value) {
    let tools: Vec<&Value> = body["tools"].as_array().into_iter().flatten().collect();
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    if body.get("messages").is_some() {
        let is_deferred = |tool: &Value| tool["defer_loading"] == true;
        assert!(tools.is_empty() || !tools.iter().all(|tool| is_deferred(tool)), "{name}: all tools are deferred");
        for tool in &tools {
            let both = is_deferred(tool) && tool.get("cache_control").is_some();
            assert!(!both, "{name}: tools with defer_loading cannot use prompt caching: {tool}");
        }
        for block in list(&body["messages"]).iter().flat_map(|message| list(&message["content"])) {
            let content = list(&block["content"]);
            let references: Vec<&Value> = content.iter().filter(|part| part["type"] == "tool_reference").collect();
            assert!(references.is_empty() || references.len() == content.len(), "{name}: {block}");
            for reference in references {
                let is_its = |tool: &&&Value| tool["name"] == reference["tool_name"] && is_deferred(tool);
                assert!(tools.iter().any(|tool| is_its(&tool)), "{name}: no definition for {reference}");
            }
        }
        return;
    }
    let items = list(&body["input"]);
    let has_search = tools.iter().any(|tool| tool["type"] == "tool_search");
    let outputs = items.iter().filter(|item| item["type"] == "tool_search_output");
    let spaces: Vec<(Value, Value)> = outputs
        .flat_map(|item| list(&item["tools"]))
        .flat_map(|space| {
            list(&space["tools"]).into_iter().map(move |tool| (space["name"].clone(), tool["name"].clone()))
        })
        .collect();
    for (at, item) in items.iter().enumerate() {
        match item["type"].as_str() {
            Some("tool_search_output") => {
                assert!(has_search, "{name}: deferred tools require tools.tool_search");
                assert_eq!((&item["execution"], &item["status"]), (&json!("client"), &json!("completed")), "{name}");
                let is_answered =
                    |call: &Value| call["type"] == "tool_search_call" && call["call_id"] == item["call_id"];
                assert!(items[..at].iter().any(is_answered), "{name}: {item}");
                for space in list(&item["tools"]) {
                    assert_eq!(space["type"], "namespace", "{name}: {space}");
                    for tool in list(&space["tools"]) {
                        assert_eq!(tool["defer_loading"], true, "{name}: {tool}");
                    }
                }
            }
            Some("tool_search_call") => assert!(item["arguments"].is_object(), "{name}: {item}"),
            Some("function_call") => {
                let own = spaces.iter().find(|(_, tool)| *tool == item["name"]).map(|(space, _)| space);
                assert!(own == item.get("namespace"), "{name}: missing namespace for function_call: {item}");
            }
            _ => {}
        }
    }
}

/// The replies to the requests of the conversation, in order.
fn reply(number: usize) -> Vec<Say> {
    match number {
        0 => vec![Say::Text("One.")],
        // Without a search: the name was said, and the arguments are a guess.
        1 => vec![Say::Call("files__look", json!({"where": "here"}))],
        2 => vec![Say::Search(json!({"query": "weather"}))],
        3 => vec![Say::Search(json!({"names": ["files__look"]}))],
        4 => vec![Say::Found("files__look", json!({"path": "a"}))],
        5 => vec![Say::Text("Two.")],
        6 => vec![Say::Text("Three.")],
        _ => vec![Say::Text("Four.")],
    }
}

/// A conversation whose requests are returned: it begins before its server is ready, calls a tool that it did not find,
/// searches for none, finds it and calls it, asks another model of the family, and goes on in another process, in which
/// the server is not ready.
async fn conversation(format: &'static Format) -> Vec<Request> {
    let next = AtomicUsize::new(0);
    let server = Web::start(move |request| match is_asked(request) {
        true => format.reply(&reply(next.fetch_add(1, Ordering::SeqCst))),
        false => Answer::status(404, "not here"),
    })
    .await;
    let slow = Server::new(&json!([tool("look", LOOKS)]), &text("seen"));
    let host = slow.at_home(Host::new(["run"]));
    let home = host.home().to_owned();
    let folder = home.join("files").display().to_string();
    let start = format!("cd {folder}; read _ < go; exec sh server.sh");
    let configuration = format!(
        "[mcp.files]\ncommand = \"sh\"\nargs = [\"-c\", {}]\nwrite = [{}]\n{}{}",
        json!(start),
        json!(folder),
        loads(format.model),
        loads(sibling(format)),
    );
    let host = format.set_up(host, &server, &configuration);
    let made = Command::new("mkfifo").arg(home.join("files/go")).status().expect("it runs");
    assert!(made.success());
    tokio::task::spawn_blocking(move || {
        let start = |arguments: &[&str]| {
            let grant = ["--approval-mode", "default", "--grant", "mcp:mcp=files"];
            let mut command = host.command_of(&[&["run", "--model", format.model], &grant[..], arguments].concat());
            command.env("TERM", "xterm-256color");
            Pty::start(command, 120, 50)
        };
        let mut pty = start(&[]);
        pty.sees("default › ").types("first\r").sees("One.").sees("default › ");
        std::fs::write(home.join("files/go"), "go\n").expect("the server reads it");
        pty.settles(std::time::Duration::from_secs(60), |pty| {
            pty.types("/mcp\r").sees("files: ");
            pty.screen().contains("files: connected")
        });
        pty.types("second\r").sees("Two.").sees("default › ");
        pty.types(&format!("/model {}\r", sibling(format))).sees("model: ").types("third\r").sees("Three.");
        pty.sees("default › ").types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
        let mut pty = start(&["--continue"]);
        pty.sees("default › ").types("fourth\r").sees("Four.").types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
    })
    .await
    .expect("the conversation is as expected");
    server.requests().into_iter().filter(is_asked).collect()
}

// promise conversation.prefix
#[tokio::test]
async fn deferred_tools_leave_all_that_was_sent_where_it_was_when_servers_come_and_tools_are_found() {
    for (format, sent) in join_all(loading().map(|format| async move { (format, conversation(format).await) })).await {
        let name = format.name();
        let bodies: Vec<Value> = sent.iter().map(Request::json).collect();
        assert_eq!(bodies.len(), 8, "{name}");
        bodies.iter().for_each(|body| check_accepted(&name, body));
        let requests: Vec<Cached> = sent.iter().map(Cached::of).collect();
        for (at, pair) in requests.windows(2).enumerate() {
            match pair[0].lost_in(&pair[1]) {
                // OpenAI rejects a call of a tool that is loaded without its namespace, also one from before, which was
                // refused: all other messages stay.
                Some(call) if at == 3 && format.provider() == "openai-responses" => {
                    assert!(call.contains("function_call") && call.contains("where"), "{name}: {call}");
                }
                lost => assert_eq!(lost, None, "{name}: request {at} is not all in the next one"),
            }
        }
        // From the first request on there is a search, and the tool is not paid for before it was found.
        let is_search = |tool: &Value| tool["type"] == "tool_search" || tool["name"] == "tool_search";
        for (at, body) in bodies.iter().enumerate() {
            assert!(body["tools"].as_array().is_some_and(|tools| tools.iter().any(is_search)), "{name}: {at}");
            assert_eq!(body.to_string().contains(LOOKS), at >= 4, "{name}: {at}");
        }
        let said = |at: usize, text: &str| requests[at].messages.iter().any(|message| message.contains(text));
        assert!(!said(0, "finds these now") && said(1, "finds these now"), "{name}");
        assert!(said(1, "1 tool: files__look"), "{name}");
        assert!(said(2, "the tool `files__look` is not loaded yet: call `tool_search`"), "{name}");
        assert!(said(3, "no tool fits `weather`"), "{name}");
        assert!(said(5, "seen"), "{name}");
        // A service that serves another model of the family gets the same.
        assert_ne!(bodies[5]["model"], bodies[6]["model"], "{name}");
    }
}

/// The requests of a run that finds one of 60 tools and calls it; `options` is configuration.
async fn found(format: &'static Format, options: &str) -> Vec<Value> {
    let replies = |number: usize| match number {
        0 => vec![Say::Search(json!({"query": "send a mail", "max_results": 1}))],
        1 => vec![Say::Found("files__send_mail", json!({"path": "a"}))],
        _ => vec![Say::Text("Done.")],
    };
    asked_with_many(format, options, replies).await
}

async fn asked_with_many(
    format: &'static Format,
    options: &str,
    replies: impl Fn(usize) -> Vec<Say> + Send + Sync + 'static,
) -> Vec<Value> {
    let next = AtomicUsize::new(0);
    let server = Web::start(move |request| match (request.path.as_str(), is_asked(request)) {
        ("/token", _) => Answer::ok(json!({"access_token": "t0ken", "expires_in": 3600}).to_string()),
        (_, true) => format.reply(&replies(next.fetch_add(1, Ordering::SeqCst))),
        (_, false) => Answer::status(404, "not here"),
    })
    .await;
    let many = (0..60).map(|at| tool(&format!("tool_{at}"), &format!("Does number {at}. {}", "x".repeat(2_000))));
    let all: Vec<Value> = many.chain([tool("send_mail", "Sends a mail to somebody.")]).collect();
    let host = Server::new(&json!(all), &text("sent")).at_home(Host::new(["run"]));
    let folder = host.home().join("files");
    let configuration = format!(
        "{options}[mcp.files]\ncommand = \"sh\"\nargs = [{}]\nwrite = [{}]\nrequired = true\n",
        json!(folder.join("server.sh").display().to_string()),
        json!(folder.display().to_string()),
    );
    let host = format.set_up(host, &server, &configuration);
    let host = host.args(&["--model", format.model, "--grant", "mcp:mcp=files", "Do it"]);
    let ended = tokio::task::spawn_blocking(move || host.run()).await.expect("it ends");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{}: {ended:?}", format.name());
    server.requests().iter().filter(|request| is_asked(request)).map(Request::json).collect()
}

// promise mcp.deferred
#[tokio::test]
async fn deferred_tools_are_sent_by_wires_that_have_them_and_declared_by_the_others() {
    let native = FORMATS.iter().filter(|format| !format.name().ends_with("in text"));
    let runs = native.map(|format| async move {
        let share = "context.mcp_share = 0.01\n";
        let with = found(format, &format!("{share}{}", loads(format.model))).await;
        let without = found(format, share).await;
        let all = asked_with_many(format, "context.mcp_share = 1.0\n", |_| vec![Say::Text("Done.")]).await;
        (format, with, without, all)
    });
    for (format, with, without, all) in join_all(runs).await {
        let name = format.name();
        assert_eq!((with.len(), without.len(), all.len()), (3, 3, 1), "{name}");
        let size = |body: &Value| body.to_string().len();
        // Neither way pays for what is not found.
        assert!(size(&all[0]) - size(&with[0]) > 60 * 2_000, "{name}: {} {}", size(&all[0]), size(&with[0]));
        let (first, last) = (&with[0], &with[2]);
        assert!(size(last) - size(first) < 3_000, "{name}: {} {}", size(first), size(last));
        if loading().any(|loading| loading.model == format.model) {
            with.iter().for_each(|body| check_accepted(&name, body));
            assert!(last.to_string().contains("\"defer_loading\":true"), "{name}");
            let cached = |body: &Value| {
                let tools = body["tools"].as_array().expect("a list").iter();
                tools.filter(|tool| tool["defer_loading"] != true).map(Value::to_string).collect::<Vec<_>>()
            };
            let unmarked =
                |tools: Vec<String>| tools.join("\n").replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            assert_eq!(unmarked(cached(first)), unmarked(cached(last)), "{name}: what is cached does not change");
        } else {
            for (at, (with, without)) in with.iter().zip(&without).enumerate() {
                assert_eq!(with["tools"], without["tools"], "{name}: {at}");
            }
        }
        // As it is without: declared once it is found.
        let plain = |at: usize, body: &[Value]| body[at]["tools"].to_string().contains("\"name\":\"files__send_mail\"");
        assert!(!plain(0, &without) && plain(1, &without) && plain(2, &without), "{name}");
        assert!(!without[2].to_string().contains("defer_loading"), "{name}");
    }
}
