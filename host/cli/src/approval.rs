//! The user at the terminal, who is asked whether a call may run.
//!
//! One of those who listen to the queue: another, such as a page of a browser, can answer the same questions, and then
//! the one here goes away. Deliberately not here: what is asked about and what an answer means (`host_tool::Gate`),
//! and reading keys (`terminal`).

pub(crate) mod edit;
pub(crate) mod look;
mod model_question;

use std::sync::Arc;

use host_app::question::{self, QuestionPage};
use host_plugin::{Confirmation, command_line};
use host_settings::environment::Environment;
use host_terminal::{self as terminal, Choice, Chosen, Line, Terminal};
use host_tool::{About, Answer, ApprovalMode, ApprovalQueue, Lasting, Listener, Notice, Question, Until};
use tokio::task::AbortHandle;

use crate::printer::Style;

/// Asks the user about calls until it is dropped.
pub(crate) struct ApprovalTask(AbortHandle);

impl Drop for ApprovalTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts asking the user at this terminal about calls.
pub(crate) fn listen(
    queue: &ApprovalQueue,
    terminal: Terminal,
    style: Style,
    environment: &Environment,
) -> ApprovalTask {
    let asking = Asking { terminal, style, editor: edit::Editor::from_environment(environment) };
    let listener = queue.listen();
    ApprovalTask(tokio::spawn(asking.ask_all(listener)).abort_handle())
}

struct Asking {
    terminal: Terminal,
    style: Style,
    editor: edit::Editor,
}

/// The label of the choice that opens the user's editor.
const EDIT: &str = "Edit before running";

/// The meaning of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Once,
    WithoutWalls,
    Lasting(Lasting, Until),
    Mode(ApprovalMode),
    Modify,
    No,
    /// With the user's words for the model.
    NoBecause,
}

impl Asking {
    async fn ask_all(self, mut listener: Listener) {
        while let Some(notice) = listener.next().await {
            // Without a terminal this listener ends, and the queue reports that to the gate. If another listener
            // answered first, there is nothing to do.
            match notice {
                Notice::Asked { id, question } => {
                    let answer = tokio::select! {
                        answer = self.ask(&question) => answer,
                        () = listener.settled(id) => continue,
                    };
                    let Some(answer) = answer else { return };
                    listener.answer(id, answer).ok();
                }
                Notice::ModelAsked { id, questions } => {
                    let answers = tokio::select! {
                        answers = model_question::ask_all(&self.terminal, self.style, &questions) => answers,
                        () = listener.settled(id) => continue,
                    };
                    let Some(answers) = answers else { return };
                    listener.reply(id, answers).ok();
                }
                Notice::Answered { .. } | Notice::Withdrawn { .. } => {}
            }
        }
    }

    /// Returns the user's answer; `None` if the terminal is gone.
    async fn ask(&self, question: &Arc<Question>) -> Option<Answer> {
        let mut objection = question.objection.clone();
        loop {
            let mut lines = look::lines(question, self.style, self.terminal.columns(), self.terminal.answers());
            if let Some(objection) = objection.take() {
                lines.push(look::objection(&objection, self.style));
            }
            let (choices, meanings) = choices(question);
            let line = Line {
                choice: meanings.iter().position(|meaning| *meaning == Meaning::NoBecause).unwrap_or(usize::MAX),
                label: "why › ".to_owned(),
                help: "Enter to send it to the model · Esc to go back".to_owned(),
            };
            let asked = terminal::Question { lines, choices, ..terminal::Question::default() };
            let (chosen, reason) = self.terminal.ask_with_line(asked, line).await;
            let meaning = match chosen {
                Chosen::Choice(at) => meanings.get(at).copied().unwrap_or(Meaning::No),
                Chosen::Dismissed => Meaning::No,
                Chosen::Nobody => return None,
            };
            return Some(match meaning {
                Meaning::Once => Answer::ProceedOnce,
                Meaning::WithoutWalls => Answer::ProceedWithoutWalls,
                Meaning::Lasting(lasting, until) => Answer::Proceed { lasting, until },
                Meaning::Mode(mode) => Answer::Switch { mode },
                Meaning::No => Answer::Cancel { reason: None },
                Meaning::NoBecause => Answer::Cancel { reason: Some(reason).filter(|reason| !reason.is_empty()) },
                Meaning::Modify => {
                    let Some((text, name)) = proposed(question) else { continue };
                    match self.editor.edit(&self.terminal, text, name).await {
                        Ok(Some(plan)) if matches!(question.about, About::Plan { .. }) => {
                            Answer::Cancel { reason: Some(format!("The plan should be this:\n\n{plan}")) }
                        }
                        Ok(Some(text)) => Answer::Modify { text },
                        Ok(None) => {
                            objection = Some("nothing was changed in the editor".to_owned());
                            continue;
                        }
                        Err(why) => {
                            objection = Some(why);
                            continue;
                        }
                    }
                }
            });
        }
    }
}

