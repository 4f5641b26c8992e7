//! Components that were built elsewhere, with the plain tools of any language, made plugins: described, with a manifest
//! and a provenance file beside them.
//!
//! Promises: what the component imports is what it requests, each with a reason that its author gave: in a plugin.toml,
//! on the command line, or in the component's own description of its tools. The component runs as after a build,
//! without any capability, and its bytes stay as they are.
//!
//! Deliberately not here: making a component of a core module, which needs the tool of its language.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host_capability::{Capability, PluginName};
use host_manifest::{Declared, SourceManifest};
use host_plugin::admission::{self, AdmissionError, EMPTY_COMPONENT, Imports};
use host_plugin::{HookComponent, MAX_COMPONENT, Runtime, ToolDef};
use semver::Version;
use wasmparser::{KnownCustom, Parser, Payload};

use crate::build::{BuiltComponent, Toolchain, read_manifest};
use crate::built::{BuildOutput, PluginError, Reason, asked};

/// Producers of a component that are recorded. Protects the provenance file from a component that lists them without
/// end.
const MAX_PRODUCERS: usize = 16;
/// Characters of one of them. Protects the same.
const MAX_PRODUCER: usize = 100;

/// What the author says of a component, besides what it says itself. Each wins over the plugin.toml.
#[derive(Clone, Debug, Default)]
pub struct AdoptOptions {
    /// The plugin.toml.
    pub manifest: Option<PathBuf>,
    /// The plugin's name; without any, that of the file.
    pub name: Option<String>,
    /// Its version; without any, 0.1.0.
    pub version: Option<Version>,
    /// Its licence.
    pub license: Option<String>,
    /// Its description in one line.
    pub description: Option<String>,
    /// Scopes of capabilities.
    pub scopes: BTreeMap<Capability, String>,
    /// Reasons for capabilities.
    pub reasons: BTreeMap<Capability, String>,
}

/// Why a component is not adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// It is not there, too large, or cannot be read.
    #[error("`{}` cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// It is not a component, exports no tool, or imports what this host does not have.
    #[error("`{}` is not a plugin", path.display())]
    Admission {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        why: AdmissionError,
        /// Whether the file is a core module.
        is_module: bool,
    },
    /// Nothing says under which licence it is.
    #[error("the licence of `{0}` is not named")]
    NoLicense(String),
    /// It imports capabilities without a reason.
    #[error("`{plugin}` imports {}, but no reason is given for it", list(capabilities))]
    NoReason {
        /// The plugin.
        plugin: String,
        /// The capabilities.
        capabilities: Vec<Capability>,
    },
    /// A flag is about a capability that it does not import.
    #[error("`{plugin}` does not import `host:cap/{capability}`, and a scope or reason for it is given")]
    NotImported {
        /// The plugin.
        plugin: String,
        /// The capability.
        capability: Capability,
    },
    /// It does not describe itself.
    #[error("the plugin `{plugin}` cannot be adopted: it was asked for its tools and did not describe them")]
    Undescribed {
        /// The plugin.
        plugin: String,
        /// The reason.
        #[source]
        why: Reason,
    },
    /// It does not fit its manifest, or its files cannot be used.
    #[error(transparent)]
    Plugin(#[from] PluginError),
}

fn list(capabilities: &[Capability]) -> String {
    let names: Vec<String> = capabilities.iter().map(|capability| format!("`host:cap/{capability}`")).collect();
    names.join(", ")
}

impl AdoptError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Admission { is_module: true, .. } => Some(
                "build it for `wasm32-wasip2`, or make a component of it with the tool of its language, such as `wasm-tools \
                 component new`"
                    .to_owned(),
            ),
            Self::Admission { why: AdmissionError::NoExport { .. }, .. } => Some(format!(
                "`host plugin wit` writes the contract, whose world `{}` has that export; build the component for it",
                crate::build::WORLD
            )),
            Self::Admission { why: AdmissionError::Unknown { interface, .. }, .. } => Some(unknown(interface)),
            Self::NoLicense(_) => Some("write `--license MIT` or another one, or a plugin.toml with `license`".to_owned()),
            Self::NoReason { capabilities, .. } => {
                let flags: Vec<String> =
                    capabilities.iter().map(|capability| format!("--reason {capability}=\"…\"")).collect();
                Some(format!(
                    "write {}, or a section `[capabilities.NAME]` with a scope and a reason in a plugin.toml; it is what \
                     users read before they grant it",
                    flags.join(" ")
                ))
            }
            Self::NotImported { capability, .. } => {
                Some(format!("leave out what is said of `{capability}`; a plugin requests what it imports"))
            }
            Self::Plugin(error) => error.help(),
            Self::Read { .. } | Self::Admission { .. } | Self::Undescribed { .. } => None,
        }
    }
}

/// What to do about an import that this host does not have.
fn unknown(interface: &str) -> String {
    if interface.starts_with("wasi:http/") {
        return "build it without that import (`--disable http fetch-event` of componentize-js), and send requests with `host:cap/http`"
            .to_owned();
    }
    if interface.starts_with("wasi:") {
        return "build it without that import, and use the interfaces of `host:cap` that `host plugin wit` writes"
            .to_owned();
    }
    "build it for the world that `host plugin wit` writes: a plugin imports nothing but the interfaces in it".to_owned()
}

