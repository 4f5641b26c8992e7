//! Names that a reader takes for one another.
//!
//! [`skeleton`] is the one rule: names with the same skeleton look alike. Names of plugins, tools and servers are
//! ASCII, so what is folded are case, separators, digits and letters that are drawn alike, and pairs of letters that
//! are drawn like one.
//!
//! Deliberately not here: letters of other scripts (UTS #39 has their table, a library that no name needs), names that
//! are only near (`nearest`), since `get_issue` and `get_issues` are two honest tools, and what is done about names
//! that look alike.

/// Returns a name without what a reader overlooks.
pub fn skeleton(name: &str) -> String {
    let folded = |c: char| match c.to_ascii_lowercase() {
        '-' | '_' | '.' | '/' => None,
        '0' => Some('o'),
        '1' | 'i' => Some('l'),
        other => Some(other),
    };
    name.chars().filter_map(folded).collect::<String>().replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_that_look_alike_have_one_skeleton() {
        for (one, other) in [
            ("hex_dump", "hex-dump"),
            ("hexdump", "HexDump"),
            ("git_hub", "GitHub"),
            ("list.files", "list-files"),
            ("read_fi1e", "read_file"),
            ("read_flle", "read_file"),
            ("l0g", "log"),
            ("modern_dump", "modem-dump"),
            ("vveb_fetch", "web_fetch"),
            ("acme/shel1", "acme/shell"),
        ] {
            assert_eq!(skeleton(one), skeleton(other), "{one} and {other}");
        }
        for (one, other) in
            [("github", "gitlab"), ("read", "reads"), ("a", "b"), ("s3arch", "search"), ("write_file", "read_file")]
        {
            assert_ne!(skeleton(one), skeleton(other), "{one} and {other}");
        }
    }
}
