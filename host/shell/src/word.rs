//! A word of a shell line, after its quotes are taken off.

use std::fmt;

/// Stands in the text of a word for a part that only running would tell. No argument can hold this character.
pub(crate) const UNKNOWN: char = '\0';

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text, with [`UNKNOWN`] for each part that is not literal.
    pub text: String,
    /// It has parts that only running would tell.
    pub dynamic: bool,
    /// Such a part is unquoted, so the word can become several, or none.
    pub split: bool,
    /// It has an unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// It has what bash takes for a brace expansion.
    pub brace: bool,
    /// It begins with an unquoted `~`.
    pub tilde: bool,
    /// Some of it was quoted.
    pub quoted: bool,
    /// It can be an assignment, and its name has so many bytes.
    pub assigns: Option<usize>,
}

impl Word {
    /// A word that stands for itself.
    pub fn literal_of(text: impl Into<String>) -> Self {
        Self { text: text.into(), quoted: true, ..Self::default() }
    }

    /// A word of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { text: UNKNOWN.to_string(), dynamic: true, split: true, ..Self::default() }
    }

    /// The word, when it is the same whatever happens.
    pub fn literal(&self) -> Option<&str> {
        (!self.dynamic && !self.glob && !self.brace && !self.tilde).then_some(self.text.as_str())
    }

    /// Whether this is literally that word.
    pub fn is(&self, text: &str) -> bool {
        self.literal() == Some(text)
    }
}

/// For people: quoted where that is needed, `…` for what is not known.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace(UNKNOWN, "…");
        match self.literal() {
            Some(literal) => f.write_str(&quote(literal)),
            None => f.write_str(&text),
        }
    }
}

/// The text as one word of a shell that stands for itself wherever it is.
pub fn quote(text: &str) -> String {
    const RESERVED: [&str; 15] = [
        "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then",
        "until", "while",
    ];
    let option = text.starts_with('-');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c) || c == '=' && option;
    let bare = !text.is_empty() && text.chars().all(plain) && !RESERVED.contains(&text);
    match bare || matches!(text, "{}" | "[" | "]") {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
