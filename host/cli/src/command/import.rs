//! `host import`: shows what would be taken over from another agent's configuration, and asks whether to write it.
//!
//! Promises: without a user who can be asked it writes nothing, unless --yes says so. Deliberately not here: what is
//! taken over, which `host-import` decides.

use std::path::Path;

use host_import::{ItemState, apply, plan};
use host_sessions::transcript::to_json;
use host_settings::configuration::ForeignAgent;
use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_terminal::{Interrupt, Question};
use host_text::counted;
use tokio_util::sync::CancellationToken;

use crate::arguments::{ImportArguments, ImportFrom};
use crate::ask::{Answered, Asker, choice};
use crate::exit::Code;
use crate::printer::Out;

pub(crate) async fn run(
    arguments: ImportArguments,
    environment: &Environment,
    interrupt: &Interrupt,
) -> Result<Code, Failure> {
    let ImportArguments { agent, folder, yes, json } = arguments;
    let agent = match agent {
        ImportFrom::Claude => ForeignAgent::Claude,
        ImportFrom::Codex => ForeignAgent::Codex,
        ImportFrom::Gemini => ForeignAgent::Gemini,
    };
    let folder = folder.as_deref().unwrap_or(Path::new("."));
    let folder = std::fs::canonicalize(folder)
        .map_err(|error| Failure::input(format!("there is no folder `{}`: {error}", folder.display())))?;
    let folders = environment.folders()?;
    let plan = plan(agent, &folder, environment, &folders)?;
    let out = Out::new(CancellationToken::new());
    out.write(&if json { to_json(&plan)? } else { plan.text() });
    let new = plan.items.iter().filter(|item| item.state == ItemState::New).count();
    if new == 0 {
        return Ok(Code::Done);
    }
    let asker = Asker::new(environment, interrupt).filter(|_| !json && !yes);
    let is_agreed = match asker {
        _ if yes => true,
        Some(asker) => {
            let choices = [choice('y', "Write what is new"), choice('n', "Write nothing")].to_vec();
            let lines = vec![asker.style().bold(&format!("Write {}?", counted(new as u64, "thing")))];
            asker.ask(Question { lines, choices, ..Question::default() }).await? == Answered::Choice(0)
        }
        None => false,
    };
    if is_agreed {
        let written = apply(&plan, environment, &folders)?;
        if !json {
            out.write(&format!("\nwrote {}\n", counted(written as u64, "thing")));
        }
    } else if !json {
        out.write("\nnothing was written; --yes writes it\n");
    }
    Ok(Code::Done)
}
