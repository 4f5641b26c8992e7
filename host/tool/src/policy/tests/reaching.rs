//! How far a rule reaches: the remotes, folders and tests that it means, and no path that a command may not change.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A workspace with a repository, and links that lead out of it and into what is protected.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("w");
    for sub in ["w/.git/hooks", "w/.git/objects", "w/.git/refs", "w/sub", "w/tests", "w/up/x/hooks", "elsewhere"] {
        fs::create_dir_all(folder.path().join(sub)).expect("made");
    }
    let settings = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n";
    for (path, text) in
        [(".git/config", settings), (".git/HEAD", "ref: refs/heads/main\n"), ("tests/t.py", ""), ("cfg", ""), ("x", "")]
    {
        fs::write(root.join(path), text).expect("written");
    }
    fs::write(folder.path().join("elsewhere/t.py"), "").expect("written");
    for (link, target) in [("away", "../elsewhere"), ("hooks", ".git/hooks"), ("settings", ".git/config")] {
        symlink(target, root.join(link)).expect("linked");
    }
    folder
}

#[test]
fn policy_rule_for_a_program_of_the_workspace_is_for_no_other_file_with_its_name() {
    let folder = workspace();
    let root = folder.path().join("w");
    fs::create_dir(root.join("same")).expect("made");
    for path in ["w/run", "w/sub/run", "w/sub/only", "w/up/only"] {
        fs::write(folder.path().join(path), "").expect("written");
    }
    symlink("../run", root.join("same/run")).expect("linked");
    let policy = policy("[[rule]]\ndecision = \"allow\"\ncommand = [\"./run test\", \"./only\", \"sub/run\"]\n");
    for (directory, line, wanted) in [
        ("", "./run test", Decision::Allow),
        ("", "cd sub && ./run test", Decision::Ask),
        ("", "(cd sub; ./run test)", Decision::Ask),
        ("", "cd same && ./run test", Decision::Allow),
        ("", "cd up && ./run test", Decision::Allow),
        ("sub", "./run test", Decision::Ask),
        ("", "sub/run", Decision::Allow),
        // There is none at the top: it is the one of the folder in which the call runs.
        ("sub", "./only", Decision::Allow),
        ("sub", "cd ../up; ./only", Decision::Ask),
    ] {
        let real = fs::canonicalize(root.join(directory)).expect("there");
        let case = Case { workspace: &root, directory: Some(&real), ..Case::line(&policy, line) };
        assert_eq!(case.decision(), wanted, "{directory}: {line}");
    }
}

// promise policy.reach: A rule for a program covers sending and fetching only with remotes of the repository, and
//   running only what is in the workspace.
#[test]
fn policy_rule_reaches_remotes_and_folders_of_the_workspace_only() {
    let folder = workspace();
    let root = folder.path().join("w");
    let policy = policy(
        "[[rule]]\ndecision = \"allow\"\ncommand = [\"git\", \"find\", \"npm test\", \"pytest\", \"git push up/x main\"]\n",
    );
    for (line, wanted) in [
        ("git push", Decision::Allow),
        ("git push origin main", Decision::Allow),
        ("git push -u origin main", Decision::Allow),
        ("git fetch origin", Decision::Allow),
        ("git fetch --all", Decision::Allow),
        ("git pull origin main", Decision::Allow),
        ("git push up/x", Decision::Ask),
        ("git push up/x other", Decision::Ask),
        ("git push up main", Decision::Ask),
        ("git push Origin main", Decision::Ask),
        ("git fetch up/x", Decision::Ask),
        ("git fetch --multiple origin up/x", Decision::Ask),
        ("git pull up/x main", Decision::Ask),
        ("cd up/x && git push origin", Decision::Allow),
        // Each word is the user's.
        ("git push up/x main", Decision::Allow),
        ("git -C sub push origin", Decision::Allow),
        ("git -C sub push up/x", Decision::Ask),
        ("git -C away push origin", Decision::Ask),
        ("git -C hooks push origin", Decision::Ask),
        ("git -C away status", Decision::Ask),
        ("git -C sub -C away status", Decision::Ask),
        ("find . -execdir npm test \\;", Decision::Allow),
        ("find sub -execdir npm test \\;", Decision::Allow),
        ("find -execdir npm test \\;", Decision::Allow),
        ("find away -execdir npm test \\;", Decision::Ask),
        ("find ../elsewhere -execdir npm test \\;", Decision::Ask),
        ("find sub /elsewhere -execdir npm test \\;", Decision::Ask),
        ("find \"$x\" -execdir npm test \\;", Decision::Ask),
        ("find -L sub -execdir npm test \\;", Decision::Ask),
        ("find /elsewhere -exec npm test \\;", Decision::Allow),
        ("pytest", Decision::Allow),
        ("pytest tests/t.py::test_a -v", Decision::Allow),
        ("pytest tests/*.py", Decision::Allow),
        ("pytest away/t.py", Decision::Ask),
        ("pytest ../elsewhere/t.py", Decision::Ask),
        ("pytest /elsewhere/t.py", Decision::Ask),
        ("pytest @x", Decision::Ask),
        ("pytest -k @x", Decision::Ask),
        ("pytest \"$x\"", Decision::Ask),
        ("pytest -c /x", Decision::Ask),
        ("pytest --rootdir=/x", Decision::Ask),
        ("pytest -p x", Decision::Ask),
    ] {
        let verdict = Case { workspace: &root, ..Case::line(&policy, line) }.verdict();
        assert_eq!(verdict.decision, wanted, "{line}\n{}", verdict.explain());
    }
}

