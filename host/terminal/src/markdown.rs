//! Markdown as it arrives: finished rows for the terminal, and the rows of what is still being written.
//!
//! What is finished is shown once and never again, so only the end of a text is kept: the containers that are open, and
//! the block in them. What is shown in the end depends on the text alone and not on the pieces in which it came: a
//! decision is made at the end of a line, or at a fixed length of a line or a paragraph. Every word of the source is
//! shown, and no character that is unsafe to show.
//!
//! Blocks are CommonMark's and GitHub's tables, with four differences that suit a terminal and what models write: blank
//! lines and line ends stay as they were written; a list that is indented by two columns more than the item above it
//! belongs to that item, whatever the width of its number; code in a list ends with its fence and not with its
//! indentation; and a line under a paragraph of several lines makes no heading.
//!
//! Deliberately not here: HTML, footnotes, definitions of links. They are shown as they were written.

mod code;
mod inline;
mod paint;
mod table;

use std::borrow::Cow;

use anstyle::{AnsiColor, Effects, Style};
use host_text::{Escaper, Fence, Indent, Newlines};

use self::code::Highlighter;
use self::inline::{Rest, parse};
use self::paint::Look;
use self::table::Table;
use super::width::width;
use super::wrap::{wrap, wrapped};

/// How much of a paragraph is kept before its finished rows are shown, in bytes: half a screen of 80 columns. What is
/// kept is drawn again with each frame.
const KEPT: usize = 512;

/// The longest part of a paragraph that an open mark keeps from being shown, in bytes. Limits the work of a frame; the
/// mark is text then.
const MAX_KEPT: usize = 4 << 10;

/// The longest line of code, of a table or of a heading, in bytes: a longer one is broken in two. Limits the work of a
/// frame.
const MAX_LINE: usize = 16 << 10;

/// The most lists and quotes within one another: deeper marks are text. Limits the work of a line.
const MAX_DEPTH: usize = 16;

/// The columns that indentation leaves for text.
const FEWEST_COLUMNS: usize = 10;

/// The columns that an indented text needs beside its indentation: in fewer it is not indented.
const ROOM_BESIDE_INDENT: usize = 24;

/// The longest rule, in columns.
const RULE: usize = 40;

/// How answers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// As their Markdown means them.
    #[default]
    Rendered,
    /// As the model wrote them.
    Source,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Voice {
    /// The model answers.
    #[default]
    Answer,
    /// The model thinks: shown dimmed.
    Thought,
}

/// Returns the rows of a whole text, rendered for this width: as an answer is, and with the address of a link beside
/// its words. The text is shown as it is: one from a model must have gone through [`host_text::escape_exact`] if no
/// character may hide another.
pub fn rendered(text: &str, colour: bool, columns: usize) -> Vec<String> {
    let mut markdown = Markdown::new(colour, Answers::Rendered);
    markdown.look.hyperlinks = false;
    markdown.push(text, Voice::Answer, columns);
    markdown.end(columns);
    markdown.take_finished().trim_end_matches('\n').split('\n').map(str::to_owned).collect()
}

/// A text that is coming.
#[derive(Debug)]
pub(super) struct Markdown {
    look: Look,
    answers: Answers,
    /// The columns that stay free at the left of rendered rows.
    indent: usize,
    voice: Voice,
    escaper: Escaper,
    /// Whether a carriage return came last: with the line feed behind it, it is a line end.
    returned: bool,
    /// The line that has not ended.
    line: String,
    /// The length of the line at which it is looked at before its end.
    looked_at: usize,
    blocks: Blocks,
    /// What is finished and was not taken.
    finished: String,
}

impl Markdown {
    pub(super) fn new(colour: bool, answers: Answers) -> Self {
        Self {
            // A terminal without colours may not know hyperlinks either.
            look: Look { colour, hyperlinks: colour, base: Style::new() },
            answers,
            indent: 0,
            voice: Voice::Answer,
            escaper: Escaper::new(Newlines::Keep),
            returned: false,
            line: String::new(),
            looked_at: KEPT,
            blocks: Blocks::default(),
            finished: String::new(),
        }
    }

    /// Keeps this many columns free at the left, as long as there is room for text.
    pub(super) fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    pub(super) fn answers(&self) -> Answers {
        self.answers
    }

