//! Parses the lines of a conversation: a prompt, or a command.

use host_app::session::commands::CommandEntry;
use host_settings::error::Failure;
use host_terminal as terminal;
use host_text::{Advice, exact};

/// A command: a line that is not a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Model(Option<String>),
    Tools,
    Reload,
    Agents,
    Servers,
    Hooks,
    ServerPrompt(ServerPrompt),
    Mode(Option<String>),
    Permissions(Option<String>),
    AddDir(Option<String>),
    Thoughts,
    Raw,
    Todo,
    Processes(Option<String>),
    Memory(Option<String>),
    Init,
    Review(Option<String>),
    Compress(Option<String>),
    Clear,
    Stats,
    Cost,
    Context,
    Config,
    Copy,
    Output(Option<String>),
    Export(Option<String>),
    Rename(Option<String>),
    Undo(Option<String>),
    UndoPrompt,
    Rewind(Option<String>),
    Quit,
}

/// A prompt of an MCP server, with what is written behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerPrompt {
    pub(super) server: String,
    pub(super) prompt: String,
    pub(super) written: String,
}

/// The meaning of a line.
#[derive(Debug)]
pub(super) enum ParsedLine {
    Prompt(String),
    Command(Command),
    /// A line for the user's shell.
    Shell(String),
    /// It begins like a command but is not a valid one.
    Invalid(Failure),
    /// It begins like a command, and is none of these: perhaps one of the session's.
    Unknown(Failure),
}

/// Whether a command takes an argument.
enum Arguments {
    Alone(Command),
    With(fn(Option<String>) -> Command),
}

/// A command as it is written, and what it does.
pub(super) struct CommandSpec {
    pub(super) name: &'static str,
    pub(super) argument: &'static str,
    pub(super) words: &'static str,
    arguments: Arguments,
}

/// All of them, in the order in which help has them.
pub(super) const ALL: &[CommandSpec] = &[
    alone("/help", "Show the commands and the keys", Command::Help),
    with("/model", "[ID]", "Show or change the model", Command::Model),
    alone("/tools", "List the tools and what they may touch", Command::Tools),
    alone("/reload", "Reload plugins that changed (also done before each prompt)", Command::Reload),
    alone("/agents", "List the agents that the model can call", Command::Agents),
    alone("/mcp", "List the MCP servers, their tools and prompts", Command::Servers),
    alone("/hooks", "List the hooks and where each comes from", Command::Hooks),
    with("/mode", "[MODE]", "Show or change what is allowed without asking", Command::Mode),
    with(
        "/permissions",
        "[forget NUMBER|TEXT]",
        "Show the permissions that you granted, or revoke them",
        Command::Permissions,
    ),
    with("/add-dir", "DIR", "Let tools read and change a folder like the workspace", Command::AddDir),
    alone("/thoughts", "Switch between full thoughts and their titles", Command::Thoughts),
    alone("/raw", "Switch between rendered answers and their Markdown source", Command::Raw),
    alone("/todo", "Show the model's list of steps", Command::Todo),
    with("/processes", "[stop ID]", "List the programs in the background, or end one", Command::Processes),
    with("/memory", "[NUMBER]", "List the context files that the model has, or edit one", Command::Memory),
    alone("/init", "Write AGENTS.md for this repository, or improve it", Command::Init),
    with("/review", "[WHAT]", "Review the change, or a branch, commit or range", Command::Review),
    with("/compress", "[WHAT]", "Summarise the conversation to free up context; say what to keep", Command::Compress),
    with("/compact", "[WHAT]", "The same as /compress", Command::Compress),
    alone("/context", "Show what fills the model's context window", Command::Context),
    alone("/clear", "Start a new conversation", Command::Clear),
    alone("/stats", "Show tokens, turns, calls and time", Command::Stats),
    alone("/cost", "Show tokens and costs by model, and the budgets", Command::Cost),
    alone("/config", "Show the settings and where each comes from", Command::Config),
    alone("/copy", "Copy the last answer to the clipboard", Command::Copy),
    with("/output", "[N]", "Show the last call whole, or the Nth from the last", Command::Output),
    with("/export", "[FILE]", "Write the session to a file, as Markdown", Command::Export),
    with("/rename", "[TITLE]", "Give the session a title for lists, or take it away", Command::Rename),
    with("/undo", "[NUMBER]", "Take back what calls changed in files", Command::Undo),
    alone("/undo-prompt", "Forget the last prompt and its reply; files stay as they are", Command::UndoPrompt),
    with("/rewind", "[NUMBER [WHAT]]", "Go back to before a prompt: conversation, files or both", Command::Rewind),
    alone("/quit", "Quit", Command::Quit),
];

