//! Why a signature does not count, and why a list of keys is not changed.

use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;

use super::{MAX_LISTED, MAX_PATTERNS, MAX_REASON, Pattern, RotationError};
use crate::oci::OciDigest;
use crate::signature::KeyId;

/// Why a bundle is not taken for its publisher's, or one of its signatures does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The bundle or its component was revoked.
    #[error("`{digest}` is revoked: {reason}; do not use it, and ask its publisher for another version")]
    RevokedDigest {
        /// The digest.
        digest: OciDigest,
        /// Why it was revoked.
        reason: String,
    },
    /// Its key was revoked.
    #[error("the key {key} is revoked: {reason}; ask the publisher for a bundle that another key signed")]
    RevokedKey {
        /// The key.
        key: KeyId,
        /// Why it was revoked.
        reason: String,
    },
    /// It is invalid.
    #[error("a signature does not hold: {why}; it is forged or damaged, so it says nothing about the bundle")]
    BadSignature {
        /// Why the check failed.
        why: String,
    },
    /// It is a signature of something else.
    #[error(
        "the signature of the key {key} says that it is of `{found}`, but this bundle is `{wanted}`; get the bundle \
         again"
    )]
    OtherBundle {
        /// The key.
        key: KeyId,
        /// The bundle that it names.
        found: String,
        /// The bundle that was checked.
        wanted: String,
    },
    /// Its key's time is over.
    #[error("the key {key} was trusted until {expired}")]
    ExpiredKey {
        /// The key.
        key: KeyId,
        /// Until when it was trusted.
        expired: Timestamp,
    },
    /// Another key has taken its key's place.
    #[error("the key {key} was replaced by {by}; ask the publisher for a bundle that the new key signed")]
    ReplacedKey {
        /// The key.
        key: KeyId,
        /// The one in its place.
        by: KeyId,
    },
    /// Its key is trusted for other plugins.
    #[error("the key {key} is trusted for `{}`, not for `{plugin}`", shown(patterns))]
    NotForPlugin {
        /// The key.
        key: KeyId,
        /// The plugin.
        plugin: String,
        /// The patterns that it is trusted for.
        patterns: Vec<Pattern>,
    },
    /// Its key is not in the list.
    #[error("the key {key} is not in your list of keys")]
    UnknownKey {
        /// The key.
        key: KeyId,
        /// The plugin.
        plugin: String,
    },
}

impl Refusal {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::ExpiredKey { .. } => {
                let again = Advice::from("if it is still the publisher's, run ").command("keys trust");
                Some(again.text(" again with a later ").flag(Flag::Expires))
            }
            Self::NotForPlugin { plugin, .. } => {
                let trust = Advice::from("if it may sign that too, run ").command(trusting(plugin));
                Some(trust.text(" with the publisher's key file"))
            }
            Self::UnknownKey { plugin, .. } => {
                let get = Advice::from("get the publisher's key file from a source that you trust, then run ");
                Some(get.command(trusting(plugin)))
            }
            Self::RevokedDigest { .. }
            | Self::RevokedKey { .. }
            | Self::BadSignature { .. }
            | Self::OtherBundle { .. }
            | Self::ReplacedKey { .. } => None,
        }
    }

    /// Returns the refusal with its help as one sentence.
    pub fn notice(&self) -> Notice {
        Notice::on(self.to_string(), self.help())
    }

    /// The most serious refusal has the smallest number: signs of an attack come before what the user forgot.
    pub(super) fn gravity(&self) -> u8 {
        match self {
            Self::RevokedDigest { .. } => 0,
            Self::RevokedKey { .. } => 1,
            Self::BadSignature { .. } => 2,
            Self::OtherBundle { .. } => 3,
            Self::NotForPlugin { .. } => 4,
            Self::ReplacedKey { .. } => 5,
            Self::ExpiredKey { .. } => 6,
            Self::UnknownKey { .. } => 7,
        }
    }
}

/// Why the list of trusted keys is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// It is revoked.
    #[error("the key {key} is revoked ({reason}) and cannot be trusted again; trust a different key of the publisher")]
    Revoked {
        /// The key.
        key: KeyId,
        /// Why.
        reason: String,
    },
    /// Another key has its id.
    #[error(
        "another key with the id {key} is trusted; one of the two was made to look like the other, so trust neither"
    )]
    SameId {
        /// The id.
        key: KeyId,
    },
    /// It would be over before it began, or is over.
    #[error("the key {key} expired at {expires}")]
    Past {
        /// The key.
        key: KeyId,
        /// When.
        expires: Timestamp,
    },
    /// Another key has taken its place.
    #[error("the key {key} was replaced by {by}; trust that one")]
    Replaced {
        /// The key.
        key: KeyId,
        /// The one in its place.
        by: KeyId,
    },
    /// It is trusted for nothing, or for too much.
    #[error(
        "the key {key} would have {found} patterns; a key has 1 to {MAX_PATTERNS}, each PUBLISHER/* or PUBLISHER/NAME"
    )]
    Patterns {
        /// The key.
        key: KeyId,
        /// Number of patterns.
        found: usize,
    },
    /// The key that signed it is not trusted.
    #[error("the key {key} is not trusted, so it cannot name its successor")]
    NotTrusted {
        /// The key.
        key: KeyId,
    },
    /// It is not in the list.
    #[error("the key {key} is not trusted for anything")]
    NotListed {
        /// The key.
        key: KeyId,
    },
    /// It is not trusted for the plugins that were named.
    #[error("the key {key} is not trusted for `{pattern}`, but for `{}`; name one of these", shown(known))]
    NotFor {
        /// The key.
        key: KeyId,
        /// The pattern that was named.
        pattern: Pattern,
        /// The patterns that it is trusted for.
        known: Vec<Pattern>,
    },
    /// The new key is already in the list.
    #[error("the key {key} is already trusted and cannot replace another")]
    Already {
        /// The key.
        key: KeyId,
    },
    /// The old key did not say it.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// A reason that cannot be shown.
    #[error("the reason has to be one line of 1 to {MAX_REASON} characters")]
    Reason,
    /// There are enough.
    #[error("the list is full: it has {MAX_LISTED} entries, which is the limit")]
    Full,
}

impl TrustError {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::Past { .. } => Some(Advice::from("give a later ").flag(Flag::Expires)),
            Self::NotTrusted { .. } | Self::NotListed { .. } => {
                Some(Advice::default().command("keys list").text(" shows the trusted keys"))
            }
            Self::Already { .. } => Some(Advice::from("revoke the old one with ").command("keys revoke")),
            Self::Rotation(error) => error.help(),
            Self::Revoked { .. }
            | Self::SameId { .. }
            | Self::Replaced { .. }
            | Self::Patterns { .. }
            | Self::NotFor { .. }
            | Self::Reason
            | Self::Full => None,
        }
    }
}

/// The command that trusts a key file for a plugin.
fn trusting(plugin: &str) -> String {
    format!("keys trust FILE --for {plugin}")
}

fn shown(patterns: &[Pattern]) -> String {
    patterns.iter().map(Pattern::to_string).collect::<Vec<_>>().join("`, `")
}
