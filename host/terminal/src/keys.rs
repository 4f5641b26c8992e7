//! Translates the bytes that a terminal sends into keys.
//!
//! Sequences may come in any pieces, and an Esc counts as a key only when nothing follows: the caller that feeds bytes
//! calls [`Keys::nothing_more`] after a pause. Whatever comes, nothing here grows without a bound, and anything that is
//! not a key is dropped: a terminal's answers, mouse reports, unknown sequences. A focus report is one, since the
//! terminal is asked for it.
//!
//! Deliberately not here: what a key does.

use std::time::Duration;

/// The largest paste, in bytes. Protects memory; a longer text belongs in a file, and is left out whole, which is said.
pub(super) const MAX_PASTE: usize = 1 << 20;

/// The longest incomplete sequence that is kept. Protects memory from one that never ends.
const MAX_SEQUENCE: usize = 4 << 10;

/// The pause after which an Esc is a key of its own. Over a slow line a key's bytes may come in two packets.
const ESCAPE: Duration = Duration::from_millis(50);

const ESC: u8 = 0x1b;
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// What a user pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    /// A pasted text; its line ends are `\n`, and it has no other control characters but tabs.
    Paste(String),
    /// A pasted text that is over [`MAX_PASTE`].
    LongPaste,
    Enter,
    /// Enter with Alt, Shift or Ctrl, or Ctrl-J.
    NewLine,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    WordLeft,
    WordRight,
    DeleteWord,
    DeleteWordAfter,
    DeleteToStart,
    DeleteToEnd,
    PutBack,
    Escape,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-L.
    Redraw,
    /// Ctrl-O.
    Expand,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-R.
    Search,
    /// Ctrl-G.
    Edit,
    /// Ctrl-X, which begins a combination.
    Chord,
    /// Ctrl-V. A paste of text never comes as this key.
    PasteImage,
    /// Ctrl-_, which is also Ctrl-/.
    Undo,
    /// The terminal reports that keys go to it now.
    FocusIn,
    /// The terminal reports that keys go elsewhere.
    FocusOut,
}

/// How the terminal passes on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Each key as it is pressed.
    Raw,
    /// Whole lines, which the user edited in the terminal itself.
    Cooked,
}

/// The bytes that do not make a whole key yet.
#[derive(Debug)]
pub(super) struct Keys {
    lines: Lines,
    pending: Vec<u8>,
    /// The paste that has begun: at most one byte more than may be.
    paste: Option<Vec<u8>>,
}

/// What the bytes begin with, and how many of them belong to it.
enum Found {
    Key(usize, Option<Key>),
    PasteBegins(usize),
    Incomplete,
}

impl Keys {
    pub(super) fn new(lines: Lines) -> Self {
        Self { lines, pending: Vec::new(), paste: None }
    }

    /// Returns for how long more bytes are waited for, this long after the last ones; `None` if none are needed.
    pub(super) fn waits_for(&self, quiet: Duration) -> Option<Duration> {
        let is_waiting = !self.pending.is_empty() && self.paste.is_none();
        is_waiting.then(|| ESCAPE.saturating_sub(quiet))
    }

    /// Takes bytes and returns the keys that are complete now.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        loop {
            if let Some(paste) = &mut self.paste {
                // Nothing in a paste is a key, whatever bytes it has.
                let ends = find(&self.pending, PASTE_ENDS);
                // The bytes may end with a part of the end marker.
                let taken = ends.unwrap_or(self.pending.len().saturating_sub(PASTE_ENDS.len() - 1));
                // One byte more shows that it is too long; the rest is read and dropped.
                let room = (MAX_PASTE + 1).saturating_sub(paste.len());
                paste.extend(self.pending.drain(..taken).take(room));
                if ends.is_none() {
                    return keys;
                }
                self.pending.drain(..PASTE_ENDS.len().min(self.pending.len()));
                let text = self.paste.take().unwrap_or_default();
                let is_long = text.len() > MAX_PASTE;
                keys.push(if is_long { Key::LongPaste } else { Key::Paste(pasted(&text)) });
                continue;
            }
            match key(&self.pending, self.lines) {
                Found::Key(length, key) => {
                    self.pending.drain(..length);
                    keys.extend(key);
                }
                Found::PasteBegins(length) => {
                    self.pending.drain(..length);
                    self.paste = Some(Vec::new());
                }
                Found::Incomplete => {
                    // A sequence without an end would swallow all keys that follow.
                    if self.pending.len() > MAX_SEQUENCE {
                        self.pending.clear();
                    }
                    return keys;
                }
            }
        }
    }

    /// Returns the key if nothing followed for long enough: a lone Esc is one; an incomplete sequence is dropped.
    /// Before that it does nothing: the thread wakes for other reasons between two pieces of a sequence.
    pub(super) fn nothing_more(&mut self, quiet: Duration) -> Option<Key> {
        if self.waits_for(quiet) != Some(Duration::ZERO) {
            return None;
        }
        let was_escape = self.pending == [ESC];
        self.pending.clear();
        was_escape.then_some(Key::Escape)
    }
}

