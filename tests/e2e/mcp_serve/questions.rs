//! Questions about calls, as forms of both revisions, and without any.

use host_tests::host::Host;
use serde_json::{Value, json};

use super::client::{Client, accept, forms, text};

fn write(path: &str) -> Value {
    json!({"path": path, "content": "new\n"})
}

fn exists(host: &Host, path: &str) -> bool {
    host.repository().join(path).exists()
}

// promise mcp.unheard: A call that nothing allows is denied for a client that cannot show a question, with the flag
//   that would allow it.
#[test]
fn mcp_serve_denies_what_a_client_cannot_ask_about() {
    let host = Host::new(["run"]);
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
        for start in [Client::old, Client::new] {
            let mut client = start(&host, &[], capabilities.clone());
            let denied = client.call("write_file", write("a.txt"));
            assert_eq!(denied["isError"], true, "{denied}");
            assert_eq!(denied["_meta"]["host/decided"], "denied");
            assert!(text(&denied).contains("--grant write_file:fs-write="), "{denied}");
            assert!(!exists(&host, "a.txt"));
        }
    }
    let mut client = Client::old(&host, &["--approval-mode", "auto-edit"], json!({}));
    assert_eq!(client.call("write_file", write("a.txt"))["isError"], false);
    assert!(exists(&host, "a.txt"));
}

// promise mcp.asks: A question about a call becomes a form in the client, in both revisions; the call runs only after
//   an answer that the form offered, and a form that was declined or dismissed rejects it.
#[test]
fn mcp_serve_asks_with_a_request_of_its_own_in_the_older_revision() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], forms());
    let mut ask = |path: &str, answer: Value| {
        let call = client.begin("write_file", write(path));
        let question = client.question();
        let params = &question["params"];
        let message = params["message"].as_str().expect("words");
        assert!(
            message.contains(&format!("write_file wants to change {path}:")) && message.contains("│ +new"),
            "{message}"
        );
        let offered = params["requestedSchema"]["properties"]["answer"]["oneOf"].as_array().expect("answers");
        assert!(offered.iter().any(|one| one["const"] == "once"), "{params}");
        client.answer(&question, answer);
        client.response(call)["result"].take()
    };
    let approved = ask("a.txt", accept("once"));
    assert_eq!((&approved["isError"], &approved["_meta"]["host/decided"]), (&json!(false), &json!("approved")));
    assert!(exists(&host, "a.txt"));
    for (path, answer) in [
        ("b.txt", accept("reject")),
        ("c.txt", json!({"action": "decline"})),
        ("d.txt", json!({"action": "cancel"})),
        ("e.txt", accept("always_plugin_of_everything")),
        ("f.txt", json!({"action": "accept"})),
        ("g.txt", json!({"action": "accept", "content": {"answer": ["once"]}})),
        ("h.txt", accept("edit")),
    ] {
        let rejected = ask(path, answer);
        assert_eq!((&rejected["isError"], &rejected["_meta"]["host/decided"]), (&json!(true), &json!("declined")));
        assert!(!exists(&host, path), "{path}");
    }
    let because = ask("i.txt", json!({"action": "accept", "content": {"answer": "reject", "text": "use b.txt"}}));
    assert!(text(&because).contains("use b.txt"), "{because}");
    // An answer that lasts is not asked for again.
    ask("j.txt", accept("session"));
    assert_eq!(client.call("write_file", write("k.txt"))["_meta"]["host/decided"], "allowed");
    assert!(exists(&host, "k.txt"));
}

// promise writing.asked
#[test]
fn mcp_serve_asks_about_a_file_elsewhere_before_it_is_read_and_before_it_is_changed() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let folder = std::fs::canonicalize(elsewhere.path()).expect("it is there");
    let (old, new) = (folder.join("old.txt"), folder.join("new.txt"));
    std::fs::write(&old, "old\n").expect("written");
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], forms());
    let call = client.begin("write_file", write(old.to_str().expect("text")));
    let first = client.question();
    let message = first["params"]["message"].as_str().expect("words");
    assert!(message.contains("wants to read outside of the workspace") && !message.contains("- old"), "{message}");
    client.answer(&first, accept("once"));
    let second = client.question();
    let message = second["params"]["message"].as_str().expect("words");
    let changes = format!("it changes `{}`, outside of the workspace", old.display());
    assert!(message.contains(&changes) && message.contains("│ -old"), "{message}");
    client.answer(&second, accept("session"));
    assert_eq!(client.response(call)["result"]["_meta"]["host/decided"], "approved");
    assert_eq!(client.call("write_file", write(new.to_str().expect("text")))["_meta"]["host/decided"], "allowed");
    assert!([old, new].iter().all(|file| std::fs::read_to_string(file).is_ok_and(|text| text == "new\n")));
}

