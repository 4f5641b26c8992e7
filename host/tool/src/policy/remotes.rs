//! Which remotes a repository has by its settings. Anything else that git takes for a remote is a folder or an address:
//! in a folder, git runs the hooks that are there.

use std::path::Path;

use super::reading::settings_of_repository;

/// Whether the repository in which a shell is has a remote of this name, with an address.
pub(super) fn has_remote(shell: &Path, name: &str) -> bool {
    settings_of_repository(shell).is_some_and(|settings| names_remote(&settings, name))
}

/// Whether settings have a remote of this name. A name that is written in another way than plainly is not found.
fn names_remote(settings: &str, name: &str) -> bool {
    let mut is_its = false;
    settings.lines().map(str::trim).any(|line| {
        if let Some(head) = line.strip_prefix('[').and_then(|head| head.strip_suffix(']')) {
            let (section, sub) = head.split_once(' ').unwrap_or((head, ""));
            let sub = sub.trim().strip_prefix('"').and_then(|sub| sub.strip_suffix('"'));
            is_its = section.eq_ignore_ascii_case("remote") && sub == Some(name);
            return false;
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default();
        is_its && key.eq_ignore_ascii_case("url")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_is_one_that_the_settings_name() {
        let settings = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://a.io/b\n\tfetch = +x\n\
                        [branch \"url\"]\n\tremote = up\n[remote \"empty\"]\n\tfetch = x\n[remote.old]\n\turl = x\n";
        for (name, known) in [
            ("origin", true),
            ("Origin", false),
            ("up", false),
            ("empty", false),
            ("url", false),
            ("old", false),
            ("up/x", false),
            ("", false),
        ] {
            assert_eq!(names_remote(settings, name), known, "{name}");
        }
    }
}
