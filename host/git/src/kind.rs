//! The files of git's folder that are known, and what each has to contain.
//!
//! A name that is not here does not come back from a program: it may be one that git obeys, today or in a later
//! version.

use crate::content::{self, Checked, anything};
use crate::names::{is_hex, is_ref, is_ref_part};
use crate::operation;

/// What one name is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    /// A file whose contents are checked.
    Known(Kind),
    /// What git leaves and needs no more: locks, files that it was writing, examples of hooks.
    Dropped,
    /// What git obeys or runs.
    Obeyed,
    /// Anything else.
    Unknown,
}

/// A known file: when it comes back, and its check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) part: Part,
    pub(crate) check: Check,
}

/// Parts of a repository in the order in which git itself writes them: what is named before what names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// An object by itself.
    Object,
    /// Objects in a pack, without the table that makes it visible.
    Pack,
    /// That table.
    PackTable,
    /// Tables over several packs, and over commits.
    Table,
    /// Messages, resolutions, patterns, files of LFS: nothing that names an object.
    Other,
    /// The two files that make a folder the one of a work tree.
    Worktree,
    /// Settings.
    Config,
    /// Where history is cut off.
    Shallow,
    /// All refs in one file.
    PackedRefs,
    /// Refs besides branches, and their logs.
    Ref,
    /// Branches, and their logs.
    Branch,
    /// What goes on over several commands.
    Operation,
    /// The index.
    Index,
    /// The branch that is checked out.
    Head,
}

impl Part {
    /// Whether it is stored under a name made of its contents, and read without being understood by anyone.
    pub(crate) fn is_stored(self) -> bool {
        matches!(self, Self::Object | Self::Pack | Self::PackTable | Self::Table)
    }

    /// Whether it belongs to the state of a work tree, which comes back whole or not at all.
    pub(crate) fn is_state(self) -> bool {
        matches!(self, Self::PackedRefs | Self::Branch | Self::Operation | Self::Index | Self::Head)
    }

    /// Whether it names objects.
    pub(crate) fn names_objects(self) -> bool {
        self.is_state() || matches!(self, Self::Ref | Self::Shallow)
    }

    /// Whether git works on when it is gone, as a folder of a repository. Without the others it would look for another
    /// one, or have no settings.
    pub(crate) fn is_removable(self) -> bool {
        !matches!(self, Self::Head | Self::Config | Self::Worktree | Self::PackedRefs)
    }
}

/// What a file has to contain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// It begins with these bytes. It may be large, and is not read.
    Begins(&'static [u8]),
    /// It begins like a stream of zlib, and is not read either.
    Compressed,
    /// The whole of it passes.
    Whole(fn(&[u8]) -> Checked),
    /// It is an index.
    Index,
    /// It is a file of settings.
    Config,
    /// It leads to the repository of a work tree.
    CommonFolder,
    /// It leads to the files of a work tree.
    WorktreeFile,
}

/// What kind of folder of git a path lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A repository, or a submodule's.
    Repository,
    /// One of a further work tree, which shares the rest with the repository.
    Worktree,
}

/// Refs of a single object outside of `refs/`.
const PSEUDO_REFS: &[&str] = &[
    "ORIG_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
    "BISECT_HEAD",
    "BISECT_EXPECTED_REV",
    "REBASE_HEAD",
    "MERGE_AUTOSTASH",
    "NOTES_MERGE_PARTIAL",
    "NOTES_MERGE_REF",
];

/// Folders of refs that a further work tree has by itself.
const OWN_REFS: &[&str] = &["bisect", "worktree", "rewritten"];

/// Folders that a repository has even if they are empty.
const FOLDERS: &[&str] = &["objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"];

/// Returns whether a folder is made even if nothing is in it.
pub(crate) fn is_needed_folder(path: &str, base: Base) -> bool {
    base == Base::Repository && FOLDERS.contains(&path)
}

/// Returns what a file beneath a folder of git is.
pub(crate) fn classify(path: &str, base: Base) -> Class {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    if is_left_over(&parts, name) {
        return Class::Dropped;
    }
    let known = match base {
        Base::Repository => in_either(&parts).or_else(|| in_repository(&parts)),
        Base::Worktree => in_either(&parts).or_else(|| in_worktree(&parts)),
    };
    match known {
        Some(kind) => Class::Known(kind),
        // Told apart only for the message: neither comes back.
        None if is_obeyed(&parts) => Class::Obeyed,
        None => Class::Unknown,
    }
}

