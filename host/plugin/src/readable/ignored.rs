//! Finds what the project's ignore rules leave out, with the same engine that walks use.
//!
//! The engine cannot answer whether a single path is ignored, since that depends on the ignore files of every folder
//! above. So a walk is made that enters only the folders on the path.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use ignore::WalkBuilder;

/// The project's own ignore file, beside `.gitignore` and `.ignore`.
pub(super) const OWN_IGNORE_FILE: &str = ".hostignore";

/// Returns the names in a folder that no ignore rule leaves out.
pub(super) fn kept(workspace: &Path, folder: &Path) -> HashSet<OsString> {
    if is_ignored(workspace, folder) {
        return HashSet::new();
    }
    walk_builder(folder)
        .max_depth(Some(1))
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() == 1)
        .map(|entry| entry.file_name().to_owned())
        .collect()
}

/// Whether an ignore rule leaves out this path, or a folder above it. Paths outside the workspace are never ignored:
/// the rules are the project's.
pub(super) fn is_ignored(workspace: &Path, path: &Path) -> bool {
    let Ok(way) = path.strip_prefix(workspace) else { return false };
    let depth = way.components().count();
    if depth == 0 {
        return false;
    }
    let target = path.to_owned();
    let mut builder = walk_builder(workspace);
    builder.max_depth(Some(depth)).filter_entry(move |entry| target.starts_with(entry.path()));
    !builder.build().filter_map(Result::ok).any(|entry| entry.path() == path)
}

/// Builds a walk by the project's rules that keeps hidden names: a hidden name is not an ignored one.
pub(super) fn walk_builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).follow_links(false).add_custom_ignore_filename(OWN_IGNORE_FILE);
    builder
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_path_is_ignored_by_any_folder_above_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        fs::create_dir_all(root.join(".git")).expect("made");
        fs::create_dir_all(root.join("out/deep")).expect("made");
        fs::create_dir_all(root.join("src")).expect("made");
        fs::write(root.join(".gitignore"), "out/\n*.log\n!keep.log\n").expect("written");
        fs::write(root.join("src/.hostignore"), "secret.txt\n").expect("written");
        for file in ["out/deep/a.txt", "src/a.rs", "src/x.log", "src/keep.log", "src/secret.txt", ".env"] {
            fs::write(root.join(file), "").expect("written");
        }
        for (path, ignored) in [
            ("out", true),
            ("out/deep", true),
            ("out/deep/a.txt", true),
            ("src", false),
            ("src/a.rs", false),
            ("src/x.log", true),
            ("src/keep.log", false),
            ("src/secret.txt", true),
            (".env", false),
        ] {
            assert_eq!(is_ignored(root, &root.join(path)), ignored, "{path}");
        }
        let mut names: Vec<_> = kept(root, &root.join("src")).into_iter().collect();
        names.sort();
        assert_eq!(names, [".hostignore", "a.rs", "keep.log"]);
        assert!(kept(root, &root.join("out")).is_empty());
        assert!(!is_ignored(root, Path::new("/elsewhere/x.log")));
    }
}
