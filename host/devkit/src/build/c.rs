//! C: the binding is generated in this process, the compiler is the one in zig, which brings a C library for wasm.
//!
//! The library does not make a plugin import anything by itself: a program that only computes has no import that is not
//! a request. One that prints or reads a clock through the library gets the inert part of WASI, by way of the adapter
//! from WASI's first preview.

use std::path::{Path, PathBuf};
use std::process::Command;

use host_manifest::SourceManifest;

use super::contract::Contract;
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, COMPONENTIZER, Language, Toolchain, Tools, componentize, read};

/// The target of plugins in C and Zig.
pub(super) const TARGET: &str = "wasm32-wasi";

/// The command that gets a compiler for C and Zig.
const HOW: &str =
    "`python3 -m venv .venv && .venv/bin/pip install ziglang` in that folder, or https://ziglang.org/download";

/// The files of the binding for C.
pub(super) const BINDING: &[&str] = &["build/contract.c", "build/contract_component_type.o"];

/// Folder of the compiler's cache.
const CACHE: &str = "build/zig-cache";

/// Bytes of stack of a plugin in C or Zig; it lies below the data, so that overflowing it is a trap.
pub(super) const STACK: &str = "262144";

pub(super) fn build(folder: &Path, manifest: SourceManifest, tools: &Tools) -> Result<BuiltComponent, BuildError> {
    let (zig, version) = compiler(folder, tools)?;
    let contract = Contract::read(folder, &manifest)?;
    let out = folder.join(BUILD);
    contract.write_c(&out)?;
    let sources = package::files(folder, &["c"])?;
    if sources.is_empty() {
        return Err(BuildError::NoEntry {
            folder: folder.to_owned(),
            language: Language::C,
            expected: "file ending in `.c`",
        });
    }
    let module = Path::new(BUILD).join("plugin.core.wasm");
    let mut command = command(&zig, tools);
    command.args(["cc", "-target", TARGET, "-mexec-model=reactor", "-std=c17", "-Os", "-Wall", "-Wextra"]);
    command.arg(format!("-Wl,-z,stack-size={STACK}")).args(["-I", BUILD, "-I", ".", "-o"]).arg(&module);
    command.args(defines(&manifest)).args(&sources).args(BINDING);
    package::run(command, folder, tools)?;
    let toolchain = Toolchain {
        compiler: format!("zig cc {version}"),
        target: TARGET.to_owned(),
        componentizer: COMPONENTIZER.to_owned(),
    };
    finish(folder, manifest, &module, &["c", "h"], toolchain)
}

/// The compiler, with its cache in the package: 20 to 30 s of a first build go into the C library, which the compiler
/// keeps by its own path and so not for another package's. Its usual place may be missing, or be one that nobody can
/// write to, where it waits without end. A user who sets `ZIG_GLOBAL_CACHE_DIR` shares a cache between packages.
pub(super) fn command(zig: &Path, tools: &Tools) -> Command {
    let mut command = Command::new(zig);
    let own = Path::new(CACHE);
    command.env("ZIG_LOCAL_CACHE_DIR", own).env("ZIG_GLOBAL_CACHE_DIR", tools.zig_cache.as_deref().unwrap_or(own));
    command
}

/// The compiler and its version.
pub(super) fn compiler(folder: &Path, tools: &Tools) -> Result<(PathBuf, String), BuildError> {
    let found = package::program(folder, &["python-zig", "zig"], &["version"], tools);
    found.ok_or_else(|| BuildError::Missing { what: "zig", folder: folder.to_owned(), how: HOW })
}

/// Returns the definitions that show the binding which capabilities the generated header has.
fn defines(manifest: &SourceManifest) -> Vec<String> {
    let define = |name: &String| format!("-DHOST_{}", name.replace('-', "_").to_uppercase());
    manifest.capabilities.keys().map(define).collect()
}

/// Turns the module into the component.
pub(super) fn finish(
    folder: &Path,
    manifest: SourceManifest,
    module: &Path,
    endings: &[&str],
    toolchain: Toolchain,
) -> Result<BuiltComponent, BuildError> {
    let component = componentize(&manifest.name, &read(&folder.join(module))?)?;
    let sources = package::sources(folder, endings, &[])?;
    let folder = folder.to_owned();
    Ok(BuiltComponent { manifest, folder, component, sources, elsewhere: Vec::new(), toolchain })
}
