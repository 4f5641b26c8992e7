use std::fs::{self, FileTimes};

use super::*;
use crate::admission::EMPTY_COMPONENT;

/// A cache with one entry, which was verified and has a stamp.
struct Stamped {
    engine: Engine,
    cache: Cache,
    digest: Digest,
    folder: tempfile::TempDir,
}

impl Stamped {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache { settled: Duration::ZERO, ..Cache::open(folder.path()).expect("opened") };
        let stamped = Self { engine: Engine::default(), cache, digest: Digest::of(EMPTY_COMPONENT), folder };
        stamped.store(&stamped.digest);
        assert!(!stamped.has_stamp(), "storing an entry verifies nothing");
        assert_eq!(stamped.load(), "hit");
        assert!(stamped.has_stamp());
        stamped
    }

    fn store(&self, digest: &Digest) {
        let component = Component::new(&self.engine, EMPTY_COMPONENT).expect("compiled");
        self.cache.store(&self.engine, digest, &component.serialize().expect("made")).expect("stored");
    }

    fn load(&self) -> &'static str {
        match self.cache.load(&self.engine, &self.digest) {
            Lookup::Hit(_) => "hit",
            Lookup::Miss => "miss",
            Lookup::Refused => "refused",
        }
    }

    fn entry(&self) -> PathBuf {
        self.cache.path(&self.engine, &self.digest)
    }

    /// Whether the entry, as it is now, has its stamp.
    fn has_stamp(&self) -> bool {
        let (file, about) = open_bounded(&self.entry(), MAX_ENTRY).expect("it is there");
        let mac = claimed(&file, about.len()).expect("read").expect("it ends like an entry");
        Stamp::new(&self.cache.key, &self.entry(), &about, &mac).is_there()
    }
}

// promise cache.stamp: An entry that was verified is verified again when its file changed in any way, and never by
//   another's stamp.
#[test]
fn cache_stamp_of_an_entry_that_changed_is_worth_nothing() {
    let change = |at: usize, stamped: &Stamped| {
        let about = fs::metadata(stamped.entry()).expect("there");
        let mut bytes = fs::read(stamped.entry()).expect("read");
        bytes[at] ^= 1;
        let file = File::options().write(true).open(stamped.entry()).expect("opened");
        file.write_all_at(&bytes, 0).expect("written");
        // As one does who does not want it to be noticed.
        let times = FileTimes::new()
            .set_modified(about.modified().expect("known"))
            .set_accessed(about.modified().expect("known"));
        file.set_times(times).expect("set");
        assert_eq!(
            fs::metadata(stamped.entry()).expect("there").modified().expect("known"),
            about.modified().expect("known")
        );
    };
    let length = fs::read(Stamped::new().entry()).expect("read").len();
    for at in [0, length / 2, length - TAIL_BYTES - 1, length - TAIL_BYTES, length - MAGIC.len(), length - 1] {
        let stamped = Stamped::new();
        change(at, &stamped);
        assert_eq!(stamped.load(), "refused", "the byte at {at}");
        assert!(!stamped.entry().exists());
    }
}

// promise cache.stamp
#[test]
fn cache_stamp_belongs_to_one_file() {
    let stamped = Stamped::new();
    let stamp = stamped.entry().with_extension("stamp");
    // The same bytes in another file, as after a restored backup.
    let copy = stamped.folder.path().join("copy");
    fs::copy(stamped.entry(), &copy).expect("copied");
    fs::rename(&copy, stamped.entry()).expect("renamed");
    assert!(!stamped.has_stamp());
    assert_eq!(stamped.load(), "hit");
    assert!(stamped.has_stamp(), "it was verified again");

    // The stamp of another entry.
    let other = Stamped {
        digest: Digest::of(b"other"),
        engine: Engine::default(),
        cache: Cache::open(stamped.folder.path()).expect("opened"),
        folder: tempfile::tempdir().expect("a folder"),
    };
    let other = Stamped { cache: Cache { settled: Duration::ZERO, ..other.cache }, ..other };
    other.store(&other.digest);
    assert_eq!(other.load(), "hit");
    fs::copy(other.entry().with_extension("stamp"), &stamp).expect("copied");
    assert!(other.has_stamp() && !stamped.has_stamp());
}

// promise cache.stamp
#[test]
fn cache_stamp_that_is_forged_or_no_file_is_not_taken() {
    let stamped = Stamped::new();
    let stamp = stamped.entry().with_extension("stamp");
    let good = fs::read(&stamp).expect("read");
    let unkeyed = blake3::hash(&fs::read(stamped.entry()).expect("read"));
    for forged in
        [&[][..], &[0; MAC_BYTES], &good[..MAC_BYTES - 1], unkeyed.as_bytes(), &[good.as_slice(), &[0]].concat()[1..]]
    {
        fs::write(&stamp, forged).expect("written");
        assert!(!stamped.has_stamp(), "{forged:?}");
        assert_eq!(stamped.load(), "hit", "it is verified instead");
        assert!(stamped.has_stamp());
    }
    let elsewhere = stamped.folder.path().join("elsewhere");
    fs::rename(&stamp, &elsewhere).expect("renamed");
    std::os::unix::fs::symlink(&elsewhere, &stamp).expect("made");
    assert!(!stamped.has_stamp(), "a link");
    fs::remove_file(&stamp).expect("removed");
    rustix::fs::mkfifoat(rustix::fs::CWD, &stamp, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).expect("made");
    assert!(!stamped.has_stamp(), "a pipe, which is not waited for");
}

#[test]
fn cache_stamp_is_not_made_for_an_entry_that_just_changed() {
    let stamped = Stamped::new();
    fs::remove_file(stamped.entry().with_extension("stamp")).expect("removed");
    let cautious = Stamped { cache: Cache { settled: Duration::from_secs(3600), ..stamped.cache }, ..stamped };
    assert_eq!(cautious.load(), "hit");
    assert!(!cautious.has_stamp());
}
