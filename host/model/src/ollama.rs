//! Ollama's own chat API, with a JSON value on each line of the reply.
//!
//! Owns both directions of the format, all of it private: [`request`] writes a conversation in it, [`address`] reads an
//! address as Ollama's clients do, this file reads the reply, makes embeddings, and lists the installed models.
//!
//! Deliberately not here: pulling models, and the size of the context, which the server decides: it silently cuts a
//! prompt that does not fit.

mod address;
mod request;

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt};
use host_message::{CallId, FinishReason, FunctionCall, Part, PartData, ToolName, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::framing::Framing;
use crate::provider::spec::{AddressSpec, LoginSpec, ModelIds, ProviderId, ProviderSpec};
use crate::text::clip;
use crate::transport::{Heard, Reader, Transport, Unheard, json};
use crate::{Access, Chunk, ModelError, ModelStream, Provider, ReplyFault, Request, listing};

/// Families of models that only make embeddings.
const EMBEDDING_FAMILIES: &[&str] = &["bert", "nomic-bert"];

/// Ollama at one address.
pub struct Ollama {
    transport: Transport,
}

impl Ollama {
    /// The descriptor of this provider.
    pub const PROVIDER: ProviderId = ProviderId::new(&ProviderSpec {
        name: "ollama",
        models: ModelIds::Named,
        key_variable: Some("OLLAMA_API_KEY"),
        address: Some(AddressSpec::new("OLLAMA_HOST", "http://127.0.0.1:11434")),
        login: LoginSpec::Never,
        usual_models: None,
        connect: |_, access| Ok(Arc::new(Self::new(access)?)),
    });

    /// Checks key and address; sends nothing. The address may lack scheme and port, as `OLLAMA_HOST` does. A key is
    /// only needed if a proxy or Ollama's own service requires one.
    ///
    /// # Errors
    ///
    /// If key or address cannot be used.
    pub fn new(mut access: Access) -> Result<Self, ModelError> {
        access.address = access.address.map(|address| address::read(&address));
        Ok(Self { transport: Transport::new(Self::PROVIDER, access, ("authorization", "Bearer "))? })
    }

    /// Returns the names of the installed models that can chat, the latest change first.
    ///
    /// # Errors
    ///
    /// If nothing answers at the address, or if what answers is not Ollama.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let url = self.transport.url(["api", "tags"]);
        let answer: Tags = self.transport.ask(url, None).await?;
        let can_talk = |model: &Tag| {
            let family = model.details.as_ref().and_then(|details| details.family.as_deref());
            !family.is_some_and(|family| EMBEDDING_FAMILIES.contains(&family))
        };
        Ok(answer.models.unwrap_or_default().into_iter().filter(can_talk).map(|model| model.name).collect())
    }

    /// Converts an error, since the server reports in text what its client has to do.
    fn explain(&self, error: ModelError, model: &str) -> ModelError {
        let ModelError::Status { service, status, message, .. } = &error else { return error };
        let (service, model) = (service.clone(), clip(model));
        match status {
            // Any other server at the address has a 404 of its own.
            404 if message.starts_with("model ") => ModelError::MissingModel { service, model },
            400 if message.contains("does not support tools") => ModelError::NoTools { service, model },
            _ => error,
        }
    }
}

impl Provider for Ollama {
    fn name(&self) -> &str {
        Self::PROVIDER.name()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> ModelStream<'a> {
        let url = self.transport.url(["api", "chat"]);
        let stream = self.transport.stream(url, move || request::body(&request), Reply);
        stream.map_err(move |error| self.explain(error, request.model)).boxed()
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Option<Vec<String>>, ModelError>> {
        Box::pin(async { Ok(Some(listing::usable(self.models().await?.into_iter()))) })
    }

    fn embed<'a>(
        &'a self,
        model: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Option<Vec<Vec<f32>>>, ModelError>> {
        Box::pin(async move {
            let body = serde_json::to_vec(&Embed { model, input: texts }).expect("texts can be written");
            let url = self.transport.url(["api", "embed"]);
            let answer: Result<Embedded, _> = self.transport.ask(url, Some(body)).await;
            let embeddings = answer.map_err(|error| self.explain(error, model))?.embeddings;
            Ok(Some(self.transport.one_each(embeddings, texts.len())?))
        })
    }
}

/// The state of reading a reply: none, since calls come whole and the last line is marked as the last.
struct Reply;

impl Reader for Reply {
    const FRAMING: Framing = Framing::Lines;

    fn event(&mut self, data: &[u8]) -> Result<Heard, Unheard> {
        let response: Response = json(data)?;
        if let Some(error) = &response.error {
            return Err(Unheard::Failed(Failure::from_error(error)));
        }
        let message = response.message.unwrap_or_default();
        let not_empty = |text: &String| !text.is_empty();
        let mut chunk = Chunk::default();
        chunk.parts.extend(message.thinking.filter(not_empty).map(Part::thought));
        chunk.parts.extend(message.content.filter(not_empty).map(Part::text));
        chunk.parts.extend(message.tool_calls.into_iter().flatten().map(call));
        if !response.done {
            return Ok(Heard::More(chunk));
        }
        // A server that sends no reason is older than these reasons, and was done.
        chunk.finish = Some(response.done_reason.as_deref().map_or(FinishReason::Stop, finish));
        if response.prompt_eval_count.is_some() || response.eval_count.is_some() {
            let input = response.prompt_eval_count.unwrap_or(0);
            chunk.usage = Some(Usage { input, output: response.eval_count.unwrap_or(0), ..Usage::default() });
        }
        Ok(Heard::Done(chunk))
    }

    fn end(&mut self) -> Result<Chunk, ReplyFault> {
        Err(ReplyFault::Unfinished)
    }
}

fn call(wire: WireCall) -> Part {
    let call = FunctionCall::new(
        CallId::new(wire.id.unwrap_or_default()),
        ToolName::new(wire.function.name),
        wire.function.arguments.unwrap_or_default(),
    );
    PartData::FunctionCall(call).into()
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::MaxTokens,
        other => FinishReason::Other(clip(other)),
    }
}

#[derive(Deserialize)]
struct Response {
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Message {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<WireCall>>,
}

#[derive(Deserialize)]
struct WireCall {
    id: Option<String>,
    function: WireFunction,
}

#[derive(Deserialize)]
struct WireFunction {
    name: String,
    arguments: Option<Map<String, Value>>,
}

#[derive(Serialize)]
struct Embed<'a> {
    model: &'a str,
    input: &'a [String],
}

#[derive(Deserialize)]
struct Embedded {
    #[serde(default)]
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Tags {
    models: Option<Vec<Tag>>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    family: Option<String>,
}

#[cfg(test)]
mod tests;
