use std::fs::{self, OpenOptions};
use std::sync::Arc;

use host_message::{AgentId, CallId, Content, Display, ModelId, PromptId, ToolName, Usage};
use serde_json::Value;

use super::*;
use crate::{
    CallEnd, CallReport, CallStatus, CheckResult, HookResult, Journals, Left, Logged, Past, ReadError, Recorded,
    Records, Stored, TerminateReason,
};

mod manage;
mod read;
mod reopen;
mod verify;

fn clock() -> Clock {
    Clock::fixed("2026-03-01T12:00:00.5Z".parse().expect("a time"))
}

fn model() -> ModelId {
    ModelId::new("scripted:x")
}

/// The key and heads of the logs in a folder. They are made in it, beneath a name that no log has.
fn chains(folder: &Path) -> ChainStore {
    ChainStore::open(&folder.join("audit")).expect("it can be made")
}

fn sessions(folder: &Path) -> Sessions {
    Sessions::new(folder, folder.join("audit"))
}

fn create(folder: &Path) -> Result<SessionLog, SessionError> {
    let beside = folder.parent().filter(|_| folder.ends_with("sessions") || folder.ends_with("taken"));
    let chains = chains(beside.unwrap_or(folder));
    SessionLog::create(folder, About { workspace: Path::new("/work"), model: &model() }, clock(), &chains)
}

/// A disk that takes this many bytes and then has no room. Clones are the same disk.
#[derive(Clone)]
struct Disk(Arc<Mutex<Counts>>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    room: usize,
    writes: usize,
}

impl Disk {
    fn with_room(room: usize) -> Self {
        Self(Arc::new(Mutex::new(Counts { room, writes: 0 })))
    }

    fn counts(&self) -> Counts {
        *self.0.lock().expect("no test panics with it")
    }

    fn log(&self) -> Result<SessionLog, SessionError> {
        let id = SessionId::new("s1").expect("an id");
        SessionLog::onto(Box::new(self.clone()), id, PathBuf::from("/logs/s1.jsonl"), clock())
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut counts = self.0.lock().expect("no test panics with it");
        counts.writes += 1;
        let fits = bytes.len().min(counts.room);
        counts.room -= fits;
        if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_has_a_line_for_each_entry_and_its_version_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = create(&folder.path().join("sessions")).expect("it can be made");
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    log.append(&Fact::Content { prompt: prompt.clone(), content: Arc::new(Content::user("hello\nyou")) })
        .expect("there is room");
    log.append(&Fact::Withdrawn { prompt: prompt.clone() }).expect("there is room");
    assert!(log.id().as_str().starts_with("20260301-120000-"), "{}", log.id());
    assert_eq!(log.path(), folder.path().join("sessions").join(format!("{}.jsonl", log.id())));
    let text = fs::read_to_string(log.path()).expect("it is there");
    assert!(text.ends_with('\n'));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().expect("it has a type")).collect();
    assert_eq!(types, ["session", "content", "withdrawn"]);
    assert_eq!((&lines[0]["version"], &lines[0]["id"]), (&Value::from(1), &Value::from(log.id().as_str())));
    assert_eq!((&lines[0]["workspace"], &lines[0]["model"]), (&Value::from("/work"), &Value::from("scripted:x")));
    assert_eq!(lines[0]["pid"], std::process::id());
    assert_eq!(lines[1]["time"], "2026-03-01T12:00:00.5Z");
    let content: Content = serde_json::from_value(lines[1]["content"].clone()).expect("it comes back");
    assert_eq!(content, Content::user("hello\nyou"));
}

// promise session.private: Only the user can read a session log or a recording.
#[cfg(unix)]
#[test]
fn session_log_is_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let log = create(&folder.path().join("sessions")).expect("it can be made");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(log.path()), mode(&folder.path().join("sessions"))), (0o600, 0o700));
}

#[test]
fn two_sessions_of_one_second_have_two_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let ids: std::collections::BTreeSet<_> =
        (0..20).map(|_| create(folder.path()).expect("it can be made").id().as_str().to_owned()).collect();
    assert_eq!(ids.len(), 20);
}

#[test]
fn an_entry_is_one_write() {
    let disk = Disk::with_room(10_000);
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    disk.log().expect("there is room").append(&Fact::Withdrawn { prompt: prompt.clone() }).expect("there is room");
    assert_eq!(disk.counts().writes, 2);
}

#[test]
fn session_log_full_disk_is_reported_once_with_the_file_and_ends_the_log() {
    let disk = Disk::with_room(150);
    let log = disk.log().expect("the first line fits");
    let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
    let error = loop {
        if let Err(error) = log.append(&Fact::Withdrawn { prompt: prompt.clone() }) {
            break error;
        }
    };
    assert_eq!(error.to_string(), "could not write the session log `/logs/s1.jsonl`");
    assert_eq!(error.help(), "free space on the disk that holds `/logs/s1.jsonl` and run again");
    let before = disk.counts();
    let again = log.append(&Fact::Withdrawn { prompt: prompt.clone() }).expect_err("it is incomplete");
    assert!(matches!(again, SessionError::Broken { .. }), "{again:?}");
    assert_eq!(disk.counts(), before);
}

#[test]
fn session_log_that_cannot_start_is_reported() {
    assert!(matches!(Disk::with_room(3).log().err(), Some(SessionError::Write { .. })));
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().join("taken");
    fs::write(&taken, "").expect("it can be written");
    let error = create(&taken).err().expect("a file is in the way");
    assert_eq!(error.to_string(), format!("could not create the session log in `{}`", taken.display()));
}

#[cfg(target_os = "linux")]
#[test]
fn the_systems_full_device_is_a_full_disk() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let id = SessionId::new("s1").expect("an id");
    let error = SessionLog::onto(Box::new(full), id, PathBuf::from("/dev/full"), clock()).err().expect("it is full");
    assert_eq!(error.help(), "free space on the disk that holds `/dev/full` and run again");
}
