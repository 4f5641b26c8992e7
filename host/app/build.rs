//! Lists the built-in plugins: whatever lies in `plugins/dist`, so that a new tool needs no line here. Their digests
//! are taken here and not at each start.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use sha2::{Digest as _, Sha256};

/// Where the built-in plugins lie, from the folder of this package.
const DIST: &str = "../../plugins/dist";

fn main() {
    // Read at run time, passed to cargo as a relative path and written as one of the package's: a build folder that was
    // copied from another checkout would otherwise keep using the components of that checkout.
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let dist = Path::new(&package).join(DIST);
    println!("cargo::rerun-if-changed={DIST}");
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
        let file = |end: &str| format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{DIST}/{name}.{end}\")");
        writeln!(
            list,
            "    BuiltIn {{ name: {name:?}, manifest: include_str!({}), component: include_bytes!({}), \
             sha256: {sha256:?}, read: OnceLock::new() }},",
            file("json"),
            file("wasm"),
        )
        .expect("a string takes everything");
    }
    list.push_str("];\n&ALL\n}");
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("built_in.rs");
    fs::write(out, list).expect("cargo's own folder can be written");
}
