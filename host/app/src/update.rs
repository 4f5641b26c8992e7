//! A newer release in the place of this program: of an archive that the user has fetched and whose signature holds.
//!
//! Owns what is checked before and in which order. Promises that the program is replaced whole or not at all, and by a
//! newer release only: an old archive with its signature brings no old hole back.
//! Deliberately not here: fetching anything, and updating what a package manager keeps ([`Installation`]).

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use host_bundle::{PublicKey, Signature, SignatureError};
use host_files::{FileError, Mode};
use host_settings::error::{ErrorKind, Fault};
use host_text::{Advice, Flag};
use semver::Version;

use crate::installation::Installation;

/// The largest archive, in bytes. Releases have a fifth of it.
const MAX_ARCHIVE: u64 = 128 << 20;
/// The largest program in an archive, in bytes. Releases have a fifth of it.
const MAX_PROGRAM: u64 = 512 << 20;
/// The largest signature, in bytes; one has about 300.
const MAX_SIGNATURE: u64 = 4 << 10;

/// What was updated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The file.
    pub program: PathBuf,
    /// The version that it had.
    pub from: Version,
    /// The version that it has.
    pub to: Version,
}

/// Why nothing was updated.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It is not this program's to replace the file.
    #[error("`{}` is kept up to date by what installed it: {installation}", program.display())]
    Kept {
        /// The file.
        program: PathBuf,
        /// How it was installed.
        installation: Installation,
    },
    /// There is no key to check a signature with.
    #[error("this build knows no key of releases")]
    NoKey,
    /// A file cannot be read.
    #[error("`{}` cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: FileError,
    },
    /// The signature is not one of this release.
    #[error("the signature of `{}` does not hold: {why}", archive.display())]
    Signature {
        /// The archive.
        archive: PathBuf,
        /// Why.
        why: SignatureError,
    },
    /// The signed comment names another thing.
    #[error("`{}` is signed as `{statement}`, which is not a release named `{name}`", archive.display())]
    Statement {
        /// The archive.
        archive: PathBuf,
        /// The comment.
        statement: String,
        /// The name of the file.
        name: String,
    },
    /// It is not newer.
    #[error("`{}` is version {found}, and this program is {own}", archive.display())]
    NotNewer {
        /// The archive.
        archive: PathBuf,
        /// Its version.
        found: Version,
        /// This program's.
        own: Version,
    },
    /// It is for other systems.
    #[error("`{}` is for {found}, and this program for {own}", archive.display())]
    OtherTarget {
        /// The archive.
        archive: PathBuf,
        /// What it is for.
        found: String,
        /// What this program is for.
        own: &'static str,
    },
    /// The archive has no program that can be taken.
    #[error("`{}` has no program", archive.display())]
    NoProgram {
        /// The archive.
        archive: PathBuf,
        /// What is wrong with it; `None` if it can be read.
        source: Option<io::Error>,
    },
    /// The program cannot be replaced.
    #[error("`{}` cannot be replaced", program.display())]
    Replace {
        /// The file.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Fault for UpdateError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Replace { .. } => ErrorKind::Write,
            Self::Kept { .. }
            | Self::NoKey
            | Self::Read { .. }
            | Self::Signature { .. }
            | Self::Statement { .. }
            | Self::NotNewer { .. }
            | Self::OtherTarget { .. }
            | Self::NoProgram { .. } => ErrorKind::Input,
        }
    }

    fn help(&self) -> Option<Advice> {
        Some(match self {
            Self::Kept { installation, .. } => Advice::from("update it there: ").then(installation.update()),
            Self::NoKey => {
                Advice::from("name the key that the release was announced with: ").flag_with(Flag::PublicKey, "RW…")
            }
            Self::Signature { .. } | Self::Statement { .. } => {
                "fetch the archive and its `.minisig` again from where releases are announced".into()
            }
            Self::Replace { .. } => "run it as the user who owns the file".into(),
            Self::Read { .. } | Self::NotNewer { .. } | Self::OtherTarget { .. } | Self::NoProgram { .. } => {
                return None;
            }
        })
    }
}

/// A program that is to be updated.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Its file, without links.
    pub path: &'a Path,
    /// Its version.
    pub version: &'a Version,
    /// The target that it was built for.
    pub target: &'static str,
}

