//! Plugins that were built: the components with their manifests, and the files that a build writes.
//!
//! Promises: a build is written whole or not at all, and a file that is already right is left alone.
//!
//! Deliberately not here: the compilers (`build`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, PluginName};
use host_files::{FileError, Mode, NewFile};
use host_manifest::{Manifest, ManifestError, Source};
use host_plugin::{Digest, HookComponent, MAX_COMPONENT, Plugin, Runtime, ToolDef, admission};

use crate::build::{self, BuildError, BuiltComponent, Programs, Toolchain, Tools};
use crate::provenance::{Origin, Provenance, ProvenanceEntry};

/// The file next to the components that records their provenance.
const PROVENANCE: &str = "provenance.json";

/// A plugin that was built.
#[derive(Clone, Debug)]
pub struct BuiltPlugin {
    /// Its manifest, as it is shipped.
    pub manifest: Manifest,
    /// Its component.
    pub component: Vec<u8>,
    /// The folder with its `plugin.toml`.
    pub folder: PathBuf,
}

/// The result of building a folder.
#[derive(Clone, Debug)]
pub struct BuildOutput {
    /// The plugins.
    pub plugins: Vec<BuiltPlugin>,
    /// Their provenance.
    pub provenance: Provenance,
    /// Sources outside of the folder.
    pub elsewhere: BTreeSet<PathBuf>,
    /// The files to write, by name.
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// Why a plugin was not built, or one that was built was not read.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The sources were not compiled.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The thread that builds was stopped.
    #[error("the build ended early: {0}")]
    EndedEarly(String),
    /// The folder has no plugin.
    #[error("there is no plugin in `{}`", .0.display())]
    NoPlugin(PathBuf),
    /// A release has no plugin.
    #[error("`{}` has no plugin NAME.wasm with its NAME.json", .0.display())]
    NoRelease(PathBuf),
    /// A file that was named is not a component.
    #[error("`{}` is not a component NAME.wasm", .0.display())]
    NotAComponent(PathBuf),
    /// A file or folder cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A manifest cannot be read.
    #[error("the manifest `{}` cannot be read: {error}", path.display())]
    ReadManifest {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The component imports a capability that its manifest does not declare.
    #[error("`{plugin}` imports `host:cap/{capability}` and does not declare it")]
    Undeclared {
        /// The plugin.
        plugin: String,
        /// The capability.
        capability: Capability,
    },
    /// The component is not a plugin, or its tools do not fit its manifest.
    #[error("the plugin `{plugin}` cannot be built")]
    Invalid {
        /// The plugin.
        plugin: String,
        /// The reason.
        #[source]
        why: Reason,
    },
}

/// A reason in words, as the source of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Reason(pub String);

impl PluginError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotAComponent(_) => Some("name the file that `host plugin build` wrote, or its folder".to_owned()),
            Self::Undeclared { capability, .. } => {
                Some(format!("add `[capabilities.{capability}]` with a scope and a reason to its plugin.toml"))
            }
            Self::Build(_)
            | Self::EndedEarly(_)
            | Self::NoPlugin(_)
            | Self::NoRelease(_)
            | Self::Read { .. }
            | Self::ReadManifest { .. }
            | Self::Write { .. }
            | Self::Manifest(_)
            | Self::Invalid { .. } => None,
        }
    }
}

/// Builds the plugins of a folder, and asks each for its tools. The compiler's progress goes to standard error.
///
/// # Errors
///
/// When a source does not compile, a manifest is invalid, or a component does not fit its manifest.
pub async fn build_plugins(folder: &Path, tools: Tools, runtime: &Runtime) -> Result<BuildOutput, PluginError> {
    let mut described = Vec::new();
    for built in compile(folder, tools).await? {
        described.push((describe(runtime, &built).await?, built));
    }
    let Some((_, one)) = described.first() else { return Err(PluginError::NoPlugin(folder.to_owned())) };
    let toolchain = one.toolchain.clone();
    Ok(BuildOutput::new(described, toolchain, Origin::Built))
}

impl BuildOutput {
    /// The output of a component that was built elsewhere, with the tools that it described. `folder` has the files
    /// that it brings, if any.
    pub(crate) fn adopted(
        built: BuiltComponent,
        tools: Vec<ToolDef>,
        folder: Option<&Path>,
    ) -> Result<Self, PluginError> {
        let manifest = Manifest::new(built.manifest.clone(), admission::CONTRACT, tools)?;
        let manifest = match folder {
            Some(folder) => manifest.with_files(build::brought(folder)?),
            None => manifest,
        };
        let toolchain = built.toolchain.clone();
        Ok(Self::new(vec![(manifest, built)], toolchain, Origin::Adopted))
    }

