//! Secret keys: minisign's files, whose key is encrypted with what scrypt makes of a password.
//!
//! Promises: a file is written whole, for its owner alone, and never over an existing one; a file that others may read
//! is not read. The key is not shown by anything, `Debug` included.
//!
//! Deliberately not here: asking for the password.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_files::{Access, FileError, Mode, PrivateFile};
use host_text::{Advice, Flag};
use minisign::SecretKeyBox;

use super::PublicKey;

/// The largest file that is taken for a key. Protects against a wrong file.
const MAX_FILE: u64 = 4 << 10;
/// The most work and memory that a file may ask of scrypt: what minisign's own files ask for. Protects this machine
/// from a malicious file.
const MAX_WORK: (u64, u64) = (1 << 25, 1 << 30);

/// A secret key, in the clear.
pub struct SecretKey {
    key: minisign::SecretKey,
    public: PublicKey,
}

/// A key that was just made.
pub struct KeyPair {
    /// The text of its file, encrypted.
    file: String,
    public: PublicKey,
}

/// Why a secret key is not there.
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    /// It cannot be read or written.
    #[error("the secret key `{}` cannot be {what}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operation.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The file already exists.
    #[error("`{}` already exists, and a key file is never overwritten", .0.display())]
    Exists(PathBuf),
    /// Others may read it, or have it.
    #[error("other users can access the secret key `{}` ({why}); run chmod 600 '{}'", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// How.
        why: String,
    },
    /// It is a public key.
    #[error("`{}` is a public key, and only a secret key signs", .0.display())]
    Public(PathBuf),
    /// It is not a key.
    #[error("`{}` is not a minisign secret key: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The password does not open it.
    #[error("the password does not open the secret key `{}`", .0.display())]
    Password(PathBuf),
    /// A password that protects nothing.
    #[error("the password is empty; a secret key is kept with one")]
    NoPassword,
    /// No key was made.
    #[error("no key can be made: {0}")]
    Make(String),
    /// Nothing was signed.
    #[error("it cannot be signed: {0}")]
    Sign(String),
}

impl SecretKeyError {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::Exists(_) => Some(Advice::from("name another file with ").flag(Flag::Out)),
            Self::Public(_) => {
                Some(Advice::from("name the file that ").command("keys generate").text(" wrote beside it"))
            }
            Self::File { .. }
            | Self::Exposed { .. }
            | Self::Malformed { .. }
            | Self::Password(_)
            | Self::NoPassword
            | Self::Make(_)
            | Self::Sign(_) => None,
        }
    }
}

impl KeyPair {
    /// Makes a key, encrypted with a password. Takes a second.
    ///
    /// # Errors
    ///
    /// When the password is empty, or the system has no random numbers.
    pub fn generate(password: &str) -> Result<Self, SecretKeyError> {
        if password.is_empty() {
            return Err(SecretKeyError::NoPassword);
        }
        let failed = |error: minisign::PError| SecretKeyError::Make(error.to_string());
        let pair = minisign::KeyPair::generate_encrypted_keypair(Some(password.to_owned())).map_err(failed)?;
        let public = PublicKey::new(pair.pk);
        let comment = format!("minisign encrypted secret key of {}", public.id());
        Ok(Self { file: pair.sk.to_box(Some(&comment)).map_err(failed)?.into_string(), public })
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Writes the secret key, for its owner alone.
    ///
    /// # Errors
    ///
    /// When something is at the path already, whatever it is, or it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), SecretKeyError> {
        let failed = |error: io::Error| SecretKeyError::File { path: path.to_owned(), what: "written", error };
        host_files::create(path, self.file.as_bytes(), Mode::Private).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => SecretKeyError::Exists(path.to_owned()),
            _ => failed(error),
        })
    }
}

/// A secret key's file, read and not opened yet.
pub struct SecretKeyFile {
    path: PathBuf,
    text: String,
    encrypted: bool,
}

impl SecretKeyFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it is not there, is not a plain file of this user, others may read or write it, or it is not a secret key.
    pub fn read(path: &Path) -> Result<Self, SecretKeyError> {
        let failed = |error: io::Error| SecretKeyError::File { path: path.to_owned(), what: "read", error };
        let malformed = |why: &str| SecretKeyError::Malformed { path: path.to_owned(), why: why.to_owned() };
        // A public key is for everybody to read: before any word about who may read the file.
        if host_files::read_text(path, MAX_FILE).is_ok_and(|text| text.parse::<PublicKey>().is_ok()) {
            return Err(SecretKeyError::Public(path.to_owned()));
        }
        let text = match PrivateFile::new(path, Access::ReadOrWrite, MAX_FILE).read() {
            Ok(Some(text)) => text,
            Ok(None) => return Err(failed(io::ErrorKind::NotFound.into())),
            Err(FileError::Io(error)) => return Err(failed(error)),
            Err(FileError::Exposed(how)) => {
                return Err(SecretKeyError::Exposed { path: path.to_owned(), why: how.to_string() });
            }
            Err(other) => return Err(malformed(&other.to_string())),
        };
        let encrypted = inspect(&text).map_err(malformed)?;
        Ok(Self { path: path.to_owned(), text, encrypted })
    }

    /// Returns whether it needs a password; minisign can also write a key without one.
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Opens it. Takes a second, or a few for one that minisign itself made.
    ///
    /// # Errors
    ///
    /// If the password is wrong.
    pub fn open(&self, password: &str) -> Result<SecretKey, SecretKeyError> {
        let opened = match self.encrypted {
            true => SecretKeyBox::from(self.text.clone()).into_secret_key(Some(password.to_owned())),
            // Debian's minisign writes no checksum into such a file, and the library's own way to read it wants one. A
            // key that is damaged signs nothing all the same: each signature is checked as it is made.
            false => minisign::SecretKey::from_bytes(&key_bytes(&self.text).unwrap_or_default()),
        };
        let malformed =
            |error: &minisign::PError| SecretKeyError::Malformed { path: self.path.clone(), why: error.to_string() };
        let key = opened.map_err(|error| match error.kind() {
            minisign::ErrorKind::Verify if self.encrypted => SecretKeyError::Password(self.path.clone()),
            _ => malformed(&error),
        })?;
        SecretKey::new(key).map_err(|error| malformed(&error))
    }
}

