//! `/rewind`: which prompt to go back to, and what goes back.
//!
//! Deliberately not here: going back, which the session does.

use host_app::session::rewind::{RewindPoint, RewindScope};
use host_settings::error::Failure;
use host_terminal::{Chosen, Pick, PickEntry, Question};

use super::Repl;
use crate::ask::choice;
use crate::command::undo;
use crate::printer::Style;

/// The most files of a prompt that a list names.
const NAMED: usize = 8;

impl Repl {
    /// Goes back to before a prompt. What is not written is asked.
    pub(super) async fn rewind(&mut self, to: Option<&str>) -> Result<(), Failure> {
        let written = to.map(parse).transpose()?;
        let points = self.session.rewind_points()?;
        if points.is_empty() {
            return Err(Failure::input("there is no prompt to go back to"));
        }
        let (number, scope) = match written {
            Some((number, scope)) => (number, scope),
            None => match self.terminal.pick(choices(&points, self.style)).await {
                Chosen::Choice(at) => (points.len().saturating_sub(at), None),
                Chosen::Dismissed => return Ok(()),
                // Without a list to pick from it is read.
                Chosen::Nobody => {
                    self.terminal.lines(&list(&points, self.style));
                    self.note("/rewind NUMBER [conversation|files|both] goes back to before that prompt");
                    return Ok(());
                }
            },
        };
        let Some(point) = points.iter().find(|point| point.number == number) else {
            return Err(Failure::input(format!("there is no prompt {number} in the conversation"))
                .help(format!("use a number from 1 to {}", points.len())));
        };
        let scope = match scope {
            Some(scope) => scope,
            // Where nothing changed there is nothing to ask.
            None if point.changed.is_empty() => RewindScope::Conversation,
            None => match self.scope(point).await {
                Some(scope) => scope,
                None => return Ok(()),
            },
        };
        let rewound = self.session.rewind(point, scope)?;
        if scope != RewindScope::Conversation {
            self.terminal.lines(&undo::report(&rewound.files, self.style));
        }
        if let Some(prompt) = &rewound.prompt {
            self.answer = None;
            self.terminal.suggest(prompt);
            let stay = match (scope, point.changed.is_empty()) {
                (RewindScope::Conversation, false) => "; files stay as they are",
                _ => "",
            };
            self.note(&format!("back to before prompt {number}{stay}"));
        }
        self.terminal.lines("\n");
        Ok(())
    }

    async fn scope(&self, point: &RewindPoint) -> Option<RewindScope> {
        let question = Question {
            lines: vec![self.style.bold("What goes back?"), details(point)],
            choices: vec![
                choice('b', "The conversation and the files"),
                choice('c', "The conversation; files stay as they are"),
                choice('f', "The files; the conversation stays"),
            ],
            ..Question::default()
        };
        match self.terminal.ask(question).await {
            Chosen::Choice(0) => Some(RewindScope::All),
            Chosen::Choice(1) => Some(RewindScope::Conversation),
            Chosen::Choice(2) => Some(RewindScope::Files),
            Chosen::Choice(_) | Chosen::Dismissed | Chosen::Nobody => None,
        }
    }
}

/// Reads a number, and what goes back if it is written.
fn parse(written: &str) -> Result<(usize, Option<RewindScope>), Failure> {
    let wrong = || {
        Failure::input(format!("`/rewind {written}` is not understood"))
            .help("write the number of a prompt, and perhaps what goes back: /rewind 2 files")
    };
    let (number, scope) = match written.split_once(char::is_whitespace) {
        Some((number, scope)) => (number, Some(scope.trim())),
        None => (written, None),
    };
    let number = number.parse().map_err(|_| wrong())?;
    let scope = match scope {
        None => None,
        Some("conversation") => Some(RewindScope::Conversation),
        Some("files") => Some(RewindScope::Files),
        Some("both") => Some(RewindScope::All),
        Some(_) => return Err(wrong()),
    };
    Ok((number, scope))
}

/// What the user picks from, the latest prompt first.
fn choices(points: &[RewindPoint], style: Style) -> Pick {
    let entry = |point: &RewindPoint| PickEntry {
        title: format!("{}  {}", point.number, point.prompt),
        details: details(point),
        preview: Vec::new(),
    };
    Pick {
        lines: vec![style.bold("Go back to before which prompt?")],
        entries: points.iter().rev().map(entry).collect(),
        renamed: 0,
    }
}

fn list(points: &[RewindPoint], style: Style) -> String {
    let line = |point: &RewindPoint| {
        format!("{:>3}  {}\n     {}\n", point.number, style.bold(&point.prompt), style.dim(&details(point)))
    };
    points.iter().map(line).collect()
}

/// The files that changed since, on one line.
fn details(point: &RewindPoint) -> String {
    if point.changed.is_empty() {
        return "no files changed since".to_owned();
    }
    let named = point.changed.get(..NAMED).unwrap_or(&point.changed).join(" ");
    match point.changed.len().saturating_sub(NAMED) {
        0 => format!("changed since: {named}"),
        more => format!("changed since: {named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewind_reads_a_number_and_what_goes_back() {
        for (written, expected) in [
            ("2", (2, None)),
            ("1 files", (1, Some(RewindScope::Files))),
            ("3  both", (3, Some(RewindScope::All))),
            ("3 conversation", (3, Some(RewindScope::Conversation))),
        ] {
            assert_eq!(parse(written).expect("it is understood"), expected, "{written}");
        }
        for written in ["x", "-1", "2 all", ""] {
            parse(written).expect_err(written);
        }
    }
}
