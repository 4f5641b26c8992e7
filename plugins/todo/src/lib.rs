//! The tool `todo`: the list of steps that a model works through, shown to the user as a checklist.
//!
//! Each call has the whole list. The conversation keeps it, and with it the session log: so it is there after a resume,
//! each session has its own, and the tool needs no capability.
//!
//! Deliberately not here: the capability `state`, whose values belong to a project and not to a session.

mod list;

use host_sdk::{Annotations, Failure, Outcome, Tool, export_plugin};
use list::{Item, List};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Keeps the list of steps of the present task, which the user sees as a checklist. Use it for work of three steps or \
more: write the list before you begin, with one step in progress, and call it again with the whole list whenever a \
step begins, is done, or turns out to be needed. Mark a step as done only when it is, and as cancelled when it is not \
needed any more. A step with `depends_on` cannot be in progress before those are done or cancelled. Do not use it for a \
single step or for an answer. Limits: 50 steps of 200 characters.";

export_plugin!(todo());

fn todo() -> Tool {
    Tool::new("todo", DESCRIPTION, include_str!("input.json"), call)
        .title("Keep a list of steps")
        .output_schema(include_str!("output.json"))
        .annotations(Annotations::READ_ONLY)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    items: Vec<Item>,
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let list = List::new(arguments.items)?;
    Outcome::json_in_words(&list, list.words())
}
