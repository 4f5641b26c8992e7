//! Removing and copying logs.

use std::os::unix::fs::{MetadataExt as _, symlink};

use host_message::AgentId;

use super::*;

fn recorded(folder: &Path) -> Stored {
    let log = create(folder).expect("a log");
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    let outputs = log.path().with_extension("outputs");
    fs::create_dir(&outputs).expect("made");
    fs::write(outputs.join("output-1.txt"), "long").expect("written");
    let said = Content::user(format!("read {}/output-1.txt", outputs.display()));
    let said = Fact::Content { prompt: prompt.clone(), content: Arc::new(said) };
    log.append(&said).expect("written");
    let content = Arc::new(Content::model("done"));
    log.append(&Fact::Content { prompt, content }).expect("written");
    let id = log.id().clone();
    drop(log);
    sessions(folder).list().expect("listed").into_iter().find(|stored| stored.id == id).expect("it is there")
}

#[test]
fn session_log_is_removed_with_its_outputs_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (recorded(folder.path()), recorded(folder.path()));
    let outside = folder.path().join("kept");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("file"), "x").expect("written");
    symlink(&outside, one.path.with_extension("link")).expect("a link");
    sessions(folder.path()).remove(&one.id).expect("removed");
    assert!(!one.path.exists() && !one.path.with_extension("outputs").exists());
    assert!(one.path.with_extension("link").symlink_metadata().is_err(), "the link goes");
    assert!(outside.join("file").exists(), "what it leads to stays");
    assert!(other.path.exists() && other.path.with_extension("outputs").join("output-1.txt").exists());
    assert!(matches!(sessions(folder.path()).remove(&one.id), Err(SessionError::Open { .. })));
}

// promise session.removed: A session that a process writes is not removed.
#[test]
fn session_log_that_is_written_is_not_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = recorded(folder.path());
    let writer = SessionLog::reopen(&stored.path, clock(), &chains(folder.path())).expect("it is whole");
    let refused = sessions(folder.path()).remove(&stored.id).expect_err("it is in use");
    assert!(matches!(refused, SessionError::Held { .. }), "{refused:?}");
    assert!(stored.path.exists() && stored.path.with_extension("outputs").join("output-1.txt").exists());
    drop(writer);
    sessions(folder.path()).remove(&stored.id).expect("nobody writes it now");
}

#[test]
fn session_log_copy_has_its_own_id_and_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = recorded(folder.path());
    // One that is in use, with half an entry at its end.
    let writer = SessionLog::reopen(&stored.path, clock(), &chains(folder.path())).expect("it is whole");
    let mut text = fs::read_to_string(&stored.path).expect("read");
    let before = text.clone();
    text.push_str("{\"type\":\"cont");
    fs::write(&stored.path, &text).expect("written");
    let id = stored.fork(clock(), &chains(folder.path())).expect("copied");
    assert_ne!(id, stored.id);
    let path = folder.path().join(format!("{id}.jsonl"));
    let copy = fs::read_to_string(&path).expect("read");
    let rest = |text: &str| -> Vec<String> {
        let objects = text.split_inclusive('\n').map(|line| host_files::without_link(line.as_bytes()));
        objects.skip(1).map(|object| String::from_utf8(object).expect("text")).collect()
    };
    let renamed: Vec<String> = rest(&before).iter().map(|line| line.replace(stored.id.as_str(), id.as_str())).collect();
    assert_eq!(rest(&copy), renamed);
    assert!(!rest(&copy).concat().contains(stored.id.as_str()), "{copy}");
    let output = path.with_extension("outputs").join("output-1.txt");
    assert_eq!(fs::read_to_string(&output).expect("read"), "long");
    let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
    assert_eq!([mode(&path), mode(&output), mode(&path.with_extension("outputs"))], [0o600, 0o600, 0o700]);
    drop(writer);
    let fork = SessionLog::reopen(&path, clock(), &chains(folder.path())).expect("it is whole");
    assert_eq!(fork.recorded().id, id);
    assert_eq!(fork.recorded().past(&AgentId::new("main")).map(|past| past.history().contents().len()), Some(2));
}

#[test]
fn session_log_that_is_damaged_is_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = recorded(folder.path());
    let text = fs::read_to_string(&stored.path).expect("read");
    fs::write(&stored.path, format!("{text}rubbish\n")).expect("written");
    assert!(matches!(stored.fork(clock(), &chains(folder.path())), Err(SessionError::Read { .. })));
    assert_eq!(sessions(folder.path()).list().expect("listed").len(), 1, "no half copy is left");
}
