//! Gathers plugins: the built-in ones, those that were installed, those of a trusted project, and those that the person
//! named with `--plugin`.
//!
//! Promises: it can be done again at any time, and a plugin that is found at the same place is the same one or another
//! version of it; one that is no good keeps nobody from the others. Of components only the imports are read.
//!
//! Deliberately not here: when that is done again (`reload`).

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use host_files::FileError;
use host_manifest::Source;
use host_plugin::{Digest, MAX_COMPONENT};

use super::{DISCOVERED, LoadedPlugin, Whose, assembled, built_in, installed, unfit};
use crate::environment::Folders;
use crate::error::Failure;
use crate::plugins::settings::{Settings, Settled};
use crate::plugins::store::{self, Usable};
use crate::project::{Brought, ProjectFile};

/// Where a plugin lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the host, by this name.
    BuiltIn(&'static str),
    /// Behind the command that tells of tools.
    Discovered,
    /// In the plugin store, by this name.
    Store(String),
    /// In a file: its component, or the path that was named where that cannot be read.
    File(PathBuf),
}

/// What was found at a place.
#[derive(Debug)]
pub struct Found {
    /// Where it was found.
    pub place: Place,
    /// The plugin, or why it cannot be used.
    pub plugin: Result<LoadedPlugin, Failure>,
}

/// All that was found.
#[derive(Debug)]
pub struct Gathered {
    /// Each plugin that was found, usable or not.
    pub found: Vec<Found>,
    /// What there is to say of those that are left out.
    pub notes: Vec<String>,
}

/// Finds the plugins of all sources: those that the user named, a trusted project's, the plugin store's and the built-in
/// ones.
///
/// # Errors
///
/// When a lock file or a bundle of the plugin store was changed.
pub fn gather(
    named_ones: &[PathBuf],
    brought: &Brought,
    folders: &Folders,
    workspace: &Path,
    settings: &Settings,
) -> Result<Gathered, Failure> {
    let (usable, mut notes) = store::usable(folders, brought.lock.as_ref(), workspace)?;
    let mut found = Vec::new();
    let mut add = |place: Place, plugin: Result<LoadedPlugin, Failure>| match plugin.and_then(|it| settings.settle(it))
    {
        Ok(Settled::Usable(plugin)) => found.push(Found { place, plugin: Ok(*plugin) }),
        Ok(Settled::LeftOut(why)) => notes.push(why),
        Err(failure) => found.push(Found { place, plugin: Err(failure) }),
    };
    for plugin in built_in(workspace)? {
        add(plugin.place.clone(), Ok(plugin));
    }
    for usable in usable {
        let place = Place::Store(usable.bundle.manifest().name.clone());
        add(place.clone(), of_others(place, usable, workspace));
    }
    for (component, manifest) in &brought.plugins {
        add(Place::File(component.path.clone()), of_project(component, manifest, workspace));
    }
    for path in named_ones {
        match components(path) {
            Ok(files) => files.iter().for_each(|file| add(Place::File(file.clone()), named(file, workspace))),
            Err(failure) => add(Place::File(path.clone()), Err(failure)),
        }
    }
    Ok(Gathered { found, notes })
}

impl Gathered {
    /// All of them, or the first that is no good.
    pub fn all(self) -> Result<Vec<LoadedPlugin>, Failure> {
        distinct(self.found.into_iter().map(|found| found.plugin).collect::<Result<_, _>>()?)
    }
}

/// The plugins, where each has a name of its own.
pub fn distinct(plugins: Vec<LoadedPlugin>) -> Result<Vec<LoadedPlugin>, Failure> {
    for (at, plugin) in plugins.iter().enumerate() {
        let is_reserved = plugin.manifest.name == DISCOVERED && plugin.place != Place::Discovered;
        if is_reserved || plugins.iter().take(at).any(|other| other.manifest.name == plugin.manifest.name) {
            return Err(Failure::input(format!("there is a plugin `{}` already", plugin.manifest.name))
                .cause(format!("{} has the same name", plugin.place))
                .help("give the other one another name in its plugin.toml, and build it again"));
        }
    }
    Ok(plugins)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => write!(f, "the built-in plugin `{name}`"),
            Self::Discovered => f.write_str("the command that tells of tools"),
            Self::Store(name) => write!(f, "the installed plugin `{name}`"),
            Self::File(path) => write!(f, "`{}`", path.display()),
        }
    }
}

fn of_others(place: Place, Usable { bundle, agreed }: Usable, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    // Both were read, and the digest taken, when the bundle was.
    let digest = Digest::from_sha256(&bundle.component_digest().to_sha256());
    let (manifest, component) = bundle.into_manifest_and_component();
    let plugin = assembled(place, manifest, Cow::Owned(component), Some(digest), workspace).map_err(unfit)?;
    admitted(LoadedPlugin { agreed, ..plugin })
}

fn of_project(component: &ProjectFile, manifest: &ProjectFile, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    if manifest.bytes.is_empty() {
        return Err(Failure::configuration(format!("the plugin `{}` has no manifest", component.path.display()))
            .help("`host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side"));
    }
    let bytes = Cow::Owned(component.bytes.clone());
    let source = Source::File(manifest.path.clone());
    let digest = Some(component.digest.clone());
    let place = Place::File(component.path.clone());
    let plugin = admitted(installed(place, manifest.text()?, source, bytes, digest, workspace)?)?;
    Ok(LoadedPlugin { whose: Whose::Projects, ..plugin })
}

fn named(file: &Path, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    let manifest = file.with_extension("json");
    let text = read(&manifest, "the manifest", host_manifest::Manifest::MAX_BYTES)?;
    let text = String::from_utf8(text)
        .map_err(|_| Failure::input(format!("the manifest `{}` is no text", manifest.display())))?;
    let component = read(file, "the component", MAX_COMPONENT as u64)?;
    let place = Place::File(file.to_owned());
    admitted(installed(place, &text, Source::File(manifest), Cow::Owned(component), None, workspace)?)
}

/// A plugin that is not built in, once its imports are known to be such as there are.
fn admitted(plugin: LoadedPlugin) -> Result<LoadedPlugin, Failure> {
    // Better said now than at its first call.
    match plugin.plugin.imports() {
        Ok(_) => Ok(plugin),
        Err(error) => Err(Failure::input(format!("{} is not taken", plugin.place))
            .cause(error.to_string())
            .help("`host plugin build` makes components that are")),
    }
}

/// The components that a path names: itself, or all in the folder.
fn components(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::input(format!("the plugin `{}` cannot be read: {error}", path.display()));
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|end| end == "wasm") {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::input(format!("there is no plugin in `{}`", path.display()))
            .help("`host plugin build SOURCES --out DIR` puts components there"));
    }
    Ok(files)
}

fn read(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    match host_files::read_file(path, limit) {
        Ok(bytes) => Ok(bytes),
        Err(FileError::TooLarge { limit }) => {
            Err(Failure::input(format!("{what} `{}` is over the limit of {limit} bytes", path.display())))
        }
        Err(error) => Err(Failure::input(format!("{what} `{}` cannot be read: {error}", path.display()))
            .help("`host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side")),
    }
}
