//! Globs for a single name: `*`, `?`, `[a-z]`, `{a,b}`.
//!
//! Its own, since a glob library brings a regex engine and makes the component ten times as large; here there
//! is no path, no `**`, and no more than one name to match.

use host_sdk::Failure;

/// The longest glob, which bounds what a hostile one costs.
const MAX_GLOB: usize = 256;

/// How many alternatives `{a,b}` may unfold to, nested ones multiplied.
const MAX_ALTERNATIVES: usize = 64;

/// A glob for a single name.
pub(crate) struct NameGlob {
    alternatives: Vec<Vec<Piece>>,
}

#[derive(Debug, PartialEq)]
enum Piece {
    Literal(char),
    One,
    Any,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl NameGlob {
    /// Reads a glob. One slash at the end is allowed and means nothing, as `target/` is how people write it.
    pub(crate) fn new(glob: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::InvalidArguments(format!("`{glob}` is no glob for a name: {why}"));
        let text = glob.strip_suffix('/').unwrap_or(glob);
        if text.is_empty() || text.len() > MAX_GLOB {
            return Err(wrong("it is empty or too long"));
        }
        if text.contains('/') {
            return Err(wrong("it names a path"));
        }
        let unfolded = unfold(text).ok_or_else(|| wrong("its braces do not close or unfold to too much"))?;
        let alternatives = unfolded
            .iter()
            .map(|one| pieces(one).ok_or_else(|| wrong("its `[` does not close")))
            .collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Whether the whole name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        self.alternatives.iter().any(|pieces| matches(pieces, &name))
    }
}

/// Each alternative of the first group of braces put in its place, until there are none.
fn unfold(glob: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut waiting = vec![glob.to_owned()];
    while let Some(glob) = waiting.pop() {
        let Some((before, rest)) = glob.split_once('{') else {
            done.push(glob);
            continue;
        };
        let mut depth = 0_usize;
        let mut commas = vec![];
        let mut close = None;
        for (at, c) in rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    close = Some(at);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => commas.push(at),
                _ => {}
            }
        }
        let close = close?;
        let after = rest.get(close + 1..)?;
        let mut start = 0;
        for end in commas.into_iter().chain([close]) {
            waiting.push(format!("{before}{}{after}", rest.get(start..end)?));
            start = end + 1;
        }
        if done.len() + waiting.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

fn pieces(glob: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => Piece::Any,
            '?' => Piece::One,
            '\\' => Piece::Literal(chars.next()?),
            '[' => {
                let negated = chars.next_if(|&c| c == '!' || c == '^').is_some();
                let mut ranges = Vec::new();
                loop {
                    // A `]` directly after the `[` is meant, as in a shell.
                    let low = match chars.next()? {
                        ']' if !ranges.is_empty() => break,
                        low => low,
                    };
                    let high = match chars.next_if_eq(&'-') {
                        // A `-` at the end is meant too.
                        Some(_) if chars.peek() == Some(&']') => {
                            ranges.push(('-', '-'));
                            low
                        }
                        Some(_) => chars.next()?,
                        None => low,
                    };
                    ranges.push((low, high));
                }
                Piece::Class { negated, ranges }
            }
            c => Piece::Literal(c),
        });
    }
    Some(pieces)
}

/// Goes back to the last `*` alone, so the cost is at most the two lengths multiplied.
fn matches(pieces: &[Piece], name: &[char]) -> bool {
    let (mut piece, mut at) = (0, 0);
    let mut last_any = None;
    loop {
        let fits = match (pieces.get(piece), name.get(at)) {
            (None, None) => return true,
            (Some(Piece::Any), _) => {
                last_any = Some((piece, at));
                piece += 1;
                continue;
            }
            (Some(_), None) => return false,
            (None, Some(_)) => false,
            (Some(Piece::One), Some(_)) => true,
            (Some(Piece::Literal(literal)), Some(c)) => literal == c,
            (Some(Piece::Class { negated, ranges }), Some(c)) => {
                ranges.iter().any(|(low, high)| (low..=high).contains(&c)) != *negated
            }
        };
        if fits {
            (piece, at) = (piece + 1, at + 1);
        } else if let Some((any, from)) = last_any {
            last_any = Some((any, from + 1));
            (piece, at) = (any + 1, from + 1);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_whole_names() {
        let check = |glob: &str, yes: &[&str], no: &[&str]| {
            let Ok(parsed) = NameGlob::new(glob) else { panic!("{glob} is a glob") };
            yes.iter().for_each(|name| assert!(parsed.matches(name), "{glob} {name}"));
            no.iter().for_each(|name| assert!(!parsed.matches(name), "{glob} {name}"));
        };
        check("target/", &["target"], &["targets", "a-target"]);
        check("*.log", &["a.log", ".log", "ä.log"], &["a.logs", "log"]);
        check("a?c*e", &["abce", "abcde", "abcee"], &["ace", "abcd"]);
        check("*.{js,ts{,x}}", &["a.js", "a.ts", "a.tsx"], &["a.jsx", "a."]);
        check("[a-c]x[!0-9]", &["axb", "cx-"], &["dxb", "ax1"]);
        check("[]-]", &["]", "-"], &["["]);
        check(r"\*", &["*"], &["a"]);
        check("*a*a*a*b", &["aaab", "xaxaxaxb"], &[&"a".repeat(200)]);
    }

    #[test]
    fn ls_invalid_glob_for_a_name_is_an_error() {
        for glob in ["", "/", "a/b", "[a", "{a,b", "\\", &"x".repeat(257), &"{a,b}".repeat(7)] {
            assert!(matches!(NameGlob::new(glob), Err(Failure::InvalidArguments(_))), "{glob}");
        }
    }
}
