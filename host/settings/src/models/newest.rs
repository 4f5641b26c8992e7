//! The usual model of a service: the newest of its series by the service's own list, or else the one that comes with
//! the program.
//!
//! Promises: a list delays a start by at most 0.8 s once a day; without a list, or with an invalid one, the
//! program's own model is used, and never an older one. The cache has names of models and nothing else.
//! Deliberately not here: reading a list (`host-model`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use host_files::{Access, PrivateFile};
use host_model::{ProviderId, Selection, UsualModels};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{access, on_best_wire};
use crate::configuration::Configuration;
use crate::environment::Environment;

/// How long a start waits for a list. Long enough for a service far away, and short enough not to be noticed.
const LIMIT: Duration = Duration::from_millis(800);

/// How long a list is good for.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

/// How long the service is not asked again after it gave no list.
const PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// The largest cache that is read. Protects memory; an entry has some hundred bytes.
const MAX_FILE: u64 = 256 << 10;

/// The most services in the cache.
const MAX_ENTRIES: usize = 64;

/// The newest models by service and address.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Cache(BTreeMap<String, Entry>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    /// When the service was asked.
    at: Timestamp,
    /// The newest model of the series, if the list has one that is newer than the program's.
    newest: Option<String>,
    /// Whether there was a list.
    listed: bool,
}

/// Returns the id of the usual model of a service.
pub(super) async fn main_model(
    provider: ProviderId,
    usual: UsualModels,
    configuration: &Configuration,
    environment: &Environment,
) -> String {
    let file = environment.folders().ok().map(|folders| cache_file(folders.models));
    let access = access(provider, configuration, environment);
    let place = format!("{provider} {}", access.address.as_deref().unwrap_or_default());
    let mut cache = file.as_ref().map(read).unwrap_or_default();
    let now = Timestamp::now();
    let known = cache.0.get(&place).filter(|entry| entry.is_good(now)).cloned();
    let entry = match known {
        Some(entry) => entry,
        None => {
            let names = match (provider.connect)("", access) {
                Ok(connected) => timeout(LIMIT, async move { connected.list_models().await }).await,
                Err(_) => Ok(Ok(None)),
            };
            let entry = match names {
                Ok(Ok(Some(names))) => {
                    let newest = usual.series.newer_than(name(usual.main), names.iter().map(String::as_str));
                    Entry { at: now, newest: newest.map(str::to_owned), listed: true }
                }
                Ok(Ok(None) | Err(_)) | Err(_) => {
                    tracing::debug!(%provider, "the service lists no models");
                    Entry { at: now, newest: None, listed: false }
                }
            };
            cache.0.insert(place, entry.clone());
            while cache.0.len() > MAX_ENTRIES {
                let oldest = cache.0.iter().min_by_key(|(_, entry)| entry.at).map(|(place, _)| place.clone());
                if cache.0.remove(&oldest.unwrap_or_default()).is_none() {
                    break;
                }
            }
            if let Some(file) = &file {
                write(file, &cache);
            }
            entry
        }
    };
    // The cache is a file: what is not newer than the program's own model is not used.
    let newest = entry.newest.as_deref().and_then(|newest| usual.series.newer_than(name(usual.main), [newest]));
    let id = newest.map_or_else(|| usual.main.to_owned(), |newest| format!("{provider}/{newest}"));
    on_best_wire(&id, configuration, environment)
}

impl Entry {
    fn is_good(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.at);
        age >= SignedDuration::ZERO && age < if self.listed { FRESH } else { PAUSE }
    }
}

/// The service's name for a model.
fn name(id: &str) -> &str {
    // The table's ids are tested.
    if id.parse::<Selection>().is_ok() { id.split_once('/').map_or(id, |(_, name)| name) } else { id }
}

fn cache_file(path: PathBuf) -> PrivateFile {
    PrivateFile::new(path, Access::Write, MAX_FILE)
}

/// A cache that cannot be read is empty.
fn read(file: &PrivateFile) -> Cache {
    let text = file.read().ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// A cache that cannot be written is none.
fn write(file: &PrivateFile, cache: &Cache) {
    let Ok(text) = serde_json::to_string(cache) else { return };
    if let Err(error) = file.lock().and_then(|locked| locked.replace(&text)) {
        tracing::debug!(%error, "the list of models is not kept");
    }
}
