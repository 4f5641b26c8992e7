//! The known programs: a row for each states what it runs, what it writes, and which of its words make it do more than
//! its name says.
//!
//! The effects of a program without a row are unknown, so a rule covers exactly the words that it has. A row states
//! facts and the code beside it reads words; the policy in `host-tool` decides what follows from a fact: allow, ask or
//! deny.
//!
//! Rows are grouped by family, with a file for each family, and one for each program that needs code of its own.

mod archives;
mod awk;
mod builtins;
mod deployment;
mod editors;
mod env;
mod files;
mod find;
mod git;
mod interpreters;
mod network;
mod packages;
mod privileges;
mod runners;
mod sed;
mod shells;
mod system;
mod text;
mod wrappers;
mod xargs;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::Word;
use crate::hazard::Hazard;
use crate::inner::Wrapped;
use crate::named_path::NamedPath;
use crate::usage::Usage;

pub use crate::options::Options;
pub use crate::usage::Understood;

/// The rows of all families.
const FAMILIES: &[&[Program]] = &[
    archives::ROWS,
    awk::ROWS,
    builtins::ROWS,
    deployment::ROWS,
    editors::ROWS,
    env::ROWS,
    files::ROWS,
    find::ROWS,
    git::ROWS,
    interpreters::ROWS,
    network::ROWS,
    packages::ROWS,
    privileges::ROWS,
    runners::ROWS,
    sed::ROWS,
    shells::ROWS,
    system::ROWS,
    text::ROWS,
    wrappers::ROWS,
    xargs::ROWS,
];

/// Finds the words of a command that make it do more than its name says.
pub type FindHazards = fn(&[Word]) -> Vec<Hazard>;

/// A program, with the known facts about it.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its names, without a folder.
    pub names: &'static [&'static str],
    /// The options before the command that it runs, and which of them take a value.
    pub options: Options,
    /// Which of its words are understood. A rule covers the others only one by one.
    pub understood: Understood,
    /// Returns the index at which its subcommand or its options begin; `None` if there is none.
    pub begins: fn(&[Word]) -> Option<usize>,
    /// What it runs besides itself.
    pub runs: Runs,
    /// The operands that it writes.
    pub writes: Writes,
    /// The operands that it deletes.
    pub deletes: Deletes,
    /// It is an interpreter: it runs its first operand, code in its arguments, or its input.
    pub interprets: bool,
    /// Finds the words that make it do more than its name says, or that are not understood, if a table is not enough.
    pub hazards: Option<FindHazards>,
    /// The effect of a builtin of the shell on the shell.
    pub builtin: Option<fn(&[Word]) -> Builtin>,
    /// Whether its effects cannot be undone.
    pub irreversible: Irreversible,
    /// Its effects on the machine as a whole, each with the words after the program that cause it.
    pub dangers: &'static [(&'static [&'static str], Danger)],
}

/// What a program runs besides itself.
#[derive(Clone, Copy, Debug)]
pub enum Runs {
    /// Nothing known.
    Nothing,
    /// The command after its options and operands, and it does nothing else.
    Command {
        /// How many operands come before the command.
        operands: usize,
    },
    /// The command after its options and operands, in a way that matters: as another user, or watched.
    CommandWith {
        /// How many operands come before the command.
        operands: usize,
    },
    /// Some of its words, after options that are not followed.
    Unfollowed,
    /// Its words or a file, in a shell-like language that is not read here.
    OtherShell,
    /// What the function finds; running it is the purpose of the program.
    Found(fn(&[Word]) -> Option<Wrapped>),
    /// What the function finds; the program has other purposes.
    Sometimes(fn(&[Word]) -> Option<Wrapped>),
}

/// The operands of a program that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// No known operand.
    Nothing,
    /// Each operand.
    All,
    /// Each operand, if an option makes it edit files in place.
    AllInPlace,
    /// The last operand, or the folder that `-t` names.
    Last,
    /// The last operand, or the folder that `-t` names; each operand, if an option makes links to them; and the values
    /// of long options, such as `--link-dest=FOLDER`.
    Copies,
    /// The values of `-o`, `-O`, `-P` and of long options for output.
    Output,
    /// The file after `-f`, if the options create an archive; else the folder into which it is unpacked.
    Archive,
    /// The file after `of=`.
    OutputFile,
}

/// What a program deletes.
#[derive(Clone, Copy, Debug)]
pub enum Deletes {
    /// No known operand.
    Nothing,
    /// Each operand.
    All,
    /// What the function finds.
    Found(fn(&[Word]) -> Vec<String>),
}

/// The effect of a builtin of the shell on the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Nothing.
    Harmless,
    /// It moves the shell to this folder.
    Enters(String),
    /// It changes how the shell reads or finds what follows; the text says how.
    Unclear(String),
    /// It is not a builtin, or not with these words.
    Other,
}

/// Whether the effects of a program cannot be undone.
#[derive(Clone, Copy, Debug)]
pub enum Irreversible {
    /// They can, as far as is known.
    No,
    /// Each use deletes, overwrites or sends something.
    Always,
    /// Some of its words do.
    Sometimes {
        /// Returns why these words cannot be undone, or `None` if they can.
        why: fn(&[Word]) -> Option<&'static str>,
        /// Whether the effects of the subcommand with this name can always be undone, whatever follows it.
        never: fn(&str) -> bool,
    },
}

