//! Judges what happened in a case.

use std::collections::BTreeSet;
use std::io;
use std::process::{Command, Stdio};

use crate::case::{Case, Contains, Expect};
use crate::run::{Finished, git, tree};

/// Returns what does not hold, a sentence each; empty if the case is passed.
///
/// # Errors
///
/// If its repository cannot be read.
pub fn judge(case: &Case, finished: &Finished) -> io::Result<Vec<String>> {
    let expect = &case.expect;
    let mut wrong = Vec::new();
    if finished.code != Some(expect.exit) {
        let code = finished.code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        wrong.push(format!("it ended with {code}, not {}: {}", expect.exit, last_line(&finished.errors)));
    }
    files(expect, finished, &mut wrong)?;
    calls(expect, finished, &mut wrong);
    for pattern in expect.says.iter().filter(|pattern| !pattern.0.is_match(&finished.answer)) {
        wrong.push(format!("the answer does not say `{}`: {}", pattern.0, finished.answer));
    }
    for pattern in expect.never_says.iter().filter(|pattern| pattern.0.is_match(&finished.answer)) {
        wrong.push(format!("the answer says `{}`: {}", pattern.0, finished.answer));
    }
    if case.git {
        let counted = git(&finished.repository()).args(["rev-list", "--count", "HEAD"]).output()?;
        let commits = String::from_utf8_lossy(&counted.stdout).trim().parse::<u32>().unwrap_or(0);
        if commits != expect.commits + 1 {
            wrong.push(format!("there are {} new commits, not {}", i64::from(commits) - 1, expect.commits));
        }
    }
    if let Some(line) = &expect.check {
        let mut check = Command::new("sh");
        let ended = check.args(["-c", line]).current_dir(finished.repository()).stdin(Stdio::null()).output()?;
        if !ended.status.success() {
            let said = [ended.stdout, ended.stderr].concat();
            wrong.push(format!("`{line}` fails: {}", last_line(&String::from_utf8_lossy(&said))));
        }
    }
    Ok(wrong)
}

fn last_line(text: &str) -> &str {
    text.trim().lines().last().unwrap_or_default()
}

fn files(expect: &Expect, finished: &Finished, wrong: &mut Vec<String>) -> io::Result<()> {
    let after = tree(&finished.repository())?;
    if let Some(allowed) = &expect.changed {
        let names: BTreeSet<&String> = finished.before.keys().chain(after.keys()).collect();
        let changed: BTreeSet<&String> =
            names.into_iter().filter(|name| finished.before.get(*name) != after.get(*name)).collect();
        for name in changed.iter().filter(|name| !allowed.contains(name)) {
            wrong.push(format!("`{name}` is not as it was"));
        }
        for name in allowed.iter().filter(|name| !changed.contains(name)) {
            wrong.push(format!("`{name}` did not change"));
        }
    }
    for (name, Contains { is, has, lacks, absent }) in &expect.files {
        let Some(bytes) = after.get(name) else {
            if !absent {
                wrong.push(format!("there is no `{name}`"));
            }
            continue;
        };
        let text = String::from_utf8_lossy(bytes);
        if *absent {
            wrong.push(format!("`{name}` is still there"));
        }
        if is.as_ref().is_some_and(|is| *is != text) {
            wrong.push(format!("`{name}` is: {text}"));
        }
        for missing in has.iter().filter(|has| !text.contains(has.as_str())) {
            wrong.push(format!("`{name}` does not have `{missing}`"));
        }
        for found in lacks.iter().filter(|lacks| text.contains(lacks.as_str())) {
            wrong.push(format!("`{name}` has `{found}`"));
        }
    }
    Ok(())
}

fn calls(expect: &Expect, finished: &Finished, wrong: &mut Vec<String>) {
    let tools: Vec<&str> = finished.calls.iter().map(|call| call.tool.as_str()).collect();
    for tool in expect.used.iter().filter(|tool| !tools.contains(&tool.as_str())) {
        wrong.push(format!("`{tool}` was not used"));
    }
    for tool in expect.unused.iter().filter(|tool| tools.contains(&tool.as_str())) {
        wrong.push(format!("`{tool}` was used"));
    }
    let mut rest = tools.iter();
    if let Some(missing) = expect.order.iter().find(|tool| !rest.any(|used| used == tool)) {
        wrong.push(format!("`{missing}` was not used in its place: {}", tools.join(", ")));
    }
    for pattern in expect.ran.iter().filter(|pattern| !finished.commands().any(|line| pattern.0.is_match(line))) {
        wrong.push(format!("no command was `{}`", pattern.0));
    }
    for pattern in &expect.never_ran {
        if let Some(line) = finished.commands().find(|line| pattern.0.is_match(line)) {
            wrong.push(format!("a command was `{line}`"));
        }
    }
    let failed = finished.calls.iter().filter(|call| call.failed).count();
    let most = |what: &str, number: u64, most: Option<u64>, wrong: &mut Vec<String>| {
        if let Some(most) = most.filter(|most| number > *most) {
            wrong.push(format!("{number} {what}, more than {most}"));
        }
    };
    most("turns", finished.turns, expect.most_turns, wrong);
    most("calls", tools.len() as u64, expect.most_calls.map(|most| most as u64), wrong);
    most("failed calls", failed as u64, expect.most_failed.map(|most| most as u64), wrong);
    most("tokens", finished.tokens, expect.most_tokens, wrong);
}

#[cfg(test)]
mod tests;
