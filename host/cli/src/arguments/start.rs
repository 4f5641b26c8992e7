//! A command line without a command: a conversation, or a prompt for one.
//!
//! `host` and `host "fix the tests"` mean `host run` with the same arguments. A word that is nearly the name of a command
//! is a mistake and not a prompt. Deliberately not here: the flags, which are those of `host run`.

use std::ffi::OsString;

use clap::CommandFactory as _;
use host_app::error::Failure;
use host_text::distance;

use super::Arguments;

/// The flags that the program has itself.
const OWN_FLAGS: &[&str] = &["-h", "--help", "-V", "--version"];

/// The fewest words that are a sentence, of which the first may resemble a command.
const SENTENCE: usize = 3;

/// The fewest letters of a word of which two may be wrong: `hello` is not `help`.
const LONG: usize = 6;

/// Commands of other agents, and what they are here. They are no typos of other commands.
const ELSEWHERE: &[(&str, &str)] = &[
    ("login", "set a key such as GEMINI_API_KEY, or run `host` in a terminal, which helps you choose a model"),
    ("resume", "run `host --resume`, or `host -c` for the last session"),
    ("continue", "run `host -c`"),
    ("exec", "run `host run \"…\"`, or `host -p \"…\"`"),
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
/// If the first word is nearly the name of a command.
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
        // `/help` is a command of the conversation that begins.
        let is_one_word = !first.starts_with(['-', '/']) && !first.chars().any(char::is_whitespace);
        let near = if first.chars().count() >= LONG { 2 } else { 1 };
        let nearest = names.into_iter().min_by_key(|name| distance(&first, name));
        let nearest = nearest.filter(|name| distance(&first, name) <= near);
        let help = match (ELSEWHERE.iter().find(|(name, _)| *name == first), nearest) {
            _ if !is_one_word => None,
            (Some((_, help)), _) => (words.len() <= SENTENCE).then(|| (*help).to_owned()),
            (None, Some(name)) => {
                let is_sentence = words.len() > SENTENCE && distance(&first, name) > 1;
                (!is_sentence).then(|| format!("did you mean `host {name}`?"))
            }
            (None, None) => None,
        };
        if let Some(help) = help {
            let help = format!("{help} (to send it as a prompt: host -- {first} …)");
            return Err(Failure::input(format!("there is no command `{first}`")).help(help));
        }
    }
    words.insert(words.len().min(1), "run".into());
    Ok((words, Starts::Conversation))
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
            &["test"],
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
            let help = read_line(line).expect_err("a mistake").help.expect("a help");
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
            let help = failure.help.expect("a help");
            assert!(
                help.contains(&format!("`host {name}`")) && help.contains(&format!("host -- {}", line[0])),
                "{help}"
            );
        }
    }
}
