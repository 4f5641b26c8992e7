//! Files that no command may change in any mode: version control's own, the host's, and what a shell runs when it
//! starts. Changing one of them is running something later.
//!
//! This sees what is named literally. What a program decides to write by itself is for the sandbox to stop.

use std::path::Path;

use super::analysis::base_name;
use super::shell::Word;

/// Folders of which nothing may be changed.
const FOLDERS: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".host"];

/// Files that a shell reads when it starts or ends.
const START_FILES: [&str; 14] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".kshrc",
    ".login",
    ".profile",
    ".tcshrc",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Which operands of a program it writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Each.
    All,
    /// The last, or the folder that `-t` names.
    Last,
    /// The file behind `of=`.
    Of,
}

/// Whether nothing in a folder of this name may be changed. Case does not count: to some file systems it does not.
pub(super) fn is_protected_folder(name: &str) -> bool {
    FOLDERS.iter().any(|folder| folder.eq_ignore_ascii_case(name))
}

/// What of the path may not be changed.
pub(super) fn path(target: &Word, workspace: &Path) -> Option<String> {
    text(&target.text, workspace)
}

fn text(target: &str, workspace: &Path) -> Option<String> {
    // Folders above the workspace are not the model's to name.
    let beneath = workspace.to_str().and_then(|workspace| target.strip_prefix(workspace)).unwrap_or(target);
    let mut parts: Vec<&str> = Vec::new();
    for part in beneath.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let start_file = parts.last().is_some_and(|last| START_FILES.iter().any(|file| file.eq_ignore_ascii_case(last)));
    let fish = parts.windows(2).any(|pair| pair == [".config", "fish"]);
    let folder = parts.iter().any(|part| is_protected_folder(part));
    (start_file || fish || folder).then(|| target.replace('\0', "…"))
}

/// What a program that is known to write would change although nothing may.
pub(super) fn writer(words: &[Word], workspace: &Path) -> Option<String> {
    let (name, arguments) = (base_name(words), &words[1..]);
    let written = match name {
        // A link to a protected folder would be another name for it, so what `ln` names counts like what it makes.
        "tee" | "touch" | "rm" | "rmdir" | "unlink" | "mkdir" | "mv" | "chmod" | "chown" | "chgrp" | "truncate"
        | "shred" | "mkfifo" | "mknod" | "patch" | "rename" | "ln" | "link" => Written::All,
        "sed" | "gsed" | "perl" | "ruby" if arguments.iter().any(in_place) => Written::All,
        "cp" | "install" | "rsync" | "scp" => Written::Last,
        "dd" => Written::Of,
        _ => return None,
    };
    let operand = |word: &&Word| !word.text.starts_with('-');
    match written {
        Written::All => arguments.iter().filter(operand).find_map(|word| path(word, workspace)),
        Written::Last => {
            let named = |at: usize, word: &Word| match word.text.as_str() {
                "-t" | "--target-directory" => arguments.get(at + 1).and_then(|word| path(word, workspace)),
                option => {
                    let attached = option.strip_prefix("--target-directory=").or_else(|| option.strip_prefix("-t"));
                    attached.and_then(|target| text(target, workspace))
                }
            };
            let last = arguments.iter().rfind(operand).and_then(|word| path(word, workspace));
            last.or_else(|| arguments.iter().enumerate().find_map(|(at, word)| named(at, word)))
        }
        Written::Of => {
            arguments.iter().filter_map(|word| word.text.strip_prefix("of=")).find_map(|to| text(to, workspace))
        }
    }
}

/// Whether the option makes an editor of streams write its files.
pub(super) fn in_place(word: &Word) -> bool {
    let text = word.text.as_str();
    let bundle = text.starts_with('-') && !text.starts_with("--");
    text.starts_with("--i") || bundle && text.contains('i')
}
