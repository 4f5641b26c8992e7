//! Programs: the first words of the commands that a grant covers.
//!
//! A prefix is compared word by word with the command's arguments, the program's name included, and exactly: `git`
//! covers the program called `git`, not `/tmp/git` and not `gitk`. It says nothing about what the program does with the
//! arguments that follow; many programs can run others. A command that ends with a bare `$` covers only itself, without
//! further arguments.
//!
//! A confined program reaches no network but the servers that follow its list as `;net=`:
//! `cargo;net=crates.io,*.crates.io`. Git's repositories over ssh are servers of another kind:
//! `git;net=ssh://git@example.com +push`. What it may read and change besides what every confined program may follows
//! as `;read=` and `;write=`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::antichain::{Antichain, Element};
use crate::authorities::{Endpoint, Reach};
use crate::authority::Authority;
use crate::error::ScopeError;
use crate::list::{self, Form, Item};
use crate::paths::{path_of, usable};
use crate::ssh::{GitAccess, GitRemote};
use crate::visible::visible;

/// The beginnings of the lists of what a confined command may use besides.
const NET: &str = "net=";
const READ: &str = "read=";
const WRITE: &str = "write=";
const KEYS: [&str; 3] = [NET, READ, WRITE];

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
    /// What such a command may use besides. Several are several elements, so that each is ordered by itself.
    besides: Option<Resource>,
}

/// Something that a confined command may use besides what every one may.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Resource {
    /// A server that it may reach.
    Server(Endpoint),
    /// Repositories that git may use over ssh.
    Git(GitAccess),
    /// A file or folder that it may read and run.
    Reads(Arc<Path>),
    /// A file or folder that it may change, too.
    Writes(Arc<Path>),
}

/// What a confined command may use besides what every one may, or what it was kept from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Servers, each as a grant names it: `HOST:PORT`, or `HOST:PORT +private`; for git over ssh `ssh://USER@HOST`, or
    /// `ssh://USER@HOST +push`.
    pub servers: Vec<String>,
    /// Files and folders to read and run; absolute.
    pub reads: Vec<PathBuf>,
    /// Files and folders to change, too; absolute.
    pub writes: Vec<PathBuf>,
}

impl Resources {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.reads.is_empty() && self.writes.is_empty()
    }
}

/// What may follow the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Rest {
    Anything,
    Nothing,
}

