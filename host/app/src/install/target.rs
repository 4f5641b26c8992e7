//! The list that a plugin is installed into: the user's own, or that of a project.

use std::collections::BTreeMap;

use host_bundle::Locked;

use crate::environment::Folders;
use crate::error::{ErrorKind, Failure};
use crate::plugins::store::{List, PluginStore};
use crate::project::{FOLDER, LOCK, Project, TrustState};

/// A list of plugins, with the project that it belongs to.
pub struct Target {
    /// The list.
    pub list: List,
    /// The project of the list; `None` for the user's own list.
    project: Option<Project>,
}

impl Target {
    /// The user's own list.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn for_user(folders: &Folders) -> Result<Self, Failure> {
        Ok(Self { list: List::own(folders)?, project: None })
    }

    /// The list of a project.
    ///
    /// # Errors
    ///
    /// When the project is unusable, or the list cannot be read.
    pub fn for_project(project: Project) -> Result<Self, Failure> {
        if let TrustState::Unusable(why) = &project.trust_state {
            return Err(
                Failure::new(ErrorKind::Untrusted, "the project's list of plugins cannot be used").cause(why.clone())
            );
        }
        let list = List::at(project.root.join(FOLDER).join(LOCK))?;
        Ok(Self { list, project: Some(project) })
    }

    /// The plugins of the list whose bundles are not installed.
    ///
    /// # Errors
    ///
    /// When an installed bundle was changed.
    pub fn missing(&self, folders: &Folders) -> Result<Vec<(String, Locked)>, Failure> {
        let store = PluginStore::new(folders);
        let mut missing = Vec::new();
        for (name, locked) in &self.list.file.plugins {
            if store.bundle(&locked.digest)?.is_none() {
                missing.push((name.clone(), locked.clone()));
            }
        }
        Ok(missing)
    }

    /// Writes the list. A project that was trusted stays trusted if nothing but the list differs; otherwise the result says
    /// why its list does not count.
    ///
    /// # Errors
    ///
    /// When the list cannot be written.
    pub fn save(&mut self, folders: &Folders) -> Result<Option<String>, Failure> {
        let Some(project) = self.project.take() else { return self.list.save().map(|()| None) };
        let root = project.root.clone();
        let was_open = matches!(project.trust_state, TrustState::Nothing | TrustState::Trusted(_));
        let before = project.read().1.fingerprint();
        self.list.save()?;
        let (project, contents) = Project::find(&root, folders)?.read();
        let but_the_list = |mut files: BTreeMap<String, String>| {
            files.remove(LOCK);
            files
        };
        if was_open && but_the_list(before) == but_the_list(contents.fingerprint()) {
            self.project = Some(project.trust(contents, folders)?);
            return Ok(None);
        }
        let note = project.note();
        self.project = Some(project);
        Ok(note)
    }
}
