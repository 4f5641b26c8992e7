//! `[tools]`: the two commands by which more tools are found and called.
//!
//! Promises: there are both or neither; each is a list of words of which the first is the program, and no shell reads
//! them; which program that is does not depend on the folder that is worked in, unless a user trusted what lies there.
//! In the user's own file it is a name that is looked up in `PATH`, or an absolute path. In a project's it is a file of
//! its `.host/tools/`, whose bytes are among those that were trusted.
//!
//! Deliberately not here: running them (`plugins::sources`).

use host_text::Advice;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::project::{PROGRAMS, shown};

/// The most bytes of all words of a command. Protects memory: each tool of a list has a copy, followed by its name.
const MAX_COMMAND: usize = 32 << 10;

/// The two keys, as written in a file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ToolCommands {
    /// The command that prints the list of tools, as a list of words; set both commands or neither.
    pub(crate) discovery_command: Option<Vec<String>>,
    /// The command that calls one of them; its name is added as the last word.
    pub(crate) call_command: Option<Vec<String>>,
}

/// Both commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Lists the tools.
    pub discovery: Vec<String>,
    /// Calls one of them, whose name comes behind these words.
    pub call: Vec<String>,
    /// The owner of their configuration.
    pub owner: Owner,
}

/// The owner of the commands' configuration, which decides which programs they may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user, who can name any program.
    User,
    /// A trusted project, which can name its own.
    Project,
}

/// Why the commands that list and call tools cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CommandsFault {
    /// One is set without the other.
    #[error("`tools.{there}` is set and `tools.{missing}` is not")]
    Alone {
        /// The key that is set.
        there: &'static str,
        /// The key that is missing.
        missing: &'static str,
        /// What the missing command does.
        what: &'static str,
    },
    /// A command without a program.
    #[error("`tools.{0}` does not name a program")]
    NoProgram(&'static str),
    /// A command over the limit.
    #[error("`tools.{key}` has {size} bytes, over the limit of {MAX_COMMAND}")]
    TooLong {
        /// The key.
        key: &'static str,
        /// Its size, in bytes.
        size: usize,
    },
    /// A word that no program can get.
    #[error("a word of `tools.{0}` contains a NUL character")]
    Nul(&'static str),
    /// A program that this file may not name.
    #[error("the program `{program}` of `tools.{key}` {}", rule(*.owner))]
    Program {
        /// The program, safe to show.
        program: String,
        /// The key.
        key: &'static str,
        /// Whose file it is.
        owner: Owner,
    },
}

impl CommandsFault {
    /// What to do about it.
    pub fn help(&self) -> Advice {
        match self {
            Self::Alone { missing, what, .. } => {
                Advice::from("set ").setting(format!("tools.{missing}")).text(format!(" to the command that {what}"))
            }
            Self::NoProgram(key) => {
                format!("write it as a list of words: {key} = [\"my-tools\", \"--json\"]").into()
            }
            Self::TooLong { .. } => "put the long arguments into a script, and name the script here".into(),
            Self::Nul(_) => "remove it: a program's arguments cannot contain it".into(),
            Self::Program { owner: Owner::User, .. } => {
                "a relative path would run a different program in each folder; write the absolute path of a program, or \
                 its name if it is in PATH"
                    .into()
            }
            Self::Program { owner: Owner::Project, .. } => {
                "put the program there, so that it is trusted with the project and you are asked again when it changes, \
                 and write it as `.host/tools/NAME`"
                    .into()
            }
        }
    }
}

/// The rule for programs in this file, as what one is that breaks it.
fn rule(owner: Owner) -> &'static str {
    match owner {
        Owner::User => "is neither a name nor an absolute path",
        Owner::Project => "is not a file in the project's `.host/tools/`",
    }
}

impl ToolCommands {
    /// Both, where they are set.
    pub(crate) fn commands(&self, owner: Owner) -> Option<Commands> {
        let (discovery, call) = (self.discovery_command.clone()?, self.call_command.clone()?);
        Some(Commands { discovery, call, owner })
    }

