//! The known name that was probably meant by an unknown one, by the distance of Damerau and Levenshtein.

/// How many characters of a name are compared: protects from a name without end, whose distance takes its length
/// squared.
const COMPARED: usize = 128;

/// The nearest of the known names, if it is near enough to be a slip: a third of its letters or fewer differ.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = compared(wanted);
    let near = wanted.chars().count().max(3).div_ceil(3);
    let distances = known.into_iter().map(|name| (distance(wanted, name), name));
    distances.filter(|(distance, _)| *distance <= near).min().map(|(_, name)| name)
}

/// Up to `most` of the known names, the nearest first, however far they are.
pub fn nearest_few<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = compared(wanted);
    let mut all: Vec<(usize, &str)> = known.into_iter().map(|name| (distance(wanted, name), name)).collect();
    all.sort_unstable();
    all.into_iter().take(most).map(|(_, name)| name).collect()
}

/// The help for a misspelled name: ``did you mean `read_file`?``
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(wanted, known).map(|name| format!("did you mean `{name}`?"))
}

/// The name that a parser of ours expected instead of an unknown one, out of its message: serde writes
/// ``unknown field `modle`, expected one of `model`, `mode` ``.
pub fn expected_instead(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown ")?;
    let mut words = rest.split('`').skip(1).step_by(2);
    let unknown = words.next()?;
    nearest(unknown, words)
}

fn compared(name: &str) -> &str {
    name.char_indices().nth(COMPARED).map_or(name, |(end, _)| &name[..end])
}

fn distance(wanted: &str, name: &str) -> usize {
    strsim::damerau_levenshtein(wanted, compared(name))
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
            ("weather", &["help", "exit"], None),
            ("a", &[], None),
            ("", &["x"], Some("x")),
        ] {
            assert_eq!(nearest(wanted, known.iter().copied()), want, "{wanted}");
        }
        assert_eq!(did_you_mean("hlep", ["help"]).as_deref(), Some("did you mean `help`?"));
    }

    #[test]
    fn text_nearest_names_are_few_and_in_order() {
        assert_eq!(nearest_few("abcde", ["a", "ab", "abc", "abcd"], 3), ["abcd", "abc", "ab"]);
        assert_eq!(nearest_few(&"x".repeat(1_000_000), ["a"], 3), ["a"]);
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
