//! Documents, help and messages use plain words: none of the phrases on the list below.
//!
//! Scanned are all documents, the help of every command (as `docs/reference/flags.md` has it) and the string literals
//! of the host's crates. Deliberately not here: comments, which only people who change the code read.

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
    ("no good", "invalid"),
    ("told of", "listed, reported"),
    ("say more of", "use more of"),
    ("has them all", "lists all"),
    ("have them all", "list all"),
    ("is void", "is discarded"),
    ("are void", "are discarded"),
    ("half-written", "incomplete"),
    ("taken back", "removed, revoked"),
    ("takes that back", "revokes that"),
    ("nothing of it is used", "is ignored"),
    ("says as much", "states that"),
    ("are no text", "are not text"),
    ("which is no", "which is not a"),
    ("which is none of", "which does not belong to"),
    ("nobody signs", "is not signed"),
    ("nobody can be asked", "the user cannot be asked"),
    ("told apart", "distinguished"),
    ("on its own account", "by itself"),
];

#[test]
fn words_of_documents_and_help_are_plain() {
    let mut found = Vec::new();
    for document in documents() {
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
    for (file, line, text) in texts().into_iter() {
        found.extend(avoided(&joined(&text)).map(|words| format!("{file}:{line}: {words} in {text:?}")));
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

/// A string literal with its lines joined as the compiler joins them.
fn joined(text: &str) -> String {
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
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
    assert_eq!(count(&joined("what the \\\n      person says")), 1);
}