/// Puts the program of an archive in the place of this one. The signature is beside the archive, with `.minisig` behind
/// its name, and was made by the key with the comment `host VERSION ARCHIVE`.
///
/// # Errors
///
/// When something else keeps this program up to date, the signature does not hold or names another file, the release is
/// not newer or for another target, or the file cannot be replaced. The program is then as it was.
pub fn update(program: Program<'_>, archive: &Path, key: Option<&PublicKey>) -> Result<Updated, UpdateError> {
    let installation = Installation::of(program.path);
    if installation != Installation::File {
        return Err(UpdateError::Kept { program: program.path.to_owned(), installation });
    }
    let key = key.ok_or(UpdateError::NoKey)?;
    let bytes = read(archive, MAX_ARCHIVE)?;
    let mut beside = archive.as_os_str().to_owned();
    beside.push(".minisig");
    let signature = read(Path::new(&beside), MAX_SIGNATURE)?;
    let found = signed(archive, &bytes, &String::from_utf8_lossy(&signature), key)?;
    let newer = Release { archive, version: found.0, target: found.1 };
    newer.is_for(&program)?;
    let new = program_of(&bytes).map_err(|source| UpdateError::NoProgram { archive: archive.to_owned(), source })?;
    host_files::replace(program.path, &new, Mode::Program)
        .map_err(|source| UpdateError::Replace { program: program.path.to_owned(), source })?;
    Ok(Updated { program: program.path.to_owned(), from: program.version.clone(), to: newer.version })
}

fn read(file: &Path, limit: u64) -> Result<Vec<u8>, UpdateError> {
    host_files::read_file(file, limit).map_err(|source| UpdateError::Read { file: file.to_owned(), source })
}

/// The version and the target that the archive is signed as, if its signature holds.
fn signed(archive: &Path, bytes: &[u8], signature: &str, key: &PublicKey) -> Result<(Version, String), UpdateError> {
    let wrong = |why| UpdateError::Signature { archive: archive.to_owned(), why };
    let signature = Signature::new(signature).map_err(wrong)?;
    let statement = signature.statement().map_err(wrong)?;
    // Checked with the comment that it has, and what that says afterwards: it is then the word of the key.
    signature.check(key, bytes, &statement).map_err(wrong)?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let words: Vec<&str> = statement.split(' ').collect();
    let stated = match words.as_slice() {
        ["host", version, file] if **file == name => version.parse().ok(),
        _ => None,
    };
    let target = name.strip_prefix("host-").and_then(|rest| rest.strip_suffix(".tar.gz")).map(str::to_owned);
    match (stated, target) {
        (Some(version), Some(target)) => Ok((version, target)),
        _ => Err(UpdateError::Statement { archive: archive.to_owned(), statement, name }),
    }
}

/// A release whose signature holds.
struct Release<'a> {
    archive: &'a Path,
    version: Version,
    target: String,
}

impl Release<'_> {
    /// Checks that it may take the place of this program.
    fn is_for(&self, program: &Program<'_>) -> Result<(), UpdateError> {
        let archive = self.archive.to_owned();
        // A static program takes the place of one that is linked to a C library, and the other way round.
        if system(&self.target) != system(program.target) {
            return Err(UpdateError::OtherTarget { archive, found: self.target.clone(), own: program.target });
        }
        if self.version <= *program.version {
            return Err(UpdateError::NotNewer { archive, found: self.version.clone(), own: program.version.clone() });
        }
        Ok(())
    }
}

/// The processor and the system of a target.
fn system(target: &str) -> (&str, &str) {
    let processor = target.split('-').next().unwrap_or(target);
    let system = ["linux", "darwin"].into_iter().find(|system| target.split('-').any(|part| part == *system));
    (processor, system.unwrap_or(target))
}

