//! Whether git, where a shell is, reads a repository whose own settings make it run nothing.
//!
//! A repository can come from anywhere, as an archive with a `.git` folder in it, and what it sets can be a program:
//! `diff.external`, `filter.x.clean`, `core.sshCommand`, the hook `post-index-change`. So each of its settings has to be
//! one of those that are known to run nothing. The settings of the user and of the system are theirs.
//!
//! The host sets `safe.bareRepository=explicit` and `core.fsmonitor=false` for every program, and a pager that prints.

use std::path::{Path, PathBuf};

use super::index::has_submodules;

/// The largest file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 64 << 10;

/// The largest index that is read, in bytes: that of a repository with 400,000 files.
const MAX_INDEX: u64 = 48 << 20;

/// The largest `.git` or `commondir`, each of which holds one path.
const MAX_POINTER: u64 = 8 << 10;

/// The settings that make git run nothing that it would not run without them: the section, and its names.
const INERT: &[(&str, &str)] = &[
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol \
         safecrlf abbrev quotepath longpaths compression loosecompression bigfilethreshold sharedrepository fsmonitor \
         untrackedcache checkstat trustctime preloadindex commentchar whitespace protecthfs protectntfs",
    ),
    ("remote", "url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved"),
    (
        "branch",
        "remote merge rebase pushremote description vscode-merge-base gh-merge-base github-pr-owner-number sort \
         autosetupmerge autosetuprebase",
    ),
    ("user", "name email signingkey useconfigonly"),
    ("author", "name email"),
    ("committer", "name email"),
    ("extensions", "worktreeconfig noop"),
    ("init", "defaultbranch"),
    ("pull", "rebase ff octopus twohead"),
    ("push", "default followtags autosetupremote recursesubmodules useforceifincludes gpgsign"),
    ("fetch", "prune prunetags parallel writecommitgraph all output"),
    ("rebase", "autosquash autostash updaterefs stat missingcommitscheck"),
    ("merge", "conflictstyle ff renames renamelimit stat log directoryrenames"),
    ("commit", "gpgsign verbose status cleanup"),
    ("tag", "gpgsign sort forcesignannotated"),
    ("log", "date decorate abbrevcommit follow mailmap"),
    ("status", "short branch showuntrackedfiles showstash relativepaths aheadbehind"),
    (
        "diff",
        "algorithm renames renamelimit context interhunkcontext noprefix mnemonicprefix colormoved wserrorhighlight",
    ),
    ("color", "ui branch diff status grep interactive"),
    ("gc", "auto autopacklimit prunedexpire pruneexpire reflogexpire reflogexpireunreachable autodetach"),
    ("pack", "threads windowmemory packsizelimit deltacachesize writebitmaphashcache"),
    ("index", "version threads"),
    ("rerere", "enabled autoupdate"),
    ("maintenance", "auto strategy"),
    ("checkout", "defaultremote guess workers"),
];

/// Whether the repository in which a shell is has only settings that run nothing. It must be there: outside of one,
/// some commands compare any two files.
pub(super) fn is_inert(shell: &Path) -> bool {
    let Some(top) = shell.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()) else { return false };
    let Some(git) = folder_of(&top.join(".git")) else { return false };
    let Some(common) = common_of(&git) else { return false };
    let settings = [common.join("config"), git.join("config.worktree"), common.join("config.worktree")];
    let has = |path: PathBuf| path.symlink_metadata().is_ok();
    settings.iter().all(|path| !has(path.clone()) || settings_are_inert(path))
        // A hook that runs when git writes down what it saw of the files.
        && !has(common.join("hooks/post-index-change"))
        // Objects of other repositories would be read.
        && !has(common.join("objects/info/alternates"))
        // Git looks into submodules, which have settings of their own.
        && !has(common.join("modules"))
        && index_is_plain(&git.join("index"))
}

/// Returns the settings that a repository shares with its work trees, `None` if a shell is in none.
pub(super) fn settings(shell: &Path) -> Option<String> {
    let top = shell.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let config = common_of(&folder_of(&top.join(".git"))?)?.join("config");
    let is_file = config.metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| host_files::read_text(&config, MAX_SETTINGS).ok()).flatten()
}

/// Returns git's own folder: `.git`, or the one that the file `.git` of a work tree names.
fn folder_of(git: &Path) -> Option<PathBuf> {
    let kind = git.symlink_metadata().ok()?.file_type();
    if kind.is_dir() {
        return git.canonicalize().ok();
    }
    let text = host_files::read_text(git, MAX_POINTER).ok().filter(|_| kind.is_file())?;
    let path = text.trim_end_matches(['\r', '\n']).strip_prefix("gitdir: ")?;
    git.parent()?.join(path).canonicalize().ok()
}

/// Returns the folder that a work tree shares with its repository, or else git's own.
fn common_of(git: &Path) -> Option<PathBuf> {
    let pointer = git.join("commondir");
    if pointer.symlink_metadata().is_err() {
        return Some(git.to_path_buf());
    }
    let text = host_files::read_text(&pointer, MAX_POINTER).ok()?;
    git.join(text.trim_end_matches(['\r', '\n'])).canonicalize().ok()
}

fn index_is_plain(index: &Path) -> bool {
    if index.symlink_metadata().is_err() {
        return true;
    }
    match host_files::read_file(index, MAX_INDEX) {
        Ok(bytes) => has_submodules(&bytes) == Some(false),
        Err(_) => false,
    }
}

fn settings_are_inert(path: &Path) -> bool {
    host_files::read_text(path, MAX_SETTINGS).is_ok_and(|text| text_is_inert(&text))
}

/// Whether every line of a file of settings is empty, a comment, the head of a section, or a setting that is known to run
/// nothing. A line that could be read in another way is none of these.
pub(super) fn text_is_inert(text: &str) -> bool {
    let mut section = String::new();
    text.trim_start_matches('\u{feff}').split('\n').all(|line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        // The next line would go on with it.
        if line.ends_with('\\') {
            return false;
        }
        if let Some(head) = line.strip_prefix('[') {
            let Some(head) = head.strip_suffix(']') else { return false };
            let (name, sub) = head.split_once(' ').unwrap_or((head, "\"\""));
            let sub = sub.trim().strip_prefix('"').and_then(|sub| sub.strip_suffix('"'));
            section = name.to_ascii_lowercase();
            return name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && sub.is_some_and(|sub| !sub.contains(['"', '\\', ']']));
        }
        let name = line.split(['=', ' ', '\t', '#', ';']).next().unwrap_or_default().to_ascii_lowercase();
        INERT.iter().any(|(known, names)| *known == section && names.split(' ').any(|known| known == name))
    })
}
