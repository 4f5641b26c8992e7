//! The search services: what each is asked, and how its answer reads.
//!
//! Deliberately not here: their keys, which the host puts into the requests.

use host_sdk::http::{Request, Response};
use host_sdk::{Failure, context};
use serde::Deserialize;
use serde_json::json;

use crate::found::{Found, plain};

/// How many bytes of an answer are taken: twenty results have some tens of thousands.
const MAX_BYTES: u32 = 1024 * 1024;

/// How long a search may take, in milliseconds.
const TIME_LIMIT: u64 = 20_000;

/// How many characters of an error's words are told.
const MAX_WORDS: usize = 300;

/// How long a search by the model's service may take, in milliseconds: a model reads what it finds. The host has a
/// limit of its own.
const MODEL_TIME_LIMIT: u64 = 60_000;

/// A service, with its address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Provider {
    kind: Kind,
    address: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Brave,
    Tavily,
    Searxng,
    /// The service of the model that answers the user, which the host asks.
    Model,
}

impl Provider {
    /// The service that the user configured.
    pub(crate) fn configured() -> Result<Self, Failure> {
        let value = |key: &str| context::config(key).and_then(|json| serde_json::from_str::<String>(&json).ok());
        Self::named(&value("provider").unwrap_or_default(), value("address"))
    }

    fn named(name: &str, address: Option<String>) -> Result<Self, Failure> {
        let (kind, own) = match name {
            "brave" => (Kind::Brave, Some("https://api.search.brave.com")),
            "tavily" => (Kind::Tavily, Some("https://api.tavily.com")),
            "searxng" => (Kind::Searxng, None),
            // The host says where: no user configures it.
            "model" => (Kind::Model, None),
            other => {
                let other = other.chars().take(40).collect::<String>();
                return Err(Failure::Failed(format!(
                    "the search service `{}` is not known: the user has to configure `brave`, `tavily` or `searxng`, or `model`",
                    other.escape_debug()
                )));
            }
        };
        let address = address.or(own.map(str::to_owned)).ok_or_else(|| {
            Failure::Failed(match kind {
                Kind::Model => "there is no model whose service could search".to_owned(),
                Kind::Brave | Kind::Tavily | Kind::Searxng => {
                    "the user has to configure the `address` of the SearXNG instance".to_owned()
                }
            })
        })?;
        Ok(Self { kind, address: address.trim_end_matches('/').to_owned() })
    }

    /// The name of the secret that its requests carry.
    pub(crate) fn secret(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Brave => Some("brave"),
            Kind::Tavily => Some("tavily"),
            Kind::Searxng | Kind::Model => None,
        }
    }

    /// What a user is told that a call does.
    pub(crate) fn about(&self, query: &str) -> String {
        match self.kind {
            Kind::Model => format!("Search the web through the model's service for: {query}"),
            Kind::Brave | Kind::Tavily | Kind::Searxng => format!("Search the web for: {query}"),
        }
    }

    /// What it is asked.
    pub(crate) fn request(&self, query: &str, count: usize) -> Request {
        let Self { kind, address } = self;
        let request = match kind {
            Kind::Brave => {
                let url =
                    format!("{address}/res/v1/web/search?q={}&count={count}&text_decorations=false", encoded(query));
                Request::get(url, MAX_BYTES)
            }
            Kind::Tavily => {
                let body = json!({"query": query, "max_results": count, "search_depth": "basic"}).to_string();
                let request = Request::get(format!("{address}/search"), MAX_BYTES);
                let request = request.header("content-type", "application/json");
                Request { method: "POST".to_owned(), body: Some(body.into_bytes()), ..request }
            }
            Kind::Searxng => Request::get(format!("{address}/search?q={}&format=json", encoded(query)), MAX_BYTES),
            // The host writes it in the words of the service, with the user's key.
            Kind::Model => {
                let body = json!({"query": query}).to_string();
                let request = Request::get(address.clone(), MAX_BYTES);
                Request { method: "POST".to_owned(), body: Some(body.into_bytes()), ..request }
            }
        };
        let time_limit = match kind {
            Kind::Model => MODEL_TIME_LIMIT,
            Kind::Brave | Kind::Tavily | Kind::Searxng => TIME_LIMIT,
        };
        Request { time_limit: Some(time_limit), ..request.header("accept", "application/json") }
    }

    /// The results in an answer, and what the service says about them; that may be empty.
    pub(crate) fn results(&self, response: &Response) -> Result<(String, Vec<Found>), Failure> {
        if !(200..=299).contains(&response.status) {
            return Err(self.refused(response));
        }
        if response.cut {
            return Err(Failure::Failed(format!("{} answered with more than {MAX_BYTES} bytes", self.address)));
        }
        let unreadable = |error: serde_json::Error| {
            Failure::Failed(format!("{} did not answer with search results: {error}", self.address))
        };
        let Listed { answer, results } = match self.kind {
            Kind::Brave => serde_json::from_slice::<Brave>(&response.body).map_err(unreadable)?.web,
            Kind::Tavily | Kind::Searxng | Kind::Model => {
                serde_json::from_slice::<Listed>(&response.body).map_err(unreadable)?
            }
        };
        // Others may have an answer, too, which nobody asked them for.
        let answer = answer.filter(|_| self.kind == Kind::Model).unwrap_or_default();
        Ok((answer, results.into_iter().filter_map(Entry::found).collect()))
    }

    fn refused(&self, response: &Response) -> Failure {
        let words = plain(&String::from_utf8_lossy(&response.body), MAX_WORDS);
        let Self { address, .. } = self;
        let status = response.status;
        let said = if words.is_empty() { String::new() } else { format!(": {words}") };
        match (status, self.kind) {
            (401 | 403, Kind::Brave | Kind::Tavily) => {
                Failure::Failed(format!("{address} does not accept the user's key (status {status}){said}"))
            }
            (403, Kind::Searxng) => Failure::Failed(format!(
                "{address} answered with status 403: the format `json` may be disabled in its settings"
            )),
            (408 | 429 | 432 | 433 | 500..=599, _) => {
                Failure::Unavailable(format!("{address} answered with status {status}{said}"))
            }
            _ => Failure::Failed(format!("{address} answered with status {status}{said}")),
        }
    }
}

