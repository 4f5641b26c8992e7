//! The places where plugins are found.

use std::fmt;
use std::path::{Path, PathBuf};

use host_text::{Advice, Flag};
use host_tool::FailureWords;

/// A list of installed plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginList {
    /// The user's own.
    User,
    /// That of the project.
    Project,
}

/// The place where a plugin was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginOrigin {
    /// In the binary, by this name.
    BuiltIn(&'static str),
    /// In the plugin store.
    Store {
        /// Its name.
        name: String,
        /// The list that names it.
        list: PluginList,
    },
    /// In a trusted project, with the path of its component.
    Project(PathBuf),
    /// At a path that the user named: the component, or the named folder if it cannot be read.
    Path(PathBuf),
    /// Behind the command that lists tools.
    Command,
    /// Behind the MCP servers.
    Mcp,
}

impl PluginOrigin {
    /// Describes the place, without the plugin's name.
    pub(super) fn place(&self) -> String {
        match self {
            Self::BuiltIn(_) => "built in".to_owned(),
            Self::Store { list: PluginList::User, .. } => "in your own list of plugins".to_owned(),
            Self::Store { list: PluginList::Project, .. } => "in the project's list of plugins".to_owned(),
            Self::Project(path) | Self::Path(path) => format!("`{}`", path.display()),
            Self::Command => "what the command that lists tools has".to_owned(),
            Self::Mcp => "what the MCP servers have".to_owned(),
        }
    }

    /// Returns what the user does so that the plugin is not used; `None` if it always is.
    pub(crate) fn way_out(&self) -> Option<Advice> {
        match self {
            Self::Store { name, list: PluginList::User } => {
                Some(Advice::default().command(format!("plugin remove {name} --user")))
            }
            Self::Store { name, list: PluginList::Project } => {
                Some(Advice::default().command(format!("plugin remove {name}")))
            }
            Self::Project(path) => Some(format!("remove `{}`", path.display()).into()),
            Self::Path(path) => {
                let option = Advice::from("leave out ").code_flag(Flag::Plugin, None);
                Some(option.text(format!(" for `{}`", path.display())))
            }
            Self::Command => Some("remove `discovery_command` from the configuration".into()),
            Self::BuiltIn(_) | Self::Mcp => None,
        }
    }

    /// Returns whose words the failures of its tools are. What a command lists is the user's own.
    pub fn failure_words(&self) -> FailureWords {
        match self {
            Self::BuiltIn(_) | Self::Command => FailureWords::OfHost,
            Self::Mcp => FailureWords::OfServer,
            Self::Store { .. } | Self::Project(_) | Self::Path(_) => FailureWords::OfPlugin,
        }
    }

    /// Returns whether a trusted project brought the plugin, rather than the user.
    pub(crate) fn is_project(&self) -> bool {
        match self {
            Self::Project(_) => true,
            Self::BuiltIn(_) | Self::Store { .. } | Self::Path(_) | Self::Command | Self::Mcp => false,
        }
    }

    /// The path of the component, if it is read from a file that is not the host's own.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Project(file) | Self::Path(file) => Some(file),
            Self::BuiltIn(_) | Self::Store { .. } | Self::Command | Self::Mcp => None,
        }
    }
}

impl fmt::Display for PluginOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => write!(f, "the built-in plugin `{name}`"),
            Self::Store { name, .. } => write!(f, "the installed plugin `{name}`"),
            Self::Project(path) | Self::Path(path) => write!(f, "`{}`", path.display()),
            Self::Command => f.write_str("the command that lists tools"),
            Self::Mcp => f.write_str("the MCP servers"),
        }
    }
}