/// An effect of a program on the machine as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// It runs commands as another user.
    OtherUser,
    /// It switches the machine off.
    PowerOff,
    /// It overwrites disks.
    Disks,
}

/// The rows by the names of their programs.
static INDEX: LazyLock<HashMap<&'static str, &'static Program>> =
    LazyLock::new(|| all().flat_map(|program| program.names.iter().map(move |name| (*name, program))).collect());

/// The row of every program without one of its own.
static UNKNOWN: Program = Program::named(&[]);

/// Returns what the words of `tar` write: an archive, or the folder into which they unpack one.
pub(crate) fn written_archives(words: &[Word]) -> Vec<NamedPath> {
    archives::written(words)
}

/// Returns the indices of the words that `find` opens; `None` if it does more than look and print.
pub(crate) fn files_that_find_reads(words: &[Word]) -> Option<Vec<usize>> {
    find::files(words)
}

/// Returns the indices of the words that `sed` opens; `None` if it does more than print.
pub(crate) fn files_that_sed_reads(words: &[Word]) -> Option<Vec<usize>> {
    sed::files(words)
}

/// Returns all rows.
pub fn all() -> impl Iterator<Item = &'static Program> {
    FAMILIES.iter().copied().flatten()
}

impl Program {
    /// Creates a program of which only the names are known.
    const fn named(names: &'static [&'static str]) -> Self {
        Self {
            names,
            options: Options::NONE,
            understood: Understood::Nothing,
            begins: |_| Some(1),
            runs: Runs::Nothing,
            writes: Writes::Nothing,
            deletes: Deletes::Nothing,
            interprets: false,
            hazards: None,
            builtin: None,
            irreversible: Irreversible::No,
            dangers: &[],
        }
    }

    /// Returns the known facts about the program with this name, without a folder. The name of an interpreter may end
    /// with its version, such as `python3.13`.
    pub fn find(name: &str) -> &'static Self {
        let versioned = || {
            let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            INDEX.get(bare).filter(|program| program.interprets)
        };
        INDEX.get(name).or_else(versioned).copied().unwrap_or(&UNKNOWN)
    }

    /// Whether its purpose is to run other commands.
    pub fn is_wrapper(&self) -> bool {
        match self.runs {
            Runs::Nothing | Runs::Sometimes(_) => false,
            Runs::Command { .. } | Runs::CommandWith { .. } | Runs::Unfollowed | Runs::OtherShell | Runs::Found(_) => {
                true
            }
        }
    }

    /// Whether an argument that is not literal may make it run or write something else, though its words are not read
    /// with a table, which finds such arguments itself.
    pub(crate) fn needs_literals(&self) -> bool {
        let has_table = matches!(self.understood, Understood::Table(_));
        self.hazards.is_some() && !has_table || self.interprets
    }

    /// Returns how many words of a command, all of which are understood, say what it does: the program, its subcommand,
    /// and what that runs by name. A rule with these words covers every understood command like it; `None` if it would
    /// cover more than this one does, as without a subcommand.
    pub fn prefix(&self, words: &[Word]) -> Option<usize> {
        let Understood::Table(table) = self.understood else { return Some(1) };
        let from = (self.begins)(words)?;
        Usage::find(table, words, from)?.end(table, words, from)
    }

    /// Whether nothing says what its words do.
    pub fn is_unknown(&self) -> bool {
        matches!(self.understood, Understood::Nothing)
            && matches!(self.runs, Runs::Nothing)
            && self.hazards.is_none()
            && !self.interprets
            && self.builtin.is_none()
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;

    #[test]
    fn programs_each_name_has_one_row() {
        let names: usize = all().map(|program| program.names.len()).sum();
        assert_eq!(INDEX.len(), names, "a name is in two rows");
        assert!(all().all(|program| !program.names.is_empty()));
    }

    #[test]
    fn programs_a_version_behind_an_interpreter_is_part_of_its_name() {
        for (name, known) in [("python3.13", "python"), ("lua5.4", "lua"), ("pip3", "pip3"), ("ksh93", "ksh93")] {
            assert!(Program::find(name).names.contains(&known), "{name}");
        }
        for name in ["ls2", "git2", "rm1", "", "3"] {
            assert!(Program::find(name).names.is_empty(), "{name}");
        }
    }

    #[test]
    fn programs_no_row_panics_whatever_the_words() {
        const WORDS: [&str; 16] =
            ["", "-", "--", "-c", "-I", "-x", "-t", "--exec", "-exec", ";", "+", "{}", "A=b", "a b", "é", "\u{0}"];
        for name in all().flat_map(|program| program.names) {
            for first in WORDS {
                for second in WORDS {
                    let argv = [*name, first, second].map(str::to_owned);
                    for length in 1..=argv.len() {
                        assert!(!analyse(&argv[..length]).commands.is_empty());
                    }
                }
            }
        }
    }
}
