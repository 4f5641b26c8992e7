//! From the sources of plugins to components, the same bytes wherever it is done.
//!
//! Rust plugins are compiled for `wasm32-unknown-unknown`, whose modules import nothing but what the plugin asks
//! for, and made into components by `wit-component` in this process. The paths of this machine are mapped away, and
//! the user's own compiler flags are not taken, since both would change the bytes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use wit_component::ComponentEncoder;

use crate::manifest::{ManifestError, SourceManifest};

/// The target of Rust plugins.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The version of `wit-component` that this was built with; the workspace pins it.
pub const COMPONENTIZER: &str = "wit-component 0.258";

/// Variables that would change what the compiler does.
const FLAG_VARIABLES: &[&str] =
    &["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS"];

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
}

/// Why plugins were not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A tool is missing or does not run.
    #[error("`{program}` cannot be run: {error}; Rust is installed from https://rustup.rs")]
    Program {
        /// The program.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// The target is not installed.
    #[error("the target `{TARGET}` is not installed; `rustup target add {TARGET}` gets it")]
    Target,
    /// Cargo said no; its words went to standard error.
    #[error("`cargo {command}` failed in `{}`", folder.display())]
    Cargo {
        /// What was asked of it.
        command: &'static str,
        /// Where.
        folder: PathBuf,
    },
    /// Cargo said something that was not understood.
    #[error("`cargo {command}` printed something unexpected: {error}")]
    Output {
        /// What was asked of it.
        command: &'static str,
        /// Why it was not understood.
        error: serde_json::Error,
    },
    /// There is nothing to build.
    #[error("no plugin in `{}`: a plugin is a package with a `plugin.toml` beside its Cargo.toml and crate type `cdylib`", .0.display())]
    Nothing(PathBuf),
    /// A manifest is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// What was compiled cannot be made a component.
    #[error("`{plugin}` cannot be made a component: {why}")]
    Componentize {
        /// The plugin.
        plugin: String,
        /// Why.
        why: String,
    },
}

/// The programs that build, and where cargo keeps what it downloads: the one thing of the environment that matters.
#[derive(Clone, Debug)]
pub struct Tools {
    /// `cargo`, or what the user set in its place.
    pub cargo: OsString,
    /// `rustc`, or what the user set in its place.
    pub rustc: OsString,
    /// Where cargo keeps the sources of registries; their paths are mapped away.
    pub cargo_home: Option<PathBuf>,
}

/// Builds all plugins of the package or workspace in `folder`. Cargo's progress goes to standard error.
///
/// # Errors
///
/// When a tool or the target is missing, a source does not compile, or a manifest is wrong.
pub fn build(folder: &Path, tools: &Tools) -> Result<Vec<BuiltComponent>, BuildError> {
    let unreadable = |error| BuildError::Read { path: folder.to_owned(), error };
    let folder = std::fs::canonicalize(folder).map_err(unreadable)?;
    let sysroot = require_target(tools)?;
    let metadata: Metadata = cargo_metadata(&folder, tools)?;
    let plugins = plugins(&metadata)?;
    if plugins.is_empty() {
        return Err(BuildError::Nothing(folder));
    }
    let modules = compile(&folder, tools, &metadata, &plugins, &sysroot)?;
    plugins
        .into_iter()
        .map(|(package, manifest)| {
            let module = modules.get(&package.id).ok_or_else(|| BuildError::Nothing(folder.clone()))?;
            let component = componentize(&manifest.name, &read(module)?)?;
            let sources = sources(module, package, &metadata.workspace_root)?;
            let folder = package.manifest_path.parent().unwrap_or(&metadata.workspace_root).to_owned();
            Ok(BuiltComponent { manifest, folder, component, sources })
        })
        .collect()
}

/// The compiler, as `rustc --version` says it.
///
/// # Errors
///
/// When there is none.
pub fn compiler(tools: &Tools) -> Result<String, BuildError> {
    Ok(String::from_utf8_lossy(&rustc(tools, &["--version"])?).trim().to_owned())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

/// What cargo says of each thing that it built.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

fn rustc(tools: &Tools, arguments: &[&str]) -> Result<Vec<u8>, BuildError> {
    let failed = |error| BuildError::Program { program: tools.rustc.to_string_lossy().into_owned(), error };
    let output = Command::new(&tools.rustc).args(arguments).stderr(Stdio::inherit()).output().map_err(failed)?;
    if output.status.success() { Ok(output.stdout) } else { Err(failed(io::Error::other(output.status.to_string()))) }
}

/// Makes sure that the target's library is there; answers the compiler's own folder.
fn require_target(tools: &Tools) -> Result<PathBuf, BuildError> {
    let line = |bytes: Vec<u8>| PathBuf::from(String::from_utf8_lossy(&bytes).trim());
    let library = line(rustc(tools, &["--print", "target-libdir", "--target", TARGET])?);
    if library.is_dir() { Ok(line(rustc(tools, &["--print", "sysroot"])?)) } else { Err(BuildError::Target) }
}

fn cargo(folder: &Path, tools: &Tools) -> Command {
    let mut command = Command::new(&tools.cargo);
    command.current_dir(folder).stderr(Stdio::inherit());
    for variable in FLAG_VARIABLES {
        command.env_remove(variable);
    }
    command
}

fn run(mut command: Command, name: &'static str, folder: &Path) -> Result<Vec<u8>, BuildError> {
    let output = command.output().map_err(|error| BuildError::Program { program: "cargo".to_owned(), error })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(BuildError::Cargo { command: name, folder: folder.to_owned() })
    }
}

