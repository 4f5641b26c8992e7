//! Go, through its own compiler: it builds a reactor for WASI's first preview, which becomes a component in this
//! process. The binding is generated from the package's contract into a module of its own, `build/contract`.
//!
//! Promises: the component imports the capabilities that its code reaches and no other, since the linker drops the
//! rest; one that the manifest does not declare is an error when the component is asked for its tools. Nothing is
//! fetched: what the generated code needs is here, and packages of others are in the module cache.
//!
//! A component must not call the host while the host puts a result into its memory. Go's allocator and scheduler may:
//! they read the clock, and run other goroutines, which can call anything. So `cabi_realloc` in `go/realloc.go` enters
//! neither, and the functions that would free a result are not exported. Replacing the calls for the time in the module
//! was tried: it does not help against a goroutine that reads a file.
//!
//! Deliberately not here: TinyGo, whose runtime needs another binding.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use host_manifest::SourceManifest;
use wit_bindgen_go::{Format, Opts};

use super::contract::Contract;
use super::package::{self, BUILD};
use super::{BuildError, BuiltComponent, COMPONENTIZER, Language, Toolchain, Tools, componentize, read, write};

/// The target of plugins in Go.
const TARGET: &str = "wasip1/wasm";

/// The command that gets the compiler; the package has the version.
const HOW: &str =
    "`python3 -m venv .venv && .venv/bin/pip install -r requirements.txt` in that folder, or https://go.dev/dl";

/// Folder of the compiler's cache.
const CACHE: &str = "build/go-cache";

/// Options of the linker: no symbols, no build id, and the allocator of `go/realloc.go` may use functions of Go's
/// runtime.
const LINKER: &str = "-ldflags=-s -w -buildid= -checklinkname=0";

/// The target; the compiler that was found, not another one that a go.mod names and that would be fetched; and no
/// module from the network or from a workspace around the package.
const SETTINGS: &[(&str, &str)] = &[
    ("GOOS", "wasip1"),
    ("GOARCH", "wasm"),
    ("CGO_ENABLED", "0"),
    ("GOTOOLCHAIN", "local"),
    ("GOPROXY", "off"),
    ("GOWORK", "off"),
    ("GOENV", "off"),
];

/// Variables of the user that would change the component or how modules are found. `GOENV` above does the same for what
/// `go env -w` wrote.
const IGNORED: &[&str] = &["GOFLAGS", "GOEXPERIMENT", "GOWASM", "GOFIPS140", "GODEBUG", "GO111MODULE"];

/// Module of the generated code, where the package's `go.mod` finds it.
const MODULE: &str = "host.internal/contract";

/// The packages that the generated code imports. Those below replace them, so that a build fetches nothing.
const GENERATORS_PACKAGES: &str = "go.bytecodealliance.org/pkg/wit/";

/// The line before a function that frees what an export returned. That is freed with the instance instead.
const POST_RETURN: &str = "//go:wasmexport cabi_post_";

/// The files that the generated code needs, with their places in its module.
const RUNTIME: &[(&str, &str)] = &[
    ("go.mod", "module host.internal/contract\n\ngo 1.25\n"),
    ("wit/runtime/runtime.go", include_str!("go/runtime.go")),
    // The end of its name leaves it out of tests that run outside of the sandbox.
    ("wit/runtime/realloc_wasm.go", include_str!("go/realloc.go")),
    ("wit/types/types.go", include_str!("go/types.go")),
];

/// The package that the exports of a plugin call.
const TOOL: (&str, &str) = ("export_host_tool_tool/tool.go", include_str!("go/tool.go"));

/// The same for a hook.
const HANDLER: (&str, &str) = ("export_host_hook_handler/handler.go", include_str!("go/handler.go"));

pub(super) fn build(folder: &Path, manifest: SourceManifest, tools: &Tools) -> Result<BuiltComponent, BuildError> {
    let found = package::program_with(folder, &["go"], &["version"], SETTINGS, tools);
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
    // Reproducible: no paths of this machine, nothing of the repository around it.
    command.args(["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", LINKER]);
    command.arg("-o").arg(&module).arg(".").envs(SETTINGS.iter().copied());
    command.env("GOCACHE", tools.go_cache.clone().unwrap_or_else(|| folder.join(CACHE)));
    for name in IGNORED {
        command.env_remove(name);
    }
    package::run(command, folder, tools)?;

    let module = contract.embed(&manifest.name, read(&folder.join(module))?)?;
    let component = componentize(&manifest.name, &module)?;
    let sources = package::sources(folder, &["go", "mod", "sum"], &["requirements.txt"])?;
    let toolchain = Toolchain {
        // Without the system that it runs on, which changes nothing.
        compiler: version.trim_start_matches("go version ").rsplit_once(' ').map_or("go", |(name, _)| name).to_owned(),
        target: TARGET.to_owned(),
        componentizer: COMPONENTIZER.to_owned(),
    };
    let folder = folder.to_owned();
    Ok(BuiltComponent { manifest, folder, component, sources, elsewhere: Vec::new(), toolchain })
}

/// Writes the module with the generated code.
fn bind(contract: &Contract, folder: &Path) -> Result<(), BuildError> {
    // A file of an older contract would still be compiled.
    match std::fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(BuildError::Write { path: folder.to_owned(), error }),
    }
    let options = Opts { format: Format::False, pkg_name: Some(MODULE.to_owned()), ..Opts::default() };
    let files = contract.generate(options.build().as_mut(), folder)?;
    let own = format!("{MODULE}/wit/");
    for (name, bytes) in files.iter() {
        let text =
            String::from_utf8_lossy(bytes).replace(GENERATORS_PACKAGES, &own).replace(POST_RETURN, "// cabi_post_");
        write(&folder.join(name), text.as_bytes())?;
    }
    for (name, text) in RUNTIME.iter().chain([if contract.is_hook() { &HANDLER } else { &TOOL }]) {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While the host calls an allocator or frees a result, the plugin must not call it; only `realloc.go` keeps to
    /// that.
    #[test]
    fn go_binding_exports_what_the_contract_names_and_one_allocator() {
        let tools = ["call", "describe", "preview", "revise"].map(|name| format!("host:tool/tool@0.1.0#{name}"));
        let handler = ["host:hook/handler@0.1.0#handle".to_owned()];
        for (carried, expected) in [(&["cap", "tool"][..], &tools[..]), (&["hook"], &handler)] {
            let package = tempfile::tempdir().expect("a folder");
            std::fs::create_dir(package.path().join("wit")).expect("made");
            for name in carried {
                let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit").join(name);
                std::os::unix::fs::symlink(wit, package.path().join("wit").join(name)).expect("made");
            }
            let binding = package.path().join("binding");
            write(&binding.join("left.go"), b"//go:wasmexport of an older contract").expect("written");
            bind(&Contract::read_whole(package.path()).expect("it is right"), &binding).expect("written");
            let mut exports = Vec::new();
            for file in package::files(&binding, &["go"]).expect("it can be read") {
                let text = std::fs::read_to_string(binding.join(&file)).expect("it is text");
                assert!(!text.contains(GENERATORS_PACKAGES), "{}", file.display());
                exports
                    .extend(text.lines().filter_map(|line| line.strip_prefix("//go:wasmexport ")).map(str::to_owned));
            }
            exports.sort();
            assert_eq!(exports, ["cabi_realloc".to_owned()].iter().chain(expected).cloned().collect::<Vec<_>>());
        }
    }
}
