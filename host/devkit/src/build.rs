//! From the sources of plugins to components, the same bytes wherever it is done.
//!
//! Owns how the language of a package is found, and what all builds share: how programs are
//! found and run, the digest over sources, and the step from a module to a component. Each language has a file of its
//! own in `build/`.
//!
//! Promises: a missing compiler is an error with the line that gets it. Whatever is built, the component is
//! made from a world that has the declared capabilities alone, or, in Rust, from what the code uses.
//!
//! Deliberately not here: fetching a compiler. `npm install` and `pip install` run what they fetch, so the user
//! starts them.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use host_files::open_file;
use host_manifest::{Build, FilesError, Language, Manifest, ManifestError, Source, SourceManifest};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

mod c;
mod contract;
mod files;
mod go;
mod javascript;
mod package;
mod programs;
mod python;
mod rust;
mod zig;

pub(crate) use contract::{WORLD, whole_world};
pub(crate) use files::brought;
pub use programs::Programs;
pub use rust::{TARGET, compiler};

/// The version of `wit-component` that this is built with: the one in Cargo.lock, which a test compares.
pub const COMPONENTIZER: &str = "wit-component 0.254.2";

/// A component that was built, and what its author wrote about it.
#[derive(Clone, Debug)]
pub struct BuiltComponent {
    /// Its `plugin.toml`.
    pub manifest: SourceManifest,
    /// The folder that it lies in.
    pub folder: PathBuf,
    /// The component.
    pub component: Vec<u8>,
    /// SHA-256 over the names and digests of the source files that went into it.
    pub sources: String,
    /// The source files among them that lie outside of the folder that was built, such as those of a path dependency;
    /// real paths.
    pub elsewhere: Vec<PathBuf>,
    /// The tools that built it; the same for all components of one build.
    pub toolchain: Toolchain,
}

/// The tools that turned sources into a component. Different tools make different bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler with its version, as it says it.
    pub compiler: String,
    /// The target that was built for.
    pub target: String,
    /// The tool that turned the compiler's module into a component.
    pub componentizer: String,
}

/// Why plugins were not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A tool is missing or does not run.
    #[error("`{program}` cannot be run: {error}; Rust is installed from https://rustup.rs")]
    Program {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// The compiler of a language other than Rust is missing.
    #[error("the plugin needs {what}, which is not in `{}`; to get it: {how}", folder.display())]
    Missing {
        /// The missing program.
        what: &'static str,
        /// The folder that was searched.
        folder: PathBuf,
        /// The commands that get it.
        how: &'static str,
    },
    /// The compiler of a language failed; its output went to standard error.
    #[error("`{program}` failed in `{}`: {status}", folder.display())]
    Failed {
        /// The program.
        program: String,
        /// Where.
        folder: PathBuf,
        /// Its exit status.
        status: String,
    },
    /// The target is not installed.
    #[error("the target `{TARGET}` is not installed; `rustup target add {TARGET}` gets it")]
    Target,
    /// Cargo failed; its output went to standard error.
    #[error("`cargo {command}` failed in `{}`", folder.display())]
    Cargo {
        /// Its arguments.
        command: &'static str,
        /// Where.
        folder: PathBuf,
    },
    /// Cargo's output was not understood.
    #[error("`cargo {command}` printed something unexpected: {error}")]
    Output {
        /// Its arguments.
        command: &'static str,
        /// Why it was not understood.
        error: serde_json::Error,
    },
    /// There is nothing to build.
    #[error("no plugin in `{}`: a plugin is a package with a `plugin.toml` beside its Cargo.toml and crate type `cdylib`", .0.display())]
    Nothing(PathBuf),
    /// Nothing says which language it is.
    #[error(
        "`{}` has no Cargo.toml, no skills, commands, agents or hooks, and its plugin.toml names no language; write `[build]` and \
         under it `language = \"…\"` with one of {}", .0.display(), languages()
    )]
    NoLanguage(PathBuf),
    /// The file that a build starts from is missing.
    #[error("`{}` has no {expected}, which is where a plugin in {} starts", folder.display(), language.name())]
    NoEntry {
        /// The package.
        folder: PathBuf,
        /// The language.
        language: Language,
        /// The file that is missing.
        expected: &'static str,
    },
    /// A package is larger than the sources of a plugin are.
    #[error("`{}` has more than {limit} {what}; a package holds one plugin and its own sources", folder.display())]
    TooMany {
        /// The package.
        folder: PathBuf,
        /// The limit.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
    /// It brings a file that a plugin may not bring.
    #[error("what the plugin in `{}` brings cannot be used: {error}", folder.display())]
    Files {
        /// The package.
        folder: PathBuf,
        /// Why.
        error: FilesError,
    },
    /// The contract in the package cannot be used.
    #[error("the contract in `{}` cannot be used: {why}", folder.display())]
    Contract {
        /// Its folder.
        folder: PathBuf,
        /// Why.
        why: String,
    },
    /// A manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file of the build cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A compiled module cannot be made a component.
    #[error("`{plugin}` cannot be made a component: {why}")]
    Componentize {
        /// The plugin.
        plugin: String,
        /// Why.
        why: String,
    },
}