/// An answer of Brave's: `{"type": "search", "web": {"results": […]}, …}`.
#[derive(Default, Deserialize)]
struct Brave {
    #[serde(default)]
    web: Listed,
}

/// Of Tavily's and SearXNG's: `{"query": …, "results": […], …}`; of the host's for the model's service with an answer.
#[derive(Default, Deserialize)]
struct Listed {
    #[serde(default, deserialize_with = "text_alone")]
    answer: Option<String>,
    #[serde(default)]
    results: Vec<Entry>,
}

/// One result: `description` is Brave's, `content` Tavily's and SearXNG's; `age` Brave's, `published_date` Tavily's,
/// `publishedDate` SearXNG's.
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default, alias = "content")]
    description: Option<String>,
    #[serde(default, alias = "published_date", alias = "publishedDate")]
    age: Option<String>,
}

impl Entry {
    fn found(self) -> Option<Found> {
        let text = |text: Option<String>| text.unwrap_or_default();
        Found::new(&text(self.title), &text(self.url), &text(self.description), &text(self.age))
    }
}

/// A text; anything else is nothing, since SearXNG has a list here.
fn text_alone<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(value.as_str().map(str::to_owned))
}

/// A text in the query of an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(name: &str) -> Provider {
        Provider::named(name, matches!(name, "searxng" | "model").then(|| "http://localhost:8888/".to_owned()))
            .expect("it is known")
    }

    fn answer(status: u16, body: &str) -> Response {
        Response { status, url: String::new(), headers: Vec::new(), body: body.as_bytes().to_vec(), cut: false }
    }

    #[test]
    fn web_search_request_is_what_the_service_documents() {
        for (name, method, url, body) in [
            (
                "brave",
                "GET",
                "https://api.search.brave.com/res/v1/web/search?q=a%20b%26c%3D%C3%A9&count=3&text_decorations=false",
                None,
            ),
            (
                "tavily",
                "POST",
                "https://api.tavily.com/search",
                Some(json!({"query": "a b&c=é", "max_results": 3, "search_depth": "basic"})),
            ),
            ("searxng", "GET", "http://localhost:8888/search?q=a%20b%26c%3D%C3%A9&format=json", None),
            ("model", "POST", "http://localhost:8888", Some(json!({"query": "a b&c=é"}))),
        ] {
            let request = provider(name).request("a b&c=é", 3);
            assert_eq!((request.method.as_str(), request.url.as_str()), (method, url));
            let sent = request.body.map(|body| serde_json::from_slice::<serde_json::Value>(&body).expect("it is JSON"));
            assert_eq!(sent, body);
            let limit = if name == "model" { MODEL_TIME_LIMIT } else { TIME_LIMIT };
            assert!(request.time_limit == Some(limit) && request.size_limit == MAX_BYTES);
        }
    }

    #[test]
    fn web_search_unknown_service_or_missing_address_is_reported() {
        for (name, says) in [
            ("", "`brave`, `tavily` or `searxng`"),
            ("google\u{1b}", "google\\u{1b}"),
            ("searxng", "`address`"),
            ("model", "no model whose service could search"),
        ] {
            let Err(Failure::Failed(words)) = Provider::named(name, None) else { panic!("{name}") };
            assert!(words.contains(says), "{words}");
        }
    }

    #[test]
    fn web_search_answer_that_is_none_is_reported() {
        let check = |name: &str, response: &Response, says: &str| {
            let failure = provider(name).results(response).expect_err("it is none");
            assert!(format!("{failure:?}").contains(says), "{failure:?}");
            failure
        };
        check("brave", &answer(200, "<html>"), "did not answer with search results");
        check("brave", &Response { cut: true, ..answer(200, "{}") }, "more than 1048576 bytes");
        check("brave", &answer(401, "{\"error\": \"bad\u{1b} token\"}"), "does not accept the user's key (status 401)");
        check("searxng", &answer(403, "<h1>Forbidden</h1>"), "the format `json` may be disabled");
        assert!(matches!(check("tavily", &answer(429, "slow down"), "slow down"), Failure::Unavailable(_)));
        assert!(matches!(check("searxng", &answer(503, ""), "status 503"), Failure::Unavailable(_)));
        let nothing = || Ok((String::new(), Vec::new()));
        for name in ["brave", "tavily", "searxng", "model"] {
            assert_eq!(provider(name).results(&answer(200, "{\"results\": [], \"web\": {}}")), nothing());
            let list = answer(200, "{\"answer\": [1], \"results\": []}");
            assert_eq!(provider(name).results(&list), nothing(), "{name}");
        }
        let said = answer(200, "{\"answer\": \"It burns.\", \"results\": []}");
        assert_eq!(provider("tavily").results(&said), nothing());
        assert_eq!(provider("model").results(&said), Ok(("It burns.".to_owned(), Vec::new())));
    }
}
