//! The keys that a user trusts to sign plugins: what changes in the store, and what is reported of it.
//!
//! Promises: each change returns what it leaves in force, read in the same step, so that a report never describes
//! another state of the store. Deliberately not here: the rules of a verdict and the file of the store (`host-bundle`),
//! and making keys.

use std::fmt::Write as _;

use host_bundle::{
    KeyId, Pattern, PublicKey, Purpose, Revocation, Revoked, Rotation, StoreError, Trust, TrustStore, TrustedKey,
};
use host_settings::error::{ErrorKind, Failure};
use host_text::visible_line;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Reads the store.
///
/// # Errors
///
/// If it cannot be read or is not valid.
pub fn stored(store: &TrustStore) -> Result<Trust, Failure> {
    store.load().map_err(of_store)
}

/// Trusts a key for these names of plugins; returns what holds now, as sentences.
///
/// # Errors
///
/// If the key cannot be trusted, or the store cannot be changed.
pub fn trust(
    store: &TrustStore,
    key: PublicKey,
    patterns: Vec<Pattern>,
    expires: Option<Timestamp>,
    now: Timestamp,
) -> Result<String, Failure> {
    let id = key.id();
    let shown: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
    let before = store.change(|trust| {
        let before = purposes(trust, id).filter(|purpose| !patterns.contains(&purpose.pattern));
        let before: Vec<String> = before.map(|purpose| described_purpose(purpose, now)).collect();
        trust.trust(key, patterns, expires, now).map(|()| before)
    });
    let mut said = format!("The key {id} is trusted for {}{}.\n", shown.join(", "), until(expires));
    for purpose in before.map_err(of_store)? {
        // A string takes everything, here and below.
        let _ = writeln!(said, "It is still trusted for {purpose}.");
    }
    Ok(said)
}

/// Ends the trust in a key for these names of plugins, or for all if there are none; returns what holds now.
///
/// # Errors
///
/// If the key is not trusted for them, or the store cannot be changed.
pub fn distrust(store: &TrustStore, id: KeyId, patterns: &[Pattern], now: Timestamp) -> Result<String, Failure> {
    let change = store.change(|trust| {
        let before: Vec<Pattern> = purposes(trust, id).map(|purpose| purpose.pattern.clone()).collect();
        trust.distrust(id, patterns).map(|kept| (before, kept))
    });
    let (before, kept) = change.map_err(of_store)?;
    let ended = before.iter().filter(|it| kept.iter().all(|purpose| purpose.pattern != **it));
    let ended: Vec<String> = ended.map(|pattern| format!("`{pattern}`")).collect();
    let mut said = format!("The key {id} is no longer trusted for {}.\n", ended.join(", "));
    for purpose in kept {
        let _ = writeln!(said, "It is still trusted for {}.", described_purpose(&purpose, now));
    }
    Ok(said)
}

/// Replaces a key by another one, as the publisher's statement says.
///
/// # Errors
///
/// If the statement is not valid or not accepted, or the store cannot be changed.
pub fn rotate(store: &TrustStore, statement: &str, now: Timestamp) -> Result<String, Failure> {
    let rotation = Rotation::parse(statement)
        .map_err(|error| Failure::from_error(ErrorKind::Input, &error).help_if(error.help()))?;
    store.change(|trust| trust.rotate(&rotation, now)).map_err(of_store)?;
    Ok(format!("The key {} replaces {}.\n", rotation.new_key().id(), rotation.old_key().id()))
}

/// Revokes a key or a bundle; returns what the key was trusted for.
///
/// # Errors
///
/// If the store cannot be changed.
pub fn revoke(store: &TrustStore, what: Revoked, reason: &str, now: Timestamp) -> Result<String, Failure> {
    let mut said = format!("Revoked permanently: {what}.\n");
    let before = store.change(|trust| {
        let before: Vec<String> = match &what {
            Revoked::Key(id) => purposes(trust, *id).map(|purpose| described_purpose(purpose, now)).collect(),
            Revoked::Digest(_) => Vec::new(),
        };
        trust.revoke(what, reason, now).map(|()| before)
    });
    for purpose in before.map_err(of_store)? {
        let _ = writeln!(said, "It was trusted for {purpose}.");
    }
    Ok(said)
}