    fn new(described: Vec<(Manifest, BuiltComponent)>, toolchain: Toolchain, origin: Origin) -> Self {
        let (mut files, mut elsewhere, mut plugins) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        let mut entries = BTreeMap::new();
        for (manifest, built) in described {
            let BuiltComponent { folder, component, sources, elsewhere: more, .. } = built;
            elsewhere.extend(more);
            let name = manifest.name.clone();
            let entry = ProvenanceEntry { sources, size: component.len(), sha256: Digest::of(&component).to_string() };
            // The slash after the publisher must not make a folder.
            let file = name.replace('/', "+");
            files.insert(PathBuf::from(format!("{file}.json")), manifest.to_json().into_bytes());
            files.insert(PathBuf::from(format!("{file}.wasm")), component.clone());
            entries.insert(name, entry);
            plugins.push(BuiltPlugin { manifest, component, folder });
        }
        let Toolchain { compiler, target, componentizer } = toolchain;
        let provenance = Provenance { origin, compiler, target, componentizer, plugins: entries };
        files.insert(PathBuf::from(PROVENANCE), provenance.to_json().into_bytes());
        Self { plugins, provenance, elsewhere, files }
    }

    /// Writes the files, each whole: a reader of the folder never finds half of a file, even after this process was
    /// killed. All are written before the first of them takes its place, so that a full disk leaves
    /// what was there. An unchanged file is left alone, so that it does not look changed.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, target: &Path) -> Result<(), PluginError> {
        let failed = |path: &Path, error| PluginError::Write { path: path.to_owned(), error };
        std::fs::create_dir_all(target).map_err(|error| failed(target, error))?;
        let mut waiting = Vec::new();
        for (name, bytes) in &self.files {
            let path = target.join(name);
            if std::fs::read(&path).is_ok_and(|there| there == *bytes) {
                continue;
            }
            let mut file = NewFile::beside(&path, Mode::Umask).map_err(|error| failed(&path, error))?;
            file.write_all(bytes).map_err(|error| failed(&path, error))?;
            waiting.push((file, path));
        }
        for (file, path) in waiting {
            file.replace().map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// The names of the files.
    pub fn names(&self) -> BTreeSet<PathBuf> {
        self.files.keys().cloned().collect()
    }

    /// Compares the files with those in a folder: the folder has these and no others.
    ///
    /// # Errors
    ///
    /// With the files that differ.
    pub fn compare(&self, target: &Path) -> Result<(), Stale> {
        let mut differing = Vec::new();
        for (name, bytes) in &self.files {
            if std::fs::read(target.join(name)).ok().as_ref() != Some(bytes) {
                differing.push(name.display().to_string());
            }
        }
        for entry in std::fs::read_dir(target).into_iter().flatten().flatten() {
            if !self.files.contains_key(Path::new(&entry.file_name())) {
                differing.push(format!("{} (nothing builds it)", entry.file_name().to_string_lossy()));
            }
        }
        if differing.is_empty() {
            return Ok(());
        }
        let theirs = built_with(target).filter(|theirs| *theirs != self.provenance.compiler);
        Err(Stale { target: target.to_owned(), differing, other_compiler: theirs })
    }
}

/// A folder of built plugins that is not what the sources build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not what the sources build: {}", target.display(), differing.join(", "))]
pub struct Stale {
    /// The folder.
    pub target: PathBuf,
    /// The files that differ.
    pub differing: Vec<String>,
    /// The compiler that built the folder, when it is a different one.
    pub other_compiler: Option<String>,
}

impl Stale {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> String {
        match &self.other_compiler {
            Some(theirs) => format!("it was built with `{theirs}`, and another compiler makes other bytes"),
            None => "run the same command without --check, and commit what it writes".to_owned(),
        }
    }
}

fn built_with(target: &Path) -> Option<String> {
    let provenance: Provenance = serde_json::from_slice(&std::fs::read(target.join(PROVENANCE)).ok()?).ok()?;
    Some(provenance.compiler)
}

/// Reads the plugins that were built into a folder, or the one of a file. Their sources are in another folder.
///
/// # Errors
///
/// When a file cannot be read, a manifest is invalid, or the file is not a component.
pub fn read_built(built: &Path, sources: &Path) -> Result<Vec<BuiltPlugin>, PluginError> {
    let unreadable = |path: &Path, error| PluginError::Read { path: path.to_owned(), error };
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
        let manifest = read_shipped(&path.with_extension("json"))?;
        let component = host_files::read_file(path, MAX_COMPONENT as u64);
        let component = component.map_err(|error| unreadable(path, error.into()))?;
        // In a workspace each package has a folder of its own, named as the plugin.
        let own = sources.join(manifest.name.rsplit('/').next().unwrap_or(&manifest.name));
        let folder = if own.join("plugin.toml").exists() { own } else { sources.to_owned() };
        plugins.push(BuiltPlugin { manifest, component, folder });
    }
    if plugins.is_empty() && !built.is_dir() {
        return Err(PluginError::NotAComponent(built.to_owned()));
    }
    plugins.sort_by(|one, other| one.manifest.name.cmp(&other.manifest.name));
    Ok(plugins)
}

/// Reads the manifest in a file that `host plugin build` wrote.
///
/// # Errors
///
/// When the file cannot be read, or the manifest is invalid.
pub fn read_shipped(file: &Path) -> Result<Manifest, PluginError> {
    let unreadable = |error: FileError| PluginError::ReadManifest { path: file.to_owned(), error: error.into() };
    let text = host_files::read_text(file, Manifest::MAX_BYTES).map_err(unreadable)?;
    Ok(Manifest::parse(&text, Source::File(file.to_owned()))?)
}

