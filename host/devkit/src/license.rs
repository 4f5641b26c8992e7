//! The licence beside a plugin: the text of a new one, and texts that are none yet.
//!
//! Deliberately not here: whether a text is that of the licence that the manifest names.

use std::path::{Path, PathBuf};

/// The usual names of the file, the first that exists counts.
pub const LICENSE_FILES: &[&str] = &["LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"];

/// The licence that a new plugin's `plugin.toml` names.
#[cfg(test)]
pub(crate) const NEW_LICENSE: &str = "Apache-2.0";
/// Its text.
pub(crate) const NEW_LICENSE_TEXT: &str = include_str!("../../../LICENSE");

/// Gaps in templates of licences that the author has to fill, in lower case.
const PLACEHOLDERS: &[&str] = &[
    "put the text of your licence here",
    "[year] [fullname]",
    "<year> <copyright holder",
    "<year> <name of author>",
    "<year> <owner>",
    "[year] [name of copyright owner]",
    "your licence here",
    "your license here",
];

/// Returns the file of the licence in a folder, if there is one by a usual name.
pub fn license_file(folder: &Path) -> Option<PathBuf> {
    LICENSE_FILES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// Returns what a text has in the place of a licence, if it is none yet.
pub fn license_gap(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("nothing in it");
    }
    let lower = text.to_lowercase();
    PLACEHOLDERS.iter().find(|placeholder| lower.contains(**placeholder)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn license_that_is_a_placeholder_is_found() {
        for (text, gap) in [
            ("Put the text of your licence here, and its name into plugin.toml.\n", Some(PLACEHOLDERS[0])),
            (" \n", Some("nothing in it")),
            ("MIT License\n\nCopyright (c) [year] [fullname]\n", Some("[year] [fullname]")),
            ("Copyright <YEAR> <COPYRIGHT HOLDER>\n", Some("<year> <copyright holder")),
            ("MIT License\n\nCopyright (c) 2026 Acme\n", None),
            ("Do what you like.\n", None),
            (NEW_LICENSE_TEXT, None),
        ] {
            assert_eq!(license_gap(text), gap, "{text}");
        }
    }
}
