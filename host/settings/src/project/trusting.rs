//! What a user is shown of the trust in a project, and how they give and end it.
//!
//! Promises: a project is trusted as the files are that are listed in the answer. Deliberately not here: what the list
//! of files says (`shown`), and the question that a frontend asks before a session (`question`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use host_text::{Advice, counted};
use serde_json::{Value, json};

use super::shown::{self, Length};
use super::{Change, Contents, FOLDER, Project, Store, TrustState, Trusted, UNUSABLE_HELP};
use crate::environment::Folders;
use crate::error::Failure;

/// Whether a project is trusted, in words.
#[derive(Debug)]
pub struct Status {
    /// Lines, each with its end.
    pub text: String,
    /// What the user can do about it; `None` if there is nothing.
    pub next: Option<Advice>,
}

/// Returns whether the project of a folder is trusted, and what it contains.
///
/// # Errors
///
/// If there is no such folder, or the trusted folders cannot be read.
pub fn status(folder: Option<&Path>, folders: &Folders) -> Result<Status, Failure> {
    let (project, contents) = Project::find(&real(folder)?, folders)?.read();
    let place = project.shown_folder();
    let only = |text: String| Ok(Status { text, next: None });
    let add = || Advice::default().command("trust add").text(" trusts it as it is now");
    let remove = |what: &str| Advice::default().command("trust remove").text(what);
    let (said, next) = match &project.trust_state {
        TrustState::Nothing => {
            return only(format!("There is nothing to trust: `{place}` contains nothing that host uses.\n"));
        }
        TrustState::Unusable(why) => return only(format!("`{place}` cannot be trusted and is ignored: {why}.\n")),
        TrustState::Untrusted(_) => (format!("`{place}` is not trusted and is ignored."), add()),
        TrustState::Changed { changes, .. } => {
            let mut said = format!("`{place}` has changed since you trusted it, and is ignored.\n\n");
            for change in changes {
                // A string takes everything, here and below.
                let _ = writeln!(said, "  {change}");
            }
            said.push_str("\nIt now contains:");
            (said, add().text(", ").then(remove(" forgets it")))
        }
        TrustState::Trusted(_) => (format!("`{place}` is trusted."), remove(" revokes that")),
    };
    let text = format!("{said}\n\n{}", shown::list(&contents, Length::Whole));
    Ok(Status { text, next: Some(next) })
}

/// Trusts the project of a folder as it is; returns what it contains.
///
/// # Errors
///
/// If there is nothing to trust, it cannot be trusted, or the store cannot be written.
pub fn add(folder: Option<&Path>, folders: &Folders) -> Result<String, Failure> {
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

/// Ends the trust in a project; returns that as a sentence.
///
/// # Errors
///
/// If it is not trusted, or the store cannot be written.
pub fn remove(folder: Option<&Path>, folders: &Folders) -> Result<String, Failure> {
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
        false => Err(Failure::input(format!("`{place}` is not trusted"))
            .help(Advice::default().command("trust list").text(" shows the trusted folders"))),
    }
}

/// The trusted folders, for a program.
///
/// # Errors
///
/// If the store cannot be read.
pub fn listed(store: &Store) -> Result<Value, Failure> {
    let row = |(root, Trusted { since, files }): (&String, &Trusted)| json!({"project": root, "since": since.to_string(), "files": files, "is_there": is_there(root)});
    Ok(store.folders()?.iter().map(row).collect())
}

fn is_there(root: &str) -> bool {
    Path::new(root).join(FOLDER).symlink_metadata().is_ok()
}

/// The trusted folders, a line each.
///
/// # Errors
///
/// If the store cannot be read.
pub fn list(store: &Store) -> Result<String, Failure> {
    let folders = store.folders()?;
    let mut text = String::new();
    for (root, Trusted { since, files }) in &folders {
        let gone = if is_there(root) { "" } else { ", gone" };
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

/// What a project contains and whether it is trusted, for a program.
pub fn described(project: &Project, contents: &Contents) -> Value {
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

/// A folder's real path; without one that of the current folder.
///
/// # Errors
///
/// If there is none.
pub fn real(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::canonicalize(folder)
        .map_err(|error| Failure::input(format!("there is no folder `{}`: {error}", folder.display())))
}
