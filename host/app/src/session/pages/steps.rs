//! The model's list of steps.

use host_message::{ChecklistItem, ChecklistState};
use host_text::visible_line;

use crate::page::{Line, Page};

/// The page, a line for each step.
pub fn page(items: &[ChecklistItem]) -> Page {
    let line = |item: &ChecklistItem| {
        let mark = match item.state {
            ChecklistState::Pending => "[ ]",
            ChecklistState::InProgress => "[~]",
            ChecklistState::Done => "[x]",
        };
        Line::new(format!("{mark} {}", visible_line(&item.text))).indented(4)
    };
    items.iter().map(line).collect()
}
