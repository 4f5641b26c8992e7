//! The corpus of the fuzz targets, through the same functions: what fuzzing found stays found.
//!
//! Owns nothing but the replay. Deliberately not here: new inputs, which `fuzz/run.sh` makes up.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use host_fuzz::TARGETS;
use host_tests::repository;

/// The most bytes of the whole corpus: it is part of every checkout.
const MOST: u64 = 2 << 20;

fn names(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

// promise design.fuzzed: What reads untrusted bytes is fuzzed, and each input that fuzzing found is tried in every
//   test.
#[test]
fn corpus_breaks_no_promise() {
    let mut failed = Vec::new();
    let mut bytes = 0;
    for (name, target) in TARGETS {
        let files = names(repository().join("fuzz/corpus").join(name));
        assert!(!files.is_empty(), "`{name}` has no corpus");
        for file in files {
            let data = fs::read(&file).expect("a file");
            bytes += data.len() as u64;
            if catch_unwind(AssertUnwindSafe(|| target(&data))).is_err() {
                failed.push(file.display().to_string());
            }
        }
    }
    assert!(failed.is_empty(), "run `fuzz/target/release/TARGET FILE` to see one alone:\n{}", failed.join("\n"));
    assert!(bytes <= MOST, "the corpus has {bytes} bytes, over its limit of {MOST}");
}

#[test]
fn corpus_has_a_folder_and_a_program_for_each_target() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known.len(), TARGETS.len());
    for folder in ["corpus", "fuzz_targets"] {
        let there = names(repository().join("fuzz").join(folder)).into_iter();
        let there: BTreeSet<String> =
            there.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
        assert_eq!(there, known, "fuzz/{folder}");
    }
    let manifest = fs::read_to_string(repository().join("fuzz/Cargo.toml")).expect("a manifest");
    for name in known {
        let program = fs::read_to_string(repository().join(format!("fuzz/fuzz_targets/{name}.rs"))).expect("a program");
        assert!(program.contains(&format!("host_fuzz::{name}(data)")), "{program}");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
}
