//! `host plugin build`: from sources to components, manifests and a provenance file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use host_bundle::{BuiltComponent, Manifest, Provenance, ProvenanceEntry, Toolchain, Tools};
use host_capability::{Grants, PluginName};
use host_plugin::{Digest, Runtime, RuntimeOptions, admission};
use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::exit::{Code, Failure};
use crate::printer::Out;

/// The file beside the components that says where they came from.
const PROVENANCE: &str = "provenance.json";

/// Builds the plugins of a folder, or holds what is there against what would be built.
pub(super) async fn run(folder: &Path, target: &Path, check: bool, environment: &Environment) -> Result<Code, Failure> {
    let failed = |error: host_bundle::BuildError| Failure::input(error.to_string());
    let tools = tools(environment);
    let sources = folder.to_owned();
    let built = tokio::task::spawn_blocking(move || host_bundle::build(&sources, &tools))
        .await
        .map_err(|error| Failure::input(format!("the build ended early: {error}")))?
        .map_err(failed)?;

    let cache = environment.folders().ok().map(|folders| folders.cache);
    let runtime = Runtime::new(RuntimeOptions { cache, ..RuntimeOptions::default() });
    let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut plugins = BTreeMap::new();
    let mut toolchain = None;
    for BuiltComponent { manifest, component, sources, toolchain: used, .. } in built {
        toolchain = Some(used);
        let name = manifest.name.clone();
        let entry = ProvenanceEntry { sources, size: component.len(), sha256: Digest::of(&component).to_string() };
        let manifest = described(&runtime, manifest, &component).await?;
        // A publisher's slash is no folder.
        let file = name.replace('/', "+");
        files.insert(PathBuf::from(format!("{file}.json")), manifest.to_json().into_bytes());
        files.insert(PathBuf::from(format!("{file}.wasm")), component);
        plugins.insert(name, entry);
    }
    let Some(Toolchain { compiler, target: built_for, componentizer }) = toolchain else {
        return Err(Failure::input(format!("there is no plugin in `{}`", folder.display())));
    };
    let provenance = Provenance { compiler, target: built_for, componentizer, plugins };
    files.insert(PathBuf::from(PROVENANCE), provenance.to_json().into_bytes());
    if check { compare(&files, target) } else { write(&files, target, &provenance) }
}

/// The manifest with the tools that the component describes.
async fn described(
    runtime: &Runtime,
    manifest: host_bundle::SourceManifest,
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

fn write(files: &BTreeMap<PathBuf, Vec<u8>>, target: &Path, provenance: &Provenance) -> Result<Code, Failure> {
    let failed =
        |path: &Path, error: std::io::Error| Failure::input(format!("`{}` cannot be written: {error}", path.display()));
    std::fs::create_dir_all(target).map_err(|error| failed(target, error))?;
    for (name, bytes) in files {
        let path = target.join(name);
        std::fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
    }
    let mut text = String::new();
    for (name, entry) in &provenance.plugins {
        text.push_str(&format!("{name}  {} bytes  SHA-256 {}\n", entry.size, entry.sha256));
    }
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
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
        Code::Tool,
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

fn tools(environment: &Environment) -> Tools {
    let program = |variable: &str, usual: &str| {
        environment.variable(variable).map_or_else(|| OsString::from(usual), OsString::from)
    };
    let home = environment.variable("CARGO_HOME").map(PathBuf::from);
    let usual = || environment.variable("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    Tools { cargo: program("CARGO", "cargo"), rustc: program("RUSTC", "rustc"), cargo_home: home.or_else(usual) }
}
