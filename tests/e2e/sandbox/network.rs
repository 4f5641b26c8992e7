//! What `http` promises, against a server on this machine.

use host_tests::Bench;
use host_tests::server::{Answer, Server};
use serde_json::json;

fn bench(http: &str) -> Bench {
    Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", &format!("http={http}"), "state=write"])
}

// promise http.credentials: A request carries no credential of the user except secrets given to the plugin; a plugin
//   cannot set authentication or transport headers.
#[tokio::test]
async fn a_granted_address_is_fetched_and_what_speaks_of_credentials_stays_with_the_host() {
    let server =
        Server::start(|_| Answer::ok("hello").header("set-cookie", "session=1").header("x-shown", "yes")).await;
    let bench = bench(&format!("127.0.0.1:{}", server.port()));
    let answer = bench.text("fetch", json!({"path": server.url("/x")})).await;
    assert!(answer.starts_with("200 ") && answer.ends_with("hello") && answer.contains("x-shown: yes"), "{answer}");
    assert!(!answer.contains("session"), "{answer}");
    for field in ["Authorization", "Cookie", "Host", "Proxy-Authorization", "Transfer-Encoding"] {
        let answer = bench.text("fetch", json!({"path": server.url("/x"), "environment": [[field, "x"]]})).await;
        assert!(answer.contains("belongs to the host"), "{answer}");
    }
    assert_eq!(server.requests().len(), 1);
}

// promise http.checked: Host, port and method are checked against the grant before anything is sent.
#[tokio::test]
async fn sandbox_network_request_that_is_not_granted_is_not_sent() {
    let server = Server::start(|_| Answer::ok("hello")).await;
    let port = server.port();
    for http in
        [&format!("127.0.0.2:{port}"), "*:*", "*", &format!("POST 127.0.0.1:{port}"), &format!("*.0.0.1:{port}")]
    {
        if let Ok(bench) = std::panic::catch_unwind(|| bench(http)) {
            let answer = bench.text("fetch", json!({"path": server.url("/x")})).await;
            assert!(answer.starts_with("error: ") && answer.contains("http"), "{http}: {answer}");
        }
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn an_answer_in_an_encoding_that_was_not_asked_for_is_an_error_that_names_it() {
    // `hello`, packed by gzip, and by deflate in both of the forms in use.
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    let zlib = b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15";
    let server = Server::start(move |request| match request.path.as_str() {
        "/gzip" => Answer::ok(gzip).header("content-encoding", "gzip"),
        "/identity" => Answer::ok("hello").header("content-encoding", "identity"),
        "/empty" => Answer::ok("").header("content-encoding", "deflate"),
        "/deflate" => Answer::ok(zlib).header("content-encoding", "deflate"),
        "/raw" => Answer::ok(&zlib[2..9]).header("content-encoding", "deflate"),
        _ => Answer::ok("xx").header("content-encoding", "br, zstd"),
    })
    .await;
    let bench = bench(&format!("127.0.0.1:{}", server.port()));
    for path in ["/gzip", "/identity"] {
        let answer = bench.text("fetch", json!({"path": server.url(path)})).await;
        assert!(answer.starts_with("200 ") && answer.ends_with("hello"), "{path}: {answer}");
    }
    assert!(bench.text("fetch", json!({"path": server.url("/empty")})).await.starts_with("200 "));
    for (path, encoding) in [("/deflate", "deflate"), ("/raw", "deflate"), ("/twice", "br, zstd")] {
        let answer = bench.text("fetch", json!({"path": server.url(path)})).await;
        let words = format!("the server answered in the content encoding `{encoding}`, which was not asked for");
        assert!(answer.starts_with("error: ") && answer.contains(&words), "{path}: {answer}");
    }
    let asked: Vec<_> =
        server.requests().iter().map(|request| request.header("accept-encoding").map(str::to_owned)).collect();
    assert!(
        asked.iter().all(|asked| asked.as_deref() == Some("gzip")),
        "only what is unpacked is asked for: {asked:?}"
    );
    // Who asks for it gets it as it is.
    let own = json!({"path": server.url("/deflate"), "environment": [["Accept-Encoding", "deflate"]]});
    assert!(bench.text("fetch", own).await.starts_with("200 "));
}

// promise http.resolved: Each resolved address is checked when connecting, and only a checked address is connected to;
//   one address outside the grant denies the name.
#[tokio::test]
async fn a_name_that_leads_to_this_machine_needs_a_grant_that_names_it() {
    let server = Server::start(|_| Answer::ok("hello")).await;
    let url = format!("http://localhost:{}/", server.port());
    let answer = bench("*:*").text("fetch", json!({"path": url})).await;
    assert!(answer.starts_with("error: "), "{answer}");
    assert!(server.requests().is_empty());
    let answer = bench(&format!("localhost:{}", server.port())).text("fetch", json!({"path": url})).await;
    assert!(answer.ends_with("hello"), "{answer}");
}

// promise http.redirect: A redirect is followed only within the grant, with a permit of its own.
#[tokio::test]
async fn a_redirect_out_of_the_grant_is_not_followed() {
    let other = Server::start(|_| Answer::ok("stolen")).await;
    let target = other.url("/steal");
    let server = Server::start(move |request| match request.path.as_str() {
        "/out" => Answer::redirect(302, &target),
        "/file" => Answer::redirect(302, "file:///etc/passwd"),
        "/round" => Answer::redirect(301, "/round"),
        "/on" => Answer::redirect(307, "/end"),
        _ => Answer::ok("the end"),
    })
    .await;
    let bench = bench(&format!("127.0.0.1:{}", server.port()));
    let answer = bench.text("fetch", json!({"path": server.url("/out")})).await;
    assert!(answer.starts_with("error: ") && answer.contains(&format!("127.0.0.1:{}", other.port())), "{answer}");
    assert!(other.requests().is_empty());
    for path in ["/file", "/round"] {
        let answer = bench.text("fetch", json!({"path": server.url(path)})).await;
        assert!(answer.starts_with("error: ") && answer.contains("redirect"), "{path}: {answer}");
    }
    assert!(bench.text("fetch", json!({"path": server.url("/on")})).await.ends_with("the end"));
}

// promise http.limits: Body size and time are limited, and a body that was cut is marked as cut.
#[tokio::test]
async fn a_body_is_cut_at_the_limit_and_said_to_be() {
    let server = Server::start(|_| Answer::ok("x".repeat(100_000))).await;
    let bench = bench(&format!("127.0.0.1:{}", server.port()));
    let answer = bench.text("fetch", json!({"path": server.url("/"), "limit": 1000})).await;
    assert!(answer.starts_with("200 (cut)") && answer.ends_with(&"x".repeat(1000)), "{}", answer.len());
    assert!(answer.len() < 2000);
}

// promise http.private
#[tokio::test]
async fn addresses_that_make_no_sense_are_refused_in_words() {
    let bench = bench("*:*");
    for (url, says) in [
        ("ftp://example.com/", "neither http nor https"),
        ("file:///etc/passwd", "neither http nor https"),
        ("https://user:pass@example.com/", "user name or password"),
        ("not an address", "is invalid"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://[::1]/", "::1"),
        ("http://2130706433/", "127.0.0.1"),
    ] {
        let answer = bench.text("fetch", json!({"path": url})).await;
        assert!(answer.starts_with("error: ") && answer.contains(says), "{url}: {answer}");
    }
}
