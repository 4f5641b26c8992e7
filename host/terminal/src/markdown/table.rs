//! Tables: columns that are aligned where the terminal is wide enough for them, and a list of entries where it is not.
//!
//! The widths of columns need all rows, so a table is shown when it ends; until then it is drawn with the rows that
//! came. One that becomes too long for that keeps the widths that it has.

use anstyle::{Effects, Style};

use super::inline::{Rest, parse};
use super::paint::Look;
use super::{MAX_LINE, without_tabs};
use crate::width::width;
use crate::wrap::wrap;

/// The longest table that is shown as a whole, in bytes and in rows. Limits the work of a frame.
const MAX_TABLE: usize = 2 * MAX_LINE;
/// See [`MAX_TABLE`].
const MAX_ROWS: usize = 200;

/// A word of so many columns is not broken to make a column narrower, as long as the table has room.
const LONG_WORD: usize = 16;

/// The narrowest column: a table with a narrower one is a list.
const NARROWEST: usize = 5;

/// The columns between two columns of the table.
const BETWEEN: usize = 3;

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    header: Vec<String>,
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    /// The length of the rows in bytes.
    length: usize,
    layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alignment {
    Left,
    Centre,
    Right,
}

/// How the table is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// Nothing of it was shown.
    Open,
    /// With columns of these widths.
    Columns { widths: Vec<usize>, has_rules: bool },
    /// As a list of entries.
    Entries,
}

impl Table {
    /// Returns the table that a line of dashes makes of the line above it.
    pub(super) fn begun_by(header: &str, line: &str) -> Option<Self> {
        if !line.contains('-') || !(line.contains('|') || header.contains('|')) {
            return None;
        }
        let alignments = cells(line).iter().map(|cell| alignment(cell)).collect::<Option<Vec<_>>>()?;
        let header = cells(header);
        (header.len() == alignments.len()).then(|| Self {
            header,
            alignments,
            rows: Vec::new(),
            length: 0,
            layout: Layout::Open,
        })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, line: &str) {
        let mut row = cells(line);
        // A row with more cells than columns loses none.
        if row.len() > self.header.len() {
            let more = row.split_off(self.header.len());
            if let Some(last) = row.last_mut() {
                more.iter().filter(|cell| !cell.is_empty()).for_each(|cell| last.extend([" | ", cell.as_str()]));
            }
        }
        row.resize(self.header.len(), String::new());
        self.length += line.len();
        self.rows.push(row);
    }

    /// Whether it is shown before its end.
    pub(super) fn is_long(&self) -> bool {
        self.layout != Layout::Open || self.length > MAX_TABLE || self.rows.len() > MAX_ROWS
    }

    /// Returns the rows on the terminal that were not returned before.
    pub(super) fn take_rows(&mut self, look: Look, room: usize, rest: Rest) -> Vec<String> {
        let painted = |cell: &String, style: Style| -> Vec<String> {
            // A cell that is shown while it grows may have open marks.
            let rest = if rest == Rest::ShownSoFar { rest } else { Rest::None };
            look.lines(&parse(cell, None, rest), style)
        };
        let bold = look.base.effects(look.base.get_effects() | Effects::BOLD);
        let header: Vec<Vec<String>> = self.header.iter().map(|cell| painted(cell, bold)).collect();
        let rows: Vec<Vec<Vec<String>>> = std::mem::take(&mut self.rows)
            .iter()
            .map(|row| row.iter().map(|cell| painted(cell, look.base)).collect())
            .collect();
        let mut shown = Vec::new();
        let begins = self.layout == Layout::Open;
        // The widths stay from here on: rows that were shown cannot be drawn again.
        if begins {
            self.layout = layout(&header, &rows, room);
        }
        match &self.layout {
            Layout::Columns { widths, has_rules } => {
                let rule = |begin: &str| {
                    let dashes: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                    format!("{begin}{}", look.dim(&dashes.join("─┼─")))
                };
                if begins {
                    self.columns(&header, widths, look, &mut shown);
                    shown.push(rule(""));
                }
                for (number, row) in rows.iter().enumerate() {
                    // With cells of several rows a line is needed between two entries.
                    if *has_rules && (number > 0 || !begins) {
                        shown.push(rule(""));
                    }
                    self.columns(row, widths, look, &mut shown);
                }
            }
            Layout::Entries => {
                if rows.is_empty() && begins {
                    let names: Vec<String> = header.iter().map(|cell| cell.join(" ")).collect();
                    shown.extend(wrap(&names.join(&look.dim(" │ ")), room));
                }
                for (number, row) in rows.iter().enumerate() {
                    if number > 0 || !begins {
                        shown.push(look.dim(&"─".repeat(room.min(LONG_WORD))));
                    }
                    for (name, cell) in header.iter().zip(row) {
                        entry(&name.join(" "), cell, room, &mut shown);
                    }
                }
            }
            Layout::Open => {}
        }
        shown
    }

