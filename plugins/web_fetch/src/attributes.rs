//! How much work the attributes of a page are, before a parser sees them.
//!
//! A parser compares each attribute of a tag with all before it, so 300,000 of them in one tag are minutes of work. What is
//! counted here is never less than what a parser finds, in one pass over the bytes: where a tag begins depends on what
//! is around it (in a script nothing is a tag, in a script within an image everything is), so each place where one could
//! begin is taken as one. Tags that are in the same state are followed together, as the one with the most attributes.

/// The most pairs of attributes that are compared: half a second of work. It is enough for 20,000 attributes in one tag, and for
/// a hundred in each of 40,000.
const MAX_PAIRS: u64 = 200_000_000;

/// The most tags that name the page itself or its body: the attributes of each are compared with those of all before.
const MAX_ROOTS: usize = 1_000;

/// Where in a tag a parser can be.
#[derive(Clone, Copy)]
enum At {
    /// In the tag's name.
    Name,
    /// Between two attributes, where a name can begin.
    Between,
    /// In an attribute's name.
    Attribute,
    /// Behind an attribute's name and a space: `=` would still belong to it.
    Behind,
    /// Behind `=`.
    Value,
    /// In a value in double quotes.
    Double,
    /// In a value in single quotes.
    Single,
    /// In a value without quotes.
    Bare,
}

const STATES: [At; 8] = [At::Name, At::Between, At::Attribute, At::Behind, At::Value, At::Double, At::Single, At::Bare];

/// The most attributes of a tag in each state; none if no tag is in it.
type Tags = [Option<u64>; STATES.len()];

/// Whether the attributes of a page are more work than a page is worth.
pub(crate) fn are_too_many(html: &str) -> bool {
    let bytes = html.as_bytes();
    if roots(bytes) > MAX_ROOTS {
        return true;
    }
    let (mut tags, mut is_in_a_tag, mut pairs) = (Tags::default(), false, 0_u64);
    for (at, byte) in bytes.iter().enumerate() {
        if is_in_a_tag {
            let (next, ended) = step(&tags, *byte);
            tags = next;
            pairs = pairs.saturating_add(ended.saturating_mul(ended) / 2);
        }
        if begins_a_tag(bytes.get(..=at).unwrap_or_default()) {
            put(&mut tags, At::Name, 0);
        }
        is_in_a_tag = tags.iter().any(Option::is_some);
        if pairs > MAX_PAIRS {
            return true;
        }
    }
    // A tag without an end is read to the end of the page.
    let open = tags.iter().flatten().max().copied().unwrap_or_default();
    pairs.saturating_add(open.saturating_mul(open) / 2) > MAX_PAIRS
}

/// Whether these bytes end with the first letter of a tag's name, a start tag's or an end tag's.
fn begins_a_tag(until: &[u8]) -> bool {
    match until {
        [before @ .., letter] => letter.is_ascii_alphabetic() && (before.ends_with(b"<") || before.ends_with(b"</")),
        [] => false,
    }
}

fn roots(bytes: &[u8]) -> usize {
    let is_root = |rest: &[u8]| {
        rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"html") || name.eq_ignore_ascii_case(b"body"))
    };
    bytes
        .iter()
        .enumerate()
        .filter(|(at, byte)| **byte == b'<' && is_root(bytes.get(at + 1..).unwrap_or_default()))
        .count()
}

fn put(tags: &mut Tags, state: At, count: u64) {
    if let Some(known) = tags.get_mut(state as usize) {
        *known = Some(known.map_or(count, |known| known.max(count)));
    }
}

/// Takes all tags one byte further. Returns them, and the most attributes of those that it ends.
fn step(tags: &Tags, byte: u8) -> (Tags, u64) {
    let (mut next, mut ended) = (Tags::default(), 0);
    for (state, count) in STATES.iter().zip(tags) {
        let Some(count) = *count else { continue };
        let space = byte.is_ascii_whitespace();
        let (state, count) = match (state, byte) {
            (At::Double, b'"') | (At::Single, b'\'') => (At::Between, count),
            (At::Double | At::Single, _) => (*state, count),
            (_, b'>') => {
                ended = ended.max(count);
                continue;
            }
            (At::Value, b'"') => (At::Double, count),
            (At::Value, b'\'') => (At::Single, count),
            (At::Value, _) if space => (At::Value, count),
            (At::Value, _) => (At::Bare, count),
            (At::Attribute | At::Behind, b'=') => (At::Value, count),
            (At::Attribute, _) if space => (At::Behind, count),
            (At::Name | At::Bare | At::Between, _) if space => (At::Between, count),
            (At::Behind, _) if space => (At::Behind, count),
            (At::Name | At::Attribute | At::Behind | At::Between, b'/') => (At::Between, count),
            (At::Name | At::Attribute | At::Bare, _) => (*state, count),
            (At::Between | At::Behind, _) => (At::Attribute, count + 1),
        };
        put(&mut next, state, count);
    }
    (next, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most attributes of a tag in this text.
    fn most(html: &str) -> u64 {
        let (mut tags, mut most) = (Tags::default(), 0);
        for (at, byte) in html.bytes().enumerate() {
            let (next, ended) = step(&tags, byte);
            (tags, most) = (next, most.max(ended));
            if begins_a_tag(&html.as_bytes()[..=at]) {
                put(&mut tags, At::Name, 0);
            }
        }
        most
    }

    #[test]
    fn attributes_are_counted_as_a_parser_finds_them() {
        for (html, count) in [
            ("<p>a b c</p>", 0),
            ("<p a b=1 c='2' d=\"3\" e = 4 f/g>", 7),
            ("<p a='>' b=\"<i x y z>\" c>", 3),
            ("<p a=x'y\"z b>", 2),
            ("<p a\"b c'd>", 2),
            ("<p a='1'b='2'c>", 3),
            ("<p/a/b/ c>", 3),
            ("</p a b>", 2),
            ("<p =a =b>", 1),
            ("<p a= >b c>", 1),
            ("a < b c d e > f", 0),
            // In a script nothing is a tag for a parser: here `<b` is one, which ends with the script's own end.
            ("<script>if (a<b && c) \"</script><p x1 x2 x3>\"", 4),
            ("<script>x=\"<b c='\"</script><p x1 x2 x3>", 3),
        ] {
            assert_eq!(most(html), count, "{html}");
        }
    }

    #[test]
    fn pages_of_many_attributes_are_not_parsed_and_others_are() {
        let names = |count: usize| (0..count).map(|number| format!(" a{number}")).collect::<String>();
        for (what, html, is_too_many) in [
            ("one tag", format!("<p{}>", names(300_000)), true),
            ("one that never ends", format!("<p{}", names(300_000)), true),
            ("an end tag", format!("</p{}>", names(300_000)), true),
            ("several", format!("<p{}>", names(5_000)).repeat(100), true),
            ("behind a quote", format!("<p x='>'{}>", names(300_000)), true),
            ("behind a script", format!("<script>a<b c=\"</script><p{}>", names(300_000)), true),
            ("many bodies", "<body a>".repeat(2_000), true),
            ("a large page", "<div class='a b c' id=x data-x='1 2 3'>text of it</div>\n".repeat(50_000), false),
            ("data in an attribute", format!("<div data-x='{}'>", "1 2 3, ".repeat(500_000)), false),
            (
                "data in a script",
                format!("<script>for(i=0;i<n;i++);</script><i>[{}]</i>", "1, ".repeat(500_000)),
                false,
            ),
            ("a thousand attributes", format!("<p{}>", names(1_000)), false),
        ] {
            assert_eq!(are_too_many(&html), is_too_many, "{what}");
        }
    }
}
