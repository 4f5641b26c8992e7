//! Lines that only read a workspace, and lines that look like them, in a real repository.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::policy::tests::Case;
use crate::policy::{Because, Decision, Policy};

/// Runs git without the settings of whoever runs the tests.
fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for variable in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        git.env(format!("{variable}_NAME"), "Ada").env(format!("{variable}_EMAIL"), "ada@example.com");
    }
    let ended = git.output().expect("git is there");
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// A change to a workspace.
type Change = Box<dyn Fn(&Path)>;

/// A workspace in which some things lead out.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("w");
    for sub in ["src/deep", "docs", "leaks", "nested/objects", "nested/refs"] {
        fs::create_dir_all(root.join(sub)).expect("made");
    }
    for (path, text) in [
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "// TODO\n"),
        ("src/deep/a.rs", ""),
        ("docs/a.md", "# A\n"),
        ("README.md", "# Read\n"),
        ("Cargo.toml", "[package]\n"),
        ("package.json", "{}\n"),
        ("a b.txt", "x\n"),
        ("nested/HEAD", "ref: refs/heads/main\n"),
        ("nested/config", "[core]\n\tfsmonitor = touch pwned\n"),
    ] {
        fs::write(root.join(path), text).expect("written");
    }
    fs::write(folder.path().join("secret"), "secret\n").expect("written");
    symlink("../../secret", root.join("leaks/out")).expect("linked");
    symlink("../secret", root.join("out")).expect("linked");
    symlink("..", root.join("up")).expect("linked");
    symlink("README.md", root.join("inner")).expect("linked");
    symlink("/nowhere/at/all", root.join("dangling")).expect("linked");
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["add", "src", "README.md"]);
    git(&root, &["commit", "-q", "-m", "First"]);
    folder
}

