//! Google's Gemini API, `streamGenerateContent` with server-sent events.
//!
//! Owns both directions of the format, all of it private: [`request`] writes a conversation in it, [`reply`] reads the
//! answer. The format is the public `v1beta` of the Generative Language API; the same base address may be a proxy for
//! it. Vertex AI uses the same format at a different address, with the few differences that [`request::Dialect`] names.
//!
//! A search of the service's own ([`search`]) is a request of its own. Deliberately not here: Vertex AI's addresses,
//! logging in, and tools that run at the service within a conversation.

pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod search;

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use url::Url;

use self::reply::Reply;
use self::request::Dialect;
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec, UsualModels};
use crate::transport::Transport;
use crate::{Access, ModelError, ModelSeries, ModelStream, Provider, Request, WebSearch, listing};

/// The provider of its signatures.
const NAME: &str = Gemini::PROVIDER.name();

/// The method of a model that can be asked for a reply.
pub(crate) const ANSWERS: &str = "generateContent";

/// The most texts of one request for embeddings that the service accepts.
const MAX_BATCH: usize = 100;

/// The Gemini API at one address.
pub struct Gemini {
    transport: Transport,
}

impl Gemini {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "gemini",
        models: ModelIds::Named,
        key_variable: Some("GEMINI_API_KEY"),
        address: Some(AddressSpec::new("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com")),
        login: LoginSpec::Optional,
        usual_models: Some(UsualModels {
            main: "gemini/gemini-3.6-flash",
            simple: "gemini/gemini-3.5-flash-lite",
            classifier: "gemini/gemini-3.5-flash-lite",
            series: ModelSeries { before: "gemini-", after: "-flash" },
            key_page: "https://aistudio.google.com/apikey",
        }),
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks key and address, and reads the credentials of a login; sends nothing.
    ///
    /// # Errors
    ///
    /// If there is neither a key nor a login for the service's own address, or if one of them or the address cannot be
    /// used. A different address may belong to a proxy that has the key.
    pub fn new(access: Access) -> Result<Self, ModelError> {
        if access.key.is_none() && access.login.is_none() && access.address.is_none() {
            return Err(ModelError::MissingKey { provider: Self::PROVIDER });
        }
        Ok(Self { transport: Transport::new(Self::PROVIDER, access, ("x-goog-api-key", ""))? })
    }

    /// Returns the address of a method of a model.
    fn url(&self, model: &str, verb: &str) -> Url {
        let resource = format!("{}:{verb}", resource(model));
        self.transport.url(["v1beta"].into_iter().chain(resource.split('/')))
    }
}

impl Provider for Gemini {
    fn name(&self) -> &str {
        NAME
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let mut url = self.url(request.model, "streamGenerateContent");
        url.query_pairs_mut().append_pair("alt", "sse");
        self.transport.stream(url, move || request::body(&request, Dialect::Gemini), Reply::new(NAME))
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(async {
            let mut url = self.transport.url(["v1beta", "models"]);
            url.query_pairs_mut().append_pair("pageSize", "1000");
            let list: Models = self.transport.ask(url, None).await?;
            let answers = |model: &Listed| model.supported_generation_methods.iter().any(|method| method == ANSWERS);
            let names = list
                .models
                .into_iter()
                .filter(answers)
                .map(|Listed { name, .. }| name.strip_prefix("models/").map_or(name.clone(), str::to_owned));
            Ok(Some(listing::usable(names)))
        })
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            let url = self.url(request.model, "countTokens");
            let body = request::count_body(&request, Dialect::Gemini, &resource(request.model));
            Ok(Some(self.transport.ask::<Counted>(url, Some(body)).await?.total_tokens))
        })
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(texts.len());
            for texts in texts.chunks(MAX_BATCH) {
                let url = self.url(model, "batchEmbedContents");
                let answer: Embedded = self.transport.ask(url, Some(batch(&resource(model), texts))).await?;
                let vectors = answer.embeddings.into_iter().map(|embedding| embedding.values).collect();
                all.extend(self.transport.one_each(vectors, texts.len())?);
            }
            Ok(Some(all))
        })
    }

    fn search_address(&self, model: &str) -> Option<String> {
        Some(self.url(model, ANSWERS).to_string())
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        Box::pin(search::ask(&self.transport, self.url(model, ANSWERS), query))
    }
}

/// Returns a model's resource: a name with a slash is already one, such as `tunedModels/mine`.
fn resource(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}

/// Writes a request for the embeddings of some texts.
fn batch<'t>(resource: &'t str, texts: &'t [String]) -> Vec<u8> {
    let request = |text: &'t String| Embed { model: resource, content: request::Words::text(text) };
    let batch = Batch { requests: texts.iter().map(request).collect() };
    serde_json::to_vec(&batch).expect("every key is text and no serialiser is our own")
}

#[derive(Serialize)]
struct Batch<'a> {
    requests: Vec<Embed<'a>>,
}

#[derive(Serialize)]
struct Embed<'a> {
    model: &'a str,
    content: request::Words<'a>,
}

#[derive(Deserialize)]
struct Embedded {
    embeddings: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Models {
    models: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    #[serde(default)]
    supported_generation_methods: Vec<String>,
}

/// The number of tokens of a request, from either service.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counted {
    pub(crate) total_tokens: u64,
}

#[cfg(test)]
mod tests;
