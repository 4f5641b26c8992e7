//! Compiles the built-in components for a release: the first of its two stages, see docs/releasing.md.
//!
//! It writes a file `engine`, which says what the code is for, and the code of each component to a file that is named by the
//! component's SHA-256. `host/app/build` reads them.
//!
//! Deliberately not here: what the code is compiled for, which `host-plugin` decides.

use std::env::consts::{ARCH, OS};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use host_plugin::{Digest, PortableCompiler};

const USAGE: &str = "usage: host-precompile COMPONENTS OUT
Compiles each `.wasm` file of the folder COMPONENTS, and writes the code to the folder OUT.";

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [components, out] = folders.as_slice() else {
        return end(2, USAGE);
    };
    match precompile(components, out) {
        Ok(report) => end(0, &report),
        Err(message) => end(1, &format!("error: {message}")),
    }
}

/// Prints to standard error; a failure of that changes nothing.
fn end(code: u8, text: &str) -> ExitCode {
    writeln!(io::stderr(), "{text}").ok();
    ExitCode::from(code)
}

/// Returns what was written.
fn precompile(components: &Path, out: &Path) -> Result<String, String> {
    let failed = |path: &Path, error: io::Error| format!("`{}`: {error}", path.display());
    let compiler = PortableCompiler::new().map_err(|error| error.to_string())?;
    fs::create_dir_all(out).map_err(|error| failed(out, error))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(components).map_err(|error| failed(components, error))? {
        files.push(entry.map_err(|error| failed(components, error))?.path());
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "wasm"));
    files.sort();
    let mut total = 0;
    for file in &files {
        let component = fs::read(file).map_err(|error| failed(file, error))?;
        let code = compiler.compile(&component).map_err(|error| format!("`{}`: {error}", file.display()))?;
        let place = out.join(Digest::of(&component).as_str());
        fs::write(&place, &code).map_err(|error| failed(&place, error))?;
        total += code.len();
    }
    // It comes last: without it the folder is not used.
    let identity: String = compiler.identity().iter().map(|byte| format!("{byte:02x}")).collect();
    let place = out.join("engine");
    fs::write(&place, format!("{ARCH} {OS} {identity}\n")).map_err(|error| failed(&place, error))?;
    Ok(format!("{} components, {total} bytes of code in `{}`", files.len(), out.display()))
}
