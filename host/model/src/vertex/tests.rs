//! Vertex AI over real connections, including its token endpoint.

use std::io::Write;
use std::sync::Arc;

use host_message::Content;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::*;
use crate::loopback::{Answer, End, Series, ask, text};
use crate::{ApiKey, CredentialsFile, ErrorKind, Login, Settings};

const REPLY: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hello\",\"thoughtSignature\":\"c2ln\"}]},\"finishReason\":\"STOP\"}]}\n\n";

fn reply() -> Answer {
    let headers = "content-type: text/event-stream\r\nconnection: close\r\n";
    Answer { headers, ..Answer::events([REPLY.as_bytes()], End::Whole) }
}

fn unauthorized(words: &str) -> Answer {
    let body = json!({"error": {"code": 401, "message": words, "status": "UNAUTHENTICATED"}}).to_string();
    Answer::refusal("401 Unauthorized", "connection: close\r\n", &body)
}

fn token(name: &str) -> Answer {
    Answer::json(&json!({"access_token": name, "expires_in": 3600}).to_string())
}

/// A service and its token endpoint.
struct Bench {
    service: Series,
    tokens: Series,
    vertex: Vertex,
    _file: NamedTempFile,
}

async fn bench(answers: Vec<Answer>, tokens: Vec<Answer>) -> Bench {
    let (service, tokens) = (Series::start(answers).await, Series::start(tokens).await);
    let mut file = NamedTempFile::new().expect("a file");
    let credentials = json!({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
                             "token_uri": tokens.address, "quota_project_id": "payer"});
    file.write_all(credentials.to_string().as_bytes()).expect("it can be written");
    let access = Access {
        address: Some(service.address.clone()),
        key: ApiKey::new("a-key-that-stays-here"),
        login: Some(Login { file: Some(CredentialsFile::Named(file.path().into())), ..Login::default() }),
        project: Some("my-project".to_owned()),
        ..Access::default()
    };
    let vertex = Vertex::new(access).expect("all is there");
    Bench { service, tokens, vertex, _file: file }
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a head ends").1).expect("the body is JSON")
}