    /// Takes a piece of what somebody says, for a terminal of this width. Another voice begins another text.
    pub(super) fn push(&mut self, piece: &str, voice: Voice, columns: usize) {
        if voice != self.voice {
            self.end(columns);
            self.voice = voice;
            self.look.base = match voice {
                Voice::Answer => Style::new(),
                Voice::Thought => Style::new().dimmed(),
            };
        }
        let piece = self.with_line_feeds(piece);
        let text = self.escaper.push(&piece);
        self.take(&text, columns);
    }

    /// Ends the text.
    pub(super) fn end(&mut self, columns: usize) {
        if std::mem::take(&mut self.returned) {
            let text = self.escaper.push("\r");
            self.take(&text, columns);
        }
        let rest = self.escaper.finish();
        self.take(&rest, columns);
        if self.answers == Answers::Rendered {
            let mut page = self.page(columns, Rest::None);
            let line = std::mem::take(&mut self.line);
            if !line.is_empty() {
                self.blocks.line(&line, LineEnd::Here, &mut page);
            }
            self.blocks.end(&mut page);
            self.finished.push_str(&page.rows);
        }
        self.blocks = Blocks::default();
        self.looked_at = KEPT;
    }

    /// Shows what follows in this way; a text has ended.
    pub(super) fn set_answers(&mut self, answers: Answers) {
        self.answers = answers;
    }

    /// Returns what is finished: whole lines, or a piece of a line of source.
    pub(super) fn take_finished(&mut self) -> String {
        std::mem::take(&mut self.finished)
    }

    /// Returns the rows of what is still being written, as they would be if the text ended here.
    pub(super) fn unfinished(&self, columns: usize) -> Vec<String> {
        if self.answers == Answers::Source {
            return Vec::new();
        }
        let mut page = self.page(columns, Rest::ShownSoFar);
        let mut blocks = self.blocks.clone();
        if !is_only_marks(&self.line) {
            blocks.line(&self.line, LineEnd::Here, &mut page);
        }
        blocks.end(&mut page);
        page.rows.lines().map(str::to_owned).collect()
    }

    fn page(&self, columns: usize, rest: Rest) -> Page {
        // A full row would leave the cursor between two rows.
        let columns = columns.saturating_sub(1);
        let indent = if columns < self.indent + ROOM_BESIDE_INDENT { 0 } else { self.indent };
        Page { look: self.look, columns: columns - indent, indent, rest, rows: String::new() }
    }

    /// Makes one line feed of a carriage return and a line feed.
    fn with_line_feeds<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        if !self.returned && !piece.contains('\r') {
            return Cow::Borrowed(piece);
        }
        let mut text = String::with_capacity(piece.len() + 1);
        for character in piece.chars() {
            if std::mem::take(&mut self.returned) && character != '\n' {
                text.push('\r');
            }
            match character {
                '\r' => self.returned = true,
                character => text.push(character),
            }
        }
        Cow::Owned(text)
    }

    /// Takes a text that is safe to show.
    fn take(&mut self, text: &str, columns: usize) {
        // Shown as it is written, for pipes and terminals that cannot move the cursor.
        if self.answers == Answers::Source {
            let shown = match self.voice {
                Voice::Answer => text.to_owned(),
                Voice::Thought => self.look.dim(text),
            };
            return self.finished.push_str(&shown);
        }
        let mut page = self.page(columns, Rest::Comes);
        let mut rest = text;
        while !rest.is_empty() {
            let room = match self.blocks.within_line() {
                Some(kept) => kept,
                // Taken in pieces of a fixed length: where the text was cut on its way must not matter.
                None => self.looked_at.saturating_sub(self.line.len()),
            };
            let (part, behind) = rest.split_at(boundary(rest, room.max(1)));
            let end = part.find('\n');
            let taken = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            if self.blocks.within_line().is_some() {
                self.blocks.more_of_line(taken, &mut page);
            } else {
                self.line.push_str(taken);
                // A line without an end would be kept for ever, and nothing of it shown.
                if end.is_none() && self.line.len() >= self.looked_at {
                    self.long_line(&mut page);
                }
            }
            match end {
                Some(end) => {
                    self.end_line(&mut page);
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                None => rest = behind,
            }
        }
        self.finished.push_str(&page.rows);
    }

    fn end_line(&mut self, page: &mut Page) {
        if self.blocks.within_line().is_some() {
            self.blocks.end_long_line(page);
        } else {
            let line = std::mem::take(&mut self.line);
            self.blocks.line(&line, LineEnd::Here, page);
            // Its memory is used again.
            self.line = line;
            self.line.clear();
        }
        self.looked_at = KEPT;
    }

    /// Decides about a line of which much has come and not the end.
    fn long_line(&mut self, page: &mut Page) {
        let end = if self.line.len() >= MAX_LINE {
            LineEnd::Here
        } else if self.blocks.is_text(&self.line) {
            LineEnd::Later
        } else {
            self.looked_at = MAX_LINE;
            return;
        };
        let line = std::mem::take(&mut self.line);
        self.blocks.line(&line, end, page);
        self.looked_at = KEPT;
    }
}

