//! A plugin that can be used, and the tools of all of them, each with what it may touch.
//!
//! Deliberately not here: where plugins come from besides the host itself (`gather`).

mod gather;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_bundle::{Manifest, ManifestError, Source};
use host_capability::Grants;
use host_plugin::{Digest, Plugin, Runtime, Workspace};
use host_tool::{PluginTool, Registry, Sandbox};

pub(crate) use self::gather::{Found, Gathered, Place, distinct, gather};
use crate::access::Granted;
use crate::exit::Failure;

/// A plugin that is part of the host.
struct BuiltIn {
    name: &'static str,
    manifest: &'static str,
    component: &'static [u8],
    sha256: [u8; 32],
}

/// Whatever lay in `plugins/dist` when the host was built.
const BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// A plugin, and what its manifest says.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    /// Where it was found.
    pub(crate) place: Place,
    pub(crate) manifest: Manifest,
    pub(crate) plugin: Arc<Plugin>,
    /// What the person agreed to when it was installed: it is granted as by a flag.
    pub(crate) agreed: Grants,
    /// Its own configuration, each value as JSON text.
    pub(crate) config: Arc<BTreeMap<String, String>>,
}

/// The plugins that are part of the host.
pub(crate) fn built_in(workspace: &Path) -> Result<Vec<Installed>, Failure> {
    let plugin = |built_in: &BuiltIn| {
        let source = Source::BuiltIn(built_in.name);
        let digest = Some(Digest::from_sha256(&built_in.sha256));
        let component = Cow::Borrowed(built_in.component);
        installed(Place::BuiltIn(built_in.name), built_in.manifest, source, component, digest, workspace)
    };
    BUILT_IN.iter().map(plugin).collect()
}

/// Whose the tools are, which says how much of what was granted they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The agent that the person runs: all of it.
    Run,
    /// An agent that this one calls: the part that only reads. What a tool imports beyond that is not linked.
    Subagent,
}

/// The tools of all plugins, each with what it may touch.
pub(crate) fn registry(
    plugins: &[Installed],
    granted: &Granted,
    holder: Holder,
    runtime: &Arc<Runtime>,
    workspace: &Arc<Workspace>,
) -> Result<Registry, Failure> {
    let mut registry = Registry::new();
    for installed in plugins {
        let (grants, ceiling) = (granted.to(installed), granted.at_most(installed));
        let (grants, ceiling) = match holder {
            Holder::Run => (grants, ceiling),
            Holder::Subagent => (grants.reading(), ceiling.reading()),
        };
        let sandbox = Sandbox {
            runtime: Arc::clone(runtime),
            grants: Arc::new(grants),
            ceiling: Arc::new(ceiling),
            workspace: Arc::clone(workspace),
            config: Arc::clone(&installed.config),
        };
        for tool in &installed.manifest.tools {
            let needs = installed.plugin.declared().iter().filter(|scope| tool.needs(scope.capability())).cloned();
            let plugin = Arc::clone(&installed.plugin);
            let tool = PluginTool::new(tool.spec.clone(), needs.collect(), plugin, sandbox.clone());
            registry.register(Arc::new(tool)).map_err(|error| {
                Failure::input(format!("the plugin `{}` cannot be used", installed.manifest.name))
                    .cause(error.to_string())
            })?;
        }
    }
    Ok(registry)
}

fn installed(
    place: Place,
    manifest: &str,
    source: Source,
    component: Cow<'static, [u8]>,
    digest: Option<Digest>,
    workspace: &Path,
) -> Result<Installed, Failure> {
    let manifest = Manifest::parse(manifest, source).map_err(unfit)?;
    assembled(place, manifest, component, digest, workspace).map_err(unfit)
}

fn unfit(error: ManifestError) -> Failure {
    Failure::input(error.to_string()).help("build the plugin again with `host plugin build`")
}

fn assembled(
    place: Place,
    manifest: Manifest,
    component: Cow<'static, [u8]>,
    digest: Option<Digest>,
    workspace: &Path,
) -> Result<Installed, ManifestError> {
    let declared = manifest.declared(workspace)?;
    let plugin = Plugin::new(manifest.plugin_name(), component, declared);
    let plugin = match digest {
        Some(digest) => plugin.with_digest(digest),
        None => plugin,
    };
    Ok(Installed { place, manifest, plugin: Arc::new(plugin), agreed: Grants::none(), config: Arc::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_that_was_taken_when_the_host_was_built_is_the_components() {
        assert!(!BUILT_IN.is_empty());
        for built_in in BUILT_IN {
            assert_eq!(Digest::from_sha256(&built_in.sha256), Digest::of(built_in.component), "{}", built_in.name);
        }
    }
}
