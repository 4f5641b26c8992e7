//! Whom a user believes: which keys, for the plugins of which publishers, until when, and what was revoked.
//!
//! A key is trusted for patterns (`acme/*`, `acme/fetch`), each until a time of its own, so that the key of one
//! publisher is worth nothing for another's plugins, and trusting a key for more changes nothing of what it was trusted
//! for before. A bundle is good when one signature of a trusted key holds, whatever other signatures it has; a
//! signature that does not hold, or of a revoked key, is never counted, and is reported. A revocation is permanent and
//! wins over everything; trust that ends is not, and the key can be trusted again.
//!
//! Promises: [`Trust::check`] says [`Verdict::Signed`] only with the keys that were counted. Each refusal says what to
//! do.
//!
//! Deliberately not here: where the file is, and what time it is. Both come from the caller. Nor a way to take a
//! revocation back: after a mistake the publisher makes a new key.

mod pattern;
mod preferred;
mod purpose;
mod refusal;
mod rotation;
mod store;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::purpose::Judged;
use crate::bundle::Bundle;
use crate::oci::OciDigest;
use crate::signature::{KeyId, PublicKey, Signature, SignatureError};

pub use pattern::{NoPattern, Pattern};
pub use preferred::PreferredKeys;
pub use purpose::{Purpose, TrustedKey};
pub use refusal::{Refusal, TrustError};
pub use rotation::{Rotation, RotationError};
pub use store::{StoreError, TrustStore};

/// Keys, and revocations, of a list. Protects the reader.
const MAX_LISTED: usize = 10_000;
/// Patterns of a key. Protects the reader.
const MAX_PATTERNS: usize = 100;
/// Characters of the reason for a revocation. Protects the line that it is shown on.
const MAX_REASON: usize = 500;

/// The subject of a revocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Revoked {
    /// All that a key has signed and will sign.
    Key(KeyId),
    /// One bundle, or one component whatever it is packed in.
    Digest(OciDigest),
}

impl fmt::Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => write!(f, "the key {id}"),
            Self::Digest(digest) => write!(f, "{digest}"),
        }
    }
}

/// Something that was revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// What.
    pub what: Revoked,
    /// The reason in one line, shown with the refusal.
    pub reason: String,
    /// Since when it is in the list. Earlier signatures are refused as well.
    pub since: Timestamp,
}

/// Whom a user believes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    keys: Vec<TrustedKey>,
    revoked: Vec<Revocation>,
}

/// The result of checking a bundle's signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Keys that are trusted for this plugin signed it.
    Signed {
        /// The keys whose signatures were counted.
        by: Vec<KeyId>,
        /// Why others were not.
        not_counted: Vec<Refusal>,
    },
    /// It has no signature.
    Unsigned,
}

impl Trust {
    /// The keys that were ever trusted, in the order in which they were.
    pub fn keys(&self) -> &[TrustedKey] {
        &self.keys
    }

    /// The revocations.
    pub fn revoked(&self) -> &[Revocation] {
        &self.revoked
    }

    /// Why a key is revoked, when it is.
    pub fn revocation(&self, key: KeyId) -> Option<&Revocation> {
        self.revoked.iter().find(|revocation| revocation.what == Revoked::Key(key))
    }

    /// Says that a key is trusted for these plugins until a time, or without an end. What it was trusted for before
    /// stays as it was; only for one of these patterns the time is now this one.
    ///
    /// # Errors
    ///
    /// When it is revoked or was replaced, has the id of another key, would have expired already, or has no patterns.
    pub fn trust(
        &mut self,
        key: PublicKey,
        patterns: Vec<Pattern>,
        expires: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), TrustError> {
        let id = key.id();
        // Revoked and replaced keys are refused whatever else is asked for.
        self.admits(&key)?;
        // A mistake in the date would look like a key that works.
        if let Some(expires) = expires.filter(|expires| *expires <= now) {
            return Err(TrustError::Past { key: id, expires });
        }
        let known = self.keys.iter_mut().find(|known| known.key == key);
        // Its owner said that another key takes its place; trusting the old one would undo that.
        if let Some(by) = known.as_ref().and_then(|known| known.replaced_by.as_ref()) {
            return Err(TrustError::Replaced { key: id, by: by.id() });
        }
        // A new list, put in place only when it is complete: an error leaves the old one.
        let mut purposes = known.as_ref().map(|known| known.purposes.clone()).unwrap_or_default();
        let is_new = !patterns.is_empty();
        for pattern in patterns {
            match purposes.iter_mut().find(|purpose| purpose.pattern == pattern) {
                Some(purpose) => purpose.expires = expires,
                None => purposes.push(Purpose { pattern, since: now, expires }),
            }
        }
        // Counted at the end, since a pattern that is known adds none.
        if !is_new || purposes.len() > MAX_PATTERNS {
            return Err(TrustError::Patterns { key: id, found: if is_new { purposes.len() } else { 0 } });
        }
        // Sorted, so that the file is the same whatever the order of the calls was.
        purposes.sort_by(|one, other| one.pattern.cmp(&other.pattern));
        match known {
            Some(known) => known.purposes = purposes,
            None => self.keys.push(TrustedKey { key, purposes, replaced_by: None }),
        }
        Ok(())
    }