fn is_left_over(parts: &[&str], name: &str) -> bool {
    name.ends_with(".lock")
        || matches!(parts, ["gc.pid" | "gc.log" | "BISECT_RUN"])
        || matches!(parts, ["objects", ..])
            && ["tmp_", ".tmp-", "incoming-"].iter().any(|start| name.starts_with(start))
        || matches!(parts, ["objects", within, ..] if within.starts_with("tmp_objdir"))
        || matches!(parts, ["hooks", sample] if sample.ends_with(".sample"))
        || matches!(parts, ["lfs", "tmp" | "incomplete" | "cache" | "logs", ..])
        || matches!(parts, ["rebase-apply", "patch-merge-index"])
}

/// What git obeys in its folder, for the reason that is given.
fn is_obeyed(parts: &[&str]) -> bool {
    matches!(
        parts,
        ["hooks" | "remotes" | "branches", ..]
            | ["config.worktree" | "commondir" | "gitdir"]
            | ["info", "attributes" | "grafts"]
            | ["objects", "info", "alternates" | "http-alternates"]
            | ["refs", "replace", ..]
            | ["logs", "refs", "replace", ..]
    )
}

/// What both kinds of folder have.
fn in_either(parts: &[&str]) -> Option<Kind> {
    let kind = |part, check| Some(Kind { part, check: Check::Whole(check) });
    match *parts {
        ["HEAD"] => kind(Part::Head, content::reference),
        ["index"] => Some(Kind { part: Part::Index, check: Check::Index }),
        [name] if PSEUDO_REFS.contains(&name) => kind(Part::Operation, content::reference),
        ["MERGE_HEAD"] => kind(Part::Operation, content::object_ids),
        ["FETCH_HEAD"] => kind(Part::Ref, content::fetched),
        ["MERGE_MODE"] => kind(Part::Operation, content::merge_mode),
        ["MERGE_RR"] => kind(Part::Operation, content::conflicts),
        ["MERGE_MSG" | "SQUASH_MSG"] => kind(Part::Operation, anything),
        ["COMMIT_EDITMSG" | "TAG_EDITMSG" | "NOTES_EDITMSG" | "EDIT_DESCRIPTION"] => kind(Part::Other, anything),
        ["BISECT_LOG"] => kind(Part::Operation, operation::bisect_log),
        ["BISECT_NAMES"] => kind(Part::Operation, operation::quoted),
        ["BISECT_START"] => kind(Part::Operation, content::branch_or_id),
        ["BISECT_TERMS"] => kind(Part::Operation, content::terms),
        ["BISECT_ANCESTORS_OK" | "BISECT_FIRST_PARENT"] => kind(Part::Operation, content::flag),
        ["info", "sparse-checkout"] => kind(Part::Operation, anything),
        ["logs", "HEAD"] => kind(Part::Head, content::log),
        ["rebase-merge", name] => kind(Part::Operation, operation::rebase_merge(name)?),
        ["rebase-apply", name] => kind(Part::Operation, operation::rebase_apply(name)?),
        ["sequencer", name] => kind(Part::Operation, operation::sequencer(name)?),
        ["refs", within, ..] if OWN_REFS.contains(&within) => reference(parts),
        // A name that is not listed stays behind. Git may obey it, today or in a later version.
        _ => None,
    }
}

fn in_worktree(parts: &[&str]) -> Option<Kind> {
    match *parts {
        ["commondir"] => Some(Kind { part: Part::Worktree, check: Check::CommonFolder }),
        ["gitdir"] => Some(Kind { part: Part::Worktree, check: Check::WorktreeFile }),
        ["locked"] => Some(Kind { part: Part::Other, check: Check::Whole(anything) }),
        ["logs", "refs", within, ..] if OWN_REFS.contains(&within) => log(parts),
        _ => None,
    }
}