fn cargo_metadata(folder: &Path, tools: &Tools) -> Result<Metadata, BuildError> {
    let mut command = cargo(folder, tools);
    command.args(["metadata", "--format-version", "1", "--no-deps", "--locked"]);
    let json = run(command, "metadata", folder)?;
    serde_json::from_slice(&json).map_err(|error| BuildError::Output { command: "metadata", error })
}

/// The packages that are plugins, by name.
fn plugins(metadata: &Metadata) -> Result<Vec<(&Package, SourceManifest)>, BuildError> {
    let mut plugins = Vec::new();
    for package in &metadata.packages {
        let manifest = package.manifest_path.with_file_name("plugin.toml");
        let is_cdylib = package.targets.iter().any(|target| target.crate_types.iter().any(|kind| kind == "cdylib"));
        if is_cdylib && manifest.exists() {
            plugins.push((package, SourceManifest::read(&manifest)?));
        }
    }
    plugins.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    Ok(plugins)
}

/// Compiles the plugins; answers where each one's module lies.
fn compile(
    folder: &Path,
    tools: &Tools,
    metadata: &Metadata,
    plugins: &[(&Package, SourceManifest)],
    sysroot: &Path,
) -> Result<BTreeMap<String, PathBuf>, BuildError> {
    let mut command = cargo(folder, tools);
    command.args(["build", "--release", "--locked", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    for (package, _) in plugins {
        command.args(["--package", &package.name]);
    }
    let mut flags = Vec::new();
    let mut map = |from: &Path, to: &str| flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    // A path dependency beside the workspace belongs to the same project.
    if let Some(project) = metadata.workspace_root.parent() {
        map(project, "/project");
    }
    map(&metadata.workspace_root, "/project/plugins");
    if let Some(home) = &tools.cargo_home {
        map(home, "/cargo");
    }
    map(sysroot, "/rust");
    let flags = serde_json::to_string(&flags).expect("a list of texts");
    // A list of texts in JSON is one in TOML too. Lists of several configurations are joined, so the package's own
    // flags stay.
    command.arg("--config").arg(format!("target.{TARGET}.rustflags={flags}"));
    let printed = run(command, "build", folder)?;

    let mut modules = BTreeMap::new();
    for line in printed.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Message =
            serde_json::from_slice(line).map_err(|error| BuildError::Output { command: "build", error })?;
        let module = message.filenames.into_iter().find(|file| file.extension().is_some_and(|end| end == "wasm"));
        if let ("compiler-artifact", Some(module)) = (message.reason.as_str(), module) {
            modules.insert(message.package_id, module);
        }
    }
    Ok(modules)
}

fn componentize(plugin: &str, module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encoded = ComponentEncoder::default().validate(true).module(module).and_then(|encoder| encoder.encode());
    encoded.map_err(|error| BuildError::Componentize { plugin: plugin.to_owned(), why: format!("{error:#}") })
}

/// A digest over the source files of the project that the compiler says went into a module, and over the lock file,
/// the configuration and the manifest. Files of registries are covered by the lock file.
fn sources(module: &Path, package: &Package, workspace: &Path) -> Result<String, BuildError> {
    let list = module.with_extension("d");
    let text = String::from_utf8_lossy(&read(&list)?).into_owned();
    let project = workspace.parent().unwrap_or(workspace);
    let named = text.lines().next().and_then(|line| line.split_once(": ")).map(|(_, files)| files).unwrap_or_default();
    let mut files: Vec<PathBuf> = words(named).into_iter().filter(|file| file.starts_with(project)).collect();
    files.extend([workspace.join("Cargo.lock"), workspace.join("Cargo.toml"), workspace.join(".cargo/config.toml")]);
    files.extend([package.manifest_path.clone(), package.manifest_path.with_file_name("plugin.toml")]);
    files.retain(|file| file.exists());
    let mut named = BTreeMap::new();
    for file in files {
        let real = std::fs::canonicalize(&file).map_err(|error| BuildError::Read { path: file.clone(), error })?;
        let name = real.strip_prefix(project).unwrap_or(&real).to_string_lossy().into_owned();
        named.insert(name, hex(&Sha256::digest(read(&real)?)));
    }
    let mut digest = Sha256::new();
    for (name, file) in named {
        digest.update(format!("{file}  {name}\n"));
    }
    Ok(hex(&digest.finalize()))
}

/// The words of a line in which a space within a word is escaped with a backslash.
fn words(line: &str) -> Vec<PathBuf> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.extend(characters.next()),
            ' ' => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty()).map(PathBuf::from).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    std::fs::read(path).map_err(|error| BuildError::Read { path: path.to_owned(), error })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
