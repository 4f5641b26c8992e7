//! Sources of plugins: each source finds its plugins, and knows the files whose changes show that they changed.
//!
//! Every variant of [`ToolSource`] has a file of its own. Promises: a source can be searched again at any time, and a
//! plugin with the same origin is then the same plugin or another version of it; an invalid plugin keeps no other one
//! from being used. Only the imports of components are read.
//!
//! Deliberately not here: how a session handles changed plugins (`reload`, `app`).

mod built_in;
mod command;
mod path;
mod project;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_plugin::{Runtime, Workspace};
use host_settings::configuration::{Commands, Configuration};
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_settings::project::ProjectFiles;
use host_text::{Advice, Notice};
use tokio_util::sync::CancellationToken;

pub use self::built_in::built_in_plugins;
pub(crate) use self::built_in::read_ahead;
#[cfg(test)]
pub(crate) use self::command::lister;
use super::LoadedPlugin;
use super::file_stamps::FileStamps;
use super::origin::PluginOrigin;
use super::settings::{ConfigResolution, PluginSettings};

/// The name of the plugin whose tools are those that a command lists.
pub const DISCOVERED: &str = "discovered";

/// The name of the plugin whose tools are those of MCP servers.
pub const MCP: &str = "mcp";

/// A place that plugins or tools come from.
#[derive(Clone, Debug)]
pub enum ToolSource {
    /// The binary.
    BuiltIn,
    /// The plugin store.
    Store,
    /// The `.host/plugins/` of a trusted project.
    Project,
    /// A component or a folder of components that the user named.
    Path(PathBuf),
    /// A command that lists tools, and one that calls them.
    Command(Commands),
    /// MCP servers, whose tools come when they are connected.
    Mcp,
}

/// A plugin that a source has, or why it cannot be used.
#[derive(Debug)]
struct Found {
    origin: PluginOrigin,
    plugin: Result<LoadedPlugin, Failure>,
}

/// The plugins of all sources.
#[derive(Debug, Default)]
pub struct SearchResult {
    /// The plugins that can be used.
    pub plugins: Vec<LoadedPlugin>,
    /// The plugins that cannot be used.
    pub invalid: Vec<(PluginOrigin, Failure)>,
    /// Why other plugins are not used, a line each for the user.
    pub skipped: Vec<Notice>,
}

/// The handling of a plugin that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalid {
    /// The search fails, and no further source is searched.
    Fail,
    /// It is reported in addition to the others.
    Report,
}

/// The data that sources read, in addition to the paths and commands that they name themselves.
pub struct SourceContext<'a> {
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The files of the project, if it is trusted.
    pub project: &'a ProjectFiles,
    /// The folders of the host.
    pub folders: &'a Folders,
    /// The folder to work in.
    pub workspace: &'a Arc<Workspace>,
    /// The engine that runs plugins.
    pub runtime: &'a Runtime,
    /// Called with what is waited for.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// All sources, in the order in which they are searched, with the user's settings for what they find.
pub struct PluginSources {
    sources: Vec<ToolSource>,
    settings: PluginSettings,
    /// The files of all sources, as they were at the last look.
    stamps: FileStamps,
}

impl ToolSource {
    /// Finds the plugins. `others` is what the sources before it have: their names are taken, and reasons to skip a
    /// plugin go there.
    async fn find(
        &self,
        context: &SourceContext<'_>,
        others: &mut SearchResult,
        cancel: &CancellationToken,
    ) -> Result<Vec<Found>, Failure> {
        let workspace = context.workspace.root();
        Ok(match self {
            Self::BuiltIn => built_in::find(workspace)?,
            Self::Store => store::find(context.project, context.folders, workspace, &mut others.skipped)?,
            Self::Project => project::find(context.project, workspace),
            Self::Path(path) => path::find(path, workspace),
            Self::Command(commands) => vec![command::find(commands, context, &others.plugins, cancel).await],
            Self::Mcp => vec![built_in::mcp(workspace)],
        })
    }

    /// Adds the files whose changes show that its plugins changed.
    fn add_stamps(&self, project: &Path, folders: &Folders, stamps: &mut FileStamps) {
        match self {
            Self::BuiltIn | Self::Mcp => {}
            Self::Store => store::add_stamps(folders, stamps),
            Self::Project => project::add_stamps(project, folders, stamps),
            Self::Path(path) => path::add_stamps(path, stamps),
            Self::Command(commands) => command::add_stamps(commands, stamps),
        }
    }
}

impl PluginSources {
    /// The sources of a run: `paths` are those that the user named, `commands` those of the configuration.
    pub fn new(paths: &[PathBuf], commands: Option<Commands>, has_servers: bool, settings: PluginSettings) -> Self {
        let mut sources = vec![ToolSource::BuiltIn, ToolSource::Store, ToolSource::Project];
        sources.extend(paths.iter().cloned().map(ToolSource::Path));
        // The last one: a name that a command lists gives way to all others.
        sources.extend(commands.map(ToolSource::Command));
        sources.extend(has_servers.then_some(ToolSource::Mcp));
        Self { sources, settings, stamps: FileStamps::default() }
    }

    /// Looks at the files of all sources; returns whether one of them changed since the last look. It comes before the
    /// search, so that a change during the search is noticed by the next look.
    pub fn look(&mut self, project: &Path, folders: &Folders) -> bool {
        let mut stamps = FileStamps::default();
        self.sources.iter().for_each(|source| source.add_stamps(project, folders, &mut stamps));
        let changed = stamps != self.stamps;
        self.stamps = stamps;
        changed
    }

