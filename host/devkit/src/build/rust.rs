//! Rust: compiled for `wasm32-unknown-unknown`, whose modules import nothing but what the plugin asks for, and made
//! into components by `wit-component` in this process. The paths of this machine are mapped away, and the user's own
//! compiler flags are not taken, since both would change the bytes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host_manifest::SourceManifest;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{BuildError, BuiltComponent, COMPONENTIZER, Toolchain, Tools, componentize, hex, read, read_manifest};

/// The target of Rust plugins.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Variables that would change what the compiler does.
const FLAG_VARIABLES: &[&str] =
    &["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS"];

/// Builds all plugins of the package or workspace in `folder`. Cargo's progress goes to standard error.
pub(super) fn build(folder: &Path, tools: &Tools) -> Result<Vec<BuiltComponent>, BuildError> {
    let sysroot = require_target(tools)?;
    let metadata: Metadata = cargo_metadata(folder, tools)?;
    let plugins = plugins(&metadata)?;
    if plugins.is_empty() {
        return Err(BuildError::Nothing(folder.to_owned()));
    }
    let modules = compile(folder, tools, &metadata, &plugins, &sysroot)?;
    let toolchain =
        Toolchain { compiler: compiler(tools)?, target: TARGET.to_owned(), componentizer: COMPONENTIZER.to_owned() };
    plugins
        .into_iter()
        .map(|(package, manifest)| {
            let module = modules.get(&package.id).ok_or_else(|| BuildError::Nothing(folder.to_owned()))?;
            let component = componentize(&manifest.name, &read(module)?)?;
            let (sources, files) = sources(module, package, &metadata.workspace_root)?;
            let elsewhere = files.into_iter().filter(|file| !file.starts_with(folder)).collect();
            let folder = package.manifest_path.parent().unwrap_or(&metadata.workspace_root).to_owned();
            Ok(BuiltComponent { manifest, folder, component, sources, elsewhere, toolchain: toolchain.clone() })
        })
        .collect()
}

/// Returns the compiler, as `rustc --version` prints it.
///
/// # Errors
///
/// When there is no compiler.
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

/// Message of cargo about each artifact that it built.
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
    let mut command = Command::new(&tools.rustc);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = tools.programs.output(&mut command).map_err(failed)?;
    if output.status.success() { Ok(output.stdout) } else { Err(failed(io::Error::other(output.status.to_string()))) }
}

/// Checks that the target's library is installed; returns the compiler's own folder.
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

fn run(mut command: Command, name: &'static str, folder: &Path, tools: &Tools) -> Result<Vec<u8>, BuildError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let output = tools
        .programs
        .output(&mut command)
        .map_err(|error| BuildError::Program { program: "cargo".to_owned(), error })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(BuildError::Cargo { command: name, folder: folder.to_owned() })
    }
}

fn cargo_metadata(folder: &Path, tools: &Tools) -> Result<Metadata, BuildError> {
    let mut command = cargo(folder, tools);
    command.args(["metadata", "--format-version", "1", "--no-deps"]);
    let json = run(command, "metadata", folder, tools)?;
    serde_json::from_slice(&json).map_err(|error| BuildError::Output { command: "metadata", error })
}

/// The packages that are plugins, by name.
fn plugins(metadata: &Metadata) -> Result<Vec<(&Package, SourceManifest)>, BuildError> {
    let mut plugins = Vec::new();
    for package in &metadata.packages {
        let manifest = package.manifest_path.with_file_name("plugin.toml");
        let is_cdylib = package.targets.iter().any(|target| target.crate_types.iter().any(|kind| kind == "cdylib"));
        if is_cdylib && manifest.exists() {
            plugins.push((package, read_manifest(&manifest)?));
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
    // Cargo takes the versions that Cargo.lock names, and adds to it what Cargo.toml requires since.
    command.args(["build", "--release", "--target", TARGET, "--message-format", "json-render-diagnostics"]);
    for (package, _) in plugins {
        command.args(["--package", &package.name]);
    }
    let mut flags = Vec::new();
    let mut map = |from: &Path, to: &str| flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    // A path dependency next to the workspace belongs to the same project.
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
    let printed = run(command, "build", folder, tools)?;

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

/// A digest over the source files of the project that, according to the compiler, went into a module, and over the lock
/// file, the configuration and the manifest; and these files. Files of registries are covered by the lock file.
fn sources(module: &Path, package: &Package, workspace: &Path) -> Result<(String, Vec<PathBuf>), BuildError> {
    let list = module.with_extension("d");
    let text = String::from_utf8_lossy(&read(&list)?).into_owned();
    let project = workspace.parent().unwrap_or(workspace);
    let named = text.lines().next().and_then(|line| line.split_once(": ")).map(|(_, files)| files).unwrap_or_default();
    let mut files: Vec<PathBuf> = words(named).into_iter().filter(|file| file.starts_with(project)).collect();
    files.extend([workspace.join("Cargo.lock"), workspace.join("Cargo.toml"), workspace.join(".cargo/config.toml")]);
    files.extend([package.manifest_path.clone(), package.manifest_path.with_file_name("plugin.toml")]);
    files.retain(|file| file.exists());
    let mut named = BTreeMap::new();
    let mut all = Vec::new();
    for file in files {
        let real = std::fs::canonicalize(&file).map_err(|error| BuildError::Read { path: file.clone(), error })?;
        let name = real.strip_prefix(project).unwrap_or(&real).to_string_lossy().into_owned();
        named.insert(name, hex(&Sha256::digest(read(&real)?)));
        all.push(real);
    }
    let mut digest = Sha256::new();
    for (name, file) in named {
        digest.update(format!("{file}  {name}\n"));
    }
    Ok((hex(&digest.finalize()), all))
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
