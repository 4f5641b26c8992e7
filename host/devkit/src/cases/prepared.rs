//! The input of a case's calls: its tool, grants, settings and answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_capability::{Capability, Grants, Scope};
use host_manifest::{Manifest, ToolEntry};
use host_message::{CallId, ToolName};
use host_plugin::{Invocation, Network, PlacedSecret, PreparedNetwork, Secrets, Workspace};
use host_tool::Schema;
use serde_json::{Map, Value};

use super::case::Case;

/// The value of every secret; it does not leave the machine.
const VALUE: &str = "the-value-of-a-secret";

/// The input of a case's calls.
pub(super) struct Prepared<'m> {
    pub(super) tool: &'m ToolEntry,
    pub(super) input: Schema,
    pub(super) output: Option<Schema>,
    grants: Arc<Grants>,
    workspace: Arc<Workspace>,
    config: Arc<BTreeMap<String, String>>,
    secrets: Arc<Secrets>,
    pub(super) network: Arc<PreparedNetwork>,
}

impl<'m> Prepared<'m> {
    pub(super) fn new(case: &Case, manifest: &'m Manifest, workspace: &Path) -> Result<Self, String> {
        let tool = tool(case.tool.as_deref(), manifest)?;
        let schema = |schema: &Value| Schema::compile(schema).map_err(|error| error.to_string());
        Ok(Self {
            tool,
            input: schema(&tool.spec.input_schema)?,
            output: tool.spec.output_schema.as_deref().map(schema).transpose()?,
            grants: Arc::new(grants(case, workspace)?),
            workspace: Arc::new(Workspace::new(workspace.to_owned())),
            config: Arc::new(config(case, manifest)?),
            secrets: Arc::new(secrets(case, manifest)?),
            network: Arc::new(case.network()?),
        })
    }

    pub(super) fn invocation(&self, tool: &ToolEntry, arguments: &Map<String, Value>) -> Invocation {
        let (id, tool) = (CallId::new("test"), ToolName::new(tool.spec.name.as_str()));
        let arguments = Value::Object(arguments.clone()).to_string();
        Invocation {
            config: Arc::clone(&self.config),
            secrets: Arc::clone(&self.secrets),
            network: Network::Prepared(Arc::clone(&self.network)),
            ..Invocation::new(id, tool, arguments, Arc::clone(&self.grants), Arc::clone(&self.workspace))
        }
    }
}

pub(super) fn tool<'m>(wanted: Option<&str>, manifest: &'m Manifest) -> Result<&'m ToolEntry, String> {
    let names: Vec<String> = manifest.tools.iter().map(|tool| format!("`{}`", tool.spec.name)).collect();
    match (wanted, manifest.tools.as_slice()) {
        (None, [one]) => Ok(one),
        (None, _) => Err(format!("the case has to say which `tool` it calls: {}", names.join(", "))),
        (Some(wanted), tools) => tools
            .iter()
            .find(|tool| tool.spec.name.as_str() == wanted)
            .ok_or_else(|| format!("the plugin has no tool `{wanted}`; it has {}", names.join(", "))),
    }
}

/// Returns the plugin's configuration: the values of the case, or else those of the manifest.
fn config(case: &Case, manifest: &Manifest) -> Result<BTreeMap<String, String>, String> {
    let mut config: BTreeMap<String, String> = BTreeMap::new();
    for (name, key) in &manifest.config {
        match case.config.get(name).or(key.default.as_ref()) {
            Some(value) if !key.kind.fits(value) => {
                return Err(format!("its `config.{name}` is `{value}`, and has to be a `{}`", key.kind.name()));
            }
            Some(value) => drop(config.insert(name.clone(), value.to_string())),
            None if key.required => {
                return Err(format!("the plugin needs `config.{name}`, which the case does not set"));
            }
            None => {}
        }
    }
    match case.config.keys().find(|key| !manifest.config.contains_key(*key)) {
        Some(unknown) => Err(format!("it sets `config.{unknown}`, which plugin.toml does not declare")),
        None => Ok(config),
    }
}

/// The plugin's secrets: those that the case names have a value, which is not shown.
fn secrets(case: &Case, manifest: &Manifest) -> Result<Secrets, String> {
    if let Some(unknown) = case.secrets.iter().find(|name| !manifest.secrets.contains_key(*name)) {
        return Err(format!("it gives the secret `{unknown}`, which plugin.toml does not declare"));
    }
    let mut secrets = Secrets::default();
    for (name, declared) in &manifest.secrets {
        if case.secrets.contains(name) {
            let placement = declared.placement().map_err(|error| error.to_string())?;
            let secret = PlacedSecret::new(VALUE, placement, declared.reach()).map_err(|error| error.to_string())?;
            secrets.give(name, secret);
        } else {
            secrets.lack(name, format!("the case gives no secret `{name}`: add it to its `secrets`"));
        }
    }
    Ok(secrets)
}

/// The grants of a case. By default everything that cannot leave the case: its workspace, the plugin's state
/// there, and the network of prepared answers.
fn grants(case: &Case, workspace: &Path) -> Result<Grants, String> {
    let usual =
        [(Capability::FsRead, "."), (Capability::FsWrite, "."), (Capability::State, "*"), (Capability::Http, "*")];
    let scope = |capability: Capability, text: &str| {
        Scope::parse(capability, text, workspace)
            .map_err(|error| format!("invalid `grants.{capability} = \"{text}\"`: {error}; {}", error.help()))
    };
    match &case.grants {
        None => usual.into_iter().map(|(capability, text)| scope(capability, text)).collect(),
        Some(granted) => granted
            .iter()
            .map(|(name, text)| scope(name.parse::<Capability>().map_err(|error| error.to_string())?, text))
            .collect(),
    }
}
