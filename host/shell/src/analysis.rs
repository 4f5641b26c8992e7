//! Takes a command that would be spawned apart into the commands that would run.
//!
//! Each of them is a simple command of a shell line, or a command that a wrapper (`env`, `sudo`, `xargs`, `sh -c`)
//! would run. Anything that the text does not determine is reported as unclear, with the reason; words that make a
//! program do more than its name says are reported as hazards.

use crate::grammar::{self, Redirect, SimpleCommand};
use crate::hazard::Hazard;
use crate::inner::{Inner, Wrapped};
use crate::looks;
use crate::named_path::NamedPath;
use crate::programs::{self, Builtin, Deletes, Irreversible, Program, Runs, Understood, Writes};
use crate::reading::{self, Reads};
use crate::usage::not_understood;
use crate::variable;
use crate::word::Word;

/// How many wrappers may be inside each other.
const DEPTH: usize = 12;

/// The most commands of an analysis.
const COMMANDS: usize = 1024;

/// The most reasons why an analysis is unclear; one is enough to ask.
const REASONS: usize = 16;

/// A command, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The commands that would run, each after the one that runs it.
    pub commands: Vec<Command>,
    /// Why these may not be all; empty if they are.
    pub unclear: Vec<String>,
}

/// One command that would run.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The text as it was written.
    pub source: String,
    /// Why its effect is not known.
    pub unclear: Vec<String>,
    /// Words that make the program run or write something else. A rule that names them allows them.
    pub hazards: Vec<Hazard>,
    /// Files that its redirections write, except for devices that take anything.
    pub redirects: Vec<String>,
    /// Files and folders that it writes, by redirections and as operands.
    pub writes: Vec<NamedPath>,
    /// Files and folders that it deletes, as far as its words show; they are among those that it writes if they are
    /// operands.
    pub deletes: Vec<String>,
    /// Files that redirections read, its own or those of the commands around it, which hand it their input.
    pub inputs: Vec<NamedPath>,
    /// Files whose names or existence it shows, as a builtin of the shell.
    pub looks: Vec<NamedPath>,
    /// What it opens, if it only reads and prints, apart from its redirections.
    pub reads: Option<Reads>,
    /// Why it cannot be undone.
    pub irreversible: Option<&'static str>,
    /// It is a builtin of the shell, and changes nothing but perhaps the current folder.
    pub harmless: bool,
    /// The folder to which it moves the shell.
    pub enters: Option<String>,
    /// It only runs other commands, which determine its whole effect.
    pub transparent: bool,
    /// It may be an argument of the command around it, not a command.
    pub uncertain: bool,
    /// A shell runs it, which knows builtins, and not a wrapper, which starts a program.
    pub by_shell: bool,
    /// The index of the command that would run it, and the index of its program among that command's words.
    pub outer: Option<(usize, usize)>,
}

/// Takes a command apart.
pub fn analyse(argv: &[String]) -> Analysis {
    let words: Vec<Word> = argv.iter().map(Word::literal_of).collect();
    let mut analysis = Analysis::default();
    if words.is_empty() {
        analysis.mark_unclear("there is no program");
    }
    analysis.add(from_words(words), &Around::default(), 0);
    analysis
}

/// Takes a shell line apart.
pub fn analyse_line(line: &str) -> Analysis {
    let mut analysis = Analysis::default();
    analysis.add_line(line, &Around::default(), 0);
    analysis
}

/// What is around a command.
#[derive(Clone, Debug, Default)]
struct Around {
    /// The index of the command that runs it, and where it begins among that command's words.
    outer: Option<(usize, usize)>,
    /// What the commands around it read as the input that it gets.
    inputs: Vec<NamedPath>,
    by_shell: bool,
}

impl Analysis {
    fn mark_unclear(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.unclear.len() < REASONS && !self.unclear.contains(&why) {
            self.unclear.push(why);
        }
    }

    fn add_line(&mut self, line: &str, around: &Around, depth: usize) {
        let line = grammar::read(line);
        line.unclear.into_iter().for_each(|why| self.mark_unclear(why));
        let around = Around { by_shell: true, ..around.clone() };
        for simple in line.commands {
            self.add(simple, &around, depth);
        }
    }

