//! The layout of a question about a call.
//!
//! Promises: all text from a model, a plugin or a file is on lines of its own, each after a bar, with each invisible or
//! confusable character shown by its code; so it can neither look like the question nor hide part of it. Text that is
//! too long is cut in the middle, with a note. Short words of a model can also stand in the title, in quotes that they
//! cannot end. Deliberately not here: what a question says (`host_app::question`).

mod plain;

use anstyle::AnsiColor;
use host_app::question::{AskedPage, AskedQuestion, Block, QuestionPage, Summary, Takes, Weight, line, shown};
use host_terminal::{Answers, DifferenceRow, broken_at_word, difference, rendered, width, wrapped_lines};
use host_text::{Newlines, escape_exact};
use host_tool::Question;

use crate::printer::Style;

/// Lines of a command, or of arguments, that are shown.
const TEXT_LINES: usize = 24;
/// Lines of a difference that are shown.
const DIFFERENCE_LINES: usize = 120;
/// Lines of a plan that are shown.
const PLAN_LINES: usize = 200;
/// Commands and reasons that are listed.
const LISTED: usize = 12;
/// The narrowest column that lines are broken for.
const NARROWEST: usize = 20;

/// The question, line by line; a plan is shown as answers are.
pub(super) fn lines(question: &Question, style: Style, columns: usize, answers: Answers) -> Vec<String> {
    let QuestionPage { title, blocks, answers: _ } = QuestionPage::new(question);
    let mut page = Page { lines: vec![String::new()], style, columns: columns.saturating_sub(4).max(NARROWEST) };
    let mut blocks = blocks.as_slice();
    match (blocks, &title.before_reason) {
        // What the model says is short enough for the title.
        ([Block::Reason(words), rest @ ..], Some(before)) if title.name.is_empty() => {
            page.named(before, words);
            blocks = rest;
        }
        _ => page.named(&title.words, &title.name),
    }
    for block in blocks {
        match block {
            Block::Reason(words) => page.list("in the model's words", std::slice::from_ref(words)),
            Block::Code { text, .. } => page.text(text, TEXT_LINES),
            Block::Prose(text) => page.prose(text, TEXT_LINES),
            Block::Plan(text) => match answers {
                Answers::Rendered => page.markdown(text, PLAN_LINES),
                Answers::Source => page.prose(text, PLAN_LINES),
            },
            Block::Difference { unified, .. } => page.difference(unified),
            Block::Names(names) => names.iter().for_each(|name| page.text(name, 1)),
            Block::Effects(summary) => page.summary(summary),
            Block::Commands(commands) => page.list("it runs", commands.to_list(page.columns)),
            Block::List { label, items, is_whole: true } => page.whole(label, items),
            Block::List { label, items, is_whole: false } => page.list(label, items),
            Block::Note(words) => page.note(words),
            // It is asked again in a moment, perhaps for a reason of the terminal's own: see `objection`.
            Block::Objection(_) => {}
        }
    }
    page.lines
}

/// A question of a model or of an MCP server without its choices, line by line.
pub(super) fn asked(page: &AskedPage, question: &AskedQuestion, style: Style, columns: usize) -> Vec<String> {
    let AskedPage { title, note, recipient: _, questions: _ } = page;
    let AskedQuestion { place, text, choices: _, takes } = question;
    let several = match takes {
        Takes::One { .. } => None,
        Takes::Several => Some("several answers can be marked"),
    };
    let notes: Vec<&str> = place.as_deref().into_iter().chain(several).chain(*note).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    let mut page = Page { lines: vec![String::new()], style, columns: columns.saturating_sub(4).max(NARROWEST) };
    let mark = style.paint("?", AnsiColor::Cyan);
    page.lines.push(format!("{mark} {}{notes}:", style.bold(title)));
    page.prose(text, TEXT_LINES);
    page.lines
}

/// Returns the line that explains why the question is asked again.
pub(super) fn objection(words: &str, style: Style) -> String {
    format!("{} {}", style.paint("!", AnsiColor::Yellow), line(words))
}

/// The lines of a question.
pub(crate) struct Page {
    lines: Vec<String>,
    style: Style,
    /// Maximum width of a line after the bar.
    columns: usize,
}

impl Page {
    /// Adds the title, followed by a name that a model chose. A terminal would continue a long name at the beginning of
    /// a row, where it could look like something else, so such a name goes after the bar.
    fn named(&mut self, title: &str, name: &str) {
        let mark = self.style.paint("?", AnsiColor::Yellow);
        let together = if name.is_empty() { format!("{title}:") } else { format!("{title} {name}:") };
        let fits = name.is_empty() || width(&together) <= self.columns;
        let title = if fits { together } else { format!("{title}:") };
        self.lines.push(format!("{mark} {}", self.style.bold(&title)));
        if !fits {
            self.text(name, 1);
            self.lines.push(String::new());
        }
    }

