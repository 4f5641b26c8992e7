//! Each class of unsafe characters is escaped, ordinary writing is not, and the laws of escaping.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// One character of each unsafe class.
const CLASSES: &[(&str, char)] = &[
    ("escape", '\u{1b}'),
    ("carriage return", '\r'),
    ("delete", '\u{7f}'),
    ("C1 control", '\u{9b}'),
    ("soft hyphen", '\u{ad}'),
    ("grapheme joiner", '\u{34f}'),
    ("Arabic letter mark", '\u{61c}'),
    ("Hangul filler", '\u{3164}'),
    ("zero-width space", '\u{200b}'),
    ("zero-width non-joiner", '\u{200c}'),
    ("zero-width joiner", '\u{200d}'),
    ("direction mark", '\u{200f}'),
    ("line separator", '\u{2028}'),
    ("direction override", '\u{202e}'),
    ("word joiner", '\u{2060}'),
    ("invisible separator", '\u{2063}'),
    ("direction isolate", '\u{2066}'),
    ("variation selector", '\u{fe0f}'),
    ("byte order mark", '\u{feff}'),
    ("interlinear annotation", '\u{fff9}'),
    ("tag", '\u{e0041}'),
    ("variation selector supplement", '\u{e0101}'),
];

// promise plugin.terminal: Text of others reaches a terminal with each character escaped that could hide or steer.
#[test]
fn text_each_class_of_unsafe_characters_is_escaped() {
    for (class, c) in CLASSES {
        let code: String = c.escape_default().collect();
        for newlines in [Newlines::Keep, Newlines::Escape] {
            assert_eq!(escape(&format!("a{c}b"), newlines), format!("a{code}b"), "{class}");
            assert_eq!(escape_exact(&format!("a{c}b"), newlines), format!("a{code}b"), "{class}");
        }
        assert_eq!(excerpt(&format!("a{c}b"), 100), format!("a{code}b"), "{class}");
        assert!(!is_plain(&format!("a{c}b"), 100), "{class}");
    }
}

#[test]
fn text_newlines_stay_or_are_escaped() {
    for act in [escape, escape_exact] {
        assert_eq!(act("a\n\tb", Newlines::Keep), "a\n\tb");
        assert_eq!(act("a\n\tb", Newlines::Escape), "a\\n\\tb");
        assert_eq!(act("a\r\nb", Newlines::Keep), "a\\r\nb");
    }
}

#[test]
fn text_ordinary_writing_stays_as_it_is() {
    for text in [
        "plain `code` \\ \"quoted\" 'x'",
        "größe Ελλάδα Київ שלום العربية",
        "نمی‌خواهم کتاب‌ها",
        "क्‍ष हिन्दी ശ്രീ ന്‍ ไทย ខ្មែរ မြန်မာ",
        "ᠠ᠋ ᠨ᠎ᠠ",
        "漢字 かな 한국어 「、」\u{3000}。",
        "12\u{a0}000\u{202f}€ – “quoted”",
        "👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ ❤️‍🔥 👍🏽 🇩🇪 1️⃣ #️⃣ ©️ 🧑🏻‍🤝‍🧑🏿 ☎︎",
        "│ ├── └ ⠋ █ ✓",
    ] {
        assert!(
            matches!(escape(text, Newlines::Escape), Cow::Borrowed(_)) || escape(text, Newlines::Escape) == text,
            "{text}"
        );
    }
}

