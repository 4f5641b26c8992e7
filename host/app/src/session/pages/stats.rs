//! The statistics of a conversation.

use host_sessions::report::run_stats::{estimate, list_prices};
use host_text::{counted, exact};

use crate::page::{Line, Page};
use crate::session::stats::{ConversationStats, Counts};

/// Width of the labels.
const LABELS: usize = 10;

/// The page.
pub fn page(stats: &ConversationStats) -> Page {
    let ConversationStats { session, model, counts, waited, all } = stats;
    let Counts { prompts, turns, calls, failed, approved, rejected, denied, usage, cost, working } = counts;
    let mut page = Page::default();
    let mut line = |label: &str, words: &str| page.push(Line::new(format!("{label:LABELS$}{words}")).indented(LABELS));
    line("session", &exact(session.as_str()));
    line("model", &exact(model.as_str()));
    line("prompts", &format!("{prompts}, {}", counted(turns, "turn")));
    line("calls", &format!("{calls}, {failed} failed; {approved} approved, {rejected} rejected, {denied} denied"));
    let cached = if usage.cached > 0 { format!(", of which cached {}", usage.cached) } else { String::new() };
    line("tokens", &format!("{} in{cached}, {} out, {} thinking", usage.input, usage.output, usage.thought));
    if let Some(charge) = cost {
        line("cost", &format!("{:.4}{}", charge.cost.amount(), estimate(list_prices(*charge))));
    }
    let (working, waited, all) = (working.as_secs(), waited.as_secs(), all.as_secs());
    line("time", &format!("{working} s working, of which {waited} s waiting for you; {all} s in all"));
    page
}
