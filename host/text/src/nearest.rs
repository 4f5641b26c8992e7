//! The known name that was probably meant by an unknown one, by the distance of Damerau and Levenshtein.

use std::fmt::Display;

/// How many characters of a name are compared: protects against an endless name, since the time grows with the square
/// of its length.
const COMPARED: usize = 128;

/// The fewest characters of a name that are searched for within another one.
const PART: usize = 3;

/// Returns the nearest of the known names, if it is near enough to be a typo: at most a third of its letters differ, or
/// it contains the wanted name.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(wanted, known, 1).pop()
}

/// Returns the distance between a name and the wanted one.
pub fn distance(wanted: &str, name: &str) -> usize {
    strsim::damerau_levenshtein(compared(wanted), compared(name))
}

/// Returns up to `most` of the known names that are near enough by the rule of [`nearest`], the nearest first.
pub fn nearest_few<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let length = compared(wanted).chars().count();
    let near = length.max(3).div_ceil(3);
    let is_part = |name: &str| length >= PART && name.contains(compared(wanted));
    // Of two equally near names, the one of the same length has letters exchanged, not missing.
    let distances = known.into_iter().map(|name| (distance(wanted, name), name.len().abs_diff(wanted.len()), name));
    // A name that contains the wanted one is further away by its additional letters.
    let mut found: Vec<_> = distances.filter(|(distance, _, name)| *distance <= near || is_part(name)).collect();
    found.sort_unstable();
    found.into_iter().take(most).map(|(_, _, name)| name).collect()
}

/// Returns the help for a misspelled name: ``did you mean `read_file`?``; `None` if no name is near.
pub fn suggestion<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    did_you_mean(nearest(wanted, known))
}

/// Returns the help for a misspelled name, with the command that lists all: ``did you mean `build`? `host agent list`
/// lists them``.
pub fn name_help<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, all: &str) -> String {
    match suggestion(wanted, known) {
        Some(suggestion) => format!("{suggestion} {all}"),
        None => all.to_owned(),
    }
}

/// Returns the question for these names: ``did you mean `a`, `b` or `c`?``; `None` without any.
pub fn did_you_mean(names: impl IntoIterator<Item = impl Display>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        [first @ .., last] => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

/// Returns the name that one of our parsers expected instead of an unknown one, from its message: serde writes
/// ``unknown field `modle`, expected one of `model`, `mode` ``.
pub fn expected_instead(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown ")?;
    let mut words = rest.split('`').skip(1).step_by(2);
    let unknown = words.next()?;
    nearest(unknown, words)
}

/// Returns the message of one of our parsers with types as users know them: serde names those of Rust.
pub fn with_plain_types(message: &str) -> String {
    const WHOLE: [&str; 10] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];
    let plain = WHOLE.map(|name| (name, "a whole number")).into_iter();
    let plain = plain.chain([("f32", "a number"), ("f64", "a number"), ("a sequence", "a list"), ("a map", "a table")]);
    plain.fold(message.to_owned(), |text, (name, words)| {
        text.replace(&format!("expected {name}"), &format!("expected {words}"))
    })
}

fn compared(name: &str) -> &str {
    name.char_indices().nth(COMPARED).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_nearest_name_is_suggested_if_it_is_near() {
        for (wanted, known, want) in [
            ("hlep", &["help", "exit"][..], Some("help")),
            ("read_fil", &["write_file", "read_file"], Some("read_file")),
            ("tol", &["tool", "mode"], Some("tool")),
            ("investigator", &["build", "codebase_investigator"], Some("codebase_investigator")),
            ("weather", &["help", "exit"], None),
            ("a", &[], None),
            ("", &["x"], Some("x")),
        ] {
            assert_eq!(nearest(wanted, known.iter().copied()), want, "{wanted}");
        }
        assert_eq!(suggestion("hlep", ["help"]).as_deref(), Some("did you mean `help`?"));
        assert_eq!(did_you_mean(["a", "b", "c"]).as_deref(), Some("did you mean `a`, `b` or `c`?"));
        assert_eq!(did_you_mean([""; 0]), None);
        assert_eq!(name_help("hlep", ["help"], "`x list` lists them"), "did you mean `help`? `x list` lists them");
        assert_eq!(name_help("weather", ["help"], "`x list` lists them"), "`x list` lists them");
    }

    #[test]
    fn text_types_of_a_parsers_message_are_those_that_users_know() {
        for (message, want) in [
            ("invalid type: string \"many\", expected i64", "invalid type: string \"many\", expected a whole number"),
            ("invalid type: map, expected a sequence\n", "invalid type: map, expected a list\n"),
            ("invalid type: integer `1`, expected a string", "invalid type: integer `1`, expected a string"),
        ] {
            assert_eq!(with_plain_types(message), want);
        }
    }

    #[test]
    fn text_nearest_names_are_few_and_in_order() {
        assert_eq!(nearest_few("abcde", ["a", "ab", "abc", "abcd", "abcdef"], 3), ["abcd", "abcdef", "abc"]);
        assert_eq!(nearest_few("grpe", ["edit", "glob", "grep"], 3), ["grep"]);
        assert!(nearest_few(&"x".repeat(1_000_000), ["a"], 3).is_empty());
        assert!(nearest_few("a", [], 3).is_empty());
    }

    #[test]
    fn text_nearest_name_is_found_in_a_parsers_message() {
        for (message, want) in [
            ("unknown field `modle`, expected one of `model`, `mode`", Some("model")),
            ("unknown variant `alow`, expected `allow` or `deny`", Some("allow")),
            ("unknown field `x`, there are no fields", None),
            ("invalid type: string \"a\", expected a map", None),
        ] {
            assert_eq!(expected_instead(message), want, "{message}");
        }
    }
}
