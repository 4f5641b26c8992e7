//! The plan that the user approved, as a file of the session.
//!
//! It is beside the large outputs, where tools may read it, and goes when the session is removed. Deliberately not
//! here: asking about a plan.

use std::io;
use std::path::{Path, PathBuf};

use host_agent::PRESENT_PLAN;
use host_files::Mode;
use host_message::Content;
use serde_json::Value;

/// The most plans of a session that are kept.
const MOST: usize = 100;

/// Writes the plan that was presented last into a file of its own; `None` if there is none.
pub(super) fn keep(outputs: &Path, contents: &[Content]) -> io::Result<Option<PathBuf>> {
    let calls = contents.iter().rev().flat_map(|content| content.function_calls());
    let mut plans = calls.filter(|call| call.name.as_str() == PRESENT_PLAN);
    let plan = plans.next().and_then(|call| call.arguments.get("plan").and_then(Value::as_str));
    let Some(plan) = plan else { return Ok(None) };
    host_files::make_private_folder(outputs)?;
    for number in 1..=MOST {
        let name = if number == 1 { "plan.md".to_owned() } else { format!("plan-{number}.md") };
        let path = outputs.join(name);
        match host_files::create(&path, plan.as_bytes(), Mode::Private) {
            Ok(()) => return Ok(Some(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
