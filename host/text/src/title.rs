//! Templates of titles: what a call is called on one line, such as `{path}` or `{pattern}[ in {path}]`.
//!
//! A plugin's author writes the template, a model writes the values. Promises: parsing and rendering are linear in
//! bounded text; a title is one line without unsafe characters; a template has nothing but text, fields, and parts that
//! are left out when a field has no value. There are no conditions, loops or formats.
//!
//! Deliberately not here: which fields exist, and how a value is written as text. The caller passes both.

use std::fmt;

use crate::{excerpt, is_plain};

/// The longest template, in characters: it is one line for a user, and most of it should be the call's own values.
const MAX_TEMPLATE: usize = 120;

/// The most fields of a template. Protects the line.
const MAX_FIELDS: usize = 8;

/// The longest name of a field, in bytes, as schemas of tools have them.
const MAX_NAME: usize = 64;

/// The longest title, in characters: more than any terminal has columns for it.
const MAX_TITLE: usize = 240;

/// Stands for a line break in a title: two commands on two lines must not look like one.
const LINE_BREAK: &str = "↵ ";

/// The template of a title.
///
/// `{name}` stands for a value. `[…]` is left out unless each value in it is there; it does not contain another one.
/// Anything else stands for itself. None of the four brackets can be written otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleTemplate {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(String),
    Optional(Vec<Piece>),
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError(String);

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

impl TitleTemplate {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// If it is too long, is not one line of printable text, has a bracket without its other half, or has no field.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if !is_plain(text, MAX_TEMPLATE) {
            let why = format!("it must be one line of at most {MAX_TEMPLATE} printable characters");
            return Err(TemplateError(why));
        }
        let mut parser = Parser { pieces: Vec::new(), optional: None, fields: 0 };
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            rest = match next {
                '{' => parser.field(&rest[1..])?,
                '[' => parser.opened(&rest[1..])?,
                ']' => parser.closed(&rest[1..])?,
                '}' => return Err(TemplateError("a `}` has no `{` before it".to_owned())),
                _ => {
                    let end = rest.find(['{', '}', '[', ']']).unwrap_or(rest.len());
                    parser.add(Piece::Text(rest[..end].to_owned()));
                    &rest[end..]
                }
            };
        }
        if parser.optional.is_some() {
            return Err(TemplateError("a `[` has no `]` after it".to_owned()));
        }
        if parser.fields == 0 {
            return Err(TemplateError("it names no argument, such as `{path}`".to_owned()));
        }
        Ok(Self { text: text.to_owned(), pieces: parser.pieces })
    }

    /// Returns the template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the names of its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.pieces
            .iter()
            .flat_map(|piece| match piece {
                Piece::Optional(pieces) => pieces.as_slice(),
                Piece::Text(_) | Piece::Field(_) => std::slice::from_ref(piece),
            })
            .filter_map(|piece| match piece {
                Piece::Field(name) => Some(name.as_str()),
                Piece::Text(_) | Piece::Optional(_) => None,
            })
    }

    /// Returns the title with these values, as [`title_line`] has them: safe to show, on one line. A value that is not
    /// there, or is blank, is left out.
    pub fn render(&self, value: impl Fn(&str) -> Option<String>) -> String {
        let mut title = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Optional(pieces) => title.push_str(&rendered(pieces, &value).unwrap_or_default()),
                Piece::Text(_) | Piece::Field(_) => {
                    title.push_str(&rendered(std::slice::from_ref(piece), &value).unwrap_or_default());
                }
            }
        }
        title_line(&title)
    }
}

/// Returns the pieces as text; `None` if a value is missing.
fn rendered(pieces: &[Piece], value: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Field(name) => text.push_str(&value(name).filter(|value| !value.trim().is_empty())?),
            // The parser puts none into another.
            Piece::Optional(_) => {}
        }
    }
    Some(text)
}

/// Returns a text of a model's or a tool's as a title: exact, on one line, at most 240 characters. Line breaks are
/// shown as `↵`, and blank lines and blanks at the ends of lines are left out.
pub fn title_line(text: &str) -> String {
    let mut line = String::new();
    let mut characters = 0;
    for part in text.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            line.push_str(LINE_BREAK);
        }
        // More than is shown is not read: a model's argument can have megabytes.
        line.extend(part.chars().take(MAX_TITLE + 1).map(|c| if c == '\t' { ' ' } else { c }));
        characters += part.chars().take(MAX_TITLE + 1).count();
        if characters > MAX_TITLE {
            break;
        }
    }
    excerpt(&line, MAX_TITLE)
}

struct Parser {
    pieces: Vec<Piece>,
    /// The part in square brackets that is open.
    optional: Option<Vec<Piece>>,
    fields: usize,
}

impl Parser {
    fn add(&mut self, piece: Piece) {
        self.optional.as_mut().unwrap_or(&mut self.pieces).push(piece);
    }

