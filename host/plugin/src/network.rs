//! The destination of a call's requests: the real network, prepared answers, or a service that the host asks itself.
//!
//! Promises: neither of the others changes anything about what a call may do. Each request, and each redirect, is
//! checked against the grants like any other; only requests that would have been sent are recorded and answered here,
//! and a service gets no others.

use std::fmt;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use host_text::exact;
use reqwest::{Method, ResponseBuilderExt as _, Url};

use crate::lock::lock;
use crate::origin::same_request;

/// The most requests that are recorded. Protects memory from a plugin that sends them in a loop.
const MAX_SEEN: usize = 10_000;

/// The destination of a call's requests.
#[derive(Clone, Debug, Default)]
pub enum Network {
    /// To the servers that they name.
    #[default]
    Real,
    /// No server: they are answered from here.
    Prepared(Arc<PreparedNetwork>),
    /// No server: the host asks one service on behalf of the call, with what only the host has.
    Service(Arc<dyn NetworkService>),
}

/// A service that the host asks itself, on behalf of a call: the call has its permit, and the host the key, the format
/// and the count of what is used.
///
/// For the implementer: [`answer`](NetworkService::answer) is only called for a request that the grants allow. Dropping
/// its future cancels the request.
pub trait NetworkService: Send + Sync {
    /// Returns the one address that is answered, by POST. A permit is for its server.
    fn address(&self) -> &str;

    /// Answers a request with this body: the body of an answer, or why there is none, safe to show.
    fn answer<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, String>>;
}

impl fmt::Debug for dyn NetworkService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NetworkService").field(&self.address()).finish()
    }
}

/// Answers a permitted request by a service.
pub(super) async fn serve(
    service: &dyn NetworkService,
    method: &Method,
    url: &Url,
    body: Option<&[u8]>,
) -> Result<reqwest::Response, String> {
    if *method != Method::POST || !same_request(service.address(), url.as_str()) {
        return Err(format!("only `POST {}` is answered here", exact(service.address())));
    }
    let body = service.answer(body.unwrap_or_default()).await?;
    let answer = http::Response::builder().url(url.clone()).status(200).body(body);
    answer.map(Into::into).map_err(|error| error.to_string())
}

/// Prepared answers in place of a network, and the requests so far.
#[derive(Debug)]
pub struct PreparedNetwork {
    /// Each answer with the number of times it was given.
    answers: Mutex<Vec<(PreparedAnswer, usize)>>,
    seen: Mutex<Vec<SeenRequest>>,
}

/// An answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedAnswer {
    /// The method, in capital letters.
    pub method: String,
    /// The address.
    pub url: String,
    /// The status, 100 to 599.
    pub status: u16,
    /// The header fields.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request that would have been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
    /// The secrets that it carried, by their names.
    pub secrets: Vec<String>,
}

/// The error of an invalid answer.
#[derive(Debug, thiserror::Error)]
#[error("invalid answer to `{method} {url}`: {why}")]
pub struct PreparedError {
    method: String,
    url: String,
    why: String,
}

impl PreparedNetwork {
    /// Creates a network of these answers. If there are several for one request, they are given in their order, and the
    /// last one repeatedly.
    ///
    /// # Errors
    ///
    /// If a status or a header field is invalid.
    pub fn new(answers: Vec<PreparedAnswer>) -> Result<Self, PreparedError> {
        for answer in &answers {
            answer.response(&answer.url).map_err(|why| PreparedError {
                method: answer.method.clone(),
                url: answer.url.clone(),
                why,
            })?;
        }
        let answers = answers.into_iter().map(|answer| (answer, 0)).collect();
        Ok(Self { answers: Mutex::new(answers), seen: Mutex::default() })
    }

    /// Returns the requests so far, in order, including redirects.
    pub fn seen(&self) -> Vec<SeenRequest> {
        lock(&self.seen).clone()
    }

    /// Returns the answers that no request has used.
    pub fn unused(&self) -> Vec<PreparedAnswer> {
        lock(&self.answers).iter().filter(|(_, given)| *given == 0).map(|(answer, _)| answer.clone()).collect()
    }

    /// Answers a permitted request.
    pub(super) fn answer(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&[u8]>,
        secrets: Vec<String>,
    ) -> Result<reqwest::Response, String> {
        let (method, url) = (method.as_str(), url.as_str());
        {
            let mut seen = lock(&self.seen);
            // Bounded even in a test: a guest may ask without end.
            if seen.len() >= MAX_SEEN {
                return Err(format!("over {MAX_SEEN} requests"));
            }
            let body = body.unwrap_or_default().to_vec();
            // Recorded although no answer may be prepared: the case compares what would have been sent.
            seen.push(SeenRequest { method: method.to_owned(), url: url.to_owned(), body, secrets });
        }
        let mut answers = lock(&self.answers);
        let matching =
            |(answer, _): &(PreparedAnswer, usize)| answer.method == method && same_request(&answer.url, url);
        // Each answer once, in their order, and the last one again and again: a poll is prepared with two answers.
        let next = answers.iter().position(|answer| matching(answer) && answer.1 == 0);
        let Some(place) = next.or_else(|| answers.iter().rposition(matching)) else {
            return Err(format!("no answer is prepared for `{method} {url}`"));
        };
        answers[place].1 += 1;
        answers[place].0.response(url)
    }
}

impl PreparedAnswer {
    fn response(&self, url: &str) -> Result<reqwest::Response, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        if !(100..600).contains(&self.status) {
            return Err(format!("the status {} is not between 100 and 599", self.status));
        }
        let mut builder = http::Response::builder().url(url).status(self.status);
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        builder.body(self.body.clone()).map(Into::into).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(url: &str, body: &str) -> PreparedAnswer {
        let (method, url) = ("GET".to_owned(), url.to_owned());
        PreparedAnswer { method, url, status: 200, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    #[tokio::test]
    async fn answers_are_given_in_their_order_and_the_last_again() {
        let network = PreparedNetwork::new(vec![
            answer("https://a.test/x", "1"),
            answer("https://a.test/y", "-"),
            answer("https://a.test/x", "2"),
        ])
        .expect("they are good");
        let get = |url: &str| network.answer(&Method::GET, &Url::parse(url).expect("it is one"), None, Vec::new());
        for expected in ["1", "2", "2"] {
            let response = get("https://a.test/x#part").expect("it is prepared");
            assert_eq!(response.text().await.expect("it is text"), expected);
        }
        assert!(get("https://a.test/z").expect_err("it is not").contains("no answer is prepared for `GET"));
        assert_eq!(network.unused(), [answer("https://a.test/y", "-")]);
        assert_eq!(network.seen().len(), 4, "what was not answered was asked too");
    }

    #[test]
    fn an_answer_that_cannot_be_given_is_an_error_at_once() {
        let good = answer("https://a.test/", "");
        let bad_field = vec![("a b".to_owned(), "c".to_owned())];
        for (bad, why) in [
            (PreparedAnswer { status: 99, ..good.clone() }, "between 100 and 599"),
            (PreparedAnswer { headers: bad_field, ..good.clone() }, "invalid HTTP header name"),
            (PreparedAnswer { url: "nowhere".to_owned(), ..good }, "relative URL without a base"),
        ] {
            let error = PreparedNetwork::new(vec![bad]).expect_err("it is bad").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
