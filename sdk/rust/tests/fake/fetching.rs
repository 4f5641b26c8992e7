//! `http`: a server is what a test says that it answers.

use host_sdk::fake::{Answer, FakeHost};
use host_sdk::http::{self, Error, Request};

const URL: &str = "https://example.com/a";

#[test]
fn fake_host_server_answers_as_the_test_defines_and_records_the_request() {
    let answer = Answer::new(404, "not here").header("Content-Type", "text/plain").header("Set-Cookie", "secret");
    let host = FakeHost::new().http("GET", URL, answer).http("POST", URL, "posted");
    host.run(|| {
        let response = http::fetch(&Request::get(format!("{URL}#part"), 1000).header("accept", "*/*")).expect("answer");
        assert_eq!((response.status, response.body.as_slice(), response.cut), (404, b"not here".as_slice(), false));
        assert_eq!(response.header("CONTENT-TYPE"), Some("text/plain"));
        assert_eq!(response.header("set-cookie"), None, "no credential reaches a plugin");
        let post = Request { method: "POST".to_owned(), body: Some(b"x".to_vec()), ..Request::get(URL, 3) };
        let response = http::fetch(&post).expect("answer");
        assert_eq!((response.status, response.body.as_slice(), response.cut), (200, b"pos".as_slice(), true));
    });
    let methods: Vec<_> = host.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["GET", "POST"]);
}

#[test]
fn fake_host_invalid_request_is_not_sent() {
    let host = FakeHost::new().http("GET", URL, "");
    host.run(|| {
        let invalid =
            |request: &Request| assert!(matches!(http::fetch(request), Err(Error::Invalid(_))), "{request:?}");
        invalid(&Request { method: "BREW".to_owned(), ..Request::get(URL, 1) });
        for url in
            ["example.com", "ftp://example.com", "https://me:secret@example.com", &format!("{URL}{}", "x".repeat(9000))]
        {
            invalid(&Request::get(url, 1));
        }
        for name in ["authorization", "Cookie", "proxy-x", "sec-fetch-mode", "a b", ""] {
            invalid(&Request::get(URL, 1).header(name, "x"));
        }
        invalid(&Request::get(URL, 1).header("x", "a\nb"));
        invalid(&Request { body: Some(vec![0; (8 << 20) + 1]), ..Request::get(URL, 1) });
        let forgotten = http::fetch(&Request::get("https://example.com/b", 1));
        assert!(matches!(forgotten, Err(Error::Unavailable(why)) if why.contains(".http(")), "the test forgot to say");
    });
    assert_eq!(host.requests().len(), 1, "the one that had no answer");
}

#[test]
fn a_redirect_is_followed_within_the_grant_and_no_further() {
    let host = FakeHost::new()
        .http("GET", URL, Answer::redirect("/b"))
        .http("GET", "https://example.com/b", "here")
        .http("GET", "https://example.com/out", Answer::redirect("https://example.org/"))
        .http("GET", "https://example.org/", "there")
        .http("GET", "https://example.com/round", Answer::redirect("/round"))
        .grant("http=example.com");
    host.run(|| {
        let response = http::fetch(&Request::get(URL, 100)).expect("answer");
        assert_eq!((response.url.as_str(), response.body.as_slice()), ("https://example.com/b", b"here".as_slice()));
        let out = http::fetch(&Request::get("https://example.com/out", 100));
        assert!(matches!(out, Err(Error::RedirectDenied(denial)) if denial.wanted.contains("example.org")));
        let round = http::fetch(&Request::get("https://example.com/round", 100));
        assert!(matches!(round, Err(Error::Unavailable(why)) if why.contains("10")));
    });
}

#[test]
fn fake_host_request_to_this_machine_needs_a_grant_that_names_it() {
    let host = FakeHost::new().http("GET", "http://localhost:80/", "").http("GET", "http://127.0.0.1/", "");
    let fetch = |url: &str| http::fetch(&Request::get(url, 1)).map(drop);
    host.run(|| assert_eq!((fetch("http://localhost/"), fetch("http://127.0.0.1/")), (Ok(()), Ok(()))));
    let public = host.clone().grant("http=* *:*");
    public.run(|| {
        for url in ["http://localhost/", "http://127.0.0.1/"] {
            assert!(matches!(fetch(url), Err(Error::Denied(_))), "{url}");
        }
    });
}

#[test]
fn fake_host_timeout_and_broken_connection_are_reported() {
    let host = FakeHost::new().http("GET", URL, Answer::timed_out()).http(
        "GET",
        "https://example.com/b",
        Answer::unavailable("reset"),
    );
    host.run(|| {
        assert_eq!(http::fetch(&Request::get(URL, 1)), Err(Error::TimedOut));
        let broken = http::fetch(&Request::get("https://example.com/b", 1));
        assert_eq!(broken, Err(Error::Unavailable("reset".to_owned())));
    });
}
