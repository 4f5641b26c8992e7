//! Repositories that git takes and others, and files in them that are none.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let ended = git.output().expect("git is there");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    git(&root, &["init", "-q", "-b", "main"]);
    fs::create_dir_all(root.join("src/deep")).expect("made");
    (folder, root)
}

/// What git itself finds.
fn by_git(folder: &Path) -> Option<PathBuf> {
    let found =
        Command::new("git").current_dir(folder).args(["rev-parse", "--show-toplevel"]).output().expect("git runs");
    found.status.success().then(|| PathBuf::from(String::from_utf8(found.stdout).expect("text").trim_end()))
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
}

#[test]
fn repository_is_the_one_that_git_takes() {
    let (_folder, root) = repository();
    let deep = root.join("src/deep");
    let found = |from: &Path| Repository::around(from).expect("clear").map(|found| found.top);
    let check = |from: &Path, expected: &Path| {
        assert_eq!(found(from).as_deref(), Some(expected));
        assert_eq!(by_git(from).as_deref(), Some(expected), "git itself");
    };
    check(&deep, &root);
    // A decoy hides nothing.
    fs::create_dir(root.join("src/.git")).expect("made");
    check(&deep, &root);
    for part in ["objects", "refs"] {
        fs::create_dir(root.join("src/.git").join(part)).expect("made");
        check(&deep, &root);
    }
    fs::write(root.join("src/.git/HEAD"), "x\n").expect("written");
    check(&deep, &root);
    fs::write(root.join("src/.git/HEAD"), "ref: refs/heads/main\n").expect("written");
    check(&deep, &root.join("src"));
    // Where a folder really is counts, and not how it was reached.
    symlink("src/deep", root.join("link")).expect("linked");
    check(&root.join("link"), &root.join("src"));
    fs::rename(root.join("src/.git"), root.join("moved")).expect("moved");
    fs::write(root.join("src/.git"), "gitdir: ../moved\n").expect("written");
    check(&deep, &root.join("src"));
    fs::write(root.join("src/.git"), "gitdir: ../nowhere\n").expect("written");
    assert!(Repository::around(&deep).is_err() && by_git(&deep).is_none(), "git stops here");
    fs::write(root.join("src/.git"), "x").expect("written");
    assert!(Repository::around(&deep).is_err() && by_git(&deep).is_none());
    fs::remove_file(root.join("src/.git")).expect("removed");
    symlink("../moved", root.join("src/.git")).expect("linked");
    assert!(Repository::around(&deep).is_err(), "a link");
    assert!(Repository::around(&root.join("moved")).is_err(), "a bare repository");
}

#[test]
fn repository_with_a_pipe_or_an_endless_file_never_hangs() {
    for name in ["HEAD", "index", "config", "config.worktree", "commondir", "objects/info/alternates"] {
        let (_folder, root) = repository();
        assert!(is_inert_at(&root, Whose::Host), "before");
        let path = root.join(".git").join(name);
        pipe(&path);
        assert!(!is_inert_at(&root, Whose::Host), "a pipe as {name}");
        let _ = branch(&root);
        let _ = folders_of(&root.join(".git"));
        fs::remove_file(&path).expect("removed");
        symlink("/dev/zero", &path).expect("linked");
        assert!(!is_inert_at(&root, Whose::User), "an endless {name}");
        let _ = branch(&root);
        let _ = folders_of(&root.join(".git"));
    }
    let (_folder, root) = repository();
    pipe(&root.join("src/.git"));
    assert!(is_inert_at(&root.join("src"), Whose::Host), "git passes over a pipe");
    assert_eq!(folders_of(&root.join("src/.git")), [] as [PathBuf; 0]);
}

#[test]
fn repository_under_a_decoy_is_the_one_that_counts() {
    let (_folder, root) = repository();
    fs::create_dir(root.join("src/.git")).expect("made");
    assert!(is_inert_at(&root.join("src"), Whose::Host));
    fs::write(root.join(".git/config"), "[diff]\n\texternal = touch x\n").expect("written");
    assert!(!is_inert_at(&root.join("src"), Whose::Host));
}

