//! The contract that a package carries in its folder `wit`, and the world that its plugin lives in.
//!
//! Promises: the world has the capabilities that `plugin.toml` declares and no other, so that a component cannot import
//! what its manifest does not mention, whatever its language puts into it.
//!
//! Deliberately not here: Rust, whose compiler drops what is not used, so that its binding has every interface.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wit_parser::{Resolve, WorldId};

use super::{BuildError, read_text, write};
use crate::manifest::SourceManifest;

/// The name of the world, and so of the files that a binding generator makes for it.
pub(super) const WORLD: &str = "contract";

/// Files in one package of a contract. Protects the parser; the largest has six.
const MAX_FILES: usize = 64;

/// The world of one plugin.
pub(super) struct Contract {
    /// The packages of the contract: the folder's name, and each file with its text.
    packages: Vec<(&'static str, Vec<(PathBuf, String)>)>,
    /// The text of the package that holds the world.
    world: String,
    /// The version of `host:tool`, as it stands after a name.
    tool: String,
    resolve: Resolve,
    id: WorldId,
}

impl Contract {
    /// Reads `wit/tool` and `wit/cap` of the package in `folder`, and makes the world of its manifest.
    pub(super) fn read(folder: &Path, manifest: &SourceManifest) -> Result<Self, BuildError> {
        let wrong = |error: &dyn std::fmt::Display| BuildError::Contract {
            folder: folder.join("wit"),
            why: format!("{error:#}").replace('\n', " "),
        };
        let mut resolve = Resolve::default();
        let mut packages = Vec::new();
        let mut versions = Vec::new();
        for name in ["cap", "tool"] {
            let files = files(&folder.join("wit").join(name))?;
            let mut sources = wit_parser::SourceMap::new();
            for (path, text) in &files {
                sources.push_str(&path.to_string_lossy(), text.clone());
            }
            let group = sources.parse().map_err(|(_, error)| wrong(&error))?;
            let id = resolve.push_group(group).map_err(|error| wrong(&error))?;
            versions.push(resolve.packages[id].name.version.as_ref().map(|v| format!("@{v}")).unwrap_or_default());
            packages.push((name, files));
        }
        let world = world(manifest, &versions[0], &versions[1]);
        let package = resolve.push_source("world.wit", &world).map_err(|error| wrong(&error))?;
        let id = resolve.select_world(&[package], Some(WORLD)).map_err(|error| wrong(&error))?;
        let tool = versions.swap_remove(1);
        Ok(Self { packages, world, tool, resolve, id })
    }

    /// Writes it as a folder that binding generators read: the world, and what it needs under `deps`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), BuildError> {
        write(&folder.join("world.wit"), self.world.as_bytes())?;
        for (name, files) in &self.packages {
            for (path, text) in files {
                let file = path.file_name().unwrap_or(path.as_os_str());
                write(&folder.join("deps").join(name).join(file), text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// The name of the interface with the types of `host:tool`, with its version.
    pub(super) fn types(&self) -> String {
        format!("host:tool/types{}", self.tool)
    }

    /// Writes the binding for C into a folder: `contract.h`, `contract.c`, and an object whose one section is the world;
    /// linked into the module it tells the step that makes a component what the module's imports are.
    pub(super) fn write_c(&self, folder: &Path) -> Result<(), BuildError> {
        let mut files = wit_bindgen_core::Files::default();
        let generated = wit_bindgen_c::Opts::default().build().generate(&mut self.resolve.clone(), self.id, &mut files);
        generated.map_err(|error| BuildError::Contract { folder: folder.to_owned(), why: format!("{error:#}") })?;
        for (name, bytes) in files.iter() {
            write(&folder.join(name), bytes)?;
        }
        Ok(())
    }
}

/// The text of the package with the world.
fn world(manifest: &SourceManifest, cap: &str, tool: &str) -> String {
    let mut text = format!("package host:build;\n\nworld {WORLD} {{\n    import host:tool/context{tool};\n");
    for capability in manifest.capabilities.keys() {
        // A string takes everything.
        let _ = writeln!(text, "    import host:cap/{capability}{cap};");
    }
    let _ = writeln!(text, "    export host:tool/tool{tool};\n}}");
    text
}

/// The files of one package of the contract, by name.
fn files(folder: &Path) -> Result<Vec<(PathBuf, String)>, BuildError> {
    let missing = || BuildError::Contract {
        folder: folder.to_owned(),
        why: "it is missing; `host plugin new` puts the contract there".to_owned(),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|_| missing())? {
        let path = entry.map_err(|error| BuildError::Read { path: folder.to_owned(), error })?.path();
        if path.extension().is_some_and(|end| end == "wit") {
            if files.len() == MAX_FILES {
                let why = format!("it has more than {MAX_FILES} files");
                return Err(BuildError::Contract { folder: folder.to_owned(), why });
            }
            files.push((path.clone(), read_text(&path)?));
        }
    }
    if files.is_empty() {
        return Err(missing());
    }
    files.sort();
    Ok(files)
}
