//! Arguments of `host plugin adopt` and `host plugin wit`.

use std::path::PathBuf;

use clap::Args;
use host_capability::Capability;
use semver::Version;

#[derive(Debug, Args)]
#[command(
    after_help = "The component exports host:tool/tool, as the contract of `host plugin wit` has it. What it imports of \
host:cap is what the plugin requests. Scopes and reasons come from these flags, from a plugin.toml, or from the \
component's own description of its tools.

Examples:
  host plugin adopt words.wasm --license MIT
  host plugin adopt target/wasm32-wasip2/release/words.wasm --manifest plugin.toml
  host plugin adopt words.wasm --name acme/words --license MIT --scope fs-read=docs --reason fs-read=\"count their words\""
)]
pub(crate) struct Adopt {
    /// The component
    pub(crate) component: PathBuf,
    /// The folder for the component and its manifest
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub(crate) out: PathBuf,
    /// The plugin.toml [default: plugin.toml beside the component, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// The plugin's name: NAME or PUBLISHER/NAME [default: the name of the file]
    #[arg(long, value_name = "[PUBLISHER/]NAME")]
    pub(crate) name: Option<String>,
    /// The plugin's version [default: 0.1.0]
    #[arg(long = "set-version", value_name = "VERSION")]
    pub(crate) version: Option<Version>,
    /// Its licence, as an SPDX expression; required without a plugin.toml
    #[arg(long, value_name = "LICENSE")]
    pub(crate) license: Option<String>,
    /// A description in one line; a bundle needs one
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The scope that it requests of a capability [default: whatever the user grants]
    #[arg(long = "scope", value_name = "CAPABILITY=SCOPE", value_parser = of_capability)]
    pub(crate) scopes: Vec<(Capability, String)>,
    /// Why it requests a capability, in one line for the user who grants it
    #[arg(long = "reason", value_name = "CAPABILITY=TEXT", value_parser = of_capability)]
    pub(crate) reasons: Vec<(Capability, String)>,
}

#[derive(Debug, Args)]
#[command(after_help = "The world is called `contract`; it exports host:tool/tool and imports what you name.

Examples:
  host plugin wit
  host plugin wit --capability fs-read --capability http --out wit")]
pub(crate) struct Wit {
    /// The folder to write to; files of an older contract in it are replaced
    #[arg(long, value_name = "DIR", default_value = "wit")]
    pub(crate) out: PathBuf,
    /// A capability that the component may import
    #[arg(long = "capability", value_name = "CAPABILITY")]
    pub(crate) capabilities: Vec<Capability>,
}

fn of_capability(text: &str) -> Result<(Capability, String), String> {
    let (capability, value) = text.split_once('=').ok_or("it has no `=` after the capability")?;
    Ok((capability.parse::<Capability>().map_err(|error| error.to_string())?, value.to_owned()))
}
