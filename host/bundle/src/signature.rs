//! Signatures: ed25519 in minisign's formats, over the bytes of a bundle's image manifest.
//!
//! A signature states, in a comment that it covers, the plugin, the version and the digest of the signed bytes:
//! `acme/fetch@1.2.0 sha256:…`. Checking a signature includes the comment, so that a signature of one bundle is
//! worthless for a different one.
//!
//! Promises: [`Signature::check`] succeeds for exactly the bytes and the comment that the key signed. A text with
//! additions that minisign would accept is rejected.
//!
//! Deliberately not here: whether the key is trusted (`trust`), and minisign's first format, which signs a file and not
//! its hash.

mod key;
mod secret;

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_manifest::cut;
use minisign::SignatureBox;

pub use key::{KeyError, KeyId, PublicKey};
pub use secret::{KeyPair, SecretKey, SecretKeyError, SecretKeyFile};

/// The largest text of a signature. Protects memory; minisign's comments are lines.
pub(crate) const MAX_SIGNATURE: usize = 4 << 10;

/// The text of a signature, as minisign writes it to a `.minisig`. It is as yet a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    text: String,
}

/// Why a signature does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// It is not the text of a signature.
    #[error("it is not a minisign signature: {0}")]
    Malformed(String),
    /// Another key made it, or says so.
    #[error("it was made with the key {by}, not with {key}")]
    OtherKey {
        /// The id in the signature.
        by: KeyId,
        /// The key's.
        key: KeyId,
    },
    /// The key did not sign these bytes, or not with this comment.
    #[error("the key {key} did not sign this: {why}")]
    Wrong {
        /// The key.
        key: KeyId,
        /// Why the check failed.
        why: String,
    },
    /// It is a signature of something else.
    #[error("it says that it is a signature of `{found}`, but this is `{wanted}`")]
    OtherStatement {
        /// Its comment, which may be a lie: a signature that is not wanted is not checked.
        found: String,
        /// The one that it would have.
        wanted: String,
    },
}

impl Signature {
    /// Takes the text of a signature as it is.
    ///
    /// # Errors
    ///
    /// When it is longer than any signature.
    pub fn new(text: impl Into<String>) -> Result<Self, SignatureError> {
        let text = text.into();
        if text.len() > MAX_SIGNATURE {
            let why = format!("it has {} bytes, over the limit of {MAX_SIGNATURE}", text.len());
            return Err(SignatureError::Malformed(why));
        }
        Ok(Self { text })
    }

    /// Signs bytes, with a comment that the signature covers.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub(crate) fn make(secret: &SecretKey, bytes: &[u8], statement: &str) -> Result<Self, SecretKeyError> {
        let (key, public) = secret.parts();
        let comment = format!("signature by the key {}", secret.public().id());
        let signed = minisign::sign(Some(public), key, Cursor::new(bytes), Some(statement), Some(&comment));
        signed
            .map(|signed| Self { text: signed.into_string() })
            .map_err(|error| SecretKeyError::Sign(error.to_string()))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether both are one signature: all but the first line, the untrusted comment, is the same. Anybody can change
    /// that line, so nothing reads it.
    pub fn is_same(&self, other: &Self) -> bool {
        self.covered() == other.covered()
    }

    /// The text without its untrusted comment.
    fn covered(&self) -> &str {
        self.text.split_once('\n').map_or(self.text.as_str(), |(_, covered)| covered).trim_end()
    }

    /// Returns the id of the key that it claims to be made with.
    ///
    /// # Errors
    ///
    /// When it is not a signature.
    pub fn key_id(&self) -> Result<KeyId, SignatureError> {
        Ok(KeyId::of(self.parse()?.keynum()))
    }

    /// Returns the comment that it claims to cover.
    ///
    /// # Errors
    ///
    /// When it is not a signature.
    pub fn statement(&self) -> Result<String, SignatureError> {
        self.parse()?.trusted_comment().map_err(|error| SignatureError::Malformed(error.to_string()))
    }

    /// Checks that the key signed these bytes, with this comment.
    ///
    /// # Errors
    ///
    /// With the reason if the check fails.
    pub fn check(&self, key: &PublicKey, bytes: &[u8], statement: &str) -> Result<(), SignatureError> {
        let signature = self.parse()?;
        let by = KeyId::of(signature.keynum());
        if by != key.id() {
            return Err(SignatureError::OtherKey { by, key: key.id() });
        }
        let found = signature.trusted_comment().map_err(|error| SignatureError::Malformed(error.to_string()))?;
        if found != statement {
            return Err(SignatureError::OtherStatement { found: cut(&found), wanted: statement.to_owned() });
        }
        minisign::verify(key.minisign(), &signature, Cursor::new(bytes), true, false, false)
            .map_err(|error| SignatureError::Wrong { key: key.id(), why: error.to_string() })
    }

