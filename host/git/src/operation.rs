//! What git keeps of something that goes on over several commands: a rebase, an `am`, a cherry-pick, a bisection.
//!
//! Git takes up what it finds there: `exec` in the list of a rebase runs a shell, a strategy that git does not have
//! runs `git-merge-NAME` of the path, and older versions evaluate some files as shell. So every line is one that git
//! writes and that runs nothing.

use crate::config;
use crate::content::{
    Checked, OrWrong as _, anything, branch_or_detached, flag, lines, number, object_id_or_nothing, refs_and_ids,
    rewritten, without_end,
};
use crate::names::is_hex;

/// Commands in the list of a rebase or of a cherry-pick that run nothing but git. Not `exec`.
const COMMANDS: &[&str] = &[
    "pick",
    "p",
    "revert",
    "reword",
    "r",
    "edit",
    "e",
    "squash",
    "s",
    "fixup",
    "f",
    "drop",
    "d",
    "label",
    "l",
    "reset",
    "t",
    "merge",
    "m",
    "update-ref",
    "u",
    "noop",
    "break",
    "b",
];

/// The ways to merge that git has.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// What can be said to them, without what follows `=`.
const STRATEGY_OPTIONS: &[&str] = &[
    "ours",
    "theirs",
    "patience",
    "histogram",
    "minimal",
    "diff-algorithm",
    "ignore-space-change",
    "ignore-all-space",
    "ignore-space-at-eol",
    "ignore-cr-at-eol",
    "renormalize",
    "no-renormalize",
    "no-renames",
    "find-renames",
    "rename-threshold",
    "subtree",
];

/// What `git am` says to `git apply`. Not where: neither a folder nor `--unsafe-paths`.
const APPLY_OPTIONS: &[&str] = &["--ignore-whitespace", "--ignore-space-change", "--reject", "--whitespace"];

/// The settings in `sequencer/opts` that are true or false.
const SEQUENCER_FLAGS: &[&str] = &[
    "no-commit",
    "edit",
    "allow-empty",
    "allow-empty-message",
    "drop-redundant-commits",
    "keep-redundant-commits",
    "signoff",
    "record-origin",
    "allow-ff",
    "allow-rerere-auto",
    "commit-use-reference",
];

/// The files of a rebase, of which each has one check.
pub(crate) fn rebase_merge(name: &str) -> Option<fn(&[u8]) -> Checked> {
    Some(match name {
        "git-rebase-todo" | "git-rebase-todo.backup" | "done" => commands,
        "head-name" => branch_or_detached,
        "orig-head" | "onto" | "squash-onto" | "amend" | "stopped-sha" | "autostash" => object_id_or_nothing,
        "msgnum" | "end" => number,
        // Older versions of git evaluate this file as shell.
        "author-script" => author,
        "message" | "message-squash" | "message-fixup" | "patch" => anything,
        "current-fixups" => commands,
        "rewritten-list" | "rewritten-pending" => rewritten,
        "refs-to-delete" | "update-refs" => refs_and_ids,
        "interactive"
        | "quiet"
        | "verbose"
        | "signoff"
        | "drop_redundant_commits"
        | "keep_redundant_commits"
        | "allow_rerere_autoupdate"
        | "reschedule-failed-exec"
        | "no-reschedule-failed-exec"
        | "ignore_date"
        | "cdate_is_adate"
        | "dropped" => flag,
        // Git runs `git-merge-NAME` of the `PATH` for a strategy that it does not have.
        "strategy" => strategy,
        "strategy_opts" => strategy_options,
        // A key and no option: `gpg` gets it as an argument.
        "gpg_sign_opt" => signing,
        _ => return None,
    })
}

