//! Requests whose answer is one JSON value and not a stream: token counts, embeddings.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::{Transport, cause};
use crate::failure::Failure;
use crate::text::{clip, clip_bytes};
use crate::{ModelError, ReplyFault};

/// The most bytes of an answer that is not a stream, so that a server cannot fill the memory. A batch of embeddings,
/// the largest legitimate one, has some megabytes.
const MAX_ANSWER_BYTES: usize = 32 << 20;

impl Transport {
    /// Posts a body, or gets the address without one, and reads the answer.
    ///
    /// # Errors
    ///
    /// Those of a reply; an answer of a different shape, or one beyond the limit, is a fault of the reply.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, url: Url, body: Option<Vec<u8>>) -> Result<T, ModelError> {
        let mut body = self.send(url, body.map(Bytes::from), "application/json").await?.body;
        let mut answer = Vec::new();
        loop {
            match timeout(self.silence, body.next()).await {
                Ok(Some(Ok(bytes))) if answer.len() + bytes.len() <= MAX_ANSWER_BYTES => answer.extend(bytes),
                Ok(Some(Ok(_))) => return Err(self.fault(ReplyFault::ReplyTooLarge { limit: MAX_ANSWER_BYTES })),
                Ok(None) => break,
                Ok(Some(Err(error))) => return Err(self.interrupted(cause(&error))),
                Err(_) => return Err(self.silent()),
            }
        }
        serde_json::from_slice(&answer).map_err(|error| match serde_json::from_slice::<Value>(&answer) {
            // Some servers send an error with the status of a success.
            Ok(value) if value.get("error").is_some() => self.reported(Failure::from_error(&value["error"])),
            Ok(_) | Err(_) => {
                let excerpt = self.without_key(&clip_bytes(&answer));
                self.fault(ReplyFault::NotJson { why: clip(&error.to_string()), excerpt })
            }
        })
    }

    /// Checks that there are as many embeddings as texts; otherwise it is a fault of the reply.
    pub(crate) fn one_each(&self, vectors: Vec<Vec<f32>>, texts: usize) -> Result<Vec<Vec<f32>>, ModelError> {
        let got = vectors.len();
        if got == texts { Ok(vectors) } else { Err(self.fault(ReplyFault::Miscounted { expected: texts, got })) }
    }
}