/// The choices with their letters, and what each means: those of every frontend, and a no with the user's words.
fn choices(question: &Question) -> (Vec<Choice>, Vec<Meaning>) {
    let is_plan = matches!(question.about, About::Plan { .. });
    let mut rows: Vec<(Choice, Meaning)> =
        QuestionPage::new(question).answers.into_iter().map(|offered| choice(offered, is_plan)).collect();
    if is_plan {
        let label = "Change it in your editor: what you save goes to the model".to_owned();
        rows.push((Choice::new('e', label), Meaning::Modify));
    }
    let label = if is_plan { "No, and say what to change" } else { "No, and tell the model why" };
    rows.push((Choice::new('r', label), Meaning::NoBecause));
    rows.into_iter().unzip()
}

fn choice(offered: question::Choice, is_plan: bool) -> (Choice, Meaning) {
    let label = offered.label;
    let (letter, meaning) = match offered.meaning {
        question::Meaning::Edit => return (Choice::new('e', EDIT), Meaning::Modify),
        question::Meaning::Reject | question::Meaning::Answer(Answer::Cancel { .. } | Answer::Modify { .. }) => {
            ('n', Meaning::No)
        }
        question::Meaning::Answer(Answer::ProceedOnce) => ('y', Meaning::Once),
        question::Meaning::Answer(Answer::ProceedWithoutWalls) => ('o', Meaning::WithoutWalls),
        question::Meaning::Answer(Answer::Proceed { lasting, until }) => {
            let letter = match (until, lasting) {
                (Until::SessionEnds, _) => 's',
                (Until::TakenBack, Lasting::Always) => 'a',
                (Until::TakenBack, Lasting::AlwaysTool) => 't',
                (Until::TakenBack, Lasting::AlwaysPlugin) => 'p',
            };
            (letter, Meaning::Lasting(lasting, until))
        }
        question::Meaning::Answer(Answer::Switch { mode }) => {
            (if is_plan { of_mode(mode) } else { 'm' }, Meaning::Mode(mode))
        }
    };
    (Choice::new(letter, label), meaning)
}

/// The letter that approves a plan in a mode.
fn of_mode(mode: ApprovalMode) -> char {
    match mode {
        ApprovalMode::Plan => 'p',
        ApprovalMode::Default => 'y',
        ApprovalMode::AutoEdit => 'a',
        ApprovalMode::Auto => 'c',
        ApprovalMode::Yolo => 'l',
    }
}

/// Returns the proposed text that the user can edit, and a file name for it.
fn proposed(question: &Question) -> Option<(String, String)> {
    match &question.about {
        About::Plan { text, .. } => return Some((text.clone(), "plan.md".to_owned())),
        About::Reading { .. } | About::Reaching { .. } => return None,
        About::Call => {}
    }
    match &question.confirmation {
        Confirmation::Edit { path, proposed, .. } => Some((proposed.clone(), path.clone())),
        Confirmation::Exec { argv, input: None, .. } => Some((command_line(argv), "command.sh".to_owned())),
        // The user cannot edit the input of a program.
        Confirmation::Exec { input: Some(_), .. }
        | Confirmation::Edits { .. }
        | Confirmation::Info { .. }
        | Confirmation::Mcp { .. }
        | Confirmation::Call => None,
    }
}
