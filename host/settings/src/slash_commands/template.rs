//! The prompt of a command with its places: the words of the user, shell lines and files.
//!
//! Promises: it is read once. What is filled in (words, outputs) is never searched for places again, so that neither
//! can run or attach anything; words that go into a shell line are quoted there, and rejected where that cannot be done
//! safely.
//!
//! Deliberately not here: running a line and reading a file.

use host_shell::quote;

/// The words that the user wrote behind a command.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub &'a str);

/// A prompt with its places.
#[derive(Debug, PartialEq)]
pub struct Template {
    pieces: Vec<Piece>,
    appended: Appended,
}

/// A piece of a prompt.
#[derive(Debug, PartialEq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// All words.
    All,
    /// The word with this number, from 1.
    Word(usize),
    /// A line for a shell; its pieces are text and words.
    Shell(Vec<Piece>),
    /// A file or folder, named in braces.
    File(String),
}

/// How words are added to a prompt that has no place for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Appended {
    /// As Claude Code does.
    Labelled,
    /// As Gemini CLI does: with the command as it was typed.
    AsTyped,
}

/// A place in a prompt is not closed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not closed by a brace")]
pub struct OpenBrace(&'static str);

/// What the user wrote behind a command cannot be put into its shell line, which this is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "what you wrote behind the command cannot be put into its line `{}` safely: it has characters that mean something to a \
     shell",
    host_text::excerpt(.0, 100)
)]
pub struct UnsafeWords(String);

/// The quotes around a place in a shell line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// What makes the quotes around a place of a shell line uncertain: commands within it, comments, heredocs.
const UNCERTAIN: [&str; 9] = ["$(", "`", "<<", "${", "#", "(", "$'", "$\"", "\\\n"];

impl Words<'_> {
    /// Returns the words; one in quotes can have blanks.
    fn split(self) -> Vec<String> {
        let (mut words, mut word, mut open): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
        for c in self.0.chars() {
            match (c, open) {
                (c, Some(quote)) if c == quote => open = None,
                ('"' | '\'', None) => {
                    open = Some(c);
                    word.get_or_insert_default();
                }
                (c, None) if c.is_whitespace() => words.extend(word.take()),
                (c, _) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    /// Returns the word with this number, from 1; empty if there are not as many.
    pub fn word(self, number: usize) -> String {
        number.checked_sub(1).and_then(|at| self.split().into_iter().nth(at)).unwrap_or_default()
    }
}

impl Template {
    /// Reads the prompt of a Markdown file: `$ARGUMENTS`, `$1`, and ``!`line` ``.
    pub(crate) fn markdown(prompt: &str) -> Self {
        let mut pieces = Pieces::default();
        let mut rest = prompt;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            let line = after.strip_prefix('`').and_then(|line| line.split_once('`')).map(|(line, _)| line);
            match (c, line) {
                ('!', Some(line)) if !before.is_alphanumeric() && !line.trim().is_empty() && !line.contains('\n') => {
                    let mut shell = Pieces::default();
                    words_in(line, &mut shell);
                    pieces.push(Piece::Shell(shell.0));
                    rest = &after[line.len() + 2..];
                }
                ('$', _) => rest = word(rest, &mut pieces),
                (c, _) => {
                    pieces.text(c);
                    rest = after;
                }
            }
            before = c;
        }
        Self { pieces: pieces.0, appended: Appended::Labelled }
    }

    /// Reads the prompt of a file of Gemini CLI: `{{args}}`, `!{line}` and `@{path}`.
    ///
    /// # Errors
    ///
    /// If a brace is not closed.
    pub(crate) fn gemini(prompt: &str) -> Result<Self, OpenBrace> {
        Ok(Self { pieces: braces(prompt, true)?, appended: Appended::AsTyped })
    }

    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(text) if text.trim().is_empty()))
    }

    /// Returns what is added to the prompt because it has no place for the words. `name` is the command's.
    pub fn appended(&self, name: &str, words: Words<'_>) -> String {
        let is_place = |piece: &Piece| matches!(piece, Piece::All | Piece::Word(_));
        let has_place = self.pieces.iter().any(|piece| match piece {
            Piece::Shell(pieces) => pieces.iter().any(is_place),
            other => is_place(other),
        });
        match (has_place || words.0.is_empty(), self.appended) {
            (true, _) => String::new(),
            (false, Appended::Labelled) => format!("\n\nARGUMENTS: {}", words.0),
            (false, Appended::AsTyped) => format!("\n\n/{name} {}", words.0),
        }
    }

    /// Returns a shell line with the words in their places, quoted.
    ///
    /// # Errors
    ///
    /// If the words cannot be put there safely.
    pub fn line(&self, pieces: &[Piece], words: Words<'_>) -> Result<String, UnsafeWords> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::All | Piece::Word(_) | Piece::Shell(_) | Piece::File(_) => String::new(),
        };
        let whole: String = pieces.iter().map(text).collect();
        let is_uncertain = UNCERTAIN.iter().any(|mark| whole.contains(mark));
        let mut line = String::new();
        let mut quotes = Quotes::None;
        for piece in pieces {
            let put = match (piece, self.appended) {
                (Piece::Text(text), _) => {
                    quotes = quotes.after(text);
                    line.push_str(text);
                    continue;
                }
                (Piece::Word(number), _) => vec![words.word(*number)],
                (Piece::All, Appended::Labelled) if quotes == Quotes::None => words.split(),
                (Piece::All, _) => vec![words.0.to_owned()],
                (Piece::Shell(_) | Piece::File(_), _) => continue,
            };
            let put: Vec<String> = put.into_iter().filter(|word| !word.is_empty()).collect();
            if put.iter().any(|word| word.contains(char::is_control) || is_uncertain && !is_plain(word)) {
                return Err(UnsafeWords(whole));
            }
            line.push_str(&put.iter().map(|word| quotes.quoted(word)).collect::<Vec<_>>().join(" "));
        }
        Ok(line.trim().to_owned())
    }
}