#[test]
fn branch_is_that_of_head_and_safe_to_show() {
    let (_folder, root) = repository();
    for (head, expected) in [
        ("ref: refs/heads/main\n", Some("main")),
        ("ref: refs/heads/feature/fuel\n", Some("feature/fuel")),
        ("ref: refs/remotes/origin/x", Some("refs/remotes/origin/x")),
        ("ref: refs/heads/a\u{1b}]0;b\u{7}\n", Some("a\\u{1b}]0;b\\u{7}")),
        ("0123456789abcdef0123456789abcdef01234567\n", Some("0123456")),
        ("ref: refs/heads/\n", None),
        ("root:x:0:0:root:/root:/bin/sh\n", None),
        ("0123456\n", None),
        ("", None),
    ] {
        fs::write(root.join(".git/HEAD"), head).expect("written");
        assert_eq!(branch(&root.join("src/deep")).as_deref(), expected, "{head:?}");
    }
    fs::write(root.join(".git/HEAD"), format!("ref: refs/heads/{}", "x".repeat(300))).expect("written");
    assert_eq!(branch(&root).expect("a name").chars().count(), BRANCH + 1);
    fs::write(root.join(".git/HEAD"), "x".repeat(1 << 16)).expect("written");
    assert_eq!(branch(&root), None, "too large");
    fs::remove_file(root.join(".git/HEAD")).expect("removed");
    let secret = root.join("secret");
    fs::write(&secret, "ref: refs/heads/secret\n").expect("written");
    symlink(&secret, root.join(".git/HEAD")).expect("linked");
    assert_eq!(branch(&root), None, "a link");
    pipe(&root.join(".git/HEAD"));
    assert_eq!(branch(&root), None, "a pipe");
}

#[test]
fn branch_and_folders_of_a_work_tree_are_in_the_folder_that_its_file_names() {
    let (_folder, root) = repository();
    fs::write(root.join("a"), "a").expect("written");
    git(&root, &["add", "a"]);
    git(&root, &["-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qm", "First"]);
    git(&root, &["worktree", "add", "-q", "-b", "other", "tree"]);
    let tree = root.join("tree");
    assert_eq!((branch(&tree).as_deref(), branch(&root).as_deref()), (Some("other"), Some("main")));
    let found = Repository::around(&tree).expect("clear").expect("there");
    assert_eq!((found.folder, found.common), (root.join(".git/worktrees/tree"), root.join(".git")));
    assert!(is_inert_at(&tree, Whose::User));
    assert_eq!(folders_of(&root.join(".git")), [root.join(".git")]);
    assert_eq!(folders_of(&tree.join(".git")), [root.join(".git/worktrees/tree"), root.join(".git")]);
    // A file that claims to be a work tree of a folder that does not know it.
    fs::create_dir(root.join("liar")).expect("made");
    fs::write(root.join("liar/.git"), format!("gitdir: {}\n", root.join(".git").display())).expect("written");
    assert_eq!(folders_of(&root.join("liar/.git")), [] as [PathBuf; 0]);
    assert_eq!(folders_of(&root.join("none/.git")), [] as [PathBuf; 0]);
    // Folders that say that they share another repository's, as one in an archive can.
    for (folder, entry) in [("own/.git", "own/.git"), ("evil/worktrees/x", "there/.git")] {
        fs::create_dir_all(root.join(folder)).expect("made");
        fs::write(root.join(folder).join("commondir"), root.join(".git").display().to_string()).expect("written");
        if folder != entry {
            fs::create_dir(root.join("there")).expect("made");
            fs::write(root.join(entry), format!("gitdir: {}\n", root.join(folder).display())).expect("written");
            fs::write(root.join(folder).join("gitdir"), root.join(entry).display().to_string()).expect("written");
        }
        assert_eq!(folders_of(&root.join(entry)), [root.join(folder)]);
    }
}

#[test]
fn submodules_are_those_of_the_index() {
    let (_folder, root) = repository();
    let repository = || Repository::around(&root).expect("clear").expect("there");
    assert_eq!(repository().submodules(), Ok(Vec::new()));
    git(&root, &["update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,src/sub"]);
    assert_eq!(repository().submodules(), Ok(vec![root.join("src/sub")]));
    assert!(!repository().is_inert(Whose::Host));
    pipe(&root.join(".git/index"));
    assert!(repository().submodules().is_err());
}
