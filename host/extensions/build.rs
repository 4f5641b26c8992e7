//! Lists the built-in plugins: whatever lies in `plugins/dist`, so that a new tool needs no line here. Their digests
//! are taken here and not at each start.
//!
//! A release adds their machine code: the folder that [`PRECOMPILED`] names. Without it nothing is added, and the host
//! compiles them when they are first called.

#[path = "build/precompiled.rs"]
mod precompiled;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest as _, Sha256};

use crate::precompiled::Folder;

/// Where the built-in plugins lie, from the folder of this package.
const DIST: &str = "../../plugins/dist";

/// The variable that names the folder of machine code, from the folder of the workspace.
const PRECOMPILED: &str = "HOST_PRECOMPILED";

fn main() {
    // Read at run time, passed to cargo as a relative path and written as one of the package's: a build folder that was
    // copied from another checkout would otherwise keep using the components of that checkout.
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let dist = package.join(DIST);
    println!("cargo::rerun-if-changed={DIST}");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={PRECOMPILED}");
    let precompiled = env::var_os(PRECOMPILED).map(|folder| open(&package.join("../..").join(folder)));
    let mut names: Vec<String> = fs::read_dir(&dist)
        .map(|entries| {
            entries
                .filter_map(|entry| {
                    entry.ok()?.file_name().into_string().ok()?.strip_suffix(".wasm").map(str::to_owned)
                })
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    // A static of its own: what a plugin's manifest was read into is kept in it.
    let mut list = format!("{{\nstatic ALL: [BuiltIn; {}] = [\n", names.len());
    for name in names {
        let component = fs::read(dist.join(format!("{name}.wasm"))).expect("it was listed");
        let sha256: [u8; 32] = Sha256::digest(component).into();
        let code = precompiled.as_ref().map_or("None".to_owned(), |folder| code(folder, &name, &sha256, &out));
        let file = |end: &str| format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{DIST}/{name}.{end}\")");
        writeln!(
            list,
            "    BuiltIn {{ name: {name:?}, manifest: include_str!({}), component: include_bytes!({}), \
             sha256: {sha256:?}, code: {code}, read: OnceLock::new() }},",
            file("json"),
            file("wasm"),
        )
        .expect("a string takes everything");
    }
    list.push_str("];\n&ALL\n}");
    fs::write(out.join("built_in.rs"), list).expect("cargo's own folder can be written");
}

/// Opens the folder of machine code. One that does not fit ends the build: a release without code would only be slower,
/// and nobody would notice.
fn open(path: &Path) -> Folder {
    println!("cargo::rerun-if-changed={}", path.display());
    let [architecture, system] =
        ["CARGO_CFG_TARGET_ARCH", "CARGO_CFG_TARGET_OS"].map(|name| env::var(name).expect("cargo sets it"));
    Folder::open(path, &architecture, &system).unwrap_or_else(|error| panic!("{PRECOMPILED}: {error}"))
}

/// Copies the code of a component to where the compiler reads it; returns it as an expression.
fn code(folder: &Folder, name: &str, component: &[u8; 32], out: &Path) -> String {
    let code = folder.code(component).unwrap_or_else(|error| panic!("{PRECOMPILED}: the code of `{name}`: {error}"));
    let file = format!("{name}.code");
    fs::write(out.join(&file), &code).expect("cargo's own folder can be written");
    let sha256: [u8; 32] = Sha256::digest(code).into();
    format!(
        "Some((CodeIdentity {{ component: {component:?}, engine: {:?}, code: {sha256:?} }}, \
         include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))))",
        folder.engine
    )
}
