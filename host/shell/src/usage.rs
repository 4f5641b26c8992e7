//! Which words of a program are understood.
//!
//! The row of a program lists the subcommands and options whose effect is known and is what the program's name says.
//! Whatever is not listed is not understood, and a rule covers it only word by word: a list of what is dangerous would
//! never be complete, since programs gain options, accept abbreviations, and read words in orders of their own.
//!
//! A table has a line for each subcommand; a line that begins with a blank goes on with the one before:
//!
//! ```text
//! log -p -# -n= --oneline --format= : files
//! test -p= --workspace : names -- --nocapture --test-threads=
//! ```
//!
//! First come the words of the subcommand, none for the program itself. `-p` takes no value, or one behind `=`; `-n=`
//! takes one, in the same word or the next; `-#` is a number such as `-5`. Behind the `:` stands what the operands are
//! ([`Operands`]), and behind `--` what is understood after that word.

use crate::hazard::Hazard;
use crate::word::{UNKNOWN, Word};

/// What is understood of a program's words.
#[derive(Clone, Copy, Debug)]
pub enum Understood {
    /// None of them, or what the code of its row finds.
    Nothing,
    /// All of them: it only reads and prints, whatever they are.
    Everything,
    /// Those of a table.
    Table(&'static str),
}

/// What the operands of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// There are none.
    None,
    /// Files, folders, patterns and texts that are only read, or that the row says are written.
    Files,
    /// The same, but none outside of the folder.
    Inside,
    /// At most one of them: a second one would be written.
    File,
    /// Names, such as of packages and branches: no path out of the folder, no address, no assignment.
    Names,
    /// Names of packages: no path of a folder, which would be a package, too. Only a scope, as in `@a/b`, has a `/`.
    Packages,
    /// Names of what runs, such as the targets of `make`: a lasting answer names them.
    Targets,
    /// Formats, as in `date +%s`.
    Formats,
}

/// The line of a table that describes a command.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// The words of the subcommand.
    command: Vec<&'static str>,
    options: Vec<&'static str>,
    operands: Operands,
    /// What is understood behind `--`.
    rest: Option<Vec<&'static str>>,
}

/// The words of a command, as a [`Usage`] reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The index of the first word that is not understood.
    pub(crate) unknown: Option<usize>,
    /// The names of the options, with their values.
    pub(crate) options: Vec<(String, Option<String>)>,
    /// The indices of the operands.
    pub(crate) operands: Vec<usize>,
}

impl Usage {
    /// Returns the usage of the subcommand that begins at this index; the one with the most words.
    pub(crate) fn find(table: &'static str, words: &[Word], from: usize) -> Option<Self> {
        let given = words.get(from..).unwrap_or_default();
        let fits = |entry: &&'static str| {
            let mut given = given.iter();
            command(entry).all(|known| given.next().is_some_and(|word| word.is(known)))
        };
        entries(table).filter(fits).max_by_key(|entry| command(entry).count()).map(Self::parse)
    }

    fn parse(entry: &'static str) -> Self {
        let command: Vec<&str> = command(entry).collect();
        let tokens: Vec<&str> = entry.split_whitespace().skip(command.len()).filter(|token| *token != ".").collect();
        let (options, behind) = match tokens.iter().position(|token| *token == ":") {
            Some(at) => (tokens[..at].to_vec(), &tokens[at + 1..]),
            None => (tokens.clone(), &[][..]),
        };
        let operands = behind.first().and_then(|word| Operands::parse(word)).unwrap_or(Operands::None);
        let rest = behind.iter().position(|token| *token == "--").map(|at| behind[at + 1..].to_vec());
        Self { command, options, operands, rest }
    }

    /// Returns the index behind the subcommand that begins at this index, and behind what it runs by name; `None` if
    /// one of the table's subcommands, or such a name, could be there and is not.
    pub(crate) fn end(&self, table: &'static str, words: &[Word], from: usize) -> Option<usize> {
        let end = from + self.command.len();
        if self.command.is_empty() && entries(table).count() > 1 {
            return None;
        }
        match self.operands {
            Operands::Targets => self.read(words, from).operands.last().map(|last| last + 1),
            Operands::None
            | Operands::Files
            | Operands::Inside
            | Operands::File
            | Operands::Names
            | Operands::Packages
            | Operands::Formats => Some(end),
        }
    }

    /// Reads the words behind the subcommand that begins at this index.
    pub(crate) fn read(&self, words: &[Word], from: usize) -> Reading {
        let mut reading = Reading::default();
        let mut options = &self.options;
        let (mut at, mut only_operands) = (from + self.command.len(), false);
        while let Some(word) = words.get(at) {
            let here = at;
            at += 1;
            let text = word.text.as_str();
            // It can become several words, or an option.
            if word.split || word.brace || text.starts_with([UNKNOWN, '*', '?', '[']) && !only_operands {
                reading.unknown = Some(here);
                return reading;
            }
            // One word that is not understood makes the rest uncertain: it may take the next one as its value.
            let understood = match text {
                "--" if !only_operands => match (&self.rest, self.operands) {
                    (Some(rest), _) => {
                        options = rest;
                        true
                    }
                    (None, Operands::Files | Operands::Inside | Operands::File) => {
                        only_operands = true;
                        true
                    }
                    (
                        None,
                        Operands::None | Operands::Names | Operands::Packages | Operands::Targets | Operands::Formats,
                    ) => false,
                },
                option if option.len() > 1 && option.starts_with('-') && !only_operands => {
                    let takes_next = read_option(option, options, words.get(at), &mut reading.options);
                    at += usize::from(takes_next == Some(true));
                    takes_next.is_some()
                }
                _ => {
                    let is_first = reading.operands.is_empty();
                    reading.operands.push(here);
                    // What an operand may be depends on its kind: a name of a package is not the address of one.
                    self.operands.admit(word, is_first)
                }
            };
            if !understood {
                reading.unknown = Some(here);
                return reading;
            }
        }
        reading
    }
}

