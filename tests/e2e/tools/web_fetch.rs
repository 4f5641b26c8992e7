//! What `web_fetch` promises, against a server on this machine.

use host_message::{InlineData, OutputPart};
use host_plugin::Confirmation;
use host_tests::Bench;
use host_tests::server::{Answer, Server};
use serde_json::json;

use super::{failure, refuses};

const PAGE: &str = "<html><head><title>The page</title><style>p { color: red }</style></head><body>\
    <h1>Hello</h1><script>steal()</script><p>Some <b>bold</b> <a href=\"/next\">text</a>.</p></body></html>";

fn bench(server: &Server) -> Bench {
    Bench::built_in("web_fetch", &[&format!("http=127.0.0.1:{}", server.port())])
}

fn typed(media_type: &str, body: impl AsRef<[u8]>) -> Answer {
    Answer::ok(body).header("content-type", media_type)
}

#[tokio::test]
async fn the_type_of_an_answer_decides_how_it_is_read() {
    let server = Server::start(|request| match request.path.as_str() {
        "/page" => typed("text/html; charset=utf-8", PAGE),
        "/json" => typed("application/json", "{\"a\": [1, 2]}\n"),
        "/text" => typed("text/plain; charset=iso-8859-1", b"caf\xe9"),
        "/nothing" => typed("text/plain", ""),
        "/moved" => Answer::redirect(301, "/json"),
        _ => Answer::status(404, ""),
    })
    .await;
    let bench = bench(&server);
    let moved = format!("(answered by {})\n{{\"a\": [1, 2]}}\n", server.url("/json"));
    for (path, text) in [
        ("/page", "# The page\n\n# Hello\n\nSome **bold** [text](/next).\n"),
        ("/json", "{\"a\": [1, 2]}\n"),
        ("/text", "café"),
        ("/nothing", "(the page has no text)\n"),
        ("/moved", &moved),
    ] {
        assert_eq!(bench.text("web_fetch", json!({"url": server.url(path)})).await, text, "{path}");
    }
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.method == "GET" && request.header("accept").is_some()));
    assert!(requests.iter().all(|request| request.header("cookie").is_none()));
}

#[tokio::test]
async fn an_image_comes_as_data() {
    let server = Server::start(|_| typed("image/png", b"\x89PNG\r\n\x1a\n")).await;
    let url = server.url("/image");
    let output = bench(&server).call("web_fetch", json!({"url": url})).await.expect("it is fetched");
    let data = InlineData { mime_type: "image/png".to_owned(), base64: "iVBORw0KGgo=".to_owned() };
    let line = format!("{url} (image/png, 8 bytes)");
    assert_eq!(output.content, [OutputPart::Text(line), OutputPart::Data(data)]);
}

#[tokio::test]
async fn web_fetch_page_that_is_too_long_is_cut_and_marked() {
    let server = Server::start(|request| match request.path.as_str() {
        "/image" => typed("image/png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 2_000]].concat()),
        _ => typed("text/plain", "é".repeat(100_001)),
    })
    .await;
    let bench = bench(&server);
    let text = bench.text("web_fetch", json!({"url": server.url("/"), "max_bytes": 1_000})).await;
    assert_eq!(text, format!("(cut after 1000 bytes)\n{}", "é".repeat(500)));
    let text = bench.text("web_fetch", json!({"url": server.url("/")})).await;
    assert_eq!(text, format!("(the first 100000 of 100001 characters)\n{}", "é".repeat(100_000)));
    // Half an image is none.
    let arguments = json!({"url": server.url("/image"), "max_bytes": 1_000});
    refuses(&bench, "web_fetch", [(arguments, "failed", &["longer than 1000 bytes", "`max_bytes`"])]).await;
}

#[tokio::test]
async fn web_fetch_page_whose_attributes_are_endless_is_refused_before_it_is_parsed() {
    let server = Server::start(|request| {
        let count = if request.path == "/few" { 1_000 } else { 300_000 };
        let attributes: String = (0..count).map(|number| format!(" a{number}")).collect();
        typed("text/html", format!("<p{attributes}>Hello</p>"))
    })
    .await;
    let bench = bench(&server);
    assert_eq!(bench.text("web_fetch", json!({"url": server.url("/few")})).await, "Hello\n");
    // Parsed, it would take two minutes of a core, which is where the call ends.
    let arguments = json!({"url": server.url("/many")});
    refuses(&bench, "web_fetch", [(arguments, "failed", &["has tags with too many attributes"])]).await;
}

#[tokio::test]
async fn another_status_is_a_failure_with_the_servers_words() {
    let server = Server::start(|request| match request.path.as_str() {
        "/zip" => typed("application/zip", b"PK\x03\x04"),
        "/torn" => typed("text/plain", "half").torn(),
        path => {
            let status = path.trim_start_matches('/').parse().expect("a status");
            Answer::status(status, "<h1>Gone fishing</h1>").header("content-type", "text/html")
        }
    })
    .await;
    let bench = bench(&server);
    let at = |path: &str| json!({"url": server.url(path)});
    refuses(
        &bench,
        "web_fetch",
        [
            (at("/404"), "not-found", &["/404 answered with status 404: # Gone fishing"]),
            (at("/503"), "unavailable", &["status 503"]),
            (at("/403"), "failed", &["status 403"]),
            (at("/zip"), "failed", &["is application/zip"]),
            (at("/torn"), "unavailable", &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn web_fetch_sends_nothing_that_the_grant_does_not_cover_not_even_by_a_redirect() {
    let other = Server::start(|_| Answer::ok("stolen")).await;
    let target = other.url("/steal");
    let server = Server::start(move |_| Answer::redirect(302, &target)).await;
    let bench = bench(&server);
    let wanted = format!("127.0.0.1:{}", other.port());
    for url in [server.url("/out"), other.url("/steal")] {
        let (case, words) = failure(&bench, "web_fetch", json!({"url": url})).await;
        assert!(case == "denied" && words.contains(&format!("--grant web_fetch:http={wanted}")), "{url}: {words}");
    }
    assert!(other.requests().is_empty());

    let none = Bench::built_in("web_fetch", &[]);
    let error = none.call("web_fetch", json!({"url": other.url("/")})).await.expect_err("it may not").to_string();
    assert!(error.contains("`web_fetch` has no http grant"), "{error}");
}

#[tokio::test]
async fn web_fetch_preview_names_the_address_that_is_really_fetched_and_sends_nothing() {
    let server = Server::start(|_| Answer::ok("")).await;
    let bench = bench(&server);
    let raw = "https://raw.githubusercontent.com/o/r/main/x.rs";
    for (url, fetched) in
        [(server.url("/x"), server.url("/x")), ("https://github.com/o/r/blob/main/x.rs".into(), raw.into())]
    {
        let shown = bench.preview("web_fetch", json!({"url": url})).await.expect("it is asked");
        let requests = vec![("GET".to_owned(), fetched.clone())];
        let expected = Confirmation::Info { text: format!("Fetch {fetched}"), requests, writes: Vec::new() };
        assert_eq!(shown, Some(expected));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn web_fetch_invalid_address_is_reported_in_words() {
    let server = Server::start(|_| Answer::ok("")).await;
    let at = |url: &str| json!({"url": url});
    refuses(
        &bench(&server),
        "web_fetch",
        [
            (at("file:///etc/passwd"), "invalid-arguments", &["`file:///etc/passwd` is no address of the web"]),
            (at("https://u:p@example.com/"), "invalid-arguments", &["user name or password"]),
            (at("http://[::1/"), "invalid-arguments", &["is invalid"]),
        ],
    )
    .await;
}
