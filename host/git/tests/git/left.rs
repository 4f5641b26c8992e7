//! What is left, what nobody is told of, and what the user changed meanwhile.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use host_git::{Change, ChangeKind, Changes, Why, carry_over};

use crate::workspace::Workspace;

fn paths(done: &host_git::CarriedOver) -> Vec<(&str, &Why)> {
    let mut all: Vec<_> = done.left.iter().map(|left| (left.path.to_str().expect("text"), &left.why)).collect();
    all.sort_by_key(|(path, _)| *path);
    all
}

#[test]
fn left_is_each_thing_that_is_not_known_with_its_reason() {
    for (name, script, expected) in [
        ("a pipe", "rm .git/index; mkfifo .git/index", vec![("index", Why::NotAFile)]),
        ("a set-id bit", "o=.git/description; echo x > $o; chmod 4755 $o", vec![("description", Why::NotAFile)]),
        ("an unknown name", "echo x > .git/sharedindex.1", vec![("sharedindex.1", Why::Unknown)]),
        ("other objects", "echo /x > .git/objects/info/alternates", vec![("objects/info/alternates", Why::Obeyed)]),
        ("replaced history", "git replace HEAD HEAD~1", vec![]),
        (
            "attributes",
            "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
            vec![("info/attributes", Why::Obeyed)],
        ),
        ("a ref elsewhere", "printf 'ref: ../../x\n' > .git/refs/heads/x", vec![]),
        ("locks", "touch .git/index.lock .git/refs/heads/x.lock .git/objects/tmp_x .git/gc.pid", vec![]),
        ("settings gone", "rm .git/config", vec![("config", Why::Needed)]),
    ] {
        let workspace = Workspace::new();
        let done = workspace.call(|workspace| {
            workspace.sh(script);
        });
        let left = paths(&done);
        match name {
            "replaced history" => assert!(left.len() == 1 && left[0].0.starts_with("refs/replace/"), "{left:?}"),
            "a ref elsewhere" => assert!(matches!(left[..], [("refs/heads/x", Why::Invalid(_))]), "{left:?}"),
            _ => assert_eq!(left, expected.iter().map(|(path, why)| (*path, why)).collect::<Vec<_>>(), "{name}"),
        }
        if name == "locks" {
            assert_eq!(done.kept, [] as [PathBuf; 0]);
        }
        workspace.sh("git status && git commit -q --allow-empty -m x && git fsck --no-dangling");
    }
}

#[test]
fn left_is_what_the_user_changed_meanwhile_with_the_rest_of_its_state() {
    let workspace = Workspace::new();
    let done = workspace.call_meanwhile(
        |workspace| {
            workspace.sh("echo p > f; git commit -qam program; git tag program; git branch -q other");
        },
        |workspace| {
            workspace.sh("echo u > g1; git add g1; git commit -qm user -- g1");
        },
    );
    // What is not a part of the state comes back, and what it names.
    assert!(done.kept.contains(&PathBuf::from("refs/tags/program")), "{done:?}");
    let left = paths(&done);
    assert!(
        left.contains(&("refs/heads/main", &Why::Changed)) && left.iter().any(|(path, _)| *path == "index"),
        "{left:?}"
    );
    assert!(
        left.contains(&("index", &Why::Changed)) && left.iter().any(|(path, _)| *path == "refs/heads/other"),
        "{left:?}"
    );
    assert_eq!(workspace.sh("git log -1 --format=%s; git log -1 --format=%s program"), "user\nprogram\n");
    workspace.sh("git fsck --no-dangling");
}

#[test]
fn left_is_nothing_if_the_user_only_looked_meanwhile() {
    let workspace = Workspace::new();
    let done = workspace.call_meanwhile(
        |workspace| {
            workspace.sh("echo p > p; git add p; git commit -qm program");
        },
        |workspace| {
            let index = fs::read(workspace.root.join(".git/index")).expect("read");
            workspace.sh("touch -d 2001-01-01 g1; git status");
            assert_ne!(fs::read(workspace.root.join(".git/index")).expect("read"), index, "git wrote it anew");
        },
    );
    assert_eq!(done.left, []);
    assert_eq!(workspace.sh("git log -1 --format=%s; git status --porcelain"), "program\n");
}

#[test]
fn left_is_the_state_while_another_program_has_a_lock() {
    for lock in ["index.lock", "refs/heads/main.lock"] {
        let workspace = Workspace::new();
        let lock_path = workspace.root.join(".git").join(lock);
        let done = workspace.call_meanwhile(
            |workspace| {
                workspace.sh("echo p > f; git commit -qam program");
            },
            |_| fs::write(&lock_path, "").expect("written"),
        );
        let left = paths(&done);
        let locked = lock.strip_suffix(".lock").expect("a lock");
        assert!(left.contains(&(locked, &Why::Locked)), "{left:?}");
        for state in ["index", "refs/heads/main", "logs/HEAD"] {
            assert!(left.iter().any(|(path, _)| *path == state), "{state}: {left:?}");
        }
        assert!(lock_path.exists(), "the other program's");
        fs::remove_file(&lock_path).expect("removed");
        assert_eq!(workspace.sh("git log -1 --format=%s; git diff --cached --name-only"), "c3\n");
        workspace.sh("! find .git -name '*.lock' | grep .");
    }
}

