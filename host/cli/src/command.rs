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

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;
use host_app::update::Program;
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

/// `host manual`: the manual page, or one for each command.
pub(crate) fn manual(folder: Option<&Path>) -> Result<Code, Failure> {
    let command = Arguments::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(command).render(&mut page);
        rendered.map_err(|error| Failure::configuration(error.to_string()))?;
        Out::new(CancellationToken::new()).write(&String::from_utf8_lossy(&page));
        return Ok(Code::Done);
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| Failure::input(format!("`{}` cannot be written: {error}", folder.display())))?;
    Ok(Code::Done)
}

/// `host update`: a newer release in the place of this program.
pub(crate) fn update(archive: &Path, public_key: Option<&str>) -> Result<Code, Failure> {
    // The key that a release is built with.
    let key = public_key.or(option_env!("HOST_RELEASE_KEY")).map(keys::public).transpose()?;
    let path = std::env::current_exe().and_then(std::fs::canonicalize);
    let path = path.map_err(|error| Failure::input(format!("this program's file cannot be found: {error}")))?;
    let version =
        env!("CARGO_PKG_VERSION").parse().map_err(|error: semver::Error| Failure::input(error.to_string()))?;
    let program = Program { path: &path, version: &version, target: env!("HOST_TARGET") };
    let updated = host_app::update::update(program, archive, key.as_ref())?;
    let words = format!("{} is now {}; it was {}\n", updated.program.display(), updated.to, updated.from);
    Out::new(CancellationToken::new()).write(&words);
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
