//! A number with its noun.

use std::fmt::Display;

/// Formats a number with its noun: `1 turn`, `2 turns`; for nouns that take an `s` in the plural.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_noun_is_singular_for_one_only() {
        for (number, text) in [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (11, "11 turns")] {
            assert_eq!(counted(number, "turn"), text);
        }
        assert_eq!(counted(1_u64, "subagent"), "1 subagent");
    }
}
