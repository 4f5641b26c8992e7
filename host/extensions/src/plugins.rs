//! Plugins that can be used, whatever their source.
//!
//! Deliberately not here: which of their tools a run can call (`app`), and what those may touch (`grants`).

mod component;
mod file_stamps;
pub mod listed;
mod origin;
mod reach;
pub mod reload;
pub mod settings;
pub mod sources;
pub mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_capability::{Grants, PluginName};
use host_manifest::{Manifest, ManifestError, Source};
use host_message::ToolName;
use host_plugin::{Plugin, Secrets};
use host_settings::brought::Brought;
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, Notice};

pub(crate) use self::component::LoadedComponent;
pub use self::origin::{PluginList, PluginOrigin};
pub use self::sources::{DISCOVERED, MCP, ToolSource, built_in_plugins};

/// A plugin with everything that its calls need except grants.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// The place where it was found.
    pub origin: PluginOrigin,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its component, with the grants that it requests.
    pub plugin: Arc<Plugin>,
    /// The grants that the user agreed to when they installed it. They hold as if given by a flag.
    pub agreed: Grants,
    /// The most that its settings let it touch; `None` if they say nothing about that.
    pub reach: Option<Grants>,
    /// Its own configuration, each value as JSON text.
    pub config: Arc<BTreeMap<String, String>>,
    /// The secrets that its requests may carry.
    pub secrets: Arc<Secrets>,
    /// The one command that each tool may run, whose program reads the arguments of the call. The plugin itself says
    /// what a tool runs that is not here.
    pub commands: BTreeMap<ToolName, Vec<String>>,
}

impl LoadedPlugin {
    /// Returns its name.
    pub fn name(&self) -> &PluginName {
        self.plugin.name()
    }

    /// The names of its tools.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.manifest.tools.iter().map(|tool| tool.spec.name.as_str())
    }

    /// What it brings besides tools.
    pub fn brought(&self) -> Brought<'_> {
        Brought { plugin: &self.manifest.name, files: &self.manifest.files }
    }

    /// A plugin without grants, configuration or secrets.
    ///
    /// # Errors
    ///
    /// If the manifest requests something invalid.
    fn new(
        origin: PluginOrigin,
        manifest: Manifest,
        component: LoadedComponent,
        workspace: &Path,
    ) -> Result<Self, PluginError> {
        let declared = manifest.declared(workspace).map_err(PluginError::Manifest)?;
        let plugin = component.into_plugin(manifest.plugin_name(), declared).with_optional(manifest.optional());
        Ok(Self {
            origin,
            manifest,
            plugin: Arc::new(plugin),
            agreed: Grants::none(),
            reach: None,
            config: Arc::default(),
            secrets: Arc::default(),
            commands: BTreeMap::new(),
        })
    }

    /// The plugin, if the host knows all its imports; without this check, its first call would fail.
    fn with_known_imports(self) -> Result<Self, PluginError> {
        let is_nothing = self.plugin.is_empty() && !self.manifest.is_files_alone();
        let why = match self.plugin.imports() {
            Ok(_) if is_nothing => {
                format!("`{}` exports no tool, and brings no agents, skills, commands or hooks", self.manifest.name)
            }
            Ok(_) => return Ok(self),
            Err(error) => error.to_string(),
        };
        Err(PluginError::Unusable { origin: self.origin, why })
    }
}

/// Why a plugin cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// It exports no tool, or imports something unknown.
    #[error("{origin} cannot be used")]
    Unusable {
        /// The plugin, by where it is from.
        origin: PluginOrigin,
        /// Why, in words.
        why: String,
    },
    /// Its manifest is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl Fault for PluginError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Unusable { why, .. } => vec![why.clone().into()],
            Self::Manifest(_) => Vec::new(),
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unusable { .. } => Some(Advice::from("build it again with ").command("plugin build")),
            Self::Manifest(_) => Some(Advice::from("build the plugin again with ").command("plugin build")),
        }
    }
}

fn parse_manifest(text: &str, source: Source) -> Result<Manifest, PluginError> {
    Manifest::parse(text, source).map_err(PluginError::Manifest)
}

/// Returns what plugins bring besides tools.
pub fn brought(plugins: &[LoadedPlugin]) -> Vec<Brought<'_>> {
    plugins.iter().map(LoadedPlugin::brought).filter(|brought| !brought.files.is_empty()).collect()
}
