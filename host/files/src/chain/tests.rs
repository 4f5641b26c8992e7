use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const LIMIT: u64 = 200;

/// A folder with a key, and the bytes of chained files.
struct World {
    folder: tempfile::TempDir,
    store: ChainStore,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = ChainStore::open(&folder.path().join("audit")).expect("it can be made");
        Self { folder, store }
    }

    /// The file with this name, continued by lines with these words.
    fn add(&self, name: &str, bytes: &mut Vec<u8>, words: &[&str]) {
        let mut chain = self.store.chain(name, bytes.as_slice()).expect("it is readable");
        for word in words {
            let mut line = format!("{{\"word\":\"{word}\"}}").into_bytes();
            let sealed = chain.seal(&mut line).expect("an object");
            bytes.extend(line);
            chain.advance(sealed).expect("written");
        }
    }

    fn file(&self, name: &str, words: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.add(name, &mut bytes, words);
        bytes
    }

    fn examine(&self, name: &str, bytes: &[u8]) -> Examined {
        self.store.examine(name, bytes, LIMIT, |_, _, _| {}).expect("it is readable")
    }

    /// What is wrong with the file, found in both ways.
    fn faults(&self, name: &str, bytes: &[u8]) -> Vec<ChainFault> {
        let faults = self.store.faults(name, Cursor::new(bytes), LIMIT).expect("it is readable");
        assert_eq!(faults, self.examine(name, bytes).faults());
        faults
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Whether an examined file is as it was written.
fn is_as_written(examined: &Examined) -> bool {
    examined.faults().is_empty() && examined.torn_bytes == 0
}

#[test]
fn chain_of_whole_lines_is_intact_and_continues() {
    let world = World::new();
    let mut bytes = world.file("s", &["a", "b"]);
    world.add("s", &mut bytes, &["c"]);
    let mut states = Vec::new();
    let examined = world.store.examine("s", bytes.as_slice(), LIMIT, |number, line, state| {
        assert_eq!(line, lines(&bytes)[usize::try_from(number).expect("few") - 1]);
        states.push(state);
    });
    let examined = examined.expect("it is readable");
    assert_eq!((states, examined.lines, examined.has_head), (vec![LineState::Intact; 3], 3, true));
    assert!(is_as_written(&examined));
    assert_eq!(without_link(lines(&bytes)[2]), br#"{"word":"c"}"#);
    let other = World::new();
    other.add("s", &mut bytes, &["d"]);
    assert_eq!(world.faults("s", &bytes), [ChainFault::Changed { line: 4 }]);
}

// promise audit.bytes: No byte of a chained file can be changed, removed or added unnoticed.
#[test]
fn chain_attacked_byte_by_byte_is_found_changed() {
    let world = World::new();
    let bytes = world.file("s", &["one", "two", "three"]);
    assert!(is_as_written(&world.examine("s", &bytes)));
    for at in 0..bytes.len() {
        for other in 0..=u8::MAX {
            let mut changed = bytes.clone();
            if changed[at] != other {
                changed[at] = other;
                assert!(world.faults("s", &changed).iter().any(|fault| fault.is_change()), "byte {at} is {other}");
            }
        }
        for added in [0, b'\n', b'"', b'}', b',', b'0', bytes[at], u8::MAX] {
            let mut longer = bytes.clone();
            longer.insert(at, added);
            assert!(world.faults("s", &longer).iter().any(|fault| fault.is_change()), "{added} before byte {at}");
        }
        let mut shorter = bytes.clone();
        shorter.remove(at);
        assert!(world.faults("s", &shorter).iter().any(|fault| fault.is_change()), "byte {at} is gone");
        let cut = world.faults("s", &bytes[..at]);
        assert!(matches!(cut.as_slice(), [ChainFault::Cut { .. }]), "cut at {at}: {cut:?}");
    }
    // Bytes behind the end are a line that was not written to its end; with their line end they are a line.
    let longer = [&bytes[..], b"x"].concat();
    assert_eq!(world.examine("s", &longer).torn_bytes, 1);
    assert_eq!(world.faults("s", &[&longer[..], b"\n"].concat()), [ChainFault::Changed { line: 4 }]);
}

proptest! {
    // promise audit.lines: Lines that were swapped, dropped, repeated, or taken from another session are found.
    #[test]
    fn chain_with_other_lines_is_found_changed(
        order in prop::collection::vec((any::<bool>(), 0_usize..5), 0..8),
        others_key in any::<bool>(),
    ) {
        let (world, elsewhere) = (World::new(), World::new());
        let words = ["a", "b", "c", "d", "e"];
        let (own, same) = (world.file("s", &words), world.file("t", &words));
        // The same lines in a session of the same user, or of another one.
        let other = if others_key { elsewhere.file("s", &words) } else { same };
        let (own_lines, other_lines) = (lines(&own), lines(&other));
        let taken = order.iter().map(|(is_own, at)| if *is_own { own_lines[*at] } else { other_lines[*at] });
        let mixed: Vec<u8> = taken.flatten().copied().collect();
        let is_changed = world.faults("s", &mixed).iter().any(|fault| fault.is_change());
        prop_assert_eq!(is_changed, mixed != own);
    }
}

#[test]
fn chain_that_was_stripped_is_found_where_its_head_is() {
    let world = World::new();
    let bytes = world.file("s", &["a", "b"]);
    let old: Vec<u8> = lines(&bytes).iter().flat_map(|line| [without_link(line), b"\n".to_vec()].concat()).collect();
    assert_eq!(world.faults("s", &old), [ChainFault::Changed { line: 1 }]);
    // Without a head it looks like one of an older host, which cannot be verified either.
    assert_eq!(world.faults("copy", &old), [ChainFault::Unchained { lines: 2 }]);
    assert_eq!(world.faults("copy", &bytes), [ChainFault::Changed { line: 1 }], "the name is part of the hash");
}

#[test]
fn chain_covers_what_an_older_host_wrote_before_it() {
    let world = World::new();
    let mut bytes = b"{\"old\":1}\n{\"old\":2}\n".to_vec();
    world.add("s", &mut bytes, &["new"]);
    let examined = world.examine("s", &bytes);
    assert!(is_as_written(&examined));
    assert_eq!(examined.unchained, 2);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(world.faults("s", &changed).iter().any(|fault| fault.is_change()), "byte {at}");
    }
}

#[test]
fn chain_of_another_key_cannot_be_verified_and_is_covered_by_what_follows() {
    let (world, elsewhere) = (World::new(), World::new());
    let mut bytes = elsewhere.file("s", &["a", "b"]);
    assert_eq!(world.faults("s", &bytes), [ChainFault::OtherKey { line: 1 }]);
    world.add("s", &mut bytes, &["c"]);
    assert_eq!(world.faults("s", &bytes), []);
    bytes[3] ^= 1;
    assert_eq!(world.faults("s", &bytes), [ChainFault::Changed { line: 1 }]);
}

#[test]
fn chain_that_was_cut_says_so_until_a_line_is_written() {
    let world = World::new();
    let bytes = world.file("s", &["a", "b", "c"]);
    let mut cut = lines(&bytes)[..1].concat();
    assert_eq!(world.faults("s", &cut), [ChainFault::Cut { lines: 2 }]);
    // Opening it changes nothing about that.
    drop(world.store.chain("s", cut.as_slice()).expect("it is readable"));
    assert_eq!(world.faults("s", &cut), [ChainFault::Cut { lines: 2 }]);
    world.add("s", &mut cut, &["d"]);
    assert_eq!(world.faults("s", &cut), []);
    // The file as it was before is an older one now.
    assert!(world.faults("s", &bytes).iter().any(|fault| fault.is_change()));
    world.store.forget("s").expect("removed");
    world.store.forget("s").expect("it is gone already");
    assert!(!world.examine("s", &cut).has_head);
    assert_eq!(world.store.names().expect("listed"), Vec::<String>::new());
}

#[test]
fn chain_line_over_the_limit_is_not_read() {
    let world = World::new();
    let long = "x".repeat(1_000);
    let bytes = world.file("s", &["a", &long, "b"]);
    let examined = world.examine("s", &bytes);
    assert_eq!((examined.lines, examined.faults()[0]), (2, ChainFault::Changed { line: 2 }));
    assert_eq!(world.faults("s", &bytes), examined.faults());
    // A line that has not ended is not an exception.
    let cut = bytes.len() - lines(&bytes)[2].len() - 1;
    assert_eq!(world.faults("s", &bytes[..cut])[0], ChainFault::Changed { line: 2 });
}

/// Lines that end anywhere in the blocks that a file is read in, and some that are longer than one.
#[test]
fn chain_of_a_large_file_is_intact_until_a_byte_changes() {
    let world = World::new();
    let lengths = [2_300, 330, 160, 600_000, 40, 262_000, 100];
    let words: Vec<String> = lengths.iter().cycle().take(28).map(|length| "x".repeat(*length)).collect();
    let mut bytes = world.file("s", &words.iter().map(String::as_str).collect::<Vec<_>>());
    let check = |bytes: &[u8]| {
        let faults = world.store.faults("s", Cursor::new(bytes), 1 << 20).expect("it is readable");
        let examined = world.store.examine("s", bytes, 1 << 20, |_, _, _| {}).expect("it is readable");
        assert_eq!(faults, examined.faults());
        faults
    };
    assert_eq!(check(&bytes), []);
    // The file is read from where it stands.
    let mut behind = Cursor::new([b"before\n", &bytes[..]].concat());
    behind.set_position(7);
    assert_eq!(world.store.faults("s", behind, 1 << 20).expect("it is readable"), []);
    assert_eq!(check(&[&bytes[..], b"half a line"].concat()), []);
    for at in [0, 3, 2_400, bytes.len() / 2, bytes.len() - 2] {
        bytes[at] ^= 1;
        assert!(check(&bytes).iter().any(|fault| fault.is_change()), "byte {at}");
        bytes[at] ^= 1;
    }
}

// promise audit.key: The key of the chains is the user's alone, and one that others could read is not used.
#[test]
fn chain_key_is_private_and_made_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let key = world.folder.path().join("audit/key");
    let bytes = world.file("s", &["a"]);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&key), mode(&world.folder.path().join("audit/heads/s"))), (0o600, 0o600));
    let open = || ChainStore::open(&world.folder.path().join("audit"));
    let again = open().expect("it is there").examine("s", bytes.as_slice(), LIMIT, |_, _, _| {});
    assert!(is_as_written(&again.expect("it is readable")));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).expect("it is ours");
    assert!(matches!(open(), Err(ChainError::Exposed { .. })));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is ours");
    fs::write(&key, "short").expect("written");
    assert!(matches!(open(), Err(ChainError::NotAKey { .. })));
    assert!(!format!("{:?}", world.store).contains("key"));
}