#[test]
fn text_joiners_and_selectors_stay_only_where_they_shape_what_is_seen() {
    for (text, shown) in [
        ("👩\u{200d}\u{200d}💻", "👩\\u{200d}\\u{200d}💻"),
        ("👩\u{200d}", "👩\\u{200d}"),
        ("👩\u{200d}x", "👩\\u{200d}x"),
        ("x\u{200d}👩", "x\\u{200d}👩"),
        ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
        ("1\u{fe0f}", "1\\u{fe0f}"),
        ("1\u{fe0f}2", "1\\u{fe0f}2"),
        ("a\u{fe0f}", "a\\u{fe0f}"),
        ("ب\u{200c}\u{200c}ب", "ب\\u{200c}\\u{200c}ب"),
        ("ب\u{200c} ب", "ب\\u{200c} ب"),
        ("ب\u{200d}\u{200d}", "ب\u{200d}\\u{200d}"),
        ("葛\u{e0100}", "葛\\u{e0100}"),
        ("🏴\u{e0067}\u{e007f}", "🏴\\u{e0067}\\u{e007f}"),
    ] {
        assert_eq!(escape(text, Newlines::Escape), shown, "{text:?}");
    }
}

#[test]
fn text_exact_shows_what_looks_like_something_else() {
    for (text, shown) in [
        ("rm -rf a\u{a0}b", "rm -rf a\\u{a0}b"),
        ("a\u{3000}b\u{2800}", "a\\u{3000}b\\u{2800}"),
        ("👩\u{200d}💻 ❤\u{fe0f}", "👩\\u{200d}💻 ❤\\u{fe0f}"),
        ("\u{301}a", "\\u{301}a"),
        ("e\u{301}", "e\u{301}"),
        ("/\u{338}", "/\\u{338}"),
        ("\u{e000}", "\\u{e000}"),
        ("prüfer 检查 हिन्दी 👍.md", "prüfer 检查 हिन्दी 👍.md"),
    ] {
        assert_eq!(escape_exact(text, Newlines::Escape), shown, "{text:?}");
    }
    let many = format!("e{}", "\u{301}".repeat(100));
    assert!(escape_exact(&many, Newlines::Escape).contains("\\u{301}"));
}

#[test]
fn text_first_escaped_character_is_found() {
    for (text, newlines, first) in [
        ("", Newlines::Escape, None),
        ("a \\u{200b} b", Newlines::Escape, None),
        ("❤\u{fe0f} 👩\u{200d}💻", Newlines::Escape, None),
        ("a\u{200d}b\u{ad}", Newlines::Escape, Some('\u{200d}')),
        ("a\nb\u{ad}", Newlines::Escape, Some('\n')),
        ("a\nb\u{ad}", Newlines::Keep, Some('\u{ad}')),
        ("👩\u{200d}", Newlines::Keep, Some('\u{200d}')),
    ] {
        assert_eq!(first_escaped(text, newlines), first, "{text:?}");
    }
}

#[test]
fn text_excerpts_are_cut_after_escaping() {
    for (text, most, shown) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc… (cut)"),
        ("a\u{200b}", 8, "a… (cut)"),
        ("a\u{200b}", 9, "a\\u{200b}"),
        ("", 0, ""),
    ] {
        assert_eq!(excerpt(text, most), shown);
    }
    assert_eq!(escape_name("a`: harmless", 60), "a\\u{60}: harmless");
    assert_eq!(excerpt("a`b", 60), "a`b");
    assert!(is_plain("abc", 3) && !is_plain("abcd", 3));
}

#[test]
fn text_one_line_collapses_blanks_and_escapes_the_rest() {
    for (text, shown) in [
        ("", ""),
        ("  plain \n\n words\u{2028} ", "plain words"),
        ("\u{1b}[31mred\u{1b}[0m", "\\u{1b}[31mred\\u{1b}[0m"),
        ("größe 😀", "größe 😀"),
    ] {
        assert_eq!(one_line(text, 600), shown);
    }
    assert_eq!(one_line(&"ä".repeat(1_000_000), 3), "äää… (cut)");
    assert_eq!(one_line(&"ä ".repeat(1_000_000), 3), "ä ä… (cut)");
}

