//! Patterns: regular expressions as JavaScript writes them, run by an engine that takes linear time.
//!
//! JSON Schema means ECMA-262 with the `u` flag. What the `regex` crate reads differently is rewritten: `\d`, `\w` and
//! `\b` are ASCII, `\s` and `.` have their own sets, `\cX` is a control character, and in a class `[`, `&&`, `--` and
//! `~~` mean themselves. A pattern that looks around or back needs backtracking and is an error.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// The size of program that suffices for nearly every pattern, in bytes. The cost of matching each byte of a text grows
/// with it.
const SMALL_BYTES: usize = 64 * 1024;

/// The largest program that a pattern may have, in bytes. Protects memory from a hostile schema.
const LARGE_BYTES: usize = 1024 * 1024;

/// The longest pattern, in bytes.
const SOURCE_BYTES: usize = 16 * 1024;

/// How many patterns a schema may have.
const PATTERNS: usize = 500;

/// How many of them may be large.
const LARGE_PATTERNS: usize = 8;

/// How many bytes are matched in one step of a check, with a small and with a large pattern. A pattern can make the
/// engine visit each of its states for each byte.
const SMALL_STRIDE: usize = 4;
const LARGE_STRIDE: usize = 1;

const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    source: String,
    stride: usize,
}

/// The patterns of one schema, each compiled once.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: std::collections::HashMap<String, Pattern>,
    large: usize,
}

impl Patterns {
    /// Compiles a pattern; the error says why it is invalid.
    pub(crate) fn compile(&mut self, source: &str) -> Result<Pattern, String> {
        if let Some(pattern) = self.compiled.get(source) {
            return Ok(pattern.clone());
        }
        if source.len() > SOURCE_BYTES {
            return Err(format!("the pattern has {} bytes, and may have {SOURCE_BYTES}", source.len()));
        }
        if self.compiled.len() == PATTERNS {
            return Err(format!("it is one of more than {PATTERNS} patterns"));
        }
        let translated = translated(source);
        let (regex, stride) = match build(&translated, SMALL_BYTES) {
            Err(regex::Error::CompiledTooBig(_)) if self.large < LARGE_PATTERNS => {
                (build(&translated, LARGE_BYTES), LARGE_STRIDE)
            }
            built => (built, SMALL_STRIDE),
        };
        let regex = regex.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern is too large once compiled".to_owned(),
            error => error.to_string(),
        })?;
        self.large += usize::from(stride == LARGE_STRIDE);
        let pattern = Pattern { regex, source: source.to_owned(), stride };
        self.compiled.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the steps that matching a text takes.
    pub(crate) fn steps(&self, text: &str) -> u32 {
        u32::try_from(text.len() / self.stride).unwrap_or(u32::MAX)
    }

    /// Returns the pattern as it is in the schema.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

fn build(pattern: &str, bytes: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(bytes).dfa_size_limit(LARGE_BYTES).build()
}

/// Translates a pattern to the syntax of the `regex` crate. Unknown syntax is kept, for that crate to reject.
fn translated(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => text.push_str(&escape(&mut rest, Place::Outside)),
            '.' => text.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '[' => class(&mut rest, &mut text),
            _ => text.push(character),
        }
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Class,
}

/// Translates the escape whose backslash has just been read.
fn escape(rest: &mut std::str::Chars<'_>, place: Place) -> String {
    let Some(character) = rest.next() else { return "\\".to_owned() };
    let set = |set: &str, negated: bool| format!("[{}{set}]", if negated { "^" } else { "" });
    match character {
        'd' | 'D' => set("0-9", character == 'D'),
        'w' | 'W' => set(WORD, character == 'W'),
        's' | 'S' => set(SPACE, character == 'S'),
        'b' if place == Place::Class => r"\x08".to_owned(),
        'b' => r"(?-u:\b)".to_owned(),
        'B' if place == Place::Outside => r"(?-u:\B)".to_owned(),
        '0' if !rest.as_str().starts_with(|next: char| next.is_ascii_digit()) => r"\x00".to_owned(),
        'c' if rest.as_str().starts_with(|next: char| next.is_ascii_alphabetic()) => {
            let letter = rest.next().map_or(0, |letter| u32::from(letter) % 32);
            format!(r"\x{letter:02x}")
        }
        'u' if !rest.as_str().starts_with('{') => surrogates(rest),
        // The crate reads these as anchors, word boundaries and a bell.
        'A' | 'z' | 'a' | '<' | '>' => regex::escape(&character.to_string()),
        _ => format!("\\{character}"),
    }
}

/// Reads `\uXXXX`, or a surrogate pair.
fn surrogates(rest: &mut std::str::Chars<'_>) -> String {
    let unit = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(rest.as_str()) else { return r"\u".to_owned() };
    let second = rest.as_str().get(4..).and_then(|text| text.strip_prefix("\\u")).and_then(unit);
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    let (character, digits) = match pair {
        Some(pair) if u32::from(pair) > 0xffff => (u32::from(pair), 10),
        _ => (u32::from(first), 4),
    };
    rest.nth(digits - 1);
    format!("\\u{{{character:x}}}")
}

