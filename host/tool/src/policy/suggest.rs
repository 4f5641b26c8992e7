//! What a person is shown of a command, and what an answer for good would cover.

use std::path::Path;

use host_shell::harmless::{self, Judged};
use host_shell::{Place, Word, analyse, base_name, git, hazard, wrapper};

/// A command that would run, as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// As it was written.
    pub text: String,
    /// Its words without their quotes; none where a word is not known before it runs.
    pub words: Vec<Option<String>>,
    /// Why it is not known what it does; empty when it is.
    pub doubts: Vec<String>,
}

/// The commands that a command would run: of `sh -c LINE` those of the line, of a wrapper what it runs.
pub fn simple_commands(argv: &[String]) -> Vec<SimpleCommand> {
    let parts = analyse(argv, Place::anywhere()).parts.into_iter();
    let shown = parts.filter(|part| !part.transparent && !part.words.is_empty());
    let command = shown.map(|part| SimpleCommand {
        text: part.shown,
        words: part.words.iter().map(|word| word.literal().map(str::to_owned)).collect(),
        doubts: part.doubts.into_iter().chain(part.hazards.into_iter().map(|hazard| hazard.why)).collect(),
    });
    command.collect()
}

/// Programs whose second word says what they do.
const WITH_COMMANDS: &str = "apt apt-get bazel brew bun bundle cargo composer dart deno docker dotnet flutter gcloud gh git glab go \
    gradle helm jj just kubectl make mvn npm pip pip3 pnpm podman poetry rustup swift terraform uv yarn";

/// Programs that delete, overwrite or give away: each time is another matter.
const NEVER: &str = "chmod chown cp curl dd install kill killall ln mkfs mv pkill rm rmdir rsync scp shred ssh tee truncate \
    unlink wget";

/// The first words of a command that an answer for good should cover: the program, and its command where it has
/// such. None where every time is another matter: for wrappers, shells, interpreters, what deletes, and git's
/// commands that can destroy.
pub fn suggested_prefix(words: &[String]) -> Option<Vec<String>> {
    let all: Vec<Word> = words.iter().map(Word::literal_of).collect();
    let (program, name) = (words.first().filter(|program| !program.is_empty())?, base_name(&all));
    let destroys = name == "git" && words.get(1).is_none_or(|command| !git::only_adds(command));
    let risky = destroys || is_among(NEVER, name) || wrapper::is_wrapper(name) || hazard::is_interpreter(name);
    let judged = harmless::judge(&all, Path::new("/"));
    let hazardous = !hazard::hazards(&all).is_empty() || name == "git" && !git::hazards(&all).is_empty();
    if risky || judged != Judged::Other || hazardous {
        return None;
    }
    // What is remembered is read back from a file and shown to people.
    let odd = |c: char| !c.is_ascii_alphanumeric() && !"_-+./@".contains(c);
    if program.contains(odd) {
        return None;
    }
    let is_command = |word: &&String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(plain)
    };
    let mut prefix = vec![program.clone()];
    if is_among(WITH_COMMANDS, name) {
        let second = words.get(1).filter(is_command)?;
        prefix.push(second.clone());
        if matches!(second.as_str(), "run" | "exec" | "compose" | "stash" | "remote") {
            prefix.push(words.get(2).filter(is_command)?.clone());
        }
    }
    Some(prefix)
}

fn is_among(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}
