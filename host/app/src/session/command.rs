//! The commands of a conversation: what a user can ask of a session besides a prompt, in every frontend.
//!
//! Owns their names, their help, the meaning of a line, and what each does:
//! [`Session::command`](super::Session::command) returns values and words that frontends draw. A new command is a
//! variant here, a row of [`COMMANDS`] and an arm there. What only one frontend has, such as a clipboard, is that
//! frontend's.
//!
//! Promises: a command that fails leaves the session as it was; every word that a user reads about it is composed here.

mod custom;
mod outcome;
mod run;

use host_settings::error::Failure;
use host_text::{Advice, clip};

pub use self::custom::CommandEntry;
pub use self::outcome::{Choice, CommandOutcome, compressed};
use crate::app::App;

/// A command of a conversation. Arguments are as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionCommand {
    /// Show or change the model.
    Model(Option<String>),
    /// Show or change how much the model thinks.
    Effort(Option<String>),
    /// Show or change how many words the model's answers have.
    Verbosity(Option<String>),
    /// List the tools.
    Tools,
    /// Reload changed plugins.
    Reload,
    /// List the agents.
    Agents,
    /// List the MCP servers.
    Servers,
    /// List the hooks.
    Hooks,
    /// Show or change the approval mode.
    Mode(Option<String>),
    /// List what the user allowed, or take it back.
    Permissions(Option<String>),
    /// Add a folder to the workspace.
    AddFolder(Option<String>),
    /// Show the model's list of steps.
    Steps,
    /// List the programs in the background, or end one.
    Processes(Option<String>),
    /// List the context files, or edit one.
    Memory(Option<String>),
    /// Write the instructions of the repository.
    Init,
    /// Review a change.
    Review(Option<String>),
    /// Compress the conversation.
    Compress(Option<String>),
    /// Show what fills the model's window.
    Context,
    /// Start a new conversation.
    Clear,
    /// Show the statistics of the conversation.
    Stats,
    /// Show tokens, costs and budgets.
    Cost,
    /// Show the settings.
    Settings,
    /// Write the session to a file.
    Export(Option<String>),
    /// Give the session a title.
    Rename(Option<String>),
    /// Take back what calls changed in files.
    Undo(Option<String>),
    /// Remove the last prompt.
    UndoPrompt,
    /// Go back to before a prompt.
    Rewind(Option<String>),
    /// Send a prompt of an MCP server.
    ServerPrompt(ServerPrompt),
    /// Send the prompt of a skill or a command file: the whole line.
    Custom(String),
}

/// A prompt of an MCP server, with what is written behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    /// The server.
    pub server: String,
    /// Its prompt.
    pub prompt: String,
    /// The arguments.
    pub written: String,
}

/// A command as it is written, and what it does.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Its name with the slash.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What can be written behind it; empty if nothing can.
    pub argument: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    arguments: Arguments,
}

/// A command in a list, under one of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCommand {
    /// The name with the slash.
    pub name: &'static str,
    /// What can be written behind it; empty if nothing can.
    pub argument: &'static str,
    /// What it does, in a line.
    pub about: String,
}

/// Whether a command takes an argument.
#[derive(Clone, Debug)]
enum Arguments {
    Alone(SessionCommand),
    With(fn(Option<String>) -> SessionCommand),
}

/// The meaning of a line.
#[derive(Debug)]
pub enum ParsedLine {
    /// A prompt: its text.
    Prompt(String),
    /// A command.
    Command(SessionCommand),
    /// It begins like a command but is not a valid one.
    Invalid(Failure),
    /// It begins like a command, and there is none of this name.
    Unknown(Failure),
}

