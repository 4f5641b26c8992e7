//! The installed plugins that the user's lock file names, and that of a trusted project.
//!
//! Promises: whatever is read of a bundle is hashed and compared with the lock file, each time; its component is not read before
//! it has to be compiled ([`StoredBundle`]). One that was revoked since it was installed is skipped.

use std::collections::BTreeMap;
use std::path::Path;

use host_bundle::{Locked, Refusal, StoredBundle};
use host_capability::Grants;
use jiff::Timestamp;

use super::{Found, PluginList, PluginOrigin};
use crate::environment::Folders;
use crate::error::Failure;
use crate::plugins::file_stamps::{FileStamps, Links};
use crate::plugins::store::{List, PluginStore, USER_LOCKFILE, grants, trusted_keys};
use crate::plugins::{LoadedComponent, LoadedPlugin};
use crate::project::ProjectFiles;

/// The plugins, with the reasons to skip others in `skipped`.
pub(super) fn find(
    project: &ProjectFiles,
    folders: &Folders,
    workspace: &Path,
    skipped: &mut Vec<String>,
) -> Result<Vec<Found>, Failure> {
    let of = |list, file: List| file.file.plugins.into_iter().map(move |(name, locked)| (name, (list, locked)));
    let mut all: BTreeMap<String, (PluginList, Locked)> = of(PluginList::User, List::own(folders)?).collect();
    if let Some(file) = &project.lock {
        all.extend(of(PluginList::Project, List::from_project(file)?));
    }
    let mut found = Vec::new();
    if all.is_empty() {
        return Ok(found);
    }
    let (store, trust, now) = (PluginStore::new(folders), trusted_keys(folders)?, Timestamp::now());
    let all_agreed = store.all_agreed()?;
    for (name, (list, locked)) in all {
        let Some(bundle) = store.stored(&locked)? else {
            skipped.push(format!("the plugin `{name}` is not installed here; `host plugin install` gets it"));
            continue;
        };
        if bundle.manifest().name != name {
            return Err(Failure::configuration(format!("the lock file does not match the plugin `{name}`"))
                .cause(format!("{} is `{}`", locked.digest, bundle.statement()))
                .help("install it again, with `host plugin install`"));
        }
        if let Err(refusal @ (Refusal::RevokedKey { .. } | Refusal::RevokedDigest { .. })) = trust.check(&bundle, now) {
            skipped.push(format!(
                "the plugin `{name}` is not used: {refusal}; remove it with `host plugin remove {name}`"
            ));
            continue;
        }
        let agreed = all_agreed.get(&locked.digest).cloned().unwrap_or_default();
        let agreed = grants(&agreed, workspace)?;
        let origin = PluginOrigin::Store { name, list };
        found.push(Found { plugin: load(bundle, agreed, origin.clone(), workspace), origin });
    }
    Ok(found)
}

/// The user's own files. A project's lock file is among those of the project.
pub(super) fn add_stamps(folders: &Folders, stamps: &mut FileStamps) {
    stamps.add(&folders.keys, Links::Follow);
    stamps.add(&folders.configuration.join(USER_LOCKFILE), Links::Follow);
    stamps.add_entries(&folders.plugins, Links::Follow, |_| true);
}

fn load(bundle: StoredBundle, agreed: Grants, origin: PluginOrigin, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    let (manifest, component) = bundle.into_manifest_and_component();
    let plugin = LoadedPlugin::new(origin, manifest, LoadedComponent::new(component, None), workspace)?;
    LoadedPlugin { agreed, ..plugin }.with_known_imports()
}
