//! What a program does with git in earnest survives: the repository is afterwards as the program saw it.

use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workspace::Workspace;

/// All that git shows of a repository.
const SHOWN: &str = "
    git for-each-ref; git log --all --oneline --graph; git status --porcelain=v2 --branch; git stash list
    git reflog; git ls-files -s; git config --list --local; git worktree list --porcelain; git notes list || true
    cat .git/HEAD; ls .git/rebase-merge .git/sequencer 2>/dev/null || true; git bisect log 2>/dev/null || true";

/// Lets a program run each script in a call of its own, and compares what the program saw last with what is there then.
fn survives(workspace: &Workspace, name: &str, scripts: &[&str]) {
    for script in scripts {
        let mut seen = String::new();
        let done = workspace.call(|workspace| {
            let ended = workspace.run_in(&workspace.root, script);
            assert!(ended.status.code().is_some_and(|code| code < 2), "{name}: {ended:?}");
            seen = workspace.sh(SHOWN);
        });
        assert_eq!(done.left, [], "{name}: {script}");
        assert_eq!(workspace.sh(SHOWN), seen, "{name}: {script}");
        workspace.sh("git fsck --strict --no-dangling && ! find .git -name '*.lock' -o -name 'tmp_*' | grep .");
    }
}

#[test]
fn operations_of_git_survive() {
    for (name, scripts) in [
        ("commit", &["echo 4 > f; git commit -qam c4", "echo new > new; git add new; git commit -qm new"][..]),
        ("add and reset", &["echo 4 > f; git add f", "git reset -q", "git reset -q --hard HEAD~1"]),
        (
            "merge",
            &["git checkout -q -b m side~1; echo m > m; git add m; git commit -qm m; git merge -q --no-ff -m M main"],
        ),
        ("merge with a conflict", &["! git merge side", "echo both > f; git add f; git commit -qm merged"]),
        ("merge given up", &["! git merge side", "git merge --abort"]),
        ("rebase", &["git checkout -q side; ! git rebase main", "echo both > f; git add f; git rebase --continue"]),
        ("rebase given up", &["git checkout -q side; ! git rebase main", "git rebase --abort"]),
        ("rebase by patches", &["git checkout -q side; ! git rebase --apply main", "git rebase --abort"]),
        (
            "rebase of many",
            &["GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~2", "git rebase --continue"],
        ),
        (
            "stash",
            &[
                "echo x > f; git stash -q; echo y > f; git stash -q",
                "git stash pop -q",
                "git reset -q --hard; git stash drop -q",
            ],
        ),
        ("gc", &["git gc -q", "echo x > f; git commit -qam x; git gc -q --prune=now", "git repack -adq"]),
        ("pack refs", &["git branch a; git tag b; git pack-refs --all", "git branch -D a; git tag -d b"]),
        ("tables", &["git repack -q && git multi-pack-index write && git commit-graph write --reachable", "git gc -q"]),
        ("bisect", &["git bisect start HEAD HEAD~2", "git bisect good", "git bisect reset"]),
        ("cherry-pick", &["! git cherry-pick side", "echo p > f; git add f; git cherry-pick --continue"]),
        ("cherry-pick of many", &["git checkout -q side; ! git cherry-pick main~1 main", "git cherry-pick --abort"]),
        ("revert", &["git revert --no-edit HEAD"]),
        ("tag", &["git tag v1; git tag -a v2 -m two", "git tag -d v1"]),
        ("notes", &["git notes add -m note; git notes append -m more HEAD"]),
        (
            "branches",
            &[
                "git branch a; git branch b/c; git checkout -q -b d",
                "git branch -m a a2; git branch -D b/c; git branch b",
            ],
        ),
        ("file and folder", &["git branch n", "git branch -m n n/m", "git branch -m n/m n"]),
        (
            "detached",
            &["git checkout -q --detach HEAD~1; echo x > x; git add x; git commit -qm x", "git switch -q main"],
        ),
        ("patches", &["git format-patch -1 side -o ../p -q; ! git am -3 ../p/*.patch", "git am --abort"]),
        (
            "settings",
            &["git config user.name Ada; git config pull.rebase true; git remote add up https://a.example/a.git"],
        ),
        ("resolutions", &["git config rerere.enabled true; ! git merge side; echo r > f; git commit -qam r"]),
        ("amend", &["git commit -q --amend -m other", "git reset -q --soft HEAD~1"]),
        ("index", &["git update-index --index-version 4; git status", "git update-index --refresh; git mv g1 h1"]),
        ("sparse", &["git config core.sparseCheckout true; mkdir -p .git/info; echo /f > .git/info/sparse-checkout"]),
        (
            "lfs",
            &["o=$(printf %064d 7); mkdir -p .git/lfs/objects/00/00 .git/lfs/tmp; echo x > .git/lfs/objects/00/00/$o"],
        ),
        ("exclude", &["echo x > .git/info/exclude; echo about > .git/description"]),
    ] {
        survives(&Workspace::new(), name, scripts);
    }
}

