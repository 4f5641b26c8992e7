//! Verified logs: each byte, and what resuming and copying a log that was changed records.

use host_message::{AgentId, CallId, FunctionCall, PartData, Role, ToolName};

use super::*;

/// A log as a session leaves it, with its folder.
struct World {
    folder: tempfile::TempDir,
    stored: Stored,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = create(folder.path()).expect("a log");
        let prompt = PromptId { agent: AgentId::new("main"), turn: 0 };
        let content = Content::user("fix \"it\" }\n");
        let content = Arc::new(content);
        log.append(&Fact::Content { prompt: prompt.clone(), content }).expect("written");
        let (call_id, name, because) = (CallId::new("c"), ToolName::new("edit"), vec!["granted".to_owned()]);
        let call = FunctionCall::new(call_id.clone(), name.clone(), Default::default());
        let content = Content { role: Role::Model, parts: vec![PartData::FunctionCall(call).into()] };
        let content = Arc::new(content);
        log.append(&Fact::Content { prompt: prompt.clone(), content }).expect("written");
        log.append(&Fact::CallStarted { prompt, call_id, name, because, title: String::new() }).expect("written");
        let id = log.id().clone();
        drop(log);
        let stored = find(folder.path(), &id);
        Self { folder, stored }
    }

    fn chains(&self) -> ChainStore {
        chains(self.folder.path())
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.stored.path).expect("read")
    }

    fn put(&self, bytes: &[u8]) {
        fs::write(&self.stored.path, bytes).expect("written");
    }

    fn verify(&self) -> Verified {
        self.stored.verify(&self.chains()).expect("it is readable")
    }

    fn faults(&self) -> Vec<ChainFault> {
        self.verify().findings.into_iter().map(|finding| finding.fault).collect()
    }

    fn is_changed(&self) -> bool {
        self.faults().iter().any(|fault| fault.is_change())
    }

    /// Whether a log with these bytes would be found changed.
    fn finds(&self, bytes: &[u8]) -> bool {
        let verified = crate::file::verify::verify(&self.stored.id, bytes, &self.chains()).expect("it is readable");
        verified.findings.iter().any(|finding| finding.fault.is_change())
    }

    fn resume(&self) {
        let reopened = SessionLog::reopen(&self.stored.path, clock(), &self.chains()).expect("it is whole");
        reopened.resume(&model()).expect("there is room");
    }
}

fn find(folder: &Path, id: &SessionId) -> Stored {
    sessions(folder).list().expect("listed").into_iter().find(|stored| stored.id == *id).expect("it is there")
}

// promise audit.bytes
#[test]
fn session_log_attacked_byte_by_byte_is_found_changed() {
    let world = World::new();
    let bytes = world.bytes();
    assert_eq!((world.faults(), world.verify().lines), (vec![], 4));
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(world.finds(&changed), "bit {bit} of byte {at}");
        }
        let mut shorter = bytes.clone();
        shorter.remove(at);
        assert!(world.finds(&shorter), "byte {at} is gone");
        let mut longer = bytes.clone();
        longer.insert(at, b' ');
        assert!(world.finds(&longer), "a space before byte {at}");
        assert!(world.finds(&bytes[..at]), "cut at {at}");
    }
    assert!(!world.finds(&bytes));
}

// promise audit.torn: The unfinished line of a process that was killed is not a change, and what a later process writes
//   behind it is verified.
#[test]
fn session_log_with_half_a_line_is_not_changed_and_goes_on_verified() {
    let world = World::new();
    let bytes = world.bytes();
    let half = br#"{"time":"2026-03-01T12:00:00Z","type":"withd"#;
    for end in 1..=half.len() {
        world.put(&[&bytes[..], &half[..end]].concat());
        let verified = world.verify();
        assert_eq!((verified.findings, verified.torn_bytes), (vec![], end as u64));
    }
    world.resume();
    let verified = world.verify();
    assert_eq!((verified.findings, verified.torn_bytes, verified.lines), (vec![], 0, 6));
}