    fn add(&mut self, simple: SimpleCommand, around: &Around, depth: usize) {
        if self.commands.len() >= COMMANDS || depth > DEPTH {
            return self.mark_unclear("it has too many commands in commands");
        }
        let index = self.commands.len();
        // The words of the outer command first: those within refer to it by its number.
        let (command, inner) = command(simple, around);
        let inputs = command.inputs.clone();
        self.commands.push(command);
        // What is run gets the input of what runs it.
        let around = |at: usize| Around { outer: Some((index, at)), inputs: inputs.clone(), by_shell: false };
        for inner in inner {
            match inner {
                Inner::Command { at, words } => self.add(from_words(words), &around(at), depth + 1),
                Inner::Line { at, text } => self.add_line(&text, &around(at), depth + 1),
                // Looked at as a command so that a rule which denies it is asked about, and never as one that surely
                // runs.
                Inner::Candidate { at, words } if self.commands.len() < COMMANDS => {
                    let SimpleCommand { words, source, .. } = from_words(words);
                    let unclear = vec!["it may be what the command around it runs".to_owned()];
                    let outer = Some((index, at));
                    self.commands.push(Command {
                        words,
                        source,
                        unclear,
                        outer,
                        uncertain: true,
                        ..Command::default()
                    });
                }
                Inner::Candidate { .. } => {}
            }
        }
    }
}

/// Analyses a command, and finds the commands in it.
fn command(simple: SimpleCommand, around: &Around) -> (Command, Vec<Inner>) {
    let Around { outer, inputs, by_shell } = around.clone();
    // The text as it was written: what a user is asked about must be what they can find in the line.
    let mut command = Command { source: simple.source, outer, inputs, by_shell, ..Command::default() };
    command.looks.extend(simple.expands.iter().map(NamedPath::expanded));
    // `PATH=x make` runs another `make`.
    command.unclear.extend(simple.assignments.iter().filter_map(variable::risk));
    redirected(&mut command, &simple.redirects);
    command.words = simple.words;
    let words = &command.words;
    let mut inner = Vec::new();
    match words.first().map(Word::literal) {
        // A line of assignments alone runs nothing; what they may do is said above.
        None => command.harmless = true,
        Some(None | Some("")) => command.unclear.push("what it runs is not literal".to_owned()),
        Some(Some(_)) => {
            // By its name in whatever folder: whether it is that program is decided with the files at hand.
            let program = Program::find(base_name(words));
            command.writes.extend(written(program, words));
            command.looks.extend(looks::of(base_name(words), words));
            command.deletes = deleted(program, words);
            command.hazards = hazards(program, words);
            command.irreversible = match program.irreversible {
                Irreversible::Sometimes { why, .. } => why(words),
                Irreversible::No | Irreversible::Always => None,
            };
            // `./echo` is any file, and no builtin.
            let is_plain = is_plain_path(words);
            command.reads = is_plain.then(|| reading::reads(base_name(words), words)).flatten();
            match program.builtin.map_or(Builtin::Other, |builtin| builtin(words)) {
                Builtin::Harmless => command.harmless = is_plain,
                Builtin::Enters(folder) => {
                    command.harmless = is_plain;
                    command.enters = Some(folder);
                }
                Builtin::Unclear(why) => command.unclear.push(why),
                Builtin::Other => {}
            }
            if let Some(wrapped) = wrapped(program, words) {
                // Only then does the decision about what it runs stand for the wrapper, too.
                command.transparent = wrapped.transparent && is_plain;
                command.unclear.extend(wrapped.unclear);
                command.hazards.extend(wrapped.hazards);
                command.inputs.extend(wrapped.inputs);
                inner = wrapped.inner;
            }
        }
    }
    (command, inner)
}

