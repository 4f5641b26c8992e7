//! The skills of a folder as a list, to read and as data.

use std::fmt::Write as _;

use host_text::{excerpt, visible_line};
use serde_json::{Value, json};

use super::Skills;

/// Maximum number of characters of a description in the list: it is one line.
const FIRST_WORDS: usize = 100;

/// The list to read.
pub fn text(skills: &Skills) -> String {
    let mut text = String::new();
    for skill in skills.all() {
        // A string takes everything.
        let _ = writeln!(text, "{}  {}, {}", skill.file.name, skill.origin.words(), skill.place());
        let _ = writeln!(text, "  {}", excerpt(&skill.file.description, FIRST_WORDS));
        if !skill.file.compatibility.is_empty() {
            let _ = writeln!(text, "  needs: {}", visible_line(&skill.file.compatibility));
        }
    }
    if text.is_empty() {
        text.push_str("There are no skills here. docs/skills.md says where they are looked for.\n");
    }
    text
}

/// The list as data.
pub fn json(skills: &Skills) -> Value {
    let rows = skills.all().map(|skill| {
        json!({
            "name": skill.file.name,
            "description": skill.file.description,
            "source": skill.origin.words(),
            "path": skill.path(),
        })
    });
    rows.collect()
}