    /// Adds the terminal's rows of one row of the table.
    fn columns(&self, row: &[Vec<String>], widths: &[usize], look: Look, shown: &mut Vec<String>) {
        let cells: Vec<Vec<String>> = row
            .iter()
            .zip(widths)
            .map(|(lines, columns)| lines.iter().flat_map(|line| wrap(line, *columns)).collect())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let mut text = String::new();
            for (number, (cell, columns)) in cells.iter().zip(widths).enumerate() {
                if number > 0 {
                    text.push_str(&look.dim(" │ "));
                }
                let cell = cell.get(line).map_or("", String::as_str);
                let left = columns.saturating_sub(width(cell));
                let before = match self.alignments.get(number) {
                    Some(Alignment::Right) => left,
                    Some(Alignment::Centre) => left / 2,
                    Some(Alignment::Left) | None => 0,
                };
                // No blanks behind the last column: they would be copied.
                let behind = if number + 1 == widths.len() { 0 } else { left - before };
                text.extend([&" ".repeat(before), cell, &" ".repeat(behind)]);
            }
            text.truncate(text.trim_end_matches(' ').len());
            shown.push(text);
        }
    }
}

/// Adds one cell of an entry: its column's name and its text.
fn entry(name: &str, cell: &[String], room: usize, shown: &mut Vec<String>) {
    let text = cell.join(" ");
    if width(&text) == 0 {
        return;
    }
    let line = if width(name) == 0 { text } else { format!("{name}: {text}") };
    shown.extend(crate::wrap::wrapped(&line, room, 2).split('\n').map(str::to_owned));
}

/// Returns how a table fits into these columns.
fn layout(header: &[Vec<String>], rows: &[Vec<Vec<String>>], room: usize) -> Layout {
    let columns = header.len();
    let mut natural = vec![1; columns];
    let mut floors = vec![1; columns];
    for row in std::iter::once(header).chain(rows.iter().map(Vec::as_slice)) {
        for (number, cell) in row.iter().enumerate() {
            let widest = cell.iter().map(|line| width(line)).max().unwrap_or(0);
            let word = |line: &String| line.split(' ').map(width).max().unwrap_or(0);
            let word = cell.iter().map(word).max().unwrap_or(0);
            if let (Some(natural), Some(floor)) = (natural.get_mut(number), floors.get_mut(number)) {
                *natural = widest.max(*natural);
                *floor = word.min(LONG_WORD).max(*floor);
            }
        }
    }
    let Some(room) = room.checked_sub(BETWEEN * columns.saturating_sub(1)) else { return Layout::Entries };
    if natural.iter().sum::<usize>() <= room {
        return Layout::Columns { widths: natural, has_rules: false };
    }
    // The widest give first, down to their longest word and then further.
    let narrowest = vec![NARROWEST; columns];
    // First without breaking a word, and only then with narrower columns.
    for floors in [floors, narrowest] {
        let widths_at = |cap: usize| -> Vec<usize> {
            natural.iter().zip(&floors).map(|(natural, floor)| (*natural).min(cap.max(*floor))).collect()
        };
        let fits = |cap: &usize| widths_at(*cap).iter().sum::<usize>() <= room;
        if let Some(cap) = (0..=room).rev().find(fits) {
            return Layout::Columns { widths: widths_at(cap), has_rules: true };
        }
    }
    Layout::Entries
}

