//! Links a release for Linux: the functions that a run executes lie side by side, because the system maps 64 KB of a
//! program around each page that is touched. The first stage of a release lists them, see docs/releasing.md.
//!
//! Deliberately not here: any other build, in which the linker gets no options. The target is given to each.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the file to which the first stage has the linker write what is where, from any folder.
const MAP: &str = "HOST_LINK_MAP";

/// The variable that names the folder of the first stage, from the folder of the workspace.
const PRECOMPILED: &str = "HOST_PRECOMPILED";

/// The file in it that lists the functions in their order. It is there if the first stage was for Linux.
const ORDER: &str = "order";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={MAP}");
    println!("cargo::rerun-if-env-changed={PRECOMPILED}");
    // An update has to be for the same.
    println!("cargo::rustc-env=HOST_TARGET={}", variable("TARGET"));
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    if let Some(map) = env::var_os(MAP) {
        link_with_lld();
        linker_option(&format!("-Map={}", Path::new(&map).display()));
    }
    let Some(folder) = env::var_os(PRECOMPILED) else { return };
    let order = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..").join(folder).join(ORDER);
    println!("cargo::rerun-if-changed={}", order.display());
    if order.is_file() {
        link_with_lld();
        linker_option(&format!("--symbol-ordering-file={}", order.display()));
        // Of what the list names, the linker leaves some out.
        linker_option("--no-warn-symbol-ordering");
        // 50,000 relocations in 14 KB instead of 1.2 MB, all of which is read before `main`. Rust's musl knows the form
        // (1.2.4 and later); a program for glibc would need version 2.36.
        if variable("CARGO_CFG_TARGET_ENV") == "musl" {
            linker_option("-z");
            linker_option("pack-relative-relocs");
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("cargo sets {name}: {error}"))
}

/// Passes an option to the linker as it is; of one behind `-Wl`, a comma would make two.
fn linker_option(option: &str) {
    link_argument("-Xlinker");
    link_argument(option);
}

/// Passes an argument to the C compiler that calls the linker.
fn link_argument(argument: &str) {
    println!("cargo::rustc-link-arg-bin=host={argument}");
}

/// Links with the lld of the compiler, which it uses by itself only for x86_64-unknown-linux-gnu: that of GNU takes no
/// list.
fn link_with_lld() {
    let printed =
        Command::new(variable("RUSTC")).args(["--print", "sysroot"]).output().expect("cargo runs the compiler");
    let sysroot = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
    let folder = sysroot.join("lib/rustlib").join(variable("HOST")).join("bin/gcc-ld");
    assert!(
        folder.is_dir(),
        "a release is linked by the lld of rustup's compiler, and there is no `{}`",
        folder.display()
    );
    link_argument(&format!("-B{}", folder.display()));
    link_argument("-fuse-ld=lld");
}
