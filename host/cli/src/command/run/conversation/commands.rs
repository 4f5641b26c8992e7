//! Parses the lines of a conversation: a prompt, a command of the session or of this terminal, or a line for a shell.

use host_app::app::App;
use host_app::session::command::{self, CommandEntry, ListedCommand, SessionCommand};
use host_settings::error::Failure;
use host_terminal as terminal;
use host_text::exact;

/// A command that is this terminal's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnCommand {
    Help,
    Thoughts,
    Raw,
    Copy,
    Output(Option<String>),
    Quit,
}

/// The meaning of a line.
#[derive(Debug)]
pub(super) enum ParsedLine {
    Prompt(String),
    Own(OwnCommand),
    Session(SessionCommand),
    /// A line for the user's shell.
    Shell(String),
    /// It begins like a command but is not one.
    Invalid(Failure),
}

/// A command of the terminal's own as help has it.
struct Own {
    name: &'static str,
    argument: &'static str,
    about: &'static str,
    /// The command that it is listed behind; the first one has none.
    behind: &'static str,
}

/// The terminal's own commands.
const OWN: &[Own] = &[
    own("/help", "", "Show the commands and the keys", ""),
    own("/thoughts", "", "Switch between full thoughts and their titles", "/add-dir"),
    own("/raw", "", "Switch between rendered answers and their Markdown source", "/thoughts"),
    own("/copy", "", "Copy the last answer to the clipboard", "/config"),
    own("/output", "[N]", "Show the last call whole, or the Nth from the last", "/copy"),
    own("/quit", "", "Quit", "/rewind"),
];

const fn own(name: &'static str, argument: &'static str, about: &'static str, behind: &'static str) -> Own {
    Own { name, argument, about, behind }
}

/// Width of the names of commands and keys in help.
const NAMES: usize = 27;

/// Returns all commands with a name of their own, in the order in which help has them.
pub(super) fn all() -> Vec<ListedCommand> {
    let mut all: Vec<ListedCommand> = command::listed().collect();
    for &Own { name, argument, about, behind } in OWN {
        let at = all.iter().position(|known| known.name == behind).map_or(0, |at| at + 1);
        all.insert(at, ListedCommand { name, argument, about: about.to_owned() });
    }
    all
}

/// The meaning of a line in a session.
pub(super) fn parse(line: &str, app: &App) -> ParsedLine {
    before_the_session(line).unwrap_or_else(|| of_session(app.parse(line, own_names())))
}

/// Whether a line is a prompt, whatever the session's own commands are.
pub(super) fn prompt(line: &str) -> Option<String> {
    let parsed = before_the_session(line).unwrap_or_else(|| of_session(SessionCommand::parse(line, own_names())));
    match parsed {
        ParsedLine::Prompt(text) => Some(text),
        ParsedLine::Own(_) | ParsedLine::Session(_) | ParsedLine::Shell(_) | ParsedLine::Invalid(_) => None,
    }
}

fn own_names() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|own| own.name)
}

fn of_session(parsed: command::ParsedLine) -> ParsedLine {
    match parsed {
        command::ParsedLine::Prompt(text) => ParsedLine::Prompt(text),
        command::ParsedLine::Command(command) => ParsedLine::Session(command),
        command::ParsedLine::Invalid(failure) | command::ParsedLine::Unknown(failure) => ParsedLine::Invalid(failure),
    }
}

/// The meaning of a line for a shell, or of one of the terminal's own commands.
fn before_the_session(line: &str) -> Option<ParsedLine> {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("!!") {
        return Some(ParsedLine::Prompt(format!("!{rest}")));
    }
    if let Some(command) = text.strip_prefix('!') {
        return Some(match command.trim() {
            "" => ParsedLine::Invalid(
                Failure::input("no command after `!`")
                    .help("type one, such as `!git status`; `!!` begins a text with `!`"),
            ),
            command => ParsedLine::Shell(command.to_owned()),
        });
    }
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = Some(rest.trim()).filter(|rest| !rest.is_empty());
    let command = match name {
        "/help" => OwnCommand::Help,
        "/thoughts" => OwnCommand::Thoughts,
        "/raw" => OwnCommand::Raw,
        "/copy" => OwnCommand::Copy,
        "/quit" => OwnCommand::Quit,
        "/output" => return Some(ParsedLine::Own(OwnCommand::Output(argument.map(str::to_owned)))),
        _ => return None,
    };
    Some(match argument {
        None => ParsedLine::Own(command),
        Some(_) => ParsedLine::Invalid(command::takes_nothing(name, text)),
    })
}