/// Returns the cells of a line.
fn cells(line: &str) -> Vec<String> {
    let line = without_tabs(line.trim());
    let line = line.strip_prefix('|').unwrap_or(&line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for character in line.chars() {
        // A bar behind a backslash is not a border.
        let was_escaped = escaped;
        escaped = character == '\\' && !was_escaped;
        let Some(cell) = cells.last_mut() else { continue };
        match character {
            '|' if was_escaped => {
                // A bar that is written so is one, also in code.
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(String::new()),
            character => cell.push(character),
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        // The border at the end of a line opens no cell.
        cells.pop();
    }
    cells.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    cells
}

fn alignment(cell: &str) -> Option<Alignment> {
    let dashes = cell.strip_prefix(':').unwrap_or(cell);
    let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
    let is_delimiter = !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-');
    is_delimiter.then(|| match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Alignment::Centre,
        (false, true) => Alignment::Right,
        (true | false, false) => Alignment::Left,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[&str], room: usize) -> Vec<String> {
        let look = Look { colour: false, hyperlinks: false, base: Style::new() };
        let (header, rest) = lines.split_first().expect("a header");
        let (dashes, rows) = rest.split_first().expect("dashes");
        let mut table = Table::begun_by(header, dashes).expect("a table");
        rows.iter().for_each(|row| table.push(row));
        table.take_rows(look, room, Rest::None)
    }

    const TOOLS: &[&str] = &[
        "| Tool | Calls | What it does |",
        "|:-----|------:|:------------:|",
        "| grep | 12 | finds lines |",
        "| `ls` | 3 | lists |",
    ];

    #[test]
    fn table_columns_are_aligned() {
        assert_eq!(
            shown(TOOLS, 40),
            [
                "Tool │ Calls │ What it does",
                "─────┼───────┼─────────────",
                "grep │    12 │ finds lines",
                "`ls` │     3 │    lists",
            ]
        );
    }

    #[test]
    fn table_that_is_too_wide_wraps_its_cells() {
        let lines = ["| Name | Words |", "|-|-|", "| a | some words that are long |", "| b | few |"];
        assert_eq!(
            shown(&lines, 20),
            [
                "Name │ Words",
                "─────┼──────────────",
                "a    │ some words",
                "     │ that are long",
                "─────┼──────────────",
                "b    │ few",
            ]
        );
    }

    #[test]
    fn table_with_too_many_columns_is_a_list() {
        let lines = ["|One|Two|Three|Four|", "|-|-|-|-|", "|a|b|c c c c c c c|d|", "|e|f||h|"];
        assert_eq!(
            shown(&lines, 16),
            [
                "One: a",
                "Two: b",
                "Three: c c c c c",
                "  c c",
                "Four: d",
                "────────────────",
                "One: e",
                "Two: f",
                "Four: h"
            ]
        );
    }

    #[test]
    fn table_cells_are_parted_by_bars_that_are_not_escaped() {
        for (line, expected) in [
            ("| a | b |", vec!["a", "b"]),
            ("a|b", vec!["a", "b"]),
            ("| a \\| b | `c \\| d` |", vec!["a | b", "`c | d`"]),
            ("| | b |", vec!["", "b"]),
            ("|a|", vec!["a"]),
            ("| a | |", vec!["a", ""]),
        ] {
            assert_eq!(cells(line), expected, "{line}");
        }
    }

    #[test]
    fn table_begins_with_as_many_dashes_as_names() {
        for (header, line, is_table) in [
            ("| a | b |", "|---|---|", true),
            ("a | b", ":-- | --:", true),
            ("| a |", "|-|", true),
            ("| a | b |", "|---|", false),
            ("a", "---", false),
            ("| a | b |", "| b | c |", false),
            ("| a | b |", "|::--|--|", false),
        ] {
            assert_eq!(Table::begun_by(header, line).is_some(), is_table, "{header} {line}");
        }
    }

    #[test]
    fn table_row_with_more_cells_loses_none() {
        let shown = shown(&["|a|b|", "|-|-|", "|1|2|3|4|", "|5|"], 40);
        assert_eq!(shown[2..], ["1 │ 2 | 3 | 4", "5 │"]);
    }

    #[test]
    fn table_with_wide_characters_is_aligned() {
        assert_eq!(shown(&["|語|b|", "|-|-|", "|日本|c|", "|x|d|"], 40)[2..], ["日本 │ c", "x    │ d"]);
    }
}
