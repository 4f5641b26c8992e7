//! The tool `apply_patch`: changes to several files at once, in the form that models of the GPT families write.
//!
//! Promises: all changes are made or none; each goes to the one place where its lines are.
//!
//! Deliberately not here: unified differences, whose line numbers models get wrong.

mod hunks;
mod patch;
mod plan;

use host_sdk::{Annotations, Confirmation, Failure, Outcome, Tool, export_plugin, file_changes};
use patch::parse;
use plan::{Plan, Step, plan, run};
use serde::Deserialize;
use tool_text::printable;

const DESCRIPTION: &str = "\
Changes files with a patch: all of it, or nothing. The patch is
*** Begin Patch
[one or more files]
*** End Patch
with, for each file, one of
*** Add File: PATH (each line that follows begins with `+`)
*** Delete File: PATH
*** Update File: PATH (optionally `*** Move to: PATH` in the next line), and then its changes.
A change begins with `@@`, or with `@@ ` and the line of the function or class that it is in; its lines begin with a \
space (stays), `-` (removed) or `+` (added). Give three lines that stay above and below, more if the place is not \
unique, and `*** End of File` behind lines at the end of a file. Lines that stay or go must be in the file; only white \
space and the form of quotes and dashes may differ. Paths are relative to the workspace or absolute. Only UTF-8 text of \
at most 20 MiB; a file that somebody else changed since you last saw it is not changed, and the difference is shown.";

export_plugin!(apply_patch());

fn apply_patch() -> Tool {
    Tool::new("apply_patch", DESCRIPTION, include_str!("input.json"), call)
        .title("Apply a patch")
        .annotations(Annotations { read_only: false, destructive: true, idempotent: false, open_world: false })
        .needs("fs-read", "*", "find the lines that are to be replaced")
        .needs("fs-write", "*", "change, create, move and delete the files that the patch names")
        .preview(preview)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    patch: String,
}

fn planned(arguments: &Arguments) -> Result<Plan, Failure> {
    plan(parse(&arguments.patch).map_err(|error| Failure::InvalidArguments(error.to_string()))?)
}

fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let plan = planned(&arguments)?;
    for step in &plan.steps {
        match step.after {
            Some(_) => file_changes::write(&step.difference()),
            None => file_changes::remove(&step.path),
        }
    }
    Ok(Some(Confirmation::Call))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let plan = planned(&arguments)?;
    run(&plan)?;
    let words = words(&plan);
    Ok(match plan.steps.as_slice() {
        [step @ Step { after: Some(_), .. }] => Outcome::text(words).with_difference(step.difference()),
        steps => Outcome::text(words).with_summary(summary(steps)),
    })
}

/// What was done, in a line for the user.
fn summary(steps: &[Step]) -> String {
    const NAMED: usize = 4;
    let named: Vec<String> = steps
        .iter()
        .take(NAMED)
        .map(|step| match (&step.before, &step.after) {
            (_, None) => format!("-{}", printable(&step.path)),
            (None, Some(_)) => format!("+{}", printable(&step.path)),
            (Some(_), Some(_)) => printable(&step.path).into_owned(),
        })
        .collect();
    let more = steps.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(" "))
}

/// What was done, a line for each file.
fn words(plan: &Plan) -> String {
    let moved: Vec<&str> = plan.steps.iter().filter_map(|step| step.moved_from.as_deref()).collect();
    let mut lines = Vec::new();
    for step in &plan.steps {
        let path = printable(&step.path);
        lines.push(match (&step.before, &step.after, &step.moved_from) {
            (_, _, Some(from)) => format!("Moved `{}` to `{path}`", printable(from)),
            (_, None, None) if moved.contains(&step.path.as_str()) => continue,
            (_, None, None) => format!("Deleted `{path}`"),
            (None, Some(_), None) => format!("Created `{path}`"),
            (Some(_), Some(_), None) => format!("Changed `{path}`"),
        });
    }
    if !plan.inexact.is_empty() {
        let files: Vec<String> = plan.inexact.iter().map(|path| format!("`{}`", printable(path))).collect();
        let files = files.join(", ");
        lines.push(format!(
            "In {files}, lines were found with other white space, quotes or dashes; what you did not change is as it was"
        ));
    }
    lines.join("\n")
}
