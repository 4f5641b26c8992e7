//! `host trust`: which projects a user trusts to bring files of their own, and what is in those.
//!
//! `docs/trust.md` says what trusting means. Deliberately not here: the question that `host run` asks (`project::ask`),
//! and what is reported and changed (`host_settings::project::trusting`).

use host_settings::environment::Environment;
use host_settings::error::Failure;
use host_settings::project::trusting::{self, Status};
use host_settings::project::{Project, Store};
use tokio_util::sync::CancellationToken;

use crate::arguments::Trust;
use crate::command::tool;
use crate::exit::Code;
use crate::printer::Out;

pub(crate) fn run(trust: Option<Trust>, environment: &Environment) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let out = Out::new(CancellationToken::new());
    let text = match trust.unwrap_or(Trust::Status { folder: None, json: false }) {
        Trust::Status { folder, json: true } => {
            let (project, contents) = Project::find(&trusting::real(folder.as_deref())?, &folders)?.read();
            return tool::print_json(&trusting::described(&project, &contents), &out);
        }
        Trust::Status { folder, json: false } => {
            let Status { mut text, next } = trusting::status(folder.as_deref(), &folders)?;
            next.iter().for_each(|next| text.push_str(&format!("\n{next}.\n")));
            text
        }
        Trust::Add { folder } => trusting::add(folder.as_deref(), &folders)?,
        Trust::Remove { folder } => trusting::remove(folder.as_deref(), &folders)?,
        Trust::List { json: true } => {
            return tool::print_json(&trusting::listed(&Store::at(folders.trust))?, &out);
        }
        Trust::List { json: false } => trusting::list(&Store::at(folders.trust))?,
    };
    out.write_entries(&text);
    Ok(Code::Done)
}