impl Programs {
    /// Parses a list of commands' first words; `*` is any command. What the commands of a list may use besides follows
    /// it: `;net=HOST[:PORT][ +private],…`, `;read=PATH,…`, `;write=PATH,…`.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let workspace = match form {
            Form::Written(workspace) => Some(usable(workspace)?),
            Form::Stored => None,
        };
        let mut prefixes = Vec::new();
        let mut commands: Vec<Prefix> = Vec::new();
        for list in list::lists(text, form)? {
            let first = list.first().and_then(|item| item.words.first());
            let Some(key) = first.and_then(key_of) else {
                commands = list.into_iter().map(prefix).collect::<Result<_, _>>()?;
                prefixes.extend(commands.iter().cloned());
                continue;
            };
            if commands.is_empty() {
                return Err(ScopeError::OnlyResources { text: visible(text) });
            }
            for resource in resources(&list, key, workspace.as_deref())? {
                // One prefix for each resource and one without any: the order of scopes then needs no rule for sets.
                let using = |command: &Prefix| Prefix { besides: Some(resource.clone()), ..command.clone() };
                prefixes.extend(commands.iter().map(using));
            }
        }
        Ok(Self(Antichain::new(prefixes)))
    }

    /// Creates the scope of this command and no other; `None` if it has no program.
    pub(crate) fn exactly(argv: &[String]) -> Option<Self> {
        argv.first().filter(|program| !program.is_empty())?;
        Some(Self(Antichain::new([Prefix { words: argv.to_vec(), then: Rest::Nothing, besides: None }])))
    }

    /// Creates the scope of this command and no other, with what it may use besides. `None` if it has no program.
    pub(crate) fn using(argv: &[String], resources: &Resources) -> Result<Option<Self>, ScopeError> {
        let Some(Self(command)) = Self::exactly(argv) else { return Ok(None) };
        let mut all = Vec::new();
        for server in &resources.servers {
            all.push(Resource::server(server.split(' ').collect(), server)?);
        }
        let path = |path: &PathBuf| {
            // What cannot be written as text cannot be read back, and a scope is stored as text.
            let text = path.to_str().filter(|text| !text.chars().any(host_text::is_unsafe));
            let shown = || visible(&path.to_string_lossy());
            let text = text.ok_or_else(|| ScopeError::Character { text: shown() })?;
            // As quoted: it is a path of the host's own making and no pattern.
            path_of(text, true, None).map(Arc::from)
        };
        for read in &resources.reads {
            all.push(Resource::Reads(path(read)?));
        }
        for written in &resources.writes {
            all.push(Resource::Writes(path(written)?));
        }
        let using = |resource: &Resource| {
            command
                .iter()
                .map(|prefix| Prefix { besides: Some(resource.clone()), ..prefix.clone() })
                .collect::<Vec<_>>()
        };
        Ok(Some(Self(Antichain::new(command.iter().cloned().chain(all.iter().flat_map(using))))))
    }

    /// What some of the commands may use besides what every confined command may.
    pub fn resources(&self) -> Resources {
        resources_of(self.0.iter())
    }

    /// What this command may use besides.
    pub(crate) fn resources_for(&self, argv: &[String]) -> Resources {
        resources_of(self.0.iter().filter(|prefix| prefix.covers(argv)))
    }

    /// The granted prefixes that let anything follow, sorted, each as its words; one without words covers every
    /// command.
    pub fn prefixes(&self) -> impl Iterator<Item = &[String]> {
        let open = |prefix: &&Prefix| prefix.then == Rest::Anything;
        self.0.iter().filter(open).map(|prefix| prefix.words.as_slice())
    }

    /// The same commands, which may use whatever they are granted: all servers and files, or if some are named, those.
    #[must_use]
    pub(crate) fn with_anything(self) -> Self {
        let named = self.resources();
        // Only where nothing is named: naming one server is a decision against all others.
        let mut any = Vec::new();
        if named.servers.is_empty() {
            any.extend([Resource::Server(Endpoint::any_server()), Resource::Git(GitAccess::any())]);
        }
        if named.reads.is_empty() && named.writes.is_empty() {
            any.push(Resource::Writes(Arc::from(Path::new("/"))));
        }
        let using = |resource: &Resource| {
            self.0.iter().map(|prefix| Prefix { besides: Some(resource.clone()), ..prefix.clone() }).collect::<Vec<_>>()
        };
        let more: Vec<Prefix> = any.iter().flat_map(using).collect();
        Self(Antichain::new(self.0.iter().cloned().chain(more)))
    }

    /// The same commands, with nothing that they may use besides.
    #[must_use]
    pub(crate) fn alone(&self) -> Self {
        Self(Antichain::new(self.0.iter().map(|prefix| Prefix { besides: None, ..prefix.clone() })))
    }

    /// Whether every command is covered.
    pub fn are_any(&self) -> bool {
        self.0.iter().any(|prefix| prefix.words.is_empty() && prefix.then == Rest::Anything)
    }

    /// Whether a command may reach any server.
    pub(crate) fn has_servers(&self, argv: &[String]) -> bool {
        self.0
            .iter()
            .any(|prefix| matches!(prefix.besides, Some(Resource::Server(_) | Resource::Git(_))) && prefix.covers(argv))
    }

    /// Returns the reach of a command's connection to a server; `None` if it is not covered.
    pub(crate) fn reach(&self, argv: &[String], server: &Authority) -> Option<Reach> {
        let covering = self.0.iter().filter(|prefix| prefix.covers(argv));
        let reach = |prefix: &Prefix| match prefix.besides.as_ref()? {
            Resource::Server(endpoint) => endpoint.reach_of(server),
            Resource::Git(_) | Resource::Reads(_) | Resource::Writes(_) => None,
        };
        covering.filter_map(reach).max()
    }

    /// Returns the reach of a command's use of git's repositories over ssh; `None` if it is not covered.
    pub(crate) fn reach_of_git(&self, argv: &[String], remote: &GitRemote) -> Option<Reach> {
        let covering = self.0.iter().filter(|prefix| prefix.covers(argv));
        let reach = |prefix: &Prefix| match prefix.besides.as_ref()? {
            Resource::Git(access) => access.reach_of(remote),
            Resource::Server(_) | Resource::Reads(_) | Resource::Writes(_) => None,
        };
        covering.filter_map(reach).max()
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

/// The beginning of a list of what commands may use besides, if the word has one.
fn key_of(word: &list::Word) -> Option<&'static str> {
    KEYS.into_iter().find(|key| word.text.starts_with(key) && word.bare >= key.len())
}

