//! A plugin that can be used, and the tools of all of them, each with what it may touch.
//!
//! Deliberately not here: where plugins come from besides the host itself (`sources`).

pub mod discovered;
pub mod reload;
pub mod settings;
pub mod sources;
pub mod store;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_capability::{Capability, Grants, Scope};
use host_manifest::{Manifest, ManifestError, Source, ToolEntry};
use host_message::{ToolName, ToolSpec};
use host_plugin::{Digest, Plugin, Runtime, Secrets, Workspace};
use host_tool::{PluginTool, ProgramInput, Registry, Sandbox};

pub use self::sources::{Found, Gathered, Place, distinct, gather};
use crate::error::Failure;
use crate::grants::Granted;

/// A plugin that is part of the host.
struct BuiltIn {
    name: &'static str,
    manifest: &'static str,
    component: &'static [u8],
    sha256: [u8; 32],
}

/// Whatever lay in `plugins/dist` when the host was built.
const BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The built-in plugin whose tools are those that a command tells of, and its own tool that runs this command. Neither is
/// there where no command is configured.
pub const DISCOVERED: &str = "discovered";

/// A plugin, and what its manifest says.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// Where it was found.
    pub place: Place,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its component, with what it declares.
    pub plugin: Arc<Plugin>,
    /// What the person agreed to when it was installed: it is granted as by a flag.
    pub agreed: Grants,
    /// Its own configuration, each value as JSON text.
    pub config: Arc<BTreeMap<String, String>>,
    /// What its requests may carry.
    pub secrets: Arc<Secrets>,
    /// Who says that it is a plugin to use.
    pub whose: Whose,
    /// The one command that each tool may run, and whose program reads the arguments of the call; of a tool that is not
    /// here it is the plugin that says what it runs.
    pub commands: BTreeMap<ToolName, Vec<String>>,
}

/// Who says that a plugin is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The host: it is built in.
    Host,
    /// The person: they installed it, or named it on the command line.
    Persons,
    /// A project that the person trusts.
    Projects,
}

/// A tool that a command told of.
#[derive(Debug)]
pub struct Listed {
    /// What the model is given of it.
    pub spec: ToolSpec,
    /// What a call of it runs.
    pub command: Vec<String>,
}

/// The plugins that are part of the host, but for the one behind tools that a command tells of.
pub fn built_in(workspace: &Path) -> Result<Vec<LoadedPlugin>, Failure> {
    let plugin = |built_in: &BuiltIn| {
        let source = Source::BuiltIn(built_in.name);
        let digest = Some(Digest::from_sha256(&built_in.sha256));
        let (place, component) = (Place::BuiltIn(built_in.name), Cow::Borrowed(built_in.component));
        let plugin = installed(place, built_in.manifest, source, component, digest, workspace)?;
        Ok(LoadedPlugin { whose: Whose::Host, ..plugin })
    };
    BUILT_IN.iter().filter(|built_in| built_in.name != DISCOVERED).map(plugin).collect()
}

/// The plugin with these tools, each of which may run its command and no other.
pub fn discovered(listed: Vec<Listed>) -> Result<LoadedPlugin, Failure> {
    let needs = || vec![Capability::Process.name().to_owned()];
    let entries = listed.iter().map(|tool| ToolEntry { spec: tool.spec.clone(), capabilities: needs() }).collect();
    let commands = listed.into_iter().map(|tool| (tool.spec.name, tool.command)).collect();
    bound(commands, Some(entries))
}

/// The plugin with its own tool, which may run this command: it is the one that tells of the others.
pub fn listing(command: Vec<String>) -> Result<LoadedPlugin, Failure> {
    bound(BTreeMap::from_iter([(ToolName::new(DISCOVERED), command)]), None)
}

