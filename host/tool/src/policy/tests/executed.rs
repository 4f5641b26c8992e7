//! Lines that run unasked are executed, without walls and with the shell and the variables that the host would use:
//! none may read a canary, run a program of the workspace, or change a file.
//!
//! Deciding about text is never complete, and so what runs unasked also runs behind walls. This test has none, so that
//! it shows what a decision lets through by itself. `tests/lines.sh` runs many more lines than usual.

mod generated;
mod scratch;

use std::path::PathBuf;

use self::generated::Numbers;
use self::scratch::{Scratch, Variables};
use super::*;

/// How many lines are generated, if `HOST_LINES` does not say.
const LINES: usize = 400;

/// The modes in which a question is asked.
const MODES: [ApprovalMode; 3] = [ApprovalMode::Plan, ApprovalMode::Default, ApprovalMode::AutoEdit];

/// Lines that did what their words do not say: where each runs, and with which variables. `@` is the folder with the
/// home and the workspace in it.
const ATTACKS: &[(&str, Variables, &str)] = &[
    // The folder is a part of the call.
    ("sub", Variables::Usual, "cargo --version"),
    ("nested", Variables::Usual, "git diff"),
    ("leaks", Variables::Usual, "cat out"),
    ("src", Variables::Usual, "cat ../../home/secret"),
    // A link leads elsewhere than its name.
    (".", Variables::Usual, "cd l && cargo --version"),
    ("l", Variables::Usual, "cargo -V"),
    (".", Variables::Usual, "cd n && git diff"),
    ("n", Variables::Usual, "git diff"),
    // Variables that keep git from running what a repository names.
    (".", Variables::Usual, "cd sub && env -i git status"),
    (".", Variables::Usual, "cd sub && env - git status"),
    (".", Variables::Usual, "cd sub && env --ignore-environment git status"),
    (".", Variables::Usual, "cd sub && env -u GIT_CONFIG_COUNT git status"),
    (".", Variables::Usual, "cd sub && env -uGIT_CONFIG_COUNT git status"),
    (".", Variables::Usual, "cd sub && unset GIT_CONFIG_COUNT; git status"),
    (".", Variables::Usual, "cd sub && sh -c 'exec env -i git status'"),
    ("sub", Variables::Usual, "env -S 'git -c core.fsmonitor=./x --version' ; env -i git status"),
    // Files that wrappers and redirections read for others.
    (".", Variables::Usual, "xargs -a ../home/secret echo"),
    (".", Variables::Usual, "xargs -ra ../home/secret echo"),
    (".", Variables::Usual, "xargs --arg-file=../home/secret echo"),
    (".", Variables::Usual, "env cat < ../home/secret"),
    (".", Variables::Usual, "timeout 5 cat < out"),
    (".", Variables::Usual, "sh -c cat < ../home/secret"),
    (".", Variables::Usual, "nice sh -c 'head -1 && true' < ../home/secret"),
    // The program behind a name.
    (".", Variables::PathInside, "git status"),
    (".", Variables::PathRelative, "git status"),
    ("src", Variables::PathRelative, "ls"),
    (".", Variables::PathLinked, "git status"),
    (".", Variables::PathInside, "timeout 5 cat README.md"),
    (".", Variables::PathInside, "sh -c 'cat README.md'"),
    (".", Variables::Cdpath, "cd src; cat main.rs"),
    (".", Variables::GitDir, "git diff"),
    // What a shell shows of files itself.
    (".", Variables::Usual, "echo ~/.ssh/*"),
    (".", Variables::Usual, "echo @/home/.ssh/*"),
    (".", Variables::Usual, "printf '%s\\n' up/home/.ssh/*"),
    (".", Variables::Usual, "for f in ~/.ssh/*; do echo \"$f\"; done"),
    (".", Variables::Usual, "echo $(cat globs)"),
    (".", Variables::Usual, "x='../home/.ssh/*'; echo $x"),
    (".", Variables::Usual, "export -p"),
    (".", Variables::Usual, "readonly x; export"),
];

