//! A publisher's change of keys: a statement by the old key about the new one, as a text that can be published.
//!
//! ```text
//! host key rotation
//! old RW…
//! new RW…
//! untrusted comment: …          ← from here on the signature of the three lines above, by the old key
//! …
//! ```
//!
//! The signature covers the first three lines, so that minisign itself can make the rest.

use host_text::Advice;

use crate::signature::{PublicKey, SecretKey, SecretKeyError, Signature, SignatureError};

/// The first line of the text.
const TITLE: &str = "host key rotation";
/// The largest text. Protects against a wrong file.
const MAX_TEXT: usize = 8 << 10;

/// A claim that a new key takes an old one's place. Who made it is checked by [`super::Trust::rotate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    old: PublicKey,
    new: PublicKey,
    signature: Signature,
}

/// Why a text is not such a statement, or not the old key's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RotationError {
    /// It is something else.
    #[error("it is not a key rotation statement: {0}")]
    Malformed(String),
    /// The old key did not sign it.
    #[error("the old key did not sign this: {0}; get the statement again from a source that you trust")]
    Signature(SignatureError),
}

impl RotationError {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::Malformed(_) => Some(Advice::default().command("keys rotate --key OLD --to NEW").text(" makes one")),
            Self::Signature(_) => None,
        }
    }
}

impl Rotation {
    /// Signs, with the old key, that the new one replaces it.
    ///
    /// # Errors
    ///
    /// When both are one, or the key makes no signature.
    pub fn make(old: &SecretKey, new: PublicKey) -> Result<Self, SecretKeyError> {
        let (public, new) = (old.public().clone(), new);
        if public == new {
            return Err(SecretKeyError::Sign(format!("`{}` cannot replace itself", new.id())));
        }
        let signature = Signature::make(old, signed(&public, &new).as_bytes(), &statement(&public, &new))?;
        Ok(Self { old: public, new, signature })
    }

    /// Reads the text of a claim.
    ///
    /// # Errors
    ///
    /// When it is something else.
    pub fn parse(text: &str) -> Result<Self, RotationError> {
        let wrong = |why: &str| RotationError::Malformed(why.to_owned());
        if text.len() > MAX_TEXT {
            return Err(wrong("it is too long"));
        }
        let rest = text.strip_prefix(TITLE).and_then(|rest| rest.strip_prefix('\n'));
        let rest = rest.ok_or_else(|| wrong("its first line is different"))?;
        let line = |rest: &str, word: &str| {
            let (line, rest) = rest.split_once('\n')?;
            Some((line.strip_prefix(word)?.parse::<PublicKey>().ok()?, rest.to_owned()))
        };
        let (old, rest) = line(rest, "old ").ok_or_else(|| wrong("its second line does not name the old key"))?;
        let (new, rest) = line(&rest, "new ").ok_or_else(|| wrong("its third line does not name the new key"))?;
        if old == new {
            return Err(wrong("both keys are the same"));
        }
        let signature = Signature::new(rest).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { old, new, signature })
    }

    /// The text: what [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        format!("{}{}", signed(&self.old, &self.new), self.signature.text())
    }

    /// Returns the key that is replaced.
    pub fn old_key(&self) -> &PublicKey {
        &self.old
    }

    /// Returns the key that replaces it.
    pub fn new_key(&self) -> &PublicKey {
        &self.new
    }

    /// Checks that the old key signed the statement.
    pub(super) fn check(&self) -> Result<(), RotationError> {
        let bytes = signed(&self.old, &self.new);
        let checked = self.signature.check(&self.old, bytes.as_bytes(), &statement(&self.old, &self.new));
        checked.map_err(RotationError::Signature)
    }
}

/// The lines that are signed.
fn signed(old: &PublicKey, new: &PublicKey) -> String {
    format!("{TITLE}\nold {old}\nnew {new}\n")
}

/// Returns the comment that the signature covers: no signature of a bundle has such a comment.
fn statement(old: &PublicKey, new: &PublicKey) -> String {
    format!("{TITLE}: {} to {}", old.id(), new.id())
}
