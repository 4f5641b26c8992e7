//! Programs: the first words of the commands that a grant covers.
//!
//! A prefix is compared word by word with the command's arguments, the program's name included, and exactly: `git`
//! covers the program called `git`, not `/tmp/git` and not `gitk`. It says nothing about what the program does with the
//! arguments that follow; many programs can run others. A command that ends with a bare `$` covers only itself, without
//! further arguments.
//!
//! A confined program reaches no network but the servers that follow its list as `;net=`: `cargo;net=crates.io,*.crates.io`.

use std::collections::BTreeMap;
use std::fmt;

use crate::antichain::{Antichain, Element};
use crate::authorities::{Endpoint, Reach};
use crate::authority::Authority;
use crate::error::ScopeError;
use crate::list::{self, Form, Item};
use crate::visible::visible;

/// The beginning of a list of servers.
const NET: &str = "net=";

/// Nothing may follow this word of a scope.
const END: &str = "$";

/// The commands that a grant covers: at least one prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Programs(Antichain<Prefix>);

/// The first words of a command; empty for any command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Prefix {
    words: Vec<String>,
    then: Rest,
    /// A server that such a command may reach. Several are several elements, so that each is ordered by itself.
    server: Option<Endpoint>,
}

/// What may follow the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Rest {
    Anything,
    Nothing,
}

impl Programs {
    /// Parses a list of commands' first words; `*` is any command. Servers that the commands of a list may reach follow
    /// it: `;net=HOST[:PORT][ +private],…`.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let mut prefixes = Vec::new();
        let mut commands: Vec<Prefix> = Vec::new();
        for list in list::lists(text, form)? {
            let first = list.first().and_then(|item| item.words.first());
            if first.is_none_or(|word| word.quoted || !word.text.starts_with(NET)) {
                commands = list.into_iter().map(prefix).collect::<Result<_, _>>()?;
                prefixes.extend(commands.iter().cloned());
                continue;
            }
            if commands.is_empty() {
                return Err(ScopeError::OnlyServers { text: visible(text) });
            }
            for server in servers(&list)? {
                let reaching = |command: &Prefix| Prefix { server: Some(server.clone()), ..command.clone() };
                prefixes.extend(commands.iter().map(reaching));
            }
        }
        Ok(Self(Antichain::new(prefixes)))
    }

    /// Creates the scope of this command and no other; `None` if it has no program.
    pub(crate) fn exactly(argv: &[String]) -> Option<Self> {
        argv.first().filter(|program| !program.is_empty())?;
        Some(Self(Antichain::new([Prefix { words: argv.to_vec(), then: Rest::Nothing, server: None }])))
    }

    /// The granted prefixes that let anything follow, sorted, each as its words; one without words covers every command.
    pub fn prefixes(&self) -> impl Iterator<Item = &[String]> {
        let open = |prefix: &&Prefix| prefix.then == Rest::Anything;
        self.0.iter().filter(open).map(|prefix| prefix.words.as_slice())
    }

    /// The same commands, which may reach every server unless some are named.
    #[must_use]
    pub(crate) fn with_any_server(self) -> Self {
        if self.0.iter().any(|prefix| prefix.server.is_some()) {
            return self;
        }
        let reaching = |prefix: &Prefix| Prefix { server: Some(Endpoint::any_server()), ..prefix.clone() };
        Self(Antichain::new(self.0.iter().map(reaching)))
    }

    /// Whether every command is covered.
    pub fn are_any(&self) -> bool {
        self.0.iter().any(|prefix| prefix.words.is_empty() && prefix.then == Rest::Anything)
    }

    /// Whether a command may reach any server.
    pub(crate) fn has_servers(&self, argv: &[String]) -> bool {
        self.0.iter().any(|prefix| prefix.server.is_some() && prefix.covers(argv))
    }

    /// Returns the reach of a command's connection to a server; `None` if it is not covered.
    pub(crate) fn reach(&self, argv: &[String], server: &Authority) -> Option<Reach> {
        let covering = self.0.iter().filter(|prefix| prefix.covers(argv));
        covering.filter_map(|prefix| prefix.server.as_ref()?.reach_of(server)).max()
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let both = self.0.meet(&other.0);
        (!both.is_empty()).then_some(Self(both))
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.le(&other.0)
    }

    /// Returns whether the command is covered. A command without a program never is.
    pub(crate) fn permits(&self, argv: &[String]) -> bool {
        argv.first().is_some_and(|program| !program.is_empty()) && self.0.iter().any(|prefix| prefix.covers(argv))
    }
}

