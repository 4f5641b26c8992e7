//! The row below the input line: the status of the session in words.
//!
//! Deliberately not here: the figures (`host_app::session::status`), and which parts fit into the row
//! (`host_terminal`).

use std::sync::Arc;

use host_agent::{Event, EventKind, Observer};
use host_app::report::answer_line::money;
use host_app::session::Session;
use host_app::session::status::{SessionStatus, StatusTracker};
use host_plugin::Forwarded;
use host_terminal::{StatusPart, Terminal, truncate_to_width};
use host_text::exact;
use tokio::task::AbortHandle;

use super::Repl;

/// The longest name of a model that is shown, in columns.
const MODEL: usize = 40;

/// The parts of the row, in their order. The mode is the first to be left out: the label before the input has it too.
fn parts(status: &SessionStatus) -> Vec<StatusPart> {
    let SessionStatus { model, effort, mode, context, tokens, cost, branch, background, ports } = status;
    // `/model` has the provider.
    let name = truncate_to_width(&exact(model.rsplit('/').next().unwrap_or(model)), MODEL);
    let name = effort.map_or_else(|| name.clone(), |effort| format!("{name} {effort}"));
    let context = context.percent().map(|percent| format!("{percent} % of {}", count(context.window)));
    let tokens = (*tokens > 0).then(|| format!("{} tokens", count(*tokens)));
    let background = (*background > 0).then(|| format!("{background} in background"));
    let ports = (!ports.is_empty()).then(|| addresses(ports));
    [
        (Some(name), 6),
        (Some(mode.name().to_owned()), 1),
        (context, 5),
        (tokens, 3),
        (cost.map(money), 4),
        (branch.clone(), 2),
        (background, 5),
        (ports, 5),
    ]
    .into_iter()
    .filter_map(|(words, importance)| Some(StatusPart { words: words?, importance }))
    .collect()
}

/// The addresses of ports that the user reaches, each with the number that the program knows if it is a different one.
pub(super) fn addresses(ports: &[Forwarded]) -> String {
    let address = |port: &Forwarded| match port.inside == port.outside {
        true => format!("localhost:{}", port.outside),
        false => format!("localhost:{} (for {})", port.outside, port.inside),
    };
    ports.iter().map(address).collect::<Vec<_>>().join(" ")
}

/// A number of tokens in a few characters.
fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Keeps the row up to date while a run is under way.
pub(super) struct StatusRow {
    status: Arc<StatusTracker>,
    terminal: Terminal,
}

impl StatusRow {
    pub(super) fn new(session: &Session, terminal: Terminal) -> Self {
        Self { status: Arc::clone(session.status()), terminal }
    }
}

/// Keeps the row up to date with what no event reports, until it is dropped.
pub(super) struct StatusTask(AbortHandle);

impl Drop for StatusTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl StatusRow {
    /// Shows the ports of programs as they come and go: a server listens a moment after the call that started it.
    pub(super) fn listen(&self) -> StatusTask {
        let (status, terminal) = (Arc::clone(&self.status), self.terminal.clone());
        let mut changes = status.port_changes();
        let task = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                terminal.show_status(parts(&status.status()));
            }
        });
        StatusTask(task.abort_handle())
    }
}

impl Observer for StatusRow {
    fn event(&self, event: &Event<'_>) {
        match event.kind {
            // The pieces of a reply change nothing, and there are many.
            EventKind::Content { .. }
            | EventKind::Thought { .. }
            | EventKind::ToolCallForming { .. }
            | EventKind::ToolCallOutput { .. }
            | EventKind::ToolCallProgress { .. } => {}
            _ => self.terminal.set_status(parts(&self.status.status())),
        }
    }
}

impl Repl {
    /// Brings the row up to date before the user's turn.
    pub(super) fn refresh_status(&self) {
        if is_shown(&self.session) {
            self.terminal.set_status(parts(&self.session.refresh_status()));
        }
    }
}

/// Whether the user wants to see the row.
pub(super) fn is_shown(session: &Session) -> bool {
    session.app().configuration.conversation.status != Some(false)
}

#[cfg(test)]
mod tests {
    use host_agent::{Charge, Cost, PriceBasis};
    use host_app::session::status::ContextUse;
    use host_tool::ApprovalMode;

    use super::*;

    fn row(status: &SessionStatus) -> String {
        parts(status).into_iter().map(|part| part.words).collect::<Vec<_>>().join(" · ")
    }

    #[test]
    fn status_parts_that_are_unknown_are_left_out() {
        let empty = SessionStatus { model: "openai/gpt-5.5".to_owned(), ..SessionStatus::default() };
        assert_eq!(row(&empty), "gpt-5.5 · default");
        let full = SessionStatus {
            mode: ApprovalMode::Plan,
            context: ContextUse { tokens: 25_000, window: 200_000 },
            tokens: 31_900,
            cost: Some(Charge {
                cost: Cost::from_amount(0.123),
                basis: PriceBasis::Listed(jiff::civil::date(2026, 11, 27)),
            }),
            branch: Some("main".to_owned()),
            background: 1,
            ports: vec![Forwarded { inside: 5173, outside: 5173 }, Forwarded { inside: 8000, outside: 40123 }],
            ..empty
        };
        let expected = "gpt-5.5 · plan · 12 % of 200k · 31k tokens · $0.12 · main · 1 in background · \
                        localhost:5173 localhost:40123 (for 8000)";
        assert_eq!(row(&full), expected);
        let strange = SessionStatus { model: "scripted:a/b\u{1b}[2J".to_owned(), ..SessionStatus::default() };
        assert_eq!(row(&strange), "b\\u{1b}[2J · default");
    }

    #[test]
    fn money_and_counts_are_short() {
        let cost = |amount, basis| money(Charge { cost: Cost::from_amount(amount), basis });
        assert_eq!(cost(0.0, PriceBasis::Listed(jiff::civil::date(2026, 11, 27))), "$0.00");
        assert_eq!(cost(0.001, PriceBasis::Listed(jiff::civil::date(2026, 11, 27))), "<$0.01");
        assert_eq!(cost(12.345, PriceBasis::Configured), "cost 12.35");
        for (number, words) in [(0, "0"), (999, "999"), (1_250, "1.2k"), (31_999, "31k"), (1_048_576, "1.0M")] {
            assert_eq!(count(number), words);
        }
    }
}