/// Adds what the redirections of a command read and write.
fn redirected(command: &mut Command, redirects: &[Redirect]) {
    for redirect in redirects {
        let target = redirect.target.literal();
        match redirect.writes {
            // Nothing is written there, and half of all lines end like this.
            true if matches!(target, Some("/dev/null" | "/dev/stdout" | "/dev/stderr")) => {}
            true => {
                command.redirects.push(redirect.target.to_string());
                let target = NamedPath::new(redirect.target.text.as_str(), &redirect.target);
                command.writes.extend(target.with_braces(&redirect.target));
            }
            false if target == Some("/dev/null") => {}
            false => {
                // bash takes `/dev/tcp/HOST/PORT` for a connection.
                if target.is_some_and(|target| target.starts_with("/dev/")) {
                    command.unclear.push("it reads a device".to_owned());
                }
                let input = target.map(|_| NamedPath::expanded(&redirect.target));
                // Only at run time is it known what is read; that is no file which may be read.
                command.inputs.push(input.unwrap_or_else(NamedPath::unknown));
            }
        }
    }
}

/// Returns what the program runs besides itself.
fn wrapped(program: &Program, words: &[Word]) -> Option<Wrapped> {
    match program.runs {
        Runs::Nothing => None,
        Runs::Command { operands } => Some(Wrapped::behind_options(words, &program.options, operands)),
        Runs::CommandWith { operands } => {
            let found = Wrapped::behind_options(words, &program.options, operands);
            Some(Wrapped { transparent: false, ..found })
        }
        Runs::Unfollowed => {
            let hazards = vec![Hazard::new(1, "what it runs is not followed")];
            Some(Wrapped { hazards, ..Wrapped::candidates(words, 1) })
        }
        Runs::OtherShell => Some(Wrapped::candidates(words, 1).with_unclear("it is a different kind of shell")),
        Runs::Found(found) | Runs::Sometimes(found) => found(words),
    }
}

/// Returns what the program deletes.
fn deleted(program: &Program, words: &[Word]) -> Vec<String> {
    match program.deletes {
        Deletes::Nothing => Vec::new(),
        Deletes::All => {
            let mut only_operands = false;
            let is_operand = |word: &&Word| {
                let is_operand = only_operands || !word.text.starts_with('-');
                only_operands |= word.is("--");
                is_operand
            };
            words[1..].iter().filter(is_operand).map(|word| word.text.clone()).collect()
        }
        Deletes::Found(found) => found(words),
    }
}

/// Returns what the program writes, as its words name it.
fn written(program: &Program, words: &[Word]) -> Vec<NamedPath> {
    let arguments = &words[1..];
    let named = |word: &Word| NamedPath::new(word.text.as_str(), word).with_braces(word);
    let operands = || arguments.iter().filter(|word| !word.text.starts_with('-'));
    match program.writes {
        Writes::Nothing => Vec::new(),
        Writes::All => operands().flat_map(named).chain(target_folders(arguments)).collect(),
        Writes::AllInPlace if arguments.iter().any(edits_in_place) => operands().flat_map(named).collect(),
        Writes::AllInPlace => Vec::new(),
        Writes::Copies if arguments.iter().any(makes_links) => {
            operands().flat_map(named).chain(target_folders(arguments)).collect()
        }
        // `cp a b c folder`: the last operand is the target, unless an option names it.
        Writes::Last | Writes::Copies => {
            let values = arguments.iter().filter(|_| matches!(program.writes, Writes::Copies)).filter_map(long_value);
            operands().next_back().into_iter().flat_map(named).chain(target_folders(arguments)).chain(values).collect()
        }
        Writes::Output => outputs(arguments).collect(),
        Writes::Archive => programs::written_archives(words),
        Writes::OutputFile => {
            let file = |word: &Word| word.text.strip_prefix("of=").map(|file| NamedPath::new(file, word));
            arguments.iter().filter_map(file).collect()
        }
    }
}

/// Returns the value of a long option, as in `--link-dest=FOLDER`.
fn long_value(word: &Word) -> Option<NamedPath> {
    let (_, value) = word.text.strip_prefix("--")?.split_once('=')?;
    Some(NamedPath::new(value, word))
}

/// Whether the option makes links in place of copies: another name for the same file.
fn makes_links(word: &Word) -> bool {
    match (word.text.strip_prefix("--"), word.text.strip_prefix('-')) {
        (Some(long), _) => {
            let name = long.split('=').next().unwrap_or_default();
            !name.is_empty() && ["link", "symbolic-link"].iter().any(|known| known.starts_with(name))
        }
        (None, Some(bundle)) => bundle.contains(['l', 's']),
        (None, None) => false,
    }
}

