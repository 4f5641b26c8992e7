//! What the cache of compiled components promises: nothing is loaded that this host did not write for this component,
//! and a cache in whatever state never makes a call fail.
//!
//! Whether an entry was loaded or made anew is told by its file: one that was loaded stays the file that it is.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use host_capability::Grants;
use host_plugin::{Plugin, Runtime, RuntimeOptions};
use host_tests::{Bench, guest};
use serde_json::json;

/// Bytes behind the code: the keyed hash, and a mark of eight.
const TAIL: usize = 40;

/// A cache folder that is not made yet.
struct Cache {
    folder: PathBuf,
    beside: tempfile::TempDir,
}

impl Cache {
    fn new() -> Self {
        let beside = tempfile::tempdir().expect("a folder");
        Self { folder: beside.path().join("made/on/the/way"), beside }
    }

    /// A cache that was filled by a first start.
    async fn filled() -> Self {
        let cache = Self::new();
        cache.start().await;
        cache
    }

    /// Calls the guest with a runtime of its own, as a process does that has just started. The call must work.
    async fn start(&self) {
        start(&self.folder, "misbehave").await;
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key")
    }

    /// The names of what lies in the folder besides the key and the stamps, which a slow machine makes.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folder).expect("it is there").map(|entry| entry.expect("read").file_name());
        let names = names.map(|name| name.into_string().expect("ASCII"));
        names.filter(|name| name != "key" && !name.ends_with(".stamp")).collect()
    }

    /// The one entry.
    fn entry(&self) -> PathBuf {
        let names = self.names();
        let [name] = names.as_slice() else { panic!("one entry, not {names:?}") };
        assert!(name.ends_with(".aot"), "{name}");
        self.folder.join(name)
    }
}

async fn start(folder: &Path, name: &str) {
    let runtime = Runtime::new(RuntimeOptions { cache: Some(folder.to_owned()), ..RuntimeOptions::default() });
    let known = guest(name);
    let plugin = Plugin::new(
        known.name().clone(),
        known.component().expect("it is read").into_owned(),
        known.declared().clone(),
    );
    let grants = ["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"];
    let bench = Bench::with(Arc::clone(known), if *known.declared() == Grants::none() { &[] } else { &grants });
    bench.file("a", "still here");
    let (tool, arguments) = match name {
        "misbehave" => ("echo", json!({"text": "still here"})),
        _ => ("read", json!({"path": "a"})),
    };
    let output = runtime.call(&plugin, bench.invocation(tool, arguments)).await.expect("the call works");
    assert_eq!(host_tests::text(&output), "still here");
}

/// A file as it is now. It is kept open, so that no other file is given its number.
struct Seen(File);

impl Seen {
    fn at(path: &Path) -> Self {
        Self(File::open(path).expect("it is there"))
    }

    /// Whether the path is that very file.
    fn is_still_at(&self, path: &Path) -> bool {
        let (then, now) = (self.0.metadata().expect("it is open"), fs::symlink_metadata(path).expect("it is there"));
        (then.dev(), then.ino()) == (now.dev(), now.ino())
    }
}

/// A pipe that nobody writes to: whoever opens it as a file waits for ever.
fn pipe(path: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)?)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o7777
}

#[tokio::test]
async fn cache_plugin_that_was_compiled_once_is_loaded_by_the_next_start() {
    let cache = Cache::filled().await;
    assert_eq!((mode(&cache.folder), mode(&cache.key()), mode(&cache.entry())), (0o700, 0o600, 0o600));
    let (key, entry) = (Seen::at(&cache.key()), Seen::at(&cache.entry()));
    cache.start().await;
    assert!(key.is_still_at(&cache.key()) && entry.is_still_at(&cache.entry()));
}

// promise cache.entry: An entry that is cut, changed, another component's or made with another key is removed and
//   compiled again.
#[tokio::test]
async fn an_entry_that_was_cut_or_grew_is_made_again() {
    let cache = Cache::filled().await;
    let entry = cache.entry();
    let good = fs::read(&entry).expect("read");
    let middle = good.len() / 2;
    let code = good.len() - TAIL;
    for length in [0, 8, TAIL - 1, TAIL, middle, code, good.len() - 1, good.len() + 1, (512 << 20) + 1] {
        let damaged = Seen::at(&entry);
        File::options().write(true).open(&entry).and_then(|file| file.set_len(length as u64)).expect("changed");
        cache.start().await;
        assert!(!damaged.is_still_at(&entry), "{length} of {} bytes were trusted", good.len());
        assert!(fs::read(&entry).expect("read") == good, "{length}: it is whole again");
    }
}