fn policy(scratch: &Scratch, variables: Variables) -> Policy {
    Policy::new([]).letting_read(true).in_environment(scratch.environment(variables))
}

/// Whether the line would run unasked in one of the modes; the gate asks itself about folders outside of the workspace.
fn runs_unasked(policy: &Policy, scratch: &Scratch, directory: &str, line: &str) -> Option<PathBuf> {
    let workspace = scratch.workspace();
    let real = workspace.join(directory).canonicalize().ok()?;
    let case = |mode| Case { workspace: &workspace, directory: Some(&real), mode, ..Case::line(policy, line) };
    let allowed = MODES.iter().any(|mode| case(*mode).decision() == Decision::Allow);
    (allowed && real.starts_with(&workspace)).then_some(real)
}

// promise policy.as-it-runs: A call that runs unasked is decided from its real folder, by the program and the
//   repository that it will find there.
#[test]
fn policy_attack_that_works_without_walls_is_asked_about() {
    let scratch = Scratch::new();
    let root = scratch.root().display().to_string();
    let mut harmless = Vec::new();
    let mut passed = Vec::new();
    for (directory, variables, line) in ATTACKS {
        let line = line.replace("@/", &format!("{root}/"));
        if runs_unasked(&policy(&scratch, *variables), &scratch, directory, &line).is_some() {
            passed.push(line.clone());
        }
        // The control: what it would have done.
        let real = scratch.workspace().join(directory).canonicalize().expect("it is there");
        let touched = scratch.shells.iter().flat_map(|shell| scratch.touched(shell, &real, *variables, &line)).count();
        if touched == 0 {
            harmless.push(line);
        }
    }
    assert!(passed.is_empty(), "run unasked: {passed:#?}");
    assert!(harmless.is_empty(), "touch nothing, and so show nothing: {harmless:#?}");
}

// promise policy.as-it-runs
#[test]
fn policy_generated_lines_that_run_unasked_touch_nothing() {
    let lines = std::env::var("HOST_LINES").ok().and_then(|lines| lines.parse().ok()).unwrap_or(LINES);
    let scratch = Scratch::new();
    let root = scratch.root().display().to_string();
    let policies = scratch::VARIABLES.map(|variables| (variables, policy(&scratch, variables)));
    let mut numbers = Numbers(20_261_126);
    let (mut ran, mut failed) = (0, Vec::new());
    for _ in 0..lines {
        let made = numbers.generate(&root);
        let found = policies.iter().find(|(variables, _)| *variables == made.variables);
        let (_, policy) = found.expect("there is one for each");
        let Some(directory) = runs_unasked(policy, &scratch, made.directory, &made.line) else { continue };
        ran += 1;
        for shell in &scratch.shells {
            let touched = scratch.touched(shell, &directory, made.variables, &made.line);
            if !touched.is_empty() {
                failed.push(format!("{} in {} with {made:?}: {touched:?}", shell.display(), directory.display()));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {ran} lines that ran unasked, of {lines}:\n{}", failed.len(), failed.join("\n"));
    assert!(ran * 8 > lines, "{ran} of {lines} lines ran unasked: too few to show anything");
}

/// The other test can fail: lines that would be asked about, run as if they were allowed, touch something.
#[test]
fn policy_generated_lines_touch_something_if_all_are_allowed() {
    let mut numbers = Numbers(20_261_126);
    let (mut touching, mut all) = (0, 0);
    while touching < 5 && all < 200 {
        // Some of them change the files that the next ones need.
        let scratch = Scratch::new();
        let made = numbers.generate(&scratch.root().display().to_string());
        let Ok(directory) = scratch.workspace().join(made.directory).canonicalize() else { continue };
        let Some(shell) = scratch.shells.first() else { return };
        let is_allowed =
            runs_unasked(&policy(&scratch, made.variables), &scratch, made.directory, &made.line).is_some();
        all += 1;
        touching +=
            usize::from(!is_allowed && !scratch.touched(shell, &directory, made.variables, &made.line).is_empty());
    }
    assert!(touching == 5, "{touching} of {all} lines touched something");
}
