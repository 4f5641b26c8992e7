//! The commands of a conversation that a client can send as a prompt.
//!
//! They are those that a session can do by itself. Settings that clients show themselves, such as the mode, are not
//! commands. Those of the session, such as skills, follow; text that begins with `/` and is no command is a prompt.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};
use host_app::app::App;
use host_app::session::commands::CommandEntry;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Compress the conversation.
    Compact,
    /// Write the instructions of the repository.
    Init,
    /// Review a change.
    Review(Option<String>),
}

/// The command that a prompt is.
pub(crate) fn parse(words: &str) -> Option<Command> {
    let words = words.trim();
    let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    match (name, rest.is_empty()) {
        ("/compact" | "/compress", true) => Some(Command::Compact),
        ("/init", true) => Some(Command::Init),
        ("/review", true) => Some(Command::Review(None)),
        ("/review", false) => Some(Command::Review(Some(rest.to_owned()))),
        _ => None,
    }
}

/// The commands as a client lists them.
pub(crate) fn available(app: &App) -> Vec<AvailableCommand> {
    let own = own();
    let of_session = app.commands().into_iter().filter(|command| own.iter().all(|known| known.name != command.name));
    let of_session: Vec<AvailableCommand> = of_session
        .map(|CommandEntry { name, hint, description, source }| {
            let hint = if hint.is_empty() { "what to do".to_owned() } else { hint };
            AvailableCommand::new(name, format!("{description} ({source})"))
                .input(AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)))
        })
        .collect();
    [own, of_session].concat()
}

/// Those that each session has.
fn own() -> Vec<AvailableCommand> {
    let hint = UnstructuredCommandInput::new("branch, commit or range; without it, what is not committed");
    vec![
        AvailableCommand::new("compact", "Compress the conversation"),
        AvailableCommand::new("init", "Write AGENTS.md, or improve it"),
        AvailableCommand::new("review", "Review a change, without changing anything")
            .input(AvailableCommandInput::Unstructured(hint)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_whole_prompts_and_everything_else_is_text() {
        for (words, expected) in [
            ("/compact", Some(Command::Compact)),
            (" /init\n", Some(Command::Init)),
            ("/review", Some(Command::Review(None))),
            ("/review main..x", Some(Command::Review(Some("main..x".to_owned())))),
            ("/compact it all", None),
            ("/etc/hosts has what?", None),
            ("/initial", None),
            ("see /init", None),
        ] {
            assert_eq!(parse(words), expected, "{words}");
        }
        assert!(own().iter().all(|command| parse(&format!("/{}", command.name)).is_some()));
    }
}
