//! Options and commands of the command line are data below the frontends (`host_text::Help`), so that an editor names
//! them in its own terms. Scanned are the string literals of all crates but the command line's own and the author's.
//!
//! Deliberately not here: options and commands in the texts of `host/cli`, which the documents' tests look up.

use std::collections::BTreeSet;
use std::fs;

use host_tests::repository;

use crate::layers::texts;

/// Files and folders whose texts may have them, each with the reason.
const ALLOWED: &[(&str, &str)] = &[
];

/// The crates of the command line.
const COMMAND_LINE: &[&str] = &["host/cli/", "host/devkit/"];

#[test]
fn terms_of_the_command_line_are_data_below_the_frontends() {
    let terms = Terms::read();
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (file, line, text) in texts() {
        if COMMAND_LINE.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let Some(term) = terms.find(&text) else { continue };
        match ALLOWED.iter().find(|(allowed, _)| file.starts_with(allowed)) {
            Some((allowed, _)) => {
                used.insert(*allowed);
            }
            None => wrong.push(format!("{file}:{line}: `{term}` in “{text}”")),
        }
    }
    assert!(wrong.is_empty(), "an editor would show these, so make them parts of an `Advice`:\n{}", wrong.join("\n"));
    let stale: Vec<&str> = ALLOWED.iter().map(|(file, _)| *file).filter(|file| !used.contains(file)).collect();
    assert!(stale.is_empty(), "nothing in these files has to be allowed: {}", stale.join(", "));
}

#[test]
fn terms_of_the_command_line_are_recognised_in_a_text() {
    let terms = Terms::read();
    for (text, found) in [
        ("add --allow-downgrade to install it anyway", Some("--allow-downgrade")),
        ("to allow it, add --grant {plugin}:{capability}=SCOPE", Some("--grant")),
        ("--confine=require", Some("--confine")),
        ("`host trust status` lists all", Some("host trust")),
        ("see `host doctor`", Some("host doctor")),
        ("needs a login: host mcp login {}", Some("host mcp")),
        ("the host runs it", None),
        ("host reads keys from variables", None),
        ("keys trust FILE", None),
        ("git diff --cached", None),
        ("a -- b ---grant", None),
        ("ghost run", None),
    ] {
        assert_eq!(terms.find(text).as_deref(), found, "{text}");
    }
}

/// The options and the first words of the commands, as the help has them.
struct Terms {
    options: BTreeSet<String>,
    commands: BTreeSet<String>,
}

impl Terms {
    fn read() -> Self {
        let help = fs::read_to_string(repository().join("docs/reference/flags.md")).expect("the help of all commands");
        let commands = help.lines().filter_map(|line| line.strip_prefix("## host ")?.split(' ').next());
        let words = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let options = words.filter(|word| is_option(word)).map(str::to_owned).collect();
        let terms = Self { options, commands: commands.map(str::to_owned).collect() };
        assert!(terms.options.len() > 50 && terms.commands.len() > 15, "the help has few of them");
        terms
    }

    /// Returns the first option or command in a text.
    fn find(&self, text: &str) -> Option<String> {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let option = text.split(|c| !is_inner(c)).find(|word| is_option(word) && self.options.contains(*word));
        let command = || {
            let words: Vec<&str> = text.split(|c| !is_inner(c) && c != ' ').flat_map(|part| part.split(' ')).collect();
            let pair = words.windows(2).find(|pair| pair[0] == "host" && self.commands.contains(pair[1]));
            pair.map(|pair| pair.join(" "))
        };
        option.map(str::to_owned).or_else(command)
    }
}

fn is_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}
