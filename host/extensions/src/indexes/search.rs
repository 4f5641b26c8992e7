//! Searching indexes by words.
//!
//! Promises: each plugin is found once an index, in its newest version; a match says whether a key that the user trusts
//! for this plugin is among those that the index names.

use std::collections::BTreeMap;

use host_bundle::{IndexEntry, Trust};
use jiff::Timestamp;
use serde::Serialize;

use super::{Indexes, LoadedIndex};

/// A plugin that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// The name of the index in the configuration.
    pub index: String,
    /// What the index says.
    #[serde(flatten)]
    pub entry: IndexEntry,
    /// Whether the user trusts one of its keys for this plugin.
    pub trusted: bool,
}

/// How well a plugin matches; a greater one is better.
type Score = u32;

/// Searches all indexes that count for plugins that have each word in their name, description or tools; all plugins
/// without a word. The best match comes first.
pub fn search(indexes: &Indexes, words: &[String], trust: &Trust, now: Timestamp) -> Vec<Match> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut found: Vec<(Score, Match)> = Vec::new();
    for LoadedIndex { name, index, .. } in &indexes.loaded {
        for entry in newest(&index.plugins) {
            if let Some(score) = score(entry, &words) {
                let trusted = is_trusted(entry, trust, now);
                found.push((score, Match { index: name.clone(), entry: entry.clone(), trusted }));
            }
        }
    }
    found.sort_by(|(score, one), (other_score, other)| {
        other_score.cmp(score).then_with(|| (&one.entry.name, &one.index).cmp(&(&other.entry.name, &other.index)))
    });
    found.into_iter().map(|(_, found)| found).collect()
}

/// The newest version of each plugin: a release, if there is one.
fn newest(entries: &[IndexEntry]) -> impl Iterator<Item = &IndexEntry> {
    let mut newest: BTreeMap<&str, &IndexEntry> = BTreeMap::new();
    let rank = |entry: &IndexEntry| (entry.version.pre.is_empty(), entry.version.clone());
    for entry in entries {
        let best = newest.entry(&entry.name).or_insert(entry);
        if rank(entry) > rank(best) {
            *best = entry;
        }
    }
    newest.into_values()
}

/// Returns how well a plugin matches all words; `None` if it lacks one.
fn score(entry: &IndexEntry, words: &[String]) -> Option<Score> {
    let name = entry.name.to_lowercase();
    let own = name.rsplit('/').next().unwrap_or_default();
    let description = entry.description.to_lowercase();
    let tools: Vec<(String, String)> =
        entry.tools.iter().map(|tool| (tool.name.to_lowercase(), tool.description.to_lowercase())).collect();
    words.iter().try_fold(0, |score, word| {
        let word = word.as_str();
        let best = if own == word || name == word {
            8
        } else if name.contains(word) {
            4
        } else if tools.iter().any(|(tool, _)| tool.contains(word)) {
            3
        } else if description.contains(word) {
            2
        } else if tools.iter().any(|(_, words)| words.contains(word)) {
            1
        } else {
            return None;
        };
        Some(score + best)
    })
}

/// Whether the user trusts one of its keys for it, now.
fn is_trusted(entry: &IndexEntry, trust: &Trust, now: Timestamp) -> bool {
    trust.keys().iter().any(|known| {
        entry.keys.contains(&known.key)
            && known.replaced_by.is_none()
            && known.counts_for(&entry.name, now)
            && trust.revocation(known.key.id()).is_none()
    })
}
