//! Laws of taking back what programs and calls change, over random sequences with changes by others among them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_undo::{CallRecorder, Journal, Old, Outcome, Recorder, State, Step, plan};
use proptest::prelude::*;

/// Paths that are sometimes files, sometimes folders and sometimes links.
const PATHS: [&str; 6] = ["a", "b", "d", "d/x", "d/y", "d/e/z"];

#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Remove(usize),
    MakeFolder(usize),
    Link(usize, u8),
    Rename(usize, usize),
    Mode(usize, bool),
}

#[derive(Clone, Debug)]
enum Event {
    /// A call changes a file through the host.
    Call(usize, Option<u8>),
    /// A call runs a program.
    Program(Vec<Act>),
    /// Somebody else changes something, while no program runs.
    Other(Act),
    /// So many of the last calls are taken back.
    Undo(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let at = || 0..PATHS.len();
    prop_oneof![
        5 => (at(), any::<u8>()).prop_map(|(at, content)| Act::Write(at, content)),
        3 => at().prop_map(Act::Remove),
        2 => at().prop_map(Act::MakeFolder),
        1 => (at(), any::<u8>()).prop_map(|(at, target)| Act::Link(at, target)),
        2 => (at(), at()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (at(), any::<bool>()).prop_map(|(at, private)| Act::Mode(at, private)),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..PATHS.len(), prop::option::weighted(0.8, any::<u8>())).prop_map(|(at, new)| Event::Call(at, new)),
        4 => prop::collection::vec(act(), 1..5).prop_map(Event::Program),
        2 => act().prop_map(Event::Other),
        2 => (1..4_usize).prop_map(Event::Undo),
    ]
}

/// What is at each path.
type Tree = BTreeMap<PathBuf, String>;

struct World {
    root: PathBuf,
    recorder: Arc<Recorder>,
    calls: usize,
    /// How often somebody else wrote.
    written: u32,
}

impl World {
    fn new(folder: &Path) -> Self {
        let root = folder.join("work");
        fs::create_dir(&root).expect("made");
        let recorder = Recorder::new(folder.join("s.undo"), Box::new(|_| Box::new(|_| false)));
        recorder.set_roots([root.as_path()]);
        Self { root, recorder: Arc::new(recorder), calls: 0, written: 0 }
    }

    fn path(&self, at: usize) -> PathBuf {
        self.root.join(PATHS[at])
    }

    fn call(&mut self) -> CallRecorder {
        self.calls += 1;
        CallRecorder::new(Arc::clone(&self.recorder), &format!("c{}", self.calls))
    }

    /// Does something, as far as it can be done.
    fn act(&self, act: &Act, by: &str) {
        match act {
            Act::Write(at, content) => {
                let path = self.path(*at);
                fs::create_dir_all(path.parent().expect("it has one")).ok();
                // Never through a link: what is behind it is a path of its own.
                if !path.is_symlink() {
                    fs::write(path, format!("{by} {content}")).ok();
                }
            }
            Act::Remove(at) => {
                let path = self.path(*at);
                if path.is_dir() && !path.is_symlink() {
                    fs::remove_dir_all(path).ok();
                } else {
                    fs::remove_file(path).ok();
                }
            }
            Act::MakeFolder(at) => drop(fs::create_dir_all(self.path(*at))),
            Act::Link(at, target) => drop(symlink(format!("nowhere{target}"), self.path(*at))),
            Act::Rename(from, to) => drop(fs::rename(self.path(*from), self.path(*to))),
            Act::Mode(at, private) => {
                let path = self.path(*at);
                if !path.is_symlink() {
                    let mode = if *private { 0o700 } else { 0o755 };
                    fs::set_permissions(path, fs::Permissions::from_mode(mode)).ok();
                }
            }
        }
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let about = fs::symlink_metadata(&path).expect("it is there");
                let mode = about.permissions().mode() & 0o7777;
                let what = if about.is_dir() {
                    folders.push(path.clone());
                    format!("folder {mode:o}")
                } else if about.is_symlink() {
                    format!("link {}", fs::read_link(&path).expect("a link").display())
                } else {
                    format!("file {mode:o} {}", fs::read_to_string(&path).expect("text"))
                };
                tree.insert(path, what);
            }
        }
        tree
    }

    /// Takes the last calls back.
    fn undo(&mut self, calls: usize) -> Vec<(Step, Outcome)> {
        self.calls += 1;
        let call = format!("c{}", self.calls);
        let undone = self.recorder.with_journal(|journal| {
            let mut names: Vec<&str> = journal.changes().iter().map(|change| change.call.as_str()).collect();
            names.dedup();
            let taken: BTreeSet<&str> = names.iter().rev().take(calls).copied().collect();
            let from = journal.changes().iter().position(|change| taken.contains(change.call.as_str()));
            let steps = plan(&journal.changes()[from.unwrap_or(journal.changes().len())..]);
            journal.restore_all(steps, &call)
        });
        undone.expect("it is open").expect("it can be written")
    }
}

