//! `[tools]`: the two commands by which more tools are found and called.
//!
//! Promises: there are both or neither; each is a list of words of which the first is the program, and no shell reads
//! them; which program that is does not depend on the folder that is worked in, unless a user trusted what lies there.
//! In the user's own file it is a name that is looked up in `PATH`, or an absolute path. In a project's it is a file of
//! its `.host/tools/`, whose bytes are among those that were trusted.
//!
//! Deliberately not here: running them (`plugins::sources`).

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::Failure;
use crate::project::{PROGRAMS, shown};

/// The most bytes of all words of a command. Protects memory: each tool of a list has a copy, followed by its name.
const MAX_COMMAND: usize = 32 << 10;

/// The two keys, as written in a file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolCommands {
    /// The command that prints the list of tools, as a list of words; set both commands or neither.
    pub discovery_command: Option<Vec<String>>,
    /// The command that calls one of them; its name is added as the last word.
    pub call_command: Option<Vec<String>>,
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

impl ToolCommands {
    /// Both, where they are set.
    pub fn commands(&self, owner: Owner) -> Option<Commands> {
        let (discovery, call) = (self.discovery_command.clone()?, self.call_command.clone()?);
        Some(Commands { discovery, call, owner })
    }

    fn both(&self) -> [(&'static str, Option<&Vec<String>>); 2] {
        [("discovery_command", self.discovery_command.as_ref()), ("call_command", self.call_command.as_ref())]
    }

    /// Refuses one without the other, and commands that are none.
    pub fn check_pair(&self, file: &Path) -> Result<(), Failure> {
        let [(_, discovery), (_, call)] = self.both();
        let alone = match (discovery, call) {
            (Some(_), None) => Some(("discovery_command", "call_command", "calls one of the tools that it lists")),
            (None, Some(_)) => Some(("call_command", "discovery_command", "lists the tools that it calls")),
            (Some(_), Some(_)) | (None, None) => None,
        };
        if let Some((there, missing, what)) = alone {
            return Err(wrong(file, format!("`tools.{there}` is set and `tools.{missing}` is not"))
                .help(format!("set `tools.{missing}` to the command that {what}")));
        }
        for (key, words) in self.both().into_iter().filter_map(|(key, words)| Some((key, words?))) {
            if words.first().is_none_or(String::is_empty) {
                return Err(wrong(file, format!("`tools.{key}` does not name a program"))
                    .help(format!("write it as a list of words: {key} = [\"my-tools\", \"--json\"]")));
            }
            let size: usize = words.iter().map(|word| word.len() + 1).sum();
            if size > MAX_COMMAND {
                return Err(wrong(file, format!("`tools.{key}` has {size} bytes, over the limit of {MAX_COMMAND}"))
                    .help("put the long arguments into a script, and name the script here"));
            }
            if words.iter().any(|word| word.contains('\0')) {
                return Err(wrong(file, format!("a word of `tools.{key}` contains a NUL character"))
                    .help("remove it: a program's arguments cannot contain it"));
            }
        }
        Ok(())
    }

    /// Refuses programs that this file may not name.
    pub fn check_programs(&self, owner: Owner, file: &Path) -> Result<(), Failure> {
        for (key, words) in self.both().into_iter().filter_map(|(key, words)| Some((key, words?))) {
            let program = words.first().map(String::as_str).unwrap_or_default();
            let (fits, rule, help) = match owner {
                Owner::User => (
                    !program.contains('/') || program.starts_with('/'),
                    "is neither a name nor an absolute path",
                    "a relative path would run a different program in each folder; write the absolute path of a program, \
                     or its name if it is in PATH",
                ),
                Owner::Project => (
                    program.strip_prefix(PROGRAMS).is_some_and(is_file_name),
                    "is not a file in the project's `.host/tools/`",
                    "put the program there, so that it is trusted with the project and you are asked again when it \
                     changes, and write it as `.host/tools/NAME`",
                ),
            };
            if !fits {
                let program = shown::name(program);
                return Err(wrong(file, format!("the program `{program}` of `tools.{key}` {rule}")).help(help));
            }
        }
        Ok(())
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/')
}

fn wrong(file: &Path, why: String) -> Failure {
    Failure::configuration(format!("invalid configuration `{}`", shown::path(file))).cause(why)
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
            let checked = set(discovery, call).check_pair(Path::new("c.toml"));
            match says {
                None => assert!(checked.is_ok(), "{checked:?}"),
                Some(says) => {
                    let failure = checked.expect_err(says);
                    assert!(failure.causes[0].contains(says) && failure.help.is_some(), "{failure:?}");
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
                assert_eq!(all.check_programs(owner, Path::new("c.toml")).is_ok(), fits, "{owner:?} {program:?}");
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
