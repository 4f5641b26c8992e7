//! Whether a repository that a program made somewhere in the workspace may stay there.
//!
//! Git runs what a repository says as soon as the user enters it, and enters some by itself. So all of it is judged
//! like changes that come back: only known files, valid, with settings that run nothing.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::judge::Judge;
use crate::kind::{Class, classify};
use crate::place::{Place, read_alone};
use crate::repository::{MAX_POINTER, Unclear, is_taken, pointer, settings_of};
use crate::settings::resolve;
use crate::why::Why;

/// The most names in a repository that is looked at. One with more is not called harmless.
const MAX_NAMES: usize = 200_000;

/// Why a repository may not stay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {why}", path.display())]
pub struct Harmful {
    /// What makes it harmful.
    pub path: PathBuf,
    /// Why.
    pub why: Why,
}

/// Checks a `.git` that a program made: a folder, or a file that leads to one of git's folders that are known. The
/// folder of a bare repository is checked in the same way.
///
/// `known` are git's folders that the program could change only through a layer, by their real paths; `within` are the
/// folders in which its work trees and submodules may be.
///
/// # Errors
///
/// What makes it harmful, or why that cannot be told.
pub fn check_nested(entry: &Path, known: &[PathBuf], within: &[PathBuf]) -> Result<(), Harmful> {
    let harmful = |why| Harmful { path: entry.to_owned(), why };
    let kind = entry.symlink_metadata().map_err(|error| harmful(Why::failed(error)))?.file_type();
    // The folder that it is in, as it really is: the last name is looked at by itself.
    let real = entry.parent().and_then(|top| Some(top.canonicalize().ok()?.join(entry.file_name()?)));
    let real = real.ok_or_else(|| harmful(Why::Unknown))?;
    if kind.is_dir() {
        check_folder(&real, within)
    } else if kind.is_file() {
        leads_to_known(&real, known).ok_or_else(|| harmful(Why::Invalid("it leads to no folder of git that knows it")))
    } else {
        Err(harmful(Why::NotAFile))
    }
}

fn check_folder(folder: &Path, within: &[PathBuf]) -> Result<(), Harmful> {
    let harmful = |path: &Path, why| Harmful { path: folder.join(path), why };
    let unclear = |error: Unclear| Harmful { path: error.path, why: Why::Failed(error.why) };
    // Opened once, so that the names that are listed and the files that are judged are of one folder.
    let place = Place::open(folder).map_err(|error| harmful(Path::new(""), Why::failed(error)))?;
    let all = place.beneath(Path::new(""), MAX_NAMES, &mut |_| true);
    let all = all.map_err(|error| harmful(Path::new(""), Why::failed(error)))?;
    // What is not a plain file is left before a file is opened: a pipe would be waited for.
    if let Some(other) = all.iter().find(|found| ![FileType::RegularFile, FileType::Directory].contains(&found.kind()))
    {
        return Err(harmful(&other.path, Why::NotAFile));
    }
    // Git passes over it, and finds the repository above. Later it may become one, in another call, which looks again.
    if !is_taken(folder).map_err(unclear)? {
        // It would be one as soon as the missing part is there, and nobody judges it then.
        return if all.is_empty() { Ok(()) } else { Err(harmful(Path::new(""), Why::Invalid("git does not take it"))) };
    }
    let files: Vec<&Path> =
        all.iter().filter(|found| found.kind() == FileType::RegularFile).map(|found| &*found.path).collect();
    let judge = Judge::new(&place, None, files.iter().map(|path| path.to_path_buf()), within);
    for path in files {
        // In a repository that came whole, an unknown name is an error for all of it: nothing here was the user's.
        let located = judge.locate(path).ok_or_else(|| harmful(path, Why::Unknown))?;
        match classify(&located.rest, located.kind) {
            // There may be thousands, and nobody obeys them.
            Class::Known(kind) if kind.part.is_stored() => {}
            Class::Dropped => {}
            Class::Obeyed => return Err(harmful(path, Why::Obeyed)),
            Class::Known(_) | Class::Unknown => {
                judge.file(path).map_err(|why| harmful(path, why))?;
            }
        }
    }
    Ok(())
}

/// Whether a `.git` that is a file leads to a submodule or a work tree of a known folder, which names it back.
fn leads_to_known(file: &Path, known: &[PathBuf]) -> Option<()> {
    let top = file.parent()?;
    let folder = pointer(file, "gitdir: ", top).ok()??;
    // Only folders of repositories that are known: any other could belong to whatever repository the user has.
    let beneath = known.iter().find_map(|known| folder.strip_prefix(known).ok())?;
    if !is_taken(&folder).ok()? {
        return None;
    }
    let mut parts = beneath.iter();
    match parts.next()?.to_str()? {
        "worktrees" => {
            let back = read_alone(&folder.join("gitdir"), MAX_POINTER).ok()??;
            let back = resolve(&folder, Path::new(str::from_utf8(&back).ok()?.trim_end_matches(['\r', '\n'])))?;
            // Each must name the other: any file can claim to be a work tree of any folder.
            (back == file).then_some(())
        }
        "modules" => {
            // A submodule is named back by its settings, as a work tree is by a file.
            let settings = settings_of(&folder.join("config")).ok()?;
            let worktree = settings.iter().rfind(|setting| setting.short() == "core.worktree");
            let named = |value: &str| resolve(&folder, Path::new(value)).is_some_and(|path| path == top);
            worktree.and_then(|setting| setting.value.as_deref()).is_some_and(named).then_some(())
        }
        _ => None,
    }
}