/// The files of `git am`, and of a rebase that uses it.
pub(crate) fn rebase_apply(name: &str) -> Option<fn(&[u8]) -> Checked> {
    Some(match name {
        "applying"
        | "rebasing"
        | "dirtyindex"
        | "quiet"
        | "sign"
        | "threeway"
        | "utf8"
        | "keep"
        | "scissors"
        | "messageid"
        | "no-inbody-headers"
        | "quoted-cr"
        | "allow_rerere_autoupdate" => flag,
        "next" | "last" => number,
        "author-script" => author,
        "final-commit" | "msg" | "msg-clean" | "info" | "patch" => anything,
        "head-name" => branch_or_detached,
        "orig-head" | "onto" | "original-commit" | "abort-safety" | "autostash" => object_id_or_nothing,
        "rewritten" => rewritten,
        "apply-opt" => apply_options,
        "strategy" => strategy,
        "strategy_opts" => strategy_options,
        "gpg_sign_opt" => signing,
        // The patches, counted.
        _ if name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_digit()) => anything,
        _ => return None,
    })
}

/// The files of several cherry-picks or reverts.
pub(crate) fn sequencer(name: &str) -> Option<fn(&[u8]) -> Checked> {
    Some(match name {
        "todo" => commands,
        "head" | "abort-safety" => object_id_or_nothing,
        "opts" => sequencer_options,
        _ => return None,
    })
}

/// A list of what to do, a command a line.
pub(crate) fn commands(bytes: &[u8]) -> Checked {
    let known = |line: &[u8]| {
        let line = line.trim_ascii();
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        line.is_empty() || line.starts_with(b"#") || COMMANDS.iter().any(|command| command.as_bytes() == word)
    };
    lines(bytes).all(known).or_wrong("it has a command that runs a program, or that is not known")
}

/// Who made a commit, as three assignments of a shell and nothing else.
pub(crate) fn author(bytes: &[u8]) -> Checked {
    let mut lines = lines(bytes);
    let valid = ["GIT_AUTHOR_NAME=", "GIT_AUTHOR_EMAIL=", "GIT_AUTHOR_DATE="].iter().all(|name| {
        let value = lines.next().and_then(|line| line.strip_prefix(name.as_bytes()));
        value.and_then(quoted_words).is_some_and(|words| words.len() == 1)
    });
    (valid && lines.next().is_none()).or_wrong("it has something else than a name, an address and a date in quotes")
}

fn strategy(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    STRATEGIES.iter().any(|known| known.as_bytes() == line).or_wrong("it names a strategy that git does not have")
}

fn strategy_options(bytes: &[u8]) -> Checked {
    let valid = words(without_end(bytes)).is_some_and(|words| words.iter().all(|word| is_strategy_option(word)));
    valid.or_wrong("it has an option of a strategy that is not known")
}

fn is_strategy_option(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"--").unwrap_or(word);
    let name = word.split(|byte| *byte == b'=').next().unwrap_or(word);
    STRATEGY_OPTIONS.iter().any(|known| known.as_bytes() == name)
}

fn apply_options(bytes: &[u8]) -> Checked {
    let known = |word: &Vec<u8>| {
        let name = word.split(|byte| *byte == b'=').next().unwrap_or(word);
        let counted = name.strip_prefix(b"-C").or(name.strip_prefix(b"-p"));
        counted.is_some_and(|count| !count.is_empty() && count.iter().all(u8::is_ascii_digit))
            || APPLY_OPTIONS.iter().any(|known| known.as_bytes() == name)
    };
    let valid = words(without_end(bytes)).is_some_and(|words| words.iter().all(known));
    valid.or_wrong("it has an option of `git apply` that is not known")
}

/// Whether and with which key to sign.
fn signing(bytes: &[u8]) -> Checked {
    let line = without_end(bytes);
    let key = |byte: &u8| byte.is_ascii_alphanumeric() || b"@._+-".contains(byte);
    let valid =
        line.is_empty() || line.strip_prefix(b"-S").is_some_and(|name| !name.starts_with(b"-") && name.iter().all(key));
    valid.or_wrong("it is not an option for a key")
}

