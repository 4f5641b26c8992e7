//! Vertex AI: Gemini through Google Cloud, with a project that is billed and a location where the model runs.
//!
//! Owns the addresses; the format is that of [`gemini`](crate::Gemini).
//!
//! Deliberately not here: models of other makers, tuned models behind endpoints of their own, and keys: Google Cloud
//! requires a login.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::gemini::Counted;
use crate::gemini::reply::Reply;
use crate::gemini::request::{self, Dialect};
use crate::gemini::{ANSWERS, search};
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::transport::Transport;
use crate::{Access, ModelError, ModelStream, Provider, Request, WebSearch};

/// The provider of its signatures.
const NAME: &str = Vertex::PROVIDER.name();

/// The location of a model if none is given: wherever there is capacity.
const ANYWHERE: &str = "global";

/// Vertex AI for one project in one location.
pub struct Vertex {
    transport: Transport,
    project: String,
    location: String,
}

impl Vertex {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "vertex",
        models: ModelIds::Named,
        key_variable: None,
        address: Some(AddressSpec {
            variable: "GOOGLE_VERTEX_BASE_URL",
            default: None,
            example: "https://aiplatform.googleapis.com",
        }),
        login: LoginSpec::Required,
        usual_models: None,
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks project, location and address, and reads the credentials; sends nothing.
    ///
    /// # Errors
    ///
    /// If there is no project, or if the location, the address or the credentials cannot be used.
    pub fn new(access: Access) -> Result<Self, ModelError> {
        let provider = Self::PROVIDER;
        let project = access.project.clone().ok_or(ModelError::MissingProject { provider })?;
        let location = access.location.clone().unwrap_or_else(|| ANYWHERE.to_owned());
        if location.is_empty() || !location.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Err(ModelError::UnusableLocation { provider, location: crate::text::clip(&location) });
        }
        let address = access.address.clone().unwrap_or_else(|| address(&location));
        let login = Some(access.login.clone().unwrap_or_default());
        let access = Access { address: Some(address), login, ..access };
        // With a login no key is sent, so the name of its header does not matter.
        Ok(Self { transport: Transport::new(provider, access, ("x-goog-api-key", ""))?, project, location })
    }

    /// Returns the address of a method of a model.
    fn url(&self, model: &str, verb: &str) -> Url {
        let model = format!("{}:{verb}", model.trim_start_matches("models/"));
        let place = ["v1", "projects", &self.project, "locations", &self.location];
        self.transport.url(place.into_iter().chain(["publishers", "google", "models", &model]))
    }
}

impl Provider for Vertex {
    fn name(&self) -> &str {
        NAME
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let mut url = self.url(request.model, "streamGenerateContent");
        url.query_pairs_mut().append_pair("alt", "sse");
        self.transport.stream(url, move || request::body(&request, Dialect::Vertex), Reply::new(NAME))
    }

    fn count_tokens<'a>(&'a self, request: Request<'a>) -> BoxFuture<'a, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            let url = self.url(request.model, "countTokens");
            let body = request::count_body(&request, Dialect::Vertex, request.model);
            Ok(Some(self.transport.ask::<Counted>(url, Some(body)).await?.total_tokens))
        })
    }

    /// Sends one request for each text: the newer of its models for embeddings accept no more at once.
    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(texts.len());
            for content in texts {
                let body = serde_json::to_vec(&Predict { instances: [Instance { content }] });
                let body = body.expect("every key is text and no serialiser is our own");
                let answer: Predicted = self.transport.ask(self.url(model, "predict"), Some(body)).await?;
                let vectors = answer.predictions.into_iter().map(|prediction| prediction.embeddings.values).collect();
                all.extend(self.transport.one_each(vectors, 1)?);
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

/// Returns the service's own address for a location, as its documentation lists them: of one region, of several that
/// make up a part of the world, or of all.
fn address(location: &str) -> String {
    match location {
        ANYWHERE => "https://aiplatform.googleapis.com".to_owned(),
        "eu" | "us" => format!("https://aiplatform.{location}.rep.googleapis.com"),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    }
}

#[derive(Serialize)]
struct Predict<'a> {
    instances: [Instance<'a>; 1],
}

#[derive(Serialize)]
struct Instance<'a> {
    content: &'a str,
}

#[derive(Deserialize)]
struct Predicted {
    predictions: Vec<Prediction>,
}

#[derive(Deserialize)]
struct Prediction {
    embeddings: Embedding,
}

#[derive(Deserialize)]
struct Embedding {
    values: Vec<f32>,
}

#[cfg(test)]
mod tests;
