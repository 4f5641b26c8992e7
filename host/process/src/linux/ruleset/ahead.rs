//! Rulesets that are made ahead: while a program runs, the ruleset of the next one with the same rules.
//!
//! A rule counts for the folder or file that its path led to when the rule was made, whatever is there later. So a
//! ruleset is used only if each path still leads to what it led to then: what took the place of a folder has the rights
//! that a new rule gives it, and the folder has none any more. The kernel keeps what a rule counts for, so that no
//! other gets its number meanwhile; what is unmounted it lets go, and a mount has a number of its own.
//!
//! A ruleset is used once: the guard of a program adds to it what only that program has.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Statx, StatxFlags, open, statx};

/// The newest version whose rights are handled.
pub(super) const ABI: ABI = ABI::V10;

/// The most rulesets that wait for a program: the calls of a session are of few kinds.
const MOST: usize = 4;

/// `STATX_MNT_ID_UNIQUE` of the kernel's `stat.h`: the number of a mount that no later one gets (Linux 6.8).
const UNIQUE_MOUNT: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// What is asked about a file.
const ABOUT: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO).union(UNIQUE_MOUNT);

/// The rights beneath a path. One that leads to nothing is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) path: PathBuf,
    pub(super) allowed: BitFlags<AccessFs>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    Nothing,
    /// A folder or a file, by the numbers of its mount and its own.
    Something {
        mount: u64,
        device: (u32, u32),
        number: u64,
    },
    /// It is there, and an older kernel has no number for its mount.
    Unknown,
}

/// A ruleset, and what its rules count for.
#[derive(Debug)]
struct Made {
    rules: Vec<Rule>,
    there: Vec<There>,
    /// `None` if the kernel has no such rulesets.
    ruleset: Option<OwnedFd>,
}

static WAITING: Mutex<VecDeque<Made>> = Mutex::new(VecDeque::new());

/// Returns a ruleset with these rules, made now if none waits that still holds.
pub(super) fn ruleset(rules: &[Rule]) -> io::Result<Option<OwnedFd>> {
    let waiting = {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let place = waiting.iter().position(|made| made.rules == rules);
        place.and_then(|place| waiting.remove(place))
    };
    match waiting.filter(Made::is_current) {
        Some(made) => Ok(made.ruleset),
        None => Ok(Made::new(rules.to_vec())?.ruleset),
    }
}

/// Makes the ruleset of a later program with these rules, beside what this thread does.
pub(super) fn make_ahead(rules: Vec<Rule>) {
    static MAKER: OnceLock<Option<SyncSender<Vec<Rule>>>> = OnceLock::new();
    let maker = MAKER.get_or_init(|| {
        let (wanted, wanted_there) = sync_channel(MOST);
        // It owns nothing that its end would have to clear up. Without it each ruleset is made when it is needed.
        std::thread::Builder::new().name("rulesets".to_owned()).spawn(move || make_each(&wanted_there)).ok()?;
        Some(wanted)
    });
    if let Some(maker) = maker {
        // With too much to do it makes none for this one.
        maker.try_send(rules).ok();
    }
}

fn make_each(wanted: &Receiver<Vec<Rule>>) {
    // The program that starts meanwhile goes first.
    crate::yield_to_other_threads();
    for rules in wanted {
        // Programs in a row have the same rules: one waiting ruleset for all of them is enough.
        if WAITING.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|made| made.rules == rules) {
            continue;
        }
        // Who needs it finds out what is wrong.
        let Ok(made) = Made::new(rules) else { continue };
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_front(made);
        let most = MOST.min(waiting.len());
        let old = waiting.split_off(most);
        // A program that starts waits for this lock, and not for the end of a ruleset.
        drop(waiting);
        drop(old);
    }
}

