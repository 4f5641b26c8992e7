//! `host trust`: which projects a user trusts to bring files of their own, and what is in those.
//!
//! `docs/trust.md` says what trusting means. Deliberately not here: the question that `host run` asks (`project::ask`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use host_settings::environment::{Environment, Folders};
use host_settings::error::Failure;
use host_settings::project::shown::{self, Length};
use host_settings::project::{Change, Contents, FOLDER, Project, Store, TrustState, Trusted, UNUSABLE_HELP};
use host_text::counted;
use serde_json::{Value, json};
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
            let (project, contents) = Project::find(&real(folder.as_deref())?, &folders)?.read();
            return tool::print_json(&described(&project, &contents), &out);
        }
        Trust::Status { folder, json: false } => status(folder.as_deref(), &folders)?,
        Trust::Add { folder } => add(folder.as_deref(), &folders)?,
        Trust::Remove { folder } => remove(folder.as_deref(), &folders)?,
        Trust::List { json: true } => return tool::print_json(&listed(&Store::at(folders.trust))?, &out),
        Trust::List { json: false } => list(&Store::at(folders.trust))?,
    };
    out.write_entries(&text);
    Ok(Code::Done)
}

fn status(folder: Option<&Path>, folders: &Folders) -> Result<String, Failure> {
    let (project, contents) = Project::find(&real(folder)?, folders)?.read();
    let place = project.shown_folder();
    let (said, next) = match &project.trust_state {
        TrustState::Nothing => {
            return Ok(format!("There is nothing to trust: `{place}` contains nothing that host uses.\n"));
        }
        TrustState::Untrusted(_) => {
            (format!("`{place}` is not trusted and is ignored."), "`host trust add` trusts it as it is now.\n")
        }
        TrustState::Changed { changes, .. } => {
            let mut said = format!("`{place}` has changed since you trusted it, and is ignored.\n\n");
            for change in changes {
                let _ = writeln!(said, "  {change}");
            }
            said.push_str("\nIt now contains:");
            (said, "`host trust add` trusts it as it is now, `host trust remove` forgets it.\n")
        }
        TrustState::Trusted(_) => (format!("`{place}` is trusted."), "`host trust remove` revokes that.\n"),
        TrustState::Unusable(why) => {
            return Ok(format!("`{place}` cannot be trusted and is ignored: {why}.\n"));
        }
    };
    Ok(format!("{said}\n\n{}\n{next}", shown::list(&contents, Length::Whole)))
}

fn add(folder: Option<&Path>, folders: &Folders) -> Result<String, Failure> {
    let (project, contents) = Project::find(&real(folder)?, folders)?.read();
    let place = project.shown_folder();
    match &project.trust_state {
        TrustState::Nothing => {
            Err(Failure::input(format!("there is nothing to trust: `{place}` contains nothing that host uses"))
                .help("`docs/trust.md` says what a project can bring"))
        }
        TrustState::Unusable(why) => {
            Err(Failure::input(format!("`{place}` cannot be trusted")).cause(why.clone()).help(UNUSABLE_HELP))
        }
        TrustState::Untrusted(_) | TrustState::Changed { .. } | TrustState::Trusted(_) => {
            let list = shown::list(&contents, Length::Whole);
            project.trust(contents, folders)?;
            Ok(format!("`{place}` is trusted as it is now:\n\n{list}"))
        }
    }
}

fn remove(folder: Option<&Path>, folders: &Folders) -> Result<String, Failure> {
    let store = Store::at(folders.trust.clone());
    let root = match real(folder) {
        Ok(folder) => Project::root_of(&folder),
        // One that is gone can be forgotten, by the name that the list has.
        Err(failure) => match folder {
            Some(folder) if folder.is_absolute() => folder.to_owned(),
            Some(_) | None => return Err(failure),
        },
    };
    let place = shown::path(&root);
    match store.remove(&root.to_string_lossy())? {
        true => Ok(format!("`{place}` is no longer trusted.\n")),
        false => {
            Err(Failure::input(format!("`{place}` is not trusted")).help("`host trust list` shows the trusted folders"))
        }
    }
}

/// The trusted folders, for a program.
fn listed(store: &Store) -> Result<Value, Failure> {
    let row = |(root, Trusted { since, files }): (&String, &Trusted)| json!({"project": root, "since": since.to_string(), "files": files, "is_there": is_there(root)});
    Ok(store.folders()?.iter().map(row).collect())
}

fn is_there(root: &str) -> bool {
    Path::new(root).join(FOLDER).symlink_metadata().is_ok()
}

fn list(store: &Store) -> Result<String, Failure> {
    let folders = store.folders()?;
    let mut text = String::new();
    for (root, Trusted { since, files }) in &folders {
        let gone = if is_there(root) { "" } else { ", gone" };
        // A string takes everything.
        let _ = writeln!(
            text,
            "{}  ({}, since {}{gone})",
            shown::path(Path::new(root)),
            counted(files.len(), "file"),
            since.strftime("%Y-%m-%d")
        );
    }
    if folders.is_empty() {
        text.push_str("No folder is trusted.\n");
    }
    Ok(text)
}

fn described(project: &Project, contents: &Contents) -> Value {
    let files: Vec<Value> = contents
        .iter()
        .map(|(name, file)| json!({"name": name, "size": file.bytes.len(), "sha256": file.digest.as_str()}))
        .collect();
    let changes = match &project.trust_state {
        TrustState::Changed { changes, .. } => changes.as_slice(),
        TrustState::Nothing | TrustState::Untrusted(_) | TrustState::Trusted(_) | TrustState::Unusable(_) => &[],
    };
    let changes: Vec<Value> = changes
        .iter()
        .map(|change| match change {
            Change::Added(name) => json!({"name": name, "change": "added"}),
            Change::Changed(name) => json!({"name": name, "change": "changed"}),
            Change::Removed(name) => json!({"name": name, "change": "removed"}),
        })
        .collect();
    json!({
        "project": project.root.display().to_string(),
        "trust": project.trust_status(),
        "reason": project.reason(),
        "files": files,
        "changes": changes,
    })
}

/// A folder's real path.
fn real(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::canonicalize(folder)
        .map_err(|error| Failure::input(format!("there is no folder `{}`: {error}", folder.display())))
}
