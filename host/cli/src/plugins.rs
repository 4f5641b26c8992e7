//! The plugins that there are: the built-in ones, those of a trusted project, and those that the person named with
//! `--plugin`.
//!
//! Only manifests are read here. A component is looked at when one of its tools is first called.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_bundle::{Manifest, ManifestError, Source, ToolEntry};
use host_capability::{Capability, Grants, Scope};
use host_message::{ToolName, ToolSpec};
use host_plugin::{Digest, MAX_COMPONENT, Plugin, Runtime, Secrets, Workspace};
use host_tool::{PluginTool, ProgramInput, Registry, Sandbox};

use crate::access::Granted;
use crate::exit::Failure;
use crate::installed::Usable;
use crate::project::ProjectFile;

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
pub(crate) const DISCOVERED: &str = "discovered";

/// A plugin, and what its manifest says.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) manifest: Manifest,
    pub(crate) plugin: Arc<Plugin>,
    /// What the person agreed to when it was installed: it is granted as by a flag.
    pub(crate) agreed: Grants,
    /// Its own configuration, each value as JSON text.
    pub(crate) config: Arc<BTreeMap<String, String>>,
    /// What its requests may carry.
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) whose: Whose,
    /// The one command that each tool may run, and whose program reads the arguments of the call; of a tool that is not
    /// here it is the plugin that says what it runs.
    pub(crate) commands: BTreeMap<ToolName, Vec<String>>,
}

/// Who says that a plugin is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The host: it is built in.
    Host,
    /// The person: they installed it, or named it on the command line.
    Persons,
    /// A project that the person trusts.
    Projects,
}

/// A tool that a command told of.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) spec: ToolSpec,
    /// What a call of it runs.
    pub(crate) command: Vec<String>,
}

/// Reads the manifests of all plugins.
pub(crate) fn all(
    named: &[PathBuf],
    of_project: &[(ProjectFile, ProjectFile)],
    of_others: Vec<Usable>,
    workspace: &Path,
) -> Result<Vec<Installed>, Failure> {
    let mut plugins = Vec::new();
    for built_in in BUILT_IN.iter().filter(|built_in| built_in.name != DISCOVERED) {
        let source = Source::BuiltIn(built_in.name);
        let digest = Some(Digest::from_sha256(&built_in.sha256));
        let component = Cow::Borrowed(built_in.component);
        let plugin = installed(built_in.manifest, source, component, digest, workspace)?;
        plugins.push(Installed { whose: Whose::Host, ..plugin });
    }
    for Usable { bundle, agreed } in of_others {
        let place = PathBuf::from(bundle.statement());
        // Both were read, and the digest taken, when the bundle was.
        let digest = Digest::from_sha256(&bundle.component_digest().to_sha256());
        let (manifest, component) = bundle.into_manifest_and_component();
        let plugin = assembled(manifest, Cow::Owned(component), Some(digest), workspace).map_err(unfit)?;
        take(&mut plugins, Installed { agreed, ..plugin }, &place)?;
    }
    for (component, manifest) in of_project {
        if manifest.bytes.is_empty() {
            return Err(Failure::configuration(format!("the plugin `{}` has no manifest", component.path.display()))
                .help("`host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side"));
        }
        let bytes = Cow::Owned(component.bytes.clone());
        let source = Source::File(manifest.path.clone());
        let digest = Some(component.digest.clone());
        let plugin = installed(manifest.text()?, source, bytes, digest, workspace)?;
        take(&mut plugins, Installed { whose: Whose::Projects, ..plugin }, &component.path)?;
    }
    for path in named {
        for file in components(path)? {
            let manifest = file.with_extension("json");
            let text = read(&manifest, "the manifest", 32 << 20)?;
            let text = String::from_utf8(text)
                .map_err(|_| Failure::input(format!("the manifest `{}` is no text", manifest.display())))?;
            let component = read(&file, "the component", MAX_COMPONENT as u64)?;
            let plugin = installed(&text, Source::File(manifest), Cow::Owned(component), None, workspace)?;
            take(&mut plugins, plugin, &file)?;
        }
    }
    Ok(plugins)
}

