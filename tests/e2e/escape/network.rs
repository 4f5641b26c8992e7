//! Attacks on the servers beside a grant: by a plugin that fetches, and by a confined program through its proxy.

mod proxy;

use host_tests::Bench;
use host_tests::host::Host;
use host_tests::server::{Answer, Server};
use serde_json::json;

use super::Failures;

fn bench(http: &str) -> Bench {
    Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", &format!("http={http}"), "state=write"])
}

/// What a grant that covers private addresses makes of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Granted {
    /// It reaches the server of the tests.
    Reaches,
    /// It is not denied any more; nothing answers there.
    Allowed,
    /// It is invalid, whatever is granted.
    Invalid,
}
use Granted::{Allowed, Invalid, Reaches};

/// Names of this machine and its surroundings, with `PORT` for the port of a server here.
const PRIVATE: &[(&str, Granted)] = &[
    ("http://127.0.0.1:PORT/", Reaches),
    ("http://127.0.0.1.:PORT/", Reaches),
    ("http://127.1:PORT/", Reaches),
    ("http://127.0.1:PORT/", Reaches),
    ("http://2130706433:PORT/", Reaches),
    ("http://0x7f000001:PORT/", Reaches),
    ("http://0x7f.0.0.1:PORT/", Reaches),
    ("http://0X7F.1:PORT/", Reaches),
    ("http://0177.0.0.1:PORT/", Reaches),
    ("http://017700000001:PORT/", Reaches),
    ("http://0177.0x0.1:PORT/", Reaches),
    ("http://0.0.0.0:PORT/", Reaches),
    ("http://0:PORT/", Reaches),
    ("http://localhost:PORT/", Reaches),
    ("http://LOCALHOST:PORT/", Reaches),
    ("http://LocalHost.:PORT/", Allowed),
    ("http://loc%61lhost:PORT/", Reaches),
    ("http://%31%32%37.0.0.1:PORT/", Reaches),
    ("http://\u{ff4c}ocalhost:PORT/", Reaches),
    ("http://\u{24db}ocalhost:PORT/", Reaches),
    ("http://loc\u{ad}alhost:PORT/", Reaches),
    ("http://\u{2460}\u{2461}\u{2466}.0.0.1:PORT/", Reaches),
    ("http://127\u{3002}0\u{ff0e}0\u{ff61}1:PORT/", Reaches),
    ("http://\u{ff11}\u{ff12}\u{ff17}.0.0.1:PORT/", Reaches),
    ("http://[::ffff:127.0.0.1]:PORT/", Reaches),
    ("http://[::ffff:7f00:1]:PORT/", Reaches),
    ("http://[0:0:0:0:0:ffff:7f00:0001]:PORT/", Reaches),
    ("HTTP://127.0.0.1:PORT/", Reaches),
    ("http:127.0.0.1:PORT/", Reaches),
    ("http:\\\\127.0.0.1:PORT\\", Reaches),
    ("http:////127.0.0.1:PORT/", Reaches),
    ("ht\ntp://127.0\t.0.1:PORT/", Reaches),
    (" http://127.0.0.1:PORT/ ", Reaches),
    ("http://127.0.0.1:PORT/?@example.com", Reaches),
    ("http://127.0.0.1:PORT\\@example.com/", Reaches),
    ("http://127.0.0.1:PORT#@example.com/", Reaches),
    ("http://[::1]:PORT/", Allowed),
    ("http://[::]:PORT/", Allowed),
    ("http://[::127.0.0.1]:PORT/", Allowed),
    ("http://[64:ff9b::7f00:1]:PORT/", Allowed),
    ("http://[2002:7f00:1::]:PORT/", Allowed),
    ("http://example.com@127.0.0.1:PORT/", Invalid),
    ("http://example.com:x@127.0.0.1:PORT/", Invalid),
    ("http://localhost%00.example.com:PORT/", Invalid),
    ("http://localhost\0.example.com:PORT/", Invalid),
    ("http://127.0.0.1%2fexample.com:PORT/", Invalid),
    ("http://127.0.0.1%0d%0aHost:example.com:PORT/", Invalid),
    ("http://[fe80::1%25lo]:PORT/", Invalid),
    ("http://256.0.0.1:PORT/", Invalid),
    ("http://1.2.3.4.5:PORT/", Invalid),
    ("file:///etc/passwd", Invalid),
    ("ftp://127.0.0.1:PORT/", Invalid),
    ("gopher://127.0.0.1:PORT/_GET", Invalid),
    ("unix:///run/docker.sock", Invalid),
    ("data:text/plain,x", Invalid),
];

/// Metadata of clouds, which answer whoever asks. Only their denial can be shown, and its reason.
const METADATA: &[&str] = &[
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/latest/meta-data/",
    "http://192.0.0.192/opc/v1/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
];

