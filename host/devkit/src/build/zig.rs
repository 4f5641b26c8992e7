//! Zig: the binding for C, translated to Zig by the compiler itself, so that a plugin sees the contract's own types.

use std::path::Path;
use std::process::Stdio;

use host_manifest::SourceManifest;

use super::c::{self, BINDING, TARGET};
use super::contract::Contract;
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, COMPONENTIZER, Language, Toolchain, Tools, write};

/// Main file of a plugin.
const ENTRY: &str = "plugin.zig";

pub(super) fn build(folder: &Path, manifest: SourceManifest, tools: &Tools) -> Result<BuiltComponent, BuildError> {
    let (zig, version) = c::compiler(folder, tools)?;
    if !folder.join(ENTRY).is_file() {
        return Err(BuildError::NoEntry {
            folder: folder.to_owned(),
            language: Language::Zig,
            expected: "`plugin.zig`",
        });
    }
    let out = folder.join(BUILD);
    Contract::read(folder, &manifest)?.write_c(&out)?;

    let mut command = c::command(&zig, tools);
    command.args(["translate-c", "-lc", "-target", TARGET, "build/contract.h"]).current_dir(folder);
    let failed =
        |status| BuildError::Failed { program: "zig translate-c".to_owned(), folder: folder.to_owned(), status };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let translated = tools.programs.output(&mut command);
    let translated = translated.map_err(|error| failed(error.to_string()))?;
    if !translated.status.success() {
        return Err(failed(translated.status.to_string()));
    }
    write(&out.join("contract.zig"), &translated.stdout)?;

    let module = Path::new(BUILD).join("plugin.core.wasm");
    let mut command = c::command(&zig, tools);
    command.args(["build-exe", "-target", TARGET, "-mexec-model=reactor", "-fno-entry", "-OReleaseSmall", "-lc"]);
    command.args(["--stack", c::STACK, "--dep", "contract"]).args(BINDING);
    command.arg(format!("-Mroot={ENTRY}")).arg("-Mcontract=build/contract.zig");
    command.arg(format!("-femit-bin={}", module.display()));
    package::run(command, folder, tools)?;
    let toolchain = Toolchain {
        compiler: format!("zig {version}"),
        target: TARGET.to_owned(),
        componentizer: COMPONENTIZER.to_owned(),
    };
    c::finish(folder, manifest, &module, &["zig", "c", "h"], toolchain)
}