/// Adds a plugin that is not built in.
fn take(plugins: &mut Vec<Installed>, plugin: Installed, file: &Path) -> Result<(), Failure> {
    // Better said now than at its first call.
    plugin.plugin.imports().map_err(|error| {
        Failure::input(format!("`{}` is not taken", file.display()))
            .cause(error.to_string())
            .help("`host plugin build` makes components that are")
    })?;
    let name = &plugin.manifest.name;
    if name == DISCOVERED || plugins.iter().any(|other| other.manifest.name == *name) {
        return Err(Failure::input(format!("there is a plugin `{name}` already"))
            .cause(format!("`{}` has the same name", file.display()))
            .help("give the other one another name in its plugin.toml, and build it again"));
    }
    plugins.push(plugin);
    Ok(())
}

/// The plugin with these tools, each of which may run its command and no other.
pub(crate) fn discovered(listed: Vec<Listed>) -> Result<Installed, Failure> {
    let needs = || vec![Capability::Process.name().to_owned()];
    let entries = listed.iter().map(|tool| ToolEntry { spec: tool.spec.clone(), capabilities: needs() }).collect();
    let commands = listed.into_iter().map(|tool| (tool.spec.name, tool.command)).collect();
    bound(commands, Some(entries))
}

/// The plugin with its own tool, which may run this command: it is the one that tells of the others.
pub(crate) fn listing(command: Vec<String>) -> Result<Installed, Failure> {
    bound(BTreeMap::from_iter([(ToolName::new(DISCOVERED), command)]), None)
}

/// The plugin with these commands and no other. Its tools are its own where none are given.
fn bound(commands: BTreeMap<ToolName, Vec<String>>, tools: Option<Vec<ToolEntry>>) -> Result<Installed, Failure> {
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
    Ok(Installed {
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
    manifest: &str,
    source: Source,
    component: Cow<'static, [u8]>,
    digest: Option<Digest>,
    workspace: &Path,
) -> Result<Installed, Failure> {
    let manifest = Manifest::parse(manifest, source).map_err(unfit)?;
    assembled(manifest, component, digest, workspace).map_err(unfit)
}

fn unfit(error: ManifestError) -> Failure {
    Failure::input(error.to_string()).help("build the plugin again with `host plugin build`")
}

fn assembled(
    manifest: Manifest,
    component: Cow<'static, [u8]>,
    digest: Option<Digest>,
    workspace: &Path,
) -> Result<Installed, ManifestError> {
    let declared = manifest.declared(workspace)?;
    let plugin = Plugin::new(manifest.plugin_name(), component, declared).with_optional(manifest.optional());
    let plugin = match digest {
        Some(digest) => plugin.with_digest(digest),
        None => plugin,
    };
    Ok(Installed {
        manifest,
        plugin: Arc::new(plugin),
        commands: BTreeMap::new(),
        agreed: Grants::none(),
        config: Arc::default(),
        secrets: Arc::default(),
        whose: Whose::Persons,
    })
}

/// The components that a path names: itself, or all in the folder.
fn components(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::input(format!("the plugin `{}` cannot be read: {error}", path.display()));
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|end| end == "wasm") {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::input(format!("there is no plugin in `{}`", path.display()))
            .help("`host plugin build SOURCES --out DIR` puts components there"));
    }
    Ok(files)
}

fn read(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 > limit => {
            Err(Failure::input(format!("{what} `{}` is over the limit of {limit} bytes", path.display())))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::input(format!("{what} `{}` cannot be read: {error}", path.display()))
            .help("`host plugin build` puts a component NAME.wasm and its manifest NAME.json side by side")),
    }
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
