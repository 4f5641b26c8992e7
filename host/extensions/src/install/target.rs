//! The list that a plugin is installed into: the user's own, or that of a project.
//!
//! Promises: the list of a project that the user does not trust is not read, not even to be shown.

use std::collections::BTreeMap;

use host_bundle::{LockFile, Locked};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure};
use host_settings::project::{FOLDER, LOCK, Part, Project, TrustState, how_to_trust};
use host_text::Notice;

use crate::plugins::store::{List, PluginStore};

/// A list of plugins, with the project that it belongs to.
pub struct Target {
    /// The list.
    pub list: List,
    /// The project of the list; `None` for the user's own list.
    project: Option<Project>,
}

/// The list of a project, as far as it may be read.
pub enum ProjectList {
    /// It was read, from the bytes that the user trusts; or the project has none.
    Read(List),
    /// The project has one and is not trusted as it is now, so nothing of it was read: a note for the user.
    Withheld(Notice),
}

impl ProjectList {
    /// Reads the list of a project, if the user trusts the project.
    ///
    /// # Errors
    ///
    /// When a trusted list is invalid.
    pub fn find(project: &Project) -> Result<Self, Failure> {
        if project.withholds(Part::Lock) {
            let reason = project.reason().unwrap_or_else(|| "the project is not trusted".to_owned());
            let withheld = Notice::from(format!("the project's list of plugins is not read: {reason}; "));
            return Ok(Self::Withheld(withheld.then(how_to_trust())));
        }
        match project.files().lock {
            Some(file) => List::from_project(&file).map(Self::Read),
            None => Ok(Self::Read(List { path: project.root.join(FOLDER).join(LOCK), file: LockFile::default() })),
        }
    }
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

    /// The list of a project. A project without one has an empty list, whether it is trusted or not.
    ///
    /// # Errors
    ///
    /// When the project has a list and is not trusted as it is now, or the list is invalid.
    pub fn for_project(project: Project) -> Result<Self, Failure> {
        match ProjectList::find(&project)? {
            ProjectList::Read(list) => Ok(Self { list, project: Some(project) }),
            ProjectList::Withheld(_) => {
                Err(project.untrusted("the project's list of plugins is not read").map_or_else(
                    || Failure::new(ErrorKind::Untrusted, "the project's list of plugins is not read"),
                    Failure::from,
                ))
            }
        }
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

    /// Writes the list. A project that was trusted stays trusted if nothing but the list differs; otherwise the result
    /// says why its list does not count.
    ///
    /// # Errors
    ///
    /// When the list cannot be written.
    pub fn save(&mut self, folders: &Folders) -> Result<Option<Notice>, Failure> {
        let Some(project) = self.project.take() else { return Ok(self.list.save().map(|()| None)?) };
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
