//! Completion while a line is written: a command at its beginning with its argument, a path after an `@`.
//!
//! Commands and modes are known at once; files and the models of a service are looked up, which blocks. Deliberately
//! not here: how a list is shown.

use std::sync::{Arc, Mutex, PoisonError};

use host_extensions::servers::McpHub;
use host_text::{exact, excerpt};
use host_tool::ApprovalMode;

use crate::app::App;
use crate::finder::{FileFinder, FoundPath};
use crate::model_choice::ModelList;
use crate::session::command::{CommandEntry, ListedCommand};

/// How much of what a server says about a prompt or a resource is shown, in characters.
const PROMPT_WORDS: usize = 60;

/// The most resources that are offered. Protects the list of files below them.
const MAX_RESOURCES: usize = 20;

/// What can replace the end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// How many bytes before the cursor are replaced.
    pub replaced: usize,
    /// What can replace them, the best first.
    pub suggestions: Vec<Suggestion>,
    /// Whether there may be more when it is asked for again: not everything was looked at yet.
    pub may_grow: bool,
    /// Why there are none, if the user can do something about it.
    pub note: Option<String>,
}

/// An entry of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// What it inserts.
    pub text: String,
    /// What is shown of it; `None` shows the text.
    pub label: Option<String>,
    /// A description of a few words; empty if there is none.
    pub about: String,
    /// Whether it is all that the line needs.
    pub sends: bool,
}

/// Whether a text can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completable {
    /// With these.
    Now(Completion),
    /// With what has to be looked up.
    Later,
    /// Not at all.
    Nothing,
}

/// Completes lines in one session.
pub struct Completer {
    finder: Option<FileFinder>,
    models: Mutex<ModelList>,
    servers: Option<Arc<McpHub>>,
    named: Vec<ListedCommand>,
    custom: Vec<CommandEntry>,
}

impl Suggestion {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Completer {
    /// Creates a completer of a session in this application; `named` are all commands with a name of their own. Must
    /// be called within a runtime.
    pub fn new(app: &App, named: Vec<ListedCommand>) -> Self {
        Self {
            finder: FileFinder::new(app),
            models: Mutex::new(ModelList::new(app.configuration.clone(), app.environment.clone())),
            servers: app.mcp.clone(),
            named,
            custom: app.commands(),
        }
    }

    /// Returns what is known at once about the text before the cursor.
    pub fn at_once(&self, before: &str) -> Completable {
        match at_once(before, &self.named, self.finder.is_some()) {
            Completable::Now(found) => {
                let found = self.with_custom(found, before);
                Completable::Now(match &self.servers {
                    Some(servers) => with_prompts(found, before, servers),
                    None => found,
                })
            }
            found => found,
        }
    }

    /// Looks up what was not known at once. Blocks.
    pub fn look_up(&self, before: &str) -> Completion {
        match (model(before), mention(before), &self.finder) {
            (Some(written), _, _) => {
                let listed = self.models.lock().unwrap_or_else(PoisonError::into_inner).look_up();
                let found = matching(written, listed.models.into_iter().map(sending));
                Completion { note: listed.note, ..found }
            }
            (None, Some(mention), Some(finder)) => {
                let resources = self.servers.iter().flat_map(|servers| resources(mention, servers));
                let mut suggestions: Vec<Suggestion> = resources.collect();
                let files = paths(mention, finder);
                suggestions.extend(files.suggestions);
                Completion { suggestions, ..files }
            }
            (None, _, _) => Completion::default(),
        }
    }

