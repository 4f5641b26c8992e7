//! Go, through its own compiler: a reactor for WASI's first preview, made a component in this process. The binding is
//! generated from the package's contract into a module of its own, `build/contract`.
//!
//! Promises: the component imports the capabilities that its code reaches and no other, since the linker drops the rest;
//! one that the manifest does not declare is an error when the component is asked for its tools. Nothing is fetched: what
//! the generated code needs lies here.
//!
//! Deliberately not here: TinyGo, whose runtime has another binding.

use std::path::Path;
use std::process::Command;

use host_manifest::SourceManifest;
use wit_bindgen_go::{Format, Opts};

use super::contract::Contract;
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, COMPONENTIZER, Language, Toolchain, componentize, read, write};

/// The target of plugins in Go.
const TARGET: &str = "wasip1/wasm";

/// The command that gets the compiler; the package has the version.
const HOW: &str =
    "`python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` in that folder, or https://go.dev/dl";

/// Module of the generated code, where the package's `go.mod` finds it.
const MODULE: &str = "host.internal/contract";

/// Where the generator has its own packages from. They are replaced by those below, so that a build fetches nothing.
const GENERATORS_PACKAGES: &str = "go.bytecodealliance.org/pkg/wit/";

/// What the generated code is written with: the place in its module, and the file.
const RUNTIME: &[(&str, &str)] = &[
    ("go.mod", "module host.internal/contract\n\ngo 1.25\n"),
    ("wit/runtime/runtime.go", include_str!("go/runtime.go")),
    ("wit/types/types.go", include_str!("go/types.go")),
    ("export_host_tool_tool/export.go", include_str!("go/export.go")),
];

pub(super) fn build(folder: &Path, manifest: SourceManifest) -> Result<BuiltComponent, BuildError> {
    let found = package::program(folder, &["go"], &["version"]);
    let (go, version) = found.ok_or_else(|| BuildError::Missing { what: "go", folder: folder.to_owned(), how: HOW })?;
    let entry = |expected| BuildError::NoEntry { folder: folder.to_owned(), language: Language::Go, expected };
    if !folder.join("go.mod").is_file() {
        return Err(entry("`go.mod`"));
    }
    if package::files(folder, &["go"])?.is_empty() {
        return Err(entry("file ending in `.go`"));
    }
    let contract = Contract::read_whole(folder)?;
    bind(&contract, &folder.join(BUILD).join("contract"))?;

    let module = Path::new(BUILD).join("plugin.core.wasm");
    let mut command = Command::new(go);
    // Reproducible: no paths of this machine, no build id, nothing of the repository around it.
    command.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="]);
    command.arg("-o").arg(&module).arg(".");
    command.env("GOOS", "wasip1").env("GOARCH", "wasm").env("GOFLAGS", "").env_remove("GOEXPERIMENT");
    // The compiler that was found, not another one that a go.mod names and that would be fetched.
    command.env("GOTOOLCHAIN", "local").env("GOWORK", "off");
    package::run(command, folder)?;

    let module = contract.embed(&manifest.name, read(&folder.join(module))?)?;
    let component = componentize(&manifest.name, &module)?;
    let sources = package::sources(folder, &["go", "mod", "sum"], &["requirements.txt"])?;
    let toolchain = Toolchain {
        compiler: version.trim_start_matches("go version ").to_owned(),
        target: TARGET.to_owned(),
        componentizer: COMPONENTIZER.to_owned(),
    };
    let folder = folder.to_owned();
    Ok(BuiltComponent { manifest, folder, component, sources, elsewhere: Vec::new(), toolchain })
}

/// Writes the module with the generated code.
fn bind(contract: &Contract, folder: &Path) -> Result<(), BuildError> {
    let options = Opts { format: Format::False, pkg_name: Some(MODULE.to_owned()), ..Opts::default() };
    let files = contract.generate(options.build().as_mut(), folder)?;
    let own = format!("{MODULE}/wit/");
    for (name, bytes) in files.iter() {
        let text = String::from_utf8_lossy(bytes).replace(GENERATORS_PACKAGES, &own);
        write(&folder.join(name), text.as_bytes())?;
    }
    for (name, text) in RUNTIME {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}