/// Returns the files and folders that options name for output.
fn outputs(arguments: &[Word]) -> impl Iterator<Item = NamedPath> {
    arguments.iter().enumerate().filter_map(|(at, word)| {
        let next = || arguments.get(at + 1).map(|word| NamedPath::new(word.text.as_str(), word));
        match (word.text.strip_prefix("--"), word.text.strip_prefix('-')) {
            (Some(long), _) if long.starts_with("ou") || long.starts_with("directory-p") => {
                long.split_once('=').map_or_else(next, |(_, file)| Some(NamedPath::new(file, word)))
            }
            (None, Some(bundle)) => match bundle.split_once(['o', 'O', 'P'])? {
                (_, "") => next(),
                (_, file) => Some(NamedPath::new(file, word)),
            },
            (Some(_), _) | (None, None) => None,
        }
    })
}

/// Returns the folders that options name as the target: `-t FOLDER` in every form, abbreviated or in a bundle.
fn target_folders(arguments: &[Word]) -> impl Iterator<Item = NamedPath> {
    arguments.iter().enumerate().filter_map(|(at, word)| {
        let next = || arguments.get(at + 1).map(|word| NamedPath::new(word.text.as_str(), word));
        match (word.text.strip_prefix("--"), word.text.strip_prefix('-')) {
            (Some(long), _) if long.starts_with('t') => {
                long.split_once('=').map_or_else(next, |(_, folder)| Some(NamedPath::new(folder, word)))
            }
            (None, Some(bundle)) => match bundle.split_once('t')? {
                (_, "") => next(),
                (_, folder) => Some(NamedPath::new(folder, word)),
            },
            (Some(_), _) | (None, None) => None,
        }
    })
}

/// Whether the option makes a stream editor write its files.
fn edits_in_place(word: &Word) -> bool {
    let text = word.text.as_str();
    let bundle = text.starts_with('-') && !text.starts_with("--");
    text.starts_with("--i") || bundle && text.contains('i')
}

/// Returns the words of a command, whose program is literal, that the name of the program does not cover.
fn hazards(program: &Program, words: &[Word]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    if program.needs_literals() {
        let why = "an argument that is not literal may make it run or write something else";
        let unknown = (1..words.len()).filter(|at| words[*at].literal().is_none());
        hazards.extend(unknown.map(|at| Hazard::new(at, why)));
    }
    // A file of that name elsewhere, such as `./git`, is a different program.
    if (!is_plain_path(words) || program.is_unknown()) && words.len() > 1 {
        hazards.push(Hazard::unknown_program(words.len() - 1));
    }
    if let Understood::Table(table) = program.understood {
        hazards.extend((program.begins)(words).and_then(|from| not_understood(table, words, from)));
    }
    hazards.extend(program.hazards.map(|hazards| hazards(words)).unwrap_or_default());
    hazards.extend(program.interprets.then(|| interpreted(words)).flatten());
    hazards
}

/// Returns why the words of an interpreter are covered only one by one: it runs a file, its arguments or its input.
fn interpreted(words: &[Word]) -> Option<Hazard> {
    let is_input = |word: &Word| word.is("-") || word.text.starts_with("/dev/") || word.text.starts_with("/proc/");
    match words.get(1) {
        Some(only) if words.len() == 2 && (only.is("--version") || only.is("-V")) => None,
        Some(_) if !words[1..].iter().any(is_input) => {
            Some(Hazard::new(words.len() - 1, "it runs the file or the code in its arguments"))
        }
        Some(_) | None => Some(Hazard::new(words.len(), "it runs code from its input")),
    }
}

fn from_words(words: Vec<Word>) -> SimpleCommand {
    let source = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    SimpleCommand { words, source, ..SimpleCommand::default() }
}

/// Returns the name of the program without its folders; empty if it is not literal.
pub fn base_name(words: &[Word]) -> &str {
    let program = words.first().and_then(Word::literal).unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default()
}

/// Whether the program is the one that its name suggests: found by the search path, or in a folder of the system.
fn is_plain_path(words: &[Word]) -> bool {
    let program = words.first().and_then(Word::literal).unwrap_or_default();
    let folder = program.strip_suffix(base_name(words)).unwrap_or_default();
    matches!(folder, "" | "/bin/" | "/usr/bin/")
}
