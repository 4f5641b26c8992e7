//! The commands of a conversation that a client can send as a prompt.
//!
//! They are those that a session can do by itself; what a client shows in another way, such as the mode, is none of them.
//! Text that begins with `/` and is no command is a prompt.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};

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
pub(crate) fn available() -> Vec<AvailableCommand> {
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
        assert!(available().iter().all(|command| parse(&format!("/{}", command.name)).is_some()));
    }
}
