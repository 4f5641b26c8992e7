//! Which changes of a repository's settings come back from a program: those that run nothing in the user's git and
//! change no address that it has.
//!
//! The settings that are not on the list have to be the same as before, in the same order. New remotes may come, and
//! branches may follow a remote that was there before.

use std::path::{Component, Path, PathBuf};

use crate::address::leads_to_a_server;
use crate::config::Setting;
use crate::inert::has_remote;
use crate::names::{is_git_folder, is_ref, is_ref_part};

/// What a value has to be.
#[derive(Clone, Copy)]
enum Rule {
    /// Any text: it is shown, or compared.
    Text,
    /// True or false.
    Truth,
    /// One of these, in lower case.
    Word(&'static str),
    /// A remote that the repository had before, or itself (`.`): elsewhere the user's `git push` would go.
    Remote,
    /// The name of a ref.
    Ref,
    /// A branch.
    Branch,
    /// What `git fetch` brings to which refs.
    Refspec,
    /// The address of a server, for a name that had none before.
    NewAddress,
    /// The same, or an address that the repository's own settings have already.
    SubmoduleAddress,
    /// True or false, and only in a repository that is new.
    New(&'static str),
    /// The folder of a submodule's files, if it had none. `git submodule deinit` takes it away.
    Submodule,
}

const REBASE: &str = "true false merges interactive m i";

/// The settings that may change: the section, its names, what the value has to be.
const CARRIED: &[(&str, &str, Rule)] = &[
    ("core", "filemode ignorecase precomposeunicode symlinks sparsecheckout sparsecheckoutcone quotepath", Rule::Truth),
    ("core", "autocrlf", Rule::Word("true false input")),
    ("core", "eol", Rule::Word("lf crlf native")),
    ("core", "logallrefupdates", Rule::Word("true false always")),
    ("core", "repositoryformatversion", Rule::New("0 1")),
    ("core", "bare", Rule::New("false")),
    ("core", "worktree", Rule::Submodule),
    ("branch", "remote", Rule::Remote),
    ("branch", "merge", Rule::Ref),
    ("branch", "rebase", Rule::Word(REBASE)),
    ("branch", "description vscode-merge-base gh-merge-base github-pr-owner-number", Rule::Text),
    ("user", "name email", Rule::Text),
    ("user", "useconfigonly", Rule::Truth),
    ("remote", "url pushurl", Rule::NewAddress),
    ("remote", "fetch", Rule::Refspec),
    ("remote", "tagopt", Rule::Word("--tags --no-tags")),
    ("remote", "prune prunetags skipdefaultupdate skipfetchall", Rule::Truth),
    ("submodule", "url", Rule::SubmoduleAddress),
    ("submodule", "active", Rule::Truth),
    ("submodule", "branch", Rule::Branch),
    ("init", "defaultbranch", Rule::Branch),
    ("pull", "rebase", Rule::Word(REBASE)),
    ("pull", "ff", Rule::Word("true false only")),
    ("push", "default", Rule::Word("nothing current upstream tracking simple matching")),
    ("push", "autosetupremote followtags", Rule::Truth),
    ("fetch", "prune prunetags", Rule::Truth),
    ("rebase", "autosquash autostash updaterefs", Rule::Truth),
    ("merge", "ff", Rule::Word("true false only")),
    ("merge", "conflictstyle", Rule::Word("merge diff3 zdiff3")),
    ("rerere", "enabled autoupdate", Rule::Truth),
    ("lfs", "repositoryformatversion", Rule::Word("0")),
];

/// A repository whose settings changed.
pub(crate) struct Around<'a> {
    /// Its settings before; `None` for a repository that is new.
    pub(crate) before: Option<&'a [Setting]>,
    /// Addresses that the user's own settings have, which a new submodule may have too.
    pub(crate) known: &'a [String],
    /// Git's own folder, by its real path.
    pub(crate) folder: &'a Path,
    /// The folders in which the files of a new submodule may be.
    pub(crate) within: &'a [PathBuf],
    /// Whether it is a submodule's.
    pub(crate) submodule: bool,
}

impl Around<'_> {
    /// Returns whether the settings may take the place of those before.
    ///
    /// # Errors
    ///
    /// The key of the first setting that may not change.
    pub(crate) fn check(&self, after: &[Setting]) -> Result<(), String> {
        let before = self.before.unwrap_or_default();
        let fixed = |setting: &&Setting| rule(setting).is_none();
        let (mut old, mut new) = (before.iter().filter(fixed), after.iter().filter(fixed));
        loop {
            // In order, since a later setting overrides an earlier one.
            match (old.next(), new.next()) {
                (None, None) => break,
                (one, other) if one == other => {}
                (one, other) => return Err(other.or(one).map(Setting::key).unwrap_or_default()),
            }
        }
        // A setting may stand several times. What was there with the same value in the same number is not a change.
        let count = |all: &[Setting], wanted: &Setting| all.iter().filter(|setting| *setting == wanted).count();
        let changed = |setting: &&Setting| count(after, setting) != count(before, setting);
        for setting in after.iter().filter(changed) {
            if !rule(setting).is_some_and(|rule| self.allows(setting, rule, after)) {
                return Err(setting.key());
            }
        }
        // An address that goes away makes room for another one in the next call.
        let lost = before.iter().filter(|setting| !after.contains(setting));
        for setting in lost {
            match rule(setting) {
                Some(Rule::Submodule) if self.submodule => {}
                Some(Rule::NewAddress | Rule::New(_) | Rule::Submodule) | None => return Err(setting.key()),
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn allows(&self, setting: &Setting, rule: Rule, after: &[Setting]) -> bool {
        let value = setting.value.as_deref().unwrap_or_default();
        let word = |words: &str| words.split(' ').any(|word| word == value.to_ascii_lowercase());
        let before = self.before.unwrap_or_default();
        match rule {
            Rule::Text => true,
            Rule::Truth => setting.truth().is_some(),
            Rule::Word(words) => word(words) || setting.value.is_none() && words.starts_with("true"),
            Rule::Remote => value == "." || has_remote(self.before.unwrap_or(after), value),
            Rule::Ref => is_ref(value.as_bytes()),
            Rule::Branch => is_ref_part(value.as_bytes()) || value == ".",
            Rule::Refspec => is_refspec(value),
            Rule::NewAddress => {
                let named = setting.part.as_deref().is_some_and(|name| is_ref_part(name.as_bytes()));
                let had = setting.part.as_deref().is_some_and(|name| has_remote(before, name));
                // Only to a remote that is new: an address besides would send pushes of an old one elsewhere as well.
                named && !had && (leads_to_a_server(value) || self.is_known(value))
            }
            Rule::SubmoduleAddress => {
                let had = before.iter().any(|old| old.key() == setting.key());
                !had && (leads_to_a_server(value) || self.is_known(value))
            }
            Rule::New(words) => self.before.is_none() && word(words),
            Rule::Submodule => {
                let had = before.iter().any(|old| old.key() == setting.key());
                // Git writes files there: it must be the folder of the submodule and no other.
                self.submodule && !had && self.holds_worktree(value)
            }
        }
    }

    /// A new submodule is fetched from where the user's settings say, which can be a folder.
    fn is_known(&self, address: &str) -> bool {
        self.before.is_none() && self.known.iter().any(|known| known == address)
    }

    fn holds_worktree(&self, value: &str) -> bool {
        let Some(path) = resolve(self.folder, Path::new(value)) else { return false };
        self.within.iter().filter_map(|within| path.strip_prefix(within).ok()).any(|beneath| {
            !beneath.as_os_str().is_empty() && !beneath.iter().any(|part| is_git_folder(part.as_encoded_bytes()))
        })
    }
}

/// Returns the rule for a setting that may change.
fn rule(setting: &Setting) -> Option<Rule> {
    let listed = |(section, names, _): &&(&str, &str, Rule)| {
        *section == setting.section && names.split(' ').any(|name| name == setting.name)
    };
    CARRIED.iter().find(listed).map(|(_, _, rule)| *rule)
}

fn is_refspec(value: &str) -> bool {
    let value = value.strip_prefix(['+', '^']).unwrap_or(value);
    let side = |side: &str| {
        // One star is allowed, which a name cannot have.
        side == "HEAD" || is_ref(side.replacen('*', "x", 1).as_bytes())
    };
    match value.split_once(':') {
        Some((from, to)) => side(from) && to.starts_with("refs/") && side(to),
        None => side(value),
    }
}

/// Returns a path from a folder on, without looking at the files: `None` if it leads above the root.
pub(crate) fn resolve(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut resolved = PathBuf::new();
    // By its text, as git does it: looking at links would give another place than git uses.
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                if !resolved.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
    }
    Some(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    const BEFORE: &str = "[core]\n\tbare = false\n\thooksPath = .husky\n\
                          [remote \"origin\"]\n\turl = https://a.example/a\n\
                          [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
                          [submodule \"s\"]\n\turl = /srv/s\n";

    fn check(before: Option<&str>, after: &str) -> Result<(), String> {
        let before = before.map(|before| parse(before).expect("settings"));
        let known = ["/srv/s".to_owned()];
        let folder = Path::new("/w/.git/modules/s");
        let within = [PathBuf::from("/w")];
        let submodule = before.is_none();
        let around = Around { before: before.as_deref(), known: &known, folder, within: &within, submodule };
        around.check(&parse(after).expect("settings"))
    }

    #[test]
    fn settings_that_run_nothing_and_lead_nowhere_else_may_change() {
        for added in [
            "",
            "[branch \"x/y\"]\n\tremote = origin\n\tmerge = refs/heads/x/y\n\trebase = true\n\tdescription = X\n",
            "[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n",
            "[user]\n\tname = Ada\n\temail = ada@example.com\n",
            "[remote \"up\"]\n\turl = git@b.example:a/b.git\n\ttagOpt = --no-tags\n\
             \tfetch = +refs/heads/*:refs/remotes/up/*\n",
            "[remote \"origin\"]\n\tfetch = +refs/pull/*/head:refs/remotes/origin/pr/*\n\tprune = true\n",
            "[pull]\n\trebase\n[push]\n\tdefault = simple\n\tautoSetupRemote = true\n",
            "[submodule \"t\"]\n\turl = https://a.example/t\n\tactive = true\n",
            "[core]\n\tsparseCheckout = true\n\tautocrlf = input\n",
        ] {
            assert_eq!(check(Some(BEFORE), &format!("{BEFORE}{added}")), Ok(()), "{added}");
        }
        let without = BEFORE.replace("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", "");
        assert_eq!(check(Some(BEFORE), &without), Ok(()), "a branch was removed");
        let without = BEFORE.replace("[remote \"origin\"]\n\turl = https://a.example/a\n", "");
        assert_eq!(check(Some(BEFORE), &without), Err("remote.origin.url".to_owned()), "another may follow");
        let module = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../../../s\n\
                      [remote \"origin\"]\n\
                      \turl = /srv/s\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert_eq!(check(None, module), Ok(()));
    }

    #[test]
    fn settings_that_run_something_or_lead_elsewhere_leave_the_whole_file() {
        for (added, key) in [
            ("[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"),
            ("[core] sshCommand = touch x\n", "core.sshcommand"),
            ("[core]\n\thooksPath = .husky\n", "core.hookspath"),
            ("[core]\n\tbare = true\n", "core.bare"),
            ("[core]\n\tworktree = ../x\n", "core.worktree"),
            ("[core]\n\trepositoryformatversion = 1\n", "core.repositoryformatversion"),
            ("[include]\n\tpath = x\n", "include.path"),
            ("[diff \"x\"]\n\ttextconv = x\n", "diff.x.textconv"),
            ("[remote \"origin\"]\n\turl = https://b.example/a\n", "remote.origin.url"),
            ("[remote \"origin\"]\n\tpushurl = https://b.example/a\n", "remote.origin.pushurl"),
            ("[remote \"x\"]\n\turl = ext::sh -c x\n", "remote.x.url"),
            ("[remote \"x\"]\n\turl = /srv/x\n", "remote.x.url"),
            ("[remote \"x\"]\n\turl = /srv/s\n", "remote.x.url"),
            ("[remote \"-x\"]\n\turl = https://b.example/x\n", "remote.-x.url"),
            ("[remote \"x\"]\n\tuploadpack = x\n", "remote.x.uploadpack"),
            ("[remote]\n\tpushDefault = x\n", "remote.pushdefault"),
            ("[remote \"x\"]\n\turl = https://b.example/x\n[branch \"main\"]\n\tremote = x\n", "branch.main.remote"),
            ("[branch \"main\"]\n\tremote = ../x\n", "branch.main.remote"),
            ("[branch \"main\"]\n\tpushRemote = origin\n", "branch.main.pushremote"),
            ("[branch \"main\"]\n\tmerge = x\n", "branch.main.merge"),
            ("[submodule \"s\"]\n\tupdate = !touch x\n", "submodule.s.update"),
            ("[submodule \"s\"]\n\turl = https://b.example/s\n", "submodule.s.url"),
            ("[submodule \"t\"]\n\turl = /srv/t\n", "submodule.t.url"),
            ("[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig"),
            ("[alias]\n\tst = !x\n", "alias.st"),
            ("[remote \"x\"]\n\tfetch = x:y\n", "remote.x.fetch"),
        ] {
            assert_eq!(check(Some(BEFORE), &format!("{BEFORE}{added}")), Err(key.to_owned()), "{added}");
        }
        let without = BEFORE.replace("\thooksPath = .husky\n", "");
        assert_eq!(check(Some(BEFORE), &without), Err("core.hookspath".to_owned()));
        let replaced = BEFORE.replace("a.example", "b.example");
        assert_eq!(check(Some(BEFORE), &replaced), Err("remote.origin.url".to_owned()));
        for (worktree, taken) in [("../../../s", true), ("../../..", false), ("../../hooks", false), ("/etc", false)] {
            assert_eq!(check(None, &format!("[core]\n\tworktree = {worktree}\n")).is_ok(), taken, "{worktree}");
        }
    }
}
