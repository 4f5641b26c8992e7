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
    ("host/text/src/help.rs", "the options themselves"),
    ("host/shell/", "command lines of other programs"),
    ("host/app/src/installation.rs", "command lines of other programs"),
    ("host/bundle/src/lock.rs", "a comment in a file"),
    ("host/settings/src/models/saved.rs", "a comment in a file"),
    ("host/settings/src/configuration/commands.rs", "the command line of another program"),
    ("host/agent/src/definition/file/fault.rs", "what a command is for who cannot type it"),
    ("host/model/src/offline/report.rs", "the answer of the planner, which shows how to use a model instead"),
    ("host/sessions/src/report/", "titles of the schemas of what the command line prints"),
    ("host/sessions/src/pages/list.rs", "a page of a command that only the command line has"),
    ("host/sessions/src/pages/show.rs", "a page of a command that only the command line has"),
    ("host/app/src/session/pages/tools.rs", "a page of a command that only the command line has"),
    ("host/settings/src/project/shown.rs", "a page of a command that only the command line has"),
    ("host/settings/src/permissions.rs", "the command that shows answers where there is no session"),
    ("host/app/src/session/settings.rs", "where a setting comes from, which is an option here"),
    ("host/extensions/src/servers/written.rs", "the options of a command that only the command line has"),
    ("host/extensions/src/install.rs", "a part of a command"),
    // A command is named in the same way everywhere; only an option has other terms.
    ("host/plugin/src/process/explain.rs", "a command in the text of an outcome"),
    ("host/process/src/error.rs", "a command in the text of an outcome"),
    ("host/programs/src/", "a command in the text of an outcome"),
    ("host/mcp/src/client/", "a command in the text of an outcome"),
    ("host/app/src/session/skills.rs", "a command in the text of an outcome"),
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
        ("keys trust FILE --for {plugin}", None),
        ("run --resume {id}", None),
        ("run it again with --model", Some("--model")),
        ("application/vnd.host.plugin.v1", None),
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
    /// The commands with two words.
    lines: BTreeSet<String>,
}

impl Terms {
    fn read() -> Self {
        let help = fs::read_to_string(repository().join("docs/reference/flags.md")).expect("the help of all commands");
        let lines: BTreeSet<String> =
            help.lines().filter_map(|line| line.strip_prefix("## host ")).map(str::to_owned).collect();
        let commands = lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        let words = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let options = words.filter(|word| is_option(word)).map(str::to_owned).collect();
        let terms = Self { options, commands, lines };
        assert!(terms.options.len() > 50 && terms.commands.len() > 15, "the help has few of them");
        terms
    }

    /// Returns the first option or command in a text. That of a part of a help is not looked for: it begins with the
    /// words of the command, without the name of the program.
    fn find(&self, text: &str) -> Option<String> {
        // As it is written, a literal has its quotes.
        let mut words = text.trim_matches('"').split(' ');
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if self.commands.contains(first)
            && (second.starts_with('-') || self.lines.contains(&format!("{first} {second}")))
        {
            return None;
        }
        let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let option = text.split(|c| !is_inner(c)).find(|word| is_option(word) && self.options.contains(*word));
        let command = || {
            let (_, word) = text.match_indices("host ").find_map(|(at, host)| {
                let begins = text[..at].chars().next_back().is_none_or(|c| !is_inner(c) && c != '.' && c != '/');
                let word: String = text[at + host.len()..].chars().take_while(|c| is_inner(*c)).collect();
                (begins && self.commands.contains(&word)).then_some((at, word))
            })?;
            Some(format!("host {word}"))
        };
        option.map(str::to_owned).or_else(command)
    }
}

fn is_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}
