//! Searches of the web by the model's own service, for the tool `web_search`.
//!
//! Promises: each search is one small request of its own, which knows nothing of the conversation but the query; it
//! goes to the server that the call was allowed, also after the model changed; its tokens count for the budget of the
//! run and are recorded. Deliberately not here: whether a search may be made, which the gate and the permit of the call
//! decide, and the marks on what comes back, which are the tool's.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_agent::Budget;
use host_journal::{Fact, Journal};
use host_message::{PromptId, Usage};
use host_model::{Provider, WebSearch, WebSource};
use host_plugin::NetworkService;
use host_settings::models::Model;
use host_text::{exact, visible_line, with_causes};
use serde::{Deserialize, Serialize};

/// The search of one model's service.
pub(super) struct ModelSearch {
    address: String,
    provider: Arc<dyn Provider>,
    model: String,
    budget: Arc<Budget>,
    log: Arc<dyn Journal>,
}

/// What the tool asks.
#[derive(Deserialize)]
struct Query {
    query: String,
}

/// What it gets.
#[derive(Serialize)]
struct Found<'a> {
    answer: &'a str,
    results: Vec<Page<'a>>,
}

#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    url: &'a str,
    content: &'a str,
    published_date: &'a str,
}

impl ModelSearch {
    /// Returns the search of this model's service; `None` if it has none.
    pub(super) fn of(model: &Model, budget: &Arc<Budget>, log: &Arc<dyn Journal>) -> Option<Arc<dyn NetworkService>> {
        let address = model.search_address()?;
        let (provider, model) = (Arc::clone(&model.provider), model.name.clone());
        Some(Arc::new(Self { address, provider, model, budget: Arc::clone(budget), log: Arc::clone(log) }))
    }

    async fn search(&self, body: &[u8]) -> Result<Vec<u8>, String> {
        let Query { query } = serde_json::from_slice(body).map_err(|error| format!("invalid query: {error}"))?;
        // A fallback may answer by now, or a model that was picked: the permit is for the server of the first.
        let now = self.provider.search_address(&self.model);
        if now.as_deref().map(server) != Some(server(&self.address)) {
            let now = now.unwrap_or_else(|| "a service without a search".to_owned());
            return Err(format!("the model's service was {}, and is now {}", exact(&self.address), exact(&now)));
        }
        self.budget.check_budget().map_err(|exceeded| exceeded.to_string())?;
        let found = self.provider.search(&self.model, &query).await;
        let found = found.map_err(|error| visible_line(&with_causes(&error)).into_owned())?;
        let WebSearch { answer, sources, usage } = found.ok_or("the model's service has no search")?;
        self.count(usage)?;
        let found = Found { answer: &answer, results: sources.iter().map(Page::from).collect() };
        serde_json::to_vec(&found).map_err(|error| error.to_string())
    }

    /// Counts the tokens, and records them for a session that is resumed.
    fn count(&self, usage: Usage) -> Result<(), String> {
        if usage == Usage::default() {
            return Ok(());
        }
        self.budget.add_usage(usage);
        // It belongs to no turn: that of the call has its own.
        let prompt = PromptId { agent: self.budget.id().clone(), turn: 0 };
        self.log.append(&Fact::Usage { prompt, usage }).map_err(|error| with_causes(&error))
    }
}

impl<'a> From<&'a WebSource> for Page<'a> {
    fn from(WebSource { url, title, excerpt, date }: &'a WebSource) -> Self {
        Self { title, url, content: excerpt, published_date: date }
    }
}

/// Returns the beginning of an address: scheme, name and port.
fn server(address: &str) -> Vec<&str> {
    address.split('/').take(3).collect()
}

impl NetworkService for ModelSearch {
    fn address(&self) -> &str {
        &self.address
    }

    fn answer<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        self.search(body).boxed()
    }
}