/// Normalises a pasted text.
fn pasted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn key(bytes: &[u8], lines: Lines) -> Found {
    match bytes {
        [] | [ESC] => Found::Incomplete,
        [ESC, b'[', rest @ ..] => csi(rest),
        [ESC, b'O'] => Found::Incomplete,
        [ESC, b'O', end, ..] => Found::Key(3, if *end == b'M' { Some(Key::Enter) } else { arrow(*end, 0) }),
        // Answers of the terminal: a string up to its end.
        [ESC, b']' | b'P' | b'_' | b'^', rest @ ..] => {
            let bell = rest.iter().position(|byte| *byte == 7).map(|at| at + 1);
            let string = find(rest, b"\x1b\\").map(|at| at + 2);
            match bell.into_iter().chain(string).min() {
                Some(length) => Found::Key(2 + length, None),
                None => Found::Incomplete,
            }
        }
        // The second Esc is read with what follows it.
        [ESC, ESC, ..] => Found::Key(1, Some(Key::Escape)),
        [ESC, byte, ..] if byte.is_ascii() => Found::Key(2, with_alt(*byte)),
        [ESC, ..] => Found::Key(1, None),
        [byte, ..] if *byte < 0x20 || *byte == 0x7f => Found::Key(1, control(*byte, lines)),
        bytes => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Found {
    let wanted = match bytes.first() {
        Some(0..0x80) => 1,
        Some(0xc2..0xe0) => 2,
        Some(0xe0..0xf0) => 3,
        Some(0xf0..0xf5) => 4,
        Some(_) | None => return Found::Key(1, None),
    };
    match bytes.get(..wanted) {
        Some(whole) => match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
            Some(character) if character.is_control() => Found::Key(wanted, None),
            Some(character) => Found::Key(wanted, Some(Key::Char(character))),
            None => Found::Key(1, None),
        },
        None if bytes.iter().skip(1).all(|byte| matches!(byte, 0x80..0xc0)) => Found::Incomplete,
        None => Found::Key(1, None),
    }
}

fn control(byte: u8, lines: Lines) -> Option<Key> {
    Some(match byte {
        b'\r' => Key::Enter,
        // In raw mode Enter sends a CR, so that Ctrl-J can be a new line.
        b'\n' if lines == Lines::Cooked => Key::Enter,
        b'\n' => Key::NewLine,
        b'\t' => Key::Tab,
        8 | 0x7f => Key::Backspace,
        1 => Key::Home,
        2 => Key::Left,
        3 => Key::Interrupt,
        4 => Key::EndOfInput,
        5 => Key::End,
        6 => Key::Right,
        7 => Key::Edit,
        11 => Key::DeleteToEnd,
        12 => Key::Redraw,
        14 => Key::Down,
        15 => Key::Expand,
        16 => Key::Up,
        18 => Key::Search,
        21 => Key::DeleteToStart,
        22 => Key::PasteImage,
        23 => Key::DeleteWord,
        24 => Key::Chord,
        25 => Key::PutBack,
        26 => Key::Suspend,
        31 => Key::Undo,
        _ => return None,
    })
}

fn with_alt(byte: u8) -> Option<Key> {
    match byte {
        b'\r' | b'\n' => Some(Key::NewLine),
        8 | 0x7f => Some(Key::DeleteWord),
        b'b' => Some(Key::WordLeft),
        b'f' => Some(Key::WordRight),
        b'd' => Some(Key::DeleteWordAfter),
        _ => None,
    }
}

/// Reads a control sequence, without its beginning.
fn csi(rest: &[u8]) -> Found {
    let Some(end) = rest.iter().position(|byte| !matches!(byte, 0x20..0x40)) else { return Found::Incomplete };
    let length = 2 + end + 1;
    let (Some(last), Ok(parameters)) = (rest.get(end), std::str::from_utf8(rest.get(..end).unwrap_or_default())) else {
        return Found::Key(length, None);
    };
    if *last == ESC {
        // The sequence broke off, and a new one begins.
        return Found::Key(length - 1, None);
    }
    // Private sequences: answers of a terminal that nobody asked, and mouse reports.
    if parameters.starts_with(['<', '=', '>', '?']) {
        return Found::Key(length, None);
    }
    // In `5:1` the part after the colon says whether the key was pressed or released.
    let mut numbers = parameters.split(';').map(|number| number.split(':').next().unwrap_or(number).parse::<u32>());
    let mut number = || numbers.next().and_then(Result::ok);
    let first = number();
    let modifiers = |number: Option<u32>| number.unwrap_or(1).saturating_sub(1);
    let key = match (last, first) {
        (b'~', Some(200)) => return Found::PasteBegins(length),
        (b'~', Some(1 | 7)) => Some(Key::Home),
        (b'~', Some(4 | 8)) => Some(Key::End),
        (b'~', Some(3)) => Some(Key::Delete),
        // The form of xterm for keys with modifiers, whose code comes last.
        (b'~', Some(27)) => {
            let modifiers = modifiers(number());
            number().and_then(|code| coded(code, modifiers))
        }
        (b'u', Some(code)) => coded(code, modifiers(number())),
        (b'Z', _) => Some(Key::BackTab),
        (b'I', _) if parameters.is_empty() => Some(Key::FocusIn),
        (b'O', _) if parameters.is_empty() => Some(Key::FocusOut),
        (end, _) => arrow(*end, modifiers(number())),
    };
    Found::Key(length, key)
}

const SHIFT: u32 = 1;
const ALT: u32 = 2;
const CTRL: u32 = 4;

fn arrow(end: u8, modifiers: u32) -> Option<Key> {
    let by_word = modifiers & (ALT | CTRL) != 0;
    Some(match end {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if by_word => Key::WordRight,
        b'C' => Key::Right,
        b'D' if by_word => Key::WordLeft,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return None,
    })
}

/// Returns the key that came as the code of its character and its modifiers.
fn coded(code: u32, modifiers: u32) -> Option<Key> {
    let held = modifiers & (SHIFT | ALT | CTRL);
    match (char::from_u32(code)?, held) {
        ('\r', 0) => Some(Key::Enter),
        ('\r' | '\n', _) => Some(Key::NewLine),
        ('\u{1b}', _) => Some(Key::Escape),
        ('\t', SHIFT) => Some(Key::BackTab),
        ('\t', _) => Some(Key::Tab),
        ('\u{7f}' | '\u{8}', held) if held & (ALT | CTRL) != 0 => Some(Key::DeleteWord),
        ('\u{7f}' | '\u{8}', _) => Some(Key::Backspace),
        (letter, held) if held & CTRL != 0 && letter.is_ascii_alphabetic() => {
            control(letter.to_ascii_lowercase() as u8 & 0x1f, Lines::Raw)
        }
        (letter, held) if held & ALT != 0 && letter.is_ascii() => with_alt(letter as u8),
        (character, 0 | SHIFT) if !character.is_control() => Some(Key::Char(character)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::new(Lines::Raw);
        let mut all = keys.feed(bytes);
        all.extend(keys.nothing_more(ESCAPE));
        all
    }

    #[test]
    fn terminal_key_sequences_are_recognised() {
        for (bytes, expected) in [
            (&b"a\r"[..], vec![Key::Char('a'), Key::Enter]),
            ("äß→😀".as_bytes(), "äß→😀".chars().map(Key::Char).collect()),
            (b"\n\x1b\r\x1b[13;2u\x1b[27;2;13~\x1b[13;5u", vec![Key::NewLine; 5]),
            (b"\x1b[A\x1bOB\x1b[C\x1b[1;5D\x1bb", vec![Key::Up, Key::Down, Key::Right, Key::WordLeft, Key::WordLeft]),
            (b"\x1b[H\x1b[4~\x1b[3~\x1b[Z", vec![Key::Home, Key::End, Key::Delete, Key::BackTab]),
            (
                b"\x03\x1b[99;5u\x1b[99;5:1u\x1b[100;5u",
                vec![Key::Interrupt, Key::Interrupt, Key::Interrupt, Key::EndOfInput],
            ),
            (b"\x12\x1b[114;5u\x07\x18\x16\x1f", {
                vec![Key::Search, Key::Search, Key::Edit, Key::Chord, Key::PasteImage, Key::Undo]
            }),
            (b"\x0f\x1b[111;5u", vec![Key::Expand; 2]),
            (b"\x1b", vec![Key::Escape]),
            (b"\x1b\x1b", vec![Key::Escape, Key::Escape]),
            (b"\x1b[27u\x1b[97u\x1b[65;2u", vec![Key::Escape, Key::Char('a'), Key::Char('A')]),
            (b"\x1b[200~a\r\nb\x1b[31m\x07\x1b[201~c", vec![Key::Paste("a\nb[31m".to_owned()), Key::Char('c')]),
            // Where the keys go, which the terminal is asked for.
            (b"a\x1b[Ib\x1b[O", vec![Key::Char('a'), Key::FocusIn, Key::Char('b'), Key::FocusOut]),
            // Answers, reports and unknown sequences.
            (b"\x1b[24;80R\x1b[1I\x1b[<0;1;1M\x1b]11;rgb:0/0/0\x1b\\\x1bP1$r\x1b\\\x1b[?1;2cx", vec![Key::Char('x')]),
            (b"\xff\xc3\x28", vec![Key::Char('(')]),
            (b"\x1b[1;\x1b[A", vec![Key::Up]),
        ] {
            assert_eq!(keys(bytes), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn focus_reports_in_pieces_are_never_text() {
        for pieces in
            [&["a\x1b[I", "b\x1b[O"][..], &["a\x1b", "[Ib\x1b[", "O"], &["a", "\x1b", "[", "I", "b", "\x1b", "[", "O"]]
        {
            let mut keys = Keys::new(Lines::Raw);
            let found: Vec<Key> = pieces.iter().flat_map(|piece| keys.feed(piece.as_bytes())).collect();
            assert_eq!(found, [Key::Char('a'), Key::FocusIn, Key::Char('b'), Key::FocusOut], "{pieces:?}");
        }
        // Within a paste it is text of somebody, without its control character.
        assert_eq!(Keys::new(Lines::Raw).feed(b"\x1b[200~\x1b[O\x1b[201~"), [Key::Paste("[O".to_owned())]);
        let typed = crate::typed([&b"a\x1b[I"[..], b"b\x1b", b"[O", b"c"], 80, 24);
        assert_eq!(typed.text, "abc");
    }

    #[test]
    fn a_line_of_a_terminal_that_edits_itself_ends_with_enter() {
        assert_eq!(Keys::new(Lines::Cooked).feed(b"y\n"), [Key::Char('y'), Key::Enter]);
    }

    #[test]
    fn a_paste_without_end_is_bounded_and_so_is_a_sequence() {
        let mut keys = Keys::new(Lines::Raw);
        keys.feed(b"\x1b[200~");
        for _ in 0..40 {
            keys.feed(&[b'x'; 64 << 10]);
        }
        assert!(keys.pending.len() + keys.paste.as_ref().map_or(0, Vec::len) <= MAX_PASTE + PASTE_ENDS.len());
        assert_eq!(keys.feed(b"\x1b[201~a"), [Key::LongPaste, Key::Char('a')], "nothing of it is kept");
        let mut keys = Keys::new(Lines::Raw);
        let most = [b"\x1b[200~".as_slice(), &[b'x'; MAX_PASTE], PASTE_ENDS].concat();
        assert_eq!(keys.feed(&most), [Key::Paste("x".repeat(MAX_PASTE))]);
        let mut keys = Keys::new(Lines::Raw);
        (0..100).for_each(|_| drop(keys.feed(&[b';'; 100].map(|_| b'1'))));
        keys.feed(b"\x1b]");
        (0..100).for_each(|_| drop(keys.feed(&[b'1'; 100])));
        assert!(keys.pending.len() <= MAX_SEQUENCE);
    }

    #[test]
    fn terminal_sequence_is_dropped_only_after_the_pause() {
        let (short, pause) = (ESCAPE - Duration::from_millis(1), ESCAPE);
        for (first, quiet, between, second, then) in [
            ("\u{1b}", short, None, "[A", vec![Key::Up]),
            ("\u{1b}", pause, Some(Key::Escape), "[A", vec![Key::Char('['), Key::Char('A')]),
            ("\u{1b}[2", short, None, "00~a\u{1b}[201~\r", vec![Key::Paste("a".to_owned()), Key::Enter]),
            ("\u{1b}[2", pause, None, "~", vec![Key::Char('~')]),
            // Within a paste nothing is dropped, however long it pauses.
            ("\u{1b}[200~a\u{1b}[20", pause, None, "1~\r", vec![Key::Paste("a".to_owned()), Key::Enter]),
        ] {
            let mut keys = Keys::new(Lines::Raw);
            assert_eq!(keys.feed(first.as_bytes()), [], "{first:?}");
            assert_eq!(keys.nothing_more(quiet), between, "{first:?}");
            assert_eq!(keys.feed(second.as_bytes()), then, "{first:?} {second:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference_and_nothing_panics(bytes in proptest::collection::vec(
            prop_oneof![Just(ESC), Just(b'['), Just(b'I'), Just(b'O'), Just(b';'), Just(b'2'), Just(b'0'), Just(b'~'), any::<u8>()], 0..60,
        ), at in 0usize..60) {
            let at = at.min(bytes.len());
            let mut whole = Keys::new(Lines::Raw);
            let mut parts = Keys::new(Lines::Raw);
            let (first, second) = bytes.split_at(at);
            let mut pieces = parts.feed(first);
            pieces.extend(parts.feed(second));
            prop_assert_eq!(whole.feed(&bytes), pieces);
        }
    }
}