/// Parses a list of what commands may use besides, whose first word begins with the key.
fn resources(list: &[Item], key: &str, workspace: Option<&str>) -> Result<Vec<Resource>, ScopeError> {
    let parse = |(at, item): (usize, &Item)| {
        if key == NET {
            let mut words: Vec<&str> = item.words.iter().map(|word| word.text.as_str()).collect();
            if let (0, Some(first)) = (at, words.first_mut()) {
                *first = first.strip_prefix(NET).unwrap_or(first);
            }
            return Resource::server(words, &item.whole.text);
        }
        let text = item.whole.text.as_str();
        let text = if at == 0 { text.strip_prefix(key).unwrap_or(text) } else { text };
        let path: Arc<Path> = path_of(text, item.whole.quoted, workspace)?.into();
        Ok(if key == READ { Resource::Reads(path) } else { Resource::Writes(path) })
    };
    list.iter().enumerate().map(parse).collect()
}

fn resources_of<'p>(prefixes: impl Iterator<Item = &'p Prefix>) -> Resources {
    let mut found = Resources::default();
    for prefix in prefixes {
        match &prefix.besides {
            Some(Resource::Server(endpoint)) => found.servers.push(endpoint.to_string()),
            Some(Resource::Git(access)) => found.servers.push(access.to_string()),
            Some(Resource::Reads(path)) => found.reads.push(path.to_path_buf()),
            Some(Resource::Writes(path)) => found.writes.push(path.to_path_buf()),
            None => {}
        }
    }
    found
}

fn prefix(item: Item) -> Result<Prefix, ScopeError> {
    let bare = |word: &list::Word, text: &str| !word.quoted && word.text == text;
    let (words, then) = match item.words.as_slice() {
        // Quoted it is an argument: a command may end with `$`.
        [words @ .., last] if bare(last, END) => (words, Rest::Nothing),
        words => (words, Rest::Anything),
    };
    match words {
        [] => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        // `*` alone is any command; with more words it would look like a pattern, which there are none of.
        [only] if bare(only, "*") && then == Rest::Anything => Ok(Prefix { words: Vec::new(), then, besides: None }),
        words if words.iter().any(|word| bare(word, "*")) => {
            Err(ScopeError::PartialCommand { text: visible(&item.whole.text) })
        }
        [program, ..] if program.text.is_empty() => Err(ScopeError::Empty { text: visible(&item.whole.text) }),
        words => {
            let words = words.iter().map(|word| word.text.clone()).collect();
            Ok(Prefix { words, then, besides: None })
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
        let besides = self.besides.as_ref().zip(other.besides.as_ref()).and_then(|(mine, theirs)| mine.meet(theirs));
        Some(Self { besides, ..narrower.clone() })
    }

    fn is_below(&self, other: &Self) -> bool {
        let has_less = match (&self.besides, &other.besides) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => mine.is_below(theirs),
        };
        self.is_narrower(other) && has_less
    }
}

impl Resource {
    /// Parses a server as a grant names it.
    fn server(words: Vec<&str>, whole: &str) -> Result<Self, ScopeError> {
        match words.first() {
            Some(name) if GitAccess::is_named(name) => GitAccess::parse(&words, whole).map(Self::Git),
            Some(_) | None => Endpoint::parse_server(words, whole).map(Self::Server),
        }
    }
}

impl Element for Resource {
    fn meet(&self, other: &Self) -> Option<Self> {
        // Of two folders the inner one, or nothing: a meet never covers what one side does not.
        let inner = |mine: &Arc<Path>, theirs: &Arc<Path>| match () {
            () if mine.starts_with(theirs) => Some(Arc::clone(mine)),
            () if theirs.starts_with(mine) => Some(Arc::clone(theirs)),
            () => None,
        };
        match (self, other) {
            (Self::Server(mine), Self::Server(theirs)) => mine.meet(theirs).map(Self::Server),
            (Self::Git(mine), Self::Git(theirs)) => mine.meet(theirs).map(Self::Git),
            (Self::Writes(mine), Self::Writes(theirs)) => inner(mine, theirs).map(Self::Writes),
            // Writing includes reading, so one side that only reads leaves reading.
            (Self::Reads(mine) | Self::Writes(mine), Self::Reads(theirs) | Self::Writes(theirs)) => {
                inner(mine, theirs).map(Self::Reads)
            }
            // Kinds of different doors have nothing in common; written out, so that a new kind has to be decided on.
            (Self::Server(_), Self::Git(_) | Self::Reads(_) | Self::Writes(_))
            | (Self::Git(_), Self::Server(_) | Self::Reads(_) | Self::Writes(_))
            | (Self::Reads(_) | Self::Writes(_), Self::Server(_) | Self::Git(_)) => None,
        }
    }

