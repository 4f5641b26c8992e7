//! A command line without a command: a conversation, or a prompt for one.
//!
//! `host` and `host "fix the tests"` mean `host run` with the same arguments. A word that is nearly the name of a
//! command, or that alone reads like one, is a mistake and not a prompt: a prompt costs money. So is what another
//! program of this name takes ([`other_host`]). Behind `--` every word is a prompt.
//!
//! Deliberately not here: the flags, which are those of `host run`.

use std::ffi::OsString;

use clap::CommandFactory as _;
use host_settings::error::Failure;
use host_text::distance;

use super::{Arguments, other_host};

/// The flags that the program has itself.
const OWN_FLAGS: &[&str] = &["-h", "--help", "-V", "--version"];

/// The fewest words of a command line, the program's name included, that are a sentence. Its first word may resemble a
/// command.
const SENTENCE: usize = 4;

/// The fewest letters of a word of which two may be wrong: `hello` is not `help`.
const LONG: usize = 6;

/// Commands of other agents, and what they are here. They are not typos of other commands.
const ELSEWHERE: &[(&str, &str)] = &[
    ("login", "set a key such as GEMINI_API_KEY, or run `host` in a terminal, which helps you choose a model"),
    ("resume", "run `host --resume`, or `host -c` for the last session"),
    ("continue", "run `host -c`"),
    ("exec", "run `host run \"…\"`, or `host -p \"…\"`"),
    ("serve", "`host mcp serve` serves the tools to other agents, and `host acp` the agent to an editor"),
];

/// Words that alone are a command wherever programs have commands, and no task for a model.
const COMMAND_WORDS: &[&str] = &[
    "agents",
    "auth",
    "chat",
    "config",
    "connect",
    "daemon",
    "debug",
    "deploy",
    "exit",
    "fleet",
    "info",
    "init",
    "logout",
    "logs",
    "models",
    "proxy",
    "quit",
    "remote",
    "server",
    "settings",
    "setup",
    "start",
    "status",
    "stop",
    "sync",
    "ui",
    "uninstall",
    "update",
    "upgrade",
    "usage",
    "version",
    "web",
    "worker",
    "workers",
];

/// How a prompt on the command line is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// As one task.
    Task,
    /// On a terminal, as the beginning of a conversation.
    Conversation,
}

/// Inserts the command `run` where there is none.
///
/// # Errors
///
/// If the first word is nearly the name of a command, or the line is one of the DNS tool.
pub(super) fn read(mut words: Vec<OsString>) -> Result<(Vec<OsString>, Starts), Failure> {
    // To know the other commands takes as long as to parse the flags.
    if words.get(1).is_some_and(|word| word == "run") {
        return Ok((words, Starts::Task));
    }
    let command = Arguments::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).chain(["help"]).collect();
    if let Some(first) = words.get(1).map(|word| word.to_string_lossy()) {
        if names.contains(&first.as_ref()) || OWN_FLAGS.contains(&first.as_ref()) {
            return Ok((words, Starts::Task));
        }
        let grouped = if words.len() == 2 { grouped(&command, &first) } else { None };
        let nearest = nearest(&first, names.into_iter());
        let is_sentence = words.len() >= SENTENCE;
        let help = match (elsewhere(&first), nearest) {
            _ if !is_word(&first) => None,
            (Some(help), _) => (!is_sentence).then(|| help.to_owned()),
            _ if grouped.is_some() => grouped,
            (None, Some(name)) => {
                let is_prompt = is_sentence && distance(&first, name) > 1;
                (!is_prompt).then(|| format!("did you mean `host {name}`?"))
            }
            (None, None) => None,
        };
        if let Some(help) = help {
            return Err(mistake(&first, &help));
        }
        other_host::check(&words)?;
    }
    words.insert(words.len().min(1), "run".into());
    Ok((words, Starts::Conversation))
}

/// Checks a prompt of one word, wherever among the flags of `words` it was.
///
/// # Errors
///
/// If the word reads like a command: one of a group such as `host session list`, one of other programs, or nearly that;
/// or like a name or an address.
pub(super) fn check_one_word(prompt: &str, words: &[OsString]) -> Result<(), Failure> {
    if !is_word(prompt) || words.iter().any(|word| word == "--") {
        return Ok(());
    }
    other_host::check_prompt(prompt)?;
    let command = Arguments::command();
    let typo_of_own = || nearest(prompt, command.get_subcommands().map(clap::Command::get_name));
    let help = match (elsewhere(prompt), typo_of_own()) {
        (Some(help), _) => help.to_owned(),
        (None, typo) => match (grouped(&command, prompt), typo) {
            (Some(help), _) => help,
            (None, Some(name)) => format!("did you mean `host {name}`?"),
            (None, None) => {
                let known = ELSEWHERE.iter().map(|(name, _)| name).chain(COMMAND_WORDS).copied();
                match nearest(prompt, known) {
                    Some(name) => elsewhere(name).unwrap_or("`host --help` lists the commands").to_owned(),
                    None => return Ok(()),
                }
            }
        },
    };
    Err(mistake(prompt, &help))
}