/// Returns the first end of a character at or behind this position, or the end of the text.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Whether a beginning of a line has nothing but marks, so that it is not known what it will be.
fn is_only_marks(line: &str) -> bool {
    line.trim().len() <= 8
        && line.bytes().all(|byte| {
            matches!(byte, b'#' | b'*' | b'-' | b'+' | b'_' | b'=' | b'>' | b'|' | b'`' | b'~' | b' ' | b':')
        })
}

/// What is being laid out: finished rows, for a terminal of this many columns.
#[derive(Debug)]
struct Page {
    look: Look,
    columns: usize,
    /// The columns before each row.
    indent: usize,
    rest: Rest,
    rows: String,
}

impl Page {
    /// Adds a row, without blanks where there is nothing else.
    fn push(&mut self, begin: &str, row: &str) {
        if !(begin.is_empty() && row.is_empty()) {
            self.rows.push_str(&" ".repeat(self.indent));
        }
        self.rows.extend([begin, row, "\n"]);
    }
}

/// Where a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    Here,
    /// More of it comes.
    Later,
}

/// The open containers and the open block in them.
#[derive(Clone, Debug, Default)]
struct Blocks {
    containers: Vec<Container>,
    leaf: Leaf,
    /// A blank line came since the last row, within so many containers.
    blank: Option<usize>,
    has_rows: bool,
}

#[derive(Clone, Debug)]
enum Container {
    Quote,
    Item(Item),
}

/// An item of a list.
#[derive(Clone, Debug)]
struct Item {
    /// The mark in the source, without a number: `-`, `*`, `+`, `.` or `)`.
    kind: char,
    number: u32,
    /// The columns before the mark, and before the text.
    mark_column: usize,
    indent: usize,
    /// The mark as it is shown, and whether it was.
    mark: String,
    is_shown: bool,
}

#[derive(Clone, Debug, Default)]
enum Leaf {
    #[default]
    None,
    Paragraph(Paragraph),
    Code {
        fence: Fence,
        indent: usize,
        highlighter: Highlighter,
    },
    Table(Table),
}

/// A paragraph: what is left of it once its first rows were shown.
#[derive(Clone, Debug, Default)]
struct Paragraph {
    /// The last row that is known, with its colours, without its end.
    row: String,
    /// What follows it.
    source: String,
    /// The character before the source.
    before: Option<char>,
    /// Where the last line begins, unless a part of it is in the row.
    last_line: Option<usize>,
    /// How many lines it has.
    lines: usize,
    /// The length of the source at which rows are shown.
    looked_at: usize,
    /// Whether its last line has not ended.
    is_within_line: bool,
}

impl Blocks {
    /// Returns how many bytes of a line are taken until it is looked at, if a part of it was taken.
    fn within_line(&self) -> Option<usize> {
        match &self.leaf {
            Leaf::Paragraph(paragraph) if paragraph.is_within_line => {
                Some(paragraph.looked_at.saturating_sub(paragraph.source.len()))
            }
            Leaf::Paragraph(_) | Leaf::None | Leaf::Code { .. } | Leaf::Table(_) => None,
        }
    }

