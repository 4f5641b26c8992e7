//! Everything that can be said about a plugin without calling it, before it is given to others.
//!
//! Deliberately not here: the rules (`lint`), and which changes need which version (`host_manifest::Changes`).

mod lint;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host_capability::Grants;
use host_manifest::{Changes, Manifest, ManifestError, VersionVerdict};
use host_plugin::{CompileOptions, Plugin, Runtime, RuntimeOptions, admission};

use crate::built::{self, BuiltPlugin, PluginError, Reason};
use crate::license::license_file;

pub use lint::{Finding, Severity};

/// The largest licence that is looked at. Protects memory; a bundle takes none that is larger.
const MAX_LICENSE: u64 = 1 << 20;

/// The results of checking one plugin.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// Its manifest.
    pub manifest: Manifest,
    /// The imports of its component.
    pub imports: Vec<String>,
    /// The component's size in bytes.
    pub size: usize,
    /// Time that the host took to compile it.
    pub compiling: Duration,
    /// Findings for its author, the most serious first.
    pub findings: Vec<Finding>,
    /// The difference from a version that was released.
    pub since: Option<Since>,
}

/// The difference from a version that was released.
#[derive(Clone, Debug)]
pub struct Since {
    /// The version that was released.
    pub version: semver::Version,
    /// The changes.
    pub changes: Changes,
    /// Whether the new version number reflects the changes.
    pub verdict: VersionVerdict,
}

/// Why a plugin cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A capability or a scope of its manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The host would not run it.
    #[error("`{plugin}` cannot be loaded")]
    Refused {
        /// The plugin.
        plugin: String,
        /// Why.
        #[source]
        why: Reason,
    },
}

impl CheckReport {
    /// Returns whether it has no errors and its version is high enough.
    pub fn is_good(&self) -> bool {
        let wrong = self.findings.iter().any(|finding| finding.severity == Severity::Error);
        !wrong && self.since.as_ref().is_none_or(|since| since.verdict == VersionVerdict::Enough)
    }
}

/// Checks one plugin; against the release of the same name, if there is one.
///
/// # Errors
///
/// When the host would not run the plugin.
pub async fn check(
    plugin: BuiltPlugin,
    released: &[Manifest],
    compile: CompileOptions,
) -> Result<CheckReport, CheckError> {
    let BuiltPlugin { manifest, component, folder } = plugin;
    let size = component.len();
    let declared = manifest.declared(Path::new("/"))?;
    let refused = |error: &dyn std::error::Error| CheckError::Refused {
        plugin: manifest.name.clone(),
        why: Reason(error.to_string()),
    };
    let plugin = Plugin::new(manifest.plugin_name(), component, Grants::clone(&declared));
    let imports = plugin.imports().map_err(|error| refused(&error))?.clone();
    admission::admit(plugin.name(), &imports, &declared, manifest.optional(), &declared)
        .map_err(|error| refused(&error))?;
    // A cached component would make this the time of loading.
    let runtime = Runtime::new(RuntimeOptions { compile, ..RuntimeOptions::default() });
    let begun = Instant::now();
    runtime.prepare(&plugin).await.map_err(|error| refused(&error))?;
    let compiling = begun.elapsed();
    let since = released.iter().find(|old| old.name == manifest.name).map(|old| {
        let changes = Changes::between(old, &manifest);
        let verdict = changes.verdict(&old.version, &manifest.version);
        Since { version: old.version.clone(), changes, verdict }
    });
    let license = license_file(&folder).and_then(|file| Some((host_files::read_text(&file, MAX_LICENSE).ok()?, file)));
    let license = license.as_ref().map(|(text, file)| (file.as_path(), text.as_str()));
    let findings = lint::lint(&manifest, &imports, license);
    Ok(CheckReport { manifest, imports: imports.names, size, compiling, findings, since })
}

/// Reads the manifests of a release: of one file, or of all in a folder; at least one.
///
/// # Errors
///
/// When a file cannot be read, a manifest is invalid, or there is none.
pub fn read_released(path: &Path) -> Result<Vec<Manifest>, PluginError> {
    let unreadable = |error| PluginError::Read { path: path.to_owned(), error };
    let files: Vec<PathBuf> = if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(unreadable)?;
        let files: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
        files
            .map_err(unreadable)?
            .into_iter()
            .filter(|file| file.with_extension("wasm") != **file && file.with_extension("wasm").exists())
            .collect()
    } else {
        vec![path.with_extension("json")]
    };
    let manifests = files.iter().map(|file| built::read_shipped(file)).collect::<Result<Vec<Manifest>, _>>()?;
    if manifests.is_empty() { Err(PluginError::NoRelease(path.to_owned())) } else { Ok(manifests) }
}
