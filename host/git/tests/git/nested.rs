//! Repositories that programs make somewhere in the workspace.

use std::fs;

use host_git::check_nested;

use crate::workspace::Workspace;

#[test]
fn nested_repository_may_stay_if_it_makes_git_run_nothing() {
    for (name, script, harmless) in [
        ("a new one", "git init -q n", true),
        ("with commits", "git init -q n; cd n; echo x > x; git add x; git commit -qm x; git gc -q; git branch y", true),
        ("with settings", "git init -q n; git -C n config gc.auto 0; git -C n config user.name Ada", true),
        ("an empty folder", "mkdir -p n/.git", true),
        ("a clone of a server", "git init -q n; git -C n remote add origin https://a.example/a", true),
        (
            "a submodule in it",
            "git init -q n/m; git init -q n; git -C n commit -q --allow-empty -m x
            git -C n update-index --add --cacheinfo 160000,$(git rev-parse HEAD),m",
            true,
        ),
        ("a monitor", "git init -q n; git -C n config core.fsmonitor 'touch $MARKER'", false),
        ("a clone of a folder", "git clone -q . n", false),
        ("a hook", "git init -q n; echo x > n/.git/hooks/pre-commit", false),
        ("a link for hooks", "git init -q n; rm -rf n/.git/hooks; mkdir h; ln -s ../../h n/.git/hooks", false),
        ("a common folder", "git init -q n; echo ../../.git > n/.git/commondir", false),
        ("other objects", "git init -q n; echo /x > n/.git/objects/info/alternates", false),
        ("settings of a work tree", "git init -q n; echo '[core]' > n/.git/config.worktree", false),
        ("a pipe", "git init -q n; mkfifo n/.git/index", false),
        ("a pipe as HEAD", "git init -q n; rm n/.git/HEAD; mkfifo n/.git/HEAD", false),
        (
            "a rebase",
            "git init -q n; mkdir n/.git/rebase-merge; echo 'x touch x' > n/.git/rebase-merge/git-rebase-todo",
            false,
        ),
        ("parts of one", "mkdir -p n/.git/hooks; echo x > n/.git/config", false),
        (
            "a module",
            "git init -q n; mkdir -p n/.git/modules; git init -q --bare n/.git/modules/m
            git -C n/.git/modules/m config core.fsmonitor 'touch $MARKER'",
            false,
        ),
        ("a link", "ln -s ../.git n.git; mkdir n; ln -s ../.git n/.git", false),
        ("a pipe as .git", "mkdir n; mkfifo n/.git", false),
        ("a file to the repository", "mkdir n; echo 'gitdir: ../.git' > n/.git", false),
        ("a file to a folder", "git init -q --bare evil; mkdir n; echo 'gitdir: ../evil' > n/.git", false),
        ("a file to nowhere", "mkdir n; echo 'gitdir: ../nowhere' > n/.git", false),
        ("a work tree", "git worktree add -q n", true),
        ("a work tree of another name", "git worktree add -q t; mkdir n; cp t/.git n/.git", false),
        (
            "a submodule",
            "git clone -q --bare . ../s.git
            git -c protocol.file.allow=always submodule --quiet add ../s.git n",
            true,
        ),
        (
            "a file to another's submodule",
            "git clone -q --bare . ../s.git
            git -c protocol.file.allow=always submodule --quiet add ../s.git s; mkdir n; cp s/.git n/.git",
            false,
        ),
    ] {
        let workspace = Workspace::new();
        workspace.sh(script);
        let known = [workspace.root.join(".git")];
        let within = [workspace.root.clone()];
        let found = check_nested(&workspace.root.join("n/.git"), &known, &within);
        assert_eq!(found.is_ok(), harmless, "{name}: {found:?}");
    }
}

#[test]
fn nested_repository_that_was_bare_is_checked_like_a_folder_of_git() {
    let workspace = Workspace::new();
    workspace.sh("git init -q --bare n.git; git init -q --bare evil.git; echo x > evil.git/hooks/post-update");
    let within = [workspace.root.clone()];
    assert_eq!(check_nested(&workspace.root.join("n.git"), &[], &within), Ok(()));
    assert!(check_nested(&workspace.root.join("evil.git"), &[], &within).is_err());
    assert!(check_nested(&workspace.root.join("none"), &[], &within).is_err());
    fs::create_dir(workspace.root.join("plain")).expect("made");
    fs::write(workspace.root.join("plain/x"), "x").expect("written");
    assert!(check_nested(&workspace.root.join("plain"), &[], &within).is_err());
}
