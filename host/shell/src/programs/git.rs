//! `git`: which of its commands destroy what it stores, and which run something else.

use super::{Irreversible, Program, Runs};
use crate::Word;
use crate::hazard::Hazard;
use crate::inner::{Inner, Wrapped, as_line};

pub(super) const ROWS: &[Program] = &[Program {
    runs: Runs::Sometimes(found),
    hazards: Some(hazards),
    needs_literals: true,
    irreversible: Irreversible::Sometimes { why: destructive, never: only_adds },
    has_commands: true,
    ..Program::named(&["git"])
}];

/// The options before the command that take the next word as their value.
const GLOBAL_VALUED: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"];

/// Git's own commands; any other may be an alias, which can run anything.
const COMMANDS: &str = "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry \
    cherry-pick clean clone commit commit-tree config count-objects describe diff diff-files diff-index \
    diff-tree difftool fetch filter-branch for-each-ref format-patch fsck gc grep hash-object help init log \
    ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mergetool mv name-rev notes prune pull \
    push range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse \
    revert rm shortlog show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag \
    update-index update-ref var verify-commit verify-tag version whatchanged worktree write-tree";

/// Whether the command, whatever its options, destroys nothing that git stores.
fn only_adds(command: &str) -> bool {
    const ONLY: &str =
        "add blame cat-file commit describe diff fetch log ls-files ls-tree rev-list rev-parse shortlog show status";
    ONLY.split_whitespace().any(|known| known == command)
}

/// Returns the index of the command after the global options, or `None` if there is none or it is not known.
fn command(words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(text) = words.get(at).and_then(Word::literal) {
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if GLOBAL_VALUED.contains(&text) { 2 } else { 1 };
    }
    None
}

/// Whether the word is one of the options, written out or abbreviated as git accepts it.
fn is_long(word: &Word, options: &[&str]) -> bool {
    let text = word.text.split('=').next().unwrap_or_default();
    text.len() > 3 && text.starts_with("--") && options.iter().any(|option| option.starts_with(text))
}

fn is_short(word: &Word, letters: &[char]) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letters)
}

/// Returns why the words would destroy what git stores. Rebasing and amending do not: the reflog keeps the old commits.
fn destructive(words: &[Word]) -> Option<&'static str> {
    let at = command(words)?;
    let (name, arguments) = (words[at].literal()?, &words[at + 1..]);
    let long = |options: &[&str]| arguments.iter().any(|word| is_long(word, options));
    let short = |letters: &[char]| arguments.iter().any(|word| is_short(word, letters));
    let first = |names: &[&str]| arguments.first().is_some_and(|word| names.contains(&word.text.as_str()));
    let operands = || arguments.iter().filter(|word| !word.text.starts_with('-'));
    let hit = |is: bool, why| is.then_some(why);
    match name {
        "push" => hit(
            long(&["--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune"])
                || short(&['f', 'd'])
                || operands().any(|word| word.text.starts_with(['+', ':'])),
            "it overwrites or deletes what others may have",
        ),
        "reset" => hit(long(&["--hard", "--merge", "--keep"]), "it discards changes"),
        "clean" => hit(!long(&["--dry-run"]) && !short(&['n']), "it deletes files that git does not track"),
        "checkout" => hit(
            arguments.iter().any(|word| word.is("--"))
                || long(&["--force", "--ours", "--theirs", "--pathspec-from-file"])
                || short(&['f', 'B'])
                || operands().any(|word| word.is(".") || word.text.starts_with(':'))
                || operands().count() > 1 && !short(&['b']),
            "it discards changes of files",
        ),
        "switch" => {
            hit(long(&["--force", "--discard-changes", "--force-create"]) || short(&['f', 'C']), "it discards changes")
        }
        "restore" => {
            let staged = long(&["--staged"]) || short(&['S']);
            hit(!staged || long(&["--worktree"]) || short(&['W']), "it discards changes of files")
        }
        "branch" => hit(
            short(&['D', 'M', 'C', 'f']) || long(&["--force"]) || long(&["--delete"]) && short(&['f']),
            "it drops commits that no other branch has",
        ),
        "tag" => {
            hit(long(&["--delete", "--force"]) || short(&['d', 'f']), "it drops the commits that only the tag named")
        }
        "stash" => hit(first(&["drop", "clear"]), "it discards stashed changes"),
        "reflog" => hit(first(&["expire", "delete"]), "it drops what could still be recovered"),
        "gc" => hit(long(&["--prune", "--aggressive"]), "it drops what could still be recovered"),
        "prune" | "filter-branch" | "filter-repo" => Some("it rewrites or drops history"),
        "update-ref" => hit(long(&["--stdin"]) || short(&['d']), "it drops the commits that only the reference named"),
        "worktree" => {
            hit(first(&["remove"]) && (long(&["--force"]) || short(&['f'])), "it discards changes of a worktree")
        }
        "remote" => hit(first(&["remove", "rm", "prune"]), "it overwrites or drops commits of the remote"),
        "submodule" => hit(first(&["deinit"]), "it discards changes of a submodule"),
        "symbolic-ref" => {
            hit(long(&["--delete"]) || short(&['d']), "it drops the commits that only the reference named")
        }
        _ => None,
    }
}

