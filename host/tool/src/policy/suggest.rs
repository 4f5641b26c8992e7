//! What a user is shown of a command, and what a lasting answer would cover.

use host_shell::programs::{Builtin, Irreversible, Program};
use host_shell::{Word, analyse, base_name};

/// A command that would run, as it was analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The text as it was written.
    pub text: String,
    /// Its words without their quotes; `None` for a word that is known only at run time.
    pub words: Vec<Option<String>>,
    /// Why its effect is not known; empty if it is.
    pub doubts: Vec<String>,
}

/// Returns the commands that a command would run: those of the line for `sh -c LINE`, and what it runs for a wrapper.
pub fn simple_commands(argv: &[String]) -> Vec<SimpleCommand> {
    let commands = analyse(argv).commands.into_iter();
    let shown = commands.filter(|command| !command.transparent && !command.words.is_empty());
    let shown = shown.map(|command| SimpleCommand {
        text: command.source,
        words: command.words.iter().map(|word| word.literal().map(str::to_owned)).collect(),
        doubts: command.unclear.into_iter().chain(command.hazards.into_iter().map(|hazard| hazard.why)).collect(),
    });
    shown.collect()
}

/// Returns the words of each command that a command would run, itself included. A word that is known only at run time is
/// `\0`, which is no word of any grant.
pub fn commands_in(argv: &[String]) -> Vec<Vec<String>> {
    let word = |word: &Word| word.literal().unwrap_or("\0").to_owned();
    analyse(argv).commands.iter().map(|command| command.words.iter().map(word).collect()).collect()
}

/// Returns the prefix of a command that a lasting answer should cover: the program, and its subcommand if it has
/// subcommands. `None` if each use has to be decided separately: for wrappers, shells, interpreters, programs that
/// delete, and git's commands that can destroy.
pub fn suggested_prefix(words: &[String]) -> Option<Vec<String>> {
    let all: Vec<Word> = words.iter().map(Word::literal_of).collect();
    let program = words.first().filter(|program| !program.is_empty())?;
    let known = Program::find(base_name(&all));
    let irreversible = match known.irreversible {
        Irreversible::No => false,
        Irreversible::Always => true,
        Irreversible::Sometimes { never, .. } => words.get(1).is_none_or(|command| !never(command)),
    };
    let is_builtin = known.builtin.is_some_and(|builtin| builtin(&all) != Builtin::Other);
    let is_hazardous = || analyse(words).commands.first().is_none_or(|command| !command.hazards.is_empty());
    if irreversible || known.is_wrapper() || known.inline_code.is_some() || is_builtin || is_hazardous() {
        return None;
    }
    // The prefix is read back from a file and shown to users.
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"_-+./@".contains(c);
    if program.contains(odd) {
        return None;
    }
    let is_command = |word: &&String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(plain)
    };
    let mut prefix = vec![program.clone()];
    if known.has_commands {
        let second = words.get(1).filter(is_command)?;
        prefix.push(second.clone());
        if matches!(second.as_str(), "run" | "exec" | "compose" | "stash" | "remote") {
            prefix.push(words.get(2).filter(is_command)?.clone());
        }
    }
    Some(prefix)
}