/// All commands and keys, and behind the commands those of the session, in so many columns.
pub(super) fn help(session: &[CommandEntry], columns: usize) -> String {
    let all = all();
    let of_session =
        session.iter().filter(|command| all.iter().all(|known| known.name.trim_start_matches('/') != command.name));
    let of_session = of_session.map(|CommandEntry { name, hint, description, source }| {
        (format!("/{} {hint}", exact(name)).trim_end().to_owned(), format!("{description} ({source})"))
    });
    let named = all.iter().map(|known| (format!("{} {}", known.name, known.argument), known.about.clone()));
    let keys = terminal::BINDINGS.iter().map(|(key, words)| ((*key).to_owned(), (*words).to_owned()));
    let mut text = String::new();
    for (name, words) in named.chain(of_session).chain(keys) {
        let line = format!("{name:<NAMES$} {words}");
        // Beside their names there must be room for words.
        let (line, indent) = if columns < NAMES * 2 { (format!("{name}  {words}"), 4) } else { (line, NAMES + 1) };
        text.push_str(&terminal::wrapped(&line, columns, indent));
        text.push('\n');
    }
    let files = "Attach files with @path: a file, a folder or a glob. To send text that begins with / or !, type it \
                 twice: //text.";
    text.push_str(&terminal::wrapped(files, columns, 0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> ParsedLine {
        before_the_session(line).unwrap_or_else(|| of_session(SessionCommand::parse(line, own_names())))
    }

    #[test]
    fn commands_of_the_terminal_take_what_they_take() {
        for (line, expected) in [
            ("/help", OwnCommand::Help),
            (" /quit ", OwnCommand::Quit),
            ("/output", OwnCommand::Output(None)),
            ("/output 2", OwnCommand::Output(Some("2".to_owned()))),
        ] {
            assert!(matches!(parsed(line), ParsedLine::Own(command) if command == expected), "{line}");
        }
        for own in OWN {
            assert!(matches!(parsed(own.name), ParsedLine::Own(_)), "{}", own.name);
            assert!(own.behind.is_empty() || all().iter().any(|known| known.name == own.behind), "{}", own.name);
        }
        assert!(matches!(parsed("/undo 2"), ParsedLine::Session(SessionCommand::Undo(Some(_)))));
    }

    #[test]
    fn conversation_unknown_command_is_reported_with_how_to_send_it_as_text() {
        for (line, message, help) in [
            (
                "/hlep",
                "there is no command `/hlep`",
                "did you mean `/help`? to send text that begins with `/`, type `//hlep`",
            ),
            ("/quit now", "`/quit` takes no argument", "to send text that begins with `/`, type `//quit now`"),
        ] {
            let ParsedLine::Invalid(failure) = parsed(line) else { panic!("{line} is no command") };
            assert_eq!((failure.message.as_str(), failure.help_text().as_deref()), (message, Some(help)));
        }
    }

    #[test]
    fn command_of_the_users_shell_begins_with_one_exclamation_mark() {
        assert!(matches!(parsed(" !git status "), ParsedLine::Shell(line) if line == "git status"));
        assert!(matches!(parsed("! "), ParsedLine::Invalid(_)));
    }

    #[test]
    fn everything_else_is_a_prompt() {
        for (line, text) in [
            ("hello", "hello"),
            ("//etc/hosts?", "/etc/hosts?"),
            (" what is a/b", " what is a/b"),
            ("!!important", "!important"),
            ("do it! !now", "do it! !now"),
            ("see\n!rm", "see\n!rm"),
        ] {
            assert_eq!(prompt(line).as_deref(), Some(text), "{line}");
        }
        for line in ["/help", "/undo", "!ls", "/unknown"] {
            assert_eq!(prompt(line), None, "{line}");
        }
    }

    #[test]
    fn help_fits_a_terminal_and_has_all() {
        for columns in [30, 40, 80, 200] {
            let help = help(&[], columns);
            assert!(all().iter().all(|known| help.contains(known.name)));
            assert!(help.lines().all(|line| terminal::width(line) <= columns), "{help}");
        }
    }
}