/// Parses a list of servers, whose first word begins with [`NET`].
fn servers(list: &[Item]) -> Result<Vec<Endpoint>, ScopeError> {
    let parse = |(at, item): (usize, &Item)| {
        let mut words: Vec<&str> = item.words.iter().map(|word| word.text.as_str()).collect();
        if let (0, Some(first)) = (at, words.first_mut()) {
            *first = first.strip_prefix(NET).unwrap_or(first);
        }
        Endpoint::parse_server(words, &item.whole.text)
    };
    list.iter().enumerate().map(parse).collect()
}

fn prefix(item: Item) -> Result<Prefix, ScopeError> {
    let bare = |word: &list::Word, text: &str| !word.quoted && word.text == text;
    let (words, then) = match item.words.as_slice() {
        [words @ .., last] if bare(last, END) => (words, Rest::Nothing),
        words => (words, Rest::Anything),
    };
    match words {
        [] => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        [only] if bare(only, "*") && then == Rest::Anything => Ok(Prefix { words: Vec::new(), then, server: None }),
        words if words.iter().any(|word| bare(word, "*")) => {
            Err(ScopeError::PartialCommand { text: visible(&item.whole.text) })
        }
        [program, ..] if program.text.is_empty() => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        words => {
            let words = words.iter().map(|word| word.text.clone()).collect();
            Ok(Prefix { words, then, server: None })
        }
    }
}

impl Prefix {
    fn covers(&self, argv: &[String]) -> bool {
        match self.then {
            Rest::Anything => argv.starts_with(&self.words),
            Rest::Nothing => argv == self.words,
        }
    }
}

impl Prefix {
    /// Returns whether the other covers all commands of this one.
    fn is_narrower(&self, other: &Self) -> bool {
        (self.then == Rest::Nothing || other.then == Rest::Anything) && other.covers(&self.words)
    }
}

impl Element for Prefix {
    fn meet(&self, other: &Self) -> Option<Self> {
        let narrower = match () {
            () if self.is_narrower(other) => self,
            () if other.is_narrower(self) => other,
            () => return None,
        };
        let server = self.server.as_ref().zip(other.server.as_ref()).and_then(|(mine, theirs)| mine.meet(theirs));
        Some(Self { server, ..narrower.clone() })
    }

    fn is_below(&self, other: &Self) -> bool {
        let has_less = match (&self.server, &other.server) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => mine.is_below(theirs),
        };
        self.is_narrower(other) && has_less
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut commands: BTreeMap<(&[String], Rest), Vec<String>> = BTreeMap::new();
        for prefix in self.0.iter() {
            let servers = commands.entry((&prefix.words, prefix.then)).or_default();
            servers.extend(prefix.server.as_ref().map(ToString::to_string));
        }
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((words, then), servers) in commands {
            let end = if then == Rest::Nothing { format!(" {END}") } else { String::new() };
            lists.entry(servers.join(",")).or_default().push(command(words) + &end);
        }
        for (at, (servers, commands)) in lists.into_iter().enumerate() {
            f.write_str(if at > 0 { ";" } else { "" })?;
            f.write_str(&commands.join(","))?;
            if !servers.is_empty() {
                write!(f, ";{NET}{servers}")?;
            }
        }
        Ok(())
    }
}

