//! What ignore files leave out of a walk, held against the engine that the host walks with, on real folders.

use std::fs;
use std::path::Path;

use host_sdk::fake::FakeHost;
use host_sdk::fs_read::{Walk, WalkOptions};
use ignore::WalkBuilder;
use proptest::prelude::*;

/// The files of a walk by the host's rules, in the order of their names.
fn real(root: &Path) -> Vec<String> {
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).add_custom_ignore_filename(".hostignore").git_global(false).parents(false);
    builder.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    let files = builder.build().filter_map(Result::ok).filter(|entry| entry.path().is_file());
    let relative = files.filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned()));
    let mut all: Vec<_> = relative.collect();
    all.sort();
    all
}

fn fake(host: &FakeHost) -> Vec<String> {
    host.run(|| {
        let walk = Walk::open(&WalkOptions { hidden: true, ..WalkOptions::default() }).expect("it begins");
        let mut all = Vec::new();
        while let Some(batch) = walk.next_batch().expect("it goes on") {
            all.extend((0..batch.len()).map(|index| batch.name(index).into_owned()));
        }
        all.sort();
        all
    })
}

/// A rule as somebody may write it into an ignore file, over the names of [`folders`].
fn rule() -> impl Strategy<Value = String> {
    let name =
        prop_oneof![Just("a"), Just("b"), Just("f.rs"), Just("*.rs"), Just("*"), Just("g?"), Just("#x"), Just("")];
    let form =
        prop_oneof![Just("{}"), Just("/{}"), Just("{}/"), Just("!{}"), Just("a/{}"), Just("**/{}"), Just("!a/{}")];
    (form, name).prop_map(|(form, name)| form.replace("{}", name))
}

/// Ignore files by the folder and the name that they have.
fn rules() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    let folder = prop_oneof![Just(""), Just("a/"), Just("a/b/"), Just("b/")];
    let name = prop_oneof![Just(".gitignore"), Just(".ignore"), Just(".hostignore")];
    let path = (folder, name).prop_map(|(folder, name)| format!("{folder}{name}"));
    prop::collection::vec((path, prop::collection::vec(rule(), 1..4)), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ignore_files_leave_out_what_they_leave_out_of_the_hosts_walk(rules in rules()) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut host = FakeHost::new();
        let mut files: Vec<(String, String)> = ["f.rs", "gg", "a/f.rs", "a/gg", "a/b/f.rs", "a/b/x", "b/f.rs", "b/a/x", ".git/config"]
            .map(|path| (path.to_owned(), String::new()))
            .into();
        files.extend(rules.iter().map(|(path, lines)| (path.clone(), lines.join("\n"))));
        for (path, content) in &files {
            let real = folder.path().join(path);
            fs::create_dir_all(real.parent().expect("it is in a folder")).expect("made");
            fs::write(real, content).expect("written");
            host = host.file(path, content);
        }
        prop_assert_eq!(fake(&host), real(folder.path()), "{:?}", rules);
    }
}
