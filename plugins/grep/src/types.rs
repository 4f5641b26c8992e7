//! File types by ripgrep's names, as its own table has them.
//!
//! A type alone becomes globs for the host, which then reads no other file. Beside `include` it cannot, since the globs
//! of a walk are alternatives: then the files that have a match are checked here.

use host_sdk::Failure;
use ignore::types::{FileTypeDef, Types, TypesBuilder};

/// The files of one type.
#[derive(Debug)]
pub(crate) struct FileType {
    globs: Vec<String>,
    types: Types,
}

impl FileType {
    /// # Errors
    ///
    /// `invalid-arguments` if no type has this name; names those that have files with such an ending.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let all = builder.definitions();
        let Some(found) = all.iter().find(|definition| definition.name() == name) else {
            return Err(unknown(name, &all));
        };
        let types = builder.select(name).build().map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Self { globs: found.globs().to_vec(), types })
    }

    /// The globs of its files' names.
    pub(crate) fn globs(&self) -> &[String] {
        &self.globs
    }

    /// Whether the file at this path is of the type.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.types.matched(path, false).is_whitelist()
    }
}

fn unknown(name: &str, all: &[FileTypeDef]) -> Failure {
    let ending = format!("*.{}", name.to_lowercase());
    let with_ending = all.iter().filter(|definition| definition.globs().contains(&ending));
    let similar: Vec<String> = with_ending.map(|definition| format!("`{}`", definition.name())).collect();
    let help = match similar.is_empty() {
        true => "types have ripgrep's names, such as `rust`, `py` or `ts`; for other files use `include`".to_owned(),
        false => format!("files that end so have the type {}", similar.join(" or ")),
    };
    Failure::InvalidArguments(format!("unknown `type` `{name}`: {help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grep_types_are_ripgreps() {
        for (name, path, has) in [
            ("rust", "src/lib.rs", true),
            ("rust", "src/lib.rs.orig", false),
            ("rust", "rs", false),
            ("py", "a/b.pyi", true),
            ("python", "b.py", true),
            ("ts", "a.tsx", true),
            ("js", "a.ts", false),
            ("make", "sub/Makefile", true),
            ("cpp", "a.hpp", true),
        ] {
            assert_eq!(FileType::new(name).expect(name).has(path), has, "{name} {path}");
        }
    }

    #[test]
    fn grep_type_that_is_unknown_is_refused_with_those_that_are_meant() {
        for (name, says) in [
            ("rs", "unknown `type` `rs`: files that end so have the type `rust`"),
            ("RS", "have the type `rust`"),
            ("tsx", "have the type `ts` or `typescript`"),
            ("klingon", "ripgrep's names, such as `rust`, `py` or `ts`; for other files use `include`"),
            ("all", "unknown `type` `all`"),
        ] {
            let Err(Failure::InvalidArguments(words)) = FileType::new(name) else { panic!("{name}") };
            assert!(words.contains(says), "{words}");
        }
    }

    /// A walk takes a glob with a slash as a path, and one with `!` as an exception.
    #[test]
    fn grep_types_have_globs_that_a_walk_takes_for_names() {
        let mut builder = TypesBuilder::new();
        for definition in builder.add_defaults().definitions() {
            let globs = definition.globs();
            assert!(globs.iter().all(|glob| !glob.contains('/') && !glob.starts_with('!')), "{definition:?}");
        }
    }
}
