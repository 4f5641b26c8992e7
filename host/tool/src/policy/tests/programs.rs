//! The program behind a name, and what a version manager or git finds besides it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::policy::ProgramEnvironment;

/// A home with a workspace in it, in which each of these files is a program.
fn home(programs: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    fs::create_dir_all(root.join("p/w")).expect("made");
    fs::write(root.join("p/w/README.md"), "x\n").expect("written");
    for program in programs {
        let file = root.join(program);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(&file, "#!/bin/sh\n").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    (folder, root)
}

fn decided(root: &Path, variables: &[(&str, &str)], line: &str) -> Decision {
    let of_root = |value: &str| value.replace('@', root.to_str().expect("text"));
    let set: Vec<(String, String)> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), of_root(value))).collect();
    let set = set.iter().map(|(name, value)| (OsStr::new(name.as_str()), OsStr::new(value.as_str())));
    let text = "[[rule]]\ndecision = \"allow\"\ncommand = \"mytool\"\n";
    let policy = policy(text).letting_read(true).in_environment(ProgramEnvironment::new(set));
    Case { workspace: &root.join("p/w"), ..Case::line(&policy, line) }.decision()
}

#[test]
fn policy_name_of_a_program_counts_only_outside_of_the_workspace() {
    let (_folder, root) = home(&["bin/cat", "bin/mytool", "p/w/bin/cat", "p/tools/mytool", "p/w/mytool"]);
    fs::create_dir(root.join("linked")).expect("made");
    symlink(root.join("p/w/bin/cat"), root.join("linked/cat")).expect("linked");
    symlink("linked/cat", root.join("cat")).expect("linked");
    symlink(root.join("p/w"), root.join("other")).expect("linked");
    let check = |path: &str, line: &str, wanted: Decision| {
        assert_eq!(decided(&root, &[("PATH", path)], line), wanted, "{line} with {path}");
    };
    for line in ["cat README.md", "mytool", "nice cat README.md", "echo x | xargs mytool"] {
        check("@/bin:/usr/bin", line, if line.contains("xargs") { Decision::Ask } else { Decision::Allow });
    }
    for path in ["@/p/w/bin:@/bin", "bin:@/bin", ":@/bin", "@/linked:@/bin", "@/missing:@:@/bin", "@/other/bin:@/bin"] {
        check(path, "cat README.md", Decision::Ask);
        check(path, "nice cat README.md", Decision::Ask);
        check(path, "cd . && sh -c 'cat README.md'", Decision::Ask);
        // What the shell does itself starts nothing.
        check(path, "echo x", Decision::Allow);
    }
    // What comes behind is not what runs, but what that may run.
    check("@/bin:@/p/w/bin", "cat README.md", Decision::Ask);
    check("@/bin:@/p/w/bin", "mytool", Decision::Allow);
    check("@/p/w:@/bin", "mytool", Decision::Ask);
    // The workspace is a part of a repository, all of whose files come with it.
    check("@/p/tools:@/bin", "mytool", Decision::Allow);
    fs::create_dir(root.join("p/.git")).expect("made");
    check("@/p/tools:@/bin", "mytool", Decision::Ask);
    // A home in version control is still the user's.
    fs::rename(root.join("p/.git"), root.join(".git")).expect("moved");
    assert_eq!(decided(&root, &[("PATH", "@/bin"), ("HOME", "@")], "mytool"), Decision::Allow);
    assert_eq!(decided(&root, &[("PATH", "@/bin"), ("HOME", "/h")], "mytool"), Decision::Ask);
}

#[test]
fn policy_program_of_a_version_manager_counts_where_the_project_chooses_none() {
    let (_folder, root) = home(&["manager/shims/cat", "manager/mise"]);
    symlink("mise", root.join("manager/head")).expect("linked");
    let path = [("PATH", "@/manager/shims:@/manager:/usr/bin:/bin")];
    let lines = ["cat README.md", "head README.md"];
    assert!(lines.iter().all(|line| decided(&root, &path, line) == Decision::Allow));
    fs::write(root.join(".tool-versions"), "").expect("written");
    assert!(lines.iter().all(|line| decided(&root, &path, line) == Decision::Allow), "it is the user's");
    for file in [".tool-versions", "mise.toml", ".python-version"] {
        fs::write(root.join("p/w").join(file), "").expect("written");
        assert!(lines.iter().all(|line| decided(&root, &path, line) == Decision::Ask), "{file}");
        assert_eq!(decided(&root, &path, "tail README.md"), Decision::Allow, "it is the system's");
        fs::remove_file(root.join("p/w").join(file)).expect("removed");
    }
}

#[test]
fn policy_shell_in_a_line_is_one_that_reads_lines_alike() {
    let (_folder, root) = home(&["bin/zsh", "bin/dash"]);
    let path = [("PATH", "@/bin")];
    symlink("dash", root.join("bin/sh")).expect("linked");
    assert_eq!(decided(&root, &path, "sh -c 'echo x'"), Decision::Allow);
    fs::remove_file(root.join("bin/sh")).expect("removed");
    symlink("zsh", root.join("bin/sh")).expect("linked");
    for line in ["sh -c 'echo x'", "nice sh -c 'echo x'", "zsh -c 'echo x'"] {
        assert_eq!(decided(&root, &path, line), Decision::Ask, "{line}");
    }
}

#[test]
fn policy_cd_and_git_are_read_with_the_variables_that_they_obey() {
    let (_folder, root) = home(&[]);
    let usual = ("PATH", "/usr/local/bin:/usr/bin:/bin");
    fs::create_dir_all(root.join("p/w/src")).expect("made");
    let ends = std::process::Command::new("git").args(["init", "-q"]).current_dir(root.join("p/w")).status();
    assert!(ends.expect("git is there").success());
    assert_eq!(decided(&root, &[usual], "cd src && git status"), Decision::Allow);
    assert_eq!(decided(&root, &[usual, ("CDPATH", "@")], "cd src && ls"), Decision::Ask);
    assert_eq!(decided(&root, &[usual, ("CDPATH", "@")], "cd ./src && ls"), Decision::Allow);
    for (name, value, wanted) in [
        ("GIT_DIR", "@/x", Decision::Ask),
        ("GIT_WORK_TREE", "/", Decision::Ask),
        ("GIT_COMMON_DIR", "x", Decision::Ask),
        ("GIT_INDEX_FILE", "x", Decision::Ask),
        ("GIT_OBJECT_DIRECTORY", "x", Decision::Ask),
        ("GIT_CONFIG_PARAMETERS", "'diff.external=x'", Decision::Ask),
        ("GIT_CONFIG_GLOBAL", "@/p/w/config", Decision::Ask),
        ("GIT_CONFIG_GLOBAL", "./config", Decision::Ask),
        ("GIT_CONFIG_GLOBAL", "/dev/null", Decision::Allow),
        ("GIT_EXTERNAL_DIFF", "./x", Decision::Ask),
        ("GIT_EXTERNAL_DIFF", "difft", Decision::Allow),
        ("PAGER", "cat", Decision::Allow),
        ("GIT_AUTHOR_NAME", "Ada", Decision::Allow),
    ] {
        assert_eq!(decided(&root, &[usual, (name, value)], "git status"), wanted, "{name}={value}");
    }
}
