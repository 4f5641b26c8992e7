//! The calls that run: what is drawn of them while they do, and the lines that stay when they end.
//!
//! A call gets one line: its tool, its title, its result. The title gives way first when the terminal is narrow, since
//! a result that is not seen misleads; the reason of a failure gets rows of its own. Below it stand the last lines that
//! a command printed, or the change that was made.
//!
//! Deliberately not here: titles, summaries, and what counts as failed (`host_journal::CallReport`).

use std::time::Instant;

use anstyle::AnsiColor;
use host_journal::{CallEnd, CallReport, CallStatus};
use host_message::{AgentId, CallId, Display, FunctionCall};
use host_terminal::{self as terminal, Activity, DifferenceRow};
use host_text::{as_printed, counted, exact, visible_line};
use host_tool::Decided;

use super::checklist;
use crate::printer::Style;

/// Columns that a title keeps beside a long result.
const SHORTEST_TITLE: usize = 12;
/// Columns that a result keeps beside a long title.
const SHORTEST_SUMMARY: usize = 24;
/// Rows of the reason of a failure that are shown.
const REASON_ROWS: usize = 6;
/// Indentation of a subagent's lines.
pub(super) const INDENT: &str = "  ";
/// Indentation of what stands below the line of a call.
const BELOW: &str = "    ";
/// Lines of a difference that are shown.
const DIFFERENCE_LINES: usize = 40;
/// Lines that are shown of what a call prints: while it runs, and when it has ended well.
const OUTPUT_LINES: usize = 5;
/// Lines that are shown of what a failed call printed.
const FAILED_LINES: usize = 15;
/// Number of bytes of a call's output that are kept while it runs.
const KEPT_OUTPUT: usize = 4 << 10;
/// The shortest duration that is shown, in milliseconds: what is quicker needs no figure.
const SHOWN_TIME: u64 = 1_000;

/// The calls that run, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Running>);

#[derive(Debug)]
struct Running {
    /// Two agents' calls may have one id.
    agent: AgentId,
    id: CallId,
    /// Whether another call made it.
    is_nested: bool,
    name: String,
    title: String,
    progress: String,
    /// `None` until it starts: a wait for an answer is not its time.
    since: Option<Instant>,
    printed: String,
}

/// A call that ended.
pub(super) struct Ended<'a> {
    pub(super) agent: &'a AgentId,
    pub(super) id: &'a CallId,
    pub(super) name: &'a str,
    pub(super) end: &'a CallEnd,
}

