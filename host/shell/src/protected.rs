//! Files that no command may change in any mode: version control's own, the host's, and what a shell runs when it
//! starts. Changing one of them is running something later.
//!
//! This sees what is named literally. What a program decides to write by itself is for the sandbox to stop.

use std::path::Path;

use super::analysis::{Place, base_name};
use super::line::Word;

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
pub(super) fn path(target: &Word, place: Place<'_>) -> Option<String> {
    text(&target.text, place)
}

fn text(target: &str, place: Place<'_>) -> Option<String> {
    // Folders above the workspace are not the model's to name.
    let beneath = place.workspace.to_str().and_then(|workspace| target.strip_prefix(workspace)).unwrap_or(target);
    let parts = normal(beneath);
    let start_file = parts.last().is_some_and(|last| START_FILES.iter().any(|file| file.eq_ignore_ascii_case(last)));
    let fish = parts.windows(2).any(|pair| pair == [".config", "fish"]);
    let folder = parts.iter().any(|part| is_protected_folder(part));
    let own = place.own.iter().any(|own| is_within(target, own, place.workspace));
    (start_file || fish || folder || own).then(|| target.replace('\0', "…"))
}

/// The parts of a path, with `.` and `..` taken as written.
fn normal(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// Whether the path is the folder or lies in it. Where it begins with what is known only when it runs,
/// such as `~` or a variable, the folder's last two names stand for it.
fn is_within(target: &str, folder: &Path, workspace: &Path) -> bool {
    let Some(folder) = folder.to_str().map(normal) else { return false };
    if target.starts_with(['~', '\0']) {
        let last = &folder[folder.len().saturating_sub(2)..];
        return !last.is_empty() && normal(target).windows(last.len()).any(|names| names == last);
    }
    let absolute = workspace.join(target);
    absolute.to_str().is_some_and(|path| normal(path).starts_with(&folder))
}

/// What a program that is known to write would change although nothing may.
pub(super) fn writer(words: &[Word], place: Place<'_>) -> Option<String> {
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
        Written::All => arguments.iter().filter(operand).find_map(|word| path(word, place)),
        Written::Last => {
            let named = |at: usize, word: &Word| match word.text.as_str() {
                "-t" | "--target-directory" => arguments.get(at + 1).and_then(|word| path(word, place)),
                option => {
                    let attached = option.strip_prefix("--target-directory=").or_else(|| option.strip_prefix("-t"));
                    attached.and_then(|target| text(target, place))
                }
            };
            let last = arguments.iter().rfind(operand).and_then(|word| path(word, place));
            last.or_else(|| arguments.iter().enumerate().find_map(|(at, word)| named(at, word)))
        }
        Written::Of => arguments.iter().filter_map(|word| word.text.strip_prefix("of=")).find_map(|to| text(to, place)),
    }
}

/// Whether the option makes an editor of streams write its files.
pub(super) fn in_place(word: &Word) -> bool {
    let text = word.text.as_str();
    let bundle = text.starts_with('-') && !text.starts_with("--");
    text.starts_with("--i") || bundle && text.contains('i')
}
