//! Finds calls in a text that comes in pieces.
//!
//! Fences are read as in CommonMark ([`Fence`]). A block that is open at the end ends there.
//!
//! Text is returned as soon as it cannot be the beginning of a call: a piece of a line is held only while it could
//! become a call's opening fence.

use host_message::{CallId, FunctionCall, ToolName};
use host_text::{Fence, Indent, could_be_fence, could_open_with};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::words::CALL_WORD;
use crate::text::clip;

/// An element of the text.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// Text for a user.
    Text(String),
    /// A call without an id.
    Call(FunctionCall),
    /// A call that cannot be read, and why.
    Malformed(String),
}

/// The state of reading a text.
#[derive(Default)]
pub(super) struct Reading {
    place: Place,
    line: Line,
}

/// The context of the current line.
#[derive(Default)]
enum Place {
    #[default]
    Text,
    /// In a block of code that is not a call.
    Code(Fence),
    /// In a call, with its complete lines so far.
    Call(Fence, String),
}

/// The current line so far.
enum Line {
    /// It may be a fence. `shown` bytes of it were returned.
    Open { text: String, shown: usize },
    /// It is not a fence; its text was returned and is not kept.
    Plain,
}

impl Default for Line {
    fn default() -> Self {
        Self::Open { text: String::new(), shown: 0 }
    }
}

/// The content of a call's block.
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

    /// Ends the text. More of it would be read as a new one.
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
        // This line cannot become a fence any more, so it goes through as it comes.
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
            Place::Text => could_open_with(text, CALL_WORD, Indent::ThreeSpaces),
            Place::Code(_) => false,
            // No part of a call is shown.
            Place::Call(..) => return,
        };
        if could_open_call {
            return;
        }
        say(text.get(*shown..), found);
        *shown = text.len();
        if !could_be_fence(text, Indent::ThreeSpaces) {
            self.line = Line::Plain;
        }
    }

    fn end_line(&mut self, line: &str, shown: usize, found: &mut Vec<Found>) {
        match &mut self.place {
            // A fence that is no call's begins a block of code, in which a call is none.
            Place::Text => match Fence::opened_by(line, Indent::ThreeSpaces) {
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
                // Only a closed block, or the end of the reply, makes a call.
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
        Ok(Block { name, arguments }) => {
            Found::Call(FunctionCall::new(CallId::new(""), ToolName::new(name), arguments.unwrap_or_default()))
        }
        Err(error) => Found::Malformed(clip(&error.to_string())),
    }
}

fn opens_call(line: &str) -> bool {
    Fence::opened_by(line, Indent::ThreeSpaces).is_some_and(|(fence, word)| fence.mark() == '`' && word == CALL_WORD)
}

fn closes(open: Fence, line: &str) -> bool {
    open.is_closed_by(line, Indent::ThreeSpaces)
}

#[cfg(test)]
mod tests;