fn in_repository(parts: &[&str]) -> Option<Kind> {
    let kind = |part, check| Some(Kind { part, check });
    let whole = |part, check| Some(Kind { part, check: Check::Whole(check) });
    match *parts {
        ["objects", folder, name] if folder.len() == 2 && is_hex(folder.as_bytes()) => {
            // The rest of a SHA-1 or a SHA-256, of which the folder has the first two digits.
            let named = [38, 62].contains(&name.len()) && is_hex(name.as_bytes());
            named.then_some(Kind { part: Part::Object, check: Check::Compressed })
        }
        ["objects", "pack", name] => pack(name),
        ["objects", "pack", "multi-pack-index.d", name] => match name.split_once('.')? {
            ("multi-pack-index-chain", _) => None,
            (stem, end) => table(stem.strip_prefix("multi-pack-index-")?, end),
        },
        ["objects", "info", "commit-graph"] => kind(Part::Table, Check::Begins(b"CGPH")),
        ["objects", "info", "commit-graphs", "commit-graph-chain"] => whole(Part::Table, content::hashes),
        ["objects", "info", "commit-graphs", name] => {
            let stem = name.strip_prefix("graph-").and_then(|name| name.strip_suffix(".graph"))?;
            is_hex(stem.as_bytes()).then_some(Kind { part: Part::Table, check: Check::Begins(b"CGPH") })
        }
        ["objects", "info", "packs"] => whole(Part::Other, content::served_packs),
        ["info", "refs"] => whole(Part::Other, content::served_refs),
        ["info", "exclude"] | ["description"] => whole(Part::Other, anything),
        ["shallow"] => whole(Part::Shallow, content::object_ids),
        // Its refs may name anything, so it is checked whole, and replaced objects in it once more.
        ["packed-refs"] => whole(Part::PackedRefs, content::packed_refs),
        ["config"] => kind(Part::Config, Check::Config),
        ["refs", ..] => reference(parts),
        ["logs", ..] => log(parts),
        ["rr-cache", folder, name] if operation::is_resolution(folder, name) => whole(Part::Other, anything),
        ["lfs", "objects", one, two, name] => {
            let named =
                name.len() == 64 && is_hex(name.as_bytes()) && name.starts_with(one) && name.get(2..4) == Some(two);
            (named && one.len() == 2).then_some(Kind { part: Part::Other, check: Check::Begins(b"") })
        }
        _ => None,
    }
}

fn pack(name: &str) -> Option<Kind> {
    if name == "multi-pack-index" {
        return Some(Kind { part: Part::Table, check: Check::Begins(b"MIDX") });
    }
    let (stem, end) = name.split_once('.')?;
    if let Some(stem) = stem.strip_prefix("multi-pack-index-") {
        return table(stem, end);
    }
    if !is_hex(stem.strip_prefix("pack-")?.as_bytes()) {
        return None;
    }
    let (part, check) = match end {
        "pack" => (Part::Pack, Check::Begins(b"PACK")),
        "idx" => (Part::PackTable, Check::Begins(b"\xfftOc")),
        "rev" => (Part::Pack, Check::Begins(b"RIDX")),
        "mtimes" => (Part::Pack, Check::Begins(b"MTME")),
        "bitmap" => (Part::Table, Check::Begins(b"BITM")),
        "keep" | "promisor" => (Part::Pack, Check::Whole(anything)),
        _ => return None,
    };
    Some(Kind { part, check })
}

/// A table over several packs.
fn table(stem: &str, end: &str) -> Option<Kind> {
    let begin: &[u8] = match end {
        "midx" => b"MIDX",
        "bitmap" => b"BITM",
        "rev" => b"RIDX",
        _ => return None,
    };
    is_hex(stem.as_bytes()).then_some(Kind { part: Part::Table, check: Check::Begins(begin) })
}

fn reference(parts: &[&str]) -> Option<Kind> {
    let part = ref_part(parts)?;
    Some(Kind { part, check: Check::Whole(content::reference) })
}

fn log(parts: &[&str]) -> Option<Kind> {
    let part = ref_part(parts.get(1..)?)?;
    Some(Kind { part, check: Check::Whole(content::log) })
}

/// The part that a ref belongs to. Not one that puts another object in the place of one.
fn ref_part(parts: &[&str]) -> Option<Part> {
    let name = parts.join("/");
    if !is_ref(name.as_bytes()) || !parts.iter().all(|part| is_ref_part(part.as_bytes())) {
        return None;
    }
    match parts.get(1).copied()? {
        "replace" => None,
        "heads" => Some(Part::Branch),
        within if OWN_REFS.contains(&within) => Some(Part::Operation),
        _ => Some(Part::Ref),
    }
}

#[cfg(test)]
mod tests;