/// How the lines of a call are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) style: Style,
    pub(super) columns: usize,
    /// What shows a call whole, such as `Ctrl-O`; empty where nothing does.
    pub(super) expand: &'static str,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn begin(&mut self, agent: &AgentId, call: &FunctionCall, parent: Option<&CallId>, title: &str) {
        self.0.push(Running {
            agent: agent.clone(),
            id: call.id.clone(),
            is_nested: parent.is_some(),
            name: call.name.as_str().to_owned(),
            title: title.to_owned(),
            progress: String::new(),
            since: None,
            printed: String::new(),
        });
    }

    /// Begins to count the time of a call; it may have another title than the one that the model asked for.
    pub(super) fn starts(&mut self, agent: &AgentId, id: &CallId, title: &str) {
        if let Some(running) = self.find(agent, id) {
            title.clone_into(&mut running.title);
            running.since = Some(Instant::now());
        }
    }

    /// Adds output of a call; returns false if the call is not one of these.
    pub(super) fn prints(&mut self, agent: &AgentId, id: &CallId, text: &str) -> bool {
        let Some(running) = self.find(agent, id) else { return false };
        running.printed.push_str(text);
        let mut too_much = running.printed.len().saturating_sub(KEPT_OUTPUT);
        while !running.printed.is_char_boundary(too_much) {
            too_much += 1;
        }
        running.printed.drain(..too_much);
        true
    }

    /// Sets the progress of a call; returns false if the call is not one of these.
    pub(super) fn progresses(&mut self, agent: &AgentId, id: &CallId, words: String) -> bool {
        let Some(running) = self.find(agent, id) else { return false };
        running.progress = words;
        true
    }

    fn find(&mut self, agent: &AgentId, id: &CallId) -> Option<&mut Running> {
        self.0.iter_mut().find(|running| running.agent == *agent && running.id == *id)
    }

    /// Returns the activity to draw for them.
    pub(super) fn activity(&self, style: Style) -> Vec<Activity> {
        let of = |running: &Running| {
            let lines: Vec<_> =
                running.printed.lines().map(as_printed).filter(|line| !line.trim().is_empty()).collect();
            let last = lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default();
            let nested = if running.is_nested { INDENT } else { "" };
            let mut words = format!("{nested}{}{}", indent(&running.agent), style.bold(&exact(&running.name)));
            for (text, dim) in [(&running.title, false), (&running.progress, true)] {
                if !text.is_empty() {
                    let text = visible_line(text);
                    words.push_str(&format!(" {}", if dim { style.dim(&text) } else { text.into_owned() }));
                }
            }
            let below = last.iter().map(|line| format!("{}{}", indent(&running.agent), visible_line(line))).collect();
            Activity { words, since: running.since, wait: None, below }
        };
        self.0.iter().map(of).collect()
    }

    /// Returns the lines that stay when a call ends.
    pub(super) fn ended(&mut self, ended: &Ended<'_>, layout: Layout) -> String {
        let Ended { agent, id, end, .. } = ended;
        let is_nested = self.find(agent, id).is_some_and(|running| running.is_nested);
        let columns = if is_nested { layout.columns.saturating_sub(INDENT.len()) } else { layout.columns };
        let layout = Layout { columns, ..layout };
        self.0.retain(|running| running.agent != **agent || running.id != **id);
        let none = CallReport::default();
        let report = end.report.as_ref().unwrap_or(&none);
        let mut lines = headline(ended, report, layout);
        match &end.display {
            // The question showed the change that the user approved, and one that was rejected.
            Some(Display::Difference { unified, .. })
                if end.status == CallStatus::Success && end.decided != Some(Decided::Approved) =>
            {
                difference(&mut lines, unified, layout);
            }
            Some(Display::Checklist { items }) if end.status == CallStatus::Success => {
                let before = format!("{}  ", indent(agent));
                lines.push_str(&checklist::lines(items, &before, layout.style, layout.columns));
            }
            Some(Display::Difference { .. } | Display::Summary(_) | Display::Checklist { .. }) | None => {}
        }
        output(&mut lines, agent, report, layout);
        match is_nested {
            // Below the call that made it, whose line comes when that one has ended.
            true => lines.split_inclusive('\n').map(|line| format!("{INDENT}{line}")).collect(),
            false => lines,
        }
    }
}

