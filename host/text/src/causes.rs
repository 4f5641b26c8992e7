//! An error with its causes, in one line.

use std::error::Error;

/// Returns the error's message, followed by those of its causes, separated by `: `. A cause that the text repeats is
/// left out.
pub fn with_causes(error: &dyn Error) -> String {
    append_causes(error.to_string(), error)
}

/// Appends the causes of an error to a text about it, as [`with_causes`] does.
pub fn append_causes(mut text: String, error: &dyn Error) -> String {
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{words}")]
    struct Failed {
        words: &'static str,
        #[source]
        cause: Option<Box<Failed>>,
    }

    #[test]
    fn causes_follow_an_error_unless_it_repeats_them() {
        let failed = |words, cause| Failed { words, cause: Option::map(cause, Box::new) };
        let refused = failed("refused", None);
        let sending = failed("cannot send: refused", Some(refused));
        let logging_in = failed("cannot log in", Some(failed("offline", Some(failed("no route", None)))));
        assert_eq!(with_causes(&sending), "cannot send: refused");
        assert_eq!(with_causes(&logging_in), "cannot log in: offline: no route");
        assert_eq!(append_causes("no login".to_owned(), &logging_in), "no login: offline: no route");
    }
}
