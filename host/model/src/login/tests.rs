//! Files of credentials, and tokens fetched over real connections.

use std::io::Write;
use std::sync::Arc;

use rustls::pki_types::alg_id;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::*;
use crate::loopback::{Answer, Series};

/// Made for these tests; it gives access to nothing.
const KEY: &str = include_str!("tests/account.pem");

/// Its public half, as an `RSAPublicKey`.
const PUBLIC: &[u8] = include_bytes!("tests/account.der");

/// A valid key of the wrong kind.
const CURVE: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQganRakh2qL2ZxObVg\n\
    UsJAI5AKk1k0NXs1u0q2tLbBbxShRANCAARvUSREJrO4WbSPX0HJ+EWdYo5YNiH8\n\
    M0u1r4baO+GwOQ5wF3gRn7xwauQroToSB2AHihlrYHwiGHncfWmd2Q49\n\
    -----END PRIVATE KEY-----\n";

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("it can be written");
    file
}

fn named(file: &NamedTempFile) -> Login {
    Login { file: Some(CredentialsFile::Named(file.path().into())), ..Login::default() }
}

fn user(endpoint: &str) -> Value {
    json!({"type": "authorized_user", "client_id": "id-1", "client_secret": "s3cret-client", "refresh_token": "r3fresh&1",
           "token_uri": format!("{endpoint}/token"), "quota_project_id": "payer"})
}

fn tokens(credentials: &Value) -> Tokens {
    Tokens::new(&named(&file(&credentials.to_string())), None).expect("they are good")
}

fn token(name: &str, seconds: u64) -> Answer {
    Answer::json(&json!({"access_token": name, "expires_in": seconds, "token_type": "Bearer"}).to_string())
}

fn form(request: &str) -> Vec<(String, String)> {
    let (_, body) = request.split_once("\r\n\r\n").expect("a head ends");
    url::form_urlencoded::parse(body.as_bytes()).into_owned().collect()
}

// promise model.google: Google credentials go only to the token address, the token only to the configured address,
//   both `https` or this machine, and neither is shown.
#[test]
fn a_file_that_cannot_be_used_is_named_with_what_is_wrong() {
    let check = |text: &str, why: &str| {
        let file = file(text);
        let error = Tokens::new(&named(&file), None).expect_err(text);
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
        assert!(error.to_string().contains(why), "{error} for {text}");
        assert!(error.help().contains("GOOGLE_APPLICATION_CREDENTIALS"));
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    };
    let with = |changes: Value| {
        let mut file = user("https://a.example");
        file.as_object_mut().expect("an object").extend(changes.as_object().expect("an object").clone());
        file.to_string()
    };
    let account = |key: &str| json!({"type": "service_account", "client_email": "a@b", "private_key": key}).to_string();
    check("", "not JSON");
    check("{\"client_secret\": \"s3cret", "line 1");
    check("{\"client_secret\": [\"s3cret\"]}", "wrong type");
    check("{}", "no `type`");
    check(&with(json!({"type": "external_account"})), "type `external_account`");
    check(&with(json!({"refresh_token": null})), "no `refresh_token`");
    check(&with(json!({"client_secret": ""})), "no `client_secret`");
    check(&with(json!({"client_id": null})), "no `client_id`");
    check(&with(json!({"token_uri": "s3cret"})), "invalid `token_uri`");
    check(&with(json!({"token_uri": "http://a.example/token"})), "not begin with `https://`");
    check(&account("s3cret"), "not PEM");
    check(&account(CURVE), "not an RSA key");
    check(&account("-----BEGIN PRIVATE KEY-----\nczNjcmV0\n-----END PRIVATE KEY-----\n"), "not a key that can sign");
    check(&" ".repeat(70_000), "over the limit of");
}

#[test]
fn a_named_file_has_to_be_there_and_the_usual_one_need_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none.json");
    let named = Login { file: Some(CredentialsFile::Named(path.clone())), ..Login::default() };
    let error = Tokens::new(&named, None).expect_err("it is not there");
    assert!(matches!(&error, LoginError::Unreadable { file, .. } if *file == path.display().to_string()), "{error:?}");
    let usual = Login { file: Some(CredentialsFile::Usual(path)), ..Login::default() };
    assert!(Tokens::new(&usual, None).is_ok());
}

