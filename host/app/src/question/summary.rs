//! What a command does, in one line below it: the most dangerous part first, whatever stands first in the command.
//!
//! Promises: a name from the command cannot look like a word of the host's: one that has more than the characters of
//! plain paths is in quotes; what is left out is counted. Deliberately not here: what a command does (`host-tool`), and
//! colours.

use host_text::exact;
use host_tool::{Danger, Effect, Question};

/// The most names of one kind that are listed.
const NAMES: usize = 4;

/// The longest name, in characters; the command above has all of it.
const NAME_CHARACTERS: usize = 60;

/// What stands between two parts.
const BETWEEN: &str = " · ";

/// What a command does. Its texts are safe to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary(Vec<Part>);

/// One kind of thing that a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How much it matters.
    pub weight: Weight,
    /// `deletes: target, out`.
    pub words: String,
}

/// How much a part matters, from the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Something is gone for good.
    Destroys,
    /// Something outside of the workspace changes, or is reached.
    Leaves,
    /// Something in the workspace changes, or a program runs.
    Changes,
}

impl Summary {
    /// Returns what the command of a question does; empty for any other call.
    pub fn new(question: &Question) -> Self {
        let mut kinds: Vec<(Kind, Vec<String>)> = Vec::new();
        for effect in &question.effects {
            let (kind, name) = named(effect);
            match kinds.last_mut() {
                Some((last, names)) if *last == kind => names.push(name),
                Some(_) | None => kinds.push((kind, vec![name])),
            }
        }
        Self(kinds.into_iter().map(|((weight, label), names)| part(weight, label, &names)).collect())
    }

    /// Its parts, the most dangerous first.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Returns all of it on one line; `None` if it says nothing.
    pub fn line(&self) -> Option<String> {
        self.painted(|part| part.words.clone())
    }

    /// The same with each part as this function draws it.
    pub fn painted(&self, paint: impl FnMut(&Part) -> String) -> Option<String> {
        let parts: Vec<String> = self.0.iter().map(paint).collect();
        (!parts.is_empty()).then(|| parts.join(BETWEEN))
    }
}

/// Its weight and its label: effects with the same one are one part.
type Kind = (Weight, &'static str);

fn named(effect: &Effect) -> (Kind, String) {
    match effect {
        Effect::Machine(danger, program) => {
            let label = match danger {
                Danger::OtherUser => "acts as another user",
                Danger::PowerOff => "switches the machine off",
                Danger::Disks => "overwrites disks",
            };
            ((Weight::Destroys, label), name(program))
        }
        Effect::Destroys { command, why } => {
            let does = why.strip_prefix("it ").unwrap_or(why);
            ((Weight::Destroys, "cannot be undone"), format!("{} {does}", quoted(command)))
        }
        Effect::Deletes(path) => ((Weight::Destroys, "deletes"), name(path)),
        Effect::Leaves(folder) => ((Weight::Leaves, "leaves the workspace"), name(folder)),
        Effect::WritesOutside(path) => ((Weight::Leaves, "writes outside of it"), name(path)),
        Effect::Writes(path) => ((Weight::Changes, "writes"), name(path)),
        Effect::Reaches(server) => ((Weight::Leaves, "network"), name(server)),
        Effect::ReachesNothing => ((Weight::Changes, "network"), "none".to_owned()),
        Effect::Changes(path) => ((Weight::Leaves, "may change"), name(path)),
        Effect::Reads(path) => ((Weight::Leaves, "may read"), name(path)),
        Effect::Runs(program) => ((Weight::Changes, "runs"), name(program)),
    }
}

fn part(weight: Weight, label: &str, names: &[String]) -> Part {
    let mut words = format!("{label}: {}", names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", "));
    if names.len() > NAMES {
        words.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    Part { weight, words }
}

/// A name from the command, in quotes unless it can only be a path. What is known at run time is `…`.
fn name(text: &str) -> String {
    let text = text.replace('\0', "…");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+-~*?=…".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => clipped(&text),
        false => quoted(&text),
    }
}

/// A text from the command in quotes that it cannot end.
fn quoted(text: &str) -> String {
    let text = clipped(&exact(&text.replace('\n', "\\n"))).replace('`', "\\u{60}");
    format!("`{text}`")
}

/// The beginning and the end of a name that is too long: both say what it is.
fn clipped(text: &str) -> String {
    let count = text.chars().count();
    if count <= NAME_CHARACTERS {
        return text.to_owned();
    }
    let half = NAME_CHARACTERS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{exec, question};
    use super::*;

    fn line(effects: Vec<Effect>) -> String {
        Summary::new(&Question { effects, ..question(exec("make")) }).line().unwrap_or_default()
    }

    // promise approval.danger: Below a command is what it does, the most dangerous part first, in words that nothing in
    //   the command can imitate.
    #[test]
    fn question_summary_says_what_a_command_does() {
        let text = str::to_owned;
        let effects = vec![
            Effect::Destroys { command: text("git reset --hard"), why: "it discards changes" },
            Effect::Deletes(text("target")),
            Effect::Deletes(text("a b")),
            Effect::WritesOutside(text("/etc/motd")),
            Effect::Writes(text("out.txt")),
            Effect::ReachesNothing,
            Effect::Runs(text("./target/release/fuel")),
        ];
        let expected = "cannot be undone: `git reset --hard` discards changes · deletes: target, `a b` · \
            writes outside of it: /etc/motd · writes: out.txt · network: none · runs: ./target/release/fuel";
        assert_eq!(line(effects), expected);
        assert_eq!(line(Vec::new()), "");
        let many = (0..6).map(|n| Effect::Deletes(format!("f{n}"))).collect();
        assert_eq!(line(many), "deletes: f0, f1, f2, f3 and 2 more");
    }

    // promise approval.danger
    #[test]
    fn question_summary_cannot_be_imitated_by_a_name() {
        for (path, shown) in [
            ("x · network: none", "writes: `x · network: none`"),
            ("x, y", "writes: `x, y`"),
            ("` · deletes: `", "writes: `\\u{60} · deletes: \\u{60}`"),
            ("a\nnetwork: none\u{202e}\u{1b}[2J", "writes: `a\\nnetwork: none\\u{202e}\\u{1b}[2J`"),
            ("", "writes: ``"),
            ("\0/b", "writes: …/b"),
        ] {
            assert_eq!(line(vec![Effect::Writes(path.to_owned())]), shown);
        }
        let long = line(vec![Effect::Writes(format!("{}/end", "d".repeat(900)))]);
        assert!(long.chars().count() < 80 && long.ends_with("/end"), "{long}");
    }
}
