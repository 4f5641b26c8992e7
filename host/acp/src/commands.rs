//! The commands of a conversation that a client lists and sends as prompts.
//!
//! They are those of the session (`host_app::session::command`), prompts of MCP servers, skills and command files. Text
//! that begins with `/` and is no command is a prompt. Deliberately not here: what a command does and its words.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};
use host_app::app::App;
use host_app::session::command::{COMMANDS, CommandEntry, ParsedLine, SessionCommand};
use host_settings::error::Failure;
use host_settings::mcp::McpPromptArgument;
use host_text::{exact, excerpt};

/// How much of what a server says about a prompt is listed, in characters.
const SHOWN: usize = 100;

/// The meaning of a prompt.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// Words for the model.
    Prompt(String),
    /// A command.
    Command(SessionCommand),
    /// A command that cannot be run so.
    Invalid(Failure),
}

/// Returns what a client has in place of a command, which is then not offered; `None` if it is.
pub(crate) fn instead(command: &SessionCommand) -> Option<&'static str> {
    match command {
        // The client knows this session by its id, and a new conversation has another one.
        SessionCommand::Clear => Some("begin a new session in the editor"),
        SessionCommand::Model(_)
        | SessionCommand::Effort(_)
        | SessionCommand::Verbosity(_)
        | SessionCommand::Tools
        | SessionCommand::Reload
        | SessionCommand::Agents
        | SessionCommand::Servers
        | SessionCommand::Hooks
        | SessionCommand::Mode(_)
        | SessionCommand::Permissions(_)
        | SessionCommand::AddFolder(_)
        | SessionCommand::Steps
        | SessionCommand::Processes(_)
        | SessionCommand::Memory(_)
        | SessionCommand::Init
        | SessionCommand::Review(_)
        | SessionCommand::Compress(_)
        | SessionCommand::Context
        | SessionCommand::Stats
        | SessionCommand::Cost
        | SessionCommand::Settings
        | SessionCommand::Export(_)
        | SessionCommand::Rename(_)
        | SessionCommand::Undo(_)
        | SessionCommand::UndoPrompt
        | SessionCommand::Rewind(_)
        | SessionCommand::ServerPrompt(_)
        | SessionCommand::Custom(_) => None,
    }
}

/// Returns what a prompt means in a session.
pub(crate) fn meaning(words: &str, app: &App) -> Meaning {
    match app.parse(words, []) {
        ParsedLine::Prompt(text) => Meaning::Prompt(text),
        // A path, or the command of another program.
        ParsedLine::Unknown(_) => Meaning::Prompt(words.to_owned()),
        ParsedLine::Invalid(failure) => Meaning::Invalid(failure),
        ParsedLine::Command(SessionCommand::ServerPrompt(prompt)) if !app.has_server(&prompt.server) => {
            Meaning::Prompt(words.to_owned())
        }
        ParsedLine::Command(command) => match instead(&command) {
            None => Meaning::Command(command),
            Some(help) => {
                let name = words.trim();
                Meaning::Invalid(Failure::input(format!("`{}` is not available in an editor", exact(name))).help(help))
            }
        },
    }
}

/// Returns the commands as a client lists them.
pub(crate) fn available(app: &App) -> Vec<AvailableCommand> {
    let own = own();
    let of_session = app.commands().into_iter().filter(|command| own.iter().all(|known| known.name != command.name));
    let of_session: Vec<AvailableCommand> = of_session
        .map(|CommandEntry { name, hint, description, source }| {
            let hint = if hint.is_empty() { "what to do".to_owned() } else { hint };
            listed(name, format!("{description} ({source})"), &hint)
        })
        .collect();
    [own, of_session, of_servers(app)].concat()
}

/// Those that each session has.
fn own() -> Vec<AvailableCommand> {
    let offered = COMMANDS.iter().filter(|known| instead(&known.command()).is_none());
    let names = offered.flat_map(|known| known.names().map(move |name| (name, known)));
    let own = names
        .map(|(name, known)| listed(name.trim_start_matches('/').to_owned(), known.about_as(name), known.argument));
    own.collect()
}

/// The prompts of MCP servers that are connected.
fn of_servers(app: &App) -> Vec<AvailableCommand> {
    let statuses = app.mcp().into_iter().flat_map(|servers| servers.statuses());
    let prompts = statuses.flat_map(|status| {
        let server = status.name;
        status.prompts.into_iter().map(move |prompt| (format!("{server}:{}", prompt.name), prompt))
    });
    // A name with blanks or signs could not be typed as one word.
    let prompts = prompts.filter(|(name, _)| exact(name) == *name && !name.contains(char::is_whitespace));
    let prompts = prompts.map(|(name, prompt)| {
        let argument = |one: &McpPromptArgument| match one.is_required {
            true => format!("<{}>", excerpt(&one.name, SHOWN)),
            false => format!("[{}]", excerpt(&one.name, SHOWN)),
        };
        let hint = prompt.arguments.iter().map(argument).collect::<Vec<_>>().join(" ");
        let about = prompt.description.as_deref().map(|text| excerpt(text, SHOWN)).unwrap_or_default();
        listed(name, format!("{about} (MCP)").trim_start().to_owned(), &hint)
    });
    prompts.collect()
}

fn listed(name: String, about: String, hint: &str) -> AvailableCommand {
    let command = AvailableCommand::new(name, about);
    match hint.is_empty() {
        true => command,
        false => command.input(AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_a_session_is_listed_or_has_its_place_in_the_client() {
        let own = own();
        for known in COMMANDS {
            for name in known.names() {
                let is_listed = own.iter().any(|listed| format!("/{}", listed.name) == name);
                assert_eq!(is_listed, instead(&known.command()).is_none(), "{name}");
            }
        }
    }
}
