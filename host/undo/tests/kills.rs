//! A process that is killed while it takes changes back.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use host_undo::{Change, Digest, Journal, State, plan};

/// The folder of a process that takes changes back until it is killed.
const CHILD: &str = "HOST_UNDO_KILLED_IN";

const KILLS: usize = 100;

const FILES: usize = 20;

/// The content of a file: what was there, or what the session wrote.
fn content(file: usize, is_new: bool) -> Option<Vec<u8>> {
    let text = if is_new { "written" } else { "before" };
    // Some were created, some removed.
    (file % 3 != usize::from(is_new)).then(|| format!("{text} {file} ").repeat(1_000).into_bytes())
}

fn state(content: Option<&[u8]>) -> State {
    content.map_or(State::Absent, |content| State::file(content, 0o644))
}

fn prepare(work: &Path, journal: &mut Journal) {
    for file in 0..FILES {
        let path = work.join(file.to_string());
        let (before, after) = (content(file, false), content(file, true));
        if let Some(before) = &before {
            journal.keep(before.as_slice()).expect("kept");
        }
        let change = Change {
            call: "c".to_owned(),
            path: path.clone(),
            before: state(before.as_deref()),
            after: state(after.as_deref()),
            not_kept: None,
            beside: None,
        };
        journal.record(change).expect("recorded");
        if let Some(after) = after {
            fs::write(&path, after).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
        }
    }
}

/// Takes all changes back, and that again, for ever.
fn take_back_for_ever(folder: &Path) -> ! {
    let mut journal = Journal::open(&folder.join("s.undo")).expect("opened");
    // The parent kills from here on.
    writeln!(std::io::stdout(), "begun").expect("the parent listens");
    loop {
        let from = journal.changes().len().saturating_sub(FILES);
        for step in plan(&journal.changes()[from..]) {
            journal.restore(&step, "undo").expect("the journal is writable");
        }
    }
}

// promise undo.killed: A process that is killed while it takes changes back loses nothing and leaves nothing beside the
//   files.
#[test]
fn undo_that_is_killed_loses_nothing_and_is_taken_up_again() {
    if let Some(folder) = std::env::var_os(CHILD) {
        take_back_for_ever(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    let work = root.join("work");
    fs::create_dir(&work).expect("made");
    prepare(&work, &mut Journal::open(&root.join("s.undo")).expect("opened"));
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["undo_that_is_killed_loses_nothing_and_is_taken_up_again", "--exact", "--nocapture"])
            .env(CHILD, &root)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut output = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.ends_with("begun\n") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut output, &mut line).expect("text") > 0, "it ended by itself");
        }
        // A different moment each time.
        for _ in 0..kill * 997 {
            std::hint::spin_loop();
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");

        let journal = Journal::open(&root.join("s.undo")).expect("it is readable");
        assert!(journal.changes().len() >= FILES);
        for file in 0..FILES {
            let found = fs::read(work.join(file.to_string())).ok();
            let known = [content(file, false), content(file, true)];
            assert!(known.contains(&found), "kill {kill}: {file} is neither");
        }
        let all: Vec<_> = fs::read_dir(&work).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
        assert!(all.iter().all(|name| !name.to_string_lossy().starts_with('.')), "kill {kill}: {all:?}");
    }
    // Every content is still kept.
    for file in 0..FILES {
        for content in [content(file, false), content(file, true)].iter().flatten() {
            let kept = root.join("s.undo/objects").join(Digest::of(content).as_str());
            let is_in_place = fs::read(work.join(file.to_string())).is_ok_and(|found| found == *content);
            assert!(is_in_place || kept.is_file(), "{file}");
        }
    }
}
