//! A command that would be spawned, taken apart into the commands that would run.
//!
//! Each part is a simple command of a shell line, or what a wrapper (`env`, `sudo`, `xargs`, `sh -c`) would run.
//! Doubts and hazards say where reading alone does not tell what a part does. No rule is known here.

use std::path::{Path, PathBuf};

use super::harmless::{self, variable_doubt};
use super::line::{self, Simple, Word};
use super::wrapper::{self, Inner};
use super::{git, hazard, protected};

/// How many wrappers may stand in each other.
const DEPTH: usize = 12;

/// The most parts of a command.
const PARTS: usize = 1024;

/// A command, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The commands that would run.
    pub parts: Vec<Part>,
    /// Why what runs is not known as a whole; empty when it is.
    pub doubts: Vec<String>,
}

/// One command that would run.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// As it was written.
    pub shown: String,
    /// Why it is not known what it does.
    pub doubts: Vec<String>,
    /// Words that make the program run or write something else. Who names them allows them.
    pub hazards: Vec<Hazard>,
    /// Files that redirections of it write.
    pub writes: Vec<String>,
    /// What it would change although nothing may.
    pub protected: Option<String>,
    /// Why it would destroy what git keeps.
    pub destructive: Option<&'static str>,
    /// It does nothing by itself that could need a rule.
    pub harmless: bool,
    /// It only runs other parts, which say all that it does.
    pub transparent: bool,
    /// It may be no command at all, but an argument of the part around it.
    pub perhaps: bool,
    /// The part that would run it, and which of that part's words its program is.
    pub outer: Option<(usize, usize)>,
}

/// A word that makes a program do more than its name says.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// Which word; one behind the last is never named by a rule.
    pub at: usize,
    /// Why.
    pub why: String,
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The absolute path of the workspace.
    pub workspace: &'a Path,
    /// Folders of the host's own, absolute.
    pub own: &'a [PathBuf],
}

impl Place<'static> {
    /// Anywhere: for what does not depend on it.
    pub fn anywhere() -> Self {
        Self { workspace: Path::new("/"), own: &[] }
    }
}

/// Takes a command apart.
pub fn analyse(argv: &[String], place: Place<'_>) -> Analysis {
    let words: Vec<Word> = argv.iter().map(Word::literal_of).collect();
    let mut analysis = Analysis::default();
    if words.is_empty() {
        analysis.doubt("there is no program");
    }
    let shown = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let simple = Simple { words, source: shown, ..Simple::default() };
    analysis.add(simple, None, 0, place);
    analysis
}

/// Takes a shell line apart.
pub fn analyse_line(line: &str, place: Place<'_>) -> Analysis {
    let mut analysis = Analysis::default();
    analysis.add_line(line, None, 0, place);
    analysis
}

impl Analysis {
    fn doubt(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.doubts.len() < 16 && !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }

    fn add_line(&mut self, line: &str, outer: Option<(usize, usize)>, depth: usize, place: Place<'_>) {
        let line = line::read(line);
        line.doubts.into_iter().for_each(|doubt| self.doubt(doubt));
        for simple in line.commands {
            self.add(simple, outer, depth, place);
        }
    }

    fn add(&mut self, simple: Simple, outer: Option<(usize, usize)>, depth: usize, place: Place<'_>) {
        if self.parts.len() >= PARTS || depth > DEPTH {
            return self.doubt("it has too many commands in commands");
        }
        let at = self.parts.len();
        let mut part = Part { shown: simple.source, outer, ..Part::default() };
        for word in &simple.assignments {
            part.doubts.extend(variable_doubt(word));
        }
        for redirect in &simple.redirects {
            let target = redirect.target.literal();
            match redirect.writes {
                true if matches!(target, Some("/dev/null" | "/dev/stdout" | "/dev/stderr")) => {}
                true => {
                    part.protected = part.protected.or_else(|| protected::path(&redirect.target, place));
                    part.writes.push(redirect.target.to_string());
                }
                false if target.is_some_and(|target| target.starts_with("/dev/")) && target != Some("/dev/null") => {
                    part.doubts.push("it reads a device".to_owned());
                }
                false => {}
            }
        }
        part.words = simple.words;
        let looked = match part.words.first() {
            None => {
                part.harmless = true;
                None
            }
            Some(program) if program.literal().is_none_or(str::is_empty) => {
                part.doubts.push("what it runs is not literal".to_owned());
                None
            }
            Some(_) => {
                let protects = protected::writer(&part.words, place);
                part.protected = part.protected.or(protects);
                part.hazards = hazard::hazards(&part.words);
                if base_name(&part.words) == "git" {
                    part.destructive = git::destructive(&part.words);
                    part.hazards.extend(git::hazards(&part.words));
                }
                match harmless::judge(&part.words, place.workspace) {
                    harmless::Judged::Harmless => part.harmless = true,
                    harmless::Judged::Doubt(why) => part.doubts.push(why),
                    harmless::Judged::Other => {}
                }
                wrapper::look(&part.words)
            }
        };
        let mut inner = Vec::new();
        if let Some(look) = looked {
            part.transparent = look.transparent && is_plain_path(&part.words);
            part.doubts.extend(look.doubts);
            part.hazards.extend(look.hazards);
            inner = look.inner;
        }
        part.harmless &= is_plain_path(&part.words);
        self.parts.push(part);
        for inner in inner {
            match inner {
                Inner::Words { at: starts, words } => {
                    let shown = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let simple = Simple { words, source: shown, ..Simple::default() };
                    self.add(simple, Some((at, starts)), depth + 1, place);
                }
                Inner::Line { at: starts, text } => {
                    self.add_line(&text, Some((at, starts)), depth + 1, place);
                }
                Inner::Perhaps { at: starts, words } => {
                    if self.parts.len() < PARTS {
                        let shown = words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                        let doubts = vec!["it may be what the command around it runs".to_owned()];
                        self.parts.push(Part {
                            words,
                            shown,
                            doubts,
                            outer: Some((at, starts)),
                            perhaps: true,
                            ..Part::default()
                        });
                    }
                }
            }
        }
    }
}

/// The program without its folders; empty when it is not literal.
pub fn base_name(words: &[Word]) -> &str {
    let program = words.first().and_then(Word::literal).unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default()
}

/// Whether the program is the one that its name says: found by the search path, or in the system's own folders.
fn is_plain_path(words: &[Word]) -> bool {
    let program = words.first().and_then(Word::literal).unwrap_or_default();
    let folder = program.strip_suffix(base_name(words)).unwrap_or_default();
    matches!(folder, "" | "/bin/" | "/usr/bin/")
}