/// Asks a component for its tools, and makes its manifest and provenance. Without a manifest among the options, the
/// plugin.toml beside the component is used if there is one.
///
/// # Errors
///
/// When the file is not a component, exports no tool, imports what this host does not have or what nobody gave a reason
/// for, or does not describe itself.
pub async fn adopt(path: &Path, options: AdoptOptions, runtime: &Runtime) -> Result<BuildOutput, AdoptError> {
    let limit = u64::try_from(MAX_COMPONENT).unwrap_or(u64::MAX);
    let component = host_files::read_file(path, limit);
    let component = component.map_err(|error| AdoptError::Read { path: path.to_owned(), error: error.into() })?;

    let beside = path.parent().unwrap_or(Path::new(".")).join("plugin.toml");
    let written = options.manifest.clone().or_else(|| beside.is_file().then_some(beside));
    let (mut manifest, folder) = match &written {
        Some(file) => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            (read_manifest(file).map_err(PluginError::from)?, Some(folder.to_owned()))
        }
        None => (unwritten(path, &options)?, None),
    };
    let AdoptOptions { name, version, license, description, scopes, reasons, .. } = options;
    manifest.name = name.unwrap_or(manifest.name);
    manifest.version = version.unwrap_or(manifest.version);
    manifest.license = license.unwrap_or(manifest.license);
    manifest.description = description.or(manifest.description);
    manifest.check().map_err(PluginError::from)?;

    let name = PluginName::new(&manifest.name);
    let tools = if HookComponent::new(name.clone(), component.clone()).is_ok() {
        Vec::new()
    } else {
        let imports = admitted(&name, &component).map_err(|why| {
            let is_module = Parser::is_core_wasm(&component);
            AdoptError::Admission { path: path.to_owned(), why, is_module }
        })?;
        let tools = asked(runtime, &manifest.name, &component)
            .await
            .map_err(|why| AdoptError::Undescribed { plugin: manifest.name.clone(), why })?;
        let requested: Vec<Capability> = imports.capabilities.iter().collect();
        if let Some(capability) = scopes.keys().chain(reasons.keys()).find(|it| !requested.contains(it)) {
            return Err(AdoptError::NotImported { plugin: manifest.name, capability: *capability });
        }
        request(&mut manifest, &requested, &tools, &scopes, &reasons)?;
        manifest.check().map_err(PluginError::from)?;
        tools
    };
    let toolchain = Toolchain {
        compiler: producers(&component),
        target: "unknown".to_owned(),
        componentizer: "unknown".to_owned(),
    };
    let built = BuiltComponent {
        manifest,
        folder: folder.clone().unwrap_or_default(),
        component,
        sources: "unknown".to_owned(),
        elsewhere: Vec::new(),
        toolchain,
    };
    Ok(BuildOutput::adopted(built, tools, folder.as_deref())?)
}

/// Reads the imports of a component that exports tools. One with nothing in it is none, though a plugin of files has
/// it.
fn admitted(name: &PluginName, component: &[u8]) -> Result<Imports, AdmissionError> {
    if component == EMPTY_COMPONENT {
        let why = "it exports nothing".to_owned();
        return Err(AdmissionError::NoExport { plugin: name.clone(), wanted: "host:tool/tool", why });
    }
    admission::imports(name, component)
}

/// The manifest of a component that has no plugin.toml.
fn unwritten(path: &Path, options: &AdoptOptions) -> Result<SourceManifest, AdoptError> {
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = options.name.clone().unwrap_or_else(stem);
    let license = options.license.clone().ok_or_else(|| AdoptError::NoLicense(name.clone()))?;
    Ok(SourceManifest {
        name,
        version: Version::new(0, 1, 0),
        license,
        description: None,
        source: None,
        homepage: None,
        capabilities: BTreeMap::new(),
        config: BTreeMap::new(),
        secrets: BTreeMap::new(),
        titles: BTreeMap::new(),
        build: None,
    })
}

/// Declares what the component imports, with the scope and the reason that are known of it.
fn request(
    manifest: &mut SourceManifest,
    imported: &[Capability],
    tools: &[ToolDef],
    scopes: &BTreeMap<Capability, String>,
    reasons: &BTreeMap<Capability, String>,
) -> Result<(), AdoptError> {
    let mut without = Vec::new();
    for capability in imported {
        let written = manifest.capabilities.get(capability.name());
        let need = tools.iter().flat_map(|tool| &tool.needs).find(|need| need.name == capability.name());
        let scope = scopes.get(capability).or(written.map(|it| &it.scope)).or(need.map(|it| &it.scope));
        let reason = reasons.get(capability).or(written.map(|it| &it.reason)).or(need.map(|it| &it.reason));
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
            without.push(*capability);
            continue;
        };
        let declared = Declared {
            scope: scope.cloned().unwrap_or_else(|| everything(*capability).to_owned()),
            reason: reason.clone(),
            optional: written.is_some_and(|it| it.optional),
        };
        manifest.capabilities.insert(capability.name().to_owned(), declared);
    }
    if without.is_empty() {
        return Ok(());
    }
    Err(AdoptError::NoReason { plugin: manifest.name.clone(), capabilities: without })
}

/// The scope of a capability of which nobody says one: whatever the user grants.
fn everything(capability: Capability) -> &'static str {
    match capability {
        Capability::State => "write",
        Capability::FsRead
        | Capability::FsWrite
        | Capability::Process
        | Capability::Http
        | Capability::Mcp
        | Capability::Tools => "*",
    }
}

/// What made the component, as it says itself: nobody checks it.
fn producers(component: &[u8]) -> String {
    let mut found: Vec<String> = Vec::new();
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        let Payload::CustomSection(section) = payload else { continue };
        let KnownCustom::Producers(fields) = section.as_known() else { continue };
        for field in fields.into_iter().map_while(Result::ok) {
            for value in field.values.into_iter().map_while(Result::ok) {
                let text = format!("{} {}", value.name, value.version);
                let text: String = text.trim().chars().take(MAX_PRODUCER).collect();
                if found.len() < MAX_PRODUCERS && !found.contains(&text) {
                    found.push(text);
                }
            }
        }
    }
    if found.is_empty() { "unknown".to_owned() } else { found.join(", ") }
}
