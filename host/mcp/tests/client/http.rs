//! Servers at an address.

use std::time::Duration;

use host_plugin::McpError;
use host_settings::mcp::McpState;
use serde_json::json;

use crate::fixture::{Fixture, text};
use crate::server::{Answer, Request, Server, stateless};

fn called(request: &Request) -> Answer {
    Answer::result(request, json!({"resultType": "complete", "content": [{"type": "text", "text": "called"}]}))
}

// promise mcp.addresses: A server at an address is reached through the same checks as `http`; its header fields go to
//   its own origin alone.
#[tokio::test]
async fn server_of_the_stateless_era_gets_its_headers_with_each_request() {
    let server = Server::start(|request| stateless(request, called)).await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[("X-Api-Key", "s3cret-of-a-user")]));
    assert_eq!(session.ready().await.revision.as_deref(), Some("2026-07-28"));
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
    let seen = server.seen();
    assert!(seen.iter().all(|request| request.head.contains("x-api-key: s3cret-of-a-user")), "{seen:?}");
    let call = seen.iter().find(|request| request.method() == "tools/call").expect("a call");
    assert!(call.head.contains("mcp-method: tools/call") && call.head.contains("mcp-name: echo"), "{}", call.head);
}

#[tokio::test]
async fn server_of_the_older_era_over_http_is_listed_and_called() {
    let server = Server::start(|request| match request.method().as_str() {
        "initialize" => Answer::result(
            request,
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }),
        ),
        "tools/list" => {
            Answer::result(request, json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}))
        }
        "tools/call" => called(request),
        "notifications/initialized" => Answer::status(202, ""),
        _ => Answer::status(400, ""),
    })
    .await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    assert_eq!(session.ready().await.revision.as_deref(), Some("2025-11-25"));
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
}

// promise mcp.addresses
#[tokio::test]
async fn redirect_to_another_origin_is_not_followed() {
    let other = Server::start(|request| stateless(request, called)).await;
    let to = other.url("/mcp");
    let server = Server::start(move |_| Answer::status(307, &format!("Location: {to}\r\n"))).await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[("X-Api-Key", "s3cret-of-a-user")]));
    let why = session.away().await;
    assert!(why.contains("redirect to another server"), "{why}");
    assert!(other.seen().is_empty(), "{:?}", other.seen());
    assert!(!why.contains("s3cret"), "{why}");
}

#[tokio::test]
async fn redirect_within_the_origin_is_followed() {
    let server = Server::start(|request| match request.line.contains("/moved") {
        true => stateless(request, called),
        false => Answer::status(307, "Location: /moved\r\n"),
    })
    .await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    session.ready().await;
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
}

// promise mcp.addresses
#[tokio::test]
async fn plain_http_to_another_machine_is_refused() {
    let fixture = Fixture::new();
    for url in
        ["http://mcp.example.com/mcp", "http://10.0.0.1/mcp", "ftp://mcp.example.com", "https://u:p@mcp.example.com"]
    {
        let session = fixture.connect(fixture.address(url, &[]));
        let status = session.until("away", |status| matches!(status.state, McpState::Unavailable { .. })).await;
        assert!(matches!(status.state, McpState::Unavailable { is_retried: false, .. }), "{url}: {status:?}");
    }
}

// promise mcp.bounded
#[tokio::test]
async fn answer_over_http_that_is_too_large_fails_its_call_alone() {
    let server = Server::start(|request| {
        stateless(request, |request| {
            let huge = || "x".repeat(25 << 20);
            match request.json()["params"]["name"].as_str() {
                Some("json") => Answer::result(request, json!({"content": [{"type": "text", "text": huge()}]})),
                Some("stream") => Answer {
                    status: 200,
                    head: "Content-Type: text/event-stream\r\n".to_owned(),
                    body: format!("data: {}\n\n", huge()).into_bytes(),
                    torn: false,
                },
                _ => called(request),
            }
        })
    })
    .await;
    let fixture = Fixture::new();
    let mut configured = fixture.address(&server.url("/mcp"), &[]);
    configured.timeout = Duration::from_secs(5);
    let session = fixture.connect(configured);
    session.ready().await;
    let error = session.call("json").await.expect_err("it is too large");
    assert!(matches!(&error, McpError::Protocol(_)), "{error:?}");
    session.call("stream").await.expect_err("it is too large");
    assert_eq!(text(&session.call("echo").await.expect("the server lives")), "called");
}

// promise mcp.calls
#[tokio::test]
async fn call_whose_stream_breaks_is_not_repeated() {
    let server = Server::start(|request| {
        stateless(request, |_| Answer {
            status: 200,
            head: "Content-Type: text/event-stream\r\n".to_owned(),
            body: b": working\n\n".to_vec(),
            torn: true,
        })
    })
    .await;
    let fixture = Fixture::new();
    let mut configured = fixture.address(&server.url("/mcp"), &[]);
    configured.timeout = Duration::from_secs(5);
    let session = fixture.connect(configured);
    session.ready().await;
    let error = session.call("echo").await.expect_err("it broke").to_string();
    assert!(error.contains("may have had its effect"), "{error}");
    let calls = server.seen().iter().filter(|request| request.method() == "tools/call").count();
    assert_eq!(calls, 1);
}

// promise mcp.away
#[tokio::test]
async fn server_over_http_that_is_not_there_is_away_and_tried_again() {
    let fixture = Fixture::new();
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("an address").port();
    let session = fixture.connect(fixture.address(&format!("http://127.0.0.1:{port}/mcp"), &[]));
    let status = session.until("away", |status| matches!(status.state, McpState::Unavailable { .. })).await;
    assert!(matches!(status.state, McpState::Unavailable { is_retried: true, .. }), "{status:?}");
}