/// Returns the words that make git run something else, write elsewhere, or obey its configuration.
fn hazards(words: &[Word]) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    let mut add = |at, why: &str| hazards.push(Hazard::new(at, why));
    let end = command(words).unwrap_or(words.len());
    let mut at = 1;
    while at < end {
        let text = words[at].text.as_str();
        let valued = usize::from(GLOBAL_VALUED.contains(&text));
        match text {
            "-P"
            | "--no-pager"
            | "--version"
            | "--help"
            | "-v"
            | "-h"
            | "--literal-pathspecs"
            | "--no-optional-locks"
            | "--no-replace-objects" => {}
            "-C" if words.get(at + 1).and_then(Word::literal).is_some_and(is_beneath) => {}
            _ => add(at + valued, "an option of git chooses what it runs, or where"),
        }
        at += 1 + valued;
    }
    if let Some(name) = words.get(end).and_then(Word::literal) {
        if !COMMANDS.split_whitespace().any(|known| known == name) {
            add(end, "it may be an alias");
        }
        let runs = [
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--ext-diff",
            "--textconv",
            "--open-files-in-pager",
            "--extcmd",
            "--tool",
            "--template",
            "--config",
            "--output",
            "--output-directory",
            "--remote",
            "--show-signature",
            "--gpg-sign",
            "--run",
            "--paginate",
            "--strategy",
            "--filters",
        ];
        for (at, word) in words.iter().enumerate().skip(end + 1) {
            let short = match name {
                "clone" => is_short(word, &['u', 'c']),
                "rebase" => is_short(word, &['x', 's']),
                "grep" => is_short(word, &['O']),
                "difftool" | "mergetool" => true,
                "archive" | "format-patch" => is_short(word, &['o']),
                _ => false,
            };
            if short || is_long(word, &runs) || word.text.contains("::") && word.text.contains("ext") {
                add(at, "an option of git chooses what it runs, or where it writes");
            }
        }
        let settles = |at: usize| {
            words.get(at).is_some_and(|word| ["run", "foreach", "add", "set-url"].contains(&word.text.as_str()))
        };
        match name {
            "config" => {
                let reads = ["get", "list", "--get", "--get-all", "--get-regexp", "--list", "-l"];
                if !words.get(end + 1).is_some_and(|word| reads.contains(&word.text.as_str())) {
                    add(words.len(), "it configures what git runs");
                }
            }
            "bisect" | "submodule" if settles(end + 1) => add(end + 1, "it runs what it is given"),
            "filter-branch" => add(words.len(), "it runs what it is given"),
            _ => {}
        }
    }
    hazards
}

/// Whether the folder is beneath this one, and so in the same repository or in one inside it.
fn is_beneath(folder: &str) -> bool {
    !folder.starts_with(['/', '-']) && !folder.split('/').any(|part| part == "..") && !folder.contains(".git")
}

/// Returns what git itself would run.
fn found(words: &[Word]) -> Option<Wrapped> {
    let at = command(words)?;
    let from = match (words[at].literal()?, words.get(at + 1)?.literal()?) {
        ("bisect", "run") => at + 2,
        ("submodule", "foreach") => {
            at + 2 + words[at + 2..].iter().take_while(|word| word.text.starts_with("--")).count()
        }
        ("rebase" | "filter-branch" | "difftool" | "grep", _) => {
            let lines = words[at + 1..].iter().filter_map(Word::literal);
            let lines = lines
                .filter(|text| text.contains(' '))
                .map(|text| text.split_once('=').map_or(text, |(_, value)| value));
            let inner: Vec<_> = match words[at].text.as_str() {
                "grep" => return None,
                _ => lines.map(|text| Inner::Line { at, text: text.to_owned() }).collect(),
            };
            return (!inner.is_empty()).then(|| Wrapped { inner, ..Wrapped::default() });
        }
        _ => return None,
    };
    match words.get(from..)? {
        [] => None,
        rest if words[at].is("bisect") => {
            Some(Wrapped { inner: vec![Inner::Command { at: from, words: rest.to_vec() }], ..Wrapped::default() })
        }
        rest => Some(as_line(rest).map_or_else(
            || Wrapped::candidates(words, from).with_unclear("what it runs is not literal"),
            |line| Wrapped::line(from, line),
        )),
    }
}
