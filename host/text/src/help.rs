//! Help on an error as data: words, and among them the options, commands and settings that a user can use.
//!
//! An error does not know who reads it. Its help says which option helps, and each frontend names it in its own terms:
//! `Display` writes it as on the command line, where an editor has a setting or a mode of the same meaning.
//!
//! Deliberately not here: what an option means to an editor, and colours.

use std::fmt;

/// One part of a help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Help {
    /// An option, with a value.
    Flag(HelpFlag),
    /// A command of the program.
    Command(HelpCommand),
    /// A key of the configuration, such as `tools.call`.
    Setting(String),
    /// Words that every frontend shows as they are.
    Text(String),
}

/// An option as a help names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpFlag {
    /// The option.
    pub flag: Flag,
    /// Its value, or the form of one, as it is typed into a shell.
    pub value: Option<String>,
    /// Whether the command line marks it as code.
    pub is_code: bool,
}

/// A command of the program as a help names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpCommand {
    /// Its words and arguments without the name of the program: `trust add DIR`.
    pub line: String,
    /// The same for who cannot type it: `a new prompt`. `None` if there is nothing else to do.
    pub meaning: Option<&'static str>,
    /// Whether the command line marks it as code.
    pub is_code: bool,
}

impl HelpCommand {
    /// The command without its options: its words and the arguments before the first option.
    pub fn words(&self) -> String {
        let words = self.line.split(' ').take_while(|word| !word.starts_with('-'));
        words.fold("host".to_owned(), |line, word| line + " " + word)
    }
}

/// The options that helps name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Gives tools access to a folder.
    AddDir,
    /// Installs an older version of a plugin.
    AllowDowngrade,
    /// Takes an older edition of an index.
    AllowOlderIndex,
    /// Takes a plugin that others signed than before.
    AllowOtherSigners,
    /// Installs a plugin that nobody trusted signed.
    AllowUnsigned,
    /// Works in a folder that is not a repository.
    AnyFolder,
    /// The approval mode.
    ApprovalMode,
    /// How programs are confined.
    Confine,
    /// Denies a capability.
    Deny,
    /// The digest of a bundle.
    Digest,
    /// The folder to work in.
    Directory,
    /// A variable of an MCP server.
    Env,
    /// The end of a key's validity.
    Expires,
    /// Fails if a call of the run was denied.
    FailOnRefused,
    /// What a key is trusted for.
    For,
    /// Grants a capability.
    Grant,
    /// A header field for an MCP server.
    Header,
    /// An input of an agent.
    Input,
    /// The most that a run may cost.
    MaxCost,
    /// The most tokens of a run.
    MaxTokens,
    /// The most requests of a run.
    MaxTurns,
    /// The model.
    Model,
    /// The name of what is made.
    Name,
    /// The file or folder that is written.
    Out,
    /// A plugin for this run.
    Plugin,
    /// The key that signs releases.
    PublicKey,
    /// Whose configuration an MCP server is in.
    Scope,
    /// The edition of an index.
    Serial,
    /// The time limit of a run.
    Timeout,
    /// Answers the questions of an installation with yes.
    Yes,
}

impl Flag {
    /// Every one of them.
    pub const ALL: [Self; 30] = [
        Self::AddDir,
        Self::AllowDowngrade,
        Self::AllowOlderIndex,
        Self::AllowOtherSigners,
        Self::AllowUnsigned,
        Self::AnyFolder,
        Self::ApprovalMode,
        Self::Confine,
        Self::Deny,
        Self::Digest,
        Self::Directory,
        Self::Env,
        Self::Expires,
        Self::FailOnRefused,
        Self::For,
        Self::Grant,
        Self::Header,
        Self::Input,
        Self::MaxCost,
        Self::MaxTokens,
        Self::MaxTurns,
        Self::Model,
        Self::Name,
        Self::Out,
        Self::Plugin,
        Self::PublicKey,
        Self::Scope,
        Self::Serial,
        Self::Timeout,
        Self::Yes,
    ];

