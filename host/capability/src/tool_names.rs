//! Tools of the session: which ones a plugin may call.
//!
//! Either tools by their names, or all but some. A name is compared as it is: there are no patterns, since a tool that
//! comes later must not be covered by accident.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::error::ScopeError;
use crate::list::{self, Form};
use crate::visible::visible;

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 64;

/// The tools of the session that a grant covers: at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolNames(Covered);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Covered {
    /// These; at least one.
    Only(Names),
    /// All but these.
    AllBut(Names),
}

type Names = BTreeSet<Arc<str>>;

/// Returns whether the text can be the name of a tool: letters, digits, `_` and `-`, the first a letter.
pub(crate) fn is_tool_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl ToolNames {
    /// Reads items: names, or `*` and with it `!NAME` for what it does not cover.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let (mut all, mut names, mut without) = (false, Names::new(), Names::new());
        for item in list::items(text, form)? {
            let wrong = || ScopeError::Tool { text: visible(&item.whole.text) };
            let [word] = item.words.as_slice() else { return Err(wrong()) };
            if word.text == "*" && !word.quoted {
                all = true;
                continue;
            }
            let (into, name) = match word.text.strip_prefix('!') {
                Some(name) => (&mut without, name),
                None => (&mut names, word.text.as_str()),
            };
            if !is_tool_name(name) {
                return Err(wrong());
            }
            into.insert(name.into());
        }
        let empty = || ScopeError::Empty { text: visible(text) };
        match all {
            true => Ok(Self(Covered::AllBut(without))),
            false => Self::only(names.difference(&without).cloned().collect()).ok_or_else(empty),
        }
    }

    fn only(names: Names) -> Option<Self> {
        (!names.is_empty()).then_some(Self(Covered::Only(names)))
    }

    /// Returns whether the tool is covered.
    pub(crate) fn permit(&self, tool: &str) -> bool {
        match &self.0 {
            Covered::Only(names) => names.contains(tool),
            Covered::AllBut(names) => !names.contains(tool),
        }
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        match (&self.0, &other.0) {
            (Covered::Only(a), Covered::Only(b)) => Self::only(a & b),
            (Covered::Only(a), Covered::AllBut(b)) | (Covered::AllBut(b), Covered::Only(a)) => Self::only(a - b),
            (Covered::AllBut(a), Covered::AllBut(b)) => Some(Self(Covered::AllBut(a | b))),
        }
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(match (&self.0, &other.0) {
            (Covered::Only(a), Covered::Only(b)) => Covered::Only(a | b),
            (Covered::Only(a), Covered::AllBut(b)) | (Covered::AllBut(b), Covered::Only(a)) => Covered::AllBut(b - a),
            (Covered::AllBut(a), Covered::AllBut(b)) => Covered::AllBut(a & b),
        })
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Covered::Only(a), Covered::Only(b)) => a.is_subset(b),
            (Covered::Only(a), Covered::AllBut(b)) => a.is_disjoint(b),
            // Names are without number, so no list of them has all but some.
            (Covered::AllBut(_), Covered::Only(_)) => false,
            (Covered::AllBut(a), Covered::AllBut(b)) => b.is_subset(a),
        }
    }
}

impl fmt::Display for ToolNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, mark) = match &self.0 {
            Covered::Only(names) => (names, ""),
            Covered::AllBut(names) => {
                f.write_str(if names.is_empty() { "*" } else { "*," })?;
                (names, "!")
            }
        };
        for (at, name) in names.iter().enumerate() {
            write!(f, "{}{mark}{name}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> ToolNames {
        ToolNames::parse(text, Form::Stored).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn tools_are_read_back_as_they_were_written() {
        for (text, written) in [
            ("grep", "grep"),
            ("*", "*"),
            ("read_file,grep", "grep,read_file"),
            ("*,!todo,!code", "*,!code,!todo"),
            ("a,*", "*"),
            ("a,b,!b", "a"),
            ("github__search", "github__search"),
        ] {
            assert_eq!(tools(text).to_string(), written);
            assert_eq!(tools(written), tools(text));
        }
        for text in ["", "!a", "a,!a", "a b", "a*", "1a", "a/b", "ä", "'*'", "-a", "a.b"] {
            assert!(ToolNames::parse(text, Form::Stored).is_err(), "{text}");
        }
        assert!(ToolNames::parse(&"x".repeat(MAX_NAME + 1), Form::Stored).is_err());
    }

    #[test]
    fn only_named_tools_are_permitted() {
        for (scope, tool, is_permitted) in [
            ("a", "a", true),
            ("a", "A", false),
            ("a", "ab", false),
            ("*", "anything at all", true),
            ("*,!a", "a", false),
            ("*,!a", "b", true),
        ] {
            assert_eq!(tools(scope).permit(tool), is_permitted, "{scope}: {tool}");
        }
    }

    #[test]
    fn meets_joins_and_order_are_those_of_what_is_covered() {
        let all = ["a", "b", "c", "a,b", "b,c", "a,b,c", "*", "*,!a", "*,!b", "*,!a,!b", "*,!c"];
        // One name that no scope mentions stands for all others.
        let names = ["a", "b", "c", "other"];
        let covered = |scope: &ToolNames| names.map(|name| scope.permit(name));
        for one in all.map(tools) {
            for other in all.map(tools) {
                let met = one.meet(&other);
                let both = names.map(|name| one.permit(name) && other.permit(name));
                assert_eq!(met.as_ref().map_or([false; 4], covered), both, "{one} and {other}");
                assert_eq!(covered(&one.join(&other)), names.map(|name| one.permit(name) || other.permit(name)));
                assert_eq!(one.le(&other), met.as_ref() == Some(&one), "{one} in {other}");
            }
        }
    }
}