    fn both(&self) -> [(&'static str, Option<&Vec<String>>); 2] {
        [("discovery_command", self.discovery_command.as_ref()), ("call_command", self.call_command.as_ref())]
    }

    /// Rejects one without the other, and commands that are none.
    pub(crate) fn check_pair(&self) -> Result<(), CommandsFault> {
        let [(_, discovery), (_, call)] = self.both();
        let alone = match (discovery, call) {
            (Some(_), None) => Some(("discovery_command", "call_command", "calls one of the tools that it lists")),
            (None, Some(_)) => Some(("call_command", "discovery_command", "lists the tools that it calls")),
            (Some(_), Some(_)) | (None, None) => None,
        };
        if let Some((there, missing, what)) = alone {
            return Err(CommandsFault::Alone { there, missing, what });
        }
        for (key, words) in self.both().into_iter().filter_map(|(key, words)| Some((key, words?))) {
            if words.first().is_none_or(String::is_empty) {
                return Err(CommandsFault::NoProgram(key));
            }
            let size: usize = words.iter().map(|word| word.len() + 1).sum();
            if size > MAX_COMMAND {
                return Err(CommandsFault::TooLong { key, size });
            }
            if words.iter().any(|word| word.contains('\0')) {
                return Err(CommandsFault::Nul(key));
            }
        }
        Ok(())
    }

    /// Rejects programs that this file may not name.
    pub(crate) fn check_programs(&self, owner: Owner) -> Result<(), CommandsFault> {
        for (key, words) in self.both().into_iter().filter_map(|(key, words)| Some((key, words?))) {
            let program = words.first().map(String::as_str).unwrap_or_default();
            let fits = match owner {
                Owner::User => !program.contains('/') || program.starts_with('/'),
                Owner::Project => program.strip_prefix(PROGRAMS).is_some_and(is_file_name),
            };
            if !fits {
                return Err(CommandsFault::Program { program: shown::name(program), key, owner });
            }
        }
        Ok(())
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(discovery: Option<&[&str]>, call: Option<&[&str]>) -> ToolCommands {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        ToolCommands { discovery_command: discovery.map(words), call_command: call.map(words) }
    }

    #[test]
    fn there_are_both_commands_or_neither() {
        let check = |discovery, call, says: Option<&str>| {
            let checked = set(discovery, call).check_pair();
            match says {
                None => assert!(checked.is_ok(), "{checked:?}"),
                Some(says) => {
                    let failure = checked.expect_err(says);
                    assert!(failure.to_string().contains(says), "{failure:?}");
                }
            }
        };
        check(None, None, None);
        check(Some(&["a"]), Some(&["b", ""]), None);
        check(Some(&["a"]), None, Some("`tools.discovery_command` is set and `tools.call_command` is not"));
        check(None, Some(&["a"]), Some("`tools.call_command` is set and `tools.discovery_command` is not"));
        check(Some(&[]), Some(&["b"]), Some("`tools.discovery_command` does not name a program"));
        check(Some(&["a"]), Some(&["", "b"]), Some("`tools.call_command` does not name a program"));
        check(Some(&["a"]), Some(&["a", "b\0"]), Some("NUL"));
        check(Some(&["a", &"x".repeat(MAX_COMMAND)]), Some(&["a"]), Some("over the limit of 32768"));
    }

    // promise command-tools.path
    #[test]
    fn a_program_is_the_same_wherever_one_works_or_was_trusted() {
        let check = |owner, program: &str, fits: bool| {
            for tools in [set(Some(&[program]), Some(&["/x"])), set(Some(&["/x"]), Some(&[program]))] {
                let all = match owner {
                    Owner::User => tools,
                    Owner::Project => set(Some(&[program]), Some(&[program])),
                };
                assert_eq!(all.check_programs(owner).is_ok(), fits, "{owner:?} {program:?}");
            }
        };
        for program in ["tools", "python3", "/usr/bin/tools", "..tools"] {
            check(Owner::User, program, true);
            check(Owner::Project, program, false);
        }
        for program in ["./tools", "bin/tools", "../tools", "~/tools", ".host/tools/list"] {
            check(Owner::User, program, false);
        }
        for program in [".host/tools/list", ".host/tools/a b.py"] {
            check(Owner::Project, program, true);
        }
        for program in [
            ".host/tools/",
            ".host/tools/..",
            ".host/tools/a/b",
            ".host/tools/../x",
            "./.host/tools/list",
            "/p/.host/tools/x",
        ] {
            check(Owner::Project, program, false);
        }
    }
}
