//! A list of steps, as lines.
//!
//! Promises: each step begins a line of its own with its mark, and its text cannot look like another step. Deliberately
//! not here: where the list comes from.

use anstyle::AnsiColor;
use host_message::{ChecklistItem, ChecklistState};
use host_sessions::steps::{Step, steps};
use host_terminal::wrapped;

use crate::printer::Style;

/// The most steps that are shown: from the first that is open, so that the present ones are among them.
const SHOWN: usize = 15;

/// The lines of a list, each with this indent.
pub(crate) fn lines(items: &[ChecklistItem], indent: &str, style: Style, columns: usize) -> String {
    let open = items.iter().position(|item| item.state.is_open()).unwrap_or(items.len());
    let first = if items.len() > SHOWN { open.min(items.len() - SHOWN) } else { 0 };
    let mut lines = String::new();
    if first > 0 {
        let is_cancelled = |item: &ChecklistItem| item.state == ChecklistState::Cancelled;
        let how = if items.iter().take(first).any(is_cancelled) { "done or cancelled" } else { "done" };
        lines.extend([indent, &style.dim(&format!("… {first} {how} before")), "\n"]);
    }
    for Step { state, text } in steps(items).into_iter().skip(first).take(SHOWN) {
        let (mark, text) = match state {
            ChecklistState::Pending => ("☐".to_owned(), text),
            ChecklistState::InProgress => (style.paint("▸", AnsiColor::Cyan), style.bold(&text)),
            ChecklistState::Done => (style.paint("✓", AnsiColor::Green), style.dim(&text)),
            ChecklistState::Cancelled => (style.dim("–"), style.dim(&text)),
        };
        let line = wrapped(&format!("{indent}{mark} {text}"), columns, indent.len() + 2);
        lines.extend([line.trim_end(), "\n"]);
    }
    let more = items.len().saturating_sub(first + SHOWN);
    if more > 0 {
        lines.extend([indent, &style.dim(&format!("… {more} more")), "\n"]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false };

    fn item(text: &str, state: ChecklistState) -> ChecklistItem {
        ChecklistItem { text: text.to_owned(), state, depends_on: Vec::new() }
    }

    #[test]
    fn checklist_has_a_line_with_a_mark_for_each_step() {
        let items = [
            item("Read the parser", ChecklistState::Done),
            item("Fix the parser of numbers", ChecklistState::InProgress),
            item("Run the tests", ChecklistState::Pending),
        ];
        let expected = "  ✓ Read the parser\n  ▸ Fix the parser of numbers\n  ☐ Run the tests\n";
        assert_eq!(lines(&items, "  ", PLAIN, 80), expected);
        let narrow = "  ✓ Read the parser\n  ▸ Fix the parser of\n    numbers\n  ☐ Run the tests\n";
        assert_eq!(lines(&items, "  ", PLAIN, 24), narrow);
    }

    #[test]
    fn checklist_has_marks_for_what_is_cancelled_and_words_for_what_waits() {
        let mut items = ["Ask", "Read", "Fix the parser of numbers"].map(|text| item(text, ChecklistState::Pending));
        items[0].state = ChecklistState::Cancelled;
        items[2].depends_on = vec![1, 2];
        let expected = "– 1. Ask (cancelled)\n☐ 2. Read\n☐ 3. Fix the parser of numbers (waits for 2)\n";
        assert_eq!(lines(&items, "", PLAIN, 80), expected);
        let narrow = "– 1. Ask (cancelled)\n☐ 2. Read\n☐ 3. Fix the parser of\n  numbers (waits for 2)\n";
        assert_eq!(lines(&items, "", PLAIN, 24), narrow);
    }

    #[test]
    fn checklist_text_cannot_move_the_cursor_or_look_like_another_step() {
        let items = [item("a\u{1b}[2J\u{1b}]0;x\u{7}\n  ✓ b\u{202e}\u{9b}1m", ChecklistState::Pending)];
        let shown = lines(&items, "  ", PLAIN, 200);
        assert_eq!(shown.lines().count(), 1, "{shown:?}");
        let is_safe = |character: char| character == '\n' || !host_text::is_unsafe(character);
        assert!(shown.chars().all(is_safe) && shown.starts_with("  ☐ a"), "{shown:?}");
    }

    #[test]
    fn checklist_that_is_long_shows_the_steps_at_hand() {
        let of = |done: usize, all: usize| {
            let state = |at| if at < done { ChecklistState::Done } else { ChecklistState::Pending };
            let items: Vec<_> = (0..all).map(|at| item(&format!("step {at}"), state(at))).collect();
            lines(&items, "", PLAIN, 80)
        };
        let shown = of(20, 50);
        assert!(
            shown.starts_with("… 20 done before\n☐ step 20\n") && shown.ends_with("☐ step 34\n… 15 more\n"),
            "{shown}"
        );
        let shown = of(48, 50);
        assert!(shown.starts_with("… 35 done before\n✓ step 35\n") && shown.ends_with("☐ step 49\n"), "{shown}");
        assert_eq!(of(15, 15).lines().count(), 15);
        let mut items: Vec<_> = (0..30).map(|at| item(&format!("step {at}"), ChecklistState::Cancelled)).collect();
        items[29].state = ChecklistState::Pending;
        let shown = lines(&items, "", PLAIN, 80);
        assert!(shown.starts_with("… 15 done or cancelled before\n– step 15"), "{shown}");
    }
}