    /// Ends the trust in a key for these patterns, or for all if none is named. Returns what it is still trusted for; a
    /// key that is trusted for nothing any more leaves the list.
    ///
    /// # Errors
    ///
    /// If the key is not in the list, or is not trusted for one of the patterns. Then nothing is changed.
    pub fn distrust(&mut self, key: KeyId, patterns: &[Pattern]) -> Result<Vec<Purpose>, TrustError> {
        let Some(known) = self.keys.iter_mut().find(|known| known.key.id() == key) else {
            return Err(TrustError::NotListed { key });
        };
        let purposes = &known.purposes;
        if let Some(pattern) = patterns.iter().find(|it| purposes.iter().all(|purpose| purpose.pattern != **it)) {
            let known = purposes.iter().map(|purpose| purpose.pattern.clone()).collect();
            return Err(TrustError::NotFor { key, pattern: pattern.clone(), known });
        }
        let is_kept = |purpose: &&Purpose| !patterns.is_empty() && !patterns.contains(&purpose.pattern);
        let kept: Vec<Purpose> = purposes.iter().filter(is_kept).cloned().collect();
        known.purposes.clone_from(&kept);
        self.keys.retain(|known| !known.purposes.is_empty());
        Ok(kept)
    }

    /// Replaces an old key by a new one, as the old key's signed statement says. The new one is trusted for the same
    /// plugins and until the same times, and the old one no longer.
    ///
    /// # Errors
    ///
    /// When the old key is not trusted now or did not sign this, or the new one is already in the list, revoked or has
    /// the id of another.
    pub fn rotate(&mut self, rotation: &Rotation, now: Timestamp) -> Result<(), TrustError> {
        // Refused in the order of what matters: a revoked key can name no successor.
        let (old, new) = (rotation.old_key().id(), rotation.new_key().id());
        if let Some(revoked) = self.revocation(old) {
            return Err(TrustError::Revoked { key: old, reason: revoked.reason.clone() });
        }
        // The new key may be one that was revoked as another's.
        self.admits(rotation.new_key())?;
        if self.keys.iter().any(|known| known.key == *rotation.new_key()) {
            return Err(TrustError::Already { key: new });
        }
        let full = self.keys.len() >= MAX_LISTED;
        let Some(known) = self.keys.iter_mut().find(|known| known.key == *rotation.old_key()) else {
            return Err(TrustError::NotTrusted { key: old });
        };
        if let Some(by) = &known.replaced_by {
            return Err(TrustError::Replaced { key: old, by: by.id() });
        }
        // Only what still counts goes over: an end that has passed is not taken back by a new key.
        let counting: Vec<Purpose> = known.counting(now).cloned().collect();
        if let (true, Some(expires)) = (counting.is_empty(), known.last_end()) {
            return Err(TrustError::Past { key: old, expires });
        }
        rotation.check()?;
        if full {
            return Err(TrustError::Full);
        }
        // From here on the old key counts for nothing, wherever it is.
        known.replaced_by = Some(rotation.new_key().clone());
        // Trusted for the same plugins, and not longer.
        let purposes = counting.into_iter().map(|purpose| Purpose { since: now, ..purpose }).collect();
        self.keys.push(TrustedKey { key: rotation.new_key().clone(), purposes, replaced_by: None });
        Ok(())
    }

    /// Revokes a key or a digest, permanently. An earlier revocation keeps its reason.
    ///
    /// # Errors
    ///
    /// When the reason does not fit on a line.
    pub fn revoke(&mut self, what: Revoked, reason: &str, now: Timestamp) -> Result<(), TrustError> {
        let is_line = !reason.trim().is_empty() && !reason.chars().any(char::is_control);
        if !is_line || reason.chars().count() > MAX_REASON {
            return Err(TrustError::Reason);
        }
        if self.revoked.iter().any(|revocation| revocation.what == what) {
            return Ok(());
        }
        if self.revoked.len() >= MAX_LISTED {
            return Err(TrustError::Full);
        }
        self.revoked.push(Revocation { what, reason: reason.to_owned(), since: now });
        Ok(())
    }