#[test]
fn operations_survive_in_a_repository_with_long_names_of_objects() {
    let workspace = Workspace::new();
    workspace.sh("rm -rf .git; git init -q -b main --object-format=sha256; git add .; git commit -qm c");
    survives(&workspace, "sha256", &["echo x > f; git commit -qam x", "git gc -q", "! git merge x"]);
}

#[test]
fn operations_with_another_repository_survive() {
    let workspace = Workspace::new();
    workspace.sh("git clone -q --bare . ../up.git; git remote add origin ../up.git; git fetch -q
        git clone -q ../up.git ../peer; cd ../peer; git checkout -q -b x; echo x > x; git add x
            git commit -qm x; git push -q origin x");
    survives(
        &workspace,
        "remote",
        &[
            "git fetch -q origin",
            "git checkout -q -b x origin/x",
            "git checkout -q main; git branch -d x; git remote prune origin",
            "git fetch -q origin main && git pull -q --ff-only origin x",
        ],
    );
    workspace.sh("rm -rf .git; cd ..; rm -rf w; git clone -q --depth 1 file://$OUTSIDE/up.git w");
    survives(&workspace, "shallow", &["git fetch -q --unshallow", "git fetch -q --depth 1"]);
}

#[test]
fn operations_with_a_further_work_tree_survive() {
    let workspace = Workspace::new();
    survives(
        &workspace,
        "worktree",
        &[
            "git worktree add -q -b t tree",
            "cd tree; echo t > t; git add t; git commit -qm t; git worktree lock .",
            "cd tree; ! git merge side",
            "git worktree unlock tree; git worktree remove -f tree; git branch -D t",
        ],
    );
    // And in one that was there, whose folder is beneath the one of the repository.
    workspace.sh("git worktree add -q -b t ../t");
    survives(&workspace, "another", &["cd ../t && echo u > u && git add u && git commit -qm u"]);
}

/// A server of git on a port that the system chose. It serves until the test ends.
fn serve(folder: &Path) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let base = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut daemon = Command::new("git");
            daemon
                .args(["daemon", "--inetd", "--export-all"])
                .arg(format!("--base-path={}", base.display()))
                .arg(&base);
            daemon
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            let mut child = daemon.spawn().expect("git runs");
            let (mut input, mut output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
            let mut from = stream.try_clone().expect("a stream");
            std::thread::spawn(move || copy(&mut from, &mut input));
            let mut to = stream;
            std::thread::spawn(move || {
                copy(&mut output, &mut to);
                let _ = to.shutdown(Shutdown::Both);
                let _ = child.wait();
            });
        }
    });
    port
}

fn copy(from: &mut impl std::io::Read, to: &mut impl std::io::Write) {
    let mut buffer = [0; 1 << 14];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn operations_with_submodules_survive() {
    let workspace = Workspace::new();
    let port = serve(&workspace.outside);
    workspace.sh(&format!(
        "git clone -q --bare . ../sub.git
        git submodule add -q git://127.0.0.1:{port}/sub.git libs/sub; git commit -qm sub
        git clone -q --bare . ../top.git; cd ..; rm -rf w; git clone -q git://127.0.0.1:{port}/top.git w"
    ));
    survives(
        &workspace,
        "submodule",
        &[
            "git submodule update -q --init",
            "cd libs/sub; git checkout -q -b y; echo y > y; git add y; git commit -qm y; cd ../..; git commit -qam y",
            "git submodule deinit -q -f --all",
        ],
    );
    assert!(workspace.root.join(".git/modules/libs/sub/HEAD").exists(), "it came back");
    // One that the user's settings fetch from a folder.
    workspace.sh("cd ..; rm -rf w; git clone -q top.git w; cd w; git config submodule.libs/sub.url ../../sub.git
        git config submodule.libs/sub.active true");
    workspace.sh("git config submodule.libs/sub.url $OUTSIDE/sub.git");
    survives(&workspace, "local submodule", &["git -c protocol.file.allow=always submodule update -q"]);
    assert!(workspace.root.join("libs/sub/f").exists());
}