    fn more_of_line(&mut self, text: &str, page: &mut Page) {
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.source.push_str(&without_tabs(text));
        }
        self.show_finished_rows(page);
    }

    fn end_long_line(&mut self, page: &mut Page) {
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.is_within_line = false;
        }
        self.show_finished_rows(page);
    }

    /// Whether a line with this beginning is text of a paragraph.
    fn is_text(&self, line: &str) -> bool {
        if matches!(self.leaf, Leaf::Code { .. } | Leaf::Table(_)) || line.contains('|') {
            return false;
        }
        let text = line.trim_start_matches(|c: char| c.is_ascii_digit() || " \t>-*+.)".contains(c));
        !text.starts_with('#') && Fence::opened_by(text, Indent::Any).is_none()
    }

    /// Takes a line.
    fn line(&mut self, line: &str, end: LineEnd, page: &mut Page) {
        let line = match &self.leaf {
            // Tabs in code are the code's own.
            Leaf::Code { .. } if self.containers.is_empty() => Cow::Borrowed(line),
            _ => with_blanks(line),
        };
        let (matched, rest) = self.matched(&line);
        if let Leaf::Code { fence, indent, highlighter } = &mut self.leaf {
            let left = self.containers.get(matched..).unwrap_or_default();
            // Models often forget to indent code in a list; only a fence ends it.
            if left.iter().all(|container| matches!(container, Container::Item(_))) {
                if fence.is_closed_by(rest, Indent::Any) {
                    self.leaf = Leaf::None;
                    return self.code_rule("", page);
                }
                let code = rest.get((*indent).min(blanks(rest))..).unwrap_or_default();
                let code = highlighter.line(code, page.look);
                return self.code_line(&code, page);
            }
        }
        if rest.trim().is_empty() {
            self.end_leaf(page);
            self.close(matched, page);
            // Drawn only when something follows: blank lines at the end of an answer are left out.
            self.blank = Some(self.containers.len());
            return;
        }
        let mut siblings = None;
        if matched < self.containers.len() {
            // A paragraph goes on without its marks, as CommonMark has it.
            if matches!(self.leaf, Leaf::Paragraph(_)) && !begins_block(rest) {
                return self.text(rest, end, page);
            }
            if let Some(Container::Item(item)) = self.containers.get(matched) {
                // A list that goes on counts by itself, whatever numbers the model wrote.
                siblings = Some((item.kind, item.number));
            }
            self.end_leaf(page);
            self.close(matched, page);
        }
        self.block(rest, siblings, end, page);
    }

    /// Returns how many containers the line continues, and what is left of the line.
    fn matched<'a>(&self, line: &'a str) -> (usize, &'a str) {
        let mut rest = line;
        for (at, container) in self.containers.iter().enumerate() {
            let indent = blanks(rest);
            let text = rest.get(indent..).unwrap_or_default();
            rest = match container {
                Container::Quote => match text.strip_prefix('>') {
                    // From four columns on a quote mark is code.
                    Some(inner) if indent <= 3 => inner.strip_prefix(' ').unwrap_or(inner),
                    Some(_) | None => return (at, rest),
                },
                Container::Item(_) if text.is_empty() => text,
                Container::Item(item) if indent >= item.indent => rest.get(item.indent..).unwrap_or_default(),
                Container::Item(item)
                    if indent >= item.mark_column + 2
                        && !matches!(self.leaf, Leaf::Code { .. })
                        && list_mark(text).is_some() =>
                {
                    text
                }
                Container::Item(_) => return (at, rest),
            };
        }
        (self.containers.len(), rest)
    }

    /// Takes the rest of a line within its containers, and opens what begins there.
    fn block(&mut self, line: &str, siblings: Option<(char, u32)>, end: LineEnd, page: &mut Page) {
        let mut rest = line;
        let mut siblings = siblings;
        loop {
            let indent = blanks(rest);
            let text = rest.get(indent..).unwrap_or_default();
            let is_paragraph = matches!(self.leaf, Leaf::Paragraph(_));
            // Models indent fences by any number of columns, and mean them.
            if indent >= 4 && Fence::opened_by(text, Indent::Any).is_none() {
                match is_paragraph {
                    // Indented lines cannot interrupt a paragraph.
                    true => return self.text(text, end, page),
                    false => {
                        self.end_leaf(page);
                        return self.code_line(rest, page);
                    }
                }
            }
            if let Some(level) = self.underlined(text) {
                return self.heading_of_paragraph(level, page);
            }
            // Each level takes columns, and each line is compared with each level.
            if let Some(inner) = text.strip_prefix('>').filter(|_| self.containers.len() < MAX_DEPTH) {
                self.end_leaf(page);
                self.containers.push(Container::Quote);
                rest = inner.strip_prefix(' ').unwrap_or(inner);
                if rest.trim().is_empty() {
                    self.blank = Some(self.containers.len());
                    return;
                }
                continue;
            }
            if is_rule(text) {
                self.end_leaf(page);
                let rule = page.look.dim(&"─".repeat(self.room(page).min(RULE)));
                return self.row(&rule, page);
            }
            // A year at the beginning of a line is not a list.
            if let Some(mark) = list_mark(text).filter(|mark| !is_paragraph || mark.interrupts)
                && self.containers.len() < MAX_DEPTH
            {
                self.end_leaf(page);
                let (item, inner) = Item::begin(&mark, siblings.take(), indent, text);
                self.containers.push(Container::Item(item));
                rest = inner;
                if rest.trim().is_empty() {
                    return;
                }
                continue;
            }
            if let Some((level, heading)) = heading(text) {
                self.end_leaf(page);
                return self.heading(level, heading, page);
            }
            if let Some((fence, info)) = Fence::opened_by(text, Indent::Any) {
                self.end_leaf(page);
                self.code_rule(info, page);
                self.leaf = Leaf::Code { fence, indent, highlighter: Highlighter::new(info) };
                return;
            }
            if self.is_row_of_table(text, page) {
                return;
            }
            return self.text(text, end, page);
        }
    }

    /// Returns the level of the heading that this line makes of the paragraph above it.
    fn underlined(&self, text: &str) -> Option<usize> {
        let Leaf::Paragraph(paragraph) = &self.leaf else { return None };
        let text = text.trim_end();
        let is_all = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
        let level = if is_all('=') { 1 } else { 2 };
        let is_whole = paragraph.lines == 1 && paragraph.last_line == Some(0);
        (is_whole && (is_all('=') || is_all('-'))).then_some(level)
    }

    fn heading_of_paragraph(&mut self, level: usize, page: &mut Page) {
        if let Leaf::Paragraph(paragraph) = std::mem::take(&mut self.leaf) {
            self.heading(level, &paragraph.source, page);
        }
    }

    fn heading(&mut self, level: usize, text: &str, page: &mut Page) {
        let style = Style::new().effects(Effects::BOLD);
        let style = match level {
            1 => style.effects(Effects::BOLD | Effects::UNDERLINE).fg_color(Some(AnsiColor::Cyan.into())),
            2 => style.fg_color(Some(AnsiColor::Cyan.into())),
            _ => style,
        };
        let begin = if page.look.colour { String::new() } else { format!("{} ", "#".repeat(level)) };
        let base = style.effects(style.get_effects() | page.look.base.get_effects());
        let rest = if page.rest == Rest::ShownSoFar { Rest::ShownSoFar } else { Rest::None };
        for line in page.look.lines(&parse(text, None, rest), base) {
            self.wrapped(&format!("{begin}{line}"), page);
        }
    }

    /// Takes a line of a table, or one that makes a table of the line above it. Returns false if it is no such line.
    fn is_row_of_table(&mut self, text: &str, page: &mut Page) -> bool {
        match &mut self.leaf {
            Leaf::Table(table) if text.contains('|') => {
                table.push(text);
                self.long_table(page);
                true
            }
            Leaf::Table(_) => {
                self.end_leaf(page);
                false
            }
            Leaf::Paragraph(paragraph) => {
                // Only the next line tells that this one was the header of a table.
                let header = paragraph.last_line.and_then(|at| paragraph.source.get(at..));
                let Some(table) = header.and_then(|header| Table::begun_by(header, text)) else { return false };
                // The lines above are a paragraph of their own.
                let length = paragraph.last_line.unwrap_or_default();
                paragraph.source.truncate(length.saturating_sub(1));
                if paragraph.source.is_empty() && paragraph.row.is_empty() {
                    self.leaf = Leaf::None;
                }
                self.end_leaf(page);
                self.leaf = Leaf::Table(table);
                true
            }
            Leaf::None | Leaf::Code { .. } => false,
        }
    }

    /// Shows a table that is too long to wait for its end, with the widths that its columns have so far.
    fn long_table(&mut self, page: &mut Page) {
        let room = self.room(page);
        let Leaf::Table(table) = &mut self.leaf else { return };
        if table.is_long() {
            let rows = table.take_rows(page.look, room, Rest::None);
            rows.iter().for_each(|row| self.row(row, page));
        }
    }

    /// Takes a line of a paragraph.
    fn text(&mut self, text: &str, end: LineEnd, page: &mut Page) {
        if !matches!(self.leaf, Leaf::Paragraph(_)) {
            self.end_leaf(page);
            self.leaf = Leaf::Paragraph(Paragraph { looked_at: KEPT, ..Paragraph::default() });
        }
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            if paragraph.lines > 0 {
                paragraph.source.push('\n');
            }
            paragraph.lines += 1;
            paragraph.last_line = Some(paragraph.source.len());
            paragraph.is_within_line = end == LineEnd::Later;
            let text = without_tabs(text.trim_start());
            paragraph.source.push_str(if end == LineEnd::Here { text.trim_end() } else { &text });
        }
        self.show_finished_rows(page);
    }

    /// Shows the rows of a long paragraph that nothing can change any more.
    fn show_finished_rows(&mut self, page: &mut Page) {
        let Leaf::Paragraph(paragraph) = &mut self.leaf else { return };
        // Not at each piece: parsing the paragraph again costs as much as it is long.
        if paragraph.source.len() < paragraph.looked_at {
            return;
        }
        // The last line may be the header of a table.
        let header = paragraph.last_line.filter(|at| {
            !paragraph.is_within_line && paragraph.source.get(*at..).is_some_and(|line| line.contains('|'))
        });
        let known = header.map_or(paragraph.source.len(), |at| at.saturating_sub(1));
        let inline = parse(paragraph.source.get(..known).unwrap_or_default(), paragraph.before, Rest::Comes);
        // At a blank if there is one, so that a word is never shown in two styles.
        let cut = match inline.cut.filter(|cut| *cut > 0) {
            Some(cut) => cut,
            None if inline.settled >= KEPT / 2 => inline.settled,
            // A paragraph without any blank must not be kept for ever.
            None if known >= MAX_KEPT => known,
            None => 0,
        };
        if cut > 0 {
            let source: String = paragraph.source.drain(..cut).collect();
            let lines = page.look.lines(&parse(&source, paragraph.before, Rest::None), page.look.base);
            paragraph.before = source.chars().next_back();
            paragraph.last_line = paragraph.last_line.and_then(|at| at.checked_sub(cut));
            let row = std::mem::take(&mut paragraph.row);
            let mut rows = self.rows_of(&row, lines, page);
            // The last row may get more words.
            let last = rows.pop().unwrap_or_default();
            rows.iter().for_each(|row| self.row(row, page));
            if let Leaf::Paragraph(paragraph) = &mut self.leaf {
                paragraph.row = last;
            }
        }
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.looked_at = paragraph.source.len() + KEPT;
        }
    }

    /// Wraps lines, the first of which continues a row.
    fn rows_of(&self, row: &str, lines: Vec<String>, page: &Page) -> Vec<String> {
        let room = self.room(page);
        let mut rows = Vec::new();
        for (number, line) in lines.into_iter().enumerate() {
            let line = if number == 0 { format!("{row}{line}") } else { line };
            rows.extend(wrap(&line, room));
        }
        rows
    }

    /// Ends the open block.
    fn end_leaf(&mut self, page: &mut Page) {
        match std::mem::take(&mut self.leaf) {
            Leaf::None => {}
            Leaf::Paragraph(paragraph) => {
                let rest = if page.rest == Rest::ShownSoFar { Rest::ShownSoFar } else { Rest::None };
                let inline = parse(&paragraph.source, paragraph.before, rest);
                let lines = page.look.lines(&inline, page.look.base);
                self.rows_of(&paragraph.row, lines, page).iter().for_each(|row| self.row(row, page));
            }
            Leaf::Code { .. } => self.code_rule("", page),
            Leaf::Table(mut table) => {
                let room = self.room(page);
                table.take_rows(page.look, room, page.rest).iter().for_each(|row| self.row(row, page));
            }
        }
    }

    /// Ends all containers but the first ones.
    fn close(&mut self, left: usize, page: &mut Page) {
        while self.containers.len() > left {
            // An item without a text.
            if matches!(self.containers.last(), Some(Container::Item(item)) if !item.is_shown) {
                self.row("", page);
            }
            self.containers.pop();
        }
        // A blank line within them parts what is outside of them.
        self.blank = self.blank.map(|depth| depth.min(left));
    }

    /// Ends the text.
    fn end(&mut self, page: &mut Page) {
        self.end_leaf(page);
        self.close(0, page);
    }

    /// The rule above and below code, so that it can be told from text without colour and copied without a margin.
    fn code_rule(&mut self, info: &str, page: &mut Page) {
        let room = self.room(page).min(RULE);
        let begin = if info.is_empty() { String::new() } else { format!("╌╌ {info} ") };
        let rule = "╌".repeat(room.saturating_sub(width(&begin)));
        self.wrapped(&page.look.dim(&format!("{begin}{rule}")), page);
    }

    /// Shows a line of code. It is the terminal that wraps it, so that it can be copied as it is, unless it stands
    /// within something else or is drawn again.
    fn code_line(&mut self, code: &str, page: &mut Page) {
        match self.containers.is_empty() && page.rest != Rest::ShownSoFar {
            true => self.row(code, page),
            false => {
                let rows = wrapped(code, self.room(page), blanks(code));
                rows.split('\n').for_each(|row| self.row(row, page));
            }
        }
    }

    fn wrapped(&mut self, line: &str, page: &mut Page) {
        wrap(line, self.room(page)).iter().for_each(|row| self.row(row, page));
    }

    /// Returns the columns for text.
    fn room(&self, page: &Page) -> usize {
        let taken: usize = self.shown_containers(page.columns).iter().map(|container| container.columns()).sum();
        page.columns.saturating_sub(taken).max(1)
    }

    /// Returns the containers that are shown: the innermost, as long as there is room for text.
    fn shown_containers(&self, columns: usize) -> &[Container] {
        let mut room = columns.saturating_sub(FEWEST_COLUMNS);
        let mut first = self.containers.len();
        for (at, container) in self.containers.iter().enumerate().rev() {
            let Some(left) = room.checked_sub(container.columns()) else { break };
            (room, first) = (left, at);
        }
        let innermost = self.containers.len().saturating_sub(1);
        self.containers.get(first.min(innermost)..).unwrap_or_default()
    }

    /// Shows a row within its containers.
    fn row(&mut self, row: &str, page: &mut Page) {
        if let Some(depth) = self.blank.take()
            && self.has_rows
        {
            let within = self.shown_containers(page.columns).len();
            let skipped = self.containers.len() - within;
            let blank: String = self
                .shown_containers(page.columns)
                .iter()
                .take(depth.saturating_sub(skipped))
                .map(|container| match container {
                    Container::Quote => "│ ".to_owned(),
                    Container::Item(item) => " ".repeat(width(&item.mark)),
                })
                .collect();
            let blank = page.look.dim(blank.trim_end());
            page.push(&blank, "");
        }
        self.has_rows = true;
        let mut begin = String::new();
        for container in self.shown_containers(page.columns) {
            match container {
                Container::Quote => begin.push_str(&page.look.dim("│ ")),
                Container::Item(item) if item.is_shown => begin.push_str(&" ".repeat(width(&item.mark))),
                Container::Item(item) => begin.push_str(&page.look.paint(&item.mark, AnsiColor::Cyan.on_default())),
            }
        }
        for container in &mut self.containers {
            if let Container::Item(item) = container {
                item.is_shown = true;
            }
        }
        // Blanks at the end of a row would be copied with it.
        if row.is_empty() {
            begin.truncate(begin.trim_end().len());
        }
        page.push(&begin, row);
    }
}