#[tokio::test]
async fn a_request_carries_the_token_and_the_project_that_pays() {
    let mut bench = bench(vec![reply()], vec![token("t0ken-1")]).await;
    let (chunks, error) = ask(Arc::new(bench.vertex)).await;
    assert_eq!((text(&chunks).as_str(), error), ("hello", None));
    let signature = chunks[0].parts[0].signature.as_ref().expect("it is signed");
    assert_eq!(signature.by, "vertex");
    let request = bench.service.next().await;
    let path = "/v1/projects/my-project/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse";
    assert!(request.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{request}");
    assert!(request.contains("authorization: Bearer t0ken-1\r\n"), "{request}");
    assert!(request.contains("x-goog-user-project: payer\r\n"), "{request}");
    assert!(!request.contains("a-key-that-stays-here"), "{request}");
    assert_eq!(bench.tokens.left(), 1);
}

#[tokio::test]
async fn a_token_that_was_taken_back_is_fetched_once_more() {
    let answers = vec![unauthorized("expired"), reply()];
    let mut bench = bench(answers, vec![token("t0ken-1"), token("t0ken-2")]).await;
    let (chunks, error) = ask(Arc::new(bench.vertex)).await;
    assert_eq!((text(&chunks).as_str(), error), ("hello", None));
    assert!(bench.service.next().await.contains("Bearer t0ken-1\r\n"));
    assert!(bench.service.next().await.contains("Bearer t0ken-2\r\n"));
    assert_eq!(bench.tokens.left(), 2);
}

// promise model.google
#[tokio::test]
async fn a_second_refusal_is_an_error_without_the_token() {
    let answers = vec![unauthorized("no"), unauthorized("t0ken-2 is nobody"), reply()];
    let bench = bench(answers, vec![token("t0ken-1"), token("t0ken-2")]).await;
    let (_, error) = ask(Arc::new(bench.vertex)).await;
    let error = error.expect("it was refused twice");
    assert_eq!((error.kind(), error.status()), (ErrorKind::Authentication, Some(401)));
    assert!(error.to_string().contains("(token) is nobody"), "{error}");
    assert!(!format!("{error:?}").contains("t0ken"), "{error:?}");
    assert!(error.help().expect("there is a help").contains("GOOGLE_APPLICATION_CREDENTIALS"));
    assert_eq!(bench.service.left(), 2);
}

#[tokio::test]
async fn vertex_failed_login_is_reported_and_nothing_is_sent() {
    let refusal = Answer::refusal("400 Bad", "connection: close\r\n", r#"{"error": "invalid_grant"}"#);
    let bench = bench(vec![reply()], vec![refusal]).await;
    let (_, error) = ask(Arc::new(bench.vertex)).await;
    let error = error.expect("there is no token");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert_eq!(error.to_string(), "could not log in to `vertex`");
    assert_eq!(bench.service.left(), 0);
}

#[tokio::test]
async fn tokens_are_counted_and_texts_embedded() {
    let counted = Answer::json(r#"{"totalTokens": 7, "totalBillableCharacters": 9}"#);
    let embedded = |number: u32| {
        let values = [number];
        Answer::json(&json!({"predictions": [{"embeddings": {"values": values, "statistics": {}}}]}).to_string())
    };
    let mut bench = bench(vec![counted, embedded(1), embedded(2)], vec![token("t")]).await;
    let contents = [Content::user("hi")];
    let settings = Settings { safety: vec![("A".to_owned(), "B".to_owned())], ..Settings::default() };
    let request = Request {
        model: "gemini-3-pro",
        system: Some("s"),
        contents: &contents,
        tools: &[],
        settings: &settings,
        conversation: None,
    };
    assert_eq!(bench.vertex.count_tokens(request).await, Ok(Some(7)));
    let texts = ["a".to_owned(), "b".to_owned()];
    assert_eq!(bench.vertex.embed("e", &texts).await, Ok(Some(vec![vec![1.0], vec![2.0]])));
    let request = bench.service.next().await;
    assert!(request.contains("/models/gemini-3-pro:countTokens HTTP"), "{request}");
    assert_eq!(body(&request)["contents"], json!([{"role": "user", "parts": [{"text": "hi"}]}]));
    assert!(body(&request).get("safetySettings").is_none());
    assert_eq!(body(&bench.service.next().await), json!({"instances": [{"content": "a"}]}));
    assert_eq!(body(&bench.service.next().await), json!({"instances": [{"content": "b"}]}));
}

#[test]
fn a_location_has_its_address() {
    let check = |location: &str, expected: &str| assert_eq!(address(location), expected);
    check("global", "https://aiplatform.googleapis.com");
    check("us-central1", "https://us-central1-aiplatform.googleapis.com");
    check("eu", "https://aiplatform.eu.rep.googleapis.com");
}

// promise model.google
#[test]
fn vertex_missing_setting_is_reported_with_where_to_set_it() {
    let check = |access: Access, kind: ErrorKind, variable: &str| {
        let error = Vertex::new(access).err().expect("something is wrong");
        assert_eq!(error.kind(), kind, "{error:?}");
        assert!(error.help().expect("there is a help").contains(variable), "{error:?}");
    };
    let project = || Some("p".to_owned());
    check(Access::default(), ErrorKind::Configuration, "GOOGLE_CLOUD_PROJECT");
    for location in ["", "us central", "evil.example/", "a@b", "US"] {
        let access = Access { project: project(), location: Some(location.to_owned()), ..Access::default() };
        check(access, ErrorKind::Configuration, "GOOGLE_CLOUD_LOCATION");
    }
    // A token is not sent over a connection that can be read.
    for address in ["ftp://a", "http://a.example"] {
        let access = Access { project: project(), address: Some(address.to_owned()), ..Access::default() };
        check(access, ErrorKind::Configuration, "GOOGLE_VERTEX_BASE_URL");
    }
    let file = Some(CredentialsFile::Named("no/such/file".into()));
    let access = Access { project: project(), login: Some(Login { file, ..Login::default() }), ..Access::default() };
    check(access, ErrorKind::Authentication, "GOOGLE_APPLICATION_CREDENTIALS");
}