    /// Reads the text, in the one way in which minisign writes it: its library would take spaces, more lines and longer
    /// lines too, and then the same signature could have many texts.
    fn parse(&self) -> Result<SignatureBox, SignatureError> {
        let wrong = |why: &str| SignatureError::Malformed(why.to_owned());
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        let lines: Vec<&str> = text.split('\n').collect();
        let [untrusted, signature, trusted, global] = lines.as_slice() else {
            return Err(wrong("it does not have four lines"));
        };
        let comment = trusted.strip_prefix("trusted comment: ");
        if !untrusted.starts_with("untrusted comment: ") || comment.is_none_or(|comment| comment.trim() != comment) {
            return Err(wrong("its first or third line is not a comment"));
        }
        if self.text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(wrong("it has control characters"));
        }
        // Two bytes say how it was made, eight by which key, and 64 are the signature.
        for (line, bytes) in [(signature, 2 + 8 + 64), (global, 64)] {
            if STANDARD.decode(line).map_or(0, |decoded| decoded.len()) != bytes {
                return Err(wrong("its second or fourth line is not a signature in base64"));
            }
        }
        let parsed = SignatureBox::from_string(text).map_err(|error| wrong(&error.to_string()))?;
        if parsed.is_prehashed() { Ok(parsed) } else { Err(wrong("it is in minisign's old format, without a hash")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> SecretKey {
        SecretKey::without_password().expect("random numbers")
    }

    #[test]
    fn a_signature_holds_for_its_bytes_its_comment_and_its_key() {
        let (secret, other) = (keys(), keys());
        let signature = Signature::make(&secret, b"bytes", "acme/x@1.0.0 sha256:0").expect("signed");
        let key = secret.public();
        assert_eq!(signature.key_id(), Ok(key.id()));
        assert_eq!(signature.check(key, b"bytes", "acme/x@1.0.0 sha256:0"), Ok(()));
        let wrong = signature.check(key, b"Bytes", "acme/x@1.0.0 sha256:0");
        assert!(matches!(wrong, Err(SignatureError::Wrong { .. })), "{wrong:?}");
        let another = signature.check(key, b"bytes", "acme/x@1.0.1 sha256:0");
        assert!(matches!(another, Err(SignatureError::OtherStatement { .. })), "{another:?}");
        let stranger = signature.check(other.public(), b"bytes", "acme/x@1.0.0 sha256:0");
        assert!(matches!(stranger, Err(SignatureError::OtherKey { .. })), "{stranger:?}");
    }

    // promise bundle.signed
    #[test]
    fn a_signature_has_one_text() {
        let secret = keys();
        let good = Signature::make(&secret, b"bytes", "a").expect("signed");
        let lines: Vec<&str> = good.text().lines().collect();
        let joined = |lines: &[&str]| format!("{}\n", lines.join("\n"));
        for text in [
            String::new(),
            "\n".repeat(4),
            joined(&lines[..3]),
            format!("{}extra\n", good.text()),
            joined(&[lines[0], &format!("{} ", lines[1]), lines[2], lines[3]]),
            joined(&[lines[0], &format!("{}AAAA", lines[1]), lines[2], lines[3]]),
            joined(&[lines[0], lines[1], &format!("{} ", lines[2]), lines[3]]),
            joined(&[lines[0], lines[1], lines[2], "AAAA"]),
            joined(&[lines[0], lines[1], lines[2], ""]),
            joined(&["comment", lines[1], lines[2], lines[3]]),
            good.text().replace('\n', "\r\n"),
            joined(&["untrusted comment: \u{1b}[2J", lines[1], lines[2], lines[3]]),
        ] {
            let checked = Signature::new(text.clone()).expect("short").check(secret.public(), b"bytes", "a");
            assert!(matches!(checked, Err(SignatureError::Malformed(_))), "{text:?}: {checked:?}");
        }
        assert!(Signature::new("x".repeat(MAX_SIGNATURE + 1)).is_err());
    }

    #[test]
    fn a_byte_of_what_is_covered_changed_is_refused() {
        let secret = keys();
        let good = Signature::make(&secret, b"bytes", "acme/x@1.0.0").expect("signed");
        let covered = good.text().find('\n').expect("a line") + 1;
        let mut tried = 0;
        // The last byte is the line's end, which a text may lack.
        for at in covered..good.text().len() - 1 {
            let mut bytes = good.text().as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let text = String::from_utf8(bytes).expect("still text");
            let changed = Signature::new(text).expect("short").check(secret.public(), b"bytes", "acme/x@1.0.0");
            assert!(changed.is_err(), "the byte {at}");
            tried += 1;
        }
        assert!(tried > 200);
    }
}
