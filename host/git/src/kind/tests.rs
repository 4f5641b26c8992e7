//! Names that are known, dropped and left.

use super::*;

#[test]
fn names_of_gits_folder_are_known_dropped_or_left() {
    let id = "ca85398e9578f46a203b9355f6ee09d9847f43e0";
    let sum = "ca85398e9578f46a203b9355f6ee09d9847f43e0ca85398e9578f46a203b9355";
    for path in [
        "HEAD",
        "index",
        "config",
        "packed-refs",
        "refs/heads/a/b",
        "refs/remotes/origin/HEAD",
        "refs/stash",
        "refs/notes/commits",
        "logs/refs/heads/a/b",
        "logs/HEAD",
        "rebase-merge/git-rebase-todo",
        "rebase-apply/0001",
        "sequencer/todo",
        "info/exclude",
        "objects/info/commit-graph",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        format!("objects/ca/{}", &id[2..]),
        format!("objects/pack/pack-{id}.pack"),
        format!("objects/pack/pack-{id}.idx"),
        format!("objects/pack/multi-pack-index-{id}.bitmap"),
        format!("objects/info/commit-graphs/graph-{id}.graph"),
        format!("rr-cache/{id}/preimage.1"),
        format!("lfs/objects/ca/85/{sum}"),
    ]) {
        assert!(matches!(classify(&path, Base::Repository), Class::Known(_)), "{path}");
    }
    for path in [
        "index.lock",
        "refs/heads/x.lock",
        "objects/ca/tmp_obj_x",
        "objects/pack/tmp_pack_x",
        "objects/pack/.tmp-1-pack-x.pack",
        "hooks/pre-commit.sample",
        "gc.log",
        "lfs/tmp/x",
    ] {
        assert!(matches!(classify(path, Base::Repository), Class::Dropped), "{path}");
    }
    for path in [
        "hooks/pre-commit",
        "hooks/x/y.sample",
        "config.worktree",
        "commondir",
        "gitdir",
        "info/attributes",
        "info/grafts",
        "objects/info/alternates",
        "remotes/x",
        "branches/x",
        "refs/replace/x",
    ] {
        assert!(matches!(classify(path, Base::Repository), Class::Obeyed), "{path}");
    }
    for path in [
        "unknown",
        "head",
        "refs/heads/..",
        "refs/heads/-x",
        "refs/x y",
        "sharedindex.1",
        "rebase-merge/x",
        "rebase-merge/a/b",
        "objects/ca/x",
        "objects/pack/x.pack",
        "fsmonitor--daemon/x",
        "logs/x",
        "lfs/objects/aa/bb/x",
    ] {
        assert!(matches!(classify(path, Base::Repository), Class::Unknown), "{path}");
    }
    for (path, known) in [
        ("HEAD", true),
        ("commondir", true),
        ("gitdir", true),
        ("refs/bisect/bad", true),
        ("config", false),
        ("config.worktree", false),
        ("objects/info/commit-graph", false),
        ("refs/heads/x", false),
        ("packed-refs", false),
    ] {
        assert_eq!(matches!(classify(path, Base::Worktree), Class::Known(_)), known, "{path}");
    }
}
