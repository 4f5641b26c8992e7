//! Wraps lines at their words: the one place where a line that is too long for the terminal is broken.
//!
//! A row is broken at blanks, and between ideographs, which have none. A word stays whole where a row can hold it; a
//! longer one is broken between characters as users see them. Colours and hyperlinks end with their row and begin again
//! on the next, so that each row can be drawn alone and an indentation is never coloured.
//!
//! Deliberately not here: breaking behind hyphens and slashes, which cuts flags and paths in two.

use unicode_segmentation::UnicodeSegmentation;

use super::width::{Piece, behind_at_most, broken_at, pieces, width};

const RESET: &str = "\u{1b}[0m";

/// What begins the sequence of a hyperlink.
pub(super) const LINK: &str = "\u{1b}]8;;";

/// Ends a hyperlink.
pub(super) const LINK_END: &str = "\u{1b}]8;;\u{1b}\\";

/// The fewest columns for words behind an indentation.
const FEWEST: usize = 8;

/// How much deeper the other rows of an entry begin. The details of an entry are indented by two columns, and what is
/// said of a detail by four.
const DEEPER: usize = 6;

/// What begins a line whose other rows are indented by two columns: the marks of finished calls, questions and lists.
const MARKS: [&str; 10] = ["✓ ", "✗ ", "■ ", "▸ ", "· ", "? ", "› ", "- ", "* ", "• "];

/// What begins a line of the log. Its other rows begin under the text, so that nothing that a plugin logs begins a row
/// of the screen.
const LEVELS: [&str; 5] = ["ERROR ", "WARN ", "INFO ", "DEBUG ", "TRACE "];

/// Breaks a line into rows of at most this width: all of it, without the blanks at a break. A row may be wider only if
/// one character is. Blanks stand for tabs, so that a row is as wide behind an indentation. The line has no line feed.
pub fn wrap(line: &str, columns: usize) -> Vec<String> {
    rows(line, columns, columns)
}

/// Returns where the first row of a line that is shown exactly ends, and where the next one begins. It ends behind a
/// word, and within one only if no row can hold that. Of the blanks only a single one at the break is left out, which
/// the break stands for: several are shown. The line has no colours.
pub fn broken_at_word(line: &str, columns: usize) -> (usize, usize) {
    let full = broken_at(line, columns);
    if full == line.len() {
        return (full, full);
    }
    let (mut found, mut before) = (None, [None, None]);
    // A blank directly behind a full row is one at the break.
    for (at, character) in line.char_indices().take_while(|(at, _)| *at <= full + 1) {
        let [first, last] = before;
        let is_break = match last {
            None => false,
            Some((_, ' ')) => character != ' ' && at <= full + 1,
            Some((_, last)) => at <= full && can_break(last, character),
        };
        if is_break {
            let single = matches!((first, last), (Some((_, word)), Some((_, ' '))) if word != ' ');
            let end = if single { last.map_or(at, |(blank, _)| blank) } else { at };
            // Not behind the blanks that indent a line.
            if end <= full && !line[..end].trim_start_matches(' ').is_empty() {
                found = Some((end, at));
            }
        }
        before = [last, Some((at, character))];
    }
    found.unwrap_or((full, full))
}

/// Wraps a line at its words, and indents all rows but the first.
pub fn wrapped(line: &str, columns: usize, indent: usize) -> String {
    let indent = if indent + FEWEST > columns { 0 } else { indent };
    rows(line, columns, columns - indent).join(&format!("\n{}", " ".repeat(indent)))
}

/// Breaks a line into a first row and others, which may be narrower.
fn rows(line: &str, first: usize, others: usize) -> Vec<String> {
    // Tabs are blanks here, so a line with one is always built again.
    if !line.contains('\t') && (line.len() <= first || width(line) <= first) {
        return vec![line.to_owned()];
    }
    let mut wrapper = Wrapper { columns: first.max(1), others: others.max(1), ..Wrapper::default() };
    let mut last = None;
    for (_, piece) in pieces(line) {
        match piece {
            Piece::Colour(sequence) => {
                wrapper.word.push_str(sequence);
                wrapper.style.set(sequence);
            }
            Piece::Character(blank @ (' ' | '\t')) => {
                wrapper.end_word();
                wrapper.gap.push(blank);
                last = None;
            }
            Piece::Character(character) => {
                if last.is_some_and(|last| can_break(last, character)) {
                    wrapper.end_word();
                }
                wrapper.word.push(character);
                wrapper.wide = behind_at_most(wrapper.wide, character);
                last = Some(character);
            }
        }
    }
    wrapper.end_word();
    wrapper.end_row(String::new());
    wrapper.rows
}

