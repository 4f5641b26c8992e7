//! What the user allowed in this folder and this session, and the approval modes.

use host_tool::{ApprovalMode, Until};

use crate::page::{Line, Page};
use crate::session::allowed::Allowed;

/// All permissions with their numbers.
pub fn permissions(all: &[Allowed]) -> Page {
    if all.is_empty() {
        return Page::of("No answer of yours allows anything here so far. `/mode` shows what the mode allows.");
    }
    let line = |(number, allowed): (usize, &Allowed)| {
        let until = match allowed.until() {
            Until::SessionEnds => "this session",
            Until::TakenBack => "always",
        };
        Line::new(format!("{:>3}  {:<12}  {}", number + 1, until, allowed.words())).indented(5)
    };
    let mut page: Page = all.iter().enumerate().map(line).collect();
    page.push(Line::new("/permissions forget NUMBER takes one back"));
    page
}

/// All modes, the present one marked.
pub fn modes(now: ApprovalMode) -> Page {
    let line = |this: ApprovalMode| {
        let mark = if this == now { "›" } else { " " };
        Line::new(format!("{mark} {:9}  {}", this.name(), this.about())).indented(13)
    };
    let mut page: Page = ApprovalMode::ALL.map(line).into_iter().collect();
    page.push(Line::new("/mode MODE to change"));
    page
}