/// Translates a class whose bracket has just been read. The crate has operators and nested classes; here they are
/// members.
fn class(rest: &mut std::str::Chars<'_>, text: &mut String) {
    let negated = rest.as_str().starts_with('^');
    if negated {
        rest.next();
    }
    if rest.as_str().starts_with(']') {
        rest.next();
        // `[]` matches nothing and `[^]` everything.
        text.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
        return;
    }
    text.push_str(if negated { "[^" } else { "[" });
    let mut range_may_follow = false;
    while let Some(character) = rest.next() {
        match character {
            ']' => {
                text.push(']');
                return;
            }
            '-' if range_may_follow && !rest.as_str().starts_with(']') => {
                text.push('-');
                let Some(end) = rest.next() else { return };
                member(end, rest, text);
                range_may_follow = false;
            }
            _ => {
                member(character, rest, text);
                range_may_follow = true;
            }
        }
    }
}

/// Translates one member of a class.
fn member(character: char, rest: &mut std::str::Chars<'_>, text: &mut String) {
    match character {
        '\\' => text.push_str(&escape(rest, Place::Class)),
        '[' | '&' | '~' | '-' | '^' => _ = write!(text, "\\{character}"),
        _ => text.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let pattern = Patterns::default().compile(pattern).expect("a good pattern");
        for text in matching {
            assert!(pattern.matches(text), "{} and {text:?}: {}", pattern.source(), pattern.regex);
        }
        for text in others {
            assert!(!pattern.matches(text), "{} and {text:?}: {}", pattern.source(), pattern.regex);
        }
    }

    #[test]
    fn pattern_means_what_javascript_means() {
        check(r"^\d+$", &["0123456789"], &["٣", ""]);
        check(r"^\w\W$", &["a-", "aä"], &["ä-", "ab"]);
        check(r"^[\d\-x]+$", &["1-x"], &["y"]);
        check(r"^[^\D]$", &["1"], &["a"]);
        check(r"^\s\S$", &["\u{feff}a", "\u{2003}a"], &["\u{85}a"]);
        check("^.$", &["a", "ä", "𝄞", "\u{85}"], &["\n", "\r", "\u{2028}"]);
        check(r"\bcat\b", &["a cat", "äcat"], &["cats"]);
        check(r"a\Bb", &["ab"], &["a b"]);
        check(r"^\cA\0$", &["\u{1}\0"], &["cA0"]);
        check(r"^\u0041\u{42}\x43\uD834\uDD1E$", &["ABC𝄞"], &["ABC"]);
        check(r"^\p{Lu}\P{Lu}$", &["Äa"], &["aA"]);
        check(r"^[a&&b]+$", &["a&b"], &["[", "c"]);
        check(r"^[[a]$", &["[", "a"], &["b", "]"]);
        check(r"^[+--]$", &["+", ",", "-"], &["."]);
        check(r"^[--/]$", &["-", ".", "/"], &["+"]);
        check(r"^[a-]$", &["a", "-"], &["b"]);
        check(r"^[a-c-e]$", &["b", "-", "e"], &["d"]);
        check(r"^[~~^]$", &["~", "^"], &["a"]);
        check(r"^[\b]$", &["\u{8}"], &["b"]);
        check(r"^\/\-\$\A$", &["/-$A"], &["/-$"]);
        check("^[^]$", &["a", "\n"], &[""]);
        check("[]", &[], &["", "a"]);
        check(r"^(?<year>\d{4})-(?:\d\d)$", &["2026-11"], &["26-11"]);
        check("a|b", &["xbx"], &["x"]);
        check("^$", &[""], &["\n"]);
    }

    // promise model.schema
    #[test]
    fn pattern_that_needs_backtracking_is_an_error() {
        for pattern in ["(?=a)", "(?<!a)b", r"(a)\1", r"\k<a>", "(", "[a", "a{2,1}", r"\", "[z-a]", r"\u12"] {
            Patterns::default().compile(pattern).expect_err(pattern);
        }
    }

    #[test]
    fn pattern_size_and_number_are_bounded() {
        let mut patterns = Patterns::default();
        patterns.compile(&"a".repeat(SOURCE_BYTES + 1)).expect_err("too long");
        patterns.compile("(((a{100}){100}){100})").expect_err("too large");
        for n in 0..LARGE_PATTERNS {
            patterns.compile(&format!(r"{n}\p{{L}}{{16}}")).expect("a large pattern");
        }
        patterns.compile(r"x\p{L}{16}").expect_err("one large pattern too many");
        for n in LARGE_PATTERNS..PATTERNS {
            patterns.compile(&n.to_string()).expect("a small pattern");
        }
        patterns.compile("one more").expect_err("one pattern too many");
        patterns.compile("9").expect("an earlier one is not compiled again");
    }
}