    /// Searches all sources, and applies the user's settings to what they have.
    ///
    /// # Errors
    ///
    /// If a source cannot be searched at all, such as a plugin store with an invalid lock file; with
    /// [`OnInvalid::Fail`], also if a plugin cannot be used or has the name of another one.
    pub async fn find(
        &self,
        context: &SourceContext<'_>,
        on_invalid: OnInvalid,
        cancel: &CancellationToken,
    ) -> Result<SearchResult, Failure> {
        let mut all = SearchResult::default();
        for source in &self.sources {
            for Found { origin, plugin } in source.find(context, &mut all, cancel).await? {
                match plugin.and_then(|plugin| self.settings.apply(plugin)) {
                    Ok(ConfigResolution::Applied(plugin)) => all.plugins.push(*plugin),
                    Ok(ConfigResolution::Skipped(why)) => all.skipped.push(why),
                    Ok(ConfigResolution::Unused) => {}
                    Err(failure) if on_invalid == OnInvalid::Fail => return Err(failure),
                    Err(failure) => all.invalid.push((origin, failure)),
                }
            }
            if on_invalid == OnInvalid::Fail {
                check_names(&all.plugins)?;
            }
        }
        Ok(all)
    }
}

/// Returns the installed plugins that can be used, for who wants to know what they bring.
///
/// # Errors
///
/// If a list or an installed plugin cannot be read.
pub fn installed(project: &ProjectFiles, folders: &Folders, workspace: &Path) -> Result<Vec<LoadedPlugin>, Failure> {
    let found = store::find(project, folders, workspace, &mut Vec::new())?;
    Ok(found.into_iter().filter_map(|found| found.plugin.ok()).collect())
}

/// Why two plugins cannot be used together.
#[derive(Debug, thiserror::Error)]
pub enum SameNameError {
    /// They have one name.
    #[error("there is a plugin `{name}` already")]
    Plugin {
        /// The name.
        name: String,
        /// The second one.
        origin: PluginOrigin,
    },
    /// One has two tools with one name.
    #[error("the plugin `{plugin}` has two tools `{tool}`")]
    TwoTools {
        /// The plugin.
        plugin: String,
        /// The tool.
        tool: String,
    },
    /// Both have a tool with one name.
    #[error("the plugins `{}` and `{}` both have a tool `{tool}`", .first.0, .second.0)]
    Tool {
        /// The tool.
        tool: String,
        /// The one that was there before.
        first: Box<(String, PluginOrigin)>,
        /// The other one.
        second: Box<(String, PluginOrigin)>,
    },
}

impl Fault for SameNameError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Plugin { origin, .. } => vec![format!("{origin} has the same name").into()],
            Self::TwoTools { .. } => Vec::new(),
            Self::Tool { first, second, .. } => {
                vec![format!("`{}` is {}, `{}` is {}", first.0, first.1.place(), second.0, second.1.place()).into()]
            }
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Plugin { .. } => Some("change the name of one of them in its plugin.toml, and build it again".into()),
            Self::TwoTools { .. } => Some("report it to its publisher".into()),
            Self::Tool { first, second, .. } => Some(use_one(&first.1, &second.1)),
        }
    }
}

/// What to do so that only one of two plugins is used.
fn use_one(first: &PluginOrigin, second: &PluginOrigin) -> Advice {
    let ways = [first, second].into_iter().filter_map(PluginOrigin::way_out).enumerate();
    ways.fold(Advice::from("use one of them: "), |help, (at, way)| match at {
        0 => help.then(way),
        _ => help.text(", or ").then(way),
    })
}

/// Checks that each plugin has a name of its own.
///
/// # Errors
///
/// If two plugins have one name, or one has a name that is reserved for the tools of a command or of MCP servers.
pub(crate) fn check_names(plugins: &[LoadedPlugin]) -> Result<(), SameNameError> {
    for (at, plugin) in plugins.iter().enumerate() {
        let is_reserved = match plugin.manifest.name.as_str() {
            DISCOVERED => plugin.origin != PluginOrigin::Command,
            MCP => plugin.origin != PluginOrigin::Mcp,
            _ => false,
        };
        if is_reserved || plugins.iter().take(at).any(|other| other.manifest.name == plugin.manifest.name) {
            let (name, origin) = (plugin.manifest.name.clone(), plugin.origin.clone());
            return Err(SameNameError::Plugin { name, origin });
        }
    }
    Ok(())
}

/// The error of a plugin with a tool that another plugin has too.
pub fn tool_taken(tool: &str, plugin: &LoadedPlugin, plugins: &[LoadedPlugin]) -> SameNameError {
    let of = |plugin: &LoadedPlugin| Box::new((plugin.manifest.name.clone(), plugin.origin.clone()));
    let others = plugins.iter().filter(|other| other.origin != plugin.origin);
    match others.into_iter().find(|other| other.tools().any(|name| name == tool)) {
        Some(other) => SameNameError::Tool { tool: tool.to_owned(), first: of(other), second: of(plugin) },
        None => SameNameError::TwoTools { plugin: plugin.manifest.name.clone(), tool: tool.to_owned() },
    }
}

#[cfg(test)]
mod tests;