#[test]
fn left_is_every_ref_if_an_object_is_no_object() {
    let workspace = Workspace::new();
    let done = workspace.call(|workspace| {
        workspace.sh("echo p > f; git commit -qam program; git tag t
            id=$(git rev-parse HEAD); rest=${id#??}; o=.git/objects/${id%$rest}/$rest; chmod u+w $o; echo x > $o");
    });
    let left = paths(&done);
    assert!(left.iter().any(|(path, why)| path.starts_with("objects/") && matches!(why, Why::Invalid(_))), "{left:?}");
    assert!(left.iter().any(|(path, why)| *path == "refs/tags/t" && matches!(why, Why::With(_))), "{left:?}");
    assert_eq!(workspace.sh("git log -1 --format=%s; git tag"), "c3\n");
    workspace.sh("git fsck --no-dangling");
}

#[test]
fn left_is_history_when_a_program_removes_it() {
    let workspace = Workspace::new();
    workspace.sh("git tag t; git gc -q; git branch loose");
    let shown = workspace.sh("git for-each-ref; git log --all --oneline");
    for script in ["rm -rf .git; mkdir .git", "rm -rf .git/objects/* .git/HEAD .git/refs/*", "rm -rf .git/objects"] {
        workspace.call(|workspace| {
            workspace.run_in(&workspace.root, script);
        });
        assert_eq!(workspace.sh("git for-each-ref; git log --all --oneline"), shown, "{script}");
    }
    // Packs that say they have everything, and an object that only they have.
    let done = workspace.call(|workspace| {
        workspace.sh("git repack -adq; rm -f .git/objects/pack/*.pack");
    });
    workspace.sh("git fsck --no-dangling");
    assert_eq!(workspace.sh("git for-each-ref; git log --all --oneline"), shown, "{done:?}");
}

#[test]
fn nothing_is_written_through_a_link_that_was_there() {
    let workspace = Workspace::new();
    let there = workspace.outside.join("there");
    fs::create_dir(&there).expect("made");
    let heads = workspace.root.join(".git/refs/heads");
    fs::create_dir_all(there.join("x")).expect("made");
    symlink(there.join("x"), heads.join("x")).expect("linked");
    let before = workspace.look();
    let upper = workspace.outside.join("upper");
    fs::create_dir_all(upper.join("refs/heads/x")).expect("made");
    let id = workspace.sh("git rev-parse HEAD");
    fs::write(upper.join("refs/heads/x/y"), &id).expect("written");
    fs::write(upper.join("refs/heads/z"), &id).expect("written");
    let entry = |path: &str| Change { path: path.into(), kind: ChangeKind::File };
    let entries = [entry("refs/heads/x/y"), entry("refs/heads/z")];
    let done = carry_over(&before, &Changes { upper: &upper, entries: &entries, within: &[] });
    assert!(done.left.iter().any(|left| left.path == Path::new("refs/heads/x/y")), "{done:?}");
    assert_eq!(fs::read_dir(there.join("x")).expect("read").count(), 0);
}

#[test]
fn paths_that_lead_out_are_left() {
    let workspace = Workspace::new();
    let before = workspace.look();
    let upper = workspace.outside.join("u/p/per");
    fs::create_dir_all(upper.join("refs")).expect("made");
    fs::write(workspace.outside.join("u/HEAD"), "ref: refs/heads/x\n").expect("written");
    for path in ["../HEAD", "/etc/passwd", "refs/../../HEAD", "", ".", "modules/../HEAD", "worktrees/../HEAD"] {
        for kind in [ChangeKind::File, ChangeKind::Removed, ChangeKind::Folder, ChangeKind::ReplacedFolder] {
            let entries = [Change { path: path.into(), kind }];
            let done = carry_over(&before, &Changes { upper: &upper, entries: &entries, within: &[] });
            assert_eq!(done.kept, [] as [PathBuf; 0], "{path} {kind:?}");
        }
    }
    workspace.sh("git status; git fsck --no-dangling");
}

#[test]
fn replaced_folder_keeps_only_what_is_listed() {
    let workspace = Workspace::new();
    workspace.sh("git branch a/b; git branch a/c; chmod 664 .git/index");
    let before = workspace.look();
    let upper = workspace.outside.join("upper");
    fs::create_dir_all(upper.join("refs/heads/a")).expect("made");
    let id = workspace.sh("git rev-parse HEAD~1");
    fs::write(upper.join("refs/heads/a/d"), &id).expect("written");
    fs::copy(workspace.root.join(".git/index"), upper.join("index")).expect("copied");
    let entry = |path: &str, kind| Change { path: path.into(), kind };
    let entries = [
        entry("refs/heads/a", ChangeKind::ReplacedFolder),
        entry("refs/heads/a/d", ChangeKind::File),
        entry("index", ChangeKind::File),
    ];
    let done = carry_over(&before, &Changes { upper: &upper, entries: &entries, within: &[] });
    assert_eq!(done.left, []);
    assert_eq!(workspace.sh("git branch --format='%(refname:short)'"), "a/d\nmain\nside\n");
    let mode = fs::metadata(workspace.root.join(".git/index")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o664, "what is the same is not touched");
}
