//! The models that a service offers: reading its list.
//!
//! Promises: a list is bounded, and its names are ones that can be sent and shown. Deliberately not here: when a
//! service is asked, and how long a list is kept.

use serde::Deserialize;

use crate::ModelError;
use crate::transport::Transport;

/// The most models of a list. Protects memory and menus; the longest list in use has some hundreds.
const MAX_MODELS: usize = 2_000;

/// The longest name of a model, in bytes.
const MAX_NAME: usize = 200;

/// A list as OpenAI and Anthropic have it.
#[derive(Deserialize)]
struct List {
    data: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

/// Asks for such a list.
pub(crate) async fn ask(transport: &Transport, path: &[&str]) -> Result<Option<Vec<String>>, ModelError> {
    let mut url = transport.url(path.iter().copied());
    if path.first() == Some(&"v1") {
        // Anthropic's pages have 20 models otherwise, and 1,000 at most.
        url.query_pairs_mut().append_pair("limit", "1000");
    }
    let list: List = transport.ask(url, None).await?;
    Ok(Some(usable(list.data.into_iter().map(|model| model.id))))
}

/// The names that can be sent to the service and shown to a user.
pub(crate) fn usable(names: impl Iterator<Item = String>) -> Vec<String> {
    let is_usable = |name: &String| {
        !name.is_empty()
            && name.len() <= MAX_NAME
            && !name.chars().any(|c| c.is_whitespace() || host_text::is_unsafe(c))
    };
    names.filter(is_usable).take(MAX_MODELS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loopback::{Answer, Loopback};
    use crate::{Access, Anthropic, ApiKey, Gemini, OpenAi, ProviderId};

    #[test]
    fn model_list_has_only_names_that_can_be_shown() {
        let names = ["good", "", "a b", "a\u{1b}[2J", "a\u{202e}b", "models/x"].map(str::to_owned);
        assert_eq!(usable(names.into_iter()), ["good", "models/x"]);
        assert_eq!(usable(std::iter::once("x".repeat(MAX_NAME + 1))), Vec::<String>::new());
        assert_eq!(usable(std::iter::repeat_n("x".to_owned(), MAX_MODELS + 1)).len(), MAX_MODELS);
    }

    async fn listed(provider: ProviderId, body: &str) -> (String, Result<Option<Vec<String>>, ModelError>) {
        let service = Loopback::start(Answer::json(body)).await;
        let access =
            Access { address: Some(service.address.clone()), key: ApiKey::new("sk-secret"), ..Access::default() };
        let connected = (provider.connect)("x", access).expect("it can be reached");
        let names = connected.list_models().await;
        (service.request.await.expect("it was asked"), names)
    }

    #[tokio::test]
    async fn model_lists_are_read_in_each_format() {
        let data = r#"{"data": [{"id": "a-1", "more": {}}, {"id": "a 2"}], "has_more": false}"#;
        let gemini = r#"{"models": [
            {"name": "models/g-1", "supportedGenerationMethods": ["generateContent", "countTokens"]},
            {"name": "models/e-1", "supportedGenerationMethods": ["embedContent"]}]}"#;
        for (provider, body, path, names) in [
            (OpenAi::PROVIDER, data, "GET /models ", "a-1"),
            (Anthropic::PROVIDER, data, "GET /v1/models?limit=1000 ", "a-1"),
            (Gemini::PROVIDER, gemini, "GET /v1beta/models?pageSize=1000 ", "g-1"),
        ] {
            let (request, listed) = listed(provider, body).await;
            assert!(request.starts_with(path), "{request}");
            assert_eq!(request.matches("sk-secret").count(), 1, "in one header: {request}");
            assert_eq!(listed.expect("a list").expect("it has one"), [names]);
        }
        let (_, nonsense) = listed(OpenAi::PROVIDER, "<html>").await;
        assert!(nonsense.is_err_and(|error| !error.to_string().contains("sk-secret")));
    }
}
