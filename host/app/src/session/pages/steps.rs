//! The model's list of steps.

use host_message::ChecklistItem;
use host_sessions::steps::steps;

use crate::page::{Line, Page};

/// The page, a line for each step.
pub fn page(items: &[ChecklistItem]) -> Page {
    steps(items).iter().map(|step| Line::new(format!("{} {}", step.mark(), step.text)).indented(4)).collect()
}