    fn is_below(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server(mine), Self::Server(theirs)) => mine.is_below(theirs),
            (Self::Git(mine), Self::Git(theirs)) => mine.is_below(theirs),
            (Self::Reads(mine), Self::Reads(theirs) | Self::Writes(theirs))
            | (Self::Writes(mine), Self::Writes(theirs)) => mine.starts_with(theirs),
            (Self::Writes(_), Self::Reads(_) | Self::Server(_) | Self::Git(_))
            | (Self::Reads(_), Self::Server(_) | Self::Git(_))
            | (Self::Server(_), Self::Git(_) | Self::Reads(_) | Self::Writes(_))
            | (Self::Git(_), Self::Server(_) | Self::Reads(_) | Self::Writes(_)) => false,
        }
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sorted, so that equal scopes have one text: answers are stored and compared by it.
        let mut commands: BTreeMap<(&[String], Rest), Vec<&Prefix>> = BTreeMap::new();
        for prefix in self.0.iter() {
            commands.entry((&prefix.words, prefix.then)).or_default().push(prefix);
        }
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((words, then), prefixes) in commands {
            let end = if then == Rest::Nothing { format!(" {END}") } else { String::new() };
            let besides = resources_of(prefixes.into_iter()).to_string();
            lists.entry(besides).or_default().push(command(words) + &end);
        }
        for (at, (besides, commands)) in lists.into_iter().enumerate() {
            f.write_str(if at > 0 { ";" } else { "" })?;
            write!(f, "{}{besides}", commands.join(","))?;
        }
        Ok(())
    }
}

/// Each kind behind a `;`, as a scope has them.
impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |paths: &[PathBuf]| {
            paths.iter().map(|path| list::quote(&path.to_string_lossy()).into_owned()).collect::<Vec<_>>().join(",")
        };
        for (key, text) in [(NET, self.servers.join(",")), (READ, quoted(&self.reads)), (WRITE, quoted(&self.writes))] {
            if !text.is_empty() {
                write!(f, ";{key}{text}")?;
            }
        }
        Ok(())
    }
}

