//! What a user is shown of a command, and what a lasting answer would cover.

use host_shell::programs::{Builtin, Irreversible, Program};
use host_shell::{Hazard, HazardKind, Word, analyse, base_name};

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

/// Returns the commands that a command would run: those of the line for `sh -c LINE`, and what it runs for a wrapper
/// whose own words are clear.
pub fn simple_commands(argv: &[String]) -> Vec<SimpleCommand> {
    let commands = analyse(argv).commands.into_iter();
    let is_silent = |command: &host_shell::Command| command.transparent && command.unclear.is_empty();
    let shown = commands.filter(|command| !is_silent(command) && !command.words.is_empty());
    let shown = shown.map(|command| SimpleCommand {
        text: command.source,
        words: command.words.iter().map(|word| word.literal().map(str::to_owned)).collect(),
        doubts: command
            .unclear
            .into_iter()
            .chain(command.hazards.into_iter().filter(is_doubt).map(|hazard| hazard.why))
            .collect(),
    });
    shown.collect()
}

/// Returns the words of each command that a command would run, itself included. A word that is known only at run time
/// is `\0`, which is not a word of any grant.
pub fn commands_in(argv: &[String]) -> Vec<Vec<String>> {
    let word = |word: &Word| word.literal().unwrap_or("\0").to_owned();
    analyse(argv).commands.iter().map(|command| command.words.iter().map(word).collect()).collect()
}

/// Whether the hazard tells something about this command: that a program is not known needs no saying, and the verdict
/// says what the files show.
fn is_doubt(hazard: &Hazard) -> bool {
    hazard.kind != HazardKind::UnknownProgram && !hazard.kind.depends_on_files()
}

/// What a lasting answer about a command covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suggestion {
    /// Every command that begins with these words and goes on with words that are understood.
    Prefix(Vec<String>),
    /// This command and no other, since nothing is known of its program.
    Exactly(Vec<String>),
}

impl Suggestion {
    /// The words of the rule for it.
    pub fn words(&self) -> &[String] {
        match self {
            Self::Prefix(words) | Self::Exactly(words) => words,
        }
    }
}

/// Returns what a lasting answer about a command covers. `None` if each use has to be decided separately: for wrappers,
/// shells and interpreters, for programs that delete, deploy, publish or run others, for git's commands that can
/// destroy, and for words that are not understood.
pub fn suggestion(words: &[String]) -> Option<Suggestion> {
    let all: Vec<Word> = words.iter().map(Word::literal_of).collect();
    words.first().filter(|program| !program.is_empty())?;
    // What is known of a program goes by its name, wherever it lies.
    let known = Program::find(base_name(&all));
    let irreversible = match known.irreversible {
        Irreversible::No => false,
        Irreversible::Always => true,
        Irreversible::Sometimes { never, .. } => words.get(1).is_none_or(|command| !never(command)),
    };
    let is_builtin = known.builtin.is_some_and(|builtin| builtin(&all) != Builtin::Other);
    // A rule for a wrapper is one for every program behind it.
    if irreversible || known.is_wrapper() || known.interprets || is_builtin {
        return None;
    }
    let analysis = analyse(words);
    let mut hazards = analysis.commands.first()?.hazards.clone();
    // What depends on files is looked at for each call; it makes no word of the command unclear.
    hazards.retain(|hazard| !hazard.kind.depends_on_files());
    if hazards.iter().any(is_doubt) {
        return None;
    }
    // A program that is not known by its name or its folder, even if no word follows here.
    let is_file = words.first().is_some_and(|program| program.contains('/'));
    let suggestion = if known.is_unknown() || is_file || !hazards.is_empty() {
        // Of a program that is not known no word is known to be harmless, so only the same line counts.
        Suggestion::Exactly(words.to_vec())
    } else {
        Suggestion::Prefix(words[..known.prefix(&all)?].to_vec())
    };
    // The words are read back from a file and shown to users.
    let is_odd = |c: char| !(c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ');
    // A rule that the user cannot read as it will be compared is not offered.
    (!suggestion.words().iter().any(|word| word.is_empty() || word.contains(is_odd))).then_some(suggestion)
}
