//! Attacks by calls of a model that used to need no answer, in each mode: with a client that rejects every question,
//! and where the user cannot be asked.
//!
//! The workspace is a clone from somebody who is hostile, as it comes from them, and nobody trusts it. A row touches
//! something that lies outside of it: a mark that only a program without walls can make, or a secret. Its control is
//! the same call where nothing is asked and nothing is confined, or the line in a shell, and has to touch it. Each mode
//! runs all rows of a table in one process.

mod tables;
mod world;

use std::collections::BTreeSet;
use std::io::Write as _;

use self::world::{Cache, World};
use super::Failures;
use super::users::As;

/// A table of attacks, with what the user has for it.
#[derive(Debug)]
struct Table {
    rows: &'static [Row],
    user: User,
    /// Where in the clone the session is.
    folder: &'static str,
    /// What the host is started with besides.
    arguments: &'static [&'static str],
    /// The modes that have to hold.
    modes: &'static [&'static str],
}

/// What a user has besides a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// Nothing.
    Usual,
    /// A search path with folders of the workspace, `CDPATH`, the `sed` of BusyBox, and rules that allow commands.
    Habits,
}

/// A call of `shell`.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// Where it runs, relative to the folder of the session.
    folder: &'static str,
    line: &'static str,
    wants: Wanted,
    /// A line of the shell that succeeds where the attack can work: not every machine has its program.
    needs: Option<&'static str>,
    /// The modes that let it, because walls are not to stop it.
    may: &'static [&'static str],
    control: Control,
}

/// What an attack wants to touch.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// Its code makes a file with this name outside of the workspace.
    Mark(&'static str),
    /// The call prints a secret of the user.
    Secret,
    /// What git obeys in the workspace changes.
    Obeyed,
}

/// What shows that an attack works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    /// The same call, with `yolo` and without walls.
    Call,
    /// The line in a shell with the user's variables: even without walls the host does not let the call do it.
    Line,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A client that says no.
    Rejected,
    /// Nobody.
    Headless,
}

pub(super) const MODES: &[&str] = &["plan", "default", "auto-edit", "auto"];

/// Tries a table as each user, in each mode, and reports each row that touched something, or whose control did not.
fn check(table: &Table) {
    let mut failures = Failures::default();
    let mut unshown = BTreeSet::new();
    for by in As::all() {
        let cache = Cache::new(*by);
        let world = World::new(table.user, *by, &cache);
        let before = world.obeyed();
        let rows: Vec<&Row> = table.rows.iter().collect();
        for mode in table.modes {
            for way in [Way::Rejected, Way::Headless] {
                let tried = format!("{by:?}, {mode}, {way:?}");
                let answers = world.run(table, &rows, mode, way);
                failures.check(&tried, answers.len() == rows.len() + 1, &format!("{} answers", answers.len()));
                // The session works: its first call reads.
                failures.check(&tried, answers[0].contains(world::PLAIN), &answers[0]);
                let marks = world.marks();
                failures.check(&tried, world.obeyed() == before, "what others obey is changed");
                for (row, answer) in rows.iter().zip(&answers[1..]).filter(|(row, _)| !row.may.contains(mode)) {
                    let is_touched = match row.wants {
                        Wanted::Mark(mark) => marks.contains(mark),
                        Wanted::Secret => answer.contains(world::SECRET),
                        // For all rows at once, above.
                        Wanted::Obeyed => false,
                    };
                    failures.check(&format!("{tried}: {}", row.name), !is_touched, &format!("it did: {answer}"));
                }
            }
        }
        let (possible, missing): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| world.has(row.needs));
        unshown.extend(missing.iter().map(|row| format!("{} (`{}` fails)", row.name, row.needs.unwrap_or(""))));
        for (row, is_touched, answer) in World::new(table.user, *by, &cache).controls(table, &possible) {
            let name = format!("{by:?}: the control of {}", row.name);
            failures.check(&name, is_touched, &format!("it does not work without the walls either: {answer}"));
        }
    }
    if !unshown.is_empty() {
        // Not by a macro, whose output a test that passes keeps to itself.
        let rows: Vec<String> = unshown.into_iter().collect();
        let words = format!("\nNOT SHOWN to work, {} of {}: {}\n", rows.len(), table.rows.len(), rows.join(", "));
        std::io::stderr().write_all(words.as_bytes()).expect("written");
    }
    failures.report(table.rows.len());
}

// promise policy.as-it-runs
// promise confine.reading
#[test]
fn escape_no_mode_lets_a_clone_run_its_code_or_show_a_secret() {
    check(&tables::CLONE);
}

// promise process.path
// promise policy.reach
#[test]
fn escape_no_mode_lets_a_clone_use_the_habits_and_rules_of_its_user() {
    check(&tables::HABITS);
}

// promise policy.reading-repository
#[test]
fn escape_no_mode_takes_an_empty_folder_for_the_repository() {
    check(&tables::DECOY);
}

// promise files.deny
#[test]
fn escape_no_mode_shows_a_file_that_the_user_denies() {
    check(&tables::DENIED);
}

// promise policy.protected
#[test]
fn escape_no_mode_lets_a_command_write_what_git_obeys_under_another_name() {
    check(&tables::PROTECTED);
}
