//! The front matter of files that were written for other agents: skills and commands.
//!
//! Read as YAML, with keys that mean nothing here left alone. Where it is not YAML because a value has a colon or
//! brackets in it, as in `argument-hint: [pr] [reviewer]`, which other agents take, each value is read as plain text
//! instead.
//!
//! Deliberately not here: what the keys mean, and the strict front matter of an agent (`host-agent`).

use host_agent::read_front_matter;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The line before and after the front matter.
const FENCE: &str = "---";

/// A value that is one text or a list of texts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One text, in which the parts are separated by blanks or commas.
    One(String),
    /// A list.
    Many(Vec<String>),
}

/// The first fault of a front matter, in one line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct FrontMatterError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong there.
    pub fault: String,
}

/// Reads the front matter of a file and returns it with the text behind it.
///
/// # Errors
///
/// With the first fault, in one line.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<(T, String), FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match read_front_matter::<T>(text) {
        Ok((front, body)) => Ok((front, body.to_owned())),
        Err((line, fault)) => match read_front_matter::<T>(&with_plain_values(text)) {
            Ok((front, body)) => Ok((front, body.to_owned())),
            Err(_) => Err(FrontMatterError { line, fault: fault.to_string() }),
        },
    }
}

/// Returns whether the text begins with front matter.
pub(crate) fn is_there(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == FENCE)
}

/// The same text with each value of the front matter in quotes that is on the line of its key.
fn with_plain_values(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 64);
    let mut fences = 0;
    for line in text.split_inclusive('\n') {
        if fences < 2 && line.trim_end() == FENCE {
            fences += 1;
        } else if fences == 1
            && let Some(line) = with_plain_value(line)
        {
            quoted.push_str(&line);
            continue;
        }
        quoted.push_str(line);
    }
    quoted
}

fn with_plain_value(line: &str) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let value = value.trim();
    let is_plain =
        !value.is_empty() && !value.starts_with(['"', '\'', '|', '>', '#']) && value.parse::<bool>().is_err();
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    (is_key && is_plain).then(|| format!("{key}: \"{escaped}\"\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let (front, body) = read::<BTreeMap<String, String>>(text).expect("it can be read");
        let read: Vec<(&str, &str)> = front.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!((read.as_slice(), body.as_str()), (expected, "body\n"), "{text}");
    }

    #[test]
    fn front_matter_of_other_agents_is_read_though_it_is_not_yaml() {
        check("---\na: b\n---\nbody\n", &[("a", "b")]);
        check("\u{feff}---\r\na: b\r\n---\r\nbody\n", &[("a", "b")]);
        check(
            "---\na: Use this when: asked \"now\"\nb: 'x: y'\n---\nbody\n",
            &[("a", "Use this when: asked \"now\""), ("b", "x: y")],
        );
        check("---\na: [pr-number] [priority]\n---\nbody\n", &[("a", "[pr-number] [priority]")]);
        check("---\na: |\n  x: y\n  z\n---\nbody\n", &[("a", "x: y\nz\n")]);
    }

    #[test]
    fn front_matter_without_an_end_or_with_anchors_is_an_error() {
        for (text, expected) in [
            ("body", "line 1: the file does not begin with a line `---`"),
            ("---\na: b\n", "line 1: the front matter is not closed by a second line `---`"),
        ] {
            let error = read::<BTreeMap<String, String>>(text).expect_err("it is invalid");
            assert_eq!(error.to_string(), expected);
        }
        assert!(is_there("---\n") && !is_there("--- a\n") && !is_there(""));
        let bomb = "---\na: &a [x, x]\nb: [*a, *a]\n---\n";
        assert!(read::<BTreeMap<String, Vec<Vec<String>>>>(bomb).is_err());
    }
}
