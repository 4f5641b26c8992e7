//! The known programs: a row for each says what it runs, what it writes, and which of its words make it do more than
//! its name says.
//!
//! A program that has no row runs and writes what nobody here knows of, so only a rule for it or a grant lets it run.
//! A row states facts and the code beside it reads words; what follows from a fact, allow, ask or deny, is decided by
//! the policy in `host-tool`.
//!
//! Rows are grouped by family, a file for each family, and one for each program that needs code of its own.

mod archives;
mod awk;
mod builtins;
mod containers;
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

pub use crate::options::Options;

/// The rows of all families.
const FAMILIES: &[&[Program]] = &[
    archives::ROWS,
    awk::ROWS,
    builtins::ROWS,
    containers::ROWS,
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

/// A program, with what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its names, without a folder.
    pub names: &'static [&'static str],
    /// The options that are understood, and which of them take a value.
    pub options: Options,
    /// The options by which it runs or writes something that its name does not say, without their values.
    pub risky_options: &'static [&'static str],
    /// What it runs besides itself.
    pub runs: Runs,
    /// The operands that it writes.
    pub writes: Writes,
    /// The letters of the options by which it runs a program from its arguments, if it is an interpreter. Without such
    /// an option it runs its first operand, or what it reads.
    pub inline_code: Option<&'static str>,
    /// Finds the words that make it do more than its name says, if that takes more than a list of options.
    pub hazards: Option<FindHazards>,
    /// An argument that is not literal may make it run or write something, though no option is listed as risky.
    pub needs_literals: bool,
    /// What a command of the shell itself does to the shell.
    pub builtin: Option<fn(&[Word]) -> Builtin>,
    /// Whether it does what cannot be undone.
    pub irreversible: Irreversible,
    /// What it does to the machine as a whole, each with the words behind the program that make it do so.
    pub dangers: &'static [(&'static [&'static str], Danger)],
    /// Its first operand is one of its commands, such as `test` in `cargo test`.
    pub has_commands: bool,
}

/// What a program runs besides itself.
#[derive(Clone, Copy, Debug)]
pub enum Runs {
    /// Nothing that is known.
    Nothing,
    /// The command behind its options and operands, and it does nothing else.
    Command {
        /// How many operands come before the command.
        operands: usize,
    },
    /// The command behind its options and operands, in a way that matters: as another user, or watched.
    CommandWith {
        /// How many operands come before the command.
        operands: usize,
    },
    /// Some of its words, behind options that are not followed.
    Unfollowed,
    /// Its words or a file, in a language of the shell's kind that is not read here.
    OtherShell,
    /// What the function finds; running it is the purpose of the program.
    Found(fn(&[Word]) -> Option<Wrapped>),
    /// What the function finds; the program has other purposes.
    Sometimes(fn(&[Word]) -> Option<Wrapped>),
}

/// The operands of a program that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// None that is known.
    Nothing,
    /// Each.
    All,
    /// Each, with an option that makes it edit files in place.
    AllInPlace,
    /// The last, or the folder that `-t` names.
    Last,
    /// The file behind `of=`.
    OutputFile,
}

/// What a command of the shell itself does to the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Nothing.
    Harmless,
    /// It moves the shell to this folder.
    Enters(String),
    /// Something that changes how the shell reads or finds what follows; this says what.
    Unclear(String),
    /// It is not one, or not with these words.
    Other,
}

/// Whether a program does what cannot be undone.
#[derive(Clone, Copy, Debug)]
pub enum Irreversible {
    /// Not as far as is known.
    No,
    /// Each use deletes, overwrites or sends something.
    Always,
    /// With some of its words.
    Sometimes {
        /// Why these words do it, or `None` if they do not.
        why: fn(&[Word]) -> Option<&'static str>,
        /// Whether the command with this name never does it, whatever follows.
        never: fn(&str) -> bool,
    },
}

/// What a program does to the machine as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// It runs commands as another user.
    OtherUser,
    /// It switches the machine off.
    PowerOff,
    /// It overwrites disks.
    Disks,
}

/// By the name of a program, its row.
static INDEX: LazyLock<HashMap<&'static str, &'static Program>> =
    LazyLock::new(|| all().flat_map(|program| program.names.iter().map(move |name| (*name, program))).collect());

/// The row of every program that has none.
static UNKNOWN: Program = Program::named(&[]);

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Program> {
    FAMILIES.iter().copied().flatten()
}

impl Program {
    /// A program of which nothing is known but its names.
    const fn named(names: &'static [&'static str]) -> Self {
        Self {
            names,
            options: Options::NONE,
            risky_options: &[],
            runs: Runs::Nothing,
            writes: Writes::Nothing,
            inline_code: None,
            hazards: None,
            needs_literals: false,
            builtin: None,
            irreversible: Irreversible::No,
            dangers: &[],
            has_commands: false,
        }
    }

    /// What is known about the program with this name, which has no folder. An interpreter may have its version behind
    /// its name, such as `python3.13`.
    pub fn find(name: &str) -> &'static Self {
        let versioned = || {
            let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            INDEX.get(bare).filter(|program| program.inline_code.is_some())
        };
        INDEX.get(name).or_else(versioned).copied().unwrap_or(&UNKNOWN)
    }

    /// Whether running other commands is what it is for.
    pub fn is_wrapper(&self) -> bool {
        match self.runs {
            Runs::Nothing | Runs::Sometimes(_) => false,
            Runs::Command { .. } | Runs::CommandWith { .. } | Runs::Unfollowed | Runs::OtherShell | Runs::Found(_) => {
                true
            }
        }
    }

    /// Whether an argument that is not literal may make it run or write something else.
    pub(crate) fn needs_literals(&self) -> bool {
        self.needs_literals || !self.risky_options.is_empty() || self.inline_code.is_some()
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
