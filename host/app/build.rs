//! Lists the built-in plugins: whatever lies in `plugins/dist`, so that a new tool needs no line here. Their digests
//! are taken here and not at each start.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use sha2::{Digest as _, Sha256};

fn main() {
    // Read at run time, and passed to cargo as a relative path: a build folder that was copied from another checkout
    // would otherwise keep using the components of that checkout.
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let dist = Path::new(&package).join("../../plugins/dist");
    println!("cargo::rerun-if-changed=../../plugins/dist");
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
    let mut list = String::from("&[\n");
    for name in names {
        let file = |end: &str| dist.join(format!("{name}.{end}")).display().to_string();
        let component = file("wasm");
        let sha256: [u8; 32] = Sha256::digest(fs::read(&component).expect("it was listed")).into();
        writeln!(
            list,
            "    BuiltIn {{ name: {name:?}, manifest: include_str!({:?}), component: include_bytes!({component:?}), \
             sha256: {sha256:?} }},",
            file("json"),
        )
        .expect("a string takes everything");
    }
    list.push(']');
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("built_in.rs");
    fs::write(out, list).expect("cargo's own folder can be written");
}
