//! Session logs.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use host_files::ChainStore;
use host_journal::{Clock, Fact, Logged, ReadError, Recorded, Records, SessionLog};
use host_message::{Content, ModelId, Part};
use jiff::Timestamp;
use tempfile::TempDir;

/// A log is read as what it says: each part of a conversation is in an entry, the beginning of a log is the beginning
/// of what the whole says, and a log that was resumed can be read again.
pub fn session(data: &[u8]) {
    let (records, error) = records(data);
    let cut = data.len() * usize::from(data.first().copied().unwrap_or_default()) / 255;
    let (fewer, _) = self::records(&data[..cut]);
    assert!(fewer.len() <= records.len() + 1);
    let words = |records: &[Logged]| records.iter().map(|logged| format!("{logged:?}")).collect::<Vec<_>>();
    let (whole, part) = (words(&records), words(&fewer));
    assert!(whole.starts_with(&part[..part.len().min(whole.len())]), "the first {cut} bytes say something else");
    let Ok(recorded) = Recorded::read(&mut Records::new(data)) else { return };
    assert!(error.is_none(), "{error:?}");
    let said: Vec<&Part> = records.iter().flat_map(|logged| parts(&logged.fact)).collect();
    for (_, past) in recorded.agents() {
        for part in past.history().contents().iter().flat_map(|content| &content.parts) {
            assert!(said.contains(&part), "nothing says {part:?}");
        }
    }
    check_resumed(data);
}

/// The entries before the first error.
fn records(data: &[u8]) -> (Vec<Logged>, Option<ReadError>) {
    let (mut records, mut error) = (Vec::new(), None);
    for record in Records::new(data) {
        match record {
            Ok(record) => records.push(record),
            Err(why) => error = Some(why),
        }
    }
    (records, error)
}

fn parts(fact: &Fact) -> Box<dyn Iterator<Item = &Part> + '_> {
    match fact {
        Fact::Content { content, .. } => Box::new(content.parts.iter()),
        Fact::HistoryReplaced { contents, .. } => {
            Box::new(contents.iter().flat_map(|content: &Content| &content.parts))
        }
        Fact::CallSettled { end, .. } => Box::new(end.parts.iter()),
        Fact::Discarded { parts, .. } => Box::new(parts.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

fn check_resumed(data: &[u8]) {
    static FILE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (folder, path) = FILE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.jsonl");
        (folder, path)
    });
    fs::write(path, data).expect("a file");
    let chains = ChainStore::open(&folder.path().join("audit")).expect("it can be made");
    let reopened = SessionLog::reopen(path, Clock::fixed(Timestamp::UNIX_EPOCH), &chains).expect("it was read before");
    let (log, recorded) = reopened.resume(&ModelId::new("offline")).expect("it can be written");
    drop(log);
    let bytes = fs::read(path).expect("the log");
    let again = Recorded::read(&mut Records::new(&bytes[..])).expect("it was resumed");
    for (agent, past) in recorded.agents() {
        let read = again.past(agent).expect("the same agents");
        assert_eq!(read.history().contents(), past.history().contents(), "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(read.left(), past.left(), "{}", String::from_utf8_lossy(&bytes));
    }
}
