//! A plugin's manifest: as its author writes it (`plugin.toml`), and as it is shipped (`NAME.json`), with the
//! tools as the plugin described them when it was built.
//!
//! Promises: an unknown key is an error with its line and the nearest known name; a shipped manifest contains all that
//! the host needs to declare the plugin's tools to a model without running it. Both have a JSON Schema (`schema`).
//!
//! Deliberately not here: whether the component's imports match the manifest (`bundle`), and how a plugin is built.

mod described;
mod error;
mod files;
mod language;
mod schema;
mod settings;
mod texts;
mod titles;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host_capability::{Capability, CapabilitySet, Grants, PluginName, Scope};
use host_message::ToolSpec;
use host_plugin::admission::CONTRACT;
use host_plugin::{MAX_DESCRIPTION, MAX_SCHEMA, MAX_TOOLS, ToolDef};
use host_text::TitleTemplate;
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::shown::cut;
use crate::unique_keys::check_unique_keys;

pub use described::Mismatch;
pub use error::{ManifestError, Source};
pub use files::{FileKind, Files, FilesError};
pub use language::{Build, Language};
pub use schema::{shipped_schema, written_schema};
pub use settings::{ConfigKey, ConfigType, DeclaredSecret};

/// The largest manifest that is read. Protects memory; 128 tools with the largest schemas stay below.
const MAX_MANIFEST: u64 = 32 << 20;
/// The layout of shipped manifests that this host reads and writes.
const LAYOUT: u32 = 1;

/// A `plugin.toml`, as its author writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceManifest {
    /// The plugin's name, with its publisher before a slash where it has one: `name` or `publisher/name`.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its licence, as an SPDX expression.
    pub license: String,
    /// A description in one line. A plugin is packed only with one.
    pub description: Option<String>,
    /// Where its sources are.
    pub source: Option<String>,
    /// Where there is more to read.
    pub homepage: Option<String>,
    /// The capabilities that it requests, by name.
    pub capabilities: BTreeMap<String, Declared>,
    /// The configuration that a user can set, by key.
    pub config: BTreeMap<String, ConfigKey>,
    /// The secrets that it sends without reading them, by their names.
    pub secrets: BTreeMap<String, DeclaredSecret>,
    /// The titles of the calls of its tools, by the names of the tools.
    pub titles: BTreeMap<String, TitleTemplate>,
    /// How it is built, for a package that cargo does not build.
    pub build: Option<Build>,
}

/// One capability that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The scope, in the words of a `--grant`; `*` asks for whatever the user gives.
    pub scope: String,
    /// The reason, in one line for the user who is asked.
    pub reason: String,
    /// Whether the plugin works without it: then a call runs without the grant, and is denied when it uses the
    /// capability.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A plugin's manifest as it is shipped beside its component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A plugin's manifest as it is shipped")]
pub struct Manifest {
    /// The version of this file's layout; 1.
    pub manifest: u32,
    /// The plugin's name.
    pub name: String,
    /// Its version.
    #[schemars(with = "String")]
    pub version: Version,
    /// Its licence, as an SPDX expression.
    pub license: String,
    /// A description in one line. A bundle's manifest has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where its sources are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where there is more to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The version of the contract that it was built against.
    #[schemars(with = "String")]
    pub contract: Version,
    /// The capabilities that it requests.
    pub capabilities: BTreeMap<String, Declared>,
    /// The configuration that a user can set, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, ConfigKey>,
    /// The secrets that it sends without reading them, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, DeclaredSecret>,
    /// Its tools.
    #[schemars(with = "Vec<schema::Tool>")]
    pub tools: Vec<ToolEntry>,
    /// What it brings besides tools, by the paths of the files: skills, commands, agents and hooks.
    #[serde(default, skip_serializing_if = "Files::is_empty")]
    #[schemars(with = "BTreeMap<String, files::Content>")]
    pub files: Files,
}

/// One tool in a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// The description for a model.
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// The capabilities that it needs, of those that the plugin asks for.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What a call of it is called on one line, beside its name; `None` calls it by its first required argument.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "titles")]
    pub call_title: Option<TitleTemplate>,
}

impl ToolEntry {
    /// Whether the tool declares that it needs the capability.
    pub fn needs(&self, capability: Capability) -> bool {
        self.capabilities.iter().any(|name| name == capability.name())
    }
}