/// Makes a folder in a folder, so many times, as a program can: the path of the last one is too long for any call that
/// takes a path.
fn nest(root: &Path, name: &str, depth: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let mut folder: std::os::fd::OwnedFd = fs::File::open(root).expect("a folder").into();
    for _ in 0..depth {
        mkdirat(&folder, name, Mode::RWXU).expect("made");
        folder = openat(&folder, name, OFlags::DIRECTORY, Mode::empty()).expect("opened");
    }
}

/// Removes them. Library functions go down with a file descriptor or a stack frame for each.
fn flatten(root: &Path, name: &str) {
    let (outer, inner) = (root.join(name), root.join("inner"));
    while fs::rename(outer.join(name), &inner).is_ok() {
        fs::remove_dir(&outer).expect("removed");
        fs::rename(&inner, &outer).expect("moved");
    }
    fs::remove_dir(&outer).expect("removed");
}

#[test]
fn undo_records_folders_that_are_nested_thousands_of_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
    let program = world.call().before_program().expect("it looks");
    // Where each step compares paths part by part, this takes many minutes.
    nest(&world.root, "d", 4_000);
    program.after_program().expect("it looks");
    let (changes, gaps) =
        world.recorder.with_journal(|journal| (journal.changes().len(), journal.gaps().len())).expect("it is open");
    assert_eq!((changes, gaps), (4_000, 0));
    let program = world.call().before_program().expect("it looks");
    flatten(&world.root, "d");
    program.after_program().expect("it looks");
    let gone = world.recorder.with_journal(|journal| journal.changes().len()).expect("it is open") - changes;
    assert_eq!(gone, 4_000);
}

#[test]
fn undo_says_what_lies_too_deep_to_be_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
    let name = "d".repeat(255);
    for (depth, why) in [
        (40, "what changed at ".to_owned()),
        (800, format!("what programs change in `{}` is not kept: its folders are nested", world.root.display())),
    ] {
        let program = world.call().before_program().expect("it looks");
        nest(&world.root, &name, depth);
        program.after_program().expect("it looks");
        let gaps = world.recorder.with_journal(|journal| journal.gaps().to_vec()).expect("it is open");
        assert!(gaps.last().is_some_and(|gap| gap.why.starts_with(&why)), "{depth}: {gaps:?}");
        flatten(&world.root, &name);
    }
}

#[test]
fn undo_looks_into_more_folders_than_files_can_be_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
    // For all tests of this process, which need few.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let (few, count) = (256, 300);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: Some(limit.maximum.map_or(few, |most| most.min(few))), ..limit },
    )
    .expect("set");
    let program = world.call().before_program().expect("it looks");
    for number in 0..count {
        fs::create_dir(world.root.join(number.to_string())).expect("made");
        fs::write(world.root.join(format!("{number}/f")), "").expect("written");
    }
    program.after_program().expect("it looks");
    let changes = world.recorder.with_journal(|journal| journal.changes().len()).expect("it is open");
    assert_eq!(changes, 2 * count);
}