/// Width of the names of commands and keys in help.
const NAMES: usize = 27;

const fn alone(name: &'static str, words: &'static str, command: Command) -> CommandSpec {
    CommandSpec { name, argument: "", words, arguments: Arguments::Alone(command) }
}

const fn with(
    name: &'static str,
    argument: &'static str,
    words: &'static str,
    build: fn(Option<String>) -> Command,
) -> CommandSpec {
    CommandSpec { name, argument, words, arguments: Arguments::With(build) }
}

/// The meaning of a line.
pub(super) fn parse(line: &str) -> ParsedLine {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("//") {
        return ParsedLine::Prompt(format!("/{rest}"));
    }
    if let Some(rest) = text.strip_prefix("!!") {
        return ParsedLine::Prompt(format!("!{rest}"));
    }
    if let Some(command) = text.strip_prefix('!') {
        return match command.trim() {
            "" => ParsedLine::Invalid(
                Failure::input("no command after `!`")
                    .help("type one, such as `!git status`; `!!` begins a text with `!`"),
            ),
            command => ParsedLine::Shell(command.to_owned()),
        };
    }
    if !text.starts_with('/') {
        return ParsedLine::Prompt(line.to_owned());
    }
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    let as_prompt = format!("to send text that begins with `/`, type `/{}`", first_line(text));
    match (ALL.iter().find(|known| known.name == name).map(|known| &known.arguments), argument) {
        (Some(Arguments::Alone(command)), None) => ParsedLine::Command(command.clone()),
        (Some(Arguments::Alone(_)), Some(_)) => {
            ParsedLine::Invalid(Failure::input(format!("`{name}` takes no argument")).help(as_prompt))
        }
        (Some(Arguments::With(build)), argument) => ParsedLine::Command(build(argument)),
        (None, argument) if is_server_prompt(name) => {
            let (server, prompt) = name.trim_start_matches('/').split_once(':').unwrap_or_default();
            let written = argument.unwrap_or_default();
            let prompt = ServerPrompt { server: server.to_owned(), prompt: prompt.to_owned(), written };
            ParsedLine::Command(Command::ServerPrompt(prompt))
        }
        (None, _) => {
            let failure = Failure::input(format!("there is no command `{}`", first_line(name)));
            let is_path = name.get(1..).is_some_and(|rest| rest.contains(['/', '*', '.']));
            ParsedLine::Unknown(match is_path {
                true => failure.help(as_prompt),
                false => failure.help(Advice::on_name(name, ALL.iter().map(|known| known.name), as_prompt)),
            })
        }
    }
}

/// Whether a name is that of a server's prompt, such as `/github:review`: nobody calls a file so.
fn is_server_prompt(name: &str) -> bool {
    let Some((server, prompt)) = name.get(1..).and_then(|name| name.split_once(':')) else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !server.is_empty() && server.chars().all(is_plain) && !prompt.is_empty() && !prompt.starts_with('/')
}

/// Returns enough of a text to recognise it.
fn first_line(text: &str) -> String {
    host_text::clip(text.lines().next().unwrap_or_default(), 60).into_owned()
}

