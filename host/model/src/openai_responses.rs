//! OpenAI's Responses API, and the servers that support it.
//!
//! Owns both directions of the format, all of it private: [`request`] writes a conversation in it, [`reply`] reads the
//! answer. Nothing is stored at the service: each request has the whole conversation, and the model's thoughts are sent
//! back encrypted and unchanged, in their place, as the signature of a part.
//!
//! A search of the service's own ([`search`]) is a request of its own. Deliberately not here: chat completions, tools
//! that run at the service within a conversation, and counting tokens, for which the format
//! has no request that other servers support.

mod reply;
mod request;
mod search;

use std::sync::Arc;

use futures::future::BoxFuture;

use self::reply::Reply;
use crate::failure::Failure;
use crate::openai::embed::embed;
use crate::openai::request::Dialect;
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::transport::Transport;
use crate::{Access, ModelError, ModelStream, Provider, Request, WebSearch, listing};

/// The provider of its signatures.
const NAME: &str = OpenAiResponses::PROVIDER.name();

/// Who runs a search for tools: this side, which knows what may be called, and not the service.
const CLIENT: &str = "client";

/// The Responses API at one address.
pub struct OpenAiResponses {
    transport: Transport,
}

impl OpenAiResponses {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "openai-responses",
        models: ModelIds::Named,
        key_variable: Some("OPENAI_API_KEY"),
        address: Some(AddressSpec::new("OPENAI_BASE_URL", "https://api.openai.com/v1")),
        login: LoginSpec::Never,
        usual_models: None,
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks key and address; sends nothing.
    ///
    /// # Errors
    ///
    /// If there is no key for the service's own address, or if key or address cannot be used. A server at a different
    /// address may need no key, such as a local one.
    pub fn new(access: Access) -> Result<Self, ModelError> {
        let provider = Self::PROVIDER;
        if access.key.is_none() && access.address.is_none() {
            return Err(ModelError::MissingKey { provider });
        }
        Ok(Self { transport: Transport::new(provider, access, ("authorization", "Bearer "))? })
    }
}

impl Provider for OpenAiResponses {
    fn name(&self) -> &str {
        NAME
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let dialect = Dialect::for_base(self.transport.base());
        let url = self.transport.url(["responses"]);
        self.transport.stream(url, move || request::body(&request, dialect), Reply::new(&request.settings.custom_tools))
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(listing::ask(&self.transport, &["models"]))
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(embed(&self.transport, model, texts))
    }

    fn search_address(&self, _model: &str) -> Option<String> {
        Some(self.transport.url(["responses"]).to_string())
    }

    fn search<'a>(&'a self, model: &'a str, query: &'a str) -> BoxFuture<'a, Result<Option<WebSearch>, ModelError>> {
        Box::pin(async move {
            let url = self.transport.url(["responses"]);
            let answer: search::Answer = self.transport.ask(url, Some(search::body(model, query))).await?;
            match &answer.error {
                Some(error) => Err(self.transport.reported(Failure::from_error(error))),
                None => Ok(Some(answer.found())),
            }
        })
    }
}
