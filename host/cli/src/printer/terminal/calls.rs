//! The calls that run: what is drawn of them while they do, and the lines that stay when they end.

use std::time::Instant;

use anstyle::AnsiColor;
use host_agent::CallStatus;
use host_message::{AgentId, CallId, Display, FunctionCall};
use host_terminal::{self as terminal, Activity};
use host_text::{clip, exact, visible_line};

use crate::printer::Style;

/// The longest words about a call's arguments, in characters.
const ARGUMENTS: usize = 60;
/// Minimum number of characters of a summary that are shown, however narrow the terminal is.
const SHORTEST_SUMMARY: usize = 40;
/// Indentation of a subagent's lines.
pub(super) const INDENT: &str = "  ";
/// Lines of a difference that are shown.
const DIFFERENCE_LINES: usize = 40;
/// Lines that are shown of what a running call prints.
const OUTPUT_LINES: usize = 3;
/// Number of bytes of a call's output that are kept while it runs.
const KEPT_OUTPUT: usize = 4 << 10;

/// The calls that run, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Running>);

#[derive(Debug)]
struct Running {
    /// Two agents' calls may have one id.
    agent: AgentId,
    id: CallId,
    described: String,
    progress: String,
    since: Instant,
    printed: String,
}

/// The end of a call.
pub(super) struct CallEnd<'a> {
    pub(super) agent: &'a AgentId,
    pub(super) id: &'a CallId,
    pub(super) name: &'a str,
    pub(super) status: CallStatus,
    pub(super) summary: &'a str,
    pub(super) display: Option<&'a Display>,
    pub(super) milliseconds: u64,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn begin(&mut self, agent: &AgentId, call: &FunctionCall) {
        self.0.push(Running {
            agent: agent.clone(),
            id: call.id.clone(),
            described: describe(call),
            progress: String::new(),
            since: Instant::now(),
            printed: String::new(),
        });
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
            let lines: Vec<&str> = running.printed.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default();
            Activity {
                words: match running.progress.as_str() {
                    "" => format!("{}{}", indent(&running.agent), running.described),
                    progress => format!("{}{} {}", indent(&running.agent), running.described, style.dim(progress)),
                },
                since: running.since,
                below: last.iter().map(|line| format!("{}{}", indent(&running.agent), visible_line(line))).collect(),
            }
        };
        self.0.iter().map(of).collect()
    }

    /// Returns the lines that stay when a call ends, at this width.
    pub(super) fn ended(&mut self, end: &CallEnd<'_>, style: Style, columns: usize) -> String {
        let at = self.0.iter().position(|running| running.agent == *end.agent && running.id == *end.id);
        let described = at.map_or_else(|| exact(end.name).into_owned(), |at| self.0.remove(at).described);
        let mark = match end.status {
            CallStatus::Success => style.paint("✓", AnsiColor::Green),
            CallStatus::Error { .. } => style.paint("✗", AnsiColor::Red),
            CallStatus::Cancelled | CallStatus::Interrupted => style.paint("■", AnsiColor::Yellow),
        };
        let time = took(end.milliseconds);
        let begin = format!("{}{mark} {described} · ", indent(end.agent));
        // Each call gets one line: text that does not fit is in the session log.
        let taken = terminal::width(&begin) + terminal::width(&time) + 2;
        let room = columns.saturating_sub(taken).max(SHORTEST_SUMMARY);
        let summary = terminal::truncate_to_width(&visible_line(end.summary), room);
        let mut lines = format!("{begin}{summary} {}\n", style.dim(&time));
        // One that was declined was on the screen when it was asked about.
        if let (CallStatus::Success, Some(Display::Difference { unified, .. })) = (end.status, end.display) {
            difference(&mut lines, unified, style);
        }
        lines
    }
}

fn difference(lines: &mut String, unified: &str, style: Style) {
    for line in unified.lines().take(DIFFERENCE_LINES) {
        let shown = visible_line(line);
        let painted = match line.bytes().next() {
            Some(b'+') => style.paint(&shown, AnsiColor::Green),
            Some(b'-') => style.paint(&shown, AnsiColor::Red),
            Some(b'@') => style.paint(&shown, AnsiColor::Cyan),
            _ => shown.into_owned(),
        };
        lines.extend(["  ", &painted, "\n"]);
    }
    let left = unified.lines().count().saturating_sub(DIFFERENCE_LINES);
    if left > 0 {
        lines.extend([style.dim(&format!("  … {left} more lines")).as_str(), "\n"]);
    }
}

/// Returns the indentation of a line about this agent.
pub(super) fn indent(agent: &AgentId) -> &'static str {
    if agent.is_subagent() { INDENT } else { "" }
}

/// A call in a few words: its name, and the texts among its arguments.
fn describe(call: &FunctionCall) -> String {
    let mut words = String::new();
    for value in call.arguments.values() {
        if let Some(text) = value.as_str().or_else(|| value.as_array()?.first()?.as_str()) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(text.lines().next().unwrap_or_default());
        }
    }
    let name = clip(call.name.as_str(), ARGUMENTS);
    let described = format!("{} {}", exact(&name), visible_line(&clip(&words, ARGUMENTS)));
    described.trim_end().to_owned()
}

fn took(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        format!("({milliseconds} ms)")
    } else {
        format!("({:.1} s)", milliseconds as f64 / 1000.0)
    }
}
