//! The context files that the model has, a line for each.

use host_text::counted;

use crate::context::ContextFile;
use crate::page::{Line, Page};

/// The page.
pub fn page(files: &[ContextFile]) -> Page {
    if files.is_empty() {
        return Page::of("The model read no context files. /init writes AGENTS.md for this repository.");
    }
    let line = |(number, file): (usize, &ContextFile)| {
        let size = counted(file.characters, "character");
        Line::new(format!("{:>2}  {} · {size} · {}", number + 1, file.shown, file.origin.words())).indented(4)
    };
    let mut page: Page = files.iter().enumerate().map(line).collect();
    page.push(Line::new("/memory NUMBER edits one"));
    page
}