/// The commands with a name of their own, in the order in which help has them.
pub const COMMANDS: &[CommandSpec] = &[
    with("/model", "[ID]", "Show or change the model", SessionCommand::Model),
    with("/effort", "[EFFORT]", "Show or change how much the model thinks", SessionCommand::Effort),
    with("/verbosity", "[VERBOSITY]", "Show or change how wordy its answers are", SessionCommand::Verbosity),
    alone("/tools", "List the tools and what they may touch", SessionCommand::Tools),
    alone("/reload", "Reload plugins that changed (also done before each prompt)", SessionCommand::Reload),
    alone("/agents", "List the agents that the model can call", SessionCommand::Agents),
    alone("/mcp", "List the MCP servers, their tools and prompts", SessionCommand::Servers),
    alone("/hooks", "List the hooks and where each comes from", SessionCommand::Hooks),
    with("/mode", "[MODE]", "Show or change what is allowed without asking", SessionCommand::Mode),
    with(
        "/permissions",
        "[forget NUMBER|TEXT]",
        "Show the permissions that you granted, or revoke them",
        SessionCommand::Permissions,
    ),
    with("/add-dir", "DIR", "Let tools read and change a folder like the workspace", SessionCommand::AddFolder),
    alone("/todo", "Show the model's list of steps", SessionCommand::Steps),
    with("/processes", "[stop ID]", "List the programs in the background, or end one", SessionCommand::Processes),
    with("/memory", "[NUMBER]", "List the context files that the model has, or edit one", SessionCommand::Memory),
    alone("/init", "Write AGENTS.md for this repository, or improve it", SessionCommand::Init),
    with("/review", "[WHAT]", "Review the change, or a branch, commit or range", SessionCommand::Review),
    CommandSpec {
        name: "/compress",
        aliases: &["/compact"],
        argument: "[WHAT]",
        about: "Summarise the conversation to free up context; say what to keep",
        arguments: Arguments::With(SessionCommand::Compress),
    },
    alone("/context", "Show what fills the model's context window", SessionCommand::Context),
    alone("/clear", "Start a new conversation", SessionCommand::Clear),
    alone("/stats", "Show tokens, turns, calls and time", SessionCommand::Stats),
    alone("/cost", "Show tokens and costs by model, and the budgets", SessionCommand::Cost),
    alone("/config", "Show the settings and where each comes from", SessionCommand::Settings),
    with("/export", "[FILE]", "Write the session to a file, as Markdown", SessionCommand::Export),
    with("/rename", "[TITLE]", "Give the session a title for lists, or remove it", SessionCommand::Rename),
    with("/undo", "[NUMBER]", "Take back what calls changed in files", SessionCommand::Undo),
    alone("/undo-prompt", "Forget the last prompt and its reply; files stay as they are", SessionCommand::UndoPrompt),
    with(
        "/rewind",
        "[NUMBER [WHAT]]",
        "Go back to before a prompt: conversation, files or both",
        SessionCommand::Rewind,
    ),
];

/// Returns the commands with a name of their own, each under all of its names.
pub fn listed() -> impl Iterator<Item = ListedCommand> {
    COMMANDS.iter().flat_map(|known| {
        known.names().map(move |name| ListedCommand { name, argument: known.argument, about: known.about_as(name) })
    })
}

const fn alone(name: &'static str, about: &'static str, command: SessionCommand) -> CommandSpec {
    CommandSpec { name, aliases: &[], argument: "", about, arguments: Arguments::Alone(command) }
}

const fn with(
    name: &'static str,
    argument: &'static str,
    about: &'static str,
    build: fn(Option<String>) -> SessionCommand,
) -> CommandSpec {
    CommandSpec { name, aliases: &[], argument, about, arguments: Arguments::With(build) }
}

impl CommandSpec {
    /// Returns its names: its own, then the others.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Returns what it does under one of its names.
    pub fn about_as(&self, name: &str) -> String {
        if name == self.name { self.about.to_owned() } else { format!("The same as {}", self.name) }
    }

    /// Returns the command without an argument.
    pub fn command(&self) -> SessionCommand {
        match &self.arguments {
            Arguments::Alone(command) => command.clone(),
            Arguments::With(build) => build(None),
        }
    }
}

impl SessionCommand {
    /// Returns the meaning of a line. `own` are the names of the frontend's own commands, for the nearest name. Whether
    /// an unknown name is one of the session's [`App::parse`] knows.
    pub fn parse<'a>(line: &str, own: impl IntoIterator<Item = &'a str>) -> ParsedLine {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("//") {
            return ParsedLine::Prompt(format!("/{rest}"));
        }
        if !text.starts_with('/') {
            return ParsedLine::Prompt(line.to_owned());
        }
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
        let known = COMMANDS.iter().find(|known| known.names().any(|known| known == name));
        match (known.map(|known| &known.arguments), argument) {
            (Some(Arguments::Alone(command)), None) => ParsedLine::Command(command.clone()),
            (Some(Arguments::Alone(_)), Some(_)) => ParsedLine::Invalid(takes_nothing(name, text)),
            (Some(Arguments::With(build)), argument) => ParsedLine::Command(build(argument)),
            (None, argument) => match server_prompt(name) {
                Some((server, prompt)) => ParsedLine::Command(Self::ServerPrompt(ServerPrompt {
                    server: server.to_owned(),
                    prompt: prompt.to_owned(),
                    written: argument.unwrap_or_default(),
                })),
                None => ParsedLine::Unknown(unknown(name, text, own)),
            },
        }
    }
}

impl App {
    /// Returns the meaning of a line in a session: as [`SessionCommand::parse`], and skills and command files are
    /// commands too. A command with a name of its own wins over those, and an MCP server over a folder of its name.
    pub fn parse<'a>(&self, line: &str, own: impl IntoIterator<Item = &'a str>) -> ParsedLine {
        let custom = || ParsedLine::Command(SessionCommand::Custom(line.to_owned()));
        match SessionCommand::parse(line, own) {
            ParsedLine::Unknown(_) if self.is_command(line) => custom(),
            ParsedLine::Command(SessionCommand::ServerPrompt(prompt))
                if self.is_command(line) && !self.has_server(&prompt.server) =>
            {
                custom()
            }
            parsed => parsed,
        }
    }
}

