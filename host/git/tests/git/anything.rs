//! Any bytes in each of the known files: nothing panics, nothing hangs, and git's folder stays one.

use std::fs;
use std::path::PathBuf;

use host_git::{
    Before, Change, ChangeKind, Changes, Repository, Whose, branch, carry_over, folders_of, is_inert, is_inert_at,
    obeyed,
};
use proptest::prelude::*;

const FILES: &[&str] = &[
    "HEAD",
    "index",
    "config",
    "packed-refs",
    "shallow",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_RR",
    "MERGE_MODE",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_START",
    "BISECT_TERMS",
    "COMMIT_EDITMSG",
    "refs/heads/x",
    "refs/remotes/o/x",
    "logs/HEAD",
    "logs/refs/heads/x",
    "info/refs",
    "objects/info/packs",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/commit-graph-chain",
    "objects/aa/00000000000000000000000000000000000000",
    "objects/pack/pack-0000000000000000000000000000000000000000.pack",
    "objects/pack/pack-0000000000000000000000000000000000000000.idx",
    "rebase-merge/git-rebase-todo",
    "rebase-merge/author-script",
    "rebase-merge/strategy",
    "rebase-merge/strategy_opts",
    "rebase-merge/gpg_sign_opt",
    "rebase-merge/update-refs",
    "rebase-apply/apply-opt",
    "rebase-apply/next",
    "sequencer/opts",
    "sequencer/todo",
    "worktrees/t/HEAD",
    "worktrees/t/commondir",
    "worktrees/t/gitdir",
    "modules/m/HEAD",
    "modules/m/config",
    "modules/m/index",
];

/// How files of git begin.
const BEGINNINGS: &[&[u8]] = &[
    b"",
    b"DIRC\0\0\0\x02\0\0\0\x02",
    b"DIRC\0\0\0\x04\0\0\0\x7f",
    b"ref: refs/heads/",
    b"[core]\n\t",
    b"[remote \"o\"]\n\turl = ",
    b"\xfftOc\0\0\0\x02",
    b"pick ",
    b"GIT_AUTHOR_NAME='",
    b"ca85398e9578f46a203b9355f6ee09d9847f43e0 ",
    b"gitdir: ",
    b"../",
    b" '",
];

/// Bytes, some of which begin like what git writes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let begin = (0..BEGINNINGS.len()).prop_map(|number| BEGINNINGS[number]);
    (begin, proptest::collection::vec(any::<u8>(), 0..300)).prop_map(|(begin, rest)| [begin, rest.as_slice()].concat())
}

fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("there");
    for path in ["w/.git/objects", "w/.git/refs", "upper"] {
        fs::create_dir_all(root.join(path)).expect("made");
    }
    fs::write(root.join("w/.git/HEAD"), "ref: refs/heads/main\n").expect("written");
    (folder, root)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn anything_may_be_in_what_a_program_left(
        contents in proptest::collection::btree_map(0..FILES.len(), bytes(), 1..6),
    ) {
        let (_folder, root) = repository();
        let found = Repository::around(&root.join("w")).expect("clear").expect("there");
        let before = Before::look(&found).expect("readable");
        let upper = root.join("upper");
        let mut entries = Vec::new();
        for (number, bytes) in contents {
            let path = PathBuf::from(FILES[number]);
            fs::create_dir_all(upper.join(&path).parent().expect("a folder")).expect("made");
            fs::write(upper.join(&path), bytes).expect("written");
            entries.push(Change { path, kind: ChangeKind::File });
        }
        let within = [root.join("w")];
        let done = carry_over(&before, &Changes { upper: &upper, entries: &entries, within: &within });
        prop_assert!(entries.iter().all(|entry| !done.kept.contains(&entry.path)
            || !done.left.iter().any(|left| left.path == entry.path)));
        prop_assert!(Repository::around(&root.join("w")).is_ok_and(|found| found.is_some()));
        prop_assert!(is_inert(&fs::read_to_string(root.join("w/.git/config")).unwrap_or_default(), Whose::User));
    }

    #[test]
    fn anything_may_be_in_a_repository(number in 0..FILES.len(), bytes in bytes(), text: String) {
        let (_folder, root) = repository();
        let path = root.join("w/.git").join(FILES[number]);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
        let at = root.join("w");
        is_inert(&text, Whose::User);
        is_inert_at(&at, Whose::User);
        let _ = branch(&at);
        folders_of(&at.join(".git"));
        let _ = host_git::check_nested(&at.join(".git"), &[], std::slice::from_ref(&at));
        if let Ok(Some(found)) = Repository::around(&at) {
            let _ = (found.submodules(), obeyed(&found, None), Before::look(&found).map(drop));
        }
    }
}
