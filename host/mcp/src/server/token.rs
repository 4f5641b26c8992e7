//! The token that a client on HTTP has to know.

use std::fmt;

/// The fewest characters of a token. Protects from one that can be guessed.
const LEAST_CHARACTERS: usize = 16;

/// The random bytes of a token that is made here.
const RANDOM_BYTES: usize = 32;

/// A token. Its `Debug` does not show it, and it is compared in constant time.
#[derive(Clone)]
pub struct Token {
    /// Only the digest is compared, which says nothing of how much was right.
    digest: blake3::Hash,
}

/// A text that cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token is not {LEAST_CHARACTERS} or more visible ASCII characters")]
pub struct InvalidToken;

impl Token {
    /// The token with this text.
    ///
    /// # Errors
    ///
    /// If it is too short to be secret, or has characters that no header takes.
    pub fn new(text: &str) -> Result<Self, InvalidToken> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.len() < LEAST_CHARACTERS || !is_plain {
            return Err(InvalidToken);
        }
        Ok(Self { digest: blake3::hash(text.as_bytes()) })
    }

    /// Returns the text of a new token.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn random() -> Result<String, getrandom::Error> {
        use base64::Engine as _;
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Whether the value of an `Authorization` header has this token.
    pub(super) fn is_in(&self, header: Option<&[u8]>) -> bool {
        let given = header.and_then(|header| header.split_at_checked(BEARER.len()));
        // The comparison of digests takes the same time for all.
        given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case(BEARER) && blake3::hash(given.trim_ascii()) == self.digest
        })
    }
}

/// The scheme of the header.
const BEARER: &[u8] = b"Bearer ";

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_what_it_is() {
        let text = Token::random().expect("random numbers");
        let token = Token::new(&text).expect("it is long");
        let header = |text: &str| token.is_in(Some(text.as_bytes()));
        assert!(header(&format!("Bearer {text}")) && header(&format!("bearer {text} ")));
        for wrong in [
            String::new(),
            text.clone(),
            format!("Bearer {}", &text[1..]),
            format!("Bearer {text}x"),
            "Bearer ".to_owned(),
        ] {
            assert!(!header(&wrong), "{wrong}");
        }
        assert!(!token.is_in(None));
        assert!(!format!("{token:?}").contains(&text));
        for wrong in ["", "short", "0123456789abcde ", "0123456789abcdeä"] {
            assert!(Token::new(wrong).is_err(), "{wrong}");
        }
    }
}
