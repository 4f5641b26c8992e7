//! The installed plugins that the user's lock file names, and that of a trusted project.
//!
//! Promises: whatever is read of a bundle is hashed and compared with the lock file, each time; its component is not
//! read before it has to be compiled ([`StoredBundle`]). One that was revoked since it was installed is skipped.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::ScopedJoinHandle;

use host_bundle::{Locked, OciDigest, StoredBundle, Trust};
use host_capability::Grants;
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::ProjectFiles;
use host_text::{Advice, Notice};
use jiff::Timestamp;

use super::Found;
use crate::plugins::file_stamps::{FileStamps, Links};
use crate::plugins::store::{Agreed, List, PluginStore, USER_LOCKFILE, grants, trusted_keys};
use crate::plugins::{LoadedComponent, LoadedPlugin, PluginList, PluginOrigin};

/// The plugins, with the reasons to skip others in `skipped`.
pub(super) fn find(
    project: &ProjectFiles,
    folders: &Folders,
    workspace: &Path,
    skipped: &mut Vec<Notice>,
) -> Result<Vec<Found>, Failure> {
    let of = |list, file: List| file.file.plugins.into_iter().map(move |(name, locked)| (name, (list, locked)));
    let mut all: BTreeMap<String, (PluginList, Locked)> = of(PluginList::User, List::own(folders)?).collect();
    if let Some(file) = &project.lock {
        all.extend(of(PluginList::Project, List::from_project(file)?));
    }
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let store = PluginStore::new(folders);
    let all_agreed = store.all_agreed()?;
    let context = Context { store, trust: trusted_keys(folders)?, now: Timestamp::now(), all_agreed, workspace };
    // Reading and hashing is work for both of two cores, as most machines have at least.
    let mut all: Vec<_> = all.into_iter().collect();
    let later = all.split_off(all.len().div_ceil(2));
    let read = |all: Vec<_>| all.into_iter().map(|(name, (list, locked))| context.read(name, list, &locked)).collect();
    let (earlier, later): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
        let helper = (!later.is_empty()).then(|| scope.spawn(|| read(later)));
        let earlier = read(all);
        let join = |helper: ScopedJoinHandle<'_, _>| helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        (earlier, helper.map(join).unwrap_or_default())
    });
    let mut found = Vec::new();
    for entry in earlier.into_iter().chain(later) {
        match entry? {
            Read::Found(plugin) => found.push(*plugin),
            Read::Skipped(why) => skipped.push(why),
        }
    }
    Ok(found)
}

/// What of an entry of a list was read.
enum Read {
    /// The plugin, or why it cannot be used.
    Found(Box<Found>),
    /// Why it is not used, a line for the user.
    Skipped(Notice),
}

/// What reading an entry needs.
struct Context<'a> {
    store: PluginStore,
    trust: Trust,
    now: Timestamp,
    all_agreed: BTreeMap<OciDigest, Agreed>,
    workspace: &'a Path,
}

/// Why a plugin of a list cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockedPluginError {
    /// The list names another bundle.
    #[error("the lock file does not match the plugin `{name}`")]
    OtherPlugin {
        /// The name in the list.
        name: String,
        /// The digest in the list.
        digest: OciDigest,
        /// The plugin that has the digest.
        bundle: String,
    },
}

impl Fault for LockedPluginError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::OtherPlugin { digest, bundle, .. } => vec![format!("{digest} is `{bundle}`").into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        Some(Advice::from("install it again, with ").command("plugin install"))
    }
}

impl Context<'_> {
    fn read(&self, name: String, list: PluginList, locked: &Locked) -> Result<Read, Failure> {
        let Some(bundle) = self.store.stored(locked)? else {
            let skipped = Notice::from(format!("the plugin `{name}` is not installed here; "));
            return Ok(Read::Skipped(skipped.command("plugin install").text(" gets it")));
        };
        if bundle.manifest().name != name {
            let (digest, bundle) = (locked.digest.clone(), bundle.statement().to_string());
            return Err(LockedPluginError::OtherPlugin { name, digest, bundle }.into());
        }
        if let Err(refusal) = self.trust.check_installed(&bundle, self.now) {
            let skipped = Notice::from(format!("the plugin `{name}` is not used: ")).then(refusal.notice());
            return Ok(Read::Skipped(skipped.text("; remove it with ").command(format!("plugin remove {name}"))));
        }
        let agreed = self.all_agreed.get(&locked.digest).cloned().unwrap_or_default();
        let agreed = grants(&agreed, self.workspace)?;
        let origin = PluginOrigin::Store { name, list };
        let plugin = load(bundle, agreed, origin.clone(), self.workspace);
        Ok(Read::Found(Box::new(Found { plugin, origin })))
    }
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
    Ok(LoadedPlugin { agreed, ..plugin }.with_known_imports()?)
}