#[tokio::test]
async fn login_of_a_user_exchanges_the_refresh_token_for_an_access_token() {
    let mut service = Series::start(vec![token("t-1", 3600)]).await;
    let tokens = tokens(&user(&service.address));
    assert_eq!(tokens.current().await, Ok(ApiKey::new("t-1").unwrap()));
    assert_eq!(tokens.quota_project(), Some("payer"));
    let request = service.next().await;
    assert!(request.starts_with("POST /token HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("content-type: application/x-www-form-urlencoded\r\n"), "{request}");
    let expected = [
        ("grant_type", "refresh_token"),
        ("client_id", "id-1"),
        ("client_secret", "s3cret-client"),
        ("refresh_token", "r3fresh&1"),
    ];
    assert_eq!(form(&request), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn a_service_account_signs_for_its_token() {
    let mut service = Series::start(vec![token("t-1", 3600)]).await;
    let endpoint = format!("{}/token", service.address);
    let account = json!({"type": "service_account", "client_email": "bot@p.example", "private_key": KEY,
                         "private_key_id": "k-7", "token_uri": endpoint});
    assert_eq!(tokens(&account).current().await, Ok(ApiKey::new("t-1").unwrap()));
    let form = form(&service.next().await);
    assert_eq!(form[0], ("grant_type".to_owned(), "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned()));
    let assertion = &form[1].1;
    let parts: Vec<&str> = assertion.split('.').collect();
    let decoded = |part: &str| {
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        base64::Engine::decode(&engine, part).expect("it is base64")
    };
    let parsed = |part: &str| serde_json::from_slice::<Value>(&decoded(part)).expect("it is JSON");
    assert_eq!(parsed(parts[0]), json!({"alg": "RS256", "typ": "JWT", "kid": "k-7"}));
    let claims = parsed(parts[1]);
    assert_eq!((&claims["iss"], &claims["aud"]), (&json!("bot@p.example"), &json!(endpoint)));
    assert_eq!(claims["scope"], "https://www.googleapis.com/auth/cloud-platform");
    assert_eq!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(), 3600);

    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    let rs256 = algorithms.all.iter().find(|algorithm| algorithm.signature_alg_id() == alg_id::RSA_PKCS1_SHA256);
    let signed = assertion.rsplit_once('.').expect("it has three parts").0;
    let verified = rs256.expect("it is known").verify_signature(PUBLIC, signed.as_bytes(), &decoded(parts[2]));
    assert!(verified.is_ok(), "the signature is the key's");
}

#[tokio::test]
async fn a_machine_of_the_cloud_asks_its_metadata_server() {
    let mut service = Series::start(vec![token("t-1", 3600)]).await;
    let host = service.address.strip_prefix("http://").map(str::to_owned);
    let tokens = Tokens::new(&Login { file: None, metadata_host: host }, None).expect("there is nothing to read");
    assert_eq!(tokens.current().await, Ok(ApiKey::new("t-1").unwrap()));
    let request = service.next().await;
    let path = "/computeMetadata/v1/instance/service-accounts/default/token";
    assert!(request.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{request}");
    assert!(request.contains("metadata-flavor: Google\r\n"), "{request}");
}

#[tokio::test]
async fn many_requests_fetch_one_token() {
    let mut service = Series::start(vec![token("t-1", 3600), token("t-2", 3600)]).await;
    let tokens = Arc::new(tokens(&user(&service.address)));
    let requests = (0..20).map(|_| {
        let tokens = Arc::clone(&tokens);
        tokio::spawn(async move { tokens.current().await })
    });
    for request in requests.collect::<Vec<_>>() {
        assert_eq!(request.await.expect("it does not panic"), Ok(ApiKey::new("t-1").unwrap()));
    }
    service.next().await;
    assert_eq!(service.left(), 0);
}

#[tokio::test]
async fn a_token_is_used_until_a_minute_before_its_end() {
    let service = Series::start(vec![token("t-1", 3600), token("t-2", 60), token("t-3", u64::MAX)]).await;
    let tokens = tokens(&user(&service.address));
    let current = async || tokens.current().await.map(|token| token.expose().to_owned());
    let later = async |seconds| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
    };
    assert_eq!(current().await.as_deref(), Ok("t-1"));
    later(3500).await;
    assert_eq!(current().await.as_deref(), Ok("t-1"));
    later(41).await;
    assert_eq!(current().await.as_deref(), Ok("t-2"));
    assert_eq!(current().await.as_deref(), Ok("t-3"), "the second lasts for its own request only");
}

#[tokio::test]
async fn a_forgotten_token_is_fetched_again_and_a_newer_one_is_kept() {
    let service = Series::start(vec![token("t-1", 3600), token("t-2", 3600)]).await;
    let tokens = tokens(&user(&service.address));
    let first = tokens.current().await.expect("a token");
    tokens.forget(&first);
    let second = tokens.current().await.expect("a token");
    assert_eq!(second.expose(), "t-2");
    tokens.forget(&first);
    assert_eq!(tokens.current().await, Ok(second));
}

// promise model.google
#[tokio::test]
async fn login_that_gets_no_token_reports_who_refused_and_why_and_no_secret() {
    let check = async |status: &'static str, body: &str, why: &str| {
        let service = Series::start(vec![Answer::refusal(status, "connection: close\r\n", body)]).await;
        let file = file(&user(&service.address).to_string());
        let tokens = Tokens::new(&named(&file), None).expect("they are good");
        let error = tokens.current().await.expect_err(body);
        let said = format!("{error} {error:?} {tokens:?}");
        assert!(said.contains(why) && said.contains(&service.address), "{said}");
        assert!(said.contains(&file.path().display().to_string()), "{said}");
        assert!(!said.contains("s3cret") && !said.contains("r3fresh") && !said.contains("t0ken"), "{said}");
    };
    let gone = r#"{"error": "invalid_grant", "error_description": "Token has been expired: r3fresh&1 s3cret-client"}"#;
    check("400 Bad Request", gone, "invalid_grant: Token has been expired: (refresh token) (client secret)").await;
    check("503 Oh", "<html>s3cret", "status 503").await;
    check("200 OK", "{}", "the answer contains no token").await;
    check("200 OK", r#"{"access_token": ["t0ken"]}"#, "not the expected JSON").await;
    check("403 No", r#"{"access_token": "t0ken"}"#, "status 403").await;
    check("302 Found", r#"{"error": {"code": 7}}"#, "status 302").await;
    check("200 OK", &"x".repeat(100_000), "larger than 65536 bytes").await;
}

#[tokio::test]
async fn a_token_endpoint_that_is_not_there_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = tokens(&user(&address)).current().await.expect_err("nobody is there");
    assert!(matches!(&error, LoginError::Unreachable { endpoint, .. } if endpoint.starts_with(&address)), "{error:?}");
    assert!(error.help().contains("gcloud auth application-default login"));
}
