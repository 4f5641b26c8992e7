//! A word of a shell line, after quote removal.

use std::fmt;

/// Marks a part of a word that is known only at run time. No argument can contain this character.
pub(crate) const UNKNOWN: char = '\0';

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text, with [`UNKNOWN`] for each part that is not literal.
    pub text: String,
    /// It has parts that are known only at run time.
    pub dynamic: bool,
    /// Such a part is unquoted, so the word can become several, or none.
    pub split: bool,
    /// It has an unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// It has something that bash reads as a brace expansion.
    pub brace: bool,
    /// It begins with an unquoted `~`.
    pub tilde: bool,
    /// Some of it was quoted.
    pub quoted: bool,
    /// It can be an assignment, whose name has this many bytes.
    pub assigns: Option<usize>,
}

impl Word {
    /// Creates a word whose text is its literal value.
    pub fn literal_of(text: impl Into<String>) -> Self {
        Self { text: text.into(), quoted: true, ..Self::default() }
    }

    /// Creates a word about which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self { text: UNKNOWN.to_string(), dynamic: true, split: true, ..Self::default() }
    }

    /// Marks what is replaced at run time as unknown. An empty mark stands for nothing.
    pub(crate) fn replace(&mut self, mark: &str) {
        if !mark.is_empty() && self.text.contains(mark) {
            self.text = self.text.replace(mark, &UNKNOWN.to_string());
            self.dynamic = true;
        }
    }

    /// Returns the word if its value is always the same.
    pub fn literal(&self) -> Option<&str> {
        (!self.dynamic && !self.glob && !self.brace && !self.tilde).then_some(self.text.as_str())
    }

    /// Whether this is literally the given word.
    pub fn is(&self, text: &str) -> bool {
        self.literal() == Some(text)
    }
}

/// For people: quoted if necessary, with `…` for unknown parts.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace(UNKNOWN, "…");
        match self.literal() {
            Some(literal) => f.write_str(&quote(literal)),
            None => f.write_str(&text),
        }
    }
}

/// Quotes the text as one literal word of a shell, valid at any position.
pub fn quote(text: &str) -> String {
    const RESERVED: [&str; 16] = [
        "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
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
