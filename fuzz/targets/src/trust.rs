//! Keys, signatures, the list of trusted keys, and the lock file of installed plugins.

use std::fs;
use std::sync::OnceLock;

use host_bundle::{KeyId, LockFile, OciDigest, Pattern, PublicKey, Rotation, Signature, Trust, TrustStore};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::shown;

/// A statement that a key made, which no other text may pass for.
const STATEMENT: &str = include_str!("trust/rotation.txt");

/// The bytes are read as each text of the trust in keys. What is read is written back as it was, and the one statement
/// that a key signed counts only as it was signed.
pub fn trust(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(key) = text.parse::<PublicKey>() {
        assert_eq!(key.to_file().parse::<PublicKey>().as_ref(), Ok(&key));
        assert_eq!(key.to_string().parse::<PublicKey>().as_ref(), Ok(&key));
    }
    if let Ok(id) = text.parse::<KeyId>() {
        assert_eq!(id.to_string().parse::<KeyId>(), Ok(id));
    }
    if let Ok(digest) = text.parse::<OciDigest>() {
        assert_eq!(digest.as_str(), text);
    }
    if let Ok(pattern) = text.parse::<Pattern>() {
        assert_eq!(pattern.to_string().parse::<Pattern>().ok().as_ref(), Some(&pattern));
    }
    if let Ok(signature) = Signature::new(text) {
        let (key, statement) = (signature.key_id(), signature.statement());
        assert_eq!(key.is_ok(), statement.is_ok(), "{text:?}");
    }
    check_rotation(text);
    check_list(text);
}

fn check_rotation(text: &str) {
    let Ok(rotation) = Rotation::parse(text) else { return };
    let true_one = Rotation::parse(STATEMENT).expect("a statement");
    let now = Timestamp::UNIX_EPOCH;
    let mut trust = Trust::default();
    let patterns = vec!["acme/*".parse().expect("a pattern")];
    trust.trust(true_one.old_key().clone(), patterns, None, now).expect("a new key");
    let is_signed = trust.rotate(&rotation, now).is_ok();
    // The first line of a signature is a comment that nothing covers.
    let covered = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("untrusted comment:"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!is_signed || covered(text) == covered(STATEMENT), "{text:?}");
    assert!(is_signed || text != STATEMENT, "the statement itself");
}

fn check_list(text: &str) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder")).path().join("keys.toml");
    fs::write(&path, text).expect("a file");
    let store = TrustStore::at(path);
    match store.load() {
        Ok(trust) => {
            store.change(|_| Ok(())).expect("nothing changes");
            assert_eq!(store.load().expect("it was just written"), trust);
        }
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
}

/// A lock file that is read is the same when it was written and read again.
pub fn lock(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match LockFile::parse(text) {
        Ok(file) => assert_eq!(LockFile::parse(&file.to_toml()), Ok(file)),
        Err(error) => shown::prose(&host_text::visible(&error.to_string())),
    }
}
