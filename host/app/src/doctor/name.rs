//! Which program a shell starts that is asked for `host`: the DNS tool has the same name.
//!
//! Deliberately not here: aliases and functions of a shell, which only that shell knows.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::CheckState;

/// The name of this program.
const NAME: &str = "host";

/// Looks for programs of this name in the folders of `PATH`; `None` if there is nothing to say. `own` is the binary
/// that runs.
pub(super) fn check(path: &OsStr, own: &Path) -> Option<(CheckState, String)> {
    let own = std::fs::metadata(own).ok()?;
    let is_own = |about: &Metadata| (about.dev(), about.ino()) == (own.dev(), own.ino());
    let mut own_path = None;
    let mut other: Option<(PathBuf, bool)> = None;
    for folder in std::env::split_paths(path) {
        let file = folder.join(NAME);
        let Ok(about) = std::fs::metadata(&file) else { continue };
        if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
            continue;
        }
        if is_own(&about) {
            own_path.get_or_insert(file);
        } else {
            other.get_or_insert((file, own_path.is_none()));
        }
    }
    let other = other.map(|(file, is_first)| (file.display().to_string(), is_first));
    Some(match (own_path, other) {
        (None, None) => return None,
        (Some(own), None) => (CheckState::Good, own.display().to_string()),
        (Some(own), Some((other, true))) => {
            let folder = own.parent().unwrap_or(&own).display();
            let words = format!(
                "`{NAME}` starts `{other}`, a different program, which comes first on PATH: put `{folder}` before its folder"
            );
            (CheckState::Note, words)
        }
        (Some(own), Some((other, false))) => {
            let own = own.display();
            (
                CheckState::Note,
                format!("`{NAME}` starts `{own}`, this program; `{other}` is a different one of this name"),
            )
        }
        (None, Some((other, _))) => {
            (CheckState::Note, format!("`{NAME}` starts `{other}`, a different program: this one is not on PATH"))
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;

    #[test]
    fn doctor_names_another_program_of_this_name() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        for (folder, mode) in [("ours", 0o755), ("dns", 0o755), ("text", 0o644)] {
            fs::create_dir(at(folder)).expect("made");
            fs::write(at(folder).join(NAME), folder).expect("written");
            fs::set_permissions(at(folder).join(NAME), Permissions::from_mode(mode)).expect("set");
        }
        fs::create_dir_all(at("folder").join(NAME)).expect("made");
        let own = at("ours").join(NAME);
        let links = at("links");
        fs::create_dir(&links).expect("made");
        std::os::unix::fs::symlink(&own, links.join(NAME)).expect("linked");

        let said = |folders: &[&str]| {
            let path = std::env::join_paths(folders.iter().map(|name| at(name))).expect("a list");
            let said = check(&path, &own);
            said.map(|(state, said)| (state, said.replace(&format!("{}/", root.path().display()), "")))
        };
        let good = |said: &str| Some((CheckState::Good, said.to_owned()));
        let note = |said: &str| Some((CheckState::Note, said.to_owned()));
        assert_eq!(said(&["none", "text", "folder"]), None);
        assert_eq!(said(&["text", "ours", "links"]), good("ours/host"));
        assert_eq!(said(&["links"]), good("links/host"), "a link to it is this program");
        assert_eq!(
            said(&["ours", "dns"]),
            note("`host` starts `ours/host`, this program; `dns/host` is a different one of this name")
        );
        assert_eq!(
            said(&["dns", "ours"]),
            note(
                "`host` starts `dns/host`, a different program, which comes first on PATH: put `ours` before its folder"
            )
        );
        assert_eq!(said(&["dns"]), note("`host` starts `dns/host`, a different program: this one is not on PATH"));
        assert_eq!(check(OsStr::new("/"), &at("gone")), None);
    }
}