/// All commands and keys, and behind the commands those of the session, in so many columns.
pub(super) fn help(session: &[CommandEntry], columns: usize) -> String {
    let named = ALL.iter().map(|known| (format!("{} {}", known.name, known.argument), known.words.to_owned()));
    let of_session =
        session.iter().filter(|command| ALL.iter().all(|known| known.name.trim_start_matches('/') != command.name));
    let of_session = of_session.map(|CommandEntry { name, hint, description, source }| {
        (format!("/{} {hint}", exact(name)).trim_end().to_owned(), format!("{description} ({source})"))
    });
    let keys = terminal::BINDINGS.iter().map(|(key, words)| ((*key).to_owned(), (*words).to_owned()));
    let mut text = String::new();
    for (name, words) in named.chain(of_session).chain(keys) {
        let line = format!("{name:<NAMES$} {words}");
        // Beside their names there must be room for words.
        let (line, indent) = if columns < NAMES * 2 { (format!("{name}  {words}"), 4) } else { (line, NAMES + 1) };
        text.push_str(&terminal::wrapped(&line, columns, indent));
        text.push('\n');
    }
    let files = "Attach files with @path: a file, a folder or a glob. To send text that begins with / or !, type it twice: //text.";
    text.push_str(&terminal::wrapped(files, columns, 0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_by_their_name_and_take_what_they_take() {
        for (line, expected) in [
            ("/help", Command::Help),
            (" /quit ", Command::Quit),
            ("/model", Command::Model(None)),
            ("/model ollama/x ", Command::Model(Some("ollama/x".to_owned()))),
            ("/export a b.md", Command::Export(Some("a b.md".to_owned()))),
            ("/rename The parser ", Command::Rename(Some("The parser".to_owned()))),
            ("/undo-prompt", Command::UndoPrompt),
            ("/rewind 2 files", Command::Rewind(Some("2 files".to_owned()))),
            ("/compress", Command::Compress(None)),
            ("/compact", Command::Compress(None)),
            ("/compact the names", Command::Compress(Some("the names".to_owned()))),
            ("/review", Command::Review(None)),
            ("/review main..x", Command::Review(Some("main..x".to_owned()))),
            ("/mcp", Command::Servers),
            (
                "/github:review 7 deep",
                Command::ServerPrompt(ServerPrompt {
                    server: "github".to_owned(),
                    prompt: "review".to_owned(),
                    written: "7 deep".to_owned(),
                }),
            ),
        ] {
            assert!(matches!(parse(line), ParsedLine::Command(command) if command == expected), "{line}");
        }
    }

    #[test]
    fn conversation_unknown_command_is_reported_with_how_to_send_it_as_text() {
        for (line, message, help) in [
            (
                "/hlep",
                "there is no command `/hlep`",
                "did you mean `/help`? to send text that begins with `/`, type `//hlep`",
            ),
            (
                "/etc/hosts has what?",
                "there is no command `/etc/hosts`",
                "to send text that begins with `/`, type `//etc/hosts has what?`",
            ),
            ("/quit now", "`/quit` takes no argument", "to send text that begins with `/`, type `//quit now`"),
        ] {
            let (ParsedLine::Invalid(failure) | ParsedLine::Unknown(failure)) = parse(line) else {
                panic!("{line} is no command")
            };
            assert_eq!((failure.message.as_str(), failure.help_text().as_deref()), (message, Some(help)));
        }
    }

    #[test]
    fn command_of_the_users_shell_begins_with_one_exclamation_mark() {
        assert!(matches!(parse(" !git status "), ParsedLine::Shell(line) if line == "git status"));
        assert!(matches!(parse("! "), ParsedLine::Invalid(_)));
    }

    #[test]
    fn everything_else_is_a_prompt() {
        for (line, prompt) in [
            ("hello", "hello"),
            ("//etc/hosts?", "/etc/hosts?"),
            (" what is a/b", " what is a/b"),
            ("!!important", "!important"),
            ("do it! !now", "do it! !now"),
            ("see\n!rm", "see\n!rm"),
        ] {
            assert!(matches!(parse(line), ParsedLine::Prompt(text) if text == prompt), "{line}");
        }
    }

    #[test]
    fn help_fits_a_terminal_and_has_all() {
        for columns in [30, 40, 80, 200] {
            let help = help(&[], columns);
            assert!(ALL.iter().all(|known| help.contains(known.name)));
            assert!(help.lines().all(|line| terminal::width(line) <= columns), "{help}");
        }
    }
}
