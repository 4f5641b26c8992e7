//! What keys send to the program on a terminal, as xterm has it.

use crate::bindings::background::Input;

/// The escape character, with which most keys begin.
const ESCAPE: u8 = 0x1b;

/// Returns what is sent for something that is typed. `has_application_keys` is whether the program asked for the other
/// form of the arrow keys.
///
/// # Errors
///
/// If it names no key; says which one.
pub(super) fn sent(input: &Input, has_application_keys: bool) -> Result<Vec<u8>, String> {
    match input {
        // What Enter sends: programs that read keys take a line feed for another one.
        Input::Text(text) => Ok(text.replace("\r\n", "\r").replace('\n', "\r").into_bytes()),
        Input::Key(name) => key(name, has_application_keys).ok_or_else(|| {
            let name = host_text::excerpt(name, 40);
            format!("`{name}` is no key: they are called as `enter`, `up`, `f1`, `ctrl-c` and `alt-x`")
        }),
    }
}

/// The keys that are held down.
#[derive(Clone, Copy, Default)]
struct Held {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Held {
    /// The number by which a sequence names them.
    fn number(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }
}

fn key(name: &str, has_application_keys: bool) -> Option<Vec<u8>> {
    let (mut held, mut rest) = (Held::default(), name);
    while let Some((first, then)) = rest.split_once('-').filter(|(_, then)| !then.is_empty()) {
        match first {
            "ctrl" => held.ctrl = true,
            "alt" => held.alt = true,
            "shift" => held.shift = true,
            // A dash in the name of a key.
            _ => break,
        }
        rest = then;
    }
    let mut characters = rest.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => character(only, held),
        (Some(_), Some(_)) => named(rest, held, has_application_keys),
        (None, _) => None,
    }
}

fn character(character: char, held: Held) -> Option<Vec<u8>> {
    let character = if held.shift { character.to_uppercase().next()? } else { character };
    let mut sent = if held.alt { vec![ESCAPE] } else { Vec::new() };
    if held.ctrl {
        sent.push(match character.to_ascii_uppercase() {
            ' ' => 0,
            '?' => 0x7f,
            other @ '@'..='_' => u8::try_from(other).ok()? & 0x1f,
            _ => return None,
        });
    } else {
        sent.extend(character.to_string().bytes());
    }
    Some(sent)
}

fn named(name: &str, held: Held, has_application_keys: bool) -> Option<Vec<u8>> {
    let plain = |byte: u8| Some(if held.alt { vec![ESCAPE, byte] } else { vec![byte] });
    let number = held.number();
    // `ESC [ A`, `ESC O A` where the program asked for that, and `ESC [ 1 ; 5 A` with keys held down.
    let lettered = |letter: char, form: char| match number {
        1 => Some(format!("\x1b{form}{letter}").into_bytes()),
        _ => Some(format!("\x1b[1;{number}{letter}").into_bytes()),
    };
    let numbered = |key: u8| match number {
        1 => Some(format!("\x1b[{key}~").into_bytes()),
        _ => Some(format!("\x1b[{key};{number}~").into_bytes()),
    };
    let arrow = if has_application_keys { 'O' } else { '[' };
    match name {
        "enter" => plain(b'\r'),
        "tab" if held.shift => Some(b"\x1b[Z".to_vec()),
        "tab" => plain(b'\t'),
        "escape" => plain(ESCAPE),
        "backspace" => plain(0x7f),
        "space" => character(' ', held),
        "up" => lettered('A', arrow),
        "down" => lettered('B', arrow),
        "right" => lettered('C', arrow),
        "left" => lettered('D', arrow),
        "home" => lettered('H', arrow),
        "end" => lettered('F', arrow),
        "insert" => numbered(2),
        "delete" => numbered(3),
        "page-up" => numbered(5),
        "page-down" => numbered(6),
        _ => match name.strip_prefix('f')?.parse().ok()? {
            1 => lettered('P', 'O'),
            2 => lettered('Q', 'O'),
            3 => lettered('R', 'O'),
            4 => lettered('S', 'O'),
            function @ 5_u8..=12 => numbered(*[15, 17, 18, 19, 20, 21, 23, 24].get(usize::from(function) - 5)?),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expected: &str) {
        let sent = sent(&Input::Key(key.to_owned()), false).expect("it is a key");
        assert_eq!(String::from_utf8_lossy(&sent), expected, "{key}");
    }

    #[test]
    fn keys_send_what_a_terminal_sends() {
        for (key, expected) in [
            ("enter", "\r"),
            ("tab", "\t"),
            ("shift-tab", "\x1b[Z"),
            ("escape", "\x1b"),
            ("backspace", "\x7f"),
            ("alt-backspace", "\x1b\x7f"),
            ("space", " "),
            ("ctrl-space", "\0"),
            ("ctrl-c", "\x03"),
            ("ctrl-C", "\x03"),
            ("ctrl-d", "\x04"),
            ("ctrl-[", "\x1b"),
            ("ctrl-_", "\x1f"),
            ("alt-x", "\x1bx"),
            ("shift-x", "X"),
            ("-", "-"),
            ("alt--", "\x1b-"),
            ("q", "q"),
            ("é", "é"),
            ("up", "\x1b[A"),
            ("ctrl-left", "\x1b[1;5D"),
            ("ctrl-shift-end", "\x1b[1;6F"),
            ("delete", "\x1b[3~"),
            ("page-up", "\x1b[5~"),
            ("ctrl-page-down", "\x1b[6;5~"),
            ("f1", "\x1bOP"),
            ("f5", "\x1b[15~"),
            ("f12", "\x1b[24~"),
            ("shift-f4", "\x1b[1;2S"),
        ] {
            check(key, expected);
        }
        assert_eq!(sent(&Input::Key("up".to_owned()), true), Ok(b"\x1bOA".to_vec()));
        assert_eq!(sent(&Input::Text("a\nb\r\nc".to_owned()), true), Ok(b"a\rb\rc".to_vec()));
    }

    #[test]
    fn keys_that_do_not_exist_are_named() {
        for name in ["", "ctrl-", "ctrl-é", "ctrl-1", "f0", "f13", "f256", "Enter", "hyper-x", "page-left", "ab"] {
            let why = sent(&Input::Key(name.to_owned()), false).expect_err(name);
            assert!(why.starts_with(&format!("`{name}` is no key")), "{why}");
        }
    }
}
