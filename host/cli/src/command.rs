//! The commands, one file each.

pub(crate) mod acp;
pub(crate) mod agent;
pub(crate) mod doctor;
pub(crate) mod hooks;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod plugin;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod skill;
pub(crate) mod tool;
pub(crate) mod trust;
pub(crate) mod undo;

use clap::CommandFactory as _;
use clap_complete::Shell;
use host_settings::error::Failure;
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, Schema};
use crate::exit::Code;
use crate::printer::{self, Format, Out};

/// `host completions`: a script for a shell.
pub(crate) fn completions(shell: Shell) -> Result<Code, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "host", &mut script);
    Out::new(CancellationToken::new()).write(&String::from_utf8_lossy(&script));
    Ok(Code::Done)
}

/// `host schema`: what is printed for programs, and a plugin's manifests, as a JSON Schema.
pub(crate) fn schema(of: Schema) -> Result<Code, Failure> {
    let printed = |format| {
        let schema = printer::schema(format).ok_or_else(|| Failure::input("text has no schema"))?;
        Ok::<_, Failure>(schema.to_value())
    };
    let schema = match of {
        Schema::Json => printed(Format::Json)?,
        Schema::StreamJson => printed(Format::StreamJson)?,
        Schema::Plugin => host_manifest::written_schema(),
        Schema::Manifest => host_manifest::shipped_schema(),
        Schema::PluginIndex => host_bundle::index_schema(),
        Schema::Config => host_settings::configuration::schema().to_value(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(|error| Failure::configuration(error.to_string()))?;
    Out::new(CancellationToken::new()).write(&format!("{text}\n"));
    Ok(Code::Done)
}
