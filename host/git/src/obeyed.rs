//! What the settings of a repository name, and git obeys besides its own folder: a folder of hooks, further files of
//! settings.
//!
//! A condition (`includeIf`) is taken as met: it can be met later. Deliberately not here: programs that settings name.
//! They are the user's, and a program that a setting names in the workspace is like any other script there.

use std::path::{Path, PathBuf};

use crate::repository::{Repository, Unclear, settings_of};
use crate::settings::resolve;

/// How deep files of settings include others, as in git.
const MAX_DEPTH: usize = 10;

/// The most files that are read. Protects from a fan of them.
const MAX_FILES: usize = 100;

/// Returns the files and folders that git obeys because the repository's own settings say so: `core.hooksPath`,
/// `include.path`, `includeIf.*.path`, and those that the included files name.
///
/// # Errors
///
/// If a file of settings cannot be read as git reads it, so that what it names is not known.
pub fn obeyed(repository: &Repository, home: Option<&Path>) -> Result<Vec<PathBuf>, Unclear> {
    let mut places = Vec::new();
    let mut files: Vec<(PathBuf, usize)> = repository.settings_files().into_iter().map(|file| (file, 0)).collect();
    let mut at = 0;
    while let Some((file, depth)) = files.get(at).cloned() {
        at += 1;
        // One that is included and is a folder, or cannot be read, is the user's to see to: git says so at each call.
        let settings = match settings_of(&file) {
            Ok(settings) => settings,
            Err(_) if depth > 0 => continue,
            Err(unclear) => return Err(unclear),
        };
        for setting in settings {
            let Some(value) = setting.value.as_deref().filter(|value| !value.is_empty()) else { continue };
            let from = match setting.short().as_str() {
                "core.hookspath" => repository.top.as_path(),
                "include.path" | "includeif.path" => file.parent().unwrap_or(&repository.top),
                // Programs that settings name are left out on purpose: they are the user's own.
                _ => continue,
            };
            let Some(place) = expand(value, from, home) else { continue };
            // Files may include each other in a circle; each is read once.
            if setting.name == "path" && depth < MAX_DEPTH && !files.iter().any(|(known, _)| *known == place) {
                if files.len() == MAX_FILES {
                    return Err(Unclear::new(file, format!("more than {MAX_FILES} files of settings are included")));
                }
                // Its real path is read, and both are obeyed.
                files.push((place.canonicalize().unwrap_or_else(|_| place.clone()), depth + 1));
            }
            places.extend(place.canonicalize().ok().filter(|real| *real != place));
            places.push(place);
        }
    }
    places.sort();
    places.dedup();
    Ok(places)
}

/// Returns the path that a value means: `~/` is the home, and other paths begin at a folder.
pub(crate) fn expand(value: &str, from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match value.strip_prefix('~') {
        Some("") => home.map(Path::to_owned),
        Some(rest) if rest.starts_with('/') => resolve(home?, Path::new(rest.trim_start_matches('/'))),
        // The home of another user.
        Some(_) => None,
        None => resolve(from, Path::new(value)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn obeyed_are_the_folder_of_hooks_and_the_included_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        for path in ["w/.git/objects", "w/.git/refs", "w/etc", "home"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        let write = |path: &str, text: &str| fs::write(root.join(path), text).expect("written");
        write("w/.git/HEAD", "ref: refs/heads/main\n");
        write(
            "w/.git/config",
            "[core]\n\thooksPath = .husky/_\n[include]\n\tpath = ../etc/a\n\tpath = ~/b\n\tpath = ../none\n",
        );
        write("w/etc/a", "[includeIf \"gitdir:/x\"]\n\tpath = c\n[core]\n\thooksPath = /srv/hooks\n");
        write("w/etc/c", "[include]\n\tpath = c\n\tpath = a\n[core]\n\thooksPath = ~/hooks\n");
        write("home/b", "[include]\n\tpath = d\n");
        let repository = Repository::around(&root.join("w")).expect("clear").expect("there");
        let found = obeyed(&repository, Some(&root.join("home"))).expect("clear");
        let mut expected: Vec<PathBuf> =
            ["w/.husky/_", "w/etc/a", "home/b", "w/none", "w/etc/c", "home/hooks", "home/d"]
                .map(|path| root.join(path))
                .into();
        expected.push(PathBuf::from("/srv/hooks"));
        expected.sort();
        assert_eq!(found, expected);
        write("w/.git/config.worktree", "[core]\n\thooksPath = other\n");
        let found = obeyed(&repository, None).expect("clear");
        assert!(found.contains(&root.join("w/other")) && !found.contains(&root.join("home/b")));
        write("w/.git/config", "[core\n");
        assert!(obeyed(&repository, None).is_err(), "what it names is not known");
    }
}