impl Operands {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "none" => Self::None,
            "files" => Self::Files,
            "inside" => Self::Inside,
            "file" => Self::File,
            "names" => Self::Names,
            "packages" => Self::Packages,
            "targets" => Self::Targets,
            "formats" => Self::Formats,
            _ => return None,
        })
    }

    fn admit(self, word: &Word, is_first: bool) -> bool {
        let is_name = || {
            let plain = |c: char| c.is_ascii_alphanumeric() || "@._/+^~-".contains(c);
            let begins = |c: char| c.is_ascii_alphanumeric() || "@_".contains(c);
            let text = word.literal().filter(|text| text.starts_with(begins) && text.chars().all(plain));
            text.is_some_and(|text| !leaves(text))
        };
        match self {
            Self::None => false,
            Self::Files => true,
            Self::Inside => !word.tilde && !word.dynamic && !leaves(&word.text),
            Self::File => is_first && !word.glob,
            Self::Names | Self::Targets => is_name(),
            Self::Packages => {
                let separators = word.text.matches('/').count();
                is_name() && separators <= usize::from(word.text.starts_with('@'))
            }
            Self::Formats => word.text.starts_with('+'),
        }
    }
}

/// Whether a path leads out of the folder in which it is used.
fn leaves(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}

/// Adds the options in a word, and returns whether the last one takes the next word as its value; `None` if one of them
/// is not understood.
fn read_option(
    text: &str,
    known: &[&str],
    next: Option<&Word>,
    found: &mut Vec<(String, Option<String>)>,
) -> Option<bool> {
    // A value must be there, and be one word.
    let value = || next.filter(|word| !word.split && !word.brace && !word.glob).map(|word| word.text.clone());
    let is_flag = |name: &str| known.contains(&name);
    let is_valued = |name: &str| known.iter().any(|token| token.strip_suffix('=') == Some(name));
    // Long options and single-dash ones such as `-std=x` alike.
    let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
    if name.len() > 2 {
        if is_valued(name) {
            let takes_next = attached.is_none();
            found.push((name.to_owned(), Some(attached.or_else(value)?)));
            return Some(takes_next);
        }
        if is_flag(name) {
            found.push((name.to_owned(), attached));
            return Some(false);
        }
        // No abbreviations: a program's next version may give them another meaning.
        if name.starts_with("--") {
            return None;
        }
    }
    let letters = &text[1..];
    // A number is an option only where the row says so, as for `head -5`.
    if is_flag("-#") && letters.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(false);
    }
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        if is_valued(&name) {
            let behind = &letters[at + letter.len_utf8()..];
            let takes_next = behind.is_empty();
            found.push((name, Some(if takes_next { value()? } else { behind.to_owned() })));
            return Some(takes_next);
        }
        if !is_flag(&name) {
            return None;
        }
        found.push((name, None));
    }
    Some(false)
}

