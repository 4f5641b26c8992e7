//! What is known of a call while its model still writes it: its tool, the first of its arguments, and how many lines
//! have come.
//!
//! The arguments come as pieces of JSON text that end anywhere. They are read once, character by character, and nothing
//! of them is kept but the first argument, so that a file of any length costs no memory. Nothing depends on it: what
//! runs is the call that comes as a whole at its end.

use host_model::CallPiece;
use host_text::title_line;

use crate::EventKind;

/// The longest first argument, in bytes of JSON text: a longer one is not a title.
const MAX_TITLE: usize = 512;

/// The call that is being written.
#[derive(Debug, Default)]
pub(crate) struct Forming {
    name: String,
    title: String,
    lines: u64,
    at: At,
    /// How many objects and lists are open.
    depth: u32,
    /// Whether the next text of the object of arguments is a name of one.
    is_key: bool,
    /// The JSON text of the first argument, without its quotes.
    first: String,
    /// Whether the first argument has ended, or is none that can be a title.
    has_first: bool,
}

/// Where in a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Between,
    Text,
    /// Behind a backslash.
    Escape,
}

impl Forming {
    /// Takes a piece, and reports what has changed for a user.
    pub(crate) fn push(&mut self, piece: &CallPiece, tell: &(dyn Fn(EventKind<'_>) + Send + Sync)) {
        let begins = !piece.name.is_empty();
        if begins {
            *self = Self { name: piece.name.clone(), ..Self::default() };
        }
        let before = (self.title.len(), self.lines);
        piece.json.chars().for_each(|character| self.take(character));
        if begins || before != (self.title.len(), self.lines) {
            tell(EventKind::ToolCallForming { name: &self.name, title: &self.title, lines: self.lines });
        }
    }

    fn take(&mut self, character: char) {
        match self.at {
            At::Between => match character {
                '"' => self.at = At::Text,
                '{' | '[' => {
                    self.depth += 1;
                    self.is_key = self.depth == 1;
                }
                '}' | ']' => self.depth = self.depth.saturating_sub(1),
                ':' if self.depth == 1 => self.is_key = false,
                // Only the first argument is a title: others are long, and come later.
                ',' if self.depth == 1 => {
                    // Numbers and lists are not titles either.
                    self.has_first = true;
                    self.is_key = true;
                }
                _ => {}
            },
            At::Text => match character {
                '"' => {
                    self.at = At::Between;
                    self.end_text();
                }
                '\\' => {
                    self.at = At::Escape;
                    self.keep(character);
                }
                character => self.keep(character),
            },
            At::Escape => {
                self.at = At::Text;
                self.keep(character);
                // Line breaks of a value are lines of a file; a key has none.
                if character == 'n' && !self.is_key {
                    // The first break shows that there are two.
                    self.lines = self.lines.max(1).saturating_add(1);
                }
            }
        }
    }

    fn keep(&mut self, character: char) {
        if self.is_key || self.has_first || self.depth != 1 {
            return;
        }
        if self.first.len() >= MAX_TITLE {
            self.first = String::new();
            self.has_first = true;
            return;
        }
        self.first.push(character);
    }

    fn end_text(&mut self) {
        if self.is_key || self.has_first || self.depth != 1 {
            return;
        }
        self.has_first = true;
        let first = std::mem::take(&mut self.first);
        let text = serde_json::from_str::<String>(&format!("\"{first}\"")).unwrap_or_default();
        self.title = title_line(&text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    fn told(pieces: &[(&str, &str)]) -> Vec<String> {
        let told = Mutex::new(Vec::new());
        let mut forming = Forming::default();
        for (name, json) in pieces {
            let piece = CallPiece { name: (*name).to_owned(), json: (*json).to_owned() };
            forming.push(&piece, &|event| {
                let EventKind::ToolCallForming { name, title, lines } = event else { panic!("{event:?}") };
                told.lock().expect("one thread").push(format!("{name}|{title}|{lines}"));
            });
        }
        told.into_inner().expect("one thread")
    }

    #[test]
    fn forming_call_shows_its_first_argument_and_counts_lines() {
        let pieces = [
            ("write_file", ""),
            ("", r#"{"pa"#),
            ("", r#"th":"src/\"a\".r"#),
            ("", r#"s\u00e9", "content": "one\"#),
            ("", r#"ntwo\\nstill two\t"#),
            ("", r#"\nthree"}"#),
        ];
        let expected =
            ["write_file||0", "write_file|src/\"a\".rsé|0", "write_file|src/\"a\".rsé|2", "write_file|src/\"a\".rsé|3"];
        assert_eq!(told(&pieces), expected);
        // The next call begins with nothing of the one before it.
        assert_eq!(told(&[("a", r#"{"x":"y\nz"}"#), ("b", "{")]), ["a|y↵ z|2", "b||0"]);
    }

    #[test]
    fn forming_call_has_no_title_but_a_short_first_text() {
        for json in [
            "{}",
            "[\"a\"]",
            r#"{"n": 1, "path": "a"}"#,
            r#"{"list": ["a"], "path": "b"}"#,
            r#"{"object": {"path": "a"}}"#,
            &format!(r#"{{"path": "{}"}}"#, "x".repeat(100_000)),
            r#"{"path": "\x"}"#,
        ] {
            assert_eq!(told(&[("t", json)]).last().map(String::as_str), Some("t||0"), "{json:.100}");
        }
        assert_eq!(told(&[("t", "{\"p\": \"a\\u001b[2J\"}")]), ["t|a\\u{1b}[2J|0"]);
    }

    proptest! {
        #[test]
        fn forming_call_is_the_same_in_any_pieces(path in "[a-z/\"\\\\]{0,20}", lines in 0_usize..20, cuts in proptest::collection::vec(0_usize..400, 0..10)) {
            let json = serde_json::json!({"a_path": path, "content": "x\n".repeat(lines)}).to_string();
            let whole = told(&[("t", &json)]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(json.len())).chain([0, json.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<(&str, &str)> =
                cuts.windows(2).map(|ends| ("", &json[ends[0]..ends[1]])).collect();
            let pieces = [&[("t", "")], pieces.as_slice()].concat();
            let told = told(&pieces);
            prop_assert_eq!(told.last(), whole.last());
        }

        #[test]
        fn forming_call_reads_any_text(json in ".{0,200}") {
            told(&[("t", &json)]);
        }
    }
}