fn sequencer_options(bytes: &[u8]) -> Checked {
    let settings = str::from_utf8(bytes).ok().and_then(config::parse).ok_or("it is not a file of settings")?;
    let valid = settings.iter().all(|setting| {
        let value = setting.value.as_deref().unwrap_or_default().as_bytes();
        let known = match &*setting.name {
            "strategy" => strategy(value).is_ok(),
            "strategy-option" => is_strategy_option(value),
            "gpg-sign" => signing(&[b"-S", value].concat()).is_ok(),
            "mainline" => number(value).is_ok(),
            "default-msg-cleanup" => flag(value).is_ok(),
            // Only flags that git writes itself; another key may mean something to a later version.
            name => SEQUENCER_FLAGS.contains(&name) && setting.truth().is_some(),
        };
        // Git reads `[options]` alone, and so must this.
        setting.section == "options" && setting.part.is_none() && known
    });
    valid.or_wrong("it has an option that is not known")
}

/// Words in quotes of a shell, as git writes them: the paths of a bisection.
pub(crate) fn quoted(bytes: &[u8]) -> Checked {
    quoted_words(without_end(bytes)).is_some().or_wrong("it is not a list of words in quotes")
}

/// What a bisection did, which can be done again.
pub(crate) fn bisect_log(bytes: &[u8]) -> Checked {
    let known = |line: &[u8]| match line.strip_prefix(b"git bisect ") {
        Some(rest) => rest.split(|byte| *byte == b' ').next().is_some_and(is_plain) && words(rest).is_some(),
        None => line.is_empty() || line.starts_with(b"#"),
    };
    lines(bytes).all(known).or_wrong("a line is not a command of a bisection")
}

/// Whether a word stands for itself in every shell.
fn is_plain(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_=./,+@%:".contains(byte))
}

/// Returns the words of a line, each plain or in quotes.
fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        let end = match rest.first() {
            Some(b'\'') => {
                let (word, end) = quoted_word(rest)?;
                found.push(word);
                end
            }
            _ => {
                let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
                let word = rest.get(..end).filter(|word| is_plain(word))?;
                found.push(word.to_vec());
                end
            }
        };
        rest = rest.get(end..)?;
        // `'a'b` is one word to a shell and two here, so it is rejected.
        if !rest.is_empty() && !rest.starts_with(b" ") {
            return None;
        }
        rest = rest.trim_ascii_start();
    }
    Some(found)
}

fn quoted_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let begins_with_quotes = line.trim_ascii_start().is_empty() || line.trim_ascii_start().starts_with(b"'");
    let all = words(line)?;
    // A plain word has no quote before it. There is none if each space outside of quotes is followed by one.
    (begins_with_quotes && count_quoted(line) == all.len()).then_some(all)
}

/// Counts the words in quotes of a line that [`words`] could read.
fn count_quoted(line: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = line.trim_ascii_start();
    while let Some((_, end)) = quoted_word(rest) {
        count += 1;
        rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
    }
    count
}

/// Reads a word in quotes: `'a b'`, with `'\''` and `'\!'` for what cannot stand in them. Returns it and its end.
fn quoted_word(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut word = Vec::new();
    let mut at = 0;
    loop {
        if *text.get(at)? != b'\'' {
            return None;
        }
        let from = at + 1;
        let length = text.get(from..)?.iter().position(|byte| *byte == b'\'')?;
        word.extend_from_slice(text.get(from..from + length)?);
        at = from + length + 1;
        match text.get(at..at + 2) {
            // Behind an escape the quotes begin again: git writes it so, and nothing else is read.
            Some([b'\\', escaped @ (b'\'' | b'!')]) if text.get(at + 2) == Some(&b'\'') => {
                word.push(*escaped);
                at += 2;
            }
            _ => return Some((word, at)),
        }
    }
}

/// Returns whether it is the name of a folder of resolutions, or of a file in it.
pub(crate) fn is_resolution(folder: &str, file: &str) -> bool {
    let (kind, number) = file.split_once('.').unwrap_or((file, "1"));
    is_hex(folder.as_bytes())
        && ["preimage", "postimage", "thisimage"].contains(&kind)
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
