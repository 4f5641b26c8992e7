//! A plugin's manifest: first as a person writes it (`plugin.toml`), then as it is shipped (`NAME.json`), with the
//! tools as the plugin described them when it was built.
//!
//! Promises: an unknown key is an error with its line; what is shipped is all that the host needs to declare the
//! plugin's tools to a model without running it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, PluginName, Scope, ScopeError, UnknownCapability};
use host_message::ToolSpec;
use host_plugin::{Need, ToolDef};
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::build::Build;

/// The largest manifest that is read. Protects memory; 128 tools with the largest schemas stay below.
const MAX_MANIFEST: u64 = 32 << 20;

/// What a person writes in `plugin.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceManifest {
    /// The plugin's name, with its publisher before a slash where it has one: `name` or `publisher/name`.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its licence, as an SPDX expression.
    pub license: String,
    /// What it asks for, by the name of the capability.
    #[serde(default)]
    pub capabilities: BTreeMap<String, Declared>,
    /// How it is built, for a package that cargo does not build.
    #[serde(default)]
    pub build: Option<Build>,
}

/// One capability that a plugin asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The scope, in the words of a `--grant`; `*` asks for whatever the user gives.
    pub scope: String,
    /// Why, in one line for the person who is asked.
    pub reason: String,
}

/// A plugin's manifest as it is shipped beside its component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this file's layout; 1.
    pub manifest: u32,
    /// The plugin's name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its licence, as an SPDX expression.
    pub license: String,
    /// The version of the contract that it was built against.
    pub contract: Version,
    /// What it asks for.
    pub capabilities: BTreeMap<String, Declared>,
    /// Its tools.
    pub tools: Vec<ToolEntry>,
}

/// One tool in a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// What a model is told.
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// The capabilities that it needs, of those that the plugin asks for.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

impl ToolEntry {
    /// Whether the tool says that it needs the capability.
    pub fn needs(&self, capability: Capability) -> bool {
        self.capabilities.iter().any(|name| name == capability.name())
    }
}

/// Where a manifest was read from, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The host itself.
    BuiltIn(&'static str),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::BuiltIn(name) => write!(f, "the built-in `{name}`"),
        }
    }
}

/// Why a manifest is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It cannot be read.
    #[error("the manifest {path} cannot be read: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is not what a manifest looks like.
    #[error("the manifest {source_} makes no sense: {error}")]
    Malformed {
        /// Where it stands.
        source_: Source,
        /// What is wrong, with its line.
        error: String,
    },
    /// Its name is none.
    #[error(
        "`{name}` is no name for a plugin: it is NAME or PUBLISHER/NAME, each of 1 to 64 of a-z, 0-9, `_` and `-`, the \
         first a letter"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// It asks for something that does not exist.
    #[error("the plugin `{name}` asks for a capability that does not exist: {error}")]
    Capability {
        /// The plugin.
        name: String,
        /// Which.
        error: UnknownCapability,
    },
    /// It asks for a scope that makes no sense.
    #[error("the plugin `{name}` asks for `{capability}` with a scope that makes no sense: {error}")]
    Scope {
        /// The plugin.
        name: String,
        /// The capability.
        capability: Capability,
        /// Why.
        error: ScopeError,
    },
    /// One of its tools needs more than the plugin asks for.
    #[error(
        "the tool `{tool}` needs `{need}`, and plugin.toml has no `[capabilities.{need}]`; add it with a scope and a reason"
    )]
    Undeclared {
        /// The tool.
        tool: String,
        /// The capability.
        need: String,
    },
}

impl SourceManifest {
    /// Reads a `plugin.toml`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, has an unknown or a missing key, a name that is none, or a capability or scope that
    /// makes no sense.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let unreadable = |error| ManifestError::Unreadable { path: path.to_owned(), error };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > MAX_MANIFEST {
            return Err(unreadable(std::io::Error::other(format!(
                "it has {size} bytes, over the limit of {MAX_MANIFEST}"
            ))));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text, Source::File(path.to_owned()))
    }

    /// Reads the text of a `plugin.toml`.
    ///
    /// # Errors
    ///
    /// As [`SourceManifest::read`].
    pub fn parse(text: &str, source_: Source) -> Result<Self, ManifestError> {
        let manifest: Self = toml::from_str(text)
            .map_err(|error| ManifestError::Malformed { source_, error: error.to_string().trim_end().to_owned() })?;
        check_name(&manifest.name)?;
        grants(&manifest.name, &manifest.capabilities, Path::new("/"))?;
        Ok(manifest)
    }
}

