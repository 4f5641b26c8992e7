//! A trusted key: the plugins that it may sign, each pattern with its own time.
//!
//! Promises: a key counts for a plugin if one pattern that covers it has not expired, whatever the others say.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Pattern;
use crate::signature::PublicKey;

/// A key that was trusted, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKey {
    /// The key.
    pub key: PublicKey,
    /// The key that has taken its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<PublicKey>,
    /// The plugins that it may sign, by their patterns, each there once.
    #[serde(rename = "for")]
    pub purposes: Vec<Purpose>,
}

/// Plugins that a key may sign, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purpose {
    /// The plugins.
    pub pattern: Pattern,
    /// Since when.
    pub since: Timestamp,
    /// When the key expires for these purposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// Whether a key counts for a plugin.
pub(super) enum Judged {
    /// It does.
    Counts,
    /// It did until then.
    Expired(Timestamp),
    /// It is trusted for these plugins alone.
    OtherPlugins(Vec<Pattern>),
}

impl Purpose {
    /// Whether the key counts for these plugins at a time.
    pub fn counts(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }
}

impl TrustedKey {
    /// The purposes that have not expired.
    pub(super) fn counting(&self, now: Timestamp) -> impl Iterator<Item = &Purpose> {
        self.purposes.iter().filter(move |purpose| purpose.counts(now))
    }

    /// Whether the key counts for a plugin at a time.
    pub fn counts_for(&self, plugin: &str, now: Timestamp) -> bool {
        self.counting(now).any(|purpose| purpose.pattern.covers(plugin))
    }

    /// The last time at which one of its purposes expires.
    pub(super) fn last_end(&self) -> Option<Timestamp> {
        self.purposes.iter().filter_map(|purpose| purpose.expires).max()
    }

    /// Returns whether the key counts for a plugin.
    pub(super) fn judge(&self, plugin: &str, now: Timestamp) -> Judged {
        let covering = || self.purposes.iter().filter(|purpose| purpose.pattern.covers(plugin));
        match covering().filter_map(|purpose| purpose.expires).max() {
            _ if covering().any(|purpose| purpose.counts(now)) => Judged::Counts,
            Some(expired) => Judged::Expired(expired),
            None => Judged::OtherPlugins(self.purposes.iter().map(|purpose| purpose.pattern.clone()).collect()),
        }
    }
}
