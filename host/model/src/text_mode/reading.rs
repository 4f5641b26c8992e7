//! Finds calls in a text that comes in pieces.
//!
//! Fences are read as CommonMark has them: up to three spaces, three or more of one mark, a word; closed by as many of
//! that mark or more, alone on their line. Within a block of code there are no fences but the one that closes it. A
//! block that is open at the end ends there.
//!
//! Text is handed out as soon as it cannot be the beginning of a call: a piece of a line is only kept while it could
//! become a call's opening fence.

use host_message::{CallId, FunctionCall, ToolName};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::words::CALL_WORD;
use crate::text::clip;

/// The spaces that may stand before a fence; a line with more is no fence.
const MOST_SPACES: usize = 3;

/// The marks that make a fence.
const FEWEST_MARKS: usize = 3;

/// What was found.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// Text for a person.
    Text(String),
    /// A call without an id.
    Call(FunctionCall),
    /// A call that cannot be read, and why.
    Malformed(String),
}

/// The text so far.
#[derive(Default)]
pub(super) struct Reading {
    place: Place,
    line: Line,
}

/// Where the current line stands.
#[derive(Default)]
enum Place {
    #[default]
    Text,
    /// In a block of code that is none of ours.
    Code(Fence),
    /// In a call, of which this much has come in whole lines.
    Call(Fence, String),
}

/// The current line, as far as it has come.
enum Line {
    /// It may be a fence. `shown` bytes of it were handed out.
    Open { text: String, shown: usize },
    /// It is none; its text was handed out and need not be kept.
    Plain,
}

impl Default for Line {
    fn default() -> Self {
        Self::Open { text: String::new(), shown: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Fence {
    mark: char,
    length: usize,
}

/// What is in a call's block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    name: String,
    arguments: Option<Map<String, Value>>,
}

impl Reading {
    /// Takes more of the text.
    pub(super) fn push(&mut self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.piece(piece, &mut found);
        }
        found
    }

    /// The text has ended. More of it would be read as a new one.
    pub(super) fn end(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        let (text, shown) = match std::mem::take(&mut self.line) {
            Line::Plain => (String::new(), 0),
            Line::Open { text, shown } => (text, shown),
        };
        match std::mem::take(&mut self.place) {
            Place::Text if !opens_call(&text) => say(text.get(shown..), &mut found),
            Place::Text => found.push(Found::Malformed("its block is empty".to_owned())),
            Place::Code(_) => say(text.get(shown..), &mut found),
            Place::Call(fence, body) if closes(fence, &text) => found.push(call(&body)),
            Place::Call(_, body) => found.push(call(&(body + &text))),
        }
        found
    }

    /// Takes a piece that ends with its line or before.
    fn piece(&mut self, piece: &str, found: &mut Vec<Found>) {
        let ends = piece.ends_with('\n');
        let Line::Open { text, shown } = &mut self.line else {
            say(Some(piece), found);
            if ends {
                self.line = Line::default();
            }
            return;
        };
        text.push_str(piece);
        if ends {
            let (text, shown) = (std::mem::take(text), std::mem::take(shown));
            self.end_line(&text, shown, found);
            return;
        }
        let could_open_call = match self.place {
            Place::Text => could_open_call(text),
            Place::Code(_) => false,
            // Nothing of a call is shown.
            Place::Call(..) => return,
        };
        if could_open_call {
            return;
        }
        say(text.get(*shown..), found);
        *shown = text.len();
        if !could_be_fence(text) {
            self.line = Line::Plain;
        }
    }

    fn end_line(&mut self, line: &str, shown: usize, found: &mut Vec<Found>) {
        match &mut self.place {
            Place::Text => match fence(line) {
                Some((fence, _)) if opens_call(line) => self.place = Place::Call(fence, String::new()),
                other => {
                    if let Some((fence, _)) = other {
                        self.place = Place::Code(fence);
                    }
                    say(line.get(shown..), found);
                }
            },
            Place::Code(fence) => {
                if closes(*fence, line) {
                    self.place = Place::Text;
                }
                say(line.get(shown..), found);
            }
            Place::Call(fence, body) if closes(*fence, line) => {
                found.push(call(body));
                self.place = Place::Text;
            }
            Place::Call(_, body) => body.push_str(line),
        }
    }
}

fn say(text: Option<&str>, found: &mut Vec<Found>) {
    let text = text.unwrap_or_default();
    match found.last_mut() {
        _ if text.is_empty() => {}
        Some(Found::Text(before)) => before.push_str(text),
        _ => found.push(Found::Text(text.to_owned())),
    }
}

fn call(body: &str) -> Found {
    match serde_json::from_str::<Block>(body) {
        Ok(block) if block.name.is_empty() => Found::Malformed("it has no name".to_owned()),
        Ok(Block { name, arguments }) => Found::Call(FunctionCall {
            id: CallId::new(""),
            name: ToolName::new(name),
            arguments: arguments.unwrap_or_default(),
        }),
        Err(error) => Found::Malformed(clip(&error.to_string())),
    }
}

/// The line without the spaces that may stand before a fence.
fn unindented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= MOST_SPACES).then_some(rest)
}

/// The fence at the beginning of a text, however short, and what stands behind it.
fn marks(text: &str) -> Option<(Fence, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    Some((Fence { mark, length: text.len() - rest.len() }, rest))
}

/// The fence that the line opens, and the words behind it.
fn fence(line: &str) -> Option<(Fence, &str)> {
    let (fence, rest) = marks(unindented(line)?)?;
    // `` ```a``` `` is code within a line.
    let is_inline = fence.mark == '`' && rest.contains('`');
    (fence.length >= FEWEST_MARKS && !is_inline).then(|| (fence, rest.trim()))
}

fn opens_call(line: &str) -> bool {
    fence(line).is_some_and(|(fence, word)| fence.mark == '`' && word == CALL_WORD)
}

fn closes(open: Fence, line: &str) -> bool {
    unindented(line)
        .and_then(marks)
        .is_some_and(|(fence, rest)| fence.mark == open.mark && fence.length >= open.length && rest.trim().is_empty())
}

/// Whether a line that begins so can be a fence.
fn could_be_fence(begun: &str) -> bool {
    let Some(rest) = unindented(begun) else { return false };
    match marks(rest) {
        None => rest.is_empty(),
        Some((fence, rest)) => {
            rest.is_empty() || (fence.length >= FEWEST_MARKS && !(fence.mark == '`' && rest.contains('`')))
        }
    }
}

/// Whether a line that begins so can open a call.
fn could_open_call(begun: &str) -> bool {
    let Some(rest) = unindented(begun) else { return false };
    match marks(rest) {
        None => rest.is_empty(),
        Some((fence, _)) if fence.mark != '`' => false,
        Some((_, "")) => true,
        Some((fence, rest)) => {
            let word = rest.trim_start();
            fence.length >= FEWEST_MARKS && (CALL_WORD.starts_with(word) || word.trim_end() == CALL_WORD)
        }
    }
}

#[cfg(test)]
mod tests;