/// The trusted keys and what was revoked, a line each.
pub fn list(trust: &Trust, now: Timestamp) -> String {
    let mut text = String::new();
    for known in trust.keys() {
        for purpose in &known.purposes {
            let (_, why) = state(trust, known, Some(purpose), now);
            let _ = writeln!(text, "{}  {}{}", known.key.id(), purpose.pattern, visible_line(&why));
        }
    }
    if trust.keys().is_empty() {
        text.push_str("No key is trusted.\n");
    }
    for Revocation { what, reason, since } in trust.revoked() {
        let _ = writeln!(text, "revoked: {what}, since {}: {}", since.strftime("%Y-%m-%d"), visible_line(reason));
    }
    text
}

/// The purposes of the key with this id, if it is known.
fn purposes(trust: &Trust, id: KeyId) -> impl Iterator<Item = &Purpose> {
    trust.keys().iter().filter(move |known| known.key.id() == id).flat_map(|known| &known.purposes)
}

fn described_purpose(purpose: &Purpose, now: Timestamp) -> String {
    let expired = if purpose.counts(now) { "" } else { " (expired)" };
    format!("`{}`{}{expired}", purpose.pattern, until(purpose.expires))
}

/// Returns whether a key currently counts, for one purpose or for any: a word for programs, and a note for users.
fn state(trust: &Trust, known: &TrustedKey, purpose: Option<&Purpose>, now: Timestamp) -> (&'static str, String) {
    let expires = purpose.and_then(|purpose| purpose.expires);
    let counts = match purpose {
        Some(purpose) => purpose.counts(now),
        None => known.purposes.iter().any(|purpose| purpose.counts(now)),
    };
    if let Some(revocation) = trust.revocation(known.key.id()) {
        ("revoked", format!("  (revoked: {})", revocation.reason))
    } else if let Some(by) = &known.replaced_by {
        ("replaced", format!("  (replaced by {})", by.id()))
    } else if counts {
        ("trusted", until(expires))
    } else {
        ("expired", format!("  (expired,{})", until(expires)))
    }
}

fn until(expires: Option<Timestamp>) -> String {
    expires.map_or_else(String::new, |expires| format!(" until {}", expires.strftime("%Y-%m-%d")))
}

/// The same for a program.
pub fn described(trust: &Trust, now: Timestamp) -> Value {
    let purpose = |known: &TrustedKey, purpose: &Purpose| {
        json!({
            "pattern": purpose.pattern,
            "since": purpose.since,
            "expires": purpose.expires,
            "state": state(trust, known, Some(purpose), now).0,
        })
    };
    let key = |known: &TrustedKey| {
        json!({
            "id": known.key.id(),
            "key": known.key,
            "for": known.purposes.iter().map(|it| purpose(known, it)).collect::<Vec<_>>(),
            "replaced_by": known.replaced_by.as_ref().map(PublicKey::id),
            "state": state(trust, known, None, now).0,
        })
    };
    let revoked = |Revocation { what, reason, since }: &Revocation| {
        let (kind, value) = match what {
            Revoked::Key(id) => ("key", id.to_string()),
            Revoked::Digest(digest) => ("digest", digest.to_string()),
        };
        json!({"kind": kind, "value": value, "reason": reason, "since": since})
    };
    json!({
        "keys": trust.keys().iter().map(key).collect::<Vec<_>>(),
        "revoked": trust.revoked().iter().map(revoked).collect::<Vec<_>>(),
    })
}

fn of_store(error: StoreError) -> Failure {
    let (code, help) = match &error {
        StoreError::Trust(error) => (ErrorKind::Input, error.help()),
        StoreError::Unreadable { .. }
        | StoreError::Exposed { .. }
        | StoreError::Malformed { .. }
        | StoreError::Unwritable { .. } => (ErrorKind::Configuration, None),
    };
    Failure::from_error(code, &error).help_if(help)
}
