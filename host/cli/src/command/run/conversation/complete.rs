//! Completion while a line is written: a command at its beginning with its argument, a path after an `@`.
//!
//! Commands and modes are known at once; files and the models of a service are looked up in a thread of the terminal's.

use std::sync::{Arc, Mutex, PoisonError};

use host_app::finder::{FileFinder, FoundPath};
use host_terminal::{Candidate, Completer, Completions, Lookup};
use host_tool::ApprovalMode;

use host_app::session::commands::CommandEntry;
use host_extensions::servers::McpHub;
use host_text::{exact, excerpt};

use super::commands;
use super::models::ModelList;

/// How much of what a server says about a prompt or a resource is shown, in characters.
const PROMPT_WORDS: usize = 60;

/// The most resources that are offered. Protects the list of files below them.
const MAX_RESOURCES: usize = 20;

/// Completes what can be completed in this workspace. `models` lists those that can be asked.
pub(super) fn completer(
    finder: Option<FileFinder>,
    models: Arc<Mutex<ModelList>>,
    servers: Option<Arc<McpHub>>,
    session: Vec<CommandEntry>,
) -> Completer {
    let has_files = finder.is_some();
    let prompts = servers.clone();
    Completer {
        at_once: Some(Box::new(move |before| match (at_once(before, has_files), &prompts) {
            (Lookup::Now(found), Some(servers)) => {
                Lookup::Now(with_prompts(with_commands(found, before, &session), before, servers))
            }
            (Lookup::Now(found), None) => Lookup::Now(with_commands(found, before, &session)),
            (found, _) => found,
        })),
        looked_up: Some(Box::new(move |before| match (model(before), mention(before), &finder) {
            (Some(written), _, _) => {
                let listed = models.lock().unwrap_or_else(PoisonError::into_inner).look_up();
                let mut found = matching(written, listed.models.into_iter().map(sending));
                found.note = listed.note;
                found
            }
            (None, Some(mention), Some(finder)) => {
                let mut found = servers.iter().map(|servers| resources(mention, servers)).next().unwrap_or_default();
                let files = paths(mention, finder);
                found.candidates.extend(files.candidates);
                Completions { candidates: found.candidates, ..files }
            }
            (None, _, _) => Completions::default(),
        })),
    }
}

fn at_once(before: &str, has_files: bool) -> Lookup {
    if let Some(completions) = command(before).or_else(|| mode(before)) {
        return Lookup::Now(completions);
    }
    let is_later = model(before).is_some() || has_files && mention(before).is_some();
    if is_later { Lookup::Later } else { Lookup::Nothing }
}

fn sending(text: impl Into<String>) -> Candidate {
    Candidate { sends: true, ..Candidate::new(text) }
}

/// The candidates that have what is written in them, those that begin with it first.
fn matching(written: &str, candidates: impl Iterator<Item = Candidate>) -> Completions {
    let wanted = written.to_lowercase();
    let mut candidates: Vec<Candidate> =
        candidates.filter(|candidate| candidate.text.to_lowercase().contains(&wanted)).collect();
    candidates.sort_by_key(|candidate| !candidate.text.starts_with(written));
    Completions { replaced: written.len(), candidates, ..Completions::default() }
}

fn command(before: &str) -> Option<Completions> {
    let is_name = before.starts_with('/') && !before.starts_with("//") && !before.contains(char::is_whitespace);
    let candidate = |known: &commands::CommandSpec| Candidate {
        label: Some(format!("{} {}", known.name, known.argument)),
        words: known.words.to_owned(),
        sends: known.argument.is_empty(),
        ..Candidate::new(format!("{} ", known.name))
    };
    is_name
        .then(|| matching(before, commands::ALL.iter().filter(|known| known.name.starts_with(before)).map(candidate)))
}

/// The commands, and behind them those of the session with their sources.
fn with_commands(mut found: Completions, before: &str, session: &[CommandEntry]) -> Completions {
    for command in session {
        let name = format!("/{}", command.name);
        let is_built_in = commands::ALL.iter().any(|known| known.name == name);
        if !name.starts_with(before) || is_built_in {
            continue;
        }
        found.candidates.push(Candidate {
            label: Some(format!("{name} {}", command.hint).trim_end().to_owned()),
            words: format!("{} ({})", excerpt(&command.description, PROMPT_WORDS), command.source),
            ..Candidate::new(format!("{name} "))
        });
    }
    found
}

/// The commands, and behind them the prompts of MCP servers.
fn with_prompts(mut found: Completions, before: &str, servers: &McpHub) -> Completions {
    for status in servers.statuses() {
        for prompt in status.prompts {
            let name = format!("/{}:{}", status.name, prompt.name);
            // A name with blanks or signs could not be typed as one word.
            if !name.starts_with(before) || exact(&name) != name || name.contains(char::is_whitespace) {
                continue;
            }
            let words = prompt.description.as_deref().map(|text| excerpt(text, PROMPT_WORDS)).unwrap_or_default();
            found.candidates.push(Candidate {
                label: Some(name.clone()),
                words,
                sends: prompt.arguments.is_empty(),
                ..Candidate::new(format!("{name} "))
            });
        }
    }
    found
}

