//! Whether the program that a command starts is the one that its name says.

use std::path::Path;

use host_shell::{Command, Word, base_name};

use super::environment::ProgramEnvironment;
use super::place::Place;

/// Commands that dash, bash and BusyBox run themselves.
const BUILTINS: [&str; 26] = [
    ".", ":", "[", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export", "false", "hash",
    "printf", "pwd", "read", "readonly", "return", "set", "shift", "test", "times", "trap", "true", "type",
];

/// The shells whose lines are read.
const SHELLS: [&str; 4] = ["sh", "bash", "dash", "ash"];

/// What the file of such a shell is called, without its links. On macOS, `sh` is none.
const SHELL_FILES: [&str; 4] = ["bash", "busybox", "dash", "sh"];

/// Returns why the program of a command may be another one than the one of the system with its name. The host chooses
/// what runs as `sh` where a call names it: there, `is_spawned`.
pub(super) fn doubt(
    part: &Command,
    is_spawned: bool,
    place: &Place<'_>,
    environment: &ProgramEnvironment,
) -> Option<String> {
    let program = part.words.first().and_then(Word::literal).filter(|program| !program.is_empty())?;
    let name = base_name(&part.words);
    if part.by_shell && BUILTINS.contains(&program) || is_spawned && program == "sh" {
        return None;
    }
    let file = match program == name {
        true => match environment.find(name, &environment.controlled(&place.workspace)) {
            Ok(found) => found?,
            Err(why) => return Some(why),
        },
        // It is a file, and a rule for the name does not cover it unless it is one of the system.
        false => Path::new(program).canonicalize().ok()?,
    };
    let known = file.file_name().is_some_and(|file| SHELL_FILES.iter().any(|shell| file == *shell));
    (SHELLS.contains(&name) && !known)
        .then(|| format!("`{program}` is {}, which reads lines otherwise", file.display()))
}
