//! What is drawn while the model works, and what stops it.

use std::time::Instant;

use host_tests::server::{Answer, Server};

use super::*;

/// The rows in which something turns.
fn turning(screen: &str) -> Vec<&str> {
    screen.lines().filter(|row| row.starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c))).collect()
}

// promise conversation.retry: Ctrl-C ends the wait for another request to a model at once, and the conversation goes
//   on.
#[tokio::test]
async fn ctrl_c_ends_the_wait_before_a_retry_which_is_counted_down() {
    let server = Server::start(|_| {
        Answer::status(429, r#"{"error": {"message": "slow\u001b[2J down"}}"#).header("retry-after", "200")
    })
    .await;
    let host = Host::new(["--model", "openai/gpt-5"])
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", server.url("/v1"));
    let talk = move || {
        let mut command = host.command();
        command.env("TERM", "xterm-256color");
        let mut pty = Pty::start(command, 120, 24);
        pty.sees("default › ").types("first\r").sees("before retry (attempt 2 of 10): ");
        pty.sees("waiting 3 min 20 s").sees("slow\\u{1b}[2J down").sees("(Ctrl-C to stop)");
        // It goes down.
        pty.sees("waiting 3 min 18 s");
        let pressed = Instant::now();
        pty.types("\u{3}").sees("stopped · no reply came");
        pty.until("nothing is going on", |screen| turning(screen).is_empty());
        assert!(pressed.elapsed().as_secs() < 60, "it did not wait for the end of the pause");
        pty.sees("default › first").types("\u{15}\u{4}");
        assert_eq!(pty.ends(), Some(0));
        host
    };
    let _host = tokio::task::spawn_blocking(talk).await.expect("it ends");
    let asked = server.requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(asked, 1, "nothing was asked after that: {:?}", server.requests());
}

#[test]
fn activity_has_the_time_and_the_key_that_stops_it_and_a_question_is_not_work() {
    let asks = json!({"chunks": [call("shell", json!({"command": "touch asked"}))]});
    let (_host, mut pty) = talk(&[hangs("I begin"), asks], &[]);
    pty.types("first\r").sees("I begin").sees("writing (Ctrl-C to stop)");
    // The row below begins with the time of the whole turn.
    pty.sees("writing (2 s · Ctrl-C to stop)").sees("2 s · script.jsonl").types("\u{3}").sees("stopped");
    pty.until("it is the user's turn", |screen| screen.contains("\nscript.jsonl") && turning(screen).is_empty());
    pty.types("second\r").sees("Yes, this once").until("only the question", |screen| turning(screen).is_empty());
    pty.types("\u{3}").until("it is the user's turn", |screen| screen.matches("stopped").count() == 2).types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn activity_fits_a_narrow_terminal() {
    let host = Host::scripted(&[hangs("I begin")], &[]);
    for (columns, shown) in [(30, "writing (2 s)"), (40, "writing (2 s · Ctrl-C to stop)")] {
        let mut pty = open(&host, columns, 24);
        pty.types("first\r")
            .sees("I begin")
            .until(shown, |screen| turning(screen).iter().any(|row| row.ends_with(shown)));
        pty.types("\u{3}").sees("stopped").types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
    }
}

// promise conversation.writing: While a model writes a call, its first argument and the number of its lines are shown,
//   where the service sends them.
#[tokio::test]
async fn activity_names_the_file_that_the_model_writes_and_counts_its_lines() {
    let piece = |function: Value| {
        let delta = json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]});
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    };
    let pieces = [
        piece(json!({"name": "write_file", "arguments": ""})),
        piece(json!({"arguments": "{\"path\":\"src/\\u001b[2J"})),
        piece(json!({"arguments": "a.rs\",\"content\":\"fn a() {}\\nfn b()"})),
        piece(json!({"arguments": " {}\\n\\n"})),
    ];
    let server = Server::start(move |request| match request.method.as_str() {
        "POST" => Answer::events(&pieces).hanging(),
        _ => Answer::status(404, ""),
    })
    .await;
    let host = Host::new(["--model", "openai/gpt-5"])
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", server.url("/v1"));
    let talk = move || {
        let mut pty = open(&host, 120, 24);
        pty.types("first\r").sees("writing src/\\u{1b}[2Ja.rs · 4 lines (");
        pty.types("\u{3}").sees("stopped");
        pty.until("nothing is going on", |screen| turning(screen).is_empty()).types("\u{15}\u{4}");
        assert_eq!(pty.ends(), Some(0));
        assert!(!host.repository().join("src").exists(), "what is not whole does not run");
    };
    tokio::task::spawn_blocking(talk).await.expect("it ends");
}