/// The resources of MCP servers that a mention may mean.
fn resources(mention: Mention<'_>, servers: &McpHub) -> Completions {
    let statuses = servers.statuses();
    let all = statuses.iter().flat_map(|status| status.resources.iter().map(move |one| (&status.name, one)));
    let wanted = mention.path.to_lowercase();
    let found = all.filter_map(|(server, resource)| {
        let path = format!("{server}:{}", resource.uri);
        let is_meant = path.to_lowercase().contains(&wanted) && exact(&path) == path && !path.contains('"');
        let text = match mention.is_quoted || path.contains(char::is_whitespace) {
            true => format!("\"{path}\" "),
            false => format!("{path} "),
        };
        is_meant.then(|| Candidate {
            label: Some(path),
            words: excerpt(&resource.name, PROMPT_WORDS),
            ..Candidate::new(text)
        })
    });
    let candidates = found.take(MAX_RESOURCES).collect();
    Completions { replaced: mention.written.len(), candidates, ..Completions::default() }
}

/// The argument of a command, as far as it is written.
fn argument<'a>(before: &'a str, command: &str) -> Option<&'a str> {
    before.strip_prefix(command)?.strip_prefix(' ').filter(|written| !written.contains(char::is_whitespace))
}

fn mode(before: &str) -> Option<Completions> {
    let candidate = |mode: ApprovalMode| Candidate { words: mode.about().to_owned(), ..sending(mode.name()) };
    Some(matching(argument(before, "/mode")?, ApprovalMode::ALL.into_iter().map(candidate)))
}

fn model(before: &str) -> Option<&str> {
    argument(before, "/model")
}

/// What is written behind the last `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mention<'a> {
    written: &'a str,
    path: &'a str,
    is_quoted: bool,
}

/// The mention before the cursor. Names with blanks in them are quoted, as a mention takes them.
fn mention(before: &str) -> Option<Mention<'_>> {
    let at = before.rfind('@')?;
    let begins = before.get(..at).and_then(|text| text.chars().next_back()).is_none_or(|c| !c.is_ascii_alphanumeric());
    let written = before.get(at + 1..).unwrap_or_default();
    let (is_quoted, path) = written.strip_prefix('"').map_or((false, written), |path| (true, path));
    let is_open = begins && !path.contains(['"', '\n']) && (is_quoted || !path.contains(char::is_whitespace));
    // A command line is the shell's, where an `@` means nothing to us.
    (is_open && !before.starts_with('!')).then_some(Mention { written, path, is_quoted })
}

fn paths(mention: Mention<'_>, finder: &FileFinder) -> Completions {
    let found = finder.find(mention.path);
    let candidate = |FoundPath { path, is_folder }: FoundPath| {
        let text = match (mention.is_quoted || path.contains(char::is_whitespace), is_folder) {
            (true, true) => format!("\"{path}"),
            (true, false) => format!("\"{path}\" "),
            (false, true) => path.clone(),
            (false, false) => format!("{path} "),
        };
        Candidate { label: Some(path), ..Candidate::new(text) }
    };
    Completions {
        replaced: mention.written.len(),
        candidates: found.paths.into_iter().map(candidate).collect(),
        may_grow: found.may_grow,
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_looks_up_paths_behind_an_at() {
        for (before, path) in [
            ("see @s", Some("s")),
            ("@", Some("")),
            ("@src/m", Some("src/m")),
            ("@\"a b", Some("a b")),
            ("@.h", Some(".h")),
            ("me@s", None),
            ("@src/main.rs and", None),
            ("@\"a b\"", None),
            ("!echo @s", None),
            ("s", None),
        ] {
            assert_eq!(mention(before).map(|mention| mention.path), path, "{before}");
            assert_eq!(at_once(before, true), if path.is_some() { Lookup::Later } else { Lookup::Nothing }, "{before}");
            assert_eq!(at_once(before, false), Lookup::Nothing, "{before}");
        }
    }

    #[test]
    fn completion_of_commands_has_descriptions_and_works_only_at_the_beginning() {
        let names = |before| match at_once(before, false) {
            Lookup::Now(found) => found.candidates.into_iter().map(|one| one.text.trim_end().to_owned()).collect(),
            Lookup::Later => vec!["later".to_owned()],
            Lookup::Nothing => vec!["nothing".to_owned()],
        };
        assert_eq!(names("/st"), ["/stats"]);
        assert_eq!(names("/mode p"), ["plan"]);
        assert_eq!(names("/mode "), ["plan", "default", "auto-edit", "auto", "yolo"]);
        assert_eq!(names("/model o"), ["later"]);
        for before in ["a /st", "//st", "/stats now", "/mode plan now"] {
            assert_eq!(names(before), ["nothing"], "{before}");
        }
        let all = command("/").expect("commands").candidates;
        assert!(all.len() == commands::ALL.len() && all.iter().all(|one| !one.words.is_empty()));
        assert!(all.iter().any(|one| one.text == "/model " && !one.sends), "it may have an argument");
    }
}