impl Item {
    /// Returns the item that a line begins with this mark behind so many columns, and the text in it. `before` is the
    /// kind and the number of the item above it.
    fn begin<'a>(mark: &ListMark, before: Option<(char, u32)>, indent: usize, line: &'a str) -> (Self, &'a str) {
        let number = match before {
            Some((kind, number)) if kind == mark.kind => number.saturating_add(1),
            Some(_) | None => mark.number,
        };
        let text = line.get(mark.length..).unwrap_or_default();
        let behind = blanks(text);
        // More blanks than four are code within the item.
        let taken = if text.trim().is_empty() || behind > 4 { behind.min(1) } else { behind };
        let text = text.get(taken..).unwrap_or_default();
        let is_numbered = matches!(mark.kind, '.' | ')');
        let task = task_mark(text).filter(|_| !is_numbered);
        let shown = match is_numbered {
            true => format!("{number}{} ", mark.kind),
            false => task.map_or("• ", |(mark, _)| mark).to_owned(),
        };
        let item = Self {
            kind: mark.kind,
            number,
            mark_column: indent,
            indent: indent + mark.length + taken.max(1),
            mark: shown,
            is_shown: false,
        };
        (item, task.map_or(text, |(_, text)| text))
    }
}

impl Container {
    /// Returns the columns that it takes.
    fn columns(&self) -> usize {
        match self {
            Self::Quote => 2,
            Self::Item(item) => width(&item.mark),
        }
    }
}