    /// The commands, and behind them those of the session with their sources.
    fn with_custom(&self, mut found: Completion, before: &str) -> Completion {
        for command in &self.custom {
            let name = format!("/{}", command.name);
            let is_built_in = self.named.iter().any(|known| known.name == name);
            if !name.starts_with(before) || is_built_in {
                continue;
            }
            found.suggestions.push(Suggestion {
                label: Some(format!("{name} {}", command.hint).trim_end().to_owned()),
                about: format!("{} ({})", excerpt(&command.description, PROMPT_WORDS), command.source),
                ..Suggestion::new(format!("{name} "))
            });
        }
        found
    }
}

fn at_once(before: &str, named: &[ListedCommand], has_files: bool) -> Completable {
    if let Some(completion) = command(before, named).or_else(|| mode(before)) {
        return Completable::Now(completion);
    }
    let is_later = model(before).is_some() || has_files && mention(before).is_some();
    if is_later { Completable::Later } else { Completable::Nothing }
}

fn sending(text: impl Into<String>) -> Suggestion {
    Suggestion { sends: true, ..Suggestion::new(text) }
}

/// The suggestions that have what is written in them, those that begin with it first.
fn matching(written: &str, suggestions: impl Iterator<Item = Suggestion>) -> Completion {
    let wanted = written.to_lowercase();
    let mut suggestions: Vec<Suggestion> =
        suggestions.filter(|suggestion| suggestion.text.to_lowercase().contains(&wanted)).collect();
    suggestions.sort_by_key(|suggestion| !suggestion.text.starts_with(written));
    Completion { replaced: written.len(), suggestions, ..Completion::default() }
}

fn command(before: &str, named: &[ListedCommand]) -> Option<Completion> {
    let is_name = before.starts_with('/') && !before.starts_with("//") && !before.contains(char::is_whitespace);
    let suggestion = |known: &ListedCommand| Suggestion {
        label: Some(format!("{} {}", known.name, known.argument)),
        about: known.about.clone(),
        sends: known.argument.is_empty(),
        ..Suggestion::new(format!("{} ", known.name))
    };
    is_name.then(|| {
        let begun = named.iter().filter(|known| known.name.starts_with(before));
        matching(before, begun.map(suggestion))
    })
}

/// The commands, and behind them the prompts of MCP servers.
fn with_prompts(mut found: Completion, before: &str, servers: &McpHub) -> Completion {
    for status in servers.statuses() {
        for prompt in status.prompts {
            let name = format!("/{}:{}", status.name, prompt.name);
            // A name with blanks or signs could not be typed as one word.
            if !name.starts_with(before) || exact(&name) != name || name.contains(char::is_whitespace) {
                continue;
            }
            let about = prompt.description.as_deref().map(|text| excerpt(text, PROMPT_WORDS)).unwrap_or_default();
            found.suggestions.push(Suggestion {
                label: Some(name.clone()),
                about,
                sends: prompt.arguments.is_empty(),
                ..Suggestion::new(format!("{name} "))
            });
        }
    }
    found
}

/// The resources of MCP servers that a mention may mean.
fn resources(mention: Mention<'_>, servers: &McpHub) -> Vec<Suggestion> {
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
        is_meant.then(|| Suggestion {
            label: Some(path),
            about: excerpt(&resource.name, PROMPT_WORDS),
            ..Suggestion::new(text)
        })
    });
    found.take(MAX_RESOURCES).collect()
}

/// The argument of a command, as far as it is written.
fn argument<'a>(before: &'a str, command: &str) -> Option<&'a str> {
    before.strip_prefix(command)?.strip_prefix(' ').filter(|written| !written.contains(char::is_whitespace))
}

fn mode(before: &str) -> Option<Completion> {
    let candidate = |mode: ApprovalMode| Suggestion { about: mode.about().to_owned(), ..sending(mode.name()) };
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

fn paths(mention: Mention<'_>, finder: &FileFinder) -> Completion {
    let found = finder.find(mention.path);
    let candidate = |FoundPath { path, is_folder }: FoundPath| {
        let text = match (mention.is_quoted || path.contains(char::is_whitespace), is_folder) {
            (true, true) => format!("\"{path}"),
            (true, false) => format!("\"{path}\" "),
            (false, true) => path.clone(),
            (false, false) => format!("{path} "),
        };
        Suggestion { label: Some(path), ..Suggestion::new(text) }
    };
    Completion {
        replaced: mention.written.len(),
        suggestions: found.paths.into_iter().map(candidate).collect(),
        may_grow: found.may_grow,
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::command::listed;

    fn named() -> Vec<ListedCommand> {
        listed().collect()
    }

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
            assert_eq!(
                at_once(before, &named(), true),
                if path.is_some() { Completable::Later } else { Completable::Nothing },
                "{before}"
            );
            assert_eq!(at_once(before, &named(), false), Completable::Nothing, "{before}");
        }
    }

    #[test]
    fn completion_of_commands_has_descriptions_and_works_only_at_the_beginning() {
        let names = |before| match at_once(before, &named(), false) {
            Completable::Now(found) => {
                found.suggestions.into_iter().map(|one| one.text.trim_end().to_owned()).collect()
            }
            Completable::Later => vec!["later".to_owned()],
            Completable::Nothing => vec!["nothing".to_owned()],
        };
        assert_eq!(names("/st"), ["/stats"]);
        assert_eq!(names("/mode p"), ["plan"]);
        assert_eq!(names("/mode "), ["plan", "default", "auto-edit", "auto", "yolo"]);
        assert_eq!(names("/model o"), ["later"]);
        for before in ["a /st", "//st", "/stats now", "/mode plan now"] {
            assert_eq!(names(before), ["nothing"], "{before}");
        }
        let all = command("/", &named()).expect("commands").suggestions;
        assert!(all.len() == named().len() && all.iter().all(|one| !one.about.is_empty()));
        assert!(all.iter().any(|one| one.text == "/model " && !one.sends), "it may have an argument");
    }
}
