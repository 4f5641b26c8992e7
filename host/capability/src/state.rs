//! Access of a plugin to its own state.

use std::fmt;

use crate::error::ScopeError;
use crate::list::{self, Form};
use crate::visible::visible;

/// Access of a plugin to its own namespace. Writing includes reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateAccess {
    /// Look.
    Read,
    /// Look and change.
    Write,
}

impl StateAccess {
    /// Reads `read` or `write`; `*` is `write`.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let access = |item: list::Item| match item.words.as_slice() {
            [word] if word.text == "read" => Ok(Self::Read),
            [word] if word.text == "write" || word.text == "*" => Ok(Self::Write),
            _ => Err(ScopeError::Access { text: visible(&item.whole.text) }),
        };
        let all = list::items(text, form)?.into_iter().map(access).collect::<Result<Vec<_>, _>>()?;
        all.into_iter().max().ok_or_else(|| ScopeError::Empty { text: visible(text) })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for StateAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_write_and_everything_are_known() {
        for (text, access) in [("read", "read"), ("write", "write"), ("*", "write"), (" read , write ", "write")] {
            assert_eq!(StateAccess::parse(text, Form::Stored).unwrap().name(), access);
        }
        for text in ["", "rw", "read write", "READ"] {
            assert!(StateAccess::parse(text, Form::Stored).is_err(), "{text}");
        }
    }
}