impl Quotes {
    /// The quotes that are open behind a text.
    fn after(self, text: &str) -> Self {
        let mut open = self;
        let mut is_escaped = false;
        for c in text.chars() {
            open = match (open, c) {
                _ if is_escaped => {
                    is_escaped = false;
                    continue;
                }
                (Self::None | Self::Double, '\\') => {
                    is_escaped = true;
                    continue;
                }
                (Self::None, '\'') => Self::Single,
                (Self::None, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::None,
                (open, _) => open,
            };
        }
        open
    }

    fn quoted(self, word: &str) -> String {
        match self {
            Self::None => quote(word),
            Self::Single => word.replace('\'', "'\\''"),
            Self::Double => word.chars().fold(String::new(), |mut quoted, c| {
                if matches!(c, '\\' | '"' | '$' | '`') {
                    quoted.push('\\');
                }
                quoted.push(c);
                quoted
            }),
        }
    }
}

/// Whether a word is the same for a shell with and without quotes.
fn is_plain(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '@' | '%' | '+' | '=' | ',' | '-'))
}

/// Pieces, in which neighbouring texts are one.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, c: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            Some(_) | None => self.0.push(Piece::Text(c.to_string())),
        }
    }

    fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }
}

/// Reads `$ARGUMENTS` or `$1`, or else the `$` as text; returns the rest.
fn word<'t>(text: &'t str, pieces: &mut Pieces) -> &'t str {
    let after = text.strip_prefix('$').unwrap_or(text);
    if let Some(rest) = after.strip_prefix("ARGUMENTS")
        && !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    {
        pieces.push(Piece::All);
        return rest;
    }
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match after[..digits].parse::<usize>() {
        Ok(number) if number > 0 => {
            pieces.push(Piece::Word(number));
            &after[digits..]
        }
        Ok(_) | Err(_) => {
            pieces.text('$');
            after
        }
    }
}

fn words_in(line: &str, pieces: &mut Pieces) {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '$' {
            rest = word(rest, pieces);
        } else {
            pieces.text(c);
            rest = &rest[c.len_utf8()..];
        }
    }
}

/// Reads the places in braces; within a shell line only those of the words.
fn braces(text: &str, outside: bool) -> Result<Vec<Piece>, OpenBrace> {
    let mut pieces = Pieces::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{args}}") {
            pieces.push(Piece::All);
            rest = after;
        } else if let Some(inner) = rest.strip_prefix("!{").filter(|_| outside) {
            let (line, after) = closed(inner, "!{")?;
            pieces.push(Piece::Shell(braces(line, false)?));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix("@{").filter(|_| outside) {
            let (path, after) = closed(inner, "@{")?;
            pieces.push(Piece::File(path.trim().to_owned()));
            rest = after;
        } else {
            pieces.text(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(pieces.0)
}

/// The text up to the brace that closes it, and what follows.
fn closed<'t>(text: &'t str, open: &'static str) -> Result<(&'t str, &'t str), OpenBrace> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok((&text[..at], &text[at + 1..]));
        }
    }
    Err(OpenBrace(open))
}

#[cfg(test)]
mod tests;