impl SourceManifest {
    /// Reads the text of a `plugin.toml`.
    ///
    /// # Errors
    ///
    /// With line and column, if it has an unknown or a missing key, an invalid name, or an invalid capability or scope.
    pub fn parse(text: &str, source_: &Source) -> Result<Self, ManifestError> {
        written::parse(text, source_)
    }

    /// Checks the texts and scopes of a manifest that was not read from a file.
    ///
    /// # Errors
    ///
    /// If its name, a text or a scope is invalid.
    pub fn check(&self) -> Result<(), ManifestError> {
        check_name(&self.name)?;
        texts::check_line("license", &self.license)?;
        self.description.as_ref().map_or(Ok(()), |text| texts::check_line("description", text))?;
        for (name, declared) in &self.capabilities {
            texts::check_capability(name, &declared.scope, &declared.reason)?;
        }
        grants(&self.name, &self.capabilities, Path::new("/")).map(drop)
    }
}

impl Manifest {
    /// Builds the manifest of a plugin that was built: what its author wrote, and the tools that it describes.
    ///
    /// # Errors
    ///
    /// If a tool needs a capability that the plugin does not ask for, a title is of no tool or names an argument that
    /// its tool does not have, or a text cannot be shown.
    pub fn new(mut source: SourceManifest, contract: Version, tools: Vec<ToolDef>) -> Result<Self, ManifestError> {
        let mut entries: Vec<ToolEntry> = tools.into_iter().map(ToolEntry::from).collect();
        for tool in &mut entries {
            tool.call_title = source.titles.remove(tool.spec.name.as_str());
            titles::check(tool, &source.capabilities)?;
        }
        if let Some(name) = source.titles.keys().next() {
            let tools = entries.iter().map(|tool| tool.spec.name.as_str());
            let help = host_text::did_you_mean(host_text::nearest(name, tools));
            let why =
                format!("the plugin has no such tool{}", help.map(|help| format!("; {help}")).unwrap_or_default());
            return Err(ManifestError::Title { tool: cut(name), why });
        }
        for ToolEntry { spec, capabilities, .. } in &entries {
            if let Some(name) = capabilities.iter().find(|name| !source.capabilities.contains_key(*name)) {
                return Err(ManifestError::Undeclared { tool: spec.name.to_string(), need: name.clone() });
            }
        }
        let manifest = Self {
            manifest: LAYOUT,
            name: source.name,
            version: source.version,
            license: source.license,
            description: source.description,
            source: source.source,
            homepage: source.homepage,
            contract,
            capabilities: source.capabilities,
            config: source.config,
            secrets: source.secrets,
            tools: entries,
            files: Files::default(),
        };
        manifest.check_texts()?;
        Ok(manifest)
    }

    /// Sets what the plugin brings besides tools.
    #[must_use]
    pub fn with_files(self, files: Files) -> Self {
        Self { files, ..self }
    }

    /// Returns whether the plugin is nothing but files: it has no tool, and its component does nothing.
    pub fn is_files_alone(&self) -> bool {
        self.tools.is_empty() && !self.files.is_empty()
    }

    /// Reads a manifest that is part of the binary and was checked as [`Manifest::parse`] checks when that was tested,
    /// so that it is not checked at each start.
    ///
    /// # Errors
    ///
    /// If it is not a manifest.
    pub fn parse_own(json: &str, source_: Source) -> Result<Self, ManifestError> {
        serde_json::from_str(json).map_err(|error| ManifestError::Malformed { source_, error: cut(&error.to_string()) })
    }

    /// The largest shipped manifest, in bytes.
    pub const MAX_BYTES: u64 = MAX_MANIFEST;

