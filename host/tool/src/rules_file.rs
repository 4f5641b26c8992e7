//! The file for a user's lasting answers, one rule after the other.
//!
//! Promises: the content of the file is kept; a rule is added or removed completely or not at all, also if two
//! processes change the file at once; only its owner can access the file.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use host_files::Mode;

use crate::{Policy, PolicyFile, Rule, Tier};

/// The largest size of the file, in bytes. Keeps it well below the limit of a file with rules: a file beyond that limit
/// would stop every run.
const FULL: u64 = 128 << 10;

/// The file that rules are added to.
#[derive(Clone, Debug)]
pub struct RulesFile(PathBuf);

/// The error of a rule that could not be added.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the file `{}`", path.display())]
pub struct RulesFileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub cause: io::Error,
}

impl RulesFile {
    /// Creates a rules file at this path; the file is created with the first rule.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Adds a rule after the others.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. It is then unchanged.
    pub fn add(&self, rule: &Rule) -> Result<(), RulesFileError> {
        self.append(&format!("\n{}", rule.to_toml())).map_err(|cause| RulesFileError { path: self.0.clone(), cause })
    }

    /// Removes the first rule that says the same, with what stands before the next one. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written, or has an invalid rule. It is then unchanged.
    pub fn remove(&self, rule: &Rule) -> Result<bool, RulesFileError> {
        self.without(rule).map_err(|cause| RulesFileError { path: self.0.clone(), cause })
    }

    fn without(&self, rule: &Rule) -> io::Result<bool> {
        // A link stays one: the file that it leads to is replaced.
        let path = match std::fs::canonicalize(&self.0) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let _held_until_replaced = open_locked(&path)?;
        let text = host_files::read_text(&path, FULL * 2)?;
        let rules = Policy::parse(&text, PolicyFile { tier: Tier::User, path: Some(self.0.clone()) });
        let rules = rules.map_err(|error| io::Error::other(error.to_string()))?;
        let wanted = rule.to_toml();
        let Some(at) = rules.iter().position(|rule| rule.to_toml() == wanted) else { return Ok(false) };
        let line_of = |rule: &Rule| rule.source.line.saturating_sub(1);
        let (from, to) = (rules.get(at).map_or(0, line_of), rules.get(at + 1).map_or(usize::MAX, line_of));
        let kept = text.split_inclusive('\n').enumerate().filter(|(line, _)| !(from..to).contains(line));
        let kept: String = kept.map(|(_, line)| line).collect();
        host_files::replace(&path, kept.as_bytes(), Mode::Private)?;
        Ok(true)
    }

    fn append(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            host_files::make_private_folder(folder)?;
        }
        let mut file = open_locked(&self.0)?;
        let before = file.metadata()?.len();
        if before + text.len() as u64 > FULL {
            return Err(io::Error::other(format!("it has {before} bytes of rules; remove those that you do not need")));
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            // An incomplete rule would make the whole file unreadable.
            file.set_len(before)?;
        }
        written
    }
}

/// Opens the file to append to, and keeps other processes from changing it until it is closed. Each waits for the
/// length of a write.
fn open_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = host_files::append_private(path)?;
        file.lock()?;
        let (held, there) = (file.metadata()?, std::fs::metadata(path));
        // Another process may have replaced it meanwhile: what is written to the old one would be lost.
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, RuleSource};

    fn rule(command: &str) -> Rule {
        let source = RuleSource::from_tier(Tier::User);
        let command = vec![vec![command.to_owned()].into()];
        Rule { tool: vec!["shell".to_owned()], command, ..Rule::new(Decision::Allow, source) }
    }

    // promise approval.forgotten: An answer that the user revokes is gone from the file, and the others stay as they
    //   are.
    #[test]
    fn rules_file_removes_one_rule_and_keeps_the_rest() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answers.toml");
        let file = RulesFile::new(&path);
        assert!(!file.remove(&rule("a")).expect("there is no file"));
        for command in ["a", "b", "c", "b"] {
            file.add(&rule(command)).expect("added");
        }
        let noted = std::fs::read_to_string(&path).expect("there").replacen("\n[[rule]]", "# mine\n[[rule]]", 1);
        std::fs::write(&path, noted).expect("written");
        let commands = || {
            let text = std::fs::read_to_string(&path).expect("there");
            let rules = Policy::parse(&text, PolicyFile { tier: Tier::User, path: None }).expect("it is valid");
            assert!(text.trim_start().starts_with("# mine\n"), "{text}");
            rules.iter().map(|rule| rule.command[0].to_string()).collect::<Vec<_>>()
        };
        assert!(file.remove(&rule("b")).expect("removed"));
        assert_eq!(commands(), ["a", "c", "b"]);
        assert!(!file.remove(&rule("x")).expect("read"));
        assert!(file.remove(&rule("b")).expect("removed"));
        assert_eq!(commands(), ["a", "c"]);
        file.add(&rule("d")).expect("added");
        assert_eq!(commands(), ["a", "c", "d"]);
        assert_eq!(std::fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
    }

    #[test]
    fn rules_file_with_an_invalid_rule_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answers.toml");
        std::fs::write(&path, "[[rule]]\ndecision = 3\n").expect("written");
        assert!(RulesFile::new(&path).remove(&rule("a")).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "[[rule]]\ndecision = 3\n");
    }

    #[test]
    fn rules_file_behind_a_link_stays_behind_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("answers.toml"));
        RulesFile::new(&real).add(&rule("a")).expect("added");
        std::os::unix::fs::symlink(&real, &link).expect("linked");
        assert!(RulesFile::new(&link).remove(&rule("a")).expect("removed"));
        assert!(link.is_symlink() && std::fs::read_to_string(&real).expect("there").trim().is_empty());
    }

    #[test]
    fn rules_file_loses_nothing_when_it_is_changed_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = RulesFile::new(folder.path().join("answers.toml"));
        file.add(&rule("gone")).expect("added");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let file = &file;
                scope.spawn(move || {
                    for number in 0..20 {
                        file.add(&rule(&format!("{name}{number}"))).expect("added");
                    }
                });
            }
            for number in 0..20 {
                let mine = rule(&format!("mine{number}"));
                file.add(&mine).expect("added");
                assert!(file.remove(&mine).expect("removed"), "{number}");
            }
        });
        let text = std::fs::read_to_string(file.path()).expect("there");
        let rules = Policy::parse(&text, PolicyFile { tier: Tier::User, path: None }).expect("it is valid");
        assert_eq!(rules.len(), 61);
    }
}