/// Returns the length of the indentation.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Returns the line with blanks for the tabs of its indentation.
fn with_blanks(line: &str) -> Cow<'_, str> {
    let text = line.trim_start_matches([' ', '\t']);
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    if !indent.contains('\t') {
        return Cow::Borrowed(line);
    }
    let column = indent.chars().fold(0, |column, c| if c == '\t' { (column / 4 + 1) * 4 } else { column + 1 });
    Cow::Owned(format!("{}{text}", " ".repeat(column)))
}

fn without_tabs(text: &str) -> Cow<'_, str> {
    if text.contains('\t') { Cow::Owned(text.replace('\t', " ")) } else { Cow::Borrowed(text) }
}

/// The mark of an item.
struct ListMark {
    kind: char,
    number: u32,
    length: usize,
    /// Whether it begins a list within a paragraph.
    interrupts: bool,
}

fn list_mark(text: &str) -> Option<ListMark> {
    let first = text.chars().next()?;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (kind, number, length) = match first {
        '-' | '*' | '+' => (first, 0, 1),
        '0'..='9' if digits <= 9 => {
            let kind = text.get(digits..)?.chars().next().filter(|c| matches!(c, '.' | ')'))?;
            (kind, text.get(..digits)?.parse().ok()?, digits + 1)
        }
        _ => return None,
    };
    let behind = text.get(length..)?;
    let has_text = behind.starts_with(' ') && !behind.trim().is_empty();
    let is_mark = behind.is_empty() || behind.starts_with([' ', '\t']);
    is_mark.then_some(ListMark { kind, number, length, interrupts: has_text && number <= 1 })
}