    /// Reads a manifest as it is shipped.
    ///
    /// # Errors
    ///
    /// If it was made for a newer host, or has an invalid name, texts that cannot be shown on a line, inconsistent
    /// settings, two tools with the same name, a tool that needs a capability the plugin does not ask for, or an
    /// invalid title.
    pub fn parse(json: &str, source_: Source) -> Result<Self, ManifestError> {
        /// The part that every layout has.
        #[derive(Deserialize)]
        struct Versions {
            manifest: u32,
            contract: Option<Version>,
        }
        let malformed = |error: serde_json::Error| ManifestError::Malformed {
            source_: source_.clone(),
            error: cut(&error.to_string()),
        };
        check_unique_keys(json.as_bytes()).map_err(malformed)?;
        let versions: Versions = serde_json::from_str(json).map_err(malformed)?;
        let newer = |what, found: String, known: String| Err(ManifestError::Newer { what, found, known });
        if versions.manifest > LAYOUT {
            return newer("manifest's layout", versions.manifest.to_string(), LAYOUT.to_string());
        }
        if let Some(contract) = versions.contract
            && (contract.major, contract.minor) > (CONTRACT.major, CONTRACT.minor)
        {
            return newer("contract", contract.to_string(), CONTRACT.to_string());
        }
        let manifest: Self = serde_json::from_str(json).map_err(malformed)?;
        if manifest.manifest != LAYOUT {
            let error = format!("unknown layout version {}", manifest.manifest);
            return Err(ManifestError::Malformed { source_, error });
        }
        check_name(&manifest.name)?;
        manifest.check_texts()?;
        settings::check_count("config", manifest.config.len())?;
        settings::check_count("secrets", manifest.secrets.len())?;
        manifest.config.iter().try_for_each(|(name, key)| settings::check_key(name, key))?;
        for (name, secret) in &manifest.secrets {
            settings::check_secret(name, secret, &manifest.capabilities)?;
        }
        manifest.check_tools()?;
        Ok(manifest)
    }

    fn check_tools(&self) -> Result<(), ManifestError> {
        let wrong = |why: String| Err(ManifestError::Tools { name: self.name.clone(), why });
        if self.tools.len() > MAX_TOOLS {
            return wrong(format!("{} tools, over the limit of {MAX_TOOLS}", self.tools.len()));
        }
        let mut names = BTreeSet::new();
        for tool in &self.tools {
            let ToolSpec { name, title, description, input_schema, output_schema, .. } = &tool.spec;
            if !is_tool_name(name.as_str()) {
                return wrong(format!(
                    "a tool that is called `{}`; a name has 1 to 64 of ASCII letters, digits, `_` and `-`, the first a letter",
                    cut(name.as_str())
                ));
            }
            if !names.insert(name) {
                return wrong(format!("two tools that are called `{name}`"));
            }
            if description.len().max(title.as_ref().map_or(0, String::len)) > MAX_DESCRIPTION {
                return wrong(format!("a description of `{name}` over the limit of {MAX_DESCRIPTION} bytes"));
            }
            if input_schema["type"] != "object" {
                return wrong(format!("an input schema of `{name}` that is not of type `object`"));
            }
            if [Some(input_schema), output_schema.as_ref()].iter().flatten().any(|it| it.to_string().len() > MAX_SCHEMA)
            {
                return wrong(format!("a schema of `{name}` over the limit of {MAX_SCHEMA} bytes"));
            }
            if let Some(need) = tool.capabilities.iter().find(|need| !self.capabilities.contains_key(*need)) {
                return Err(ManifestError::Undeclared { tool: name.to_string(), need: cut(need) });
            }
            titles::check(tool, &self.capabilities)?;
        }
        Ok(())
    }

    /// Returns the file's text, which is the same for equal manifests.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a manifest is plain data with text for keys");
        json.push('\n');
        json
    }

    /// Returns the grants that the plugin requests. Relative paths start at the workspace.
    ///
    /// # Errors
    ///
    /// If a capability or a scope is invalid.
    pub fn declared(&self, workspace: &Path) -> Result<Grants, ManifestError> {
        grants(&self.name, &self.capabilities, workspace)
    }

    /// The requests by the names of their capabilities, the strongest first; those that this host does not know come
    /// last.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &Declared)> {
        Capability::strongest_first(&self.capabilities)
    }

    /// Returns the capabilities that the plugin works without. An unknown one is left out.
    pub fn optional(&self) -> CapabilitySet {
        let optional = self.capabilities.iter().filter(|(_, declared)| declared.optional);
        optional.filter_map(|(name, _)| name.parse::<Capability>().ok()).collect()
    }

    /// Whether the plugin asks for this scope, or for more: `scope` in the words of a `--grant`. False for an invalid
    /// scope.
    pub fn asks_for(&self, capability: &str, scope: &str) -> bool {
        // Relative scopes of both start at the same workspace, wherever it is.
        let read = |text: &str| Scope::parse(capability.parse().ok()?, text, Path::new("/workspace")).ok();
        let declared = self.capabilities.get(capability).and_then(|declared| read(&declared.scope));
        matches!((read(scope), declared), (Some(scope), Some(declared)) if scope.le(&declared.clone().requested()))
    }

    /// Returns the plugin's name, as grants use it.
    pub fn plugin_name(&self) -> PluginName {
        PluginName::new(&self.name)
    }
}