// promise audit.found: Resuming or copying a session whose log was changed hides nothing: the change is still found.
#[test]
fn session_log_that_was_changed_stays_so_when_it_is_resumed_or_copied() {
    for (attack, line) in [("fix", 2), ("granted", 4)] {
        let world = World::new();
        let text = String::from_utf8(world.bytes()).expect("text");
        world.put(text.replace(attack, "FAKE").as_bytes());
        world.resume();
        world.resume();
        let findings = world.verify().findings;
        let [Finding { fault: ChainFault::Changed { line: found }, when: FoundWhen::Resumed { line: 5, .. } }] =
            findings.as_slice()
        else {
            panic!("{findings:?}")
        };
        assert_eq!(*found, line);
        let copy = world.stored.fork(clock(), &world.chains()).expect("copied");
        let copied = find(world.folder.path(), &copy).verify(&world.chains()).expect("readable").findings;
        assert!(copied.iter().any(|finding| finding.fault == ChainFault::Changed { line }), "{copied:?}");
    }
    // A copy of one that was changed and not resumed says which session it is of.
    let world = World::new();
    let cut = world.bytes().split_inclusive(|byte| *byte == b'\n').take(2).collect::<Vec<_>>().concat();
    world.put(&cut);
    let copy = world.stored.fork(clock(), &world.chains()).expect("copied");
    let copied = find(world.folder.path(), &copy).verify(&world.chains()).expect("readable").findings;
    let when = FoundWhen::Copied(world.stored.id.clone());
    assert_eq!(copied, [Finding { fault: ChainFault::Cut { lines: 2 }, when }]);
    world.resume();
    assert_eq!(world.faults(), [ChainFault::Cut { lines: 2 }]);
    // What is added to a log without a key is found wherever it is.
    world.put(&[world.bytes(), b"{\"time\":\"2026-03-01T12:00:00Z\",\"type\":\"withdrawn\"}\n".to_vec()].concat());
    assert_eq!(world.faults(), [ChainFault::Cut { lines: 2 }, ChainFault::Changed { line: 4 }]);
}

#[test]
fn session_log_copy_is_verified_on_its_own() {
    let world = World::new();
    let copy = world.stored.fork(clock(), &world.chains()).expect("copied");
    let copy = find(world.folder.path(), &copy);
    let verified = copy.verify(&world.chains()).expect("it is readable");
    assert_eq!((verified.findings.as_slice(), verified.lines, verified.has_head), (&[][..], 4, true));
    // Under the name of the other one it is not what was written.
    world.put(&fs::read(&copy.path).expect("read"));
    assert!(world.is_changed());
    sessions(world.folder.path()).remove(&copy.id).expect("removed");
    assert_eq!(world.chains().names().expect("listed"), [world.stored.id.as_str()]);
}

// promise audit.old: The log of an older host is read and resumed as before; nothing verifies what it says, but from
//   then on its bytes are covered.
#[test]
fn session_log_of_an_older_host_is_covered_once_it_is_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = concat!(
        r#"{"time":"2026-03-01T12:00:00Z","type":"session","version":1,"id":"old","pid":1,"workspace":"/work","#,
        r#""model":"scripted:x"}"#,
        "\n",
        r#"{"time":"2026-03-01T12:00:01Z","type":"content","prompt":{"agent":"main","turn":0},"#,
        r#""content":{"role":"user","parts":[{"text":"hello"}]}}"#,
        "\n",
    );
    fs::write(folder.path().join("old.jsonl"), old).expect("written");
    let stored = find(folder.path(), &SessionId::new("old").expect("an id"));
    let world = World { folder, stored };
    assert_eq!(world.faults(), [ChainFault::Unchained { lines: 2 }]);
    world.resume();
    let verified = world.verify();
    assert_eq!((verified.unchained, verified.lines), (2, 3));
    assert!(matches!(
        verified.findings.as_slice(),
        [Finding { fault: ChainFault::Unchained { lines: 2 }, when: FoundWhen::Resumed { line: 3, .. } }]
    ));
    let whole = world.bytes();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(world.finds(&changed), "byte {at}");
    }
}
