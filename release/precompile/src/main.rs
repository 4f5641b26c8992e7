//! What the second stage of a release takes from the first, see docs/releasing.md.
//!
//! Compiles the built-in components: it writes a file `engine`, which says what the code is for, and the code of each
//! component to a file that is named by the component's SHA-256. `host/extensions/build` reads them. And it says in
//! which order the linker puts the host's functions ([`order`]), for `host/cli/build.rs`.
//!
//! Deliberately not here: what the code is compiled for, which `host-plugin` decides.

mod order;

use std::env::consts::{ARCH, OS};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use host_plugin::{Digest, PortableCompiler};

const USAGE: &str = "usage: host-precompile COMPONENTS OUT
       host-precompile --order LIST MAP OUT
Compiles each `.wasm` file of the folder COMPONENTS, and writes the code to the folder OUT. Or finds the functions that the file
LIST names in the map of the linker, and writes what they are called there to the file OUT.";

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let done = match paths.as_slice() {
        [components, out] => precompile(components, out),
        [option, list, map, out] if option.as_os_str() == "--order" => write_order(list, map, out),
        _ => return end(2, USAGE),
    };
    match done {
        Ok(report) => end(0, &report),
        Err(message) => end(1, &format!("error: {message}")),
    }
}

/// Prints to standard error; a failure of that changes nothing.
fn end(code: u8, text: &str) -> ExitCode {
    writeln!(io::stderr(), "{text}").ok();
    ExitCode::from(code)
}

fn failed(path: &Path, error: io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

/// Returns what was written.
fn write_order(list: &Path, map: &Path, out: &Path) -> Result<String, String> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| failed(path, error));
    let order = order::order(&read(list)?, &read(map)?)
        .map_err(|error| format!("{error}: make `{}` again with release/order.sh", list.display()))?;
    let lines: String = order.symbols.iter().map(|symbol| format!("{symbol}\n")).collect();
    fs::write(out, lines).map_err(|error| failed(out, error))?;
    let (functions, listed) = (order.symbols.len(), order.listed);
    Ok(format!("{functions} functions, by {} of {listed} names, in `{}`", order.found, out.display()))
}

/// Returns what was written.
fn precompile(components: &Path, out: &Path) -> Result<String, String> {
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
