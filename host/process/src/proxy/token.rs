//! What a program must know to use its proxy: other programs in the same network must not use it.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The name of the user; clients want one.
const USER: &str = "host";

/// How many random bytes the password of a proxy has.
const RANDOM: usize = 16;

/// A password for one proxy, as long as it is there.
#[derive(Clone)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A random one.
    pub(crate) fn new() -> io::Result<Self> {
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        // Digits that stand for themselves in an address.
        Ok(Self(random.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns `USER:PASSWORD`, as an address has it.
    pub(crate) fn user_information(&self) -> String {
        format!("{USER}:{}", self.0)
    }

    /// Whether a field `Proxy-Authorization` has it (RFC 7617).
    pub(super) fn is_in(&self, field: &[u8]) -> bool {
        let mut words = field.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (Some(scheme), Some(credentials), None) = (words.next(), words.next(), words.next()) else { return false };
        let decoded = STANDARD.decode(credentials).unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"basic") && are_equal(&decoded, self.user_information().as_bytes())
    }

    /// Whether these are its user and its password.
    pub(super) fn is(&self, user: &[u8], password: &[u8]) -> bool {
        user == USER.as_bytes() && are_equal(password, self.0.as_bytes())
    }
}

/// Compares in a time that does not depend on where the two differ.
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
