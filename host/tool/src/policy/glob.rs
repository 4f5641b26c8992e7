//! Patterns of a shell, in one part of a path.

/// Whether a part of a path is a pattern.
pub(super) fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// What a pattern consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Run,
    One,
    Char(char),
}

/// Whether a pattern may stand for a name, whatever the case of its letters. Rather once too often: a set in brackets
/// stands for every character, and in a name that is not ASCII, of which some shells count bytes, for any number of
/// them.
pub(super) fn may_match(pattern: &str, name: &str) -> bool {
    // Only a point that is written stands for a point at the beginning; shells differ in sets.
    if name.starts_with('.') && pattern.starts_with(['*', '?']) {
        return false;
    }
    // A shell that counts bytes takes `?` for half a letter.
    let one = if name.is_ascii() { Piece::One } else { Piece::Run };
    let pieces = pieces(&pattern.to_lowercase(), one);
    let name: Vec<char> = name.to_lowercase().chars().collect();
    // How much of the name the pieces so far may stand for.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for piece in pieces {
        let mut next = vec![false; name.len() + 1];
        match piece {
            Piece::Run => {
                let first = reached.iter().position(|reached| *reached).unwrap_or(next.len());
                next[first..].fill(true);
            }
            Piece::One => next[1..].copy_from_slice(&reached[..name.len()]),
            Piece::Char(c) => {
                (0..name.len()).filter(|at| reached[*at] && name[*at] == c).for_each(|at| next[at + 1] = true);
            }
        }
        reached = next;
    }
    reached[name.len()]
}

fn pieces(pattern: &str, one: Piece) -> Vec<Piece> {
    let (mut pieces, mut rest) = (Vec::new(), pattern);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        pieces.push(match c {
            '*' => Piece::Run,
            '?' => one,
            '[' => match set_end(rest) {
                Some(end) => {
                    rest = &rest[end..];
                    one
                }
                None => Piece::Char('['),
            },
            c => Piece::Char(c),
        });
    }
    pieces
}

/// Returns where the text behind a set in brackets begins; `None` if the set does not end.
fn set_end(text: &str) -> Option<usize> {
    let from = text.len() - text.trim_start_matches(['!', '^']).len();
    // A bracket that comes first is a part of the set.
    let from = from + usize::from(text[from..].starts_with(']'));
    text[from..].find(']').map(|at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glob_patterns_match_at_least_what_a_shell_makes_of_them() {
        let check = |pattern: &str, name: &str, matches: bool| {
            assert_eq!(may_match(pattern, name), matches, "{pattern} {name}");
        };
        for pattern in [".gi*", ".gi?", ".gi[t]", ".g[a-z]t", ".*", ".???", ".[!x]it", "[.]git", ".GI*", ".g*t", ".git"]
        {
            check(pattern, ".git", true);
        }
        for pattern in ["*", "?git", "git", ".gi", ".gi??", "*.git", ".gi[", ".g*x"] {
            check(pattern, ".git", false);
        }
        check("a[", "a[", true);
        check("[]]", "]", true);
        check("??", "é", true);
        check("?", "é", true);
        check("*a*b*", "xaybz", true);
        check("*a*b*", "xbya", false);
        check("", "", true);
    }
}
