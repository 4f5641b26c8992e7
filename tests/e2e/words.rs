//! Documents, help and messages use plain words: none of the phrases on the list below.
//!
//! Scanned are all documents, the help of every command (as `docs/reference/flags.md` has it) and the string literals of
//! the host's crates. Deliberately not here: comments, which only people who change the code read.

use crate::documents::documents;
use crate::layers::texts;

use host_tests::repository;

/// Phrases to avoid, each with what to write.
const AVOIDED: &[(&str, &str)] = &[
    ("makes no sense", "invalid"),
    ("make no sense", "invalid"),
    ("is no good", "invalid"),
    ("are no good", "invalid"),
    ("is told", "reports, shows, gets"),
    ("are told", "report, show, get"),
    ("was told", "reported, got"),
    ("were told", "reported, got"),
    ("be told", "see, get"),
    ("from here on", "from now on, after this"),
    ("goes on with", "continues"),
    ("go on with", "continue"),
    ("went on with", "continued"),
    ("stands", "is"),
    ("whoever", "the user, everyone who"),
    ("the person", "the user"),
    ("a person", "a user"),
    ("is another", "is different"),
    ("are others", "are different"),
    ("anew", "again"),
    ("nobody reads", "unknown"),
    ("is of use", "is useful"),
    ("of no use", "useless"),
    ("mend", "fix, correct"),
];

/// Files that are still to be written plainly; the list only shrinks.
const NOT_YET: &[&str] = &[
    "ARCHITECTURE.md",
    "docs/reference/flags.md",
    "host/agent/src/session/error.rs",
    "host/agent/src/session/read.rs",
    "host/app/src/agents.rs",
    "host/app/src/configuration.rs",
    "host/app/src/configuration/commands.rs",
    "host/app/src/configuration/plugins.rs",
    "host/app/src/policies.rs",
    "host/app/src/report/stream_json.rs",
    "host/app/src/session/find.rs",
    "host/app/src/session/main_agent.rs",
    "host/app/src/session/resume.rs",
    "host/app/src/session/subagents.rs",
    "host/capability/src/scope.rs",
    "host/cli/src/arguments.rs",
    "host/cli/src/command/agent.rs",
    "host/cli/src/command/run/compress.rs",
    "host/cli/src/command/run/conversation.rs",
    "host/cli/src/command/run/conversation/actions.rs",
    "host/cli/src/command/run/conversation/commands.rs",
    "host/cli/src/command/session/markdown.rs",
    "host/cli/src/command/session/show.rs",
    "host/cli/src/printer/terminal.rs",
    "host/model/src/error.rs",
    "host/model/src/kind.rs",
    "host/plugin/src/cache.rs",
    "host/plugin/src/readable/walk.rs",
    "host/plugin/src/origin.rs",
    "host/plugin/src/runtime.rs",
    "host/shell/src/analysis.rs",
    "host/shell/src/grammar/parser.rs",
    "host/shell/src/grammar/second.rs",
    "host/tool/src/discovery.rs",
    "host/tool/src/gate.rs",
    "host/tool/src/gate/lasting.rs",
    "host/tool/src/plugin_tool.rs",
    "host/tool/src/policy/file.rs",
    "host/tool/src/schema.rs",
];

#[test]
fn words_of_documents_and_help_are_plain() {
    let mut found = Vec::new();
    // The limits are described by the comments of their constants.
    for document in documents()
        .into_iter()
        .filter(|document| document != "docs/reference/limits.md" && !NOT_YET.contains(&document.as_str()))
    {
        let text = std::fs::read_to_string(repository().join(&document)).expect("it is text");
        for (number, line) in text.lines().enumerate() {
            found.extend(avoided(line).map(|words| format!("{document}:{}: {words}", number + 1)));
        }
    }
    assert!(found.is_empty(), "phrases to write plainly:\n{}", found.join("\n"));
}

#[test]
fn words_of_messages_are_plain() {
    let mut found = Vec::new();
    for (file, line, text) in texts().into_iter().filter(|(file, ..)| !NOT_YET.contains(&file.as_str())) {
        found.extend(avoided(&text).map(|words| format!("{file}:{line}: {words} in {text:?}")));
    }
    assert!(found.is_empty(), "phrases to write plainly:\n{}", found.join("\n"));
}

/// The avoided phrases in a text, each with what to write.
fn avoided(text: &str) -> impl Iterator<Item = String> {
    let text = without_names(&text.to_lowercase());
    AVOIDED
        .iter()
        .filter(move |(phrase, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            text.match_indices(phrase)
                .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + phrase.len()..].starts_with(is_word))
        })
        .map(|(phrase, plain)| format!("`{phrase}` (write: {plain})"))
}

/// The text without code between backticks, whose names are not words.
fn without_names(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

#[test]
fn words_are_found_as_words() {
    let count = |text: &str| avoided(text).count();
    assert_eq!(count("The manifest makes no sense."), 1);
    assert_eq!(count("it stands for itself; amended, recommend"), 1);
    assert_eq!(count("`mend` and personal names"), 0);
    assert_eq!(count("an outstanding person"), 0);
}