/// The programs that build Rust, and where compilers keep what they made or downloaded: all of the environment that
/// matters. The programs of other languages are found in the package or on the search path.
#[derive(Clone, Debug)]
pub struct Tools {
    /// `cargo`, or what the user set in its place.
    pub cargo: OsString,
    /// `rustc`, or what the user set in its place.
    pub rustc: OsString,
    /// The folder in which cargo keeps the sources of registries; their paths are remapped.
    pub cargo_home: Option<PathBuf>,
    /// The folder that the user set for the cache of zig; without one it lies in the package.
    pub zig_cache: Option<PathBuf>,
    /// The same for Go.
    pub go_cache: Option<PathBuf>,
    /// The programs that run; each build has its own.
    pub programs: Programs,
}

/// Builds all plugins of the package or workspace in `folder`. The compiler's progress goes to standard error.
///
/// # Errors
///
/// When a tool or the target is missing, a source does not compile, or a manifest is wrong.
pub fn build(folder: &Path, tools: &Tools) -> Result<Vec<BuiltComponent>, BuildError> {
    let unreadable = |error| BuildError::Read { path: folder.to_owned(), error };
    let folder = std::fs::canonicalize(folder).map_err(unreadable)?;
    let manifest = folder.join("plugin.toml");
    let manifest = if manifest.exists() { Some(read_manifest(&manifest)?) } else { None };
    let is_cargo = folder.join("Cargo.toml").exists();
    let one = match (manifest.as_ref().and_then(|manifest| manifest.build), manifest) {
        (Some(Build { language: Language::Rust }), _) => return rust::build(&folder, tools),
        (None, _) if is_cargo => return rust::build(&folder, tools),
        (Some(Build { language: Language::JavaScript }), Some(manifest)) => javascript::build(&folder, manifest, tools),
        (Some(Build { language: Language::Python }), Some(manifest)) => python::build(&folder, manifest, tools),
        (Some(Build { language: Language::C }), Some(manifest)) => c::build(&folder, manifest, tools),
        (Some(Build { language: Language::Zig }), Some(manifest)) => zig::build(&folder, manifest, tools),
        (Some(Build { language: Language::Go }), Some(manifest)) => go::build(&folder, manifest, tools),
        (None, Some(manifest)) => {
            return files::build(&folder, &manifest)?.map(|built| vec![built]).ok_or(BuildError::NoLanguage(folder));
        }
        (None | Some(_), _) => return Err(BuildError::NoLanguage(folder)),
    };
    Ok(vec![one?])
}

/// Reads a `plugin.toml`.
///
/// # Errors
///
/// When it cannot be read or is invalid.
pub fn read_manifest(path: &Path) -> Result<SourceManifest, BuildError> {
    let unreadable = |error| BuildError::Read { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > Manifest::MAX_BYTES {
        let limit = Manifest::MAX_BYTES;
        return Err(unreadable(io::Error::other(format!("it has {size} bytes, over the limit of {limit}"))));
    }
    let text = read_text(path)?;
    Ok(SourceManifest::parse(&text, &Source::File(path.to_owned()))?)
}

fn languages() -> String {
    Language::ALL.map(|language| format!("`{}`", language.name())).join(", ")
}

/// Makes a component of a module that carries its world.
fn componentize(plugin: &str, module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let failed = |why: String| BuildError::Componentize { plugin: plugin.to_owned(), why };
    let encoder = ComponentEncoder::default().validate(true);
    // Whatever a C library wants of the system speaks the first preview of WASI. The adapter makes the second of it.
    let adapter = WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME;
    let encoded = if imports_from(module, adapter).map_err(|error| failed(error.to_string()))? {
        let adapted =
            encoder.module(module).and_then(|encoder| encoder.adapter(adapter, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER));
        adapted.and_then(|mut encoder| encoder.encode())
    } else {
        encoder.module(module).and_then(|mut encoder| encoder.encode())
    };
    encoded.map_err(|error| failed(format!("{error:#}")))
}

/// Returns whether a module imports anything from this other one.
fn imports_from(module: &[u8], other: &str) -> wasmparser::Result<bool> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::ImportSection(imports) = payload? {
            for import in imports.into_imports() {
                if import?.module == other {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    let mut bytes = Vec::new();
    let read = open_file(path).map_err(io::Error::from).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| BuildError::Read { path: path.to_owned(), error })
}

fn read_text(path: &Path) -> Result<String, BuildError> {
    let mut text = String::new();
    let read = open_file(path).map_err(io::Error::from).and_then(|mut file| file.read_to_string(&mut text));
    read.map(|_| text).map_err(|error| BuildError::Read { path: path.to_owned(), error })
}

/// Writes a file, with the folders above it.
fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    let failed = |error| BuildError::Write { path: path.to_owned(), error };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, bytes).map_err(failed)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
