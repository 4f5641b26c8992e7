//! The key of a model's service, as a type that does not show it.

use host_text::Secret;

/// A key. Neither `Debug` nor an error shows it; only this crate can read it, in order to send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey(Secret);

impl ApiKey {
    /// Takes the key without surrounding white space; `None` if nothing is left, since an empty variable is not a key.
    pub fn new(text: &str) -> Option<Self> {
        let key = text.trim();
        (!key.is_empty()).then(|| Self(Secret::new(key)))
    }

    /// Returns the key itself, for a header.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
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
        assert_eq!(key.expose(), "s3cret");
        assert_eq!(ApiKey::new(" \n"), None);
    }
}
