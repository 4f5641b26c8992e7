//! `host plugin build`: from sources to components, manifests and a provenance file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use host_devkit::{BuildOutput, BuiltPlugin, PluginError, Programs, Tools};
use host_plugin::{Runtime, RuntimeOptions};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::Advice;
use tokio_util::sync::CancellationToken;

use crate::arguments::Sources;
use crate::exit::Code;
use crate::printer::Out;
use crate::process;

/// Builds the plugins of a folder, or compares the target with what would be built.
pub(super) async fn run(folder: &Path, target: &Path, check: bool, environment: &Environment) -> Result<Code, Failure> {
    let output = build(folder, environment).await?;
    let mut text = String::new();
    if check {
        output.compare(target).map_err(|stale| Failure::from_error(ErrorKind::Tool, &stale).help(stale.help()))?;
        text.push_str(&format!("{} files are what the sources build\n", output.names().len()));
    } else {
        output.write(target).map_err(failed)?;
        for (name, entry) in &output.provenance.plugins {
            text.push_str(&format!("{name}  {} bytes  SHA-256 {}\n", entry.size, entry.sha256));
        }
    }
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

async fn build(folder: &Path, environment: &Environment) -> Result<BuildOutput, Failure> {
    host_devkit::build_plugins(folder, tools(environment), &runtime(environment)).await.map_err(failed)
}

/// The plugins of a package or workspace: those that were built into a folder before, or those that the sources give.
pub(super) async fn plugins(plugins: &Sources, environment: &Environment) -> Result<Vec<BuiltPlugin>, Failure> {
    let Sources { folder: sources, built } = plugins;
    match built {
        Some(built) => host_devkit::read_built(built, sources).map_err(failed),
        None => Ok(build(sources, environment).await?.plugins),
    }
}

pub(super) fn failed(error: PluginError) -> Failure {
    let help = error.help().map(Advice::from);
    Failure { help, ..Failure::from_error(ErrorKind::Input, &error) }
}

/// The runtime that asks a plugin for its tools.
pub(super) fn runtime(environment: &Environment) -> Runtime {
    let compile = process::compile_options(environment);
    Runtime::new(RuntimeOptions { cache: cache(environment), compile, ..RuntimeOptions::default() })
}

/// Returns the folder of compiled components.
pub(super) fn cache(environment: &Environment) -> Option<PathBuf> {
    environment.folders().ok().map(|folders| folders.cache)
}

pub(super) fn tools(environment: &Environment) -> Tools {
    let program = |variable: &str, usual: &str| {
        environment.variable(variable).map_or_else(|| OsString::from(usual), OsString::from)
    };
    let folder = |variable| environment.variable(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = environment.variable("CARGO_HOME").map(PathBuf::from);
    let usual = || environment.variable("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    Tools {
        cargo: program("CARGO", "cargo"),
        rustc: program("RUSTC", "rustc"),
        cargo_home: home.or_else(usual),
        zig_cache: folder("ZIG_GLOBAL_CACHE_DIR"),
        go_cache: folder("GOCACHE"),
        programs: Programs::default(),
    }
}
