//! Making an index from a folder of bundles.
//!
//! Promises: only bundles that keys sign which the maker trusts for them are taken; the number of the edition grows.
//!
//! Deliberately not here: writing the files.

use std::io;
use std::path::{Path, PathBuf};

use host_bundle::{Bundle, IndexEntry, PluginIndex, PublicKey, Trust, Verdict};
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;

use crate::install::read_bundle;

/// What an index is made of.
#[derive(Clone, Debug)]
pub struct IndexRequest {
    /// The folder with the bundles, files that end in `.tar`.
    pub folder: PathBuf,
    /// The name of the index; that of the edition before, if there is one.
    pub name: Option<String>,
    /// Where the bundles are: the address of a folder, or the beginning of repositories; beside the index without one.
    pub base: Option<String>,
    /// The number of the edition, instead of the next one.
    pub serial: Option<u64>,
    /// The edition before, if there is one.
    pub before: Option<PluginIndex>,
}

/// Why no index is made.
#[derive(Debug, thiserror::Error)]
pub(super) enum MakeIndexError {
    /// It is the next edition of an index with another name.
    #[error("the index is `{before}`, not `{name}`")]
    OtherName {
        /// The name of the edition before.
        before: String,
        /// The name.
        name: String,
    },
    /// It has no name.
    #[error("the first edition of an index needs a name")]
    NoName,
    /// Its number does not grow.
    #[error("the serial {serial} is not greater than that of the edition before")]
    Serial {
        /// The number.
        serial: u64,
        /// The least that it can be.
        least: u64,
    },
    /// There is nothing to list.
    #[error("`{}` has no bundles", .0.display())]
    NoBundles(PathBuf),
    /// The folder with the bundles cannot be read.
    #[error("`{}` cannot be read: {cause}", .folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Nobody that the user trusts signed a bundle.
    #[error("`{bundle}` is not put into the index")]
    Signers {
        /// The bundle, by its name and version.
        bundle: String,
        /// Why, in words.
        why: Notice,
    },
}

impl Fault for MakeIndexError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OtherName { .. }
            | Self::NoName
            | Self::Serial { .. }
            | Self::NoBundles(_)
            | Self::Unreadable { .. } => ErrorKind::Input,
            Self::Signers { .. } => ErrorKind::Untrusted,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::OtherName { .. }
            | Self::NoName
            | Self::Serial { .. }
            | Self::NoBundles(_)
            | Self::Unreadable { .. } => Vec::new(),
            Self::Signers { why, .. } => vec![why.clone()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::OtherName { .. } => Some(Advice::from("write this one to another file with ").flag(Flag::Out)),
            Self::NoName => Some(Advice::from("add ").flag_with(Flag::Name, "NAME")),
            Self::Serial { least, .. } => Some(
                Advice::from("leave out ")
                    .flag(Flag::Serial)
                    .text(", or add ")
                    .flag_with(Flag::Serial, least.to_string()),
            ),
            Self::NoBundles(_) => Some(
                Advice::default()
                    .command("plugin pack")
                    .text(" and ")
                    .command("plugin sign")
                    .text(" make them; their names end in `.tar`"),
            ),
            Self::Unreadable { .. } => None,
            Self::Signers { .. } => Some(
                Advice::from("sign it with ")
                    .command("plugin sign")
                    .text(", and trust the key with ")
                    .command("keys trust"),
            ),
        }
    }
}

/// Makes an index.
///
/// # Errors
///
/// If a bundle cannot be read or is not signed, the index has no name, or its number does not grow.
pub fn make(request: &IndexRequest, trust: &Trust, now: Timestamp) -> Result<PluginIndex, Failure> {
    let before = request.before.as_ref();
    let name = match (&request.name, before) {
        (Some(name), Some(before)) if *name != before.name => {
            let (before, name) = (before.name.clone(), name.clone());
            return Err(MakeIndexError::OtherName { before, name }.into());
        }
        (Some(name), _) => name.clone(),
        (None, Some(before)) => before.name.clone(),
        (None, None) => {
            return Err(MakeIndexError::NoName.into());
        }
    };
    let least = before.map_or(1, |before| before.serial.saturating_add(1));
    let serial = request.serial.unwrap_or(least);
    if serial < least {
        return Err(MakeIndexError::Serial { serial, least }.into());
    }
    let mut entries = Vec::new();
    for file in bundles(&request.folder)? {
        let bundle = read_bundle(&file)?;
        let source = place(&bundle, &file, request.base.as_deref());
        let keys = signers(&bundle, trust, now)?;
        entries.push(
            IndexEntry::from_bundle(&bundle, keys, source)
                .map_err(|error| Failure::from_error(ErrorKind::Untrusted, &error))?,
        );
    }
    if entries.is_empty() {
        return Err(MakeIndexError::NoBundles(request.folder.clone()).into());
    }
    Ok(PluginIndex::new(name, serial, now, entries))
}

fn bundles(folder: &Path) -> Result<Vec<PathBuf>, MakeIndexError> {
    let failed = |cause| MakeIndexError::Unreadable { folder: folder.to_owned(), cause };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "tar") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Where users find a bundle.
fn place(bundle: &Bundle, file: &Path, base: Option<&str>) -> String {
    let manifest = bundle.manifest();
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    match base.map(|base| base.trim_end_matches('/')) {
        None => file.into_owned(),
        Some(base) if base.starts_with("https://") => format!("{base}/{file}"),
        Some(base) => {
            let name = manifest.name.rsplit('/').next().unwrap_or_default();
            format!("{base}/{name}:{}", manifest.version.to_string().replace('+', "_"))
        }
    }
}

/// The keys whose signatures of the bundle count for the maker of the index.
fn signers(bundle: &Bundle, trust: &Trust, now: Timestamp) -> Result<Vec<PublicKey>, MakeIndexError> {
    let refused = |why: Notice| MakeIndexError::Signers { bundle: bundle.statement().to_string(), why };
    match trust.check(bundle, now) {
        Ok(Verdict::Signed { by, .. }) => {
            Ok(trust.keys().iter().map(|known| &known.key).filter(|key| by.contains(&key.id())).cloned().collect())
        }
        Ok(Verdict::Unsigned) => Err(refused("it is not signed".into())),
        Err(refusal) => Err(refused(refusal.notice())),
    }
}
