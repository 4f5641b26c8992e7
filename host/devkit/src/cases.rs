//! The cases of a plugin: calls in the same sandbox as any, described in the files of its folder `tests`.
//!
//! Promises: each case has a workspace of its own, which is gone with it. No request leaves the machine: what a plugin
//! fetches is answered by the case, after the grants permitted it. What a case does not grant is denied as in a run.

mod case;
mod judge;
mod prepared;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host_manifest::{Manifest, ManifestError};
use host_plugin::{CompileOptions, Plugin, Runtime, RuntimeOptions};
use serde_json::Value;

use self::case::{Case, Kind};
use self::judge::{Failed, Seen};
use self::prepared::{Prepared, tool};
use crate::built::BuiltPlugin;

pub use case::CaseFileError;

/// The result of one case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The plugin's name.
    pub plugin: String,
    /// The file that the case is in.
    pub file: PathBuf,
    /// The case's name.
    pub name: String,
    /// Duration of the case.
    pub took: Duration,
    /// The differences from the expected result; empty if the case passed.
    pub wrong: Vec<String>,
}

impl CaseResult {
    /// Returns whether the result was as expected.
    pub fn passed(&self) -> bool {
        self.wrong.is_empty()
    }
}

/// The cases to run, and options of their runtime.
#[derive(Clone, Debug, Default)]
pub struct CaseOptions {
    /// Runs the cases with this in their names.
    pub filter: Option<String>,
    /// The cache folder for compiled components; `None` keeps them in memory.
    pub cache: Option<PathBuf>,
    /// The environment that programs are started with, before it is cleaned of secrets.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// How components are compiled.
    pub compile: CompileOptions,
}

/// Why cases were not run.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The folder of the cases cannot be read.
    #[error("`{}` cannot be read: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file of cases is not used.
    #[error(transparent)]
    File(#[from] CaseFileError),
    /// The plugin's manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A temporary folder cannot be made.
    #[error("no folder for the cases can be made: {0}")]
    Scratch(std::io::Error),
    /// The workspace of a case cannot be made.
    #[error("a workspace for `{case}` cannot be made: {error}")]
    Make {
        /// The case.
        case: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The workspace of a case cannot be read.
    #[error("`{}` cannot be read: {error}", workspace.display())]
    Workspace {
        /// The workspace.
        workspace: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
}

/// Runs the cases of these plugins, one after the other. `ended` gets each result with the one before it.
///
/// # Errors
///
/// When cases cannot be read, or the machine has no place for them. A case that fails is a result.
pub async fn run_cases(
    plugins: &[BuiltPlugin],
    options: &CaseOptions,
    ended: impl Fn(&CaseResult, Option<&CaseResult>),
) -> Result<Vec<CaseResult>, CaseError> {
    let scratch = tempfile::tempdir().map_err(CaseError::Scratch)?;
    let world = World::at(&std::fs::canonicalize(scratch.path()).map_err(CaseError::Scratch)?);
    let runtime = Runtime::new(RuntimeOptions {
        cache: options.cache.clone(),
        state: Some(world.state.clone()),
        environment: options.environment.clone(),
        compile: options.compile.clone(),
        ..RuntimeOptions::default()
    });
    let filter = options.filter.as_deref();
    let mut results: Vec<CaseResult> = Vec::new();
    for tested in plugins {
        let files = files(&tested.folder)?;
        let declared = tested.manifest.declared(&world.workspace)?;
        let plugin = Plugin::new(tested.manifest.plugin_name(), tested.component.clone(), declared)
            .with_optional(tested.manifest.optional());
        for (file, cases) in files {
            for case in cases.iter().filter(|case| filter.is_none_or(|filter| case.name.contains(filter))) {
                let begun = Instant::now();
                let wrong = run_case(case, &tested.manifest, &plugin, &runtime, &world).await?;
                let result = CaseResult {
                    plugin: tested.manifest.name.clone(),
                    file: file.clone(),
                    name: case.name.clone(),
                    took: begun.elapsed(),
                    wrong,
                };
                ended(&result, results.last());
                results.push(result);
            }
        }
    }
    Ok(results)
}

/// The files of cases of a plugin, by name.
fn files(folder: &Path) -> Result<Vec<(PathBuf, Vec<Case>)>, CaseError> {
    let folder = folder.join("tests");
    let unreadable = |error| CaseError::Folder { folder: folder.clone(), error };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        // A Rust package has files of its own in there.
        if path.extension().is_some_and(|end| end == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.into_iter().map(|path| Ok((path.clone(), case::read(&path)?))).collect()
}

/// The surroundings of a case: the same folders for each, so that a plugin is compiled and linked once, and emptied
/// before each.
struct World {
    workspace: PathBuf,
    state: PathBuf,
}

impl World {
    fn at(folder: &Path) -> Self {
        Self { workspace: folder.join("workspace"), state: folder.join("state") }
    }

    /// Sets it up for a case.
    fn make(&self, case: &Case) -> std::io::Result<()> {
        for folder in [&self.workspace, &self.state] {
            match std::fs::remove_dir_all(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => std::fs::create_dir(folder)?,
            }
        }
        // A repository of git, as most workspaces are and as that of the SDK's fake host is: without it no `.gitignore`
        // counts.
        std::fs::create_dir(self.workspace.join(".git"))?;
        for (name, content) in &case.files {
            let path = self.workspace.join(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, content.bytes().map_err(std::io::Error::other)?)?;
        }
        Ok(())
    }
}

async fn run_case(
    case: &Case,
    manifest: &Manifest,
    plugin: &Plugin,
    runtime: &Runtime,
    world: &World,
) -> Result<Vec<String>, CaseError> {
    world.make(case).map_err(|error| CaseError::Make { case: case.name.clone(), error })?;
    let tested = match Prepared::new(case, manifest, &world.workspace) {
        Ok(tested) => tested,
        Err(why) => return Ok(vec![why]),
    };
    for before in &case.before {
        let tool = match tool(before.tool.as_deref(), manifest) {
            Ok(tool) => tool,
            Err(why) => return Ok(vec![why]),
        };
        if let Err(error) = runtime.call(plugin, tested.invocation(tool, &before.arguments)).await {
            return Ok(vec![format!("a call under `before` failed: {error}")]);
        }
    }
    let unreadable = |error| CaseError::Workspace { workspace: world.workspace.clone(), error };
    let before = judge::tree(&world.workspace).map_err(unreadable)?;
    // Arguments that the schema rejects never reach the plugin, as in a run.
    let (preview, answer) = match tested.input.check(&Value::Object(case.arguments.clone())) {
        Err(violations) => (None, Err(Failed::new(Kind::InvalidArguments, violations.to_string()))),
        Ok(()) => {
            let invocation = tested.invocation(tested.tool, &case.arguments);
            let preview = match case.expect.preview {
                Some(_) => Some(runtime.preview(plugin, invocation.clone()).await),
                None => None,
            };
            (preview, runtime.call(plugin, invocation).await.map_err(Failed::from))
        }
    };
    let after = judge::tree(&world.workspace).map_err(unreadable)?;
    let seen = Seen { answer, preview, before, after, requests: tested.network.seen() };
    Ok(judge::judge(&case.expect, &seen, tested.output.as_ref()))
}
