//! A conversation has no limit of its own, and a wait for a service ends when the user wants it to.

use host_tests::server::{Answer, Server};

use super::*;

#[test]
fn conversation_has_no_limit_of_turns_of_its_own() {
    let looks = (0..60).map(|at| call("ls", json!({"path": ".", "ignore": [format!("x{at}")]})));
    let replies: Vec<Value> = looks.map(|look| json!({"chunks": [look]})).chain([answer("After sixty.")]).collect();
    let (host, mut pty) = talk(&replies, &[]);
    pty.types("Look\r").saw("After sixty.").sees("default › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let ended = host.session().into_iter().find(|line| line["type"] == "run_ended").expect("the run ended");
    assert_eq!((&ended["terminate_reason"], &ended["turns"]), (&json!("GOAL"), &json!(61)));
}

// promise conversation.wait: Esc on an empty line and Ctrl-C stop the model, also while a request waits to be sent
//   again.
#[tokio::test]
async fn conversation_esc_and_ctrl_c_stop_the_wait_for_a_quota() {
    let server = Server::start(|_| Answer::status(429, r#"{"error": {"message": "slow down"}}"#)).await;
    let host = Host::new(["run", "--model", "openai/x"])
        .env("OPENAI_API_KEY", "sk-secret-of-the-test")
        .env("OPENAI_BASE_URL", server.url("/v1"))
        .configured("[retry]\nfirst_pause_seconds = 300\nlongest_pause_seconds = 300\n");
    // The server runs on this thread's runtime, so the terminal is used on another.
    let used = tokio::task::spawn_blocking(move || {
        let mut pty = open(&host, 80, 24);
        for (prompt, key) in [("one", "\u{1b}"), ("two", "\u{3}")] {
            pty.types(&format!("{prompt}\r")).sees("slow down").types(key);
            pty.sees("stopped · no reply came").sees(&format!("default › {prompt}"));
            // What was said before is above, and is not seen for the next one.
            pty.types("\u{15}\u{c}").until("a clear screen", |screen| !screen.contains("slow down"));
        }
        pty.types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    });
    used.await.expect("it is as it should be");
    assert_eq!(server.requests().len(), 2, "each prompt was sent once");
}

#[test]
fn conversation_esc_clears_what_is_written_before_it_stops_the_model() {
    let (_host, mut pty) = talk(&[hangs("I begin"), answer("Again.")], &[]);
    pty.types("first\r").sees("I begin").types("unfinished").sees("› unfinished").types("\u{1b}");
    pty.until("it is cleared", |screen| !screen.contains("unfinished") && !screen.contains("stopping"));
    pty.types("\u{1b}").saw("stopped · the reply so far is kept").types("second\r").saw("Again.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}