/// Compiles the components of a package or workspace, on a thread that may block. The compiler's progress goes to
/// standard error. Dropping the future ends the compiler.
///
/// # Errors
///
/// When a source does not compile or a manifest is invalid.
pub async fn compile(folder: &Path, tools: Tools) -> Result<Vec<BuiltComponent>, PluginError> {
    let (sources, tools) = (folder.to_owned(), Tools { programs: Programs::default(), ..tools });
    // A thread cannot be ended; the programs that it waits for can.
    let _programs = tools.programs.end_on_drop();
    let built = tokio::task::spawn_blocking(move || build::build(&sources, &tools)).await;
    Ok(built.map_err(|error| PluginError::EndedEarly(error.to_string()))??)
}

/// Completes a manifest with the tools that the component describes, and with the files that the plugin brings.
///
/// # Errors
///
/// When the component is not a plugin, imports what the manifest does not declare, or does not describe itself, or when
/// a file may not be brought.
pub async fn describe(runtime: &Runtime, built: &BuiltComponent) -> Result<Manifest, PluginError> {
    let BuiltComponent { manifest, folder, component, .. } = built;
    let name = manifest.name.clone();
    let wrong =
        |error: &dyn std::error::Error| PluginError::Invalid { plugin: name.clone(), why: Reason(error.to_string()) };
    if HookComponent::new(PluginName::new(&name), component.clone()).is_ok() {
        // It has no tools.
        return Manifest::new(manifest.clone(), admission::CONTRACT, Vec::new()).map_err(|error| wrong(&error));
    }
    let plugin = Plugin::new(PluginName::new(&name), component.clone(), Grants::none());
    let imports = plugin.imports().map_err(|error| wrong(&error))?;
    // Imports that it does not declare would be denied at each of its calls.
    if let Some(capability) = imports.capabilities.iter().find(|it| !manifest.capabilities.contains_key(it.name())) {
        return Err(PluginError::Undeclared { plugin: name, capability });
    }
    let tools = asked(runtime, &name, component).await;
    let tools = tools.map_err(|why| PluginError::Invalid { plugin: name.clone(), why })?;
    let described = Manifest::new(manifest.clone(), admission::CONTRACT, tools).map_err(|error| wrong(&error))?;
    Ok(described.with_files(build::brought(folder)?))
}

/// Asks a component for its tools, without any capability.
pub(crate) async fn asked(runtime: &Runtime, name: &str, component: &[u8]) -> Result<Vec<ToolDef>, Reason> {
    let plugin = Plugin::new(PluginName::new(name), component.to_owned(), Grants::none());
    runtime.describe(&plugin).await.map_err(|error| Reason(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::Command;

    use super::*;

    /// Where each language asks which compiler there is.
    const COMPILERS: &[(&str, &str)] = &[
        ("rust", "rustc"),
        ("javascript", ".venv/bin/node"),
        ("python", ".venv/bin/componentize-py"),
        ("c", ".venv/bin/zig"),
        ("zig", ".venv/bin/zig"),
        ("go", ".venv/bin/go"),
    ];

    #[tokio::test]
    async fn build_given_up_ends_a_compiler_that_is_asked_for_its_version() {
        for (language, compiler) in COMPILERS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = |inner: &str| folder.path().join(inner);
            let manifest = format!(
                "name = \"asked\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\n[build]\nlanguage = \"{language}\"\n"
            );
            std::fs::write(path("plugin.toml"), manifest).expect("written");
            // If nothing ends it, it says so after a while.
            let script = format!("#!/bin/sh\nexec >'{}'\necho begun\nsleep 20\necho late\n", path("pipe").display());
            // Written by another process: a program that this one has open for writing cannot be started.
            let make = "mkfifo pipe && mkdir -p .venv/bin && printf %s \"$0\" >\"$1\" && chmod +x \"$1\"";
            let mut command = Command::new("sh");
            command.args(["-c", make, &script, compiler]).current_dir(folder.path());
            assert!(command.status().expect("it runs").success());
            let tools = Tools {
                cargo: "cargo".into(),
                rustc: path("rustc").into(),
                cargo_home: None,
                zig_cache: None,
                go_cache: None,
                programs: Programs::default(),
            };

            let pipe = path("pipe");
            let (sender, begun) = tokio::sync::oneshot::channel();
            std::thread::spawn(move || {
                let mut pipe = BufReader::new(File::open(pipe).expect("a compiler opens it"));
                let mut line = String::new();
                pipe.read_line(&mut line).expect("it is read");
                sender.send((pipe, line)).ok();
            });
            let mut pipe = tokio::select! {
                built = compile(folder.path(), tools) => panic!("{language}: {built:?}"),
                begun = begun => {
                    let (pipe, line) = begun.expect("it is read");
                    assert_eq!(line, "begun\n", "{language}");
                    pipe
                }
            };
            let mut rest = String::new();
            pipe.read_to_string(&mut rest).expect("it is read to its end");
            assert_eq!(rest, "", "{language}");
        }
    }
}