/// Returns the line of a call that ended, and the rows of the reason if it failed.
fn headline(ended: &Ended<'_>, report: &CallReport, Layout { style, columns, .. }: Layout) -> String {
    let Ended { agent, name, end, .. } = ended;
    let CallReport { title, summary, failed, .. } = report;
    let mark = match end.status {
        _ if *failed => style.paint("✗", AnsiColor::Red),
        CallStatus::Success => style.paint("✓", AnsiColor::Green),
        CallStatus::Error { .. } => style.paint("✗", AnsiColor::Red),
        CallStatus::Cancelled | CallStatus::Interrupted => style.paint("■", AnsiColor::Yellow),
    };
    let begin = format!("{}{mark} {}", indent(agent), style.bold(&exact(name)));
    let title = visible_line(title);
    let summary = visible_line(summary);
    let is_change = matches!(end.display, Some(Display::Difference { .. })) && end.status == CallStatus::Success;
    let result = match summary.as_ref() {
        "" => String::new(),
        summary if is_change => format!("({summary})"),
        summary => format!("· {summary}"),
    };
    let time = if end.duration_ms < SHOWN_TIME { String::new() } else { took(end.duration_ms) };
    let spaced = |text: &str| if text.is_empty() { 0 } else { terminal::width(text) + 1 };
    let free = columns.saturating_sub(terminal::width(&begin) + spaced(&time));
    let line = |title: &str, result: &str| {
        let mut line = begin.clone();
        for text in [title, result, &style.dim(&time)].into_iter().filter(|text| !text.is_empty()) {
            line.push(' ');
            line.push_str(text);
        }
        line.push('\n');
        line
    };
    if spaced(&title) + spaced(&result) <= free {
        return line(&title, &result);
    }
    if matches!(end.status, CallStatus::Error { .. }) && !summary.is_empty() {
        let mut lines = line(&terminal::truncate_to_width(&title, free.saturating_sub(1)), "");
        let indent = format!("{}{BELOW}", indent(agent));
        let wrapped = terminal::wrapped(&summary, columns.saturating_sub(indent.len()).max(SHORTEST_SUMMARY), 0);
        for row in wrapped.lines().take(REASON_ROWS) {
            lines.extend([indent.as_str(), row, "\n"]);
        }
        return lines;
    }
    let least = SHORTEST_SUMMARY.min(free.saturating_sub(1));
    let room = free.saturating_sub(spaced(&title).min(SHORTEST_TITLE + 1) + 1).max(least);
    let result = terminal::truncate_to_width(&result, room);
    match free.saturating_sub(spaced(&result) + 1) {
        0 | 1 => line("", &result),
        room => line(&terminal::truncate_to_width(&title, room), &result),
    }
}

/// Adds the last lines that a call printed.
fn output(lines: &mut String, agent: &AgentId, report: &CallReport, layout: Layout) {
    let Layout { style, columns, .. } = layout;
    let printed = &report.printed;
    let most = if report.failed { FAILED_LINES } else { OUTPUT_LINES };
    let last = printed.tail.get(printed.tail.len().saturating_sub(most)..).unwrap_or_default();
    let before = format!("{}{BELOW}", indent(agent));
    let folded = printed.lines.saturating_sub(last.len() as u64);
    if folded > 0 {
        lines.extend([style.dim(&format!("{before}{}", fold(folded, layout))).as_str(), "\n"]);
    }
    let room = columns.saturating_sub(before.len()).max(SHORTEST_TITLE);
    for line in last {
        let shown = terminal::truncate_to_width(&visible_line(&as_printed(&line.replace('\t', "    "))), room);
        lines.extend([style.dim(&format!("{before}{shown}")).as_str(), "\n"]);
    }
}

/// Adds a change that was made.
fn difference(lines: &mut String, unified: &str, layout: Layout) {
    let style = layout.style;
    let rows = terminal::difference(unified, |line| visible_line(line).into_owned());
    for DifferenceRow { gutter, text, colour } in rows.iter().take(DIFFERENCE_LINES) {
        let row = format!("{BELOW}{gutter}{text}");
        let row = terminal::wrapped(&row, layout.columns, BELOW.len() + gutter.len());
        let painted = |row: &str| colour.map_or_else(|| row.to_owned(), |colour| style.paint(row, colour));
        row.lines().for_each(|row| lines.extend([painted(row).as_str(), "\n"]));
    }
    let left = rows.len().saturating_sub(DIFFERENCE_LINES);
    if left > 0 {
        lines.extend([style.dim(&format!("{BELOW}{}", fold(left as u64, layout))).as_str(), "\n"]);
    }
}

/// Returns the note about lines that are not shown.
fn fold(lines: u64, layout: Layout) -> String {
    let lines = counted(lines, "line");
    match layout.expand {
        "" => format!("… +{lines}"),
        key => format!("… +{lines} ({key})"),
    }
}

/// Returns the indentation of a line about this agent.
pub(super) fn indent(agent: &AgentId) -> &'static str {
    if agent.is_subagent() { INDENT } else { "" }
}

fn took(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..60 => format!("({seconds}.{} s)", milliseconds % 1_000 / 100),
        60.. => format!("({} min {} s)", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests;