/// `/help` is a command of the conversation that begins.
fn is_word(prompt: &str) -> bool {
    !prompt.starts_with(['-', '/']) && !prompt.chars().any(char::is_whitespace)
}

/// Returns the help for the name of a command within groups, such as `list`.
fn grouped(command: &clap::Command, word: &str) -> Option<String> {
    let named = command.get_subcommands().filter(|group| group.find_subcommand(word).is_some());
    let named: Vec<String> = named.map(|group| format!("`host {} {word}`", group.get_name())).collect();
    (!named.is_empty()).then(|| format!("did you mean {}?", named.join(" or ")))
}

fn elsewhere(word: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(name, _)| *name == word).map(|(_, help)| *help)
}

/// Returns the one of `names` that `word` is nearly, or exactly.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = if word.chars().count() >= LONG { 2 } else { 1 };
    let nearest = names.min_by_key(|name| distance(word, name));
    nearest.filter(|name| distance(word, name) <= near)
}

fn mistake(word: &str, help: &str) -> Failure {
    let help = format!("{help} (to send it as a prompt: host -- {word} …)");
    Failure::input(format!("there is no command `{word}`")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &[&str]) -> Result<(Vec<OsString>, Starts), Failure> {
        read(std::iter::once("host").chain(line.iter().copied()).map(OsString::from).collect())
    }

    #[test]
    fn arguments_without_a_command_are_those_of_run() {
        for line in [
            &[][..],
            &["fix the tests"],
            &["fix", "the", "tests"],
            &["test", "the", "login"],
            &["-p", "hello"],
            &["--yolo"],
            &["--", "sesion"],
            &["hello"],
            &["run away from the bear"],
            &["/help"],
        ] {
            let (words, starts) = read_line(line).expect("a prompt");
            assert_eq!(words[..2], ["host", "run"], "{line:?}");
            assert_eq!(
                (words[2..].to_vec(), starts),
                (line.iter().map(OsString::from).collect(), Starts::Conversation)
            );
        }
        for line in [&["run"][..], &["session", "list"], &["help"], &["--help"], &["-V"], &["tool", "call", "x"]] {
            let (words, starts) = read_line(line).expect("a command");
            assert_eq!((words[1..].to_vec(), starts), (line.iter().map(OsString::from).collect(), Starts::Task));
        }
    }

    #[test]
    fn arguments_command_of_another_agent_is_not_a_typo() {
        for (line, expected) in [
            (&["login"][..], "GEMINI_API_KEY"),
            (&["resume", "2026"], "`host --resume`"),
            (&["exec", "fix it"], "host -p"),
        ] {
            let help = read_line(line).expect_err("a mistake").help_text().expect("a help");
            assert!(help.contains(expected) && !help.contains("did you mean"), "{help}");
        }
        assert!(read_line(&["continue", "with", "the", "tests"]).is_ok(), "a sentence is a prompt");
    }

    #[test]
    fn arguments_word_near_a_command_is_a_mistake() {
        for (line, name) in [
            (&["sesion", "list"][..], "session"),
            (&["tools"], "tool"),
            (&["trus"], "trust"),
            (&["plugins", "list", "--json"], "plugin"),
            (&["docter"], "doctor"),
        ] {
            let failure = read_line(line).expect_err("a mistake");
            let help = failure.help_text().expect("a help");
            assert!(
                help.contains(&format!("`host {name}`")) && help.contains(&format!("host -- {}", line[0])),
                "{help}"
            );
        }
    }

    // promise conversation.one-word: A prompt of one word that reads like a command is a mistake with the nearest
    //   command.
    #[test]
    fn arguments_one_word_that_reads_like_a_command_is_a_mistake() {
        let check = |line: &[&str], word: &str| {
            let words: Vec<OsString> = line.iter().map(OsString::from).collect();
            check_one_word(word, &words).map_err(|failure| failure.help_text().unwrap_or_default())
        };
        for (word, expected) in [
            ("serve", "`host mcp serve`"),
            ("serv", "`host mcp serve`"),
            ("logn", "GEMINI_API_KEY"),
            ("worker", "`host --help`"),
            ("fleet", "`host --help`"),
            ("update", "`host model update`"),
            ("agents", "`host agent`"),
            ("sesion", "`host session`"),
            ("install", "`host plugin install`"),
            ("check", "`host plugin check` or `host policy check`"),
            ("export", "`host session export`"),
        ] {
            let help = check(&["host", "--model", "x", word], word).expect_err(word);
            assert!(help.contains(expected) && help.contains(&format!("host -- {word}")), "{word}: {help}");
            assert_eq!(check(&["host", "--", word], word), Ok(()), "{word} behind --");
        }
        for word in ["hello", "commit", "/help", "why?", "serve the page", "hilfe"] {
            assert_eq!(check(&["host", word], word), Ok(()), "{word}");
        }
    }
}