/// Generates text full of characters that escaping has to handle.
fn hostile() -> impl Strategy<Value = String> {
    let special: Vec<char> =
        CLASSES.iter().map(|(_, c)| *c).chain("👩💻❤1⃣#بکनक्ᠠ᠋\n\t \u{301}\u{a0}ae`\\🇩".chars()).collect();
    proptest::collection::vec(prop_oneof![4 => proptest::sample::select(special), 1 => any::<char>()], 0..24)
        .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    // promise plugin.terminal
    #[test]
    fn text_escaped_prose_has_no_unsafe_character_left(text in hostile()) {
        let shown = escape(&text, Newlines::Escape).into_owned();
        // Unicode's own classes define what may stay, not the tables of this crate.
        static ORDINARY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            [
            r"\p{So}[\u{1f3fb}-\u{1f3ff}]?[\u{fe0e}\u{fe0f}]?(\u{200d}[\p{So}\p{Sk}\p{Cn}\p{S}\p{Pd}\p{Po}ℹ][\u{1f3fb}-\u{1f3ff}]?[\u{fe0e}\u{fe0f}]?)*",
            r"[\p{S}\p{Cn}\p{Pd}\p{Po}ℹ][\u{fe0e}\u{fe0f}]?(\u{200d}[\p{S}\p{Cn}\p{Pd}\p{Po}ℹ][\u{fe0e}\u{fe0f}]?)*",
            r"[0-9#*][\u{fe0e}\u{fe0f}]\u{20e3}",
            r"[\p{L}\p{M}][\u{180b}-\u{180f}]?(\u{200c}([\p{L}\p{M}])|\u{200d})?",
            ].iter().map(|pattern| Regex::new(pattern).expect("a pattern")).collect()
        });
        let mut rest = shown.clone();
        // Twice, since a letter can both follow a joiner and precede the next one.
        for _ in 0..2 {
            for pattern in ORDINARY.iter() {
                rest = pattern.replace_all(&rest, "$2").into_owned();
            }
        }
        prop_assert!(!rest.contains(is_unsafe), "{:?} of {:?}", rest, shown);
        prop_assert_eq!(escape(&shown, Newlines::Escape), shown.as_str());
    }

    #[test]
    fn text_escaped_exactly_has_no_unsafe_character_left(text in hostile()) {
        let shown = escape_exact(&text, Newlines::Escape);
        prop_assert!(!shown.contains(is_unsafe), "{:?}", shown);
        prop_assert_eq!(escape_exact(&shown, Newlines::Escape), shown.clone());
        prop_assert!(!excerpt(&text, 20).contains(is_unsafe));
        prop_assert!(!escape_name(&text, 20).contains(|c| is_unsafe(c) || c == '`'));
        prop_assert_eq!(is_plain(&text, 60), excerpt(&text, 60) == text);
        // An exact text is prose as well.
        prop_assert_eq!(escape(&shown, Newlines::Escape), shown.clone());
    }

    #[test]
    fn text_escaped_in_pieces_is_the_text_escaped_at_once(text in hostile(), at in 0usize..24) {
        let middle = text.char_indices().nth(at).map_or(text.len(), |(middle, _)| middle);
        let mut escaper = Escaper::new(Newlines::Keep);
        let pieces = escaper.push(&text[..middle]) + &escaper.push(&text[middle..]) + &escaper.finish();
        prop_assert_eq!(pieces, escape(&text, Newlines::Keep));
    }
}

#[test]
fn json_is_escaped_as_json_has_it() {
    for (json, expected) in [
        ("{\n\t\"a\": \"ä 😀\"\n}", "{\n\t\"a\": \"ä 😀\"\n}"),
        ("\"\u{9b}\u{7f}x\u{202e}\"", "\"\\u009b\\u007fx\\u202e\""),
        ("{\"a\u{200b}\": \"\u{e0041}\"}", "{\"a\\u200b\": \"\\udb40\\udc41\"}"),
    ] {
        assert_eq!(escape_json(json), expected, "{json:?}");
    }
}
