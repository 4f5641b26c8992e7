//! `host plugin build`: from sources to components, manifests and a provenance file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_app::environment::Environment;
use host_app::error::{ErrorKind, Failure};
use host_capability::{Grants, PluginName};
use host_devkit::{BuiltComponent, Provenance, ProvenanceEntry, Toolchain, Tools};
use host_manifest::{Manifest, Source};
use host_plugin::{Digest, Runtime, RuntimeOptions, admission};
use tokio_util::sync::CancellationToken;

use crate::arguments::Sources;
use crate::exit::Code;
use crate::printer::Out;

/// The file beside the components that says where they came from.
const PROVENANCE: &str = "provenance.json";

/// Builds the plugins of a folder, or holds what is there against what would be built.
pub(super) async fn run(folder: &Path, target: &Path, check: bool, environment: &Environment) -> Result<Code, Failure> {
    let made = make(folder, environment, &runtime(environment)).await?;
    if check {
        return compare(&made.files, target);
    }
    made.write(target)?;
    let mut text = String::new();
    for (name, entry) in &made.provenance.plugins {
        text.push_str(&format!("{name}  {} bytes  SHA-256 {}\n", entry.size, entry.sha256));
    }
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// What a build of a folder made.
pub(super) struct Made {
    /// What is written, by its name.
    files: BTreeMap<PathBuf, Vec<u8>>,
    provenance: Provenance,
    pub(super) plugins: Vec<Ready>,
    /// Sources that lie outside of the folder.
    pub(super) elsewhere: BTreeSet<PathBuf>,
}

/// Builds the plugins of a folder, and asks each for its tools.
pub(super) async fn make(folder: &Path, environment: &Environment, runtime: &Runtime) -> Result<Made, Failure> {
    let built = compiled(folder, tools(environment)).await?;
    let (mut files, mut elsewhere, mut plugins) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    let mut entries = BTreeMap::new();
    let mut toolchain = None;
    for BuiltComponent { manifest, folder, component, sources, elsewhere: more, toolchain: used } in built {
        toolchain = Some(used);
        elsewhere.extend(more);
        let name = manifest.name.clone();
        let entry = ProvenanceEntry { sources, size: component.len(), sha256: Digest::of(&component).to_string() };
        let manifest = described(runtime, manifest, &component).await?;
        // A publisher's slash is no folder.
        let file = name.replace('/', "+");
        files.insert(PathBuf::from(format!("{file}.json")), manifest.to_json().into_bytes());
        files.insert(PathBuf::from(format!("{file}.wasm")), component.clone());
        entries.insert(name, entry);
        plugins.push(Ready { manifest, component, folder });
    }
    let Some(Toolchain { compiler, target: built_for, componentizer }) = toolchain else {
        return Err(Failure::input(format!("there is no plugin in `{}`", folder.display())));
    };
    let provenance = Provenance { compiler, target: built_for, componentizer, plugins: entries };
    files.insert(PathBuf::from(PROVENANCE), provenance.to_json().into_bytes());
    Ok(Made { files, provenance, plugins, elsewhere })
}

impl Made {
    /// Writes all of it, each file whole: whoever reads the folder while it is written, or after this process was killed,
    /// finds no half of a file. All are written before the first of them takes its place, so that a full disk leaves
    /// what was there. A file that is as it was is left alone, so that nobody takes it for another.
    pub(super) fn write(&self, target: &Path) -> Result<(), Failure> {
        let failed = |path: &Path, error: std::io::Error| {
            Failure::input(format!("`{}` cannot be written: {error}", path.display()))
        };
        std::fs::create_dir_all(target).map_err(|error| failed(target, error))?;
        // The permissions of any new file: the user's umask takes what it takes.
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".built-").permissions(Permissions::from_mode(0o666));
        let mut waiting = Vec::new();
        for (name, bytes) in &self.files {
            let path = target.join(name);
            if std::fs::read(&path).is_ok_and(|there| there == *bytes) {
                continue;
            }
            let mut file = builder.tempfile_in(target).map_err(|error| failed(&path, error))?;
            file.write_all(bytes).map_err(|error| failed(&path, error))?;
            waiting.push((file, path));
        }
        for (file, path) in waiting {
            file.persist(&path).map_err(|error| failed(&path, error.error))?;
        }
        Ok(())
    }

    /// What is written, by its name.
    pub(super) fn names(&self) -> BTreeSet<PathBuf> {
        self.files.keys().cloned().collect()
    }
}

/// A plugin that was built.
pub(super) struct Ready {
    pub(super) manifest: Manifest,
    pub(super) component: Vec<u8>,
    /// The folder with its `plugin.toml`.
    pub(super) folder: PathBuf,
}

/// The plugins of a package or workspace: those that were built into a folder before, or else what the sources give.
pub(super) async fn ready(plugins: &Sources, environment: &Environment) -> Result<Vec<Ready>, Failure> {
    let Sources { folder: sources, built } = plugins;
    if let Some(built) = built {
        return built_into(built, sources);
    }
    Ok(make(sources, environment, &runtime(environment)).await?.plugins)
}