// promise cache.entry
#[tokio::test]
async fn an_entry_with_a_changed_byte_is_made_again() {
    let cache = Cache::filled().await;
    let entry = cache.entry();
    let good = fs::read(&entry).expect("read");
    let code = good.len() - TAIL;
    for at in [0, 1, good.len() / 2, code - 1, code, code + 31, code + 32, good.len() - 1] {
        let damaged = Seen::at(&entry);
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        fs::write(&entry, bytes).expect("written");
        cache.start().await;
        assert!(!damaged.is_still_at(&entry), "the byte at {at} was not looked at");
        assert!(fs::read(&entry).expect("read") == good, "{at}: it is whole again");
    }
}

// promise cache.entry
#[tokio::test]
async fn an_entry_of_another_component_is_not_taken() {
    let cache = Cache::filled().await;
    let one = cache.entry();
    start(&cache.folder, "reach").await;
    let other = cache.names().into_iter().map(|name| cache.folder.join(name)).find(|path| *path != one);
    let other = other.expect("two components have two entries");
    let good = fs::read(&one).expect("read");
    fs::copy(&other, &one).expect("copied");
    let copied = Seen::at(&one);
    cache.start().await;
    assert!(!copied.is_still_at(&one) && fs::read(&one).expect("read") == good);
}

// promise cache.entry
#[tokio::test]
async fn an_entry_that_was_written_with_another_key_is_not_taken() {
    let (cache, other) = (Cache::filled().await, Cache::filled().await);
    let (entry, stranger) = (cache.entry(), other.entry());
    assert_eq!(entry.file_name(), stranger.file_name(), "it would be found");
    let (good, strange) = (fs::read(&entry).expect("read"), fs::read(&stranger).expect("read"));
    let code = good.len() - TAIL;
    assert!(good[..code] == strange[..code] && good != strange, "the same code, and another hash");
    fs::copy(&stranger, &entry).expect("copied");
    let copied = Seen::at(&entry);
    cache.start().await;
    assert!(!copied.is_still_at(&entry) && fs::read(&entry).expect("read") == good);
}

// promise cache.key: A key that is damaged or readable by others is discarded with its entries; a linked key or
//   another user's key is not used.
#[tokio::test]
async fn cache_key_that_others_could_know_is_replaced_with_all_its_entries() {
    let cache = Cache::filled().await;
    for what in ["open to all", "open to the group", "too short", "too long", "gone", "a pipe"] {
        let before = fs::read(cache.key()).expect("read");
        let entry = Seen::at(&cache.entry());
        let key = cache.key();
        match what {
            "open to all" => fs::set_permissions(key, Permissions::from_mode(0o644)),
            "open to the group" => fs::set_permissions(key, Permissions::from_mode(0o620)),
            "too short" => fs::write(key, [1; 31]),
            "too long" => fs::write(key, [1; 33]),
            "gone" => fs::remove_file(key),
            _ => fs::remove_file(&key).and_then(|()| pipe(&key)),
        }
        .expect("damaged");
        cache.start().await;
        assert!(fs::symlink_metadata(cache.key()).expect("there").is_file(), "{what}");
        assert_eq!(mode(&cache.key()), 0o600, "{what}");
        assert!(fs::read(cache.key()).expect("read") != before, "{what}: the key is another");
        assert!(!entry.is_still_at(&cache.entry()), "{what}: the entry was trusted");
        let (key, entry) = (Seen::at(&cache.key()), Seen::at(&cache.entry()));
        cache.start().await;
        assert!(key.is_still_at(&cache.key()) && entry.is_still_at(&cache.entry()), "{what}: and then it works again");
    }
}

