//! Why a signature does not count, and why a list of keys is not changed.

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
    #[error(
        "the key {key} was trusted until {expired}; if it is still the publisher's, run `host keys trust` again with \
         a later --expires"
    )]
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
    #[error(
        "the key {key} is trusted for `{}`, not for `{plugin}`; if it may sign that too, run `host keys trust FILE \
         --for {plugin}` with the publisher's key file",
        shown(patterns)
    )]
    NotForPlugin {
        /// The key.
        key: KeyId,
        /// The plugin.
        plugin: String,
        /// The patterns that it is trusted for.
        patterns: Vec<Pattern>,
    },
    /// Its key is not in the list.
    #[error(
        "the key {key} is not in your list of keys; get the publisher's key file from a source that you trust, then \
         run `host keys trust FILE --for {plugin}`"
    )]
    UnknownKey {
        /// The key.
        key: KeyId,
        /// The plugin.
        plugin: String,
    },
}

impl Refusal {
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
    #[error("the key {key} expired at {expires}; give a later --expires")]
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
    #[error("the key {key} is not trusted, so it cannot name its successor; `host keys list` shows the trusted keys")]
    NotTrusted {
        /// The key.
        key: KeyId,
    },
    /// It is not in the list.
    #[error("the key {key} is not trusted for anything; `host keys list` shows the trusted keys")]
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
    #[error("the key {key} is already trusted and cannot replace another; revoke the old one with `host keys revoke`")]
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

fn shown(patterns: &[Pattern]) -> String {
    patterns.iter().map(Pattern::to_string).collect::<Vec<_>>().join("`, `")
}
