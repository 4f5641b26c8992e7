//! The limit of what a session keeps: which versions go first, and that nothing goes without being said.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use host_files::ChainStore;
use host_undo::{CallRecorder, Change, Obstacle, Old, Outcome, Reason, Recorder, State, VerifiedChanges, plan};

const SIZE: usize = 1 << 20;

/// The room for contents in these tests.
const ROOM: u64 = 8 << 20;

struct Session {
    recorder: Arc<Recorder>,
    calls: usize,
}

impl Session {
    fn new(folder: &Path) -> Self {
        let chains = ChainStore::open(&folder.join("chains")).expect("made");
        let recorder = Recorder::new(folder.join("s.undo"), Box::new(|_| Box::new(|_| false))).chained(chains);
        fs::create_dir(folder.join("work")).expect("made");
        recorder.set_roots([folder.join("work").as_path()]);
        recorder.with_journal(|journal| journal.keep_at_most(ROOM)).expect("it is open");
        Self { recorder: Arc::new(recorder), calls: 0 }
    }

    fn call(&mut self) -> CallRecorder {
        self.calls += 1;
        CallRecorder::new(Arc::clone(&self.recorder), &format!("c{}", self.calls))
    }

    /// A call whose program writes a file.
    fn program(&mut self, path: &Path, content: &[u8]) {
        let program = self.call().before_program().expect("it looks");
        fs::write(path, content).expect("written");
        program.after_program().expect("it looks");
    }

    fn kept(&self) -> u64 {
        let objects = fs::read_dir(self.recorder.folder().join("objects")).expect("a folder");
        objects.map(|entry| entry.expect("an entry").metadata().expect("it is there").len()).sum()
    }

    fn changes(&self) -> Vec<Change> {
        self.recorder.with_journal(|journal| journal.changes().to_vec()).expect("it is open")
    }

    /// The calls of which it is said that something is not kept any more.
    fn gaps(&self) -> Vec<String> {
        let said = |why: &str| why.contains("not kept any more");
        let gaps = self.recorder.with_journal(|journal| journal.gaps().to_vec()).expect("it is open");
        gaps.into_iter().filter(|gap| said(&gap.why)).map(|gap| gap.call).collect()
    }

    /// Takes back the changes from this one on.
    fn undo(&mut self, from: usize) -> Outcome {
        let call = format!("undo-{from}");
        let steps = plan(self.changes().get(from..).expect("so many"));
        let outcomes = self.recorder.with_journal(|journal| journal.restore_all(steps, &call));
        let mut outcomes = outcomes.expect("it is open").expect("it can be written");
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes.remove(0).1
    }
}

fn version(number: u8) -> Vec<u8> {
    vec![number; SIZE]
}

// promise undo.bounded: What is kept of a session's changes is limited; what a file was before the session and before
//   its last change is kept longest, and what is not kept any more is listed with its call.
#[test]
fn undo_of_a_file_that_is_written_again_and_again_keeps_its_first_and_last_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    let path = root.join("work/f");
    let mut session = Session::new(&root);
    fs::write(&path, version(0)).expect("written");
    for number in 1..=100 {
        session.program(&path, &version(number));
        assert!(session.kept() <= ROOM, "{number}: {}", session.kept());
    }
    assert_eq!(session.changes().len(), 100);
    // Each call whose version is gone says so, and no other: the first and those at the end.
    let gaps = session.gaps();
    let lost: Vec<usize> = (1..=100).filter(|call| gaps.contains(&format!("c{call}"))).collect();
    let (from, to) = (*lost.first().expect("some"), *lost.last().expect("some"));
    assert_eq!((from, lost.len()), (2, to - 1), "{lost:?}");
    assert!((90..100).contains(&to), "{lost:?}");
    // What went is not missed, and what goes without being written down is.
    let chains = ChainStore::open(&root.join("chains")).expect("made");
    let missing = |session: &Session| {
        VerifiedChanges::verify(session.recorder.folder(), &chains).expect("it can be read").missing.len()
    };
    assert_eq!(missing(&session), 0);
    let State::File { digest, .. } = &session.changes()[99].before else { panic!("a file") };
    let object = session.recorder.folder().join("objects").join(digest.as_str());
    fs::rename(&object, root.join("aside")).expect("moved");
    assert_eq!(missing(&session), 1);
    fs::rename(root.join("aside"), &object).expect("moved");
    // What is not kept is left alone, in words, and nothing is written down as undone.
    let Outcome::LeftAlone(Reason::Obstacle(Obstacle::NotKept(why))) = session.undo(49) else {
        panic!("it is not kept")
    };
    assert!(why.contains("no more room"), "{why}");
    assert_eq!((fs::read(&path).expect("read"), session.changes().len()), (version(100), 100));
    // The last call, and then the whole session.
    assert_eq!(session.undo(99), Outcome::Restored);
    assert_eq!(fs::read(&path).expect("read"), version(99));
    assert_eq!(session.undo(0), Outcome::Restored);
    assert_eq!(fs::read(&path).expect("read"), version(0));
}

#[test]
fn undo_says_of_each_change_for_which_there_is_no_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    let mut session = Session::new(&root);
    let path = |number: u8| root.join(format!("work/f{number}"));
    for number in 0..20 {
        fs::write(path(number), version(number)).expect("written");
    }
    // Nothing lies between the first and the last version of a file that was changed once.
    for number in 0..20 {
        let (call, content) = (session.call(), version(number));
        match number % 3 {
            0 => {
                call.change(&path(number), Old::File(&content, 0o644), State::file(b"new", 0o644)).expect("recorded");
                fs::write(path(number), "new").expect("written");
            }
            1 => {
                call.change(&path(number), Old::There, State::Absent).expect("recorded");
                fs::remove_file(path(number)).expect("removed");
            }
            _ => session.program(&path(number), b"new"),
        }
        assert!(session.kept() <= ROOM);
    }
    let changes = session.changes();
    let why = "the limit of 8 MiB for a session is reached";
    for (number, change) in changes.iter().enumerate() {
        let expected = (number >= 8).then(|| why.to_owned());
        assert_eq!(change.not_kept, expected, "{number}: {change:?}");
    }
    assert_eq!((changes.len(), session.gaps()), (20, Vec::new()));
}