    /// The option as it is typed on the command line.
    pub fn typed(self) -> &'static str {
        match self {
            Self::AddDir => "--add-dir",
            Self::AllowDowngrade => "--allow-downgrade",
            Self::AllowOlderIndex => "--allow-older-index",
            Self::AllowOtherSigners => "--allow-other-signers",
            Self::AllowUnsigned => "--allow-unsigned",
            Self::AnyFolder => "--any-folder",
            Self::ApprovalMode => "--approval-mode",
            Self::Confine => "--confine",
            Self::Deny => "--deny",
            Self::Digest => "--digest",
            Self::Directory => "-C",
            Self::Env => "--env",
            Self::Expires => "--expires",
            Self::FailOnRefused => "--fail-on-refused",
            Self::For => "--for",
            Self::Grant => "--grant",
            Self::Header => "--header",
            Self::Input => "--input",
            Self::MaxCost => "--max-cost",
            Self::MaxTokens => "--max-tokens",
            Self::MaxTurns => "--max-turns",
            Self::Model => "--model",
            Self::Name => "--name",
            Self::Out => "--out",
            Self::Plugin => "--plugin",
            Self::PublicKey => "--public-key",
            Self::Scope => "--scope",
            Self::Serial => "--serial",
            Self::Timeout => "--timeout",
            Self::Yes => "--yes",
        }
    }
}

/// Something that a user should know, such as why a plugin is left out: one sentence or several, without a full stop at
/// the end. Options and commands that help are data in it, as in the help of an error.
pub type Notice = Advice;

/// The terms of a frontend: how it writes a help. The default is that of the command line.
///
/// Most helps reach a frontend as data. This is for those that become part of a text before, such as the outcome of a
/// call, which a model reads and the log keeps.
#[derive(Clone, Copy)]
pub struct Wording(fn(&Advice) -> String);

impl Wording {
    /// Creates the wording of a frontend.
    pub const fn new(words: fn(&Advice) -> String) -> Self {
        Self(words)
    }

    /// Returns the help in these terms.
    pub fn of(self, help: &Advice) -> String {
        self.0(help)
    }
}

impl Default for Wording {
    fn default() -> Self {
        Self(Advice::to_string)
    }
}

/// Whether both are of one frontend.
impl PartialEq for Wording {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl fmt::Debug for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wording")
    }
}

/// The help of an error: its parts, one after the other, are a sentence without a full stop.
///
/// `Display` writes it for the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice(Vec<Help>);

impl Advice {
    /// Returns the help on an unknown name: the nearest known one, then how to see all.
    pub fn on_name<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, all: impl Into<Self>) -> Self {
        match crate::suggestion(wanted, known) {
            Some(suggestion) => Self::from(suggestion + " ").then(all),
            None => all.into(),
        }
    }

    /// Returns what failed with what helps behind it, as one sentence.
    pub fn on(what: impl Into<Self>, help: Option<Self>) -> Self {
        match help {
            Some(help) => what.into().text("; ").then(help),
            None => what.into(),
        }
    }

    /// Adds words.
    pub fn text(self, words: impl Into<String>) -> Self {
        self.with(Help::Text(words.into()))
    }

    /// Adds an option.
    pub fn flag(self, flag: Flag) -> Self {
        self.with(Help::Flag(HelpFlag { flag, value: None, is_code: false }))
    }

    /// Adds an option with its value.
    pub fn flag_with(self, flag: Flag, value: impl Into<String>) -> Self {
        self.with(Help::Flag(HelpFlag { flag, value: Some(value.into()), is_code: false }))
    }

    /// Adds an option, marked as code.
    pub fn code_flag(self, flag: Flag, value: Option<&str>) -> Self {
        self.with(Help::Flag(HelpFlag { flag, value: value.map(str::to_owned), is_code: true }))
    }

    /// Adds a command of the program, marked as code.
    pub fn command(self, line: impl Into<String>) -> Self {
        self.with(Help::Command(HelpCommand { line: line.into(), meaning: None, is_code: true }))
    }

    /// Adds a command of the program, marked as code, and what it means to who cannot type it.
    pub fn command_for(self, line: impl Into<String>, meaning: &'static str) -> Self {
        self.with(Help::Command(HelpCommand { line: line.into(), meaning: Some(meaning), is_code: true }))
    }

    /// Adds a command of the program that no mark sets apart, and what it means to who cannot type it.
    pub fn plain_command(self, line: impl Into<String>, meaning: &'static str) -> Self {
        self.with(Help::Command(HelpCommand { line: line.into(), meaning: Some(meaning), is_code: false }))
    }

    /// Adds a command of the program that no mark sets apart.
    pub fn bare_command(self, line: impl Into<String>) -> Self {
        self.with(Help::Command(HelpCommand { line: line.into(), meaning: None, is_code: false }))
    }

    /// Adds a key of the configuration.
    pub fn setting(self, key: impl Into<String>) -> Self {
        self.with(Help::Setting(key.into()))
    }

    /// Adds another help.
    pub fn then(mut self, help: impl Into<Self>) -> Self {
        self.0.extend(help.into().0);
        self
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Help::Text(words) if words.is_empty()))
    }

    /// The same without line breaks.
    pub fn on_one_line(mut self) -> Self {
        for part in &mut self.0 {
            if let Help::Text(words) = part {
                *words = words.replace('\n', " ");
            }
        }
        self
    }

    /// The parts in their order.
    pub fn parts(&self) -> &[Help] {
        &self.0
    }

    fn with(mut self, part: Help) -> Self {
        self.0.push(part);
        self
    }
}

