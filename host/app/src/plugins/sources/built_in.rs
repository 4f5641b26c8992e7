//! The plugins that are part of the binary.
//!
//! Deliberately not here: the tools that a command lists, and those of MCP servers; their plugins are built in too, but each
//! of their tools comes from the command (`command`) or a server (`crate::mcp`).

use std::path::Path;
use std::sync::OnceLock;

use host_manifest::{Manifest, Source};
use host_plugin::Digest;

use super::{DISCOVERED, Found, MCP, PluginOrigin};
use crate::error::Failure;
use crate::plugins::{LoadedPlugin, invalid};

/// A component of the binary, with its manifest.
pub(super) struct BuiltIn {
    name: &'static str,
    manifest: &'static str,
    pub(super) component: &'static [u8],
    sha256: [u8; 32],
    /// The manifest, read when it is first needed.
    read: OnceLock<Manifest>,
}

/// Everything that was in `plugins/dist` when the host was built.
static BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

impl BuiltIn {
    /// The component with this name; `None` if this build does not have it.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|built_in| built_in.name == name)
    }

    pub(super) fn manifest(&self) -> Result<Manifest, Failure> {
        if let Some(manifest) = self.read.get() {
            return Ok(manifest.clone());
        }
        let manifest = Manifest::parse_own(self.manifest, Source::BuiltIn(self.name)).map_err(invalid)?;
        Ok(self.read.get_or_init(|| manifest).clone())
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::from_sha256(&self.sha256)
    }
}

/// Reads all manifests, so that they are there when they are needed. Errors are left for that moment. It begins with the
/// last, since a thread that needs them meanwhile begins with the first.
pub(crate) fn read_ahead() {
    for built_in in BUILT_IN.iter().rev() {
        built_in.manifest().ok();
    }
}

pub(super) fn find(workspace: &Path) -> Result<Vec<Found>, Failure> {
    let plugins = built_in_plugins(workspace)?.into_iter();
    Ok(plugins.map(|plugin| Found { origin: plugin.origin.clone(), plugin: Ok(plugin) }).collect())
}

/// The plugin behind the tools of MCP servers. It has none of its own: those of the servers come when they are connected.
pub(super) fn mcp(workspace: &Path) -> Found {
    let missing = || Failure::configuration(format!("this build has no plugin `{MCP}`"));
    let plugin = BuiltIn::find(MCP).ok_or_else(missing).and_then(|built_in| {
        let manifest = Manifest { tools: Vec::new(), ..built_in.manifest()? };
        LoadedPlugin::new(PluginOrigin::Mcp, manifest, built_in.component, Some(built_in.digest()), workspace)
    });
    Found { origin: PluginOrigin::Mcp, plugin }
}

/// The plugins that are part of the binary, but for those behind the tools that a command lists and those of MCP servers.
///
/// # Errors
///
/// If a manifest is invalid.
pub fn built_in_plugins(workspace: &Path) -> Result<Vec<LoadedPlugin>, Failure> {
    let plugin = |built_in: &BuiltIn| {
        let origin = PluginOrigin::BuiltIn(built_in.name);
        LoadedPlugin::new(origin, built_in.manifest()?, built_in.component, Some(built_in.digest()), workspace)
    };
    BUILT_IN.iter().filter(|built_in| ![DISCOVERED, MCP].contains(&built_in.name)).map(plugin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_manifests_are_what_is_demanded_of_all() {
        for built_in in BUILT_IN {
            let checked = Manifest::parse(built_in.manifest, Source::BuiltIn(built_in.name)).expect(built_in.name);
            assert_eq!(built_in.manifest().expect(built_in.name), checked);
        }
    }

    #[test]
    fn built_in_digests_are_those_of_the_components() {
        assert!(!BUILT_IN.is_empty());
        for built_in in BUILT_IN {
            assert_eq!(built_in.digest(), Digest::of(built_in.component), "{}", built_in.name);
        }
    }
}
