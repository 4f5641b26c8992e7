//! A text that is not shown: a key, a token, a password.

use std::fmt;

/// A secret. Neither `Debug` nor a format shows it: whoever needs it calls [`Secret::expose`], which is easy to search
/// for. It is compared as text is, not in constant time: a token that others may guess at needs a type of its own.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_shown_only_where_it_is_asked_for() {
        let secret = Secret::new("s3cret");
        assert_eq!((format!("{secret:?} {secret:#?}"), secret.expose()), ("Secret(…) Secret(…)".to_owned(), "s3cret"));
        assert!(!format!("{:?}", Some(("key", secret))).contains("s3cret"));
    }
}
