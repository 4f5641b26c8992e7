//! `@path` in a prompt: finds what may be a path. The caller finds out which of them are files.
//!
//! `@src/lib.rs`, `@"a b.txt"` and `@a\ b.txt` are mentions; the `@` of an e-mail address or within a path
//! (`user@host`, `node_modules/@types`) is none, and neither is `\@`, which becomes `@`.

/// A prompt with its mentions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    /// The text for the model: `\@` became `@`, and mentions are unchanged.
    pub(super) text: String,
    pub(super) mentions: Vec<Mention>,
}

/// Something behind an `@`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// Its path, without quotes and escapes.
    pub(super) path: String,
    /// Whether it was in quotes, which mark its end.
    pub(super) quoted: bool,
}

/// Characters that may follow a path in a sentence without being a part of it.
const PUNCTUATION: &[char] =
    &['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '\'', '"', '`', '*', '…', '”', '’', '»', '。', '，', '、'];

impl Prompt {
    pub(super) fn read(prompt: &str) -> Self {
        let mut read = Self::default();
        let mut before = None;
        let mut rest = prompt;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            if c == '\\' && after.starts_with('@') {
                read.text.push('@');
                before = Some('@');
                rest = &after[1..];
                continue;
            }
            read.text.push(c);
            rest = after;
            if c == '@' && before.is_none_or(begins_behind) {
                let (mention, length) = mention(after);
                read.text.push_str(&after[..length]);
                before = after[..length].chars().next_back().or(Some('@'));
                rest = &after[length..];
                // `@@` begins a piece of a difference.
                read.mentions.extend(mention.filter(|one| !one.path.is_empty() && !one.path.starts_with('@')));
            } else {
                before = Some(c);
            }
        }
        read
    }
}

impl Mention {
    /// The glob that it may mean, without the punctuation behind it; `None` if it has no `*`, or is only that.
    pub(super) fn glob(&self) -> Option<&str> {
        let behind = |c: char| PUNCTUATION.contains(&c) && !matches!(c, '*' | ']' | '}');
        let glob = if self.quoted { self.path.as_str() } else { self.path.trim_end_matches(behind) };
        (glob.contains('*') && glob.contains(['/', '.'])).then_some(glob)
    }

    /// The paths that it may mean, the likeliest first: all of it, then without the punctuation behind it, then without
    /// words of a script that has no spaces.
    pub(super) fn candidates(&self) -> Vec<&str> {
        let mut candidates = vec![self.path.as_str()];
        if !self.quoted {
            let mut path = self.path.as_str();
            while let Some(shorter) = path.strip_suffix(PUNCTUATION) {
                candidates.push(shorter);
                path = shorter;
            }
            let ascii = path.find(|c: char| !c.is_ascii()).map_or(path, |end| &path[..end]);
            candidates.push(ascii.trim_end_matches(PUNCTUATION));
        }
        // Three dots are an ellipsis before they are a folder.
        candidates.retain(|path| path.contains(|c| c != '.'));
        candidates.dedup();
        candidates
    }
}

/// Returns whether an `@` after this character can begin a path.
fn begins_behind(before: char) -> bool {
    !(before.is_ascii_alphanumeric() || matches!(before, '@' | '_' | '.' | '-' | '+' | '/' | '\\'))
}

/// The mention behind an `@`, with its length in bytes.
fn mention(text: &str) -> (Option<Mention>, usize) {
    if let Some(inner) = text.strip_prefix('"') {
        let end = inner.find(['"', '\n']).filter(|end| inner[*end..].starts_with('"'));
        return match end {
            Some(end) => (Some(Mention { path: inner[..end].to_owned(), quoted: true }), end + 2),
            None => (None, 0),
        };
    }
    let mut path = String::new();
    let mut escaped = false;
    let mut length = 0;
    for c in text.chars() {
        match c {
            _ if escaped => {
                // Any other backslash is a part of the name.
                if !c.is_whitespace() {
                    path.push('\\');
                }
                path.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c.is_whitespace() => break,
            c => path.push(c),
        }
        length += c.len_utf8();
    }
    if escaped {
        path.push('\\');
    }
    (Some(Mention { path, quoted: false }), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prompt: &str, text: &str, mentions: &[&str]) {
        let read = Prompt::read(prompt);
        let paths: Vec<_> = read.mentions.iter().map(|mention| mention.path.as_str()).collect();
        assert_eq!((read.text.as_str(), paths.as_slice()), (text, mentions), "{prompt}");
    }

    fn same(prompt: &str, mentions: &[&str]) {
        check(prompt, prompt, mentions);
    }

    #[test]
    fn mention_is_a_path_behind_an_at() {
        same("Explain @src/lib.rs and @README.md.", &["src/lib.rs", "README.md."]);
        same("@a", &["a"]);
        same("(@a) [@b], x=@c", &["a)", "b],", "c"]);
        same("line\n@a\n\t@b", &["a", "b"]);
        same("see @src/**/*.rs", &["src/**/*.rs"]);
        same("请解释@src/main.rs的代码", &["src/main.rs的代码"]);
        same("@\"a b.txt\", please", &["a b.txt"]);
        same("@\"ä/ö ü\"@\"c\"", &["ä/ö ü", "c"]);
        same("@a\\ b.txt c", &["a b.txt"]);
        same("@c:\\x", &["c:\\x"]);
        same("@a\\", &["a\\"]);
    }

    #[test]
    fn mention_lookalikes_remain_text() {
        for text in [
            "user@host",
            "a.b+c@example.org",
            "node_modules/@types/node",
            "@",
            "@ a",
            "@@",
            "-@x",
            "@@ -1,2 +3 @@",
            "",
            "@\"a",
            "@\"a\nb\"",
        ] {
            same(text, &[]);
        }
        check("\\@Override \\@x", "@Override @x", &[]);
        check("a\\@b \\\\@c", "a@b \\@c", &[]);
        same("C:\\dir ${x} $y", &[]);
    }

    #[test]
    fn punctuation_behind_a_path_may_be_the_sentences() {
        let candidates = |path: &str| {
            let mention = Mention { path: path.to_owned(), quoted: false };
            mention.candidates().into_iter().map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(candidates("a.rs"), "a.rs");
        assert_eq!(candidates("a.rs?!"), "a.rs?! a.rs? a.rs");
        assert_eq!(candidates("src/)."), "src/). src/) src/");
        assert_eq!(candidates("a.rs的代码。"), "a.rs的代码。 a.rs的代码 a.rs");
        for (path, glob) in [
            ("src/**/*.rs,", Some("src/**/*.rs")),
            ("src/*.{a,b}).", Some("src/*.{a,b}")),
            ("src/**", Some("src/**")),
            ("*.md?", Some("*.md")),
            ("**", None),
            ("a.md", None),
        ] {
            assert_eq!(Mention { path: path.to_owned(), quoted: false }.glob(), glob, "{path}");
        }
        assert_eq!(candidates("..."), "");
        assert_eq!(Mention { path: "a.".to_owned(), quoted: true }.candidates(), ["a."]);
    }
}