/// Returns the failure of a command that was given an argument and takes none. `text` is the whole line.
pub fn takes_nothing(name: &str, text: &str) -> Failure {
    Failure::input(format!("`{name}` takes no argument")).help(as_prompt(text))
}

fn unknown<'a>(name: &str, text: &str, own: impl IntoIterator<Item = &'a str>) -> Failure {
    let failure = Failure::input(format!("there is no command `{}`", first_line(name)));
    let is_path = name.get(1..).is_some_and(|rest| rest.contains(['/', '*', '.']));
    let session = COMMANDS.iter().flat_map(CommandSpec::names).map(|name| -> &'a str { name });
    let names = own.into_iter().chain(session);
    match is_path {
        true => failure.help(as_prompt(text)),
        false => failure.help(Advice::on_name(name, names, as_prompt(text))),
    }
}

fn as_prompt(text: &str) -> String {
    format!("to send text that begins with `/`, type `/{}`", first_line(text))
}

/// The server and the prompt of a name such as `/github:review`: nobody calls a file so.
fn server_prompt(name: &str) -> Option<(&str, &str)> {
    let (server, prompt) = name.get(1..)?.split_once(':')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_one = !server.is_empty() && server.chars().all(is_plain) && !prompt.is_empty() && !prompt.starts_with('/');
    is_one.then_some((server, prompt))
}

/// Returns enough of a text to recognise it.
fn first_line(text: &str) -> String {
    clip(text.lines().next().unwrap_or_default(), 60).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_known_by_its_names_and_takes_what_it_takes() {
        let text = |text: &str| Some(text.to_owned());
        for (line, expected) in [
            (" /tools ", SessionCommand::Tools),
            ("/model", SessionCommand::Model(None)),
            ("/model ollama/x ", SessionCommand::Model(text("ollama/x"))),
            ("/effort high", SessionCommand::Effort(text("high"))),
            ("/verbosity", SessionCommand::Verbosity(None)),
            ("/export a b.md", SessionCommand::Export(text("a b.md"))),
            ("/rename The parser ", SessionCommand::Rename(text("The parser"))),
            ("/undo-prompt", SessionCommand::UndoPrompt),
            ("/rewind 2 files", SessionCommand::Rewind(text("2 files"))),
            ("/compress", SessionCommand::Compress(None)),
            ("/compact", SessionCommand::Compress(None)),
            ("/compact the names", SessionCommand::Compress(text("the names"))),
            ("/review main..x", SessionCommand::Review(text("main..x"))),
            ("/mcp", SessionCommand::Servers),
            (
                "/github:review 7 deep",
                SessionCommand::ServerPrompt(ServerPrompt {
                    server: "github".to_owned(),
                    prompt: "review".to_owned(),
                    written: "7 deep".to_owned(),
                }),
            ),
        ] {
            let ParsedLine::Command(command) = SessionCommand::parse(line, []) else { panic!("{line} is a command") };
            assert_eq!(command, expected, "{line}");
        }
    }

    #[test]
    fn command_that_is_unknown_has_the_nearest_name_of_all_frontends_and_how_to_send_it() {
        for (line, message, help) in [
            (
                "/hlep",
                "there is no command `/hlep`",
                "did you mean `/help`? to send text that begins with `/`, type `//hlep`",
            ),
            (
                "/reviw",
                "there is no command `/reviw`",
                "did you mean `/review`? to send text that begins with `/`, type `//reviw`",
            ),
            (
                "/etc/hosts has what?",
                "there is no command `/etc/hosts`",
                "to send text that begins with `/`, type `//etc/hosts has what?`",
            ),
            ("/todo now", "`/todo` takes no argument", "to send text that begins with `/`, type `//todo now`"),
        ] {
            let (ParsedLine::Invalid(failure) | ParsedLine::Unknown(failure)) = SessionCommand::parse(line, ["/help"])
            else {
                panic!("{line} is no command")
            };
            assert_eq!((failure.message.as_str(), failure.help_text().as_deref()), (message, Some(help)));
        }
    }

    #[test]
    fn everything_else_is_a_prompt() {
        for (line, prompt) in [
            ("hello", "hello"),
            ("//etc/hosts?", "/etc/hosts?"),
            (" what is a/b", " what is a/b"),
            ("see /init", "see /init"),
        ] {
            assert!(matches!(SessionCommand::parse(line, []), ParsedLine::Prompt(text) if text == prompt), "{line}");
        }
    }

    #[test]
    fn command_names_are_different_and_mean_their_row() {
        let names: Vec<&str> = COMMANDS.iter().flat_map(CommandSpec::names).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} stands there twice");
        }
        for known in COMMANDS {
            for name in known.names() {
                let ParsedLine::Command(command) = SessionCommand::parse(name, []) else { panic!("{name}") };
                assert_eq!(command, known.command(), "{name}");
            }
            assert!(known.about.len() < 80 && !known.about.ends_with('.'), "{}", known.name);
        }
    }
}