/// Returns the box of a task in a list, and the text behind it.
fn task_mark(text: &str) -> Option<(&'static str, &str)> {
    let open = text.strip_prefix("[ ] ").map(|text| ("☐ ", text));
    open.or_else(|| Some(("☑ ", text.strip_prefix("[x] ").or_else(|| text.strip_prefix("[X] "))?)))
}

/// Returns the level and the text of a heading.
fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let behind = text.get(level..)?;
    if !(1..=6).contains(&level) || !(behind.is_empty() || behind.starts_with([' ', '\t'])) {
        return None;
    }
    let behind = behind.trim();
    let without = behind.trim_end_matches('#');
    let closes = without.is_empty() || without.ends_with([' ', '\t']);
    Some((level, if closes { without.trim_end() } else { behind }))
}

/// Whether the line is a rule: three marks or more, and nothing else.
fn is_rule(text: &str) -> bool {
    let Some(mark) = text.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    let marks = text.chars().filter(|c| *c == mark).count();
    marks >= 3 && text.chars().all(|c| c == mark || c == ' ' || c == '\t')
}

/// Whether the line begins a block, and so does not continue the paragraph above it.
fn begins_block(line: &str) -> bool {
    let indent = blanks(line);
    let text = line.get(indent..).unwrap_or_default();
    if indent >= 4 {
        return false;
    }
    text.starts_with('>')
        || is_rule(text)
        || list_mark(text).is_some()
        || heading(text).is_some()
        || Fence::opened_by(text, Indent::Any).is_some()
}

#[cfg(test)]
mod tests;
