//! Logging in at a server, with an authorization server of this machine.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

use host_plugin::McpError;
use host_settings::mcp::McpState;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, Session, name, text};
use crate::server::{Answer, Request, Server, stateless};

/// What the authorization server does wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Right,
    /// It sends the browser back with another issuer.
    WrongIssuer,
    /// Its metadata is that of another issuer.
    WrongMetadata,
    /// It names a token endpoint that is neither protected nor here.
    OpenToken,
}

async fn protected(does: Does) -> Server {
    let port = Arc::new(AtomicU16::new(0));
    let known = Arc::clone(&port);
    let server = Server::start(move |request| answer(request, known.load(Ordering::Relaxed), does)).await;
    port.store(server.port, Ordering::Relaxed);
    server
}

fn answer(request: &Request, port: u16, does: Does) -> Answer {
    let here = format!("http://127.0.0.1:{port}");
    let path = request.line.split(' ').nth(1).unwrap_or_default();
    match path.split('?').next().unwrap_or_default() {
        "/mcp" if request.head.contains("authorization: bearer good-token") => stateless(request, |request| {
            Answer::result(request, json!({"resultType": "complete", "content": [{"type": "text", "text": "called"}]}))
        }),
        "/mcp" => Answer::status(
            401,
            &format!(
                "WWW-Authenticate: Bearer resource_metadata=\"{here}/.well-known/oauth-protected-resource/mcp\"\r\n"
            ),
        ),
        "/.well-known/oauth-protected-resource/mcp" => {
            Answer::json(&json!({"resource": format!("{here}/mcp"), "authorization_servers": [here]}))
        }
        "/.well-known/oauth-authorization-server" => Answer::json(&json!({
            "issuer": if does == Does::WrongMetadata { "https://evil.example" } else { &here },
            "authorization_endpoint": format!("{here}/authorize"),
            "token_endpoint": if does == Does::OpenToken { "http://mcp.example.com/token".to_owned() } else { format!("{here}/token") },
            "registration_endpoint": format!("{here}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        })),
        "/register" => Answer {
            status: 201,
            ..Answer::json(&json!({
                "client_id": "registered", "redirect_uris": request.json()["redirect_uris"],
                "token_endpoint_auth_method": "none",
            }))
        },
        "/token" => Answer::json(
            &json!({"access_token": "good-token", "token_type": "Bearer", "refresh_token": "again", "expires_in": 3600}),
        ),
        _ => Answer::status(404, ""),
    }
}

/// Visits the address as a browser would, after the user agreed, and comes back.
async fn browser(url: String, issuer: String) {
    let pairs: std::collections::BTreeMap<String, String> =
        url::Url::parse(&url).expect("an address").query_pairs().into_owned().collect();
    assert_eq!(pairs["code_challenge_method"], "S256");
    assert!(pairs["resource"].ends_with("/mcp"), "{pairs:?}");
    let port: u16 = url::Url::parse(&pairs["redirect_uri"]).expect("an address").port().expect("a port");
    // What does not belong to this login is ignored.
    let wrong = visit(port, "/callback?code=stolen&state=other").await;
    assert!(wrong.starts_with("HTTP/1.1 400"), "{wrong}");
    let nothing = visit(port, "/favicon.ico").await;
    assert!(nothing.starts_with("HTTP/1.1 404"), "{nothing}");
    let issuer: String = url::form_urlencoded::byte_serialize(issuer.as_bytes()).collect();
    visit(port, &format!("/callback?code=c0de&state={}&iss={issuer}", pairs["state"])).await;
}

async fn visit(port: u16, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).await.expect("sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).await.expect("an answer");
    page
}

async fn log_in(session: &Session, issuer: String) -> Result<(), McpError> {
    let visiting = Mutex::new(None);
    let show = |url: &str| {
        *visiting.lock().expect("a lock") = Some(tokio::spawn(browser(url.to_owned(), issuer.clone())));
    };
    let done = session.servers.login(&name(), &show, &CancellationToken::new()).await;
    let visit = visiting.lock().expect("a lock").take();
    if let Some(visit) = visit {
        visit.await.expect("the browser came back");
    }
    done
}

// promise mcp.login: A server that wants a login is listed as such; the tokens of a login are stored for the user alone
//   and sent to that server alone; an answer of another issuer ends the login.
#[tokio::test]
async fn server_that_wants_a_login_gets_one_and_its_tokens_are_stored() {
    let server = protected(Does::Right).await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    session.until("locked", |status| status.state == McpState::NeedsLogin).await;
    let error = session.call("echo").await.expect_err("it is locked");
    assert!(matches!(&error, McpError::NeedsLogin(why) if why.contains("host mcp login fake")), "{error:?}");
    log_in(&session, server.url("")).await.expect("logged in");
    session.ready().await;
    assert_eq!(text(&session.call("echo").await.expect("an answer")), "called");
    let token = server.seen().into_iter().find(|request| request.line.contains("/token")).expect("an exchange");
    for part in ["code=c0de", "code_verifier=", "resource=", "grant_type=authorization_code"] {
        assert!(token.body.contains(part), "{part}: {}", token.body);
    }
    drop(session);

    let files: Vec<_> =
        std::fs::read_dir(fixture.path("mcp")).expect("a folder").map(|file| file.expect("a file").path()).collect();
    for file in &files {
        let mode = std::fs::metadata(file).expect("it is there").permissions().mode();
        let has_token = std::fs::read_to_string(file).is_ok_and(|text| text.contains("good-token"));
        assert!(!has_token || mode & 0o077 == 0, "{}: {mode:o}", file.display());
    }
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    session.ready().await;
}

// promise mcp.login
#[tokio::test]
async fn answer_of_another_issuer_ends_the_login() {
    let server = protected(Does::WrongIssuer).await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    session.until("locked", |status| status.state == McpState::NeedsLogin).await;
    let error = log_in(&session, "https://evil.example".to_owned()).await.expect_err("another issuer").to_string();
    assert!(error.contains("issuer"), "{error}");
    assert!(!server.seen().iter().any(|request| request.line.contains("/token")), "no code was sent anywhere");
    assert_eq!(session.status().state, McpState::NeedsLogin);
}

// promise mcp.login
#[tokio::test]
async fn metadata_that_leads_elsewhere_ends_the_login() {
    for does in [Does::WrongMetadata, Does::OpenToken] {
        let server = protected(does).await;
        let fixture = Fixture::new();
        let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
        session.until("locked", |status| status.state == McpState::NeedsLogin).await;
        log_in(&session, server.url("")).await.expect_err("it leads elsewhere");
        assert_eq!(session.status().state, McpState::NeedsLogin);
    }
}

#[tokio::test]
async fn login_can_be_cancelled_and_a_program_has_no_login() {
    let server = protected(Does::Right).await;
    let fixture = Fixture::new();
    let session = fixture.connect(fixture.address(&server.url("/mcp"), &[]));
    let cancel = CancellationToken::new();
    let show = |_: &str| cancel.cancel();
    let error = session.servers.login(&name(), &show, &cancel).await.expect_err("cancelled").to_string();
    assert!(error.contains("cancelled"), "{error}");
    let session = fixture.connect(fixture.script("serve"));
    let error = session.servers.login(&name(), &|_| {}, &CancellationToken::new()).await.expect_err("a program");
    assert!(matches!(error, McpError::Invalid(_)), "{error:?}");
}