fn is_restored((_, outcome): &&(Step, Outcome)) -> bool {
    *outcome == Outcome::Restored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    // promise undo.programs: What programs change is undone like what calls change, and nothing of others is lost.
    #[test]
    fn undo_of_programs_loses_nothing_of_others(events in prop::collection::vec(event(), 1..16)) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
        // What somebody else left, by its path, and what the session had there once: that cannot be told from its own.
        let (mut of_others, mut of_session) = (Tree::new(), BTreeSet::new());
        for event in events {
            match event {
                Event::Call(at, new) => {
                    let (path, call) = (world.path(at), world.call());
                    let parent_is_folder = path.parent().is_some_and(|folder| folder.is_dir() && !folder.is_symlink());
                    if path.is_dir() || path.is_symlink() || !parent_is_folder {
                        continue;
                    }
                    let mode = fs::metadata(&path).map_or(0o644, |about| about.permissions().mode() & 0o7777);
                    match new {
                        Some(new) => {
                            let new = format!("call {new}");
                            let old = fs::read(&path).ok();
                            let old = old.as_deref().map_or(Old::Absent, |old| Old::File(old, mode));
                            call.change(&path, old, State::file(new.as_bytes(), mode)).expect("recorded");
                            fs::write(&path, new).expect("written");
                            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
                        }
                        None if path.exists() => {
                            call.change(&path, Old::There, State::Absent).expect("recorded");
                            fs::remove_file(&path).expect("removed");
                        }
                        None => {}
                    }
                    of_others.remove(&path);
                    of_session.extend(world.tree().into_iter().filter(|(other, _)| *other == path));
                }
                Event::Program(acts) => {
                    let (call, before) = (world.call(), world.tree());
                    let program = call.before_program().expect("it looks");
                    acts.iter().for_each(|act| world.act(act, "program"));
                    program.after_program().expect("it looks");
                    let after = world.tree();
                    of_others.retain(|path, _| before.get(path) == after.get(path));
                    of_session.extend(after.clone().into_iter().filter(|(path, what)| before.get(path) != Some(what)));
                    // At once it is taken back whole.
                    if before != after {
                        let outcomes = world.undo(1);
                        prop_assert!(outcomes.iter().all(|outcome| is_restored(&outcome)), "{outcomes:?}");
                        prop_assert_eq!(world.tree(), before);
                        let outcomes = world.undo(1);
                        prop_assert!(outcomes.iter().all(|outcome| is_restored(&outcome)), "{outcomes:?}");
                        prop_assert_eq!(world.tree(), after);
                    }
                }
                Event::Other(act) => {
                    world.written += 1;
                    let before = world.tree();
                    world.act(&act, &format!("other {}", world.written));
                    let after = world.tree();
                    of_others.retain(|path, what| after.get(path) == Some(what));
                    let is_theirs = |entry: &(PathBuf, String)| before.get(&entry.0) != Some(&entry.1);
                    of_others.extend(after.into_iter().filter(is_theirs).filter(|entry| !of_session.contains(entry)));
                }
                Event::Undo(calls) => {
                    let before = world.tree();
                    let outcomes = world.undo(calls);
                    let after = world.tree();
                    for (path, what) in &of_others {
                        prop_assert_eq!(after.get(path), Some(what), "{:?}", outcomes);
                    }
                    let restored: BTreeSet<&Path> =
                        outcomes.iter().filter(is_restored).map(|(step, _)| step.path.as_path()).collect();
                    for path in before.keys().chain(after.keys()) {
                        let same = before.get(path) == after.get(path);
                        prop_assert!(same || restored.contains(path.as_path()), "{path:?} {outcomes:?}");
                    }
                    if !restored.is_empty() {
                        let again = world.undo(1);
                        let is_back = |(_, outcome): &(Step, Outcome)| !matches!(outcome, Outcome::LeftAlone(_));
                        prop_assert!(again.iter().all(is_back), "{again:?}");
                        prop_assert_eq!(world.tree(), before);
                    }
                }
            }
        }
    }
}

/// What was written down of a file: the call, and whether its content before is kept.
fn changes_of(world: &World, path: &Path) -> Vec<(String, bool)> {
    let changes = |journal: &mut Journal| {
        let of_path = journal.changes().iter().filter(|change| change.path == path);
        of_path.map(|change| (change.call.clone(), change.not_kept.is_none())).collect()
    };
    world.recorder.with_journal(changes).expect("it is open")
}

// promise undo.programs
#[test]
fn undo_has_what_a_program_changed_before_another_looked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
    let (a, b) = (world.path(0), world.path(1));
    fs::write(&a, "mine").expect("written");
    let (one, other) = (world.call(), world.call());
    let first = one.before_program().expect("it looks");
    fs::write(&a, "of the first").expect("written");
    // One that was to look before the first program, and comes late.
    world.recorder.prepare().expect("it looks");
    let second = other.before_program().expect("it looks");
    fs::write(&b, "of the second").expect("written");
    first.after_program().expect("it looks");
    second.after_program().expect("it looks");
    assert_eq!(changes_of(&world, &a), [("c1".to_owned(), true)]);
    assert_eq!(changes_of(&world, &b), [("c1".to_owned(), true)], "it may be of either");
    assert!(world.undo(2).iter().all(|outcome| is_restored(&outcome)));
    assert_eq!((fs::read_to_string(&a).expect("text").as_str(), b.exists()), ("mine", false));
}