impl Manifest {
    /// The manifest of a plugin that was built: what its author wrote, and the tools that it describes.
    ///
    /// # Errors
    ///
    /// When a tool needs a capability that the plugin does not ask for.
    pub fn new(source: SourceManifest, contract: Version, tools: Vec<ToolDef>) -> Result<Self, ManifestError> {
        let mut entries = Vec::with_capacity(tools.len());
        for ToolDef { spec, needs } in tools {
            if let Some(Need { name, .. }) = needs.iter().find(|need| !source.capabilities.contains_key(&need.name)) {
                return Err(ManifestError::Undeclared { tool: spec.name.to_string(), need: name.clone() });
            }
            entries.push(ToolEntry { spec, capabilities: needs.into_iter().map(|need| need.name).collect() });
        }
        Ok(Self {
            manifest: 1,
            name: source.name,
            version: source.version,
            license: source.license,
            contract,
            capabilities: source.capabilities,
            tools: entries,
        })
    }

    /// Reads a manifest as it is shipped.
    ///
    /// # Errors
    ///
    /// When it has another layout, a name that is none, or a capability or scope that makes no sense.
    pub fn parse(json: &str, source_: Source) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_str(json)
            .map_err(|error| ManifestError::Malformed { source_: source_.clone(), error: error.to_string() })?;
        if manifest.manifest != 1 {
            let error =
                format!("its layout is version {}, and this host reads 1; a newer host may read it", manifest.manifest);
            return Err(ManifestError::Malformed { source_, error });
        }
        check_name(&manifest.name)?;
        Ok(manifest)
    }

    /// The file's text: the same for the same manifest.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a manifest is plain data with text for keys");
        json.push('\n');
        json
    }

    /// What the plugin asks for. Relative paths in it start at the workspace.
    ///
    /// # Errors
    ///
    /// When a capability or a scope makes no sense.
    pub fn declared(&self, workspace: &Path) -> Result<Grants, ManifestError> {
        grants(&self.name, &self.capabilities, workspace)
    }

    /// The plugin's name, as grants have it.
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
        Ok(grants.with(scope))
    })
}

fn check_name(name: &str) -> Result<(), ManifestError> {
    let fits = |part: &str| {
        (1..=64).contains(&part.len())
            && part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
    };
    let (publisher, own) = name.split_once('/').map_or((None, name), |(publisher, own)| (Some(publisher), own));
    if fits(own) && publisher.is_none_or(fits) { Ok(()) } else { Err(ManifestError::Name { name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SourceManifest, ManifestError> {
        SourceManifest::parse(text, Source::File(PathBuf::from("plugin.toml")))
    }

    const GOOD: &str = "name = \"acme/fetch\"\nversion = \"1.2.0\"\nlicense = \"MIT\"\n";

    #[test]
    fn a_manifest_says_where_it_is_wrong() {
        for (text, says) in [
            ("nam = \"x\"\n".to_owned(), "unknown field `nam`"),
            (format!("{GOOD}speed = 9\n"), "unknown field `speed`"),
            (GOOD.replace("1.2.0", "one"), "unexpected character"),
            (GOOD.replace("acme/fetch", "../fetch"), "is no name for a plugin"),
            (GOOD.replace("acme/fetch", "A"), "is no name for a plugin"),
            (format!("{GOOD}[capabilities.fs-reed]\nscope = \".\"\nreason = \"r\"\n"), "fs-reed"),
            (format!("{GOOD}[capabilities.fs-read]\nscope = \".\"\n"), "missing field `reason`"),
            (
                format!("{GOOD}[capabilities.state]\nscope = \"all\"\nreason = \"r\"\n"),
                "with a scope that makes no sense",
            ),
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
                input_schema: serde_json::json!({"type": "object"}),
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
