//! Counted nouns: "1 turn", "2 turns".

use std::fmt::Display;

/// Formats the number and its noun, with an `s` unless it is one.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let s = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Formats the number and its noun, for a plural that needs more than an `s`.
pub fn counted_of(number: impl Display, one: &str, many: &str) -> String {
    let number = number.to_string();
    let noun = if number == "1" { one } else { many };
    format!("{number} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_noun_is_singular_for_one_only() {
        for (number, want) in [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (11, "11 turns")] {
            assert_eq!(counted(number, "turn"), want);
        }
        assert_eq!(
            (counted_of(1, "match", "matches"), counted_of(2, "match", "matches")),
            ("1 match".into(), "2 matches".into())
        );
    }
}
