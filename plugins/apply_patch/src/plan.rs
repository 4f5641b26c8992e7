//! What a patch changes in the files that are there, all of it or nothing.
//!
//! Promises: everything is read and every place found before anything is written. If a file cannot be written then, what
//! was written before is put back, and only what cannot be put back is reported as changed.

use host_sdk::fs_read::{self, Whole};
use host_sdk::fs_write::{self, Expected};
use host_sdk::{Failure, FileDifference};
use tool_difference::unified;
use tool_matching::TextFile;
use tool_text::printable;

use crate::hunks::put;
use crate::patch::{Action, FilePatch, Patch};

/// What a patch will do.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The files with lines that were not there to the letter.
    pub(crate) inexact: Vec<String>,
}

/// A change to one path.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) path: String,
    /// What is there before, or nothing.
    pub(crate) before: Option<Whole>,
    /// What is there afterwards, or nothing.
    pub(crate) after: Option<String>,
    /// The path that it comes from, for a file that moves.
    pub(crate) moved_from: Option<String>,
}

impl Step {
    /// The change as a difference; a file that is removed ends empty.
    pub(crate) fn difference(&self) -> FileDifference {
        let before = self.before.as_ref().map(|whole| String::from_utf8_lossy(&whole.data));
        let proposed = self.after.clone().unwrap_or_default();
        FileDifference { path: self.path.clone(), unified: unified(&self.path, before.as_deref(), &proposed), proposed }
    }

    fn run(&self) -> Result<(), fs_write::Error> {
        let expected = match &self.before {
            Some(whole) => Expected::Digest(whole.digest.clone()),
            None => Expected::Absent,
        };
        match &self.after {
            Some(content) => fs_write::write(&self.path, content.as_bytes(), &expected).map(drop),
            None => fs_write::remove(&self.path),
        }
    }

    /// Puts back what was there, unless somebody changed it since.
    fn take_back(&self) -> Result<(), fs_write::Error> {
        match (&self.before, &self.after) {
            (Some(whole), Some(content)) => {
                let is = fs_read::read_whole(&self.path).map(|now| (now.data == content.as_bytes(), now.digest));
                match is {
                    Ok((true, digest)) => fs_write::write(&self.path, &whole.data, &Expected::Digest(digest)).map(drop),
                    _ => Err(fs_write::Error::Changed(None)),
                }
            }
            (Some(whole), None) => fs_write::write(&self.path, &whole.data, &Expected::Absent).map(drop),
            (None, _) => fs_write::remove(&self.path),
        }
    }
}

/// Works out what the patch changes. Nothing is written.
///
/// # Errors
///
/// If a file is not there or not text, or lines are not in it: all of the reasons, so that one more patch is enough.
pub(crate) fn plan(patch: Patch) -> Result<Plan, Failure> {
    let mut plan = Plan { steps: Vec::new(), inexact: Vec::new() };
    let mut problems: Vec<String> = Vec::new();
    for file in patch.files {
        let path = file.path.clone();
        match steps(file, &mut plan) {
            Ok(()) => {}
            // Nothing else is wrong with the patch then.
            Err(Problem::Failed(failure)) => return Err(failure),
            Err(Problem::Wrong(problem)) => problems.push(format!("`{}`: {problem}", printable(&path))),
        }
    }
    if problems.is_empty() {
        return Ok(plan);
    }
    Err(Failure::Conflict(format!("nothing was changed: {}", problems.join("\n"))))
}

enum Problem {
    Failed(Failure),
    Wrong(String),
}

impl From<fs_read::Error> for Problem {
    fn from(error: fs_read::Error) -> Self {
        Self::Failed(error.into())
    }
}

fn steps(FilePatch { path, action }: FilePatch, plan: &mut Plan) -> Result<(), Problem> {
    match action {
        Action::Add(content) => {
            absent(&path)?;
            plan.steps.push(Step { path, before: None, after: Some(content), moved_from: None });
        }
        Action::Delete => {
            let before = Some(there(&path)?);
            plan.steps.push(Step { path, before, after: None, moved_from: None });
        }
        Action::Update { moved_to, hunks } => {
            let whole = there(&path)?;
            let file = TextFile::new(&whole.data).ok_or_else(|| Problem::Wrong("it is not UTF-8 text".to_owned()))?;
            let (text, exact) = put(file.text(), &hunks).map_err(|errors| {
                Problem::Wrong(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            })?;
            let content = file.restore(&text);
            if content.as_bytes() == whole.data && moved_to.is_none() {
                return Err(Problem::Wrong("the patch makes no difference to it".to_owned()));
            }
            if !exact {
                plan.inexact.push(path.clone());
            }
            match moved_to {
                Some(target) => {
                    absent(&target)?;
                    // The new file first: what fails then has lost nothing.
                    let moved_from = Some(path.clone());
                    plan.steps.push(Step { path: target, before: None, after: Some(content), moved_from });
                    plan.steps.push(Step { path, before: Some(whole), after: None, moved_from: None });
                }
                None => plan.steps.push(Step { path, before: Some(whole), after: Some(content), moved_from: None }),
            }
        }
    }
    Ok(())
}

fn there(path: &str) -> Result<Whole, Problem> {
    match fs_read::read_whole(path) {
        Ok(whole) => Ok(whole),
        Err(fs_read::Error::NotFound(_)) => Err(Problem::Wrong("there is no such file".to_owned())),
        Err(fs_read::Error::TooLarge(size)) => {
            Err(Problem::Wrong(format!("it has {size} bytes, more than the 20 MiB that can be changed")))
        }
        Err(error) => Err(error.into()),
    }
}

fn absent(path: &str) -> Result<(), Problem> {
    match fs_read::stat(path) {
        Err(fs_read::Error::NotFound(_)) => Ok(()),
        Ok(_) => Err(Problem::Wrong("it exists already; use `*** Update File` to change it".to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Does what was planned.
///
/// # Errors
///
/// If a file cannot be written; the others are as they were before, or named in the error.
pub(crate) fn run(plan: &Plan) -> Result<(), Failure> {
    for (index, step) in plan.steps.iter().enumerate() {
        let Err(error) = step.run() else { continue };
        let stuck: Vec<String> = plan
            .steps
            .iter()
            .take(index)
            .rev()
            .filter(|step| step.take_back().is_err())
            .map(|step| format!("`{}`", printable(&step.path)))
            .collect();
        if stuck.is_empty() {
            return Err(error.into());
        }
        let cause = Failure::from(error);
        return Err(Failure::Failed(format!(
            "`{}` was not changed ({cause}), and these files were, and cannot be put back: {}",
            printable(&step.path),
            stuck.join(", ")
        )));
    }
    Ok(())
}
