//! How a call fails, in one line: what is made by hand, and what `?` makes of the errors of others.
//!
//! A capability's error becomes the failure that says the same, in the file of the capability. Here is the rest: the
//! errors of the standard library and of serde that a tool meets.

use std::fmt::Display;

use crate::Failure;

impl Failure {
    /// The arguments are invalid: says which, and why.
    pub fn invalid(why: impl Into<String>) -> Self {
        Self::InvalidArguments(why.into())
    }

    /// What was named is not there.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound(what.into())
    }

    /// The world is not as the call assumed.
    pub fn conflict(why: impl Into<String>) -> Self {
        Self::Conflict(why.into())
    }

    /// It may work later.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable(why.into())
    }

    /// The call was told to stop, and this is what it had until then.
    pub fn cancelled(partial: impl Into<String>) -> Self {
        Self::Cancelled(partial.into())
    }

    /// Anything else.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// What it says; for a refusal, the words that would allow it.
    pub fn message(&self) -> &str {
        match self {
            Self::InvalidArguments(text)
            | Self::NotFound(text)
            | Self::Conflict(text)
            | Self::Unavailable(text)
            | Self::Cancelled(text)
            | Self::Failed(text) => text,
            Self::Denied(denial) => &denial.help,
        }
    }

    /// The same failure, which says first what was being done. A refusal stays as it is: the host tells it.
    fn during(self, doing: &str) -> Self {
        let add = |text: String| format!("{doing}: {text}");
        match self {
            Self::InvalidArguments(text) => Self::InvalidArguments(add(text)),
            Self::NotFound(text) => Self::NotFound(add(text)),
            Self::Conflict(text) => Self::Conflict(add(text)),
            Self::Unavailable(text) => Self::Unavailable(add(text)),
            Self::Cancelled(text) => Self::Cancelled(text),
            Self::Failed(text) => Self::Failed(add(text)),
            Self::Denied(denial) => Self::Denied(denial),
        }
    }
}

/// Says what was being done when something failed, and leaves the kind of the failure as it is.
///
/// ```
/// use host_sdk::{Context, Failure};
///
/// fn second(json: &str) -> Result<u32, Failure> {
///     let numbers: Vec<u32> = serde_json::from_str(json).context("reading the list")?;
///     numbers.get(1).copied().ok_or_else(|| Failure::not_found("the list has no second number"))
/// }
///
/// assert!(second("[1").unwrap_err().message().starts_with("reading the list: EOF"));
/// ```
pub trait Context<T> {
    /// Puts these words before what the failure says.
    ///
    /// # Errors
    ///
    /// When this was an error already.
    fn context(self, doing: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, doing: impl Display) -> Result<T, Failure> {
        self.map_err(|error| error.into().during(&doing.to_string()))
    }
}

/// JSON that is none, or has another shape: whatever it is that the tool read it from.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Bytes that are no text.
impl From<std::str::Utf8Error> for Failure {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Bytes that are no text.
impl From<std::string::FromUtf8Error> for Failure {
    fn from(error: std::string::FromUtf8Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A `Display` that failed, or writing into something that was full.
impl From<std::fmt::Error> for Failure {
    fn from(_: std::fmt::Error) -> Self {
        Self::Failed("a value could not be written as text".to_owned())
    }
}

/// What libraries that read and write through `std::io` say; nothing here is the system's own error, since a plugin
/// has none.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let text = error.to_string();
        match error.kind() {
            ErrorKind::NotFound => Self::NotFound(text),
            ErrorKind::AlreadyExists => Self::Conflict(text),
            ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => {
                Self::Unavailable(text)
            }
            _ => Self::Failed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Denial, fs_read};

    #[test]
    fn failure_keeps_its_kind_when_context_is_added() {
        let missing: Result<(), _> = Err(fs_read::Error::NotFound("a".to_owned()));
        assert_eq!(
            missing.context("reading the list"),
            Err(Failure::not_found("reading the list: there is nothing at `a`"))
        );
        let denial = Denial { capability: "http".to_owned(), wanted: "a".to_owned(), help: "grant it".to_owned() };
        let denied: Result<(), _> = Err(Failure::Denied(denial.clone()));
        assert_eq!(denied.context("fetching"), Err(Failure::Denied(denial)), "the host says it better");
        let partial: Result<(), _> = Err(Failure::cancelled("half"));
        assert_eq!(partial.context("searching"), Err(Failure::cancelled("half")), "it is the result");
        assert_eq!(Ok::<_, Failure>(1).context("x"), Ok(1));
    }

    #[test]
    fn errors_of_libraries_turn_into_failures() {
        fn through<E: Into<Failure>>(error: E) -> Failure {
            error.into()
        }
        let json = serde_json::from_str::<u32>("x").expect_err("no JSON");
        assert!(matches!(through(json), Failure::Failed(why) if why.contains("line 1")));
        let text = String::from_utf8(vec![0xff]).expect_err("no text");
        assert!(matches!(through(text), Failure::Failed(why) if why.contains("utf-8")));
        use std::io::{Error, ErrorKind};
        for (kind, expected) in [
            (ErrorKind::NotFound, Failure::not_found("why")),
            (ErrorKind::AlreadyExists, Failure::conflict("why")),
            (ErrorKind::TimedOut, Failure::unavailable("why")),
            (ErrorKind::UnexpectedEof, Failure::failed("why")),
        ] {
            assert_eq!(through(Error::new(kind, "why")), expected);
        }
    }
}
