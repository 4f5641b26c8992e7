//! The plugins that the user names with `--plugin`: a component, or a folder of them, each with its manifest next to
//! it.

use std::io;
use std::path::{Path, PathBuf};

use host_files::FileError;
use host_manifest::{Manifest, Source};
use host_plugin::MAX_COMPONENT;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::Advice;

use super::Found;
use crate::plugins::file_stamps::{FileStamps, Links};
use crate::plugins::{LoadedComponent, LoadedPlugin, PluginOrigin, parse_manifest};

/// Maximum number of times that the files are read if they change meanwhile: a component and its manifest are two
/// files, and must not be from two builds.
const TRIES: usize = 3;

pub(super) fn find(path: &Path, workspace: &Path) -> Vec<Found> {
    for _ in 1..TRIES {
        let before = stamps(path);
        let found = read_all(path, workspace);
        if stamps(path) == before {
            return found;
        }
    }
    read_all(path, workspace)
}

pub(super) fn add_stamps(path: &Path, stamps: &mut FileStamps) {
    stamps.add(path, Links::Follow);
    stamps.add(&path.with_extension("json"), Links::Follow);
    stamps.add_entries(path, Links::Follow, |path| path.extension().is_some_and(|end| end == "wasm" || end == "json"));
}

fn stamps(path: &Path) -> FileStamps {
    let mut stamps = FileStamps::default();
    add_stamps(path, &mut stamps);
    stamps
}

fn read_all(path: &Path, workspace: &Path) -> Vec<Found> {
    let found = |file: PathBuf| {
        let origin = PluginOrigin::Path(file.clone());
        Found { plugin: read(&file, origin.clone(), workspace), origin }
    };
    match components(path) {
        Ok(files) => files.into_iter().map(found).collect(),
        Err(failure) => vec![Found { origin: PluginOrigin::Path(path.to_owned()), plugin: Err(failure.into()) }],
    }
}

/// Why a plugin that was named by its path cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum PathError {
    /// Its manifest is not text.
    #[error("the manifest `{}` is not text", .0.display())]
    NotText(PathBuf),
    /// The file or folder cannot be read.
    #[error("the plugin `{}` cannot be read: {cause}", .path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The folder has no component.
    #[error("there is no plugin in `{}`", .0.display())]
    NoPlugin(PathBuf),
    /// A file is over the limit.
    #[error("{what} `{}` is over the limit of {limit} bytes", .path.display())]
    TooLarge {
        /// What the file is.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A file cannot be read.
    #[error("{what} `{}` cannot be read: {cause}", .path.display())]
    File {
        /// What the file is.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: FileError,
    },
}

impl Fault for PathError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NotText(_) | Self::Unreadable { .. } | Self::TooLarge { .. } => None,
            Self::NoPlugin(_) => {
                Some(Advice::default().command("plugin build SOURCES --out DIR").text(" puts components there"))
            }
            Self::File { .. } => Some(
                Advice::default()
                    .command("plugin build")
                    .text(" puts a component NAME.wasm and its manifest NAME.json side by side"),
            ),
        }
    }
}

fn read(file: &Path, origin: PluginOrigin, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    let manifest = file.with_extension("json");
    let text = read_limited(&manifest, "the manifest", Manifest::MAX_BYTES)?;
    let text = String::from_utf8(text).map_err(|_| PathError::NotText(manifest.clone()))?;
    let component = read_limited(file, "the component", MAX_COMPONENT as u64)?;
    let manifest = parse_manifest(&text, Source::File(manifest))?;
    let component = LoadedComponent::new(component, None);
    Ok(LoadedPlugin::new(origin, manifest, component, workspace)?.with_known_imports()?)
}

/// The components that a path names: itself, or all of the folder.
fn components(path: &Path) -> Result<Vec<PathBuf>, PathError> {
    let unreadable = |cause| PathError::Unreadable { path: path.to_owned(), cause };
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
        return Err(PathError::NoPlugin(path.to_owned()));
    }
    Ok(files)
}

fn read_limited(path: &Path, what: &'static str, limit: u64) -> Result<Vec<u8>, PathError> {
    let path = || path.to_owned();
    host_files::read_file(&path(), limit).map_err(|error| match error {
        FileError::TooLarge { limit } => PathError::TooLarge { what, path: path(), limit },
        cause => PathError::File { what, path: path(), cause },
    })
}