fn lines(text: &'static str) -> Vec<&'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

fn policy() -> Policy {
    Policy::new([]).letting_read(true)
}

fn allowed(policy: &Policy, root: &Path, line: &str) -> bool {
    Case { workspace: root, ..Case::line(policy, line) }.decision() == Decision::Allow
}

// promise policy.reading: A command that only reads the workspace, as its words and the files show, needs no question,
//   and no other command passes for one.
#[test]
fn reading_commands_pass_and_near_misses_do_not() {
    let folder = workspace();
    let root = folder.path().join("w");
    let policy = policy();
    let (reading, others) = (lines(include_str!("lines.txt")), lines(include_str!("others.txt")));
    assert!(reading.len() >= 150 && others.len() >= 150, "{} and {}", reading.len(), others.len());
    let asked: Vec<&&str> = reading.iter().filter(|line| !allowed(&policy, &root, line)).collect();
    let passed: Vec<&&str> = others.iter().filter(|line| allowed(&policy, &root, line)).collect();
    assert!(asked.is_empty() && passed.is_empty(), "asked about: {asked:#?}\npassed: {passed:#?}");
    let without = Policy::new([]);
    let silent = |line: &&&str| !allowed(&without, &root, line);
    assert!(reading.iter().filter(silent).count() > 140, "they pass without the rule, too");
}

#[test]
fn reading_says_why_it_passes_and_rules_come_first() {
    let folder = workspace();
    let root = folder.path().join("w");
    let verdict = Case { workspace: &root, ..Case::line(&policy(), "git status") }.verdict();
    assert_eq!(verdict.reasons.first().map(|reason| &reason.because), Some(&Because::Reads), "{verdict:?}");
    for (rule, line) in [
        ("decision = \"ask\"\ncommand = \"git status\"", "git status"),
        ("decision = \"deny\"\ntool = \"shell\"", "cat README.md"),
        ("decision = \"ask\"\ncommand = \"cat\"", "ls && cat README.md"),
    ] {
        let policy = crate::policy::tests::policy(&format!("[[rule]]\n{rule}\n")).letting_read(true);
        assert!(!allowed(&policy, &root, line), "{rule}: {line}");
    }
}

// promise policy.reading-repository: Reading with git needs a question where the repository's own files make git run
//   something, or read another repository.
#[test]
fn reading_with_git_is_asked_about_where_the_repository_decides_what_runs() {
    let config = |text: &str| {
        let text = text.to_owned();
        move |root: &Path| {
            let path = root.join(".git/config");
            let old = fs::read_to_string(&path).expect("read");
            fs::write(path, format!("{old}{text}\n")).expect("written");
        }
    };
    let mut cases: Vec<(&str, Change)> = vec![
        (
            "a hook",
            Box::new(|root| {
                fs::create_dir_all(root.join(".git/hooks")).expect("made");
                fs::write(root.join(".git/hooks/post-index-change"), "#!/bin/sh\n").expect("written");
            }),
        ),
        (
            "other objects",
            Box::new(|root| fs::write(root.join(".git/objects/info/alternates"), "/x\n").expect("written")),
        ),
        ("submodules", Box::new(|root| fs::create_dir(root.join(".git/modules")).expect("made"))),
        (
            "a work tree's settings",
            Box::new(|root| fs::write(root.join(".git/config.worktree"), "[diff]\n\texternal = x\n").expect("written")),
        ),
        (
            "shared settings",
            Box::new(|root| {
                fs::create_dir(root.join("other")).expect("made");
                fs::write(root.join("other/config"), "[diff]\n\texternal = x\n").expect("written");
                fs::write(root.join(".git/commondir"), "../other\n").expect("written");
            }),
        ),
        (
            "a link to the folder",
            Box::new(|root| {
                fs::rename(root.join(".git"), root.join("real")).expect("moved");
                symlink("real", root.join(".git")).expect("linked");
            }),
        ),
        (
            "a commit of another repository",
            Box::new(|root| {
                let entry = "160000,1234567890123456789012345678901234567890,sub";
                git(root, &["update-index", "--add", "--cacheinfo", entry]);
            }),
        ),
        ("a split index", Box::new(|root| git(root, &["update-index", "--split-index"]))),
        ("no repository", Box::new(|root| fs::rename(root.join(".git"), root.join("gone")).expect("moved"))),
        (
            "a pipe as an index",
            Box::new(|root| {
                fs::remove_file(root.join(".git/index")).expect("removed");
                let made = Command::new("mkfifo").arg(root.join(".git/index")).status().expect("mkfifo runs");
                assert!(made.success());
            }),
        ),
        (
            "an empty `.git` below settings that run something",
            Box::new(|root| {
                let above = root.parent().expect("a folder");
                fs::rename(root.join(".git"), above.join(".git")).expect("moved");
                fs::create_dir(root.join(".git")).expect("made");
                fs::write(above.join(".git/config"), "[diff]\n\texternal = x\n").expect("written");
            }),
        ),
        (
            "an endless index",
            Box::new(|root| {
                fs::remove_file(root.join(".git/index")).expect("removed");
                symlink("/dev/zero", root.join(".git/index")).expect("linked");
            }),
        ),
    ];
    for text in [
        "[diff]\n\texternal = touch x",
        "[diff \"x\"]\n\ttextconv = touch x",
        "[diff \"x\"]\n\tcommand = touch x",
        "[filter \"x\"]\n\tclean = touch x",
        "[core] sshCommand = x",
        "[CORE]\n\tHooksPath = x",
        "[core]\n\tworktree = /",
        "[core]\n\tattributesFile = /etc/x",
        "[core]\n\tpager = x",
        "[pager]\n\tlog = x",
        "[include]\n\tpath = x",
        "[includeIf \"gitdir:/\"]\n\tpath = x",
        "[remote \"o\"]\n\tuploadpack = touch x",
        "[remote \"o\"]\n\tpromisor = true",
        "[extensions]\n\tpartialClone = o",
        "[alias]\n\tst = !x",
        "[gpg]\n\tprogram = x",
        "[credential]\n\thelper = x",
        "[user]\n\tname = a\\\n[diff]\n\texternal = x",
        "[user \"]\n[diff\"]\n\texternal = x",
        "[diff]external = x",
        "[ diff ]\n\texternal = x",
        "[diff.x]\n\tcommand = x",
        "[blame]\n\tignoreRevsFile = /etc/x",
        "[mailmap]\n\tfile = /etc/x",
        "[log]\n\tshowSignature = true",
        "external",
    ] {
        cases.push((text, Box::new(config(text))));
    }
    for (name, change) in &cases {
        let folder = workspace();
        let root = folder.path().join("w");
        assert!(allowed(&policy(), &root, "git status"), "{name}: before");
        change(&root);
        assert!(!allowed(&policy(), &root, "git status"), "{name}");
    }
    for text in [
        "# x\n; y\n",
        "[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*",
        "[branch \"a/b\"]\n\tremote = origin\n\tmerge = refs/heads/a/b",
        "[User]\n\tName = \"Ada\" # x\n\temail=ada@example.com",
        "[core]\n\tfsmonitor = true\n\tfileMode",
    ] {
        let folder = workspace();
        let root = folder.path().join("w");
        config(text)(&root);
        assert!(allowed(&policy(), &root, "git status"), "{text}");
    }
}

#[test]
fn reading_in_a_work_tree_and_in_a_subfolder_follows_git() {
    let folder = workspace();
    let root = folder.path().join("w");
    git(&root, &["worktree", "add", "-q", "../tree"]);
    let tree = folder.path().join("tree");
    for line in ["git status", "cd src && git log -1 -- deep", "git diff HEAD"] {
        assert!(allowed(&policy(), &tree, line) || line.contains("deep"), "{line}");
        assert!(allowed(&policy(), &root.join("src"), "git log"), "above the workspace");
    }
    fs::write(root.join(".git/config.worktree"), "[diff]\n\texternal = x\n").expect("written");
    assert!(!allowed(&policy(), &tree, "git status"));
    // A folder of a shell can have a repository of its own.
    git(&root, &["init", "-q", "src/deep"]);
    fs::remove_file(root.join(".git/config.worktree")).expect("removed");
    assert!(allowed(&policy(), &root, "cd src/deep && git status"));
    fs::write(root.join("src/deep/.git/config"), "[core]\n\teditor = x\n").expect("written");
    assert!(!allowed(&policy(), &root, "cd src/deep && git status"));
}

#[test]
fn reading_the_version_of_a_compiler_that_the_project_chooses_is_asked_about() {
    let folder = workspace();
    let root = folder.path().join("w");
    assert!(allowed(&policy(), &root, "cargo --version && rustc -V"));
    fs::write(root.join("rust-toolchain.toml"), "[toolchain]\npath = \"x\"\n").expect("written");
    for line in ["cargo --version", "cd src && rustc --version"] {
        assert!(!allowed(&policy(), &root, line), "{line}");
    }
}