/// Wraps each line of a text at its words. The other rows of a line are indented as its first one is, and those of an
/// entry, which begins with a mark or with a label such as `help:`, by two columns more; behind the number of a list
/// they begin under its text.
pub fn wrapped_lines(text: &str, columns: usize) -> String {
    wrapped_each(text, columns, hanging)
}

/// Wraps each line of a text at its words, and indents the other rows of a line deeper than any details of an entry:
/// where each line is an entry with text from outside, no row of it looks like an entry or a detail of its own.
pub fn wrapped_entries(text: &str, columns: usize) -> String {
    wrapped_each(text, columns, |line| line.len() - line.trim_start_matches(' ').len() + DEEPER)
}

/// Wraps each line of a text, with the indentation of its other rows.
fn wrapped_each(text: &str, columns: usize, indent: impl Fn(&str) -> usize) -> String {
    if text.lines().all(|line| line.len() <= columns || width(line) <= columns) {
        return text.to_owned();
    }
    let mut wrapped_text = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        wrapped_text.push_str(&wrapped(line, columns, indent(line)));
        wrapped_text.push_str(end);
    }
    wrapped_text
}

/// Returns the indentation of the other rows of a line.
fn hanging(line: &str) -> usize {
    let plain: String = pieces(line)
        .filter_map(|(_, piece)| match piece {
            Piece::Character(character) => Some(character),
            Piece::Colour(_) => None,
        })
        .collect();
    let text = plain.trim_start_matches(' ');
    let indent = plain.len() - text.len();
    let is_entry = MARKS.iter().any(|mark| text.starts_with(mark))
        || ["error: ", "help: ", "note: ", "warning: ", "caused by: "].iter().any(|label| text.starts_with(label));
    if let Some(level) = LEVELS.iter().find(|level| text.starts_with(*level)) {
        return indent + level.len();
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &text[digits..];
    let is_number = (1..=3).contains(&digits) && (behind.starts_with(". ") || behind.starts_with(") "));
    match (is_entry, is_number) {
        (true, _) => indent + 2,
        (false, true) => indent + digits + 2,
        (false, false) => indent,
    }
}

/// The colours and the link that hold.
#[derive(Clone, Debug, Default)]
struct Styles {
    colours: String,
    link: String,
}

impl Styles {
    fn set(&mut self, sequence: &str) {
        match sequence {
            RESET => self.colours.clear(),
            LINK_END => self.link.clear(),
            link if link.starts_with(LINK) => sequence.clone_into(&mut self.link),
            colour => self.colours.push_str(colour),
        }
    }

    fn begin(&self) -> String {
        format!("{}{}", self.link, self.colours)
    }

    fn end(&self, row: &mut String) {
        if !self.colours.is_empty() {
            row.push_str(RESET);
        }
        if !self.link.is_empty() {
            row.push_str(LINK_END);
        }
    }
}

/// A line that is being broken.
#[derive(Default)]
struct Wrapper {
    /// The width of this row, and of those that follow.
    columns: usize,
    others: usize,
    rows: Vec<String>,
    row: String,
    /// The width of the row.
    column: usize,
    /// The blanks before the word.
    gap: String,
    word: String,
    /// The width of the word.
    wide: usize,
    /// What holds behind the word, and before it.
    style: Styles,
    before: Styles,
}

impl Wrapper {
    /// Puts the word on this row, or on the next.
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let wide = std::mem::take(&mut self.wide);
        // Colours alone take no room, and must not be lost at the end of a line.
        if wide == 0 {
            self.row.push_str(&word);
            self.before.clone_from(&self.style);
            return;
        }
        let gap = std::mem::take(&mut self.gap);
        let behind_gap = gap.chars().fold(self.column, behind_at_most);
        if behind_gap + wide <= self.columns {
            self.row.push_str(&" ".repeat(behind_gap - self.column));
            self.row.push_str(&word);
            self.column = behind_gap + wide;
        } else {
            if self.column > 0 {
                let style = self.before.clone();
                // Each row ends its colours, so that the next can be drawn alone.
                style.end(&mut self.row);
                self.end_row(style.begin());
            }
            if wide <= self.columns {
                self.row.push_str(&word);
                self.column = wide;
            } else {
                self.pieces_of(&word);
            }
        }
        self.before.clone_from(&self.style);
    }

    /// Puts a word that no row can hold on as many rows as it needs.
    fn pieces_of(&mut self, word: &str) {
        let mut style = self.before.clone();
        let mut run = String::new();
        for (_, piece) in pieces(word) {
            match piece {
                Piece::Character(character) => run.push(character),
                Piece::Colour(sequence) => {
                    self.characters(&std::mem::take(&mut run), &style);
                    self.row.push_str(sequence);
                    style.set(sequence);
                }
            }
        }
        self.characters(&run, &style);
    }

    fn characters(&mut self, run: &str, style: &Styles) {
        for cluster in run.graphemes(true) {
            let wide = cluster.chars().fold(0, behind_at_most);
            if self.column > 0 && self.column + wide > self.columns {
                style.end(&mut self.row);
                self.end_row(style.begin());
            }
            self.row.push_str(cluster);
            self.column += wide;
        }
    }

    fn end_row(&mut self, next: String) {
        self.rows.push(std::mem::replace(&mut self.row, next));
        self.column = 0;
        self.columns = self.others;
    }
}