    fn note(&mut self, note: &str) {
        self.lines.push(self.style.dim(&format!("  {note}")));
    }

    /// Lines behind the bar: the first and the last of them when there are too many.
    fn barred(&mut self, lines: &[(String, Option<AnsiColor>)], most: usize) {
        let bar = self.style.dim("│");
        let left_out = lines.len().saturating_sub(most);
        for (at, (text, colour)) in lines.iter().enumerate() {
            if left_out > 0 && at == most / 2 {
                let words = format!("… {left_out} lines are not shown here …");
                self.lines.push(format!("  {}", self.style.paint(&words, AnsiColor::Yellow)));
            }
            if left_out > 0 && (most / 2..most / 2 + left_out).contains(&at) {
                continue;
            }
            let mut rest = text.as_str();
            loop {
                let (end, next) = broken_at_word(rest, self.columns);
                let row =
                    colour.map_or_else(|| rest[..end].to_owned(), |colour| self.style.paint(&rest[..end], colour));
                self.lines.push(format!("  {bar} {row}"));
                rest = &rest[next..];
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// Adds a text from outside behind the bar.
    pub(crate) fn text(&mut self, text: &str, most: usize) {
        let lines: Vec<_> = text.split('\n').map(|line| (shown(line), None)).collect();
        self.barred(&lines, most);
    }

    /// Adds sentences from outside behind the bar, wrapped at their words.
    fn prose(&mut self, text: &str, most: usize) {
        let lines: Vec<_> = text.split('\n').map(shown).collect();
        let wrapped = wrapped_lines(&lines.join("\n"), self.columns);
        let rows: Vec<_> = wrapped.split('\n').map(|row| (row.to_owned(), None)).collect();
        self.barred(&rows, most);
    }

    /// Adds Markdown from outside behind the bar, rendered. Colours mark headings and code, and hide nothing.
    fn markdown(&mut self, text: &str, most: usize) {
        let rows = rendered(&escape_exact(text, Newlines::Keep), self.style.colour, self.columns);
        self.barred(&rows.into_iter().map(|row| (row, None)).collect::<Vec<_>>(), most);
    }

    /// Adds a change with the numbers of its lines. A line that is continued hangs under its text, where it cannot pass
    /// for a line of its own.
    fn difference(&mut self, unified: &str) {
        let mut lines = Vec::new();
        for DifferenceRow { gutter, text, colour } in difference(unified, shown) {
            let indent = " ".repeat(gutter.len());
            let room = self.columns.saturating_sub(indent.len()).max(1);
            let (mut begin, mut rest) = (gutter.as_str(), text.as_str());
            loop {
                let (end, next) = broken_at_word(rest, room);
                lines.push((format!("{begin}{}", &rest[..end]), colour));
                (begin, rest) = (indent.as_str(), &rest[next..]);
                if rest.is_empty() {
                    break;
                }
            }
        }
        self.barred(&lines, DIFFERENCE_LINES);
    }

    /// Adds what a command does, the most dangerous part first.
    fn summary(&mut self, summary: &Summary) {
        let style = self.style;
        let summary = summary.painted(|part| match part.weight {
            Weight::Destroys => style.paint(&part.words, AnsiColor::Red),
            Weight::Leaves => style.paint(&part.words, AnsiColor::Yellow),
            Weight::Changes => part.words.clone(),
        });
        summary.iter().for_each(|line| self.sentence(line));
    }

    /// Adds what an approval grants: every item, none of them shortened.
    fn whole(&mut self, what: &str, items: &[String]) {
        let items: Vec<_> = items.iter().map(|item| (line(item), None)).collect();
        self.note(&format!("{what}:"));
        self.barred(&items, usize::MAX);
    }

    fn list(&mut self, what: &str, items: &[String]) {
        for item in items.iter().take(LISTED) {
            let item = line(item);
            // None is cut at the edge: what is not seen is at its end.
            if width(what) + width(&item) + 2 > self.columns {
                self.note(&format!("{what}:"));
                self.barred(&[(item, None)], 1);
            } else {
                self.note(&format!("{what}: {item}"));
            }
        }
        if items.len() > LISTED {
            self.note(&format!("{what}: … and {} more", items.len() - LISTED));
        }
    }
}

#[cfg(test)]
mod tests;
