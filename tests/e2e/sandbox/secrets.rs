//! What is promised of secrets: a call sends them and never has them, whatever server or guest tries to get them out.

use std::sync::Arc;

use host_capability::{Capability, Grants, Scope};
use host_plugin::{PlacedSecret, Placement, Secrets};
use host_tests::server::{Answer, Request, Server};
use host_tests::{Bench, text};
use serde_json::{Value, json};

const VALUE: &str = "s3cret-of-a-person";

/// What the guest is told of a request that carries these secrets, where `token` may go to `servers`.
async fn fetched(http: &str, servers: &str, arguments: Value) -> String {
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", &format!("http={http}"), "state=write"]);
    let servers = Grants::none().with(Scope::parse_absolute(Capability::Http, servers).expect("a scope"));
    let placement = Placement::new("authorization", "Bearer {}").expect("a place");
    let mut secrets = Secrets::default();
    secrets.give("token", PlacedSecret::new(VALUE, placement, servers).expect("a secret"));
    secrets.lack("other", "set it in config.toml".to_owned());
    let mut invocation = bench.invocation("fetch", arguments);
    invocation.secrets = Arc::new(secrets);
    match bench.invoke(invocation).await {
        Ok(output) => text(&output),
        Err(error) => format!("error: {error}"),
    }
}

fn sent(request: &Request) -> Option<&str> {
    request.header("authorization")
}

// promise secret.redacted: A secret is redacted from responses, messages, logs and `Debug`, and is not in the
//   environment of any program.
#[tokio::test]
async fn a_secret_is_sent_and_the_guest_never_has_it_whatever_the_server_sends_back() {
    // It sends back all that it was sent, in its header, its body and the address that it leads to.
    let server = Server::start(|request| {
        let seen = sent(request).unwrap_or("nothing").to_owned();
        match request.path.as_str() {
            "/on" => Answer::redirect(302, &format!("/end?{}", seen.trim_start_matches("Bearer "))),
            _ => Answer::ok(format!("you sent {seen} and {seen}")).header("x-seen", &seen),
        }
    })
    .await;
    let place = format!("127.0.0.1:{}", server.port());
    for path in ["/", "/on"] {
        let told = fetched(&place, &place, json!({"path": server.url(path), "argv": ["token"]})).await;
        assert!(told.starts_with("200 ") && told.contains("Bearer ****") && !told.contains(VALUE), "{told}");
    }
    // Cut in the middle of the value, it is not a beginning of it.
    let body = format!("you sent Bearer {VALUE}");
    for limit in 0..=body.len() {
        let arguments = json!({"path": server.url("/"), "argv": ["token"], "limit": limit});
        let told = fetched(&place, &place, arguments).await;
        assert!(!told.contains("s3"), "{limit}: {told}");
    }
    let requests = server.requests();
    let wanted = format!("Bearer {VALUE}");
    assert!(requests.iter().all(|request| sent(request) == Some(&wanted)), "{requests:?}");
    // Without its name it is not part of a request.
    fetched(&place, &place, json!({"path": server.url("/")})).await;
    assert_eq!(server.requests().last().and_then(sent), None);
}

// promise secret.servers
#[tokio::test]
async fn a_redirect_takes_no_secret_to_another_server() {
    let other = Server::start(|_| Answer::ok("taken")).await;
    let back = Arc::new(std::sync::OnceLock::<String>::new());
    let (target, home) = (other.url("/steal"), Arc::clone(&back));
    let server = Server::start(move |request| match request.path.as_str() {
        "/out" => Answer::redirect(307, &target),
        "/round" => Answer::redirect(307, home.get().expect("it was set")),
        _ => Answer::ok("the end"),
    })
    .await;
    let there_and_back = Server::start({
        let home = server.url("/end");
        move |_| Answer::redirect(307, &home)
    })
    .await;
    back.set(there_and_back.url("/")).expect("it is set once");
    let all = [&server, &other, &there_and_back].map(|server| format!("127.0.0.1:{}", server.port())).join(",");
    for path in ["/out", "/round"] {
        let told = fetched(&all, &all, json!({"path": server.url(path), "argv": ["token"]})).await;
        assert!(told.starts_with("200 "), "{told}");
    }
    assert!(other.requests().iter().chain(&there_and_back.requests()).all(|request| sent(request).is_none()));
    let home: Vec<(String, bool)> =
        server.requests().iter().map(|request| (request.path.clone(), sent(request).is_some())).collect();
    // Whoever sends it home again does not choose a request that carries it.
    let expected = [("/out", true), ("/round", true), ("/end", false)];
    assert_eq!(home, expected.map(|(path, carried)| (path.to_owned(), carried)));
}

// promise secret.servers
#[tokio::test]
async fn a_secret_that_may_not_be_sent_is_refused_before_anything_is() {
    let server = Server::start(|_| Answer::ok("hello")).await;
    let place = format!("127.0.0.1:{}", server.port());
    let url = server.url("/");
    for (servers, name, says) in [
        ("api.example.com", "token", "the plugin's manifest does not name that server"),
        (place.as_str(), "other", "set it in config.toml"),
        (place.as_str(), "tokem", "declares no secret `tokem`"),
        (place.as_str(), "", "declares no secret"),
    ] {
        let told = fetched(&place, servers, json!({"path": url, "argv": [name]})).await;
        assert!(told.starts_with("error: ") && told.contains(says) && !told.contains(VALUE), "{name}: {told}");
    }
    // A grant for a secret is none for the server.
    let told = fetched("example.com", &place, json!({"path": url, "argv": ["token"]})).await;
    assert!(told.starts_with("error: "), "{told}");
    // What the guest itself writes there is refused as ever.
    let arguments = json!({"path": url, "argv": ["token"], "environment": [["authorization", "mine"]]});
    assert!(fetched(&place, &place, arguments).await.contains("belongs to the host"));
    assert!(server.requests().is_empty());
}
