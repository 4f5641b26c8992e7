//! Laws of taking back, over random sequences of changes by a session and by others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host_undo::{Change, Journal, Outcome, State, plan};
use proptest::prelude::*;

/// Something that happens to one of a few files.
#[derive(Clone, Debug)]
enum Event {
    /// The session writes a content, or removes the file.
    Session(usize, Option<u8>),
    /// The session writes a change down, and ends before it happens.
    Killed(usize, u8),
    /// Somebody else writes a content of their own, or removes the file.
    Other(usize, bool),
    /// So many of the last changes are taken back.
    Undo(usize),
}

const FILES: usize = 3;

fn event() -> impl Strategy<Value = Event> {
    let content = || prop::option::weighted(0.8, 0..4_u8);
    prop_oneof![
        4 => (0..FILES, content()).prop_map(|(file, content)| Event::Session(file, content)),
        1 => (0..FILES, 0..4_u8).prop_map(|(file, content)| Event::Killed(file, content)),
        3 => (0..FILES, prop::bool::weighted(0.8)).prop_map(|(file, writes)| Event::Other(file, writes)),
        2 => (1..6_usize).prop_map(Event::Undo),
    ]
}

/// Files, and the session that changes some of them.
struct World {
    folder: PathBuf,
    journal: Journal,
    /// The files that somebody else changed last.
    of_others: BTreeSet<PathBuf>,
    /// How often somebody else wrote.
    written: u32,
}

fn bytes(content: u8) -> Vec<u8> {
    vec![content; 10 + usize::from(content)]
}

impl World {
    fn path(&self, file: usize) -> PathBuf {
        self.folder.join(format!("file{file}"))
    }

    /// Somebody else writes what nobody wrote before, or removes the file.
    fn other(&mut self, file: usize, writes: bool) {
        self.written += 1;
        self.put(file, writes.then(|| format!("somebody wrote this, {}", self.written).into_bytes()));
        self.of_others.insert(self.path(file));
    }

    fn put(&self, file: usize, content: Option<Vec<u8>>) {
        let path = self.path(file);
        match content {
            Some(content) => {
                fs::write(&path, content).expect("written");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
            }
            None => drop(fs::remove_file(&path)),
        }
    }

    fn record(&mut self, file: usize, content: Option<&[u8]>) {
        let path = self.path(file);
        let state = |content: Option<&[u8]>| content.map_or(State::Absent, |content| State::file(content, 0o644));
        let there = fs::read(&path).ok();
        if let Some(there) = &there {
            self.journal.keep(there.as_slice()).expect("kept");
        }
        let (before, after) = (state(there.as_deref()), state(content));
        let change = Change { call: "c".to_owned(), path, before, after, not_kept: None, beside: None };
        self.journal.record(change).expect("recorded");
    }

    fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(&self.folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).expect("read"))).collect()
    }

    /// Takes the last changes back, and returns what became of each file.
    fn undo(&mut self, count: usize) -> Vec<(PathBuf, Outcome)> {
        let changes = self.journal.changes();
        let steps = plan(&changes[changes.len().saturating_sub(count)..]);
        let restore = |step: &host_undo::Step| {
            (step.path.clone(), self.journal.restore(step, "undo").expect("the journal is writable"))
        };
        let outcomes: Vec<_> = steps.iter().map(restore).collect();
        for (path, _) in outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Restored) {
            self.of_others.remove(path);
        }
        outcomes
    }
}

proptest! {
    // promise undo.loses-nothing: Taking changes back never loses a byte that the session did not write.
    #[test]
    fn undo_loses_nothing_that_the_session_did_not_write(events in prop::collection::vec(event(), 1..30)) {
        let folder = tempfile::tempdir().expect("a folder");
        let work = folder.path().canonicalize().expect("it is there").join("work");
        fs::create_dir(&work).expect("made");
        let journal = Journal::open(&folder.path().canonicalize().expect("it is there").join("s.undo")).expect("opened");
        let mut world = World { folder: work, journal, of_others: BTreeSet::new(), written: 0 };
        for event in events {
            match event {
                Event::Session(file, content) => {
                    let content = content.map(bytes);
                    world.record(file, content.as_deref());
                    world.put(file, content);
                    world.of_others.remove(&world.path(file));
                }
                Event::Killed(file, content) => world.record(file, Some(&bytes(content))),
                Event::Other(file, writes) => world.other(file, writes),
                Event::Undo(count) => {
                    let (before, of_others) = (world.contents(), world.of_others.clone());
                    let outcomes = world.undo(count);
                    let after = world.contents();
                    for (path, content) in &before {
                        let outcome = outcomes.iter().find(|(restored, _)| restored == path).map(|(_, outcome)| outcome);
                        // Theirs stays where it is, and so does what no step names.
                        if of_others.contains(path) || outcome != Some(&Outcome::Restored) {
                            prop_assert_eq!(after.get(path), Some(content), "{:?}", outcome);
                        }
                    }
                    prop_assert!(after.keys().all(|path| is_known(&world.folder, path)), "{after:?}");
                    // Taking back what was taken back is as before.
                    let restored = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Restored).count();
                    let again = world.undo(restored);
                    if restored > 0 {
                        prop_assert!(again.iter().all(|(_, outcome)| *outcome == Outcome::Restored), "{again:?}");
                        prop_assert_eq!(world.contents(), before);
                        // And once more, so that the sequence goes on from what was taken back.
                        world.undo(restored);
                        prop_assert_eq!(world.contents(), after);
                    }
                }
            }
        }
    }
}

/// Whether it is one of the files, and nothing that was left beside them.
fn is_known(folder: &Path, path: &Path) -> bool {
    (0..FILES).any(|file| folder.join(format!("file{file}")) == path)
}