/// Whether a row may end between two characters that no blank parts.
fn can_break(before: char, behind: char) -> bool {
    (is_ideograph(before) || is_ideograph(behind))
        && width(behind.encode_utf8(&mut [0; 4])) > 0
        && !NEVER_FIRST.contains(behind)
        && !NEVER_LAST.contains(before)
}

/// Whether the character is of a script that is written without blanks: Chinese and Japanese. Korean has blanks.
pub(super) fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{2e80}'..='\u{312f}' | '\u{3190}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff01}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// What does not begin a row, by the rules of Chinese and Japanese typesetting (JIS X 4051).
const NEVER_FIRST: &str = "、。，．・：；？！゛゜ヽヾゝゞ々ー’”）〕］｝〉》」』】〙〗〟‐゠–〜～‼⁇⁈⁉…‥,.;:?!)]}%ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ";

/// What does not end one.
const NEVER_LAST: &str = "‘“（〔［｛〈《「『【〘〖〝([{";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrap_breaks_at_words_and_only_long_words_inside() {
        for (line, columns, rows) in [
            ("", 5, vec![""]),
            ("the quick brown fox", 10, vec!["the quick", "brown fox"]),
            ("the   quick", 20, vec!["the   quick"]),
            ("  indented words here", 12, vec!["  indented", "words here"]),
            ("an unbreakable word", 6, vec!["an", "unbrea", "kable", "word"]),
            ("--max-turns and src/a.rs", 12, vec!["--max-turns", "and src/a.rs"]),
            ("trailing   ", 8, vec!["trailing"]),
            ("日本語の文章。次の", 8, vec!["日本語の", "文章。次", "の"]),
            ("日本語。", 6, vec!["日本", "語。"]),
            ("한국어 문장", 8, vec!["한국어", "문장"]),
            ("👩\u{200d}👩\u{200d}👧 family", 8, vec!["👩\u{200d}👩\u{200d}👧", "family"]),
            ("🇩🇪🇫🇷🇮🇹🇪🇸🇵🇱", 5, vec!["🇩🇪🇫🇷", "🇮🇹🇪🇸", "🇵🇱"]),
            ("⚠\u{fe0f} be careful", 12, vec!["⚠\u{fe0f} be", "careful"]),
        ] {
            assert_eq!(wrap(line, columns), rows, "{line:?} in {columns}");
        }
    }

    /// Returns the rows of a line that is shown exactly.
    fn exact_rows(line: &str, columns: usize) -> Vec<&str> {
        let (mut rows, mut rest) = (Vec::new(), line);
        loop {
            let (end, next) = broken_at_word(rest, columns);
            rows.push(&rest[..end]);
            rest = &rest[next..];
            if rest.is_empty() {
                return rows;
            }
        }
    }

    #[test]
    fn wrap_of_an_exact_line_breaks_at_words_and_shows_all_other_blanks() {
        for (line, columns, rows) in [
            ("", 5, vec![""]),
            ("rm -rf target", 7, vec!["rm -rf", "target"]),
            ("rm -rf target", 6, vec!["rm -rf", "target"]),
            ("rm -rf target", 13, vec!["rm -rf target"]),
            ("echo xxxxxxxxxx end", 6, vec!["echo", "xxxxxx", "xxxx", "end"]),
            ("a    b c", 5, vec!["a    ", "b c"]),
            ("a        b", 5, vec!["a    ", "    b"]),
            ("    abcdefgh", 6, vec!["    ab", "cdefgh"]),
            ("日本語の文章。次の", 8, vec!["日本語の", "文章。次", "の"]),
            ("trailing ", 8, vec!["trailing", " "]),
        ] {
            assert_eq!(exact_rows(line, columns), rows, "{line:?} in {columns}");
        }
    }

    #[test]
    fn wrap_ends_colours_and_links_with_their_row() {
        let link = "\u{1b}]8;;https://a.example\u{1b}\\";
        for (line, columns, rows) in [
            (
                "\u{1b}[1mbold words\u{1b}[0m plain".to_owned(),
                5,
                vec!["\u{1b}[1mbold\u{1b}[0m".to_owned(), "\u{1b}[1mwords\u{1b}[0m".to_owned(), "plain".to_owned()],
            ),
            (
                "\u{1b}[1mabcd\u{1b}[0mef".to_owned(),
                3,
                vec!["\u{1b}[1mabc\u{1b}[0m".to_owned(), "\u{1b}[1md\u{1b}[0mef".to_owned()],
            ),
            (
                format!("{link}one two{LINK_END}"),
                3,
                vec![format!("{link}one{LINK_END}"), format!("{link}two{LINK_END}")],
            ),
        ] {
            assert_eq!(wrap(&line, columns), rows, "{line:?}");
        }
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        for (line, columns, indent, expected) in [
            ("name  some words", 11, 6, "name  some\nwords"),
            ("name  some words", 16, 6, "name  some words"),
            ("name  some more words", 16, 6, "name  some more\n      words"),
            ("a b", 80, 0, "a b"),
            ("\u{1b}[2mone two three\u{1b}[0m", 10, 2, "\u{1b}[2mone two\u{1b}[0m\n  \u{1b}[2mthree\u{1b}[0m"),
        ] {
            assert_eq!(wrapped(line, columns, indent), expected, "{line:?} in {columns}");
        }
    }

    #[test]
    fn wrapped_lines_hang_behind_marks_and_labels() {
        for (text, expected) in [
            ("short\n", "short\n"),
            ("a line that is too long\n", "a line that is\ntoo long\n"),
            ("  a line that is too long", "  a line that is\n  too long"),
            ("error: it cannot be opened\n", "error: it cannot\n  be opened\n"),
            ("\u{1b}[31merror:\u{1b}[0m it cannot be opened", "\u{1b}[31merror:\u{1b}[0m it cannot\n  be opened"),
            ("✗ shell cargo test · exit", "✗ shell cargo\n  test · exit"),
            (" WARN plugin `p`: one", " WARN plugin\n      `p`: one"),
            ("\u{1b}[31mERROR\u{1b}[0m p: ? Allow it", "\u{1b}[31mERROR\u{1b}[0m p: ? Allow\n      it"),
        ] {
            assert_eq!(wrapped_lines(text, 16), expected, "{text:?}");
        }
    }

    #[test]
    fn wrapped_entries_have_no_row_that_looks_like_another() {
        for (text, expected) in [
            ("  fs-read = *\n", "  fs-read = *\n"),
            ("  fs-read: to look http: *\n", "  fs-read: to\n        look\n        http: *\n"),
            ("It cannot do it: never", "It cannot do it:\n      never"),
        ] {
            assert_eq!(wrapped_entries(text, 16), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn wrap_of_an_exact_line_loses_only_single_blanks(line in "([a-c]{1,9}| {1,4}|日|e\u{301}){0,20}", columns in 4usize..12) {
            let rows = exact_rows(&line, columns);
            let mut rest = line.as_str();
            for row in &rows {
                prop_assert!(width(row) <= columns, "{:?} in {}", row, columns);
                rest = rest.strip_prefix(row).or_else(|| rest.strip_prefix(' ')?.strip_prefix(row)).unwrap_or("lost");
            }
            prop_assert_eq!(rest, "", "{:?}", rows);
        }

        #[test]
        fn wrap_loses_no_character_and_no_row_is_too_wide(
            line in "([a-c]| |  |\t|日|。|👩\u{200d}👧|\u{1b}\\[1m|\u{1b}\\[0m|e\u{301}){0,40}", columns in 8usize..20,
        ) {
            let visible = |text: &str| -> String {
                let shown = |(_, piece): (usize, Piece<'_>)| match piece {
                    Piece::Character(character) => Some(character),
                    Piece::Colour(_) => None,
                };
                pieces(text).filter_map(shown).filter(|character| !matches!(character, ' ' | '\t')).collect()
            };
            for rows in [wrap(&line, columns), wrapped(&line, columns, 3).split('\n').map(str::to_owned).collect()] {
                prop_assert_eq!(visible(&rows.concat()), visible(&line));
                for row in &rows {
                    prop_assert!(width(row) <= columns, "{:?} in {}", row, columns);
                }
            }
        }
    }
}