/// Returns the entries of a table, each with the lines that go on with it.
fn entries(table: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let ends = rest.match_indices('\n').map(|(at, _)| at + 1).find(|at| !rest[*at..].starts_with(' '));
        let (entry, behind) = rest.split_at(ends.unwrap_or(rest.len()));
        rest = behind;
        (!entry.is_empty()).then_some(entry)
    })
}

/// Returns the words of the subcommand that an entry is about.
fn command(entry: &'static str) -> impl Iterator<Item = &'static str> {
    entry.split_whitespace().take_while(|token| !token.starts_with('-') && !matches!(*token, "." | ":"))
}

/// Returns the hazard of the first word that a table does not list, in the command that begins at this index. All words
/// behind it are as unknown as it is, so that only a rule with each of them covers it.
pub(crate) fn not_understood(table: &'static str, words: &[Word], from: usize) -> Option<Hazard> {
    let at = match Usage::find(table, words, from) {
        Some(usage) => usage.read(words, from).unknown?,
        None if words.len() <= from => return None,
        None => from,
    };
    Some(Hazard::unknown_word(words.len() - 1, &words[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    const TABLE: &str = "\
. -v -n= -# --all --to= : file
log -p --format= -run=
    --long : files
log all : none
get -u : names -- --deep -j=
make -j= : targets
";

    fn unknown(line: &str) -> Option<String> {
        let words = crate::read(line).commands.remove(0).words;
        not_understood(TABLE, &words, 1).map(|hazard| hazard.why)
    }

    #[test]
    fn usage_only_what_the_table_lists_is_understood() {
        for line in [
            "x",
            "x -v",
            "x -vv",
            "x -5",
            "x -vn 3",
            "x -vn3",
            "x --all",
            "x --all=x",
            "x --to=a",
            "x --to a",
            "x a",
            "x -v a -n 3",
            "x -- -a",
            "x log -p a b",
            "x log --format='%h %s' -- x",
            "x log -run y --long",
            "x log all",
            "x log --format=\"$x\" \"a$x\" src/*.rs",
            "x get a@1 b/c",
            "x get -- --deep -j 3",
            "x make a b -j4",
            "x -",
        ] {
            assert_eq!(unknown(line), None, "{line}");
        }
        for (line, word) in [
            ("x -q", "-q"),
            ("x -vq", "-vq"),
            ("x --al", "--al"),
            ("x --to", "--to"),
            ("x -n", "-n"),
            ("x -5a", "-5a"),
            ("x a b", "b"),
            ("x *", "'*'"),
            ("x a*", "a*"),
            ("x $a", "…"),
            ("x \"$a\"", "…"),
            ("x -\"$a\"", "-…"),
            ("x log $a", "…"),
            ("x log *.rs", "*.rs"),
            ("x log {a,-p}", "{a,-p}"),
            ("x log -run=a -runx", "-runx"),
            ("x log all a", "a"),
            ("x get ../a", "../a"),
            ("x get a/../../b", "a/../../b"),
            ("x get a=b", "'a=b'"),
            ("x get https://x", "https://x"),
            ("x get -- --deeper", "--deeper"),
            ("x make SHELL=./x", "'SHELL=./x'"),
            ("x make -- a", "--"),
        ] {
            let why = unknown(line).unwrap_or_else(|| panic!("{line} is understood"));
            assert!(why.contains(word.trim_matches('\'')), "{line}: {why}");
        }
    }

    #[test]
    fn usage_tables_are_well_formed() {
        for program in programs::all() {
            let Understood::Table(table) = program.understood else { continue };
            assert!(!table.contains('\t') && table.lines().all(|line| line.trim_end() == line), "{:?}", program.names);
            let mut commands: Vec<Vec<&str>> = Vec::new();
            for line in entries(table).map(Usage::parse) {
                assert!(
                    !commands.contains(&line.command),
                    "{:?} has `{}` twice",
                    program.names,
                    line.command.join(" ")
                );
                for token in line.options.iter().chain(line.rest.iter().flatten()) {
                    assert!(
                        token.len() > 1 && token.starts_with('-') && *token != "--",
                        "{:?}: {token}",
                        program.names
                    );
                }
                commands.push(line.command);
            }
            let begun = table.lines().filter(|line| !line.starts_with(' ') && !line.is_empty());
            for line in begun.flat_map(|line| line.split(" : ").skip(1)) {
                let kind = line.split(' ').next().unwrap_or_default();
                assert!(Operands::parse(kind).is_some(), "{:?}: {kind}", program.names);
            }
        }
    }
}