    fn field<'t>(&mut self, rest: &'t str) -> Result<&'t str, TemplateError> {
        let Some((name, rest)) = rest.split_once('}') else {
            return Err(TemplateError("a `{` has no `}` after it".to_owned()));
        };
        let is_name = (1..=MAX_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !is_name {
            // Not `name` here: templates of plugins have a copy of this file, and a placeholder of that name.
            let argument = name;
            let why = format!("`{{{argument}}}` does not name an argument: use letters, digits, `_` and `-`");
            return Err(TemplateError(why));
        }
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(TemplateError(format!("it names more than {MAX_FIELDS} arguments")));
        }
        self.add(Piece::Field(name.to_owned()));
        Ok(rest)
    }

    fn opened<'t>(&mut self, rest: &'t str) -> Result<&'t str, TemplateError> {
        if self.optional.is_some() {
            return Err(TemplateError("a `[` is within another one".to_owned()));
        }
        self.optional = Some(Vec::new());
        Ok(rest)
    }

    fn closed<'t>(&mut self, rest: &'t str) -> Result<&'t str, TemplateError> {
        let Some(pieces) = self.optional.take() else {
            return Err(TemplateError("a `]` has no `[` before it".to_owned()));
        };
        if !pieces.iter().any(|piece| matches!(piece, Piece::Field(_))) {
            return Err(TemplateError("a part in `[…]` names no argument".to_owned()));
        }
        self.pieces.push(Piece::Optional(pieces));
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, values: &[(&str, &str)], title: &str) {
        let read = TitleTemplate::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"));
        let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(read.render(value), title, "{template} with {values:?}");
        assert_eq!(read.as_str(), template);
    }

    #[test]
    fn title_is_the_template_with_the_values() {
        check("{path}", &[("path", "src/fuel.rs")], "src/fuel.rs");
        check("{path}", &[], "");
        check("{pattern}[ in {path}]", &[("pattern", "TODO"), ("path", "src")], "TODO in src");
        check("{pattern}[ in {path}]", &[("pattern", "TODO")], "TODO");
        check("{pattern}[ in {path}]", &[("pattern", "TODO"), ("path", " ")], "TODO");
        check("{a}[ {b}:{c}]", &[("a", "1"), ("b", "2")], "1");
        check("{a}[ {b}:{c}]", &[("a", "1"), ("b", "2"), ("c", "3")], "1 2:3");
        check("{a} → {b}", &[("a", "x"), ("b", "y")], "x → y");
        check("[{a}]", &[], "");
    }

    #[test]
    fn title_shows_a_value_on_one_line_and_never_as_part_of_the_template() {
        check("{a}", &[("a", "cd x\n\n  rm -rf y\t# \n")], "cd x↵ rm -rf y #");
        check("{a} {b}", &[("a", "{b}"), ("b", "[c]")], "{b} [c]");
        check("{a}", &[("a", "\u{1b}[2Jx\u{202e}y\r\u{7}")], "\\u{1b}[2Jx\\u{202e}y\\r\\u{7}");
        let long = "ä".repeat(5_000_000);
        assert_eq!(title_line(&long).chars().count(), MAX_TITLE + "… (cut)".chars().count());
        assert_eq!(title_line("\n \n"), "");
    }

    #[test]
    fn title_template_that_is_wrong_says_why() {
        let long = format!("{{a}}{}", "x".repeat(MAX_TEMPLATE));
        let many = "{a}".repeat(MAX_FIELDS + 1);
        for (template, why) in [
            ("", "names no argument"),
            ("Running", "names no argument"),
            ("{", "a `{` has no `}`"),
            ("{path", "a `{` has no `}`"),
            ("path}", "a `}` has no `{`"),
            ("{}", "`{}` does not name an argument"),
            ("{{a}}", "`{{a}` does not name an argument"),
            ("{a b}", "`{a b}` does not name an argument"),
            ("{a:>9}", "`{a:>9}` does not name an argument"),
            ("{a.b}", "does not name an argument"),
            ("[{a}", "a `[` has no `]`"),
            ("{a}]", "a `]` has no `[`"),
            ("[{a}[{b}]]", "within another one"),
            ("{a}[x]", "names no argument"),
            ("{a}\u{1b}[31m", "one line of at most 120 printable characters"),
            ("{a}\n{b}", "one line"),
            ("{a}\u{202e}", "one line"),
            (&long, "at most 120"),
            (&many, "more than 8 arguments"),
        ] {
            let error = TitleTemplate::parse(template).expect_err(template).to_string();
            assert!(error.contains(why), "{template}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn title_of_any_template_and_value_is_one_safe_line(
            template in r"[{}\[\]a-c \n\u{202e}]{0,24}",
            value in r"[\s\S]{0,400}",
        ) {
            if let Ok(read) = TitleTemplate::parse(&template) {
                let title = read.render(|_| Some(value.clone()));
                proptest::prop_assert!(!title.contains(crate::is_unsafe), "{title:?}");
                proptest::prop_assert!(title.chars().count() <= MAX_TITLE + 10);
                proptest::prop_assert!(read.fields().count() <= MAX_FIELDS);
            }
        }
    }
}
