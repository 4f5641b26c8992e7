//! Embeddings with OpenAI's `/embeddings`, which the compatible servers support too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ModelError;
use crate::transport::Transport;

/// The most texts of one request. OpenAI accepts 2,048; the compatible servers accept fewer, and a batch must stay
/// within the limit of one answer.
const MAX_BATCH: usize = 100;

/// Returns an embedding of each text, in order.
pub(crate) async fn embed(
    transport: &Transport,
    model: &str,
    texts: &[String],
) -> Result<Option<Vec<Vec<f32>>>, ModelError> {
    let mut all = Vec::with_capacity(texts.len());
    for texts in texts.chunks(MAX_BATCH) {
        let body = serde_json::to_vec(&Question { model, input: texts, encoding_format: "float" })
            .expect("every key is text and no serialiser is our own");
        let answer: Answer = transport.ask(transport.url(["embeddings"]), Some(body)).await?;
        // They may come in any order. With a duplicate index, or one beyond the texts, there are too few.
        let ours = answer.data.into_iter().filter(|item| item.index < texts.len());
        let vectors: BTreeMap<_, _> = ours.map(|item| (item.index, item.embedding)).collect();
        all.extend(transport.one_each(vectors.into_values().collect(), texts.len())?);
    }
    Ok(Some(all))
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}