/// The program in an archive: the file `host` in its one folder.
fn program_of(archive: &[u8]) -> Result<Vec<u8>, Option<io::Error>> {
    let mut tar = tar::Archive::new(GzDecoder::new(archive));
    for entry in tar.entries().map_err(Some)? {
        let entry = entry.map_err(Some)?;
        let path = entry.path().map_err(Some)?;
        if path.components().count() != 2 || !path.ends_with("host") || !entry.header().entry_type().is_file() {
            continue;
        }
        let mut program = Vec::new();
        entry.take(MAX_PROGRAM).read_to_end(&mut program).map_err(Some)?;
        return Ok(program);
    }
    Err(None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Cursor, Write as _};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use minisign::KeyPair;

    use super::*;

    const TARGET: &str = "x86_64-unknown-linux-gnu";
    const ARCHIVE: &str = "host-x86_64-unknown-linux-musl.tar.gz";

    /// An archive with these files.
    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, text) in files {
            let mut header = tar::Header::new_ustar();
            header.set_size(text.len() as u64);
            header.set_mode(0o755);
            tar.append_data(&mut header, path, text.as_bytes()).expect("packed");
        }
        let mut packed = tar.into_inner().expect("packed");
        packed.flush().expect("packed");
        packed.finish().expect("packed")
    }

    fn signature(key: &KeyPair, bytes: &[u8], statement: &str) -> String {
        let signed = minisign::sign(Some(&key.pk), &key.sk, Cursor::new(bytes), Some(statement), Some("by a test"));
        signed.expect("signed").into_string()
    }

    fn key() -> KeyPair {
        KeyPair::generate_unencrypted_keypair().expect("a key")
    }

    /// What an update ends with, and what the program is then.
    fn updated(
        name: &str,
        bytes: &[u8],
        signature: Option<&str>,
        key: Option<&KeyPair>,
        prepare: impl FnOnce(&Path),
    ) -> (Result<Updated, UpdateError>, String) {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("a folder");
        let own = root.join("bin/host");
        fs::create_dir(root.join("bin")).expect("made");
        fs::write(&own, "old").expect("written");
        prepare(&root);
        let archive = root.join(name);
        fs::write(&archive, bytes).expect("written");
        if let Some(signature) = signature {
            fs::write(root.join(format!("{name}.minisig")), signature).expect("written");
        }
        let key = key.map(|key| key.pk.to_base64().parse::<PublicKey>().expect("a key"));
        let version = Version::new(0, 1, 0);
        let program = Program { path: &own, version: &version, target: TARGET };
        let result = update(program, &archive, key.as_ref());
        (result, fs::read_to_string(&own).expect("a program"))
    }

    #[test]
    fn update_takes_a_newer_release_whose_signature_holds_and_no_other() {
        let (ours, theirs) = (key(), key());
        let good = packed(&[("host-x/README.md", "read"), ("host-x/share/host", "no"), ("host-x/host", "new")]);
        let statement = format!("host 0.2.0 {ARCHIVE}");
        let signed = signature(&ours, &good, &statement);
        let check = |name: &str, bytes: &[u8], signature: Option<&str>, wanted: &str| {
            let (result, program) = updated(name, bytes, signature, Some(&ours), |_| {});
            match result {
                Ok(updated) => {
                    assert_eq!((wanted, program.as_str()), ("", "new"));
                    assert_eq!((updated.from, updated.to), (Version::new(0, 1, 0), Version::new(0, 2, 0)));
                }
                Err(error) => {
                    assert_eq!(program, "old", "{error}");
                    let words = error.to_string();
                    assert!(!wanted.is_empty() && words.contains(wanted), "{words}: not `{wanted}`");
                }
            }
        };
        check(ARCHIVE, &good, Some(&signed), "");
        check(ARCHIVE, &good, None, ".minisig` cannot be read");
        check(ARCHIVE, &good, Some("no signature"), "does not hold: it is not a minisign signature");
        check(ARCHIVE, &good, Some(&signature(&theirs, &good, &statement)), "was made with the key");
        check(ARCHIVE, &packed(&[("host-x/host", "bad")]), Some(&signed), "did not sign this");
        // The comment is covered: an old release cannot be said to be a new one.
        let renamed = signed.replace("host 0.2.0", "host 0.3.0");
        check(ARCHIVE, &good, Some(&renamed), "did not sign this");
        for (statement, wanted) in [
            (format!("host 0.1.0 {ARCHIVE}"), "is version 0.1.0, and this program is 0.1.0"),
            (format!("host 0.0.9 {ARCHIVE}"), "is version 0.0.9, and this program is 0.1.0"),
            (format!("host 0.2.0-rc {ARCHIVE}.minisig"), "which is not a release named"),
            (format!("plugin 0.2.0 {ARCHIVE}"), "which is not a release named"),
            ("host 0.2.0 sha256.sum".to_owned(), "which is not a release named"),
        ] {
            check(ARCHIVE, &good, Some(&signature(&ours, &good, &statement)), wanted);
        }
        let other = "host-aarch64-apple-darwin.tar.gz";
        let signed_other = signature(&ours, &good, &format!("host 0.2.0 {other}"));
        check(other, &good, Some(&signed_other), "is for aarch64-apple-darwin, and this program for x86_64");
        for bytes in [packed(&[("host-x/README.md", "read")]), packed(&[("host", "flat")]), b"no archive".to_vec()] {
            check(ARCHIVE, &bytes, Some(&signature(&ours, &bytes, &statement)), "has no program");
        }
    }

    #[test]
    fn update_leaves_alone_what_a_package_manager_keeps_and_what_has_no_key() {
        let ours = key();
        let bytes = packed(&[("host-x/host", "new")]);
        let signed = signature(&ours, &bytes, &format!("host 0.2.0 {ARCHIVE}"));
        let by_cargo = |root: &Path| fs::write(root.join(".crates2.json"), "{}").expect("written");
        let (result, program) = updated(ARCHIVE, &bytes, Some(&signed), Some(&ours), by_cargo);
        let error = result.expect_err("it is cargo's");
        assert!(matches!(&error, UpdateError::Kept { installation: Installation::Cargo, .. }), "{error}");
        assert_eq!(program, "old");
        let (result, program) = updated(ARCHIVE, &bytes, Some(&signed), None, |_| {});
        assert!(matches!(result, Err(UpdateError::NoKey)), "{result:?}");
        assert_eq!(program, "old");
    }
}