/// The content of a file's second line.
fn key_bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let line = text.lines().nth(1).ok_or("it does not have two lines")?;
    STANDARD.decode(line).map_err(|_| "its second line is not base64")
}

/// Returns whether a file's key is encrypted, if the file looks like a key.
fn inspect(text: &str) -> Result<bool, &'static str> {
    let bytes = key_bytes(text)?;
    // Algorithms of the signature, the encryption and the checksum: two bytes each. Salt; work; memory; id, key and
    // checksum.
    if bytes.len() != 6 + 32 + 8 + 8 + 8 + 64 + 32 || !bytes.starts_with(b"Ed") {
        return Err("its second line is not a key");
    }
    let number =
        |at: usize| bytes.iter().skip(at).take(8).rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let (work, memory) = (number(38), number(46));
    match &bytes[2..4] {
        [0, 0] => Ok(false),
        b"Sc" if work <= MAX_WORK.0 && memory <= MAX_WORK.1 => Ok(true),
        b"Sc" => Err("its password would take more work than any that minisign makes"),
        _ => Err("it is encrypted in a way that is not minisign's"),
    }
}

impl SecretKey {
    fn new(key: minisign::SecretKey) -> Result<Self, minisign::PError> {
        let public = PublicKey::new(minisign::PublicKey::from_secret_key(&key)?);
        Ok(Self { key, public })
    }

    /// A key that is in no file: for tests, which make hundreds.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn without_password() -> Result<Self, SecretKeyError> {
        let made = minisign::KeyPair::generate_unencrypted_keypair().and_then(|pair| Self::new(pair.sk));
        made.map_err(|error| SecretKeyError::Make(error.to_string()))
    }

    /// Its public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn parts(&self) -> (&minisign::SecretKey, &minisign::PublicKey) {
        (&self.key, self.public.minisign())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public.id())
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public.id())
    }
}

impl fmt::Debug for SecretKeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKeyFile({})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    // promise bundle.secret-key: A secret key file belongs to its owner only, and its password is never shown.
    #[test]
    fn secret_key_file_is_private_to_its_owner_and_replaces_no_other_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("acme.key");
        let pair = KeyPair::generate("correct horse").expect("made");
        pair.write(&path).expect("written");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let file = SecretKeyFile::read(&path).expect("read");
        assert!(file.is_encrypted());
        assert_eq!(file.open("correct horse").expect("opened").public(), pair.public());
        assert!(matches!(file.open("correct house"), Err(SecretKeyError::Password(_))));
        assert!(!format!("{pair:?} {file:?} {:?}", file.open("correct horse")).contains("RWR"));

        let before = std::fs::read(&path).expect("read");
        let again = pair.write(&path).expect_err("it is there");
        assert!(matches!(again, SecretKeyError::Exists(_)), "{again}");
        assert_eq!(std::fs::read(&path).expect("read"), before);
        let dangling = folder.path().join("link");
        symlink(folder.path().join("nothing"), &dangling).expect("a link");
        assert!(matches!(pair.write(&dangling), Err(SecretKeyError::Exists(_))));
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 2, "no temporary file stays");
        assert!(matches!(KeyPair::generate(""), Err(SecretKeyError::NoPassword)));
    }

    // promise bundle.secret-key
    #[test]
    fn secret_key_file_that_others_can_use_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("acme.key");
        KeyPair::generate("x").expect("made").write(&path).expect("written");
        for (mode, right) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            let read = SecretKeyFile::read(&path).map(drop).map_err(|error| error.to_string());
            assert_eq!(read.is_ok(), right, "{mode:o}: {read:?}");
            assert!(right || read.expect_err("refused").contains("chmod 600"));
        }
    }

    #[test]
    fn secret_key_file_that_is_invalid_is_reported_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let mut greedy = vec![0; 158];
        greedy[..6].copy_from_slice(b"EdScB2");
        greedy[46..54].fill(0xff);
        for (text, says) in [
            (String::new(), "two lines"),
            ("untrusted comment: x\nRWQ\n".to_owned(), "base64"),
            ("untrusted comment: x\nRWQf\n".to_owned(), "not a key"),
            (format!("untrusted comment: x\n{}\n", STANDARD.encode(greedy)), "more work"),
            ("x".repeat(5000), "over the limit"),
        ] {
            std::fs::write(&path, text).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
            let error = SecretKeyFile::read(&path).expect_err("it is none").to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(SecretKeyFile::read(folder.path()).is_err());
        assert!(SecretKeyFile::read(&folder.path().join("nothing")).is_err());
    }
}