/// Writes the words as the text of a scope; `*` if there are no words.
pub(crate) fn command(words: &[String]) -> String {
    match words {
        [] => "*".to_owned(),
        [first, rest @ ..] if first.starts_with(NET) && !list::quote(first).starts_with(['\'', '"']) => {
            // Without quotes it would be read as a list of servers.
            let rest: String = rest.iter().map(|word| format!(" {}", list::quote(word))).collect();
            format!("'{first}'{rest}")
        }
        words => words.iter().map(|word| list::quote(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Programs, ScopeError> {
        Programs::parse(text, Form::Stored)
    }

    fn argv(words: &str) -> Vec<String> {
        words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn check(scope: &str, covered: &[&str], not: &[&str]) {
        let programs = parse(scope).unwrap();
        assert_eq!(parse(&programs.to_string()), Ok(programs.clone()), "{scope}");
        for command in covered {
            assert!(programs.permits(&argv(command)), "{scope} should cover {command}");
        }
        for command in not {
            assert!(!programs.permits(&argv(command)), "{scope} should not cover {command}");
        }
    }

    // promise process.prefix
    #[test]
    fn a_prefix_covers_whole_words_only() {
        check("git", &["git", "git push"], &["", "/tmp/git", "./git", "gitk", "Git", "sh git"]);
        check("git status", &["git status", "git status -s"], &["git", "git stat", "git -C x status"]);
        check("cargo test --", &["cargo test -- a"], &["cargo test", "cargo test --all"]);
        check("ls,git log", &["ls -l", "git log"], &["git"]);
        check("*", &["anything at all"], &[""]);
    }

    #[test]
    fn quotes_make_one_word_of_several() {
        let programs = parse(r#"sh -c "echo 'hi', you",'my tool'"#).unwrap();
        let words: Vec<_> = programs.0.iter().map(|prefix| prefix.words.clone()).collect();
        assert_eq!(words, [vec!["my tool".to_owned()], ["sh", "-c", "echo 'hi', you"].map(str::to_owned).to_vec()]);
        assert_eq!(parse(&programs.to_string()), Ok(programs));
    }

    #[test]
    fn a_star_is_any_command_or_a_quoted_name() {
        assert!(parse("'*'").unwrap().permits(&argv("*")));
        assert!(!parse("'*'").unwrap().permits(&argv("ls")));
        for text in ["git *", "* push", "''", "'' a"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_dollar_at_the_end_lets_nothing_follow() {
        check("cargo test $", &["cargo test"], &["cargo", "cargo test x", "cargo test $"]);
        check("cargo test '$'", &["cargo test $", "cargo test $ x"], &["cargo test"]);
        assert_eq!(parse("git $,git").unwrap().to_string(), "git");
        assert_eq!(parse("git push $,git push -f $").unwrap().to_string(), "git push $,git push -f $");
        for text in ["$", "* $", "'' $"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let (narrow, wide) = (parse("git push $").unwrap(), parse("git").unwrap());
        assert!(narrow.le(&wide) && !wide.le(&narrow));
        assert_eq!(narrow.meet(&wide), Some(narrow.clone()));
        assert_eq!(narrow.meet(&parse("git push -f").unwrap()), None);
        assert_eq!(Programs::exactly(&argv("git push")), Some(narrow));
        assert_eq!(Programs::exactly(&[]), None);
        assert_eq!(Programs::exactly(&[String::new()]), None);
    }

    // promise confine.grants: What a confined command may reach is part of its grant, and shrinks with it.
    #[test]
    fn servers_belong_to_the_commands_of_the_list_before_them() {
        let reach = |scope: &str, command: &str, host: &str, port: u16| {
            let server = Authority::new(host, port).unwrap();
            parse(scope).unwrap().reach(&argv(command), &server)
        };
        let scope = "ls,git status;cargo,npm;net=crates.io,*.crates.io:*;git push $;net=example.com:22 +private";
        assert_eq!(reach(scope, "cargo build", "crates.io", 443), Some(Reach::Public));
        assert_eq!(reach(scope, "npm", "a.crates.io", 80), Some(Reach::Public));
        assert_eq!(reach(scope, "git push", "example.com", 22), Some(Reach::Anywhere));
        for (command, host, port) in [
            ("cargo", "crates.io", 80),
            ("cargo", "example.com", 22),
            ("ls", "crates.io", 443),
            ("git push -f", "example.com", 22),
            ("git status", "example.com", 22),
        ] {
            assert_eq!(reach(scope, command, host, port), None, "{command} {host} {port}");
        }
        let programs = parse(scope).unwrap();
        assert_eq!(parse(&programs.to_string()), Ok(programs.clone()));
        assert!(programs.permits(&argv("cargo build")) && !programs.permits(&argv("git push -f")));
        for text in ["net=crates.io", "cargo;net=", "cargo;net=GET crates.io", "cargo;net=a:0", "cargo;net=http://a"] {
            assert!(parse(text).is_err(), "{text}");
        }
        // A program can have such a name.
        let quoted = parse("'net=x' y").unwrap();
        assert!(quoted.permits(&argv("net=x y")) && parse(&quoted.to_string()) == Ok(quoted));
    }

    // promise confine.grants
    #[test]
    fn servers_shrink_with_what_both_grant() {
        let meet = |a: &str, b: &str| parse(a).unwrap().meet(&parse(b).unwrap()).map(|met| met.to_string());
        let shown = |text: &str| Some(parse(text).unwrap().to_string());
        assert_eq!(meet("*;net=*:* +private", "cargo;net=crates.io"), shown("cargo;net=crates.io"));
        assert_eq!(meet("*", "cargo;net=crates.io"), shown("cargo"));
        assert_eq!(
            meet("cargo;net=*.crates.io", "cargo build;net=a.crates.io,b.io"),
            shown("cargo build;net=a.crates.io")
        );
        let (narrow, wide) = (parse("git").unwrap(), parse("git;net=a.io").unwrap());
        assert!(narrow.le(&wide) && !wide.le(&narrow));
        assert_eq!(parse("git;net=a.io;git push").unwrap().to_string(), "git;net=a.io:443");
    }

    #[test]
    fn a_program_without_a_name_is_never_covered() {
        assert!(!parse("*").unwrap().permits(&[]));
        assert!(!parse("*").unwrap().permits(&[String::new(), "x".to_owned()]));
    }

    #[test]
    fn the_shorter_prefix_swallows_the_longer() {
        assert_eq!(parse("git push,git,git push -f").unwrap().to_string(), "git");
        assert_eq!(parse("git,*").unwrap().to_string(), "*");
    }
}
