//! The folder of machine code that `host-precompile` wrote, as the build of the host reads it.
//!
//! It has a file `engine`, with the architecture, the system and the identity of the compiler, and for each component a
//! file that is named by its SHA-256. Promises: a folder for another system, or one that lacks a component, is an error
//! and no binary without code. A test of `host-extensions` includes this file too.
//!
//! Deliberately not here: whether the code is loaded, which the engine decides at run time.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder, and what all its code has in common.
pub(crate) struct Folder {
    path: PathBuf,
    /// The identity of the compiler.
    pub(crate) engine: [u8; 32],
}

/// What to do about a folder that does not fit.
const HELP: &str = "run `host-precompile` of these sources again: docs/releasing.md";

impl Folder {
    /// Opens the folder; the code in it must be for this architecture and system, by their names in Rust.
    pub(crate) fn open(path: &Path, architecture: &str, system: &str) -> Result<Self, String> {
        let file = path.join("engine");
        let shown = file.display();
        let text = fs::read_to_string(&file).map_err(|error| format!("`{shown}`: {error}; {HELP}"))?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let &[of_architecture, of_system, identity] = words.as_slice() else {
            return Err(format!("`{shown}` does not have three words; {HELP}"));
        };
        if (of_architecture, of_system) != (architecture, system) {
            return Err(format!(
                "`{shown}`: its code is for {of_system} on {of_architecture}, and the host is built for {system} on \
                 {architecture}; {HELP} on that system"
            ));
        }
        let engine = parse(identity).ok_or_else(|| format!("`{shown}` has no identity of 64 digits; {HELP}"))?;
        Ok(Self { path: path.to_owned(), engine })
    }

    /// Reads the code of the component with this SHA-256.
    pub(crate) fn code(&self, component: &[u8; 32]) -> Result<Vec<u8>, String> {
        let name: String = component.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = self.path.join(name);
        fs::read(&file).map_err(|error| format!("`{}`: {error}; {HELP}", file.display()))
    }
}

/// Parses 64 hexadecimal digits.
fn parse(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}
