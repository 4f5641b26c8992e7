//! The plugins that the user names with `--plugin`: a component, or a folder of them, each with its manifest next to
//! it.

use std::path::{Path, PathBuf};

use host_files::FileError;
use host_manifest::{Manifest, Source};
use host_plugin::MAX_COMPONENT;
use host_settings::error::Failure;
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
        Err(failure) => vec![Found { origin: PluginOrigin::Path(path.to_owned()), plugin: Err(failure) }],
    }
}

fn read(file: &Path, origin: PluginOrigin, workspace: &Path) -> Result<LoadedPlugin, Failure> {
    let manifest = file.with_extension("json");
    let text = read_limited(&manifest, "the manifest", Manifest::MAX_BYTES)?;
    let text = String::from_utf8(text)
        .map_err(|_| Failure::input(format!("the manifest `{}` is not text", manifest.display())))?;
    let component = read_limited(file, "the component", MAX_COMPONENT as u64)?;
    let manifest = parse_manifest(&text, Source::File(manifest))?;
    LoadedPlugin::new(origin, manifest, LoadedComponent::new(component, None), workspace)?.with_known_imports()
}

/// The components that a path names: itself, or all of the folder.
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
            .help(Advice::default().command("plugin build SOURCES --out DIR").text(" puts components there")));
    }
    Ok(files)
}

fn read_limited(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    match host_files::read_file(path, limit) {
        Ok(bytes) => Ok(bytes),
        Err(FileError::TooLarge { limit }) => {
            Err(Failure::input(format!("{what} `{}` is over the limit of {limit} bytes", path.display())))
        }
        Err(error) => Err(Failure::input(format!("{what} `{}` cannot be read: {error}", path.display()))
            .help("`host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side")),
    }
}
