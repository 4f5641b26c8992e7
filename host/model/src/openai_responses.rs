//! OpenAI's responses, and the servers that speak them.
//!
//! Owns both directions of the format, all of it private: [`request`] says a conversation in its words, [`reply`] reads
//! what comes back. Nothing is stored at the service: each request has the whole conversation, and what the model
//! thought goes along encrypted, as the signature of a part, and comes back unchanged in its place.
//!
//! Deliberately not here: chat completions, tools that run at the service, and counting tokens, for which the format
//! has no question that other servers know.

mod reply;
mod request;

use std::sync::Arc;

use futures::future::BoxFuture;

use self::reply::Reply;
use crate::openai::embed::embed;
use crate::openai::request::Dialect;
use crate::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::transport::Transport;
use crate::{Access, ModelError, ModelStream, Provider, Request};

/// Whose signatures its own are.
const NAME: &str = OpenAiResponses::PROVIDER.name();

/// Responses at one address.
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

    /// Checks key and address; nothing is sent.
    ///
    /// # Errors
    ///
    /// When there is no key at the service's own address, or key or address cannot be used. A server at
    /// another address may need no key, as local ones do.
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
        self.transport.stream(url, move || request::body(&request, dialect), Reply::default())
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(embed(&self.transport, model, texts))
    }
}
