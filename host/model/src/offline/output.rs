//! Reads the output of the tools as a model would: tolerantly, line by line.

/// The entries of one folder, as `ls` prints them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Folder {
    pub(super) folders: Vec<String>,
    pub(super) files: Vec<String>,
}

impl Folder {
    /// Reads the output of `ls`; `None` if the text is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut folder = Self::default();
        // An empty folder, or one of ignored entries, has a note that begins with its path.
        let mut is_listing = text.starts_with('`');
        for line in whole_lines(text) {
            if let Some(name) = line.strip_prefix("[dir] ") {
                folder.folders.push(name.trim_end_matches('/').to_owned());
            } else if let Some((name, size)) = line.rsplit_once(" (")
                && size.ends_with(" bytes)")
            {
                folder.files.push(name.to_owned());
            } else if !line.starts_with("[link] ") && !line.starts_with("[other] ") {
                continue;
            }
            is_listing = true;
        }
        is_listing.then_some(folder)
    }
}

/// The files of the whole tree, as `glob` prints them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tree {
    /// The number of files.
    pub(super) total: usize,
    /// The listed files: all, or the first ones.
    pub(super) paths: Vec<String>,
}

impl Tree {
    /// Reads the output of `glob`; `None` if the text is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut lines = whole_lines(text);
        let head = lines.next().unwrap_or_default();
        if head.starts_with("No files found") {
            return Some(Self::default());
        }
        let total = number_after(head, "Found ")?;
        // A folder may be called `(app)` or `[slug]`; a note contains words.
        let is_note = |line: &str| {
            let enclosed =
                (line.starts_with('(') && line.ends_with(')')) || (line.starts_with('[') && line.ends_with(']'));
            line.is_empty() || (enclosed && line.contains(' '))
        };
        let paths: Vec<String> = lines.filter(|line| !is_note(line)).take(total).map(str::to_owned).collect();
        Some(Self { total, paths })
    }
}

/// The matches of a search, as `grep` prints them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// The number of matching lines, or of those found before the search stopped.
    pub(super) total: usize,
    /// Whether the search stopped early, so that there may be more.
    pub(super) stopped: bool,
    /// The number of files with matches.
    pub(super) files: usize,
    /// The listed matches.
    pub(super) hits: Vec<Hit>,
    /// The number of matches in each file, if the search counted.
    pub(super) counts: Vec<(String, usize)>,
}

/// One matching line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
}

impl Matches {
    /// Reads the output of `grep`; `None` if the text is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let head = text.lines().next().unwrap_or_default();
        let stopped = head.starts_with("Found the first ");
        if head.starts_with("No matches found") {
            return Some(Self::default());
        }
        let total = number_after(head, if stopped { "Found the first " } else { "Found " })?;
        let mut matches = Self { total, stopped, files: number_after(head, " in ").unwrap_or(0), ..Self::default() };
        for line in whole_lines(text).skip(1) {
            if let Some(hit) = hit(line) {
                matches.hits.push(hit);
            } else if let Some((path, count)) = line.rsplit_once(": ")
                && let Ok(count) = count.trim().parse()
            {
                matches.counts.push((path.to_owned(), count));
            }
        }
        Some(matches)
    }
}

/// Reads `path:line: text`. The first number between colons is the line, even if the text has such numbers too.
fn hit(line: &str) -> Option<Hit> {
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.find(':')?;
        let after = &line[at + 1..];
        if let Some((number, text)) = after.split_once(':')
            && at > 0
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
        {
            return Some(Hit { path: line[..at].to_owned(), line: number.parse().ok()?, text: text.trim().to_owned() });
        }
        from = at + 1;
    }
}

/// Returns the lines of an output, without those that lost a piece where the host left out the middle: that place is
/// marked by a line that begins with `[…` and ends with `…]`, between two blank lines.
fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    let left_out = text.split_once("\n\n[…").and_then(|(head, after)| Some((head, after.split_once("…]\n\n")?.1)));
    let (head, tail) = match left_out {
        Some((head, tail)) => {
            let whole_head = head.rsplit_once('\n').map_or("", |(whole, _)| whole);
            (whole_head, tail.split_once('\n').map_or("", |(_, whole)| whole))
        }
        None => (text, ""),
    };
    head.lines().chain(tail.lines())
}

/// Returns the number that follows the words, with or without separators.
fn number_after(text: &str, words: &str) -> Option<usize> {
    let (_, after) = text.split_once(words)?;
    let end = after.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(after.len());
    after[..end].replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read() {
        let folder = Folder::read(
            "[dir] src\n[link] a\n[dir] my docs\nCargo.toml (1234 bytes)\na (b).txt (0 bytes)\n(3 ignored)\n",
        )
        .unwrap();
        assert_eq!(folder.folders, ["src", "my docs"]);
        assert_eq!(folder.files, ["Cargo.toml", "a (b).txt"]);
        assert_eq!(Folder::read("`src` is empty\n"), Some(Folder::default()));
        assert_eq!(Folder::read("[link] a\n"), Some(Folder::default()));
        assert_eq!(Folder::read("(empty)"), None);
    }

    #[test]
    fn a_tree_is_read() {
        let check = |text: &str, total: usize, paths: &[&str]| {
            let tree = Tree::read(text).expect(text);
            assert_eq!((tree.total, tree.paths), (total, paths.iter().map(|p| (*p).to_owned()).collect()), "{text}");
        };
        check("Found 2 files matching `**/*` in `.`\n[slug]/a.rs\nsrc/b c.rs\n", 2, &["[slug]/a.rs", "src/b c.rs"]);
        check("Found 1 file matching `**/*` in `.`\na\n(2 could not be read)\n", 1, &["a"]);
        check(
            "Found 1234 files matching `**/*` in `.`\na.rs\n(cut: 1233 more files, narrow the pattern)\n",
            1234,
            &["a.rs"],
        );
        check("No files found matching `**/*`", 0, &[]);
        assert_eq!(Tree::read(""), None);
        assert_eq!(Tree::read("Found some files"), None);
        let clipped = "Found 5 files matching `**/*` in `.`\na.rs\nsrc/b\n\n[… 9 of 99 characters are left out here; \
                       the whole text is in `x` …]\n\nrc/c.rs\nd.rs\n";
        check(clipped, 5, &["a.rs", "d.rs"]);
    }

    #[test]
    fn matches_are_read() {
        let text = "Found 3 matches in 2 files for `TODO`:\nsrc/a.rs:7: // TODO: at 12:30: x\nb:1: TODO\n(stopped at 100 matches)\n";
        let matches = Matches::read(text).unwrap();
        assert_eq!((matches.total, matches.files), (3, 2));
        let hit = |path: &str, line: usize, text: &str| Hit { path: path.to_owned(), line, text: text.to_owned() };
        assert_eq!(matches.hits, [hit("src/a.rs", 7, "// TODO: at 12:30: x"), hit("b", 1, "TODO")]);
        let counts = Matches::read("Found 30 matches in 2 files for `TODO`:\nsrc/a.rs: 20\nb: 10\n").unwrap();
        assert_eq!((counts.total, counts.counts), (30, vec![("src/a.rs".to_owned(), 20), ("b".to_owned(), 10)]));
        let stopped =
            Matches::read("Found the first 100 matches in 34 files for `x` (stopped there: narrow)\na:1: x\n").unwrap();
        assert_eq!((stopped.total, stopped.files, stopped.stopped, stopped.hits.len()), (100, 34, true, 1));
        assert_eq!(Matches::read("No matches found for `TODO`"), Some(Matches::default()));
        assert_eq!(Matches::read(""), None);
    }
}
