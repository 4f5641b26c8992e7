//! The contract alone, for components that are made with the plain tools of a language: a folder as these tools read
//! it, with one world in it.
//!
//! Promises: the world has the capabilities that were named and no other. Only files of the contract are written over.
//!
//! Deliberately not here: the contract of a package of `host plugin new`, which has no world until it is built.

use std::path::{Path, PathBuf};

use host_capability::Capability;

use crate::build::{WORLD, whole_world};
use crate::templates::CONTRACT;

/// The contract as a folder.
#[derive(Clone, Debug)]
pub struct PlainContract {
    files: Vec<(PathBuf, String)>,
}

/// Why the contract is not written.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be written: {error}", path.display())]
pub struct WriteContractError {
    path: PathBuf,
    error: std::io::Error,
}

impl PlainContract {
    /// The name of its world.
    pub const WORLD: &str = WORLD;

    /// Makes it, with a world that imports these capabilities.
    pub fn new(capabilities: &[Capability]) -> Self {
        let version = format!("@{}", host_plugin::admission::CONTRACT);
        let names: Vec<&str> = capabilities.iter().map(|capability| capability.name()).collect();
        let mut files = vec![(PathBuf::from("world.wit"), whole_world(&names, &version, &version))];
        for (path, text) in CONTRACT {
            // Hooks have a world of their own.
            if let Some(inner) = path.strip_prefix("wit/").filter(|inner| !inner.starts_with("hook/")) {
                files.push((Path::new("deps").join(inner), (*text).to_owned()));
            }
        }
        Self { files }
    }

    /// The files, by their path in the folder.
    pub fn files(&self) -> &[(PathBuf, String)] {
        &self.files
    }

    /// Writes the files. Those of an earlier version are replaced, and others in the folder are left alone.
    ///
    /// # Errors
    ///
    /// With the file that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), WriteContractError> {
        for (inner, text) in &self.files {
            let path = folder.join(inner);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written = written.and_then(|()| std::fs::write(&path, text));
            written.map_err(|error| WriteContractError { path, error })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_for_plain_tools_has_a_world_with_what_was_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let contract = PlainContract::new(&[Capability::FsRead, Capability::FsWrite, Capability::Process]);
        contract.write(folder.path()).expect("written");
        contract.write(folder.path()).expect("and written again");
        let mut resolve = wit_parser::Resolve::default();
        let (package, _) = resolve.push_dir(folder.path()).expect("plain tools read it");
        let id = resolve.select_world(&[package], Some(PlainContract::WORLD)).expect("it has the world");
        let named = |key| resolve.name_world_key(key);
        let mut imports: Vec<String> = resolve.worlds[id].imports.keys().map(named).collect();
        imports.retain(|name| !name.contains("/types@"));
        imports.sort();
        let expected =
            ["cap/fs-read", "cap/fs-write", "cap/process", "tool/background", "tool/context", "tool/file-changes"];
        assert_eq!(imports, expected.map(|name| format!("host:{name}@0.1.0")));
        assert!(contract.files().iter().all(|(path, _)| !path.starts_with("deps/hook")));
    }
}