/// The plugin with these commands and no other. Its tools are its own where none are given.
fn bound(commands: BTreeMap<ToolName, Vec<String>>, tools: Option<Vec<ToolEntry>>) -> Result<LoadedPlugin, Failure> {
    let missing = || {
        Failure::configuration(format!("this build has no plugin `{DISCOVERED}`"))
            .help("`host plugin build plugins --out plugins/dist`, then build the host again")
    };
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == DISCOVERED).ok_or_else(missing)?;
    let mut manifest = Manifest::parse(built_in.manifest, Source::BuiltIn(built_in.name)).map_err(unfit)?;
    manifest.tools = tools.unwrap_or(manifest.tools);
    // What it asks for is narrower than what it was built to ask for.
    let declared: Grants = commands.values().filter_map(|command| Scope::of_command(command)).collect();
    let text = declared.scope(Capability::Process).map(ToString::to_string);
    match (manifest.capabilities.get_mut(Capability::Process.name()), text) {
        (Some(asked), Some(text)) => asked.scope = text,
        (_, _) => manifest.capabilities.clear(),
    }
    let plugin = Plugin::new(manifest.plugin_name(), Cow::Borrowed(built_in.component), declared);
    let plugin = Arc::new(plugin.with_digest(Digest::from_sha256(&built_in.sha256)));
    let words = serde_json::to_string(&commands).map_err(|error| Failure::configuration(error.to_string()))?;
    let config = Arc::new(BTreeMap::from_iter([("commands".to_owned(), words)]));
    Ok(LoadedPlugin {
        place: Place::Discovered,
        manifest,
        plugin,
        agreed: Grants::none(),
        config,
        secrets: Arc::default(),
        whose: Whose::Host,
        commands,
    })
}

/// Whose the tools are, which says how much of what was granted they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The agent that the person runs: all of it.
    Run,
    /// An agent that this one calls: the part that only reads. What a tool imports beyond that is not linked.
    Subagent,
}

/// The tools of all plugins, each with what it may touch.
pub fn registry(
    plugins: &[LoadedPlugin],
    granted: &Granted,
    holder: Holder,
    runtime: &Arc<Runtime>,
    workspace: &Arc<Workspace>,
) -> Result<Registry, Failure> {
    let mut registry = Registry::new();
    for installed in plugins {
        let (grants, ceiling) = (granted.to(installed), granted.at_most(installed));
        let (grants, ceiling, secrets) = match holder {
            Holder::Run => (grants, ceiling, Arc::clone(&installed.secrets)),
            Holder::Subagent => (grants.reading(), ceiling.reading(), Arc::default()),
        };
        let sandbox = Sandbox {
            runtime: Arc::clone(runtime),
            grants: Arc::new(grants),
            ceiling: Arc::new(ceiling),
            workspace: Arc::clone(workspace),
            config: Arc::clone(&installed.config),
            secrets,
            input: ProgramInput::Nothing,
        };
        for tool in &installed.manifest.tools {
            let needs = installed.plugin.declared().iter().filter(|scope| tool.needs(scope.capability())).cloned();
            let needs: Grants = needs.collect();
            let (needs, sandbox) = match installed.commands.get(&tool.spec.name) {
                // A program is nothing that only reads.
                Some(_) if holder == Holder::Subagent => {
                    registry.leave_out(tool.spec.name.clone());
                    continue;
                }
                Some(command) => {
                    let only: Grants = Scope::of_command(command).into_iter().collect();
                    let within = |grants: &Grants| Arc::new(grants.meet(&only));
                    let (grants, ceiling) = (within(&sandbox.grants), within(&sandbox.ceiling));
                    (needs.meet(&only), Sandbox { grants, ceiling, input: ProgramInput::Arguments, ..sandbox.clone() })
                }
                None => (needs, sandbox.clone()),
            };
            let plugin = Arc::clone(&installed.plugin);
            let tool = PluginTool::new(tool.spec.clone(), needs, plugin, sandbox);
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
) -> Result<LoadedPlugin, Failure> {
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
) -> Result<LoadedPlugin, ManifestError> {
    let declared = manifest.declared(workspace)?;
    let plugin = Plugin::new(manifest.plugin_name(), component, declared).with_optional(manifest.optional());
    let plugin = match digest {
        Some(digest) => plugin.with_digest(digest),
        None => plugin,
    };
    Ok(LoadedPlugin {
        place,
        manifest,
        plugin: Arc::new(plugin),
        commands: BTreeMap::new(),
        agreed: Grants::none(),
        config: Arc::default(),
        secrets: Arc::default(),
        whose: Whose::Persons,
    })
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