fn grants(name: &str, declared: &BTreeMap<String, Declared>, workspace: &Path) -> Result<Grants, ManifestError> {
    declared.iter().try_fold(Grants::none(), |grants, (capability, declared)| {
        let capability = capability
            .parse::<Capability>()
            .map_err(|error| ManifestError::Capability { name: name.to_owned(), error })?;
        let scope = Scope::parse(capability, &declared.scope, workspace).map_err(|error| ManifestError::Scope {
            name: name.to_owned(),
            capability,
            error,
        })?;
        Ok(grants.with(scope.requested()))
    })
}

/// Whether a text is a valid name of a publisher, or the plugin's part of a name.
pub fn is_name(part: &str) -> bool {
    (1..=64).contains(&part.len())
        && part.starts_with(|c: char| c.is_ascii_lowercase())
        && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

/// Whether a text is a valid name of a tool, by the rule that applies when a plugin describes itself.
fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Checks that a text is a valid name of a plugin.
///
/// # Errors
///
/// If it is neither NAME nor PUBLISHER/NAME.
pub fn check_name(name: &str) -> Result<(), ManifestError> {
    let (publisher, own) = name.split_once('/').map_or((None, name), |(publisher, own)| (Some(publisher), own));
    let is_one = is_name(own) && publisher.is_none_or(is_name);
    if is_one { Ok(()) } else { Err(ManifestError::Name { name: cut(name) }) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use host_plugin::Need;

    use super::*;

    fn parse(text: &str) -> Result<SourceManifest, ManifestError> {
        SourceManifest::parse(text, &Source::File(PathBuf::from("plugin.toml")))
    }

    const GOOD: &str = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n";

    #[test]
    fn manifest_error_names_what_is_invalid() {
        for (text, says) in [
            ("nam = \"x\"\n".to_owned(), "unknown field `nam`"),
            (format!("{GOOD}speed = 9\n"), "unknown field `speed`"),
            (GOOD.replace("1.2.0", "one"), "unexpected character"),
            (GOOD.replace("acme/fetch", "../fetch"), "invalid plugin name"),
            (GOOD.replace("acme/fetch", "A"), "invalid plugin name"),
            (format!("{GOOD}[capabilities.fs-reed]\nscope = \".\"\nreason = \"r\"\n"), "fs-reed"),
            (format!("{GOOD}[capabilities.fs-read]\nscope = \".\"\n"), "missing field `reason`"),
            (format!("{GOOD}[capabilities.state]\nscope = \"all\"\nreason = \"r\"\n"), "with an invalid scope"),
        ] {
            let error = parse(&text).expect_err("each is wrong").to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_tool_cannot_need_what_its_plugin_does_not_ask_for() {
        let source = parse(GOOD).expect("it is good");
        let tool = ToolDef {
            spec: ToolSpec {
                name: host_message::ToolName::new("fetch"),
                title: None,
                description: "Fetches.".to_owned(),
                input_schema: serde_json::json!({"type": "object"}).into(),
                output_schema: None,
                annotations: host_message::Annotations::default(),
            },
            needs: vec![Need { name: "http".to_owned(), scope: "*".to_owned(), reason: "to fetch".to_owned() }],
        };
        let error =
            Manifest::new(source.clone(), Version::new(0, 1, 0), vec![tool.clone()]).expect_err("http is missing");
        assert!(error.to_string().contains("[capabilities.http]"), "{error}");

        let asks = parse(&format!("{GOOD}[capabilities.http]\nscope = \"*\"\nreason = \"to fetch\"\n")).expect("good");
        let manifest = Manifest::new(asks, Version::new(0, 1, 0), vec![tool]).expect("now it is there");
        let again = Manifest::parse(&manifest.to_json(), Source::BuiltIn("fetch")).expect("it reads what it wrote");
        assert_eq!(again, manifest);
        assert!(again.declared(Path::new("/w")).expect("a scope").has(Capability::Http));
    }
}
