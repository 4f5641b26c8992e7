//! Shared by the builds of all languages except Rust: the sources of a package, and the programs that it brings.
//!
//! Promises: nothing outside the package's folder counts as a source, and neither does what was installed or built
//! into it. Links are not followed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::{BuildError, Tools, hex, read};

/// Folder within the package for the intermediate files of a build.
pub(super) const BUILD: &str = "build";

/// Folders of a package without sources.
const NOT_SOURCES: &[&str] = &[BUILD, "node_modules", "__pycache__", "zig-out"];

/// Source files of a package, with the packages of Python that lie in it. Protects the build from a folder that is not
/// a package, such as a home folder.
const MAX_SOURCES: usize = 5_000;

/// Entries that are looked at to find them, and how deep they lie. Protects the same.
const MAX_ENTRIES: usize = 20_000;
/// See [`MAX_ENTRIES`].
const MAX_DEPTH: usize = 16;

/// The files of the package with one of these endings, as paths relative to it, in order.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    let mut entries = 0;
    let mut waiting = vec![(PathBuf::new(), 0)];
    while let Some((inner, depth)) = waiting.pop() {
        let path = folder.join(&inner);
        let unreadable = |error| BuildError::Read { path: path.clone(), error };
        for entry in std::fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            let kind = entry.file_type().map_err(unreadable)?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(BuildError::TooMany { folder: folder.to_owned(), limit: MAX_ENTRIES, what: "entries" });
            }
            let hidden = name.as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && !hidden && !NOT_SOURCES.iter().any(|other| name == *other) && depth < MAX_DEPTH {
                waiting.push((inner.join(name), depth + 1));
            } else if kind.is_file() && ends(Path::new(&name), endings) {
                if found.len() == MAX_SOURCES {
                    return Err(BuildError::TooMany { folder: folder.to_owned(), limit: MAX_SOURCES, what: "sources" });
                }
                found.push(inner.join(name));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn ends(name: &Path, endings: &[&str]) -> bool {
    name.extension().and_then(OsStr::to_str).is_some_and(|end| endings.contains(&end))
}

/// A digest over the names and contents of the sources, the contract, and these files if they exist.
pub(super) fn sources(folder: &Path, endings: &[&str], others: &[&str]) -> Result<String, BuildError> {
    let mut all = files(folder, endings)?;
    all.extend(files(&folder.join("wit"), &["wit"])?.into_iter().map(|file| Path::new("wit").join(file)));
    all.extend(["plugin.toml"].iter().chain(others).map(PathBuf::from).filter(|file| folder.join(file).is_file()));
    let mut named = BTreeMap::new();
    for file in all {
        named.insert(file.to_string_lossy().into_owned(), hex(&Sha256::digest(read(&folder.join(&file))?)));
    }
    let mut digest = Sha256::new();
    for (name, file) in named {
        digest.update(format!("{file}  {name}\n"));
    }
    Ok(hex(&digest.finalize()))
}

/// A program that the package brings in its virtual environment, or the one of that name on the search path. `None` if
/// neither answers to being asked for its version with `ask`; otherwise also returns the answer.
pub(super) fn program(folder: &Path, names: &[&str], ask: &[&str], tools: &Tools) -> Option<(PathBuf, String)> {
    program_with(folder, names, ask, &[], tools)
}

/// The same for a program that needs these variables, also to be asked.
pub(super) fn program_with(
    folder: &Path,
    names: &[&str],
    ask: &[&str],
    variables: &[(&str, &str)],
    tools: &Tools,
) -> Option<(PathBuf, String)> {
    let own = names.iter().map(|name| folder.join(".venv/bin").join(name));
    own.chain(names.iter().map(PathBuf::from)).find_map(|program| {
        let mut command = Command::new(&program);
        command.args(ask).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let output = tools.programs.output(&mut command).ok()?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some((program, version))
    })
}

/// Runs a compiler in the package. Its output goes to standard error; standard output is the host's own, and what
/// these compilers write there is that they are done.
pub(super) fn run(mut command: Command, folder: &Path, tools: &Tools) -> Result<(), BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |status: String| BuildError::Failed { program: program.clone(), folder: folder.to_owned(), status };
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let status = tools.programs.output(&mut command).map_err(|error| failed(error.to_string()))?.status;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::write;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            write(&folder.path().join(name), name.as_bytes()).expect("written");
        }
        folder
    }

    #[test]
    fn package_sources_are_only_what_the_user_wrote() {
        let folder = folder(&[
            "plugin.c",
            "src/more.c",
            "src/deep/er.c",
            "notes.txt",
            "build/contract.c",
            ".venv/lib/x.c",
            "node_modules/x.c",
            "__pycache__/x.c",
        ]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", folder.path().join("everything")).expect("made");
        let found = files(folder.path(), &["c"]).expect("it can be read");
        assert_eq!(found, ["plugin.c", "src/deep/er.c", "src/more.c"].map(PathBuf::from));
    }

    #[test]
    fn package_folder_with_too_many_files_is_an_error() {
        let names: Vec<String> = (0..=MAX_SOURCES).map(|i| format!("{i}.c")).collect();
        let many = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let error = files(many.path(), &["c"]).expect_err("it has too many sources").to_string();
        assert!(error.contains(&format!("more than {MAX_SOURCES} sources")), "{error}");
        assert!(files(many.path(), &["h"]).expect("those are fewer").is_empty());

        for i in MAX_SOURCES..=MAX_ENTRIES {
            std::fs::create_dir(many.path().join(format!("folder{i}"))).expect("made");
        }
        let error = files(many.path(), &["h"]).expect_err("it has too many entries").to_string();
        assert!(error.contains(&format!("more than {MAX_ENTRIES} entries")), "{error}");

        let deep = folder(&[&format!("{}x.c", "a/".repeat(MAX_DEPTH + 1)), &format!("{}y.c", "a/".repeat(MAX_DEPTH))]);
        let found = files(deep.path(), &["c"]).expect("it can be read");
        assert_eq!(found, [PathBuf::from(format!("{}y.c", "a/".repeat(MAX_DEPTH)))]);
    }

    #[test]
    fn package_digest_changes_with_a_source_the_contract_or_the_manifest() {
        let folder = folder(&["plugin.c", "plugin.toml", "wit/tool/tool.wit", "requirements.txt", "notes.txt"]);
        let digest = || sources(folder.path(), &["c"], &["requirements.txt"]).expect("it can be read");
        let mut seen = vec![digest()];
        for name in ["plugin.c", "plugin.toml", "wit/tool/tool.wit", "requirements.txt"] {
            write(&folder.path().join(name), b"changed").expect("written");
            assert!(!seen.contains(&digest()), "{name}");
            seen.push(digest());
        }
        write(&folder.path().join("notes.txt"), b"changed").expect("written");
        assert_eq!(seen.last(), Some(&digest()), "notes are no source");
    }
}