impl From<&String> for Advice {
    fn from(words: &String) -> Self {
        Self::from(words.as_str())
    }
}

impl From<&str> for Advice {
    fn from(words: &str) -> Self {
        Self::default().text(words)
    }
}

impl From<String> for Advice {
    fn from(words: String) -> Self {
        Self::default().text(words)
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| part.fmt(f))
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = |is_code: bool| if is_code { "`" } else { "" };
        match self {
            Self::Flag(HelpFlag { flag, value, is_code }) => {
                let mark = mark(*is_code);
                match value {
                    Some(value) => write!(f, "{mark}{} {value}{mark}", flag.typed()),
                    None => write!(f, "{mark}{}{mark}", flag.typed()),
                }
            }
            Self::Command(HelpCommand { line, is_code, meaning: _ }) => {
                let mark = mark(*is_code);
                write!(f, "{mark}host {line}{mark}")
            }
            Self::Setting(key) => write!(f, "`{key}`"),
            Self::Text(words) => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_help_is_written_for_the_command_line() {
        let advice = Advice::from("continue with ")
            .command_for("run --resume \"…\"", "a new prompt")
            .text(", raise ")
            .flag(Flag::Timeout)
            .text(", set ")
            .setting("run.timeout_seconds")
            .text(", or add ")
            .flag_with(Flag::Grant, "fetch:http=a.b:443")
            .text(" to ")
            .code_flag(Flag::Confine, Some("off"));
        assert_eq!(
            advice.to_string(),
            "continue with `host run --resume \"…\"`, raise --timeout, set `run.timeout_seconds`, or add --grant \
             fetch:http=a.b:443 to `--confine off`"
        );
    }

    #[test]
    fn text_help_on_a_name_has_the_nearest_one_first() {
        let all = || Advice::default().command("agent list").text(" lists all agents");
        let near = Advice::on_name("buidl", ["build"], all());
        assert_eq!(near.to_string(), "did you mean `build`? `host agent list` lists all agents");
        assert_eq!(Advice::on_name("x", ["build"], all()), all());
    }

    #[test]
    fn text_help_names_a_command_without_its_options() {
        for (line, words) in [
            ("plugin build plugins --out plugins/dist", "host plugin build plugins"),
            ("session list --all", "host session list"),
            ("trust", "host trust"),
        ] {
            let command = HelpCommand { line: line.to_owned(), meaning: None, is_code: true };
            assert_eq!(command.words(), words);
        }
    }
}
