//! Settings of a repository that make git run nothing that it would not run without them.
//!
//! A repository can come from anywhere, as an archive with a `.git` folder in it, and what it sets can be a program:
//! `diff.external`, `filter.x.clean`, `core.sshCommand`. So each of its settings has to be on this list. The settings
//! of the user and of the system are theirs.

use crate::address::leads_to_a_server;
use crate::config::{Setting, parse};

/// Whose git reads the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// One that a call starts. The host sets `safe.bareRepository=explicit` and `core.fsmonitor=false` for it, and it
    /// reaches other repositories only through permits of its own.
    Host,
    /// One that the user starts, with nothing around it.
    User,
}

/// The settings that are known to be inert: the section, and its names. [`value_is_inert`] has the few whose value
/// matters.
const INERT: &[(&str, &str)] = &[
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol \
         safecrlf abbrev quotepath longpaths compression loosecompression bigfilethreshold sharedrepository fsmonitor \
         untrackedcache checkstat trustctime preloadindex commentchar whitespace protecthfs protectntfs sparsecheckout \
         sparsecheckoutcone commitgraph multipackindex",
    ),
    ("remote", "url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved"),
    (
        "branch",
        "remote merge rebase pushremote description vscode-merge-base gh-merge-base github-pr-owner-number sort \
         autosetupmerge autosetuprebase",
    ),
    ("submodule", "url active branch"),
    ("user", "name email signingkey useconfigonly"),
    ("author", "name email"),
    ("committer", "name email"),
    ("extensions", "worktreeconfig noop objectformat"),
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
    ("lfs", "repositoryformatversion"),
];

/// Returns whether every setting of a file runs nothing in that git. A file that git would reject has none that are
/// known.
pub fn is_inert(text: &str, whose: Whose) -> bool {
    parse(text).is_some_and(|settings| first_obeyed(&settings, whose).is_none())
}

/// Returns the first setting that may make that git run something.
pub(crate) fn first_obeyed(settings: &[Setting], whose: Whose) -> Option<&Setting> {
    settings.iter().find(|setting| {
        let listed = |(section, names): &(&str, &str)| {
            *section == setting.section && names.split(' ').any(|name| name == setting.name)
        };
        !INERT.iter().any(listed) || whose == Whose::User && !value_is_inert(setting, settings)
    })
}

/// Whether a setting on the list has a value that runs nothing in the user's git.
fn value_is_inert(setting: &Setting, all: &[Setting]) -> bool {
    let value = setting.value.as_deref().unwrap_or_default();
    match (&*setting.section, &*setting.name) {
        // A program, or a daemon that outlives its call.
        ("core", "fsmonitor") => setting.truth() == Some(false),
        // A folder has hooks, and some names are helpers.
        ("remote", "url" | "pushurl") | ("submodule", "url") => leads_to_a_server(value),
        // Where no remote has the name, it is an address.
        ("branch", "remote" | "pushremote") => value == "." || leads_to_a_server(value) || has_remote(all, value),
        _ => true,
    }
}

/// Whether the settings have a remote of this name.
pub(crate) fn has_remote(settings: &[Setting], name: &str) -> bool {
    settings.iter().any(|setting| setting.short() == "remote.url" && setting.part.as_deref() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inert_settings_differ_between_the_hosts_git_and_the_users() {
        for (text, host, user) in [
            ("", true, true),
            ("[core]\n\tbare = false\n", true, true),
            ("[core]\n\tfsmonitor = false\n", true, true),
            ("[core]\n\tfsmonitor = true\n", true, false),
            ("[core]\n\tfsmonitor\n", true, false),
            ("[core]\n\tfsmonitor = touch x\n", true, false),
            ("[remote \"o\"]\n\turl = https://example.com/a\n[branch \"m\"]\n\tremote = o\n", true, true),
            ("[remote \"o\"]\n\turl = /srv/a\n", true, false),
            ("[remote \"o\"]\n\turl = ext::sh -c x\n", true, false),
            ("[remote \"o\"]\n\tpushurl = ../a\n", true, false),
            ("[branch \"m\"]\n\tremote = ../a\n", true, false),
            ("[branch \"m\"]\n\tremote = .\n", true, true),
            ("[submodule \"s\"]\n\turl = ../a\n", true, false),
            ("[submodule \"s\"]\n\tupdate = !touch x\n", false, false),
            ("[core]\n\thooksPath = x\n", false, false),
            ("[core]\n\tworktree = /\n", false, false),
            ("[extensions]\n\trefStorage = reftable\n", false, false),
            ("[core", false, false),
        ] {
            assert_eq!(is_inert(text, Whose::Host), host, "{text:?}");
            assert_eq!(is_inert(text, Whose::User), user, "{text:?}");
        }
    }
}