// promise http.private
// promise http.resolved
#[tokio::test]
async fn escape_no_spelling_of_this_machine_is_reached_without_a_grant_for_it() {
    let mut failures = Failures::default();
    let server = Server::start(|_| Answer::ok("reached")).await;
    let (walls, free) = (bench("*:*"), bench("*:* +private"));
    for (url, granted) in PRIVATE {
        let url = url.replace("PORT", &server.port().to_string());
        let before = server.requests().len();
        let answer = walls.text("fetch", json!({"path": url})).await;
        failures.check(&url, answer.starts_with("error: "), &answer);
        failures.check(&url, server.requests().len() == before, "the server was asked");
        let answer = free.text("fetch", json!({"path": url, "limit": 99})).await;
        let is_so = match granted {
            Reaches => answer.ends_with("reached") && server.requests().len() == before + 1,
            Allowed => !answer.contains("--grant"),
            Invalid => answer.starts_with("error: ") && !answer.contains("--grant"),
        };
        failures.check(&format!("the control of {url}"), is_so, &answer);
    }
    for url in METADATA {
        let answer = walls.text("fetch", json!({"path": url})).await;
        let says = answer.starts_with("error: ") && answer.contains("no http grant") && answer.contains("--grant");
        failures.check(url, says, &answer);
    }
    failures.report(PRIVATE.len() + METADATA.len());
}

/// Where a redirect leads, with `PORT` for the port of a server beside the grant.
const LOCATIONS: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT/",
    "\\\\127.0.0.1:PORT/",
    "/\\127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://0.0.0.0:PORT/",
    "  http://127.0.0.1:PORT/",
];

// promise http.redirect
#[tokio::test]
async fn escape_no_redirect_leads_to_a_server_beside_the_grant() {
    let mut failures = Failures::default();
    let other = Server::start(|_| Answer::ok("stolen")).await;
    let port = other.port().to_string();
    let rows: Vec<(u16, String)> = [301, 302, 303, 307, 308]
        .into_iter()
        .flat_map(|status| LOCATIONS.iter().map(move |location| (status, (*location).to_owned())))
        .map(|(status, location)| (status, location.replace("PORT", &port)))
        .collect();
    let answers = rows.clone();
    let server = Server::start(move |request| {
        let row = request.path.trim_start_matches('/').parse::<usize>().expect("a row");
        Answer::redirect(answers[row].0, &answers[row].1)
    })
    .await;
    let (walls, free) = (bench(&format!("127.0.0.1:{}", server.port())), bench("*:* +private"));
    for (row, (status, location)) in rows.iter().enumerate() {
        let name = format!("{status} {location}");
        let url = server.url(&format!("/{row}"));
        let before = other.requests().len();
        let answer = walls.text("fetch", json!({"path": url})).await;
        failures.check(&name, answer.starts_with("error: ") && answer.contains(&port), &answer);
        failures.check(&name, other.requests().len() == before, "the server was asked");
        let answer = free.text("fetch", json!({"path": url})).await;
        failures.check(&format!("the control of {name}"), answer.ends_with("stolen"), &answer);
    }
    failures.report(rows.len());
}

/// Fields that would change who asks whom, or where one request ends, with a value.
const FIELDS: &[(&str, &str)] = &[
    ("Host", "internal.example"),
    ("HOST", "internal.example"),
    ("Authorization", "Bearer x"),
    ("Proxy-Authorization", "Basic x"),
    ("Proxy-Connection", "keep-alive"),
    ("Cookie", "session=1"),
    ("Connection", "upgrade"),
    ("Upgrade", "websocket"),
    ("Transfer-Encoding", "chunked"),
    ("Content-Length", "0"),
    ("TE", "trailers"),
    ("Trailer", "x"),
    ("Expect", "100-continue"),
    ("x-a", "b\r\nHost: internal.example"),
    ("x-a", "b\nAuthorization: x"),
    ("x-a", "b\0"),
    ("x-a\r\nHost", "b"),
    ("x a", "b"),
    ("", "b"),
];

// promise http.credentials
#[tokio::test]
async fn escape_no_field_of_a_request_changes_who_asks_whom() {
    let mut failures = Failures::default();
    let server = Server::start(|_| Answer::ok("reached")).await;
    let bench = bench(&format!("127.0.0.1:{}", server.port()));
    for (name, value) in FIELDS {
        let arguments = json!({"path": server.url("/"), "environment": [[name, value]]});
        let answer = bench.text("fetch", arguments).await;
        failures.check(
            &format!("{name:?}: {value:?}"),
            answer.starts_with("error: ") && answer.contains("field"),
            &answer,
        );
    }
    assert!(server.requests().is_empty());
    // Any other is sent.
    bench.text("fetch", json!({"path": server.url("/"), "environment": [["x-a", "b"]]})).await;
    assert_eq!(server.requests().first().and_then(|request| request.header("x-a")), Some("b"));
    failures.report(FIELDS.len());
}

// promise http.resolved
#[tokio::test(flavor = "multi_thread")]
async fn escape_no_variable_puts_a_proxy_between_a_plugin_and_its_server() {
    let proxy = Server::start(|_| Answer::ok("by the proxy")).await;
    let server = Server::start(|_| Answer::ok("by the server")).await;
    let arguments = json!({"url": server.url("/")}).to_string();
    let grant = format!("web_fetch:http=127.0.0.1:{}", server.port());
    let mut host = Host::new(["tool", "call", "web_fetch", &arguments, "--grant", &grant]);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        host = host.env(name, proxy.url(""));
    }
    let ended = tokio::task::block_in_place(|| host.run());
    assert!(ended.stdout.contains("by the server") && proxy.requests().is_empty(), "{ended:?}");
    // A program obeys the same variable.
    let mut curl = std::process::Command::new("curl");
    curl.args(["-s", "--max-time", "20", &server.url("/")]).env("http_proxy", proxy.url("")).env_remove("no_proxy");
    let printed = tokio::task::block_in_place(|| curl.env_remove("NO_PROXY").output().expect("curl runs"));
    assert_eq!(printed.stdout, b"by the proxy", "{printed:?}");
}