#[test]
fn mcp_serve_asks_again_about_what_the_user_changed() {
    let host = Host::new(["run"]);
    let mut client = Client::old(&host, &[], forms());
    let call = client.begin("write_file", write("a.txt"));
    let first = client.question();
    client.answer(&first, json!({"action": "accept", "content": {"answer": "edit", "text": "mine\n"}}));
    let second = client.question();
    let message = second["params"]["message"].as_str().expect("words");
    assert!(message.contains("│ +mine") && !message.contains("+new"), "{message}");
    client.answer(&second, accept("once"));
    assert_eq!(client.response(call)["result"]["_meta"]["host/decided"], "changed");
    assert_eq!(std::fs::read_to_string(host.repository().join("a.txt")).expect("written"), "mine\n");
}

/// A call in the newer revision up to its question, and the state to repeat it with.
fn asked(client: &mut Client, path: &str) -> (Value, String) {
    let result = client.call("write_file", write(path));
    assert_eq!(result["resultType"], "input_required", "{result}");
    let state = result["requestState"].as_str().expect("a state").to_owned();
    (result["inputRequests"]["approval"].clone(), state)
}

/// Repeats a call with an answer.
fn answered(client: &mut Client, name: &str, arguments: Value, state: &str, answer: Value) -> Value {
    client.request(
        "tools/call",
        json!({"name": name, "arguments": arguments, "requestState": state, "inputResponses": {"approval": answer}}),
    )
}

// promise mcp.answer: An answer counts once, for the very call that asked: one that is replayed, forged or moved to
//   another call allows nothing.
#[test]
fn mcp_serve_takes_an_answer_for_the_call_that_asked_and_no_other() {
    let host = Host::new(["run"]);
    let mut client = Client::new(&host, &[], forms());
    let (request, state) = asked(&mut client, "a.txt");
    assert_eq!(request["method"], "elicitation/create");
    assert!(request["params"]["message"].as_str().is_some_and(|words| words.contains("change a.txt:")), "{request}");
    // Moved to another call, and forged.
    let last = if state.ends_with('0') { "1" } else { "0" };
    let forged = format!("{}{last}", &state[..state.len() - 1]);
    for (name, arguments, state) in [
        ("write_file", write("b.txt"), state.as_str()),
        ("shell", json!({"command": "touch b.txt"}), &state),
        ("write_file", write("a.txt"), &forged),
        ("write_file", write("a.txt"), ""),
    ] {
        let refused = answered(&mut client, name, arguments, state, accept("once"));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert!(!exists(&host, "a.txt") && !exists(&host, "b.txt"));
    let done = answered(&mut client, "write_file", write("a.txt"), &state, accept("once"));
    assert_eq!(done["result"]["_meta"]["host/decided"], "approved", "{done}");
    assert!(exists(&host, "a.txt"));
    // Replayed.
    std::fs::remove_file(host.repository().join("a.txt")).expect("it was written");
    let replayed = answered(&mut client, "write_file", write("a.txt"), &state, accept("once"));
    assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
    assert!(!exists(&host, "a.txt"));
    // Not offered, declined, and an answer to something else.
    for answer in [accept("all"), json!({"action": "decline"}), json!("once"), Value::Null] {
        let (_, state) = asked(&mut client, "c.txt");
        let rejected = answered(&mut client, "write_file", write("c.txt"), &state, answer);
        assert_eq!(rejected["result"]["_meta"]["host/decided"], "declined", "{rejected}");
        assert!(!exists(&host, "c.txt"));
    }
    let bare = client.request(
        "tools/call",
        json!({"name": "write_file", "arguments": write("d.txt"), "inputResponses": {"approval": accept("once")}}),
    );
    assert_eq!(bare["result"]["resultType"], "input_required", "{bare}");
    let state = bare["result"]["requestState"].as_str().expect("a state");
    let without = client.request(
        "tools/call",
        json!({"name": "write_file", "arguments": write("d.txt"), "requestState": state, "inputResponses": {}}),
    );
    assert_eq!(without["result"]["resultType"], "input_required", "{without}");
    assert_ne!(without["result"]["requestState"], state);
    assert!(!exists(&host, "d.txt"));
}

#[test]
fn mcp_serve_gives_up_the_call_that_has_waited_longest_for_an_answer() {
    let host = Host::new(["run"]);
    let mut client = Client::new(&host, &[], forms());
    let states: Vec<String> = (0..33).map(|at| asked(&mut client, &format!("{at}.txt")).1).collect();
    let first = answered(&mut client, "write_file", write("0.txt"), &states[0], accept("once"));
    assert_eq!(first["error"]["code"], -32602, "{first}");
    let last = answered(&mut client, "write_file", write("32.txt"), &states[32], accept("once"));
    assert_eq!(last["result"]["isError"], false, "{last}");
    assert!(!exists(&host, "0.txt") && exists(&host, "32.txt"));
}
