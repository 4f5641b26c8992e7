//! The repository that a folder lies in.

use std::path::Path;

/// Names that mark the top folder of a repository.
pub const REPOSITORY_MARKS: &[&str] = &[".git", ".hg", ".jj", ".svn", ".host"];

/// The top folder of the repository that contains a folder.
pub fn repository_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| REPOSITORY_MARKS.iter().any(|mark| above.join(mark).symlink_metadata().is_ok()))
}

/// The largest `HEAD`, and the largest `.git` that is a file, in bytes. Protects memory: each is one line.
const MAX_HEAD: u64 = 4 << 10;

/// The longest name of a branch that is returned, in characters. Protects the place where it is shown.
const BRANCH: usize = 60;

/// The digits of a commit that are returned if no branch is checked out, as git shortens it.
const COMMIT_DIGITS: usize = 7;

/// Returns the git branch that is checked out where a folder lies, or the beginning of the commit's id, safe to show; `None`
/// without git, or if it cannot be read.
///
/// Only `.git/HEAD` is read, or the `HEAD` of the folder that `.git` names as a file: links are not followed, and no program
/// runs, since git obeys what a repository configures.
pub fn branch(folder: &Path) -> Option<String> {
    let root = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let git = root.join(".git");
    let read = |path: &Path| String::from_utf8(host_files::read_found(path, MAX_HEAD).ok()?).ok();
    let head = match git.symlink_metadata().ok()?.is_dir() {
        true => read(&git.join("HEAD"))?,
        // A working tree beside the repository, or a submodule.
        false => read(&root.join(read(&git)?.strip_prefix("gitdir:")?.trim()).join("HEAD"))?,
    };
    let head = head.trim_end();
    if let Some(name) = head.strip_prefix("ref:") {
        let name = name.trim_start();
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        let end = name.char_indices().nth(BRANCH).map(|(end, _)| end);
        let shown = host_text::exact(name.get(..end.unwrap_or(name.len()))?).into_owned();
        return (!name.is_empty()).then(|| if end.is_some() { shown + "…" } else { shown });
    }
    let is_commit = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    head.get(..COMMIT_DIGITS).filter(|_| is_commit).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        fs::create_dir_all(root.join(".git")).expect("made");
        fs::create_dir_all(root.join("src/deep")).expect("made");
        (folder, root)
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
        let long = branch(&root).expect("a name");
        assert!(long.chars().count() == BRANCH + 1, "{long}");
        fs::write(root.join(".git/HEAD"), "x".repeat(1 << 16)).expect("written");
        assert_eq!(branch(&root), None, "too large");
    }

    #[test]
    fn branch_follows_no_link_and_waits_for_no_pipe() {
        let (_folder, root) = repository();
        let secret = root.join("secret");
        fs::write(&secret, "ref: refs/heads/secret\n").expect("written");
        std::os::unix::fs::symlink(&secret, root.join(".git/HEAD")).expect("linked");
        assert_eq!(branch(&root), None, "a link");
        fs::remove_file(root.join(".git/HEAD")).expect("removed");
        fs::create_dir(root.join(".git/HEAD")).expect("made");
        assert_eq!(branch(&root), None, "a folder");
        fs::remove_dir(root.join(".git/HEAD")).expect("removed");
        let pipe = std::ffi::CString::new(root.join(".git/HEAD").to_str().expect("text")).expect("no zero");
        rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
        assert_eq!(branch(&root), None, "a pipe");
    }

    #[test]
    fn branch_of_a_working_tree_is_in_the_folder_that_its_file_names() {
        let (_folder, root) = repository();
        let tree = root.join("tree");
        fs::create_dir_all(root.join(".git/worktrees/tree")).expect("made");
        fs::create_dir(&tree).expect("made");
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(root.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/other\n").expect("written");
        let absolute = root.join(".git/worktrees/tree");
        for named in [absolute.to_str().expect("text"), "../.git/worktrees/tree"] {
            fs::write(tree.join(".git"), format!("gitdir: {named}\n")).expect("written");
            assert_eq!(branch(&tree).as_deref(), Some("other"), "{named}");
        }
        for wrong in ["gitdir: /nonexistent", "something else", ""] {
            fs::write(tree.join(".git"), wrong).expect("written");
            assert_eq!(branch(&tree), None, "{wrong}");
        }
        assert_eq!(branch(&root).as_deref(), Some("main"));
    }
}