/// Writes the words as the text of a scope; `*` if there are no words.
pub(crate) fn command(words: &[String]) -> String {
    match words {
        [] => "*".to_owned(),
        [first, rest @ ..]
            if KEYS.iter().any(|key| first.starts_with(key)) && !list::quote(first).starts_with(['\'', '"']) =>
        {
            // Without quotes it would be read as a list of what commands may use besides.
            let rest: String = rest.iter().map(|word| format!(" {}", list::quote(word))).collect();
            format!("'{first}'{rest}")
        }
        words => words.iter().map(|word| list::quote(word)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GitDirection;

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
    fn servers_and_repositories_over_ssh_do_not_open_each_other() {
        let remote = |direction| GitRemote::new(Some("git"), "a.io", None, direction).unwrap();
        let git = |scope: &str, direction| parse(scope).unwrap().reach_of_git(&argv("git x"), &remote(direction));
        let server = |scope: &str| {
            let ssh = Authority::new("a.io", 22).unwrap();
            parse(scope).unwrap().reach(&argv("git x"), &ssh)
        };
        for scope in ["git", "git;net=a.io:22", "git;net=*:* +private", "git;net=ssh://b.io +push,a.io:*"] {
            assert_eq!(git(scope, GitDirection::Fetch), None, "{scope}");
        }
        for scope in ["git;net=ssh://git@a.io +push", "git;net=ssh://* +push +private"] {
            assert!(git(scope, GitDirection::Push).is_some() && server(scope).is_none(), "{scope}");
            assert_eq!(parse(scope).unwrap().to_string(), scope);
        }
        assert_eq!(git("git;net=ssh://git@a.io", GitDirection::Push), None);
        assert_eq!(git("git;net=ssh://git@a.io +private", GitDirection::Fetch), Some(Reach::Anywhere));
        let requested = parse("git").unwrap().with_anything();
        let held = parse("git;net=b.io,ssh://git@a.io").unwrap();
        assert_eq!(requested.meet(&held), Some(held), "a plugin can be granted both");
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

    // promise confine.grants
    #[test]
    fn files_belong_to_the_commands_of_the_list_before_them() {
        let files = |scope: &str, command: &str| {
            let Resources { reads, writes, .. } = parse(scope).unwrap().resources_for(&argv(command));
            let text = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
            (text(reads).join(" "), text(writes).join(" "))
        };
        let scope = "ls;cargo,npm;net=crates.io;write=/home/a/.cache/x,'/srv/a b';read=/opt/x;git push $;read=/keys";
        let both = ("/opt/x".to_owned(), "/home/a/.cache/x /srv/a b".to_owned());
        assert_eq!((files(scope, "cargo build"), files(scope, "npm i")), (both.clone(), both));
        assert_eq!(files(scope, "git push"), ("/keys".to_owned(), String::new()));
        for command in ["ls", "git push -f", "git", "make"] {
            assert_eq!(files(scope, command), (String::new(), String::new()), "{command}");
        }
        let programs = parse(scope).unwrap();
        assert_eq!(parse(&programs.to_string()), Ok(programs), "it is read back");
        let relative = Programs::parse("make;write=out,../a/./b", Form::Written(Path::new("/w"))).unwrap();
        assert_eq!(relative.to_string(), "make;write=/a/b,/w/out");
        for text in ["write=/x", "make;write=", "make;write=x", "make;write=~/x", "make;read=/a*", "make;write=/../.."]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        // A program can have such a name.
        for name in ["'write=/x' y", "'read='"] {
            let quoted = parse(name).unwrap();
            assert!(quoted.resources().is_empty() && parse(&quoted.to_string()) == Ok(quoted), "{name}");
        }
    }

    // promise confine.grants
    #[test]
    fn files_shrink_with_what_both_grant() {
        let meet = |a: &str, b: &str| parse(a).unwrap().meet(&parse(b).unwrap()).map(|met| met.to_string());
        for (a, b, both) in [
            ("*;write=/", "make;write=/x;read=/y", "make;read=/y;write=/x"),
            ("make;read=/a", "make;write=/a/b", "make;read=/a/b"),
            ("make;write=/a", "make all;write=/b", "make all"),
            ("make;net=*:*", "make;write=/b", "make"),
            ("*", "make;write=/b", "make"),
        ] {
            assert_eq!(meet(a, b).as_deref(), Some(both), "{a} {b}");
            assert_eq!(meet(b, a).as_deref(), Some(both), "{b} {a}");
        }
        let order = ["make", "make;read=/a/b", "make;read=/a", "make;write=/a", "*;write=/"];
        let order = order.map(|text| parse(text).unwrap());
        for (at, scope) in order.iter().enumerate() {
            assert!(order[at..].iter().all(|wider| scope.le(wider)), "{scope}");
            assert!(order[..at].iter().all(|narrower| !scope.le(narrower)), "{scope}");
        }
        let any = parse("*").unwrap().with_anything();
        assert_eq!(any.alone().to_string(), "*");
        assert_eq!(parse("ls;cargo,npm;net=a.io;write=/x").unwrap().alone().to_string(), "cargo,ls,npm");
        assert!(parse("cargo;net=a.io;write=/x;read=/y").unwrap().le(&any));
        let some = parse("cargo;write=/x").unwrap().with_anything();
        assert!(!parse("cargo;write=/y").unwrap().le(&some) && parse("cargo;net=a.io;read=/x").unwrap().le(&some));
    }

    #[test]
    fn a_command_is_granted_with_what_it_wants_and_no_other() {
        let resources = |servers: &[&str], write: &str| Resources {
            servers: servers.iter().map(|&server| server.to_owned()).collect(),
            writes: vec![PathBuf::from(write)],
            ..Resources::default()
        };
        let using =
            |resources: &Resources| Programs::using(&argv("make x"), resources).map(|scope| scope.unwrap().to_string());
        assert_eq!(using(&resources(&["a.io:443"], "/b c")).unwrap(), "make x $;net=a.io:443;write='/b c'");
        assert!(using(&resources(&["http://a"], "/b")).is_err() && using(&resources(&[], "b")).is_err());
        assert!(using(&resources(&[], "/a\u{202e}b")).is_err());
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
