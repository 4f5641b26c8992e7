//! The plugins that are part of the binary.
//!
//! Deliberately not here: the tools that a command lists, and those of MCP servers; their plugins are built in too, but
//! each of their tools comes from the command (`command`) or a server (`host_settings::mcp`).

use std::path::Path;
use std::sync::OnceLock;

use host_manifest::{Manifest, Source};
use host_plugin::{CodeIdentity, Digest, Precompiled};
use host_settings::error::Failure;

use super::{DISCOVERED, Found, MCP};
use crate::plugins::{LoadedComponent, LoadedPlugin, PluginError, PluginOrigin};

/// A component of the binary, with its manifest.
pub(super) struct BuiltIn {
    name: &'static str,
    manifest: &'static str,
    component: &'static [u8],
    sha256: [u8; 32],
    /// The machine code of the component, if this is a release.
    code: Option<(CodeIdentity, &'static [u8])>,
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
        let manifest = Manifest::parse_own(self.manifest, Source::BuiltIn(self.name)).map_err(PluginError::Manifest)?;
        Ok(self.read.get_or_init(|| manifest).clone())
    }

    pub(super) fn component(&self) -> LoadedComponent {
        LoadedComponent::built_in(self.component, self.digest(), self.precompiled())
    }

    fn digest(&self) -> Digest {
        Digest::from_sha256(&self.sha256)
    }

    fn precompiled(&self) -> Option<Precompiled> {
        // SAFETY: only the list above makes one of these, and `build.rs` wrote it: the code is a file of the folder
        // that `host-precompile` made in the first stage of the same release, and came into the binary with the
        // component.
        self.code.map(|(identity, code)| unsafe { Precompiled::new(identity, code) })
    }
}

/// Reads all manifests, so that they are there when they are needed. Errors are left for that moment. It begins with
/// the last, since a thread that needs them meanwhile begins with the first.
pub(crate) fn read_ahead() {
    for built_in in BUILT_IN.iter().rev() {
        built_in.manifest().ok();
    }
}

pub(super) fn find(workspace: &Path) -> Result<Vec<Found>, Failure> {
    let plugins = built_in_plugins(workspace)?.into_iter();
    Ok(plugins.map(|plugin| Found { origin: plugin.origin.clone(), plugin: Ok(plugin) }).collect())
}

/// The plugin behind the tools of MCP servers. It has none of its own: those of the servers come when they are
/// connected.
pub(super) fn mcp(workspace: &Path) -> Found {
    let missing = || Failure::configuration(format!("this build has no plugin `{MCP}`"));
    let plugin = BuiltIn::find(MCP).ok_or_else(missing).and_then(|built_in| {
        let manifest = Manifest { tools: Vec::new(), ..built_in.manifest()? };
        Ok(LoadedPlugin::new(PluginOrigin::Mcp, manifest, built_in.component(), workspace)?)
    });
    Found { origin: PluginOrigin::Mcp, plugin }
}

/// The plugins that are part of the binary, but for those behind the tools that a command lists and those of MCP
/// servers.
///
/// # Errors
///
/// If a manifest is invalid.
pub fn built_in_plugins(workspace: &Path) -> Result<Vec<LoadedPlugin>, Failure> {
    let plugin = |built_in: &BuiltIn| {
        let origin = PluginOrigin::BuiltIn(built_in.name);
        Ok(LoadedPlugin::new(origin, built_in.manifest()?, built_in.component(), workspace)?)
    };
    BUILT_IN.iter().filter(|built_in| ![DISCOVERED, MCP].contains(&built_in.name)).map(plugin).collect()
}

/// What `build.rs` reads machine code with.
#[cfg(test)]
#[path = "../../../build/precompiled.rs"]
mod precompiled_folder;

#[cfg(test)]
mod tests {
    use super::precompiled_folder::Folder;
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

    #[test]
    fn built_in_code_that_is_missing_or_for_another_system_ends_the_build() {
        let folder = tempfile::tempdir().expect("a folder");
        let (component, engine) = ([0xa5; 32], [7; 32]);
        let open = |text: &str| {
            std::fs::write(folder.path().join("engine"), text).expect("written");
            Folder::open(folder.path(), "x86_64", "linux")
        };
        let refused = |text: &str, words: &str| {
            let error = open(text).err().unwrap_or_default();
            assert!(error.contains(words) && error.contains("host-precompile"), "{text:?}: {error}");
        };
        let identity = "07".repeat(32);
        refused("", "three words");
        refused(
            &format!("aarch64 linux {identity}"),
            "for linux on aarch64, and the host is built for linux on x86_64",
        );
        refused(&format!("x86_64 macos {identity}"), "for macos on x86_64");
        refused(&format!("x86_64 linux {}", &identity[1..]), "64 digits");
        refused(&format!("x86_64 linux {}", identity.replace('7', "x")), "64 digits");
        assert!(Folder::open(&folder.path().join("none"), "x86_64", "linux").is_err());

        let opened = open(&format!("x86_64 linux {identity}\n")).expect("it fits");
        assert_eq!(opened.engine, engine);
        let error = opened.code(&component).expect_err("it has none");
        assert!(error.contains(&"a5".repeat(32)) && error.contains("host-precompile"), "{error}");
        std::fs::write(folder.path().join("a5".repeat(32)), "code").expect("written");
        assert_eq!(opened.code(&component).expect("read"), b"code");
    }
}