// promise policy.protected: Where a command runs, and links and patterns in its words, hide nothing that no command may
//   change.
#[test]
fn policy_protected_paths_are_found_from_the_folder_and_behind_links_and_patterns() {
    let folder = workspace();
    let root = folder.path().join("w").canonicalize().expect("it is there");
    let policy = Policy::new([]);
    let check = |directory: &str, line: &str, wanted: Decision| {
        let real = root.join(directory).canonicalize().expect("it is there");
        for mode in [ApprovalMode::Default, ApprovalMode::Yolo] {
            let case = Case {
                workspace: &root,
                directory: Some(&real),
                granted: grants("process=*"),
                mode,
                ..Case::line(&policy, line)
            };
            assert_eq!(case.decision(), wanted, "{line} in {directory}\n{}", case.verdict().explain());
        }
    };
    for (directory, line) in [
        (".git", "cp ../cfg config"),
        (".git", "tee config"),
        (".git", "echo x > config"),
        (".git/hooks", "touch pre-commit"),
        (".git", "tar xf ../x"),
        ("hooks", "tee pre-commit"),
        (".", "cd .git && tee config"),
        (".", "cd hooks; echo x > pre-commit"),
        (".", "tee hooks/pre-commit"),
        (".", "tee settings"),
        (".", "cp cfg set*"),
        (".", "cp cfg ho?ks/x"),
        ("sub", "tee ../settings"),
        ("sub", "cp ../cfg ../.gi*/config"),
        (".", "cp cfg .gi*/config"),
        (".", "cp cfg .gi?/config"),
        (".", "cp cfg .gi[t]/config"),
        (".", "tee .g{it,x}/config"),
        (".", "cp -l .git/config y"),
        (".", "cp -as settings y"),
        (".", "cp --link settings y"),
        (".", "ln settings y"),
        (".", "tar -C .git -xf x"),
        (".", "tar xf x -Chooks"),
        (".", "tar -xf x --directory=.git"),
        (".", "rsync -a --link-dest=.git .git/ y"),
        (".", "install -d .git/a y"),
        (".", "sort -o settings x"),
    ] {
        check(directory, line, Decision::Deny);
    }
    for (directory, line) in [
        (".", "cp cfg sub/y"),
        (".", "cp cfg su*/y"),
        (".", "touch *.x .gitignore"),
        (".", "cp .git/config y"),
        (".", "tee .g{x,y}"),
        ("sub", "tar xf ../x"),
        ("away", "tee y"),
        (".", "tee away/y"),
    ] {
        check(directory, line, Decision::Allow);
    }
}

#[test]
fn policy_folder_that_cannot_be_found_is_asked_about() {
    let policy = policy("[[rule]]\ndecision = \"allow\"\ncommand = \"ls\"\n");
    let argv = ["sh", "-c", "ls"].map(str::to_owned);
    let query = Query {
        tool: &ToolName::new("shell"),
        plugin: None,
        digest: None,
        arguments: &Map::new(),
        argv: Some(&argv),
        directory: Some(Path::new(WORKSPACE)),
        touches: &grants("process=sh"),
        granted: &Grants::none(),
        agent: "main",
        mode: ApprovalMode::Default,
        workspace: Path::new(WORKSPACE),
    };
    assert_eq!(policy.decide(&query).decision, Decision::Allow);
    assert_eq!(policy.decide(&Query { directory: None, ..query }).decision, Decision::Ask);
    assert_eq!(policy.decide(&Query { directory: Some(Path::new("/w/.git")), ..query }).decision, Decision::Ask);
}
