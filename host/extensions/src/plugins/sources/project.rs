//! The plugins in the `.host/plugins/` of a trusted project.
//!
//! Promises: their bytes are those that were read when the trust was checked. Deliberately not here: reading and
//! trusting a project (`project`).

use std::path::{Path, PathBuf};

use host_manifest::Source;
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::{FOLDER, ProjectFile, ProjectFiles};
use host_text::Advice;

use super::Found;
use crate::plugins::file_stamps::{FileStamps, Links};
use crate::plugins::{LoadedComponent, LoadedPlugin, PluginOrigin, parse_manifest};

/// The folders of a project's `.host/` whose files decide, with those of `.host/` itself, whether it is as it was.
const PARTS: [&str; 4] = ["agents", "plugins", "policies", "tools"];

pub(super) fn find(project: &ProjectFiles, workspace: &Path) -> Vec<Found> {
    let found = |(component, manifest): &(ProjectFile, ProjectFile)| {
        let origin = PluginOrigin::Project(component.path.clone());
        Found { plugin: load(component, manifest, origin.clone(), workspace), origin }
    };
    project.plugins.iter().map(found).collect()
}

/// All of `.host/`, since a change of any file ends the trust; and the list of trusted projects.
pub(super) fn add_stamps(project: &Path, folders: &Folders, stamps: &mut FileStamps) {
    let own = project.join(FOLDER);
    stamps.add_entries(&own, Links::Keep, |_| true);
    for part in PARTS.map(|part| own.join(part)) {
        // No symbolic link of a project is followed.
        if std::fs::symlink_metadata(&part).is_ok_and(|metadata| metadata.is_dir()) {
            stamps.add_entries(&part, Links::Keep, |_| true);
        }
    }
    stamps.add(&folders.trust, Links::Follow);
}

/// Why a plugin of a project cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProjectPluginError {
    /// A component is alone.
    #[error("the plugin `{}` has no manifest", .0.display())]
    NoManifest(PathBuf),
}

impl Fault for ProjectPluginError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn help(&self) -> Option<Advice> {
        Some(
            Advice::default()
                .command("plugin build")
                .text(" puts a component NAME.wasm and its manifest NAME.json side by side"),
        )
    }
}

fn load(
    component: &ProjectFile,
    manifest: &ProjectFile,
    origin: PluginOrigin,
    workspace: &Path,
) -> Result<LoadedPlugin, Failure> {
    if manifest.bytes.is_empty() {
        return Err(ProjectPluginError::NoManifest(component.path.clone()).into());
    }
    let parsed = parse_manifest(manifest.text()?, Source::File(manifest.path.clone()))?;
    let component = LoadedComponent::new(component.bytes.clone(), Some(component.digest.clone()));
    Ok(LoadedPlugin::new(origin, parsed, component, workspace)?.with_known_imports()?)
}
