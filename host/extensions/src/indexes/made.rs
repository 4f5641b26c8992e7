//! Making an index from a folder of bundles.
//!
//! Promises: only bundles that keys sign which the maker trusts for them are taken; the number of the edition grows.
//!
//! Deliberately not here: writing the files.

use std::path::{Path, PathBuf};

use host_bundle::{Bundle, IndexEntry, PluginIndex, PublicKey, Trust, Verdict};
use host_settings::error::{ErrorKind, Failure};
use host_text::{Advice, Flag};
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

/// Makes an index.
///
/// # Errors
///
/// If a bundle cannot be read or is not signed, the index has no name, or its number does not grow.
pub fn make(request: &IndexRequest, trust: &Trust, now: Timestamp) -> Result<PluginIndex, Failure> {
    let before = request.before.as_ref();
    let name = match (&request.name, before) {
        (Some(name), Some(before)) if *name != before.name => {
            return Err(Failure::input(format!("the index is `{}`, not `{name}`", before.name))
                .help(Advice::from("write this one to another file with ").flag(Flag::Out)));
        }
        (Some(name), _) => name.clone(),
        (None, Some(before)) => before.name.clone(),
        (None, None) => {
            return Err(Failure::input("the first edition of an index needs a name")
                .help(Advice::from("add ").flag_with(Flag::Name, "NAME")));
        }
    };
    let least = before.map_or(1, |before| before.serial.saturating_add(1));
    let serial = request.serial.unwrap_or(least);
    if serial < least {
        return Err(Failure::input(format!("the serial {serial} is not greater than that of the edition before"))
            .help(
                Advice::from("leave out ")
                    .flag(Flag::Serial)
                    .text(", or add ")
                    .flag_with(Flag::Serial, least.to_string()),
            ));
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
        return Err(Failure::input(format!("`{}` has no bundles", request.folder.display()))
            .help("`host plugin pack` and `host plugin sign` make them; their names end in `.tar`"));
    }
    Ok(PluginIndex::new(name, serial, now, entries))
}

fn bundles(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| Failure::input(format!("`{}` cannot be read: {error}", folder.display()));
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
fn signers(bundle: &Bundle, trust: &Trust, now: Timestamp) -> Result<Vec<PublicKey>, Failure> {
    let refused = |why: String| {
        Failure::new(ErrorKind::Untrusted, format!("`{}` is not put into the index", bundle.statement()))
            .cause(why)
            .help("sign it with `host plugin sign`, and trust the key with `host keys trust`")
    };
    match trust.check(bundle, now) {
        Ok(Verdict::Signed { by, .. }) => {
            Ok(trust.keys().iter().map(|known| &known.key).filter(|key| by.contains(&key.id())).cloned().collect())
        }
        Ok(Verdict::Unsigned) => Err(refused("it is not signed".to_owned())),
        Err(refusal) => Err(refused(refusal.to_string())),
    }
}
