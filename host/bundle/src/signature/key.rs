//! Public keys, as minisign writes them: 56 characters, by themselves or beneath a comment in a `.pub` file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The largest text that is taken for a key. Protects against a wrong file.
const MAX_KEY: usize = 4 << 10;

/// The id of a key: 16 hexadecimal digits, as minisign shows them. Two keys can be made to have one id, so it names a
/// key and proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(u64);

/// Why a text is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not an id.
    #[error("invalid key id `{0}`: it must be 16 characters of 0-9 and A-F")]
    Id(String),
    /// It is not a key.
    #[error("invalid minisign public key `{text}`: {why}; a key is a line of 56 characters that begins with RW")]
    Key {
        /// Its beginning.
        text: String,
        /// The reason.
        why: String,
    },
}

impl KeyId {
    /// The id in a key's or a signature's own bytes; one that is too short is filled up.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(bytes) {
            *to = *from;
        }
        Self(u64::from_le_bytes(eight))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let is_one = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = u64::from_str_radix(text, 16).ok().filter(|_| is_one);
        id.map(Self).ok_or_else(|| KeyError::Id(text.chars().take(60).collect()))
    }
}

impl TryFrom<String> for KeyId {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.to_string()
    }
}

/// A public key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(minisign::PublicKey);

impl PublicKey {
    pub(super) fn new(key: minisign::PublicKey) -> Self {
        Self(key)
    }

    pub(super) fn minisign(&self) -> &minisign::PublicKey {
        &self.0
    }

    /// Its id.
    pub fn id(&self) -> KeyId {
        KeyId::of(self.0.keynum())
    }

    /// The text of a `.pub` file, as minisign writes it.
    pub fn to_file(&self) -> String {
        format!("untrusted comment: minisign public key {}\n{self}\n", self.id())
    }
}

// The whole of it: the library's own comparison leaves the id out, by which a signature finds its key.
impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bytes() == other.0.to_bytes()
    }
}

impl Eq for PublicKey {}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_base64())
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    /// Reads a key's line, or the text of a `.pub` file.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let shown = text.trim().chars().take(60).collect::<String>();
        let wrong = |why: &str| KeyError::Key { text: shown.clone(), why: why.to_owned() };
        if text.len() > MAX_KEY {
            return Err(wrong("it is too long"));
        }
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let line = match lines.as_slice() {
            [line] => line,
            [comment, line] if comment.starts_with("untrusted comment:") => line,
            _ => return Err(wrong("it is not one line, or a comment and a line")),
        };
        // The first two bytes are `Ed`, which begins so in base64.
        if !line.starts_with("RW") {
            return Err(wrong("it does not begin with RW"));
        }
        minisign::PublicKey::from_base64(line).map(Self).map_err(|error| wrong(&error.to_string()))
    }
}

impl TryFrom<String> for PublicKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_as_it_was_written() {
        let line = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let key: PublicKey = line.parse().expect("a key");
        assert_eq!((key.to_string().as_str(), key.id().to_string().as_str()), (line, "E7620F1842B4E81F"));
        assert_eq!(key.to_file().parse(), Ok(key.clone()));
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        for text in
            ["", "RW", "x", &line[..55], &format!("{line}A"), &line.replacen("RW", "RX", 1), &format!("{line}\n{line}")]
        {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
        for text in ["", "E7620F1842B4E81", "+7620F1842B4E81F", "E7620F1842B4E81FF"] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
        }
    }
}