impl Made {
    fn new(rules: Vec<Rule>) -> io::Result<Self> {
        let other = |error: RulesetError| io::Error::other(error);
        let mut created = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI)))
            .and_then(Ruleset::create)
            .map_err(other)?;
        let mut there = Vec::with_capacity(rules.len());
        for rule in &rules {
            let Ok(parent) = open(&rule.path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
                // Remembered too: if the place exists by then, the ruleset lacks a rule for it and is not used.
                there.push(There::Nothing);
                continue;
            };
            // What the rule is for is asked through the descriptor that it is made of.
            let about = statx(parent.as_fd(), c"", AtFlags::EMPTY_PATH, ABOUT).ok();
            let is_file = about.as_ref().is_some_and(|about| !is_folder(about));
            // Landlock rejects a rule for a file that has rights of folders, such as listing.
            let allowed = if is_file { rule.allowed & AccessFs::from_file(ABI) } else { rule.allowed };
            created = created.add_rule(PathBeneath::new(parent, allowed)).map_err(other)?;
            there.push(about.map_or(There::Unknown, |about| There::from_stat(&about)));
        }
        Ok(Self { rules, there, ruleset: created.into() })
    }

    /// Whether each path leads to what its rule counts for, or still to nothing.
    fn is_current(&self) -> bool {
        let is_same = |(rule, known): (&Rule, &There)| *known != There::Unknown && There::at(&rule.path) == *known;
        self.rules.iter().zip(&self.there).all(is_same)
    }
}

impl There {
    fn at(path: &Path) -> Self {
        statx(CWD, path, AtFlags::empty(), ABOUT).map_or(Self::Nothing, |about| Self::from_stat(&about))
    }

    fn from_stat(about: &Statx) -> Self {
        match about.stx_mask & UNIQUE_MOUNT.bits() {
            0 => Self::Unknown,
            _ => Self::Something {
                mount: about.stx_mnt_id,
                device: (about.stx_dev_major, about.stx_dev_minor),
                number: about.stx_ino,
            },
        }
    }
}

fn is_folder(about: &Statx) -> bool {
    FileType::from_raw_mode(about.stx_mode.into()) == FileType::Directory
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ruleset_that_was_made_ahead_is_used_once_and_only_for_what_its_paths_led_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let read = AccessFs::from_read(ABI);
        let rules: Vec<Rule> =
            ["a", "file", "link", "none"].map(|name| Rule { path: root.join(name), allowed: read }).to_vec();
        fs::create_dir(root.join("a")).expect("made");
        fs::create_dir(root.join("b")).expect("made");
        fs::write(root.join("file"), "").expect("written");
        std::os::unix::fs::symlink("a", root.join("link")).expect("linked");
        let made = || Made::new(rules.clone()).expect("made");
        let first = made();
        if first.there.contains(&There::Unknown) || super::super::version() == 0 {
            // An older kernel, on which each ruleset is made when it is needed.
            assert!(!first.is_current());
            return;
        }
        assert!(first.is_current());
        // What is in a folder, and what is in a file, does not matter.
        fs::write(root.join("a/x"), "").expect("written");
        fs::write(root.join("file"), "changed").expect("written");
        assert!(first.is_current());
        type Change = fn(&Path);
        let changes: [Change; 5] = [
            |root| fs::write(root.join("none"), "").expect("written"),
            |root| fs::remove_file(root.join("none")).expect("removed"),
            |root| {
                fs::write(root.join("new"), "").expect("written");
                fs::rename(root.join("new"), root.join("file")).expect("replaced");
            },
            |root| {
                fs::remove_dir_all(root.join("a")).expect("removed");
                fs::create_dir(root.join("a")).expect("made");
            },
            |root| {
                fs::remove_file(root.join("link")).expect("removed");
                std::os::unix::fs::symlink("b", root.join("link")).expect("linked");
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let before = made();
            change(root);
            assert!(!before.is_current(), "change {number} goes unseen");
            assert!(made().is_current(), "change {number}");
        }
        let waits = || WAITING.lock().expect("locked").iter().any(|made| made.rules == rules);
        WAITING.lock().expect("locked").push_front(made());
        assert!(ruleset(&rules).expect("made").is_some() && !waits());
        let fewer = &rules[..3];
        WAITING.lock().expect("locked").push_front(made());
        assert!(ruleset(fewer).expect("made").is_some() && waits(), "it is another one's");
    }
}
