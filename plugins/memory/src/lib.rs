//! The tool `memory`: facts that are kept for later runs in the same project.
//!
//! All facts are one value under one key, changed by compare and swap: two calls at once lose nothing.
//!
//! Deliberately not here: putting the facts before a model by itself; a model asks for them with `list`.

mod facts;

use facts::Facts;
use host_sdk::{Annotations, Confirmation, Failure, InfoConfirmation, Outcome, Tool, export_plugin, state};
use serde::Deserialize;

const DESCRIPTION: &str = "\
Keeps short facts about this project and the user's wishes for later runs: save one, list all, or forget one by its \
key. Save what was said to be remembered or would have to be found out again; not what stands in the files, and no \
secrets.";

/// Where the facts are kept.
const KEY: &str = "facts";

/// How often a change is tried again when another call was faster. Each time one of them gets through.
const ATTEMPTS: usize = 8;

export_plugin!(memory());

fn memory() -> Tool {
    Tool::new("memory", DESCRIPTION, include_str!("input.json"), call)
        .title("Remember facts")
        .annotations(Annotations { read_only: false, destructive: false, idempotent: true, open_world: false })
        .needs("state", "write", "keep facts for later runs in this project")
        .preview(preview)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    fact: Option<String>,
    key: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Save,
    List,
    Forget,
}

/// Looking at the facts is nothing to ask about.
fn preview(arguments: Arguments) -> Result<Option<Confirmation>, Failure> {
    let Arguments { action, fact, key } = arguments;
    let text = match action {
        Action::List => return Ok(None),
        Action::Save => format!("Remember: {}", fact.unwrap_or_default()),
        Action::Forget => format!("Forget the fact `{}`", key.unwrap_or_default()),
    };
    Ok(Some(Confirmation::Info(InfoConfirmation { text, requests: Vec::new(), writes: Vec::new() })))
}

fn call(arguments: Arguments) -> Result<Outcome, Failure> {
    let Arguments { action, fact, key } = arguments;
    let missing = |what: &str| Failure::InvalidArguments(format!("`{what}` is missing"));
    let line = match action {
        Action::List => {
            let (facts, _) = load()?;
            return Ok(Outcome::text(facts.write()).with_summary(facts.summary()));
        }
        Action::Save => {
            let fact = fact.ok_or_else(|| missing("fact"))?;
            change(|facts| facts.save(key.as_deref(), &fact))?
        }
        Action::Forget => {
            let key = key.ok_or_else(|| missing("key"))?;
            change(|facts| facts.forget(&key))?
        }
    };
    Ok(Outcome::text(line.clone()).with_summary(line))
}

/// Changes the facts; the closure says what it did.
fn change(edit: impl Fn(&mut Facts) -> Result<String, Failure>) -> Result<String, Failure> {
    for _ in 0..ATTEMPTS {
        let (mut facts, expected) = load()?;
        let done = edit(&mut facts)?;
        match state::put(KEY, &facts.to_bytes(), &expected) {
            Ok(_) => return Ok(done),
            Err(state::Error::Changed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::Conflict("other calls changed the facts at the same time: try again".to_owned()))
}

fn load() -> Result<(Facts, state::Expected), Failure> {
    Ok(match state::get(KEY)? {
        Some(item) => (Facts::from_bytes(&item.value)?, state::Expected::Version(item.version)),
        None => (Facts::default(), state::Expected::Absent),
    })
}