/// The plugins that were built into a folder, or the one of a file; their sources lie in another folder.
pub(super) fn built_into(built: &Path, sources: &Path) -> Result<Vec<Ready>, Failure> {
    let unreadable =
        |path: &Path, error: std::io::Error| Failure::input(format!("`{}` cannot be read: {error}", path.display()));
    let files = if built.is_dir() {
        let entries = std::fs::read_dir(built).map_err(|error| unreadable(built, error))?;
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(built, error))?
    } else {
        vec![built.to_owned()]
    };
    let mut plugins = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "wasm")) {
        let manifest = manifest_of(&path.with_extension("json"))?;
        let component = std::fs::read(path).map_err(|error| unreadable(path, error))?;
        // In a workspace each package has a folder of its own, named as the plugin.
        let own = sources.join(manifest.name.rsplit('/').next().unwrap_or(&manifest.name));
        let folder = if own.join("plugin.toml").exists() { own } else { sources.to_owned() };
        plugins.push(Ready { manifest, component, folder });
    }
    if plugins.is_empty() && !built.is_dir() {
        return Err(Failure::input(format!("`{}` is no component NAME.wasm", built.display()))
            .help("name the file that `host plugin build` wrote, or its folder"));
    }
    plugins.sort_by(|one, other| one.manifest.name.cmp(&other.manifest.name));
    Ok(plugins)
}

/// The manifest in a file that `host plugin build` wrote.
pub(super) fn manifest_of(file: &Path) -> Result<Manifest, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::input(format!("the manifest `{}` cannot be read: {error}", file.display())))?;
    Manifest::parse(&text, Source::File(file.to_owned())).map_err(|error| Failure::of(ErrorKind::Input, &error))
}

/// The components of a package or workspace. Cargo's progress goes to standard error.
pub(super) async fn compiled(folder: &Path, tools: Tools) -> Result<Vec<BuiltComponent>, Failure> {
    let sources = folder.to_owned();
    tokio::task::spawn_blocking(move || host_devkit::build(&sources, &tools))
        .await
        .map_err(|error| Failure::input(format!("the build ended early: {error}")))?
        .map_err(|error| Failure::input(error.to_string()))
}

/// What runs a plugin, to ask it for its tools.
pub(super) fn runtime(environment: &Environment) -> Runtime {
    let cache = environment.folders().ok().map(|folders| folders.cache);
    Runtime::new(RuntimeOptions { cache, ..RuntimeOptions::default() })
}

/// The manifest with the tools that the component describes.
pub(super) async fn described(
    runtime: &Runtime,
    manifest: host_manifest::SourceManifest,
    component: &[u8],
) -> Result<Manifest, Failure> {
    let wrong = |error: &dyn std::error::Error| {
        Failure::input(format!("the plugin `{}` cannot be built", manifest.name)).cause(error.to_string())
    };
    let plugin = host_plugin::Plugin::new(PluginName::new(&manifest.name), component.to_vec(), Grants::none());
    let imports = plugin.imports().map_err(|error| wrong(&error))?;
    // What it imports and does not declare would be refused at each of its calls.
    for capability in imports.capabilities.iter() {
        if !manifest.capabilities.contains_key(capability.name()) {
            return Err(Failure::input(format!(
                "`{}` imports `host:cap/{capability}` and does not declare it",
                manifest.name
            ))
            .help(format!("add `[capabilities.{capability}]` with a scope and a reason to its plugin.toml")));
        }
    }
    let tools = runtime.describe(&plugin).await.map_err(|error| wrong(&error))?;
    Manifest::new(manifest.clone(), admission::CONTRACT, tools).map_err(|error| wrong(&error))
}

/// Holds what was built against what is there.
fn compare(files: &BTreeMap<PathBuf, Vec<u8>>, target: &Path) -> Result<Code, Failure> {
    let mut differing = Vec::new();
    for (name, bytes) in files {
        if std::fs::read(target.join(name)).ok().as_ref() != Some(bytes) {
            differing.push(name.display().to_string());
        }
    }
    for entry in std::fs::read_dir(target).into_iter().flatten().flatten() {
        if !files.contains_key(Path::new(&entry.file_name())) {
            differing.push(format!("{} (nothing builds it)", entry.file_name().to_string_lossy()));
        }
    }
    if differing.is_empty() {
        Out::new(CancellationToken::new()).write(&format!("{} files are what the sources build\n", files.len()));
        return Ok(Code::Done);
    }
    let failure = Failure::new(
        ErrorKind::Tool,
        format!("`{}` is not what the sources build: {}", target.display(), differing.join(", ")),
    );
    Err(match built_with(target) {
        Some(theirs) if files.get(Path::new(PROVENANCE)).is_none_or(|ours| !contains(ours, &theirs)) => {
            failure.help(format!("it was built with `{theirs}`, and another compiler makes other bytes"))
        }
        _ => failure.help("run the same command without --check, and commit what it writes"),
    })
}

fn built_with(target: &Path) -> Option<String> {
    let provenance: Provenance = serde_json::from_slice(&std::fs::read(target.join(PROVENANCE)).ok()?).ok()?;
    Some(provenance.compiler)
}

fn contains(json: &[u8], compiler: &str) -> bool {
    serde_json::from_slice::<Provenance>(json).is_ok_and(|provenance| provenance.compiler == compiler)
}

pub(super) fn tools(environment: &Environment) -> Tools {
    let program = |variable: &str, usual: &str| {
        environment.variable(variable).map_or_else(|| OsString::from(usual), OsString::from)
    };
    let home = environment.variable("CARGO_HOME").map(PathBuf::from);
    let usual = || environment.variable("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    Tools { cargo: program("CARGO", "cargo"), rustc: program("RUSTC", "rustc"), cargo_home: home.or_else(usual) }
}
