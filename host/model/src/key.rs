//! The key of a model's service, as a type that does not show it.

use std::fmt;

/// A key. Neither `Debug` nor an error shows it; only this crate can read it, in order to send it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes the key without surrounding white space; `None` if nothing is left, since an empty variable is not a key.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// Returns the key itself, for a header.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise model.key: An API key is sent in one header to the configured address, follows no redirect and appears
    //   in no URL, log, error or `Debug`.
    #[test]
    fn a_key_does_not_show_itself() {
        let key = ApiKey::new(" s3cret\n").expect("it has letters");
        assert!(!format!("{key:?}").contains("s3cret"));
        assert_eq!(key.reveal(), "s3cret");
        assert_eq!(ApiKey::new(" \n"), None);
    }
}