    /// Checks a bundle's signatures against the trusted keys.
    ///
    /// # Errors
    ///
    /// When it or its component is revoked, or it has signatures and none counts: with the gravest reason.
    pub fn check<F>(&self, bundle: &Bundle<F>, now: Timestamp) -> Result<Verdict, Refusal> {
        if let Some(refusal) = self.revoked_digest(bundle) {
            return Err(refusal);
        }
        let mut by = Vec::new();
        let mut not_counted = Vec::new();
        for signature in bundle.signatures() {
            match self.judge(signature, bundle, now) {
                Ok(key) => by.push(key),
                Err(refusal) => not_counted.push(refusal),
            }
        }
        by.sort_unstable();
        by.dedup();
        not_counted.sort_by_key(Refusal::gravity);
        match not_counted.first() {
            _ if !by.is_empty() => Ok(Verdict::Signed { by, not_counted }),
            Some(gravest) => Err(gravest.clone()),
            None => Ok(Verdict::Unsigned),
        }
    }

    /// Checks a bundle that was good when it was installed for what was revoked since. It is as [`Trust::check`] says,
    /// without the refusals for other reasons; but no signature is verified unless one of them names a revoked key.
    ///
    /// # Errors
    ///
    /// When it or its component is revoked, or it has a signature of a revoked key and no other that counts.
    pub fn check_installed<F>(&self, bundle: &Bundle<F>, now: Timestamp) -> Result<(), Refusal> {
        let names_revoked = |signature: &Signature| signature.key_id().is_ok_and(|key| self.revocation(key).is_some());
        if let Some(refusal) = self.revoked_digest(bundle) {
            return Err(refusal);
        }
        if !bundle.signatures().iter().any(names_revoked) {
            return Ok(());
        }
        match self.check(bundle, now) {
            Err(refusal @ Refusal::RevokedKey { .. }) => Err(refusal),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The refusal of a bundle that is revoked itself, or whose component is.
    fn revoked_digest<F>(&self, bundle: &Bundle<F>) -> Option<Refusal> {
        [bundle.digest(), bundle.component_digest()].into_iter().find_map(|digest| {
            let revoked = self.revoked.iter().find(|it| matches!(&it.what, Revoked::Digest(it) if it == digest))?;
            Some(Refusal::RevokedDigest { digest: digest.clone(), reason: revoked.reason.clone() })
        })
    }

    /// Returns the key for which a signature counts.
    fn judge<F>(&self, signature: &Signature, bundle: &Bundle<F>, now: Timestamp) -> Result<KeyId, Refusal> {
        // The plugin's name is from the signed manifest, and not from where the bundle lay.
        let plugin = &bundle.manifest().name;
        let key = signature.key_id().map_err(|error| Refusal::BadSignature { why: error.to_string() })?;
        // Before the signature is verified: whatever it says, a revoked key counts for nothing.
        if let Some(revoked) = self.revocation(key) {
            return Err(Refusal::RevokedKey { key, reason: revoked.reason.clone() });
        }
        // No two keys of the list have one id.
        let Some(known) = self.keys.iter().find(|known| known.key.id() == key) else {
            return Err(Refusal::UnknownKey { key, plugin: plugin.clone() });
        };
        match signature.check(&known.key, bundle.signed_bytes(), &bundle.statement()) {
            Ok(()) => {}
            Err(SignatureError::OtherStatement { found, wanted }) => {
                return Err(Refusal::OtherBundle { key, found, wanted });
            }
            Err(error) => return Err(Refusal::BadSignature { why: error.to_string() }),
        }
        if let Some(by) = &known.replaced_by {
            return Err(Refusal::ReplacedKey { key, by: by.id() });
        }
        match known.judge(plugin, now) {
            Judged::Counts => Ok(key),
            Judged::Expired(expired) => Err(Refusal::ExpiredKey { key, expired }),
            Judged::OtherPlugins(patterns) => Err(Refusal::NotForPlugin { key, plugin: plugin.clone(), patterns }),
        }
    }

    /// Checks that a key may be added to the list.
    fn admits(&self, key: &PublicKey) -> Result<(), TrustError> {
        let id = key.id();
        if let Some(revoked) = self.revocation(id) {
            return Err(TrustError::Revoked { key: id, reason: revoked.reason.clone() });
        }
        let mut same = self.keys.iter().filter(|known| known.key.id() == id);
        if same.any(|known| known.key != *key) {
            return Err(TrustError::SameId { key: id });
        }
        if self.keys.len() >= MAX_LISTED { Err(TrustError::Full) } else { Ok(()) }
    }
}