// promise cache.folder: An entry or folder that others may write to is not used.
#[tokio::test]
async fn cache_entry_or_folder_that_others_can_write_to_is_not_used() {
    let cache = Cache::filled().await;
    let entry = cache.entry();
    for open in [0o620, 0o602] {
        fs::set_permissions(&entry, Permissions::from_mode(open)).expect("opened");
        let seen = Seen::at(&entry);
        cache.start().await;
        assert!(!seen.is_still_at(&entry), "an entry with mode {open:o} was trusted");
        assert_eq!(mode(&entry), 0o600);
    }
    fs::set_permissions(&cache.folder, Permissions::from_mode(0o770)).expect("opened");
    fs::remove_file(&entry).expect("removed");
    cache.start().await;
    assert!(!entry.exists(), "nothing is kept where others can write");
}

// promise cache.key
#[tokio::test]
async fn cache_key_that_is_linked_or_belongs_to_a_different_user_is_not_used() {
    let cache = Cache::filled().await;
    let entry = Seen::at(&cache.entry());
    let known = cache.beside.path().join("known");
    fs::copy(cache.key(), &known).expect("copied");
    fs::remove_file(cache.key()).expect("removed");
    symlink(&known, cache.key()).expect("made");
    cache.start().await;
    assert!(fs::symlink_metadata(cache.key()).expect("there").is_symlink() && entry.is_still_at(&cache.entry()));
    // Only root can give a file away.
    if rustix::process::geteuid().is_root() {
        fs::rename(&known, cache.key()).expect("renamed");
        std::os::unix::fs::chown(cache.key(), Some(1), None).expect("given away");
        let foreign = Seen::at(&cache.key());
        cache.start().await;
        assert!(foreign.is_still_at(&cache.key()) && entry.is_still_at(&cache.entry()));
    }
}

// promise cache.key
#[tokio::test]
async fn cache_entry_that_is_not_a_file_is_neither_trusted_nor_waited_for() {
    let cache = Cache::filled().await;
    let entry = cache.entry();
    let good = fs::read(&entry).expect("read");
    let elsewhere = cache.beside.path().join("elsewhere");
    // The very entry, and still not by a link: what it leads to can change at any time.
    fs::rename(&entry, &elsewhere).expect("renamed");
    symlink(&elsewhere, &entry).expect("made");
    cache.start().await;
    assert!(fs::symlink_metadata(&entry).expect("there").is_file() && fs::read(&entry).expect("read") == good);
    assert!(fs::read(&elsewhere).expect("read") == good, "what the link led to stays");

    fs::remove_file(&entry).expect("removed");
    pipe(&entry).expect("made");
    cache.start().await;
    assert!(fs::symlink_metadata(&entry).expect("there").is_file() && fs::read(&entry).expect("read") == good);

    fs::remove_file(&entry).expect("removed");
    fs::create_dir(&entry).expect("made");
    cache.start().await;
    assert_eq!(cache.names().len(), 1, "what could not be put in its place is not left over");
}

// promise cache.optional: An unusable cache makes the start slower and fails no call.
#[tokio::test]
async fn cache_that_cannot_be_used_makes_nothing_fail() {
    let cache = Cache::new();
    let file = cache.beside.path().join("file");
    fs::write(&file, "mine").expect("written");
    let with_a_folder_for_a_key = cache.beside.path().join("folder");
    fs::create_dir_all(with_a_folder_for_a_key.join("key")).expect("made");
    for folder in [&file, &file.join("beneath"), Path::new("/proc/nowhere"), &with_a_folder_for_a_key] {
        start(folder, "misbehave").await;
    }
    assert_eq!(fs::read(&file).expect("read"), b"mine");
}

// promise cache.shared: Entries and the key appear atomically, so several processes can share one folder.
#[test]
fn hosts_that_start_at_once_share_one_key_and_one_entry() {
    const HOSTS: usize = 4;
    let cache = Cache::new();
    guest("misbehave");
    let together = Barrier::new(HOSTS);
    let run = |hosts: &Barrier| {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        hosts.wait();
        tokio.block_on(cache.start());
    };
    std::thread::scope(|scope| {
        for _ in 0..HOSTS {
            scope.spawn(|| run(&together));
        }
    });
    assert_eq!(mode(&cache.key()), 0o600);
    let (key, entry) = (Seen::at(&cache.key()), Seen::at(&cache.entry()));
    run(&Barrier::new(1));
    assert!(key.is_still_at(&cache.key()) && entry.is_still_at(&cache.entry()), "each can read what another wrote");
}