// promise undo.programs
#[test]
fn undo_has_no_work_of_the_user_beside_programs_in_the_background_or_not_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::new(&folder.path().canonicalize().expect("it is there"));
    let a = world.path(0);
    let (one, other, last) = (world.call(), world.call(), world.call());
    let _server = one.before_program().expect("it looks").in_background();
    fs::write(&a, "mine").expect("written");
    drop(other.before_program().expect("it looks"));
    fs::write(&a, "mine again").expect("written");
    last.before_program().expect("it looks").after_program().expect("it looks");
    assert_eq!(changes_of(&world, &a), []);
}

// promise undo.links: No link is followed: what is behind one is neither kept nor changed.
#[test]
fn undo_of_a_folder_that_was_swapped_for_a_link_leads_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let outside = folder.join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("x"), "secret").expect("written");
    let mut world = World::new(&folder);
    world.act(&Act::Write(3, 1), "mine");
    let before = world.tree();
    let call = world.call();
    let program = call.before_program().expect("it looks");
    fs::rename(world.root.join("d"), world.root.join("b")).expect("renamed");
    symlink(&outside, world.root.join("d")).expect("linked");
    program.after_program().expect("it looks");
    // A second look, through the link by then.
    let call = world.call();
    let program = call.before_program().expect("it looks");
    fs::remove_file(world.root.join("d")).expect("removed");
    program.after_program().expect("it looks");
    // Somebody else's: spelled another way.
    symlink(world.root.join("../outside"), world.root.join("d")).expect("linked");
    let outcomes = world.undo(2);
    let is_left = |path: &str| {
        let step = outcomes.iter().find(|(step, _)| step.path == world.root.join(path));
        step.is_some_and(|(_, outcome)| matches!(outcome, Outcome::LeftAlone(_)))
    };
    assert!(is_left("d") && is_left("d/x"), "{outcomes:?}");
    assert_eq!(fs::read_to_string(outside.join("x")).expect("text"), "secret");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    let kept = fs::read_dir(folder.join("s.undo/objects")).expect("a folder");
    assert!(kept.map(|entry| fs::read(entry.expect("an entry").path()).expect("read")).all(|kept| kept != b"secret"));
    fs::remove_file(world.root.join("d")).expect("removed");
    world.undo(3);
    assert_eq!(world.tree(), before);
}

#[test]
fn undo_names_the_left_out_folders_in_which_a_program_changed_something() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    let (workspace, journal) = (root.join("w"), root.join("s.undo"));
    for path in ["deep/a/b", "still/a", "also"] {
        fs::create_dir_all(workspace.join(path)).expect("made");
        fs::write(workspace.join(path).join("f"), "").expect("written");
    }
    let rules = |_: &Path| -> Box<host_undo::LeftOut> {
        Box::new(|folder: &Path| ["deep", "still", "also", "new"].iter().any(|name| folder.ends_with(name)))
    };
    let recorder = Arc::new(Recorder::new(journal, Box::new(rules)));
    recorder.set_roots([workspace.as_path()]);
    let whys = |call: &str, act: &dyn Fn()| {
        let program = CallRecorder::new(Arc::clone(&recorder), call).before_program().expect("it looks");
        act();
        program.after_program().expect("it looks");
        let of_call = |journal: &mut Journal| {
            let gaps = journal.gaps().iter().filter(|gap| gap.call == call);
            let mut whys: Vec<String> = gaps.map(|gap| gap.why.clone()).collect();
            whys.sort();
            whys
        };
        recorder.with_journal(of_call).expect("it is open")
    };
    let named = |folder: &str| format!("what it changed in `{folder}` is not kept, which ignore rules leave out");
    let write = |path: &str| fs::write(workspace.join(path), "x").expect("written");
    // The clock of the file system must have gone on since the folders were made.
    let made = fs::metadata(workspace.join("also/f")).expect("there");
    let ticks = || {
        use std::os::unix::fs::MetadataExt as _;
        write("tick");
        let now = fs::metadata(workspace.join("tick")).expect("there");
        (now.ctime(), now.ctime_nsec()) > (made.ctime(), made.ctime_nsec())
    };
    while !ticks() {
        std::thread::yield_now();
    }
    assert_eq!(whys("none", &|| write("kept")), [""; 0]);
    let changes = || {
        write("deep/a/b/f");
        fs::create_dir(workspace.join("new")).expect("made");
    };
    assert_eq!(whys("two", &changes), [named("deep"), named("new")]);
    assert_eq!(whys("gone", &|| fs::remove_file(workspace.join("also/f")).expect("removed"))[..1], [named("also")]);
}
