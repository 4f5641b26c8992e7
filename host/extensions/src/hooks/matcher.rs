//! Which calls, or which kinds of another event, a hook is asked about.
//!
//! As in Claude Code: nothing and `*` match everything, a name or names with `|` between them match exactly, and
//! anything else is a regular expression that may match anywhere in a name. It runs in linear time and cannot look
//! around.

use host_tool::ArgumentsPattern;

/// The longest matcher, in bytes.
const MAX_MATCHER: usize = 4 << 10;

/// What a hook matches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(ArgumentsPattern),
}

/// Why a matcher cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatcherFault {
    /// It is over the limit.
    #[error("its matcher is over the limit of {MAX_MATCHER} bytes")]
    TooLong,
    /// It is no regular expression, or too large.
    #[error("its matcher `{}` cannot be used: {}", host_text::excerpt(.text, 80), host_text::one_line(.why, 200))]
    Pattern {
        /// The matcher.
        text: String,
        /// The engine's message.
        why: String,
    },
}

impl Matcher {
    /// Reads a matcher as a file has it.
    ///
    /// # Errors
    ///
    /// With the engine's message if it is not a regular expression, or too large.
    pub(super) fn parse(text: &str) -> Result<Self, MatcherFault> {
        let text = text.trim();
        let is_names = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|');
        if text.is_empty() || text == "*" {
            return Ok(Self::Everything);
        }
        if text.len() > MAX_MATCHER {
            return Err(MatcherFault::TooLong);
        }
        if text.chars().all(is_names) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            return Ok(Self::Names(names.map(str::to_owned).collect()));
        }
        ArgumentsPattern::new(text)
            .map(Self::Pattern)
            .map_err(|why| MatcherFault::Pattern { text: text.to_owned(), why: why.to_string() })
    }

    /// Whether one of these names matches.
    pub(super) fn matches(&self, names: &[String]) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(wanted) => wanted.iter().any(|wanted| names.contains(wanted)),
            Self::Pattern(pattern) => names.iter().any(|name| pattern.matches(name)),
        }
    }

    /// Returns it as a list shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Everything => "*".to_owned(),
            Self::Names(names) => names.join("|"),
            Self::Pattern(pattern) => host_text::excerpt(pattern.as_str(), 80),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::names::names_of;

    #[test]
    fn hook_matchers_mean_what_they_mean_elsewhere() {
        for (matcher, tool, expected) in [
            ("", "shell", true),
            ("*", "shell", true),
            ("Bash", "shell", true),
            ("Bash", "shell_background", false),
            ("Edit|Write", "write_file", true),
            ("Edit|MultiEdit|Write", "edit", true),
            ("Edit, Write", "edit", true),
            ("run_shell_command", "shell", true),
            ("write_file|replace", "edit", true),
            ("shell", "shell", true),
            ("bash", "shell", false),
            ("mcp__github__.*", "github__issue", true),
            ("mcp__.*__write", "github__write", true),
            ("mcp__github", "github__issue", false),
            ("^Edit$", "edit", true),
            ("Notebook.*", "edit", false),
            ("read_.*", "read_file", true),
        ] {
            let found = Matcher::parse(matcher).expect("it is right").matches(&names_of(tool));
            assert_eq!(found, expected, "{matcher} {tool}");
        }
        assert!(
            Matcher::parse("^(?!mcp__)").is_err_and(|fault| matches!(fault, MatcherFault::Pattern { .. })),
            "it cannot look around"
        );
        assert!(Matcher::parse(&"(a{1000}){1000}".repeat(3)).is_err());
        assert!(Matcher::parse(&"a.".repeat(MAX_MATCHER)).is_err());
    }
}
