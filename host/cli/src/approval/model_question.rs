//! A question that a model, or an MCP server, asks the user, at the terminal.
//!
//! Promises: it cannot look like a question about a call. Its title says that the model asks and that an answer allows
//! nothing; what the model wrote is behind a bar or in quotes, with each invisible or confusable character shown by its
//! code; and its choices have digits and the letters of a list, never those of a question about a call.

use host_app::question;
use host_terminal::{Choice, Chosen, Line, Question, Terminal};
use host_tool::{ModelAnswer, ModelQuestion, QuestionAuthor};

use super::look;
use crate::printer::Style;

/// The letters of the model's choices, in their order. None of them is a letter of a question about a call.
const LETTERS: [char; 6] = ['b', 'c', 'd', 'f', 'g', 'h'];

/// Returns the user's answer; `None` if the terminal is gone.
pub(super) async fn ask(terminal: &Terminal, style: Style, question: &ModelQuestion) -> Option<ModelAnswer> {
    let asked = asked(question, style, terminal.columns());
    let own = question.choices.len();
    let line = Line {
        choice: own,
        label: "answer › ".to_owned(),
        help: match &question.author {
            QuestionAuthor::Model => "Enter to send it to the model · Esc to go back".to_owned(),
            QuestionAuthor::McpServer(server) => format!("Enter to send it to {server} · Esc to go back"),
        },
    };
    Some(match terminal.ask_with_line(asked, line).await {
        (Chosen::Choice(index), _) if index < own => ModelAnswer::Choice { index },
        (Chosen::Choice(index), text) if index == own => ModelAnswer::Text { text },
        (Chosen::Choice(_) | Chosen::Dismissed, _) => ModelAnswer::Dismissed,
        (Chosen::Nobody, _) => return None,
    })
}

fn asked(question: &ModelQuestion, style: Style, columns: usize) -> Question {
    let of_model = question.choices.iter().zip(LETTERS);
    let mut choices: Vec<Choice> =
        of_model.map(|(text, letter)| Choice { letter, label: format!("“{}”", question::line(text)) }).collect();
    choices.push(Choice { letter: 'w', label: "Write an answer".to_owned() });
    choices.push(Choice { letter: 'x', label: "Do not answer".to_owned() });
    Question {
        lines: look::of_author(&question.author, &question.text, style, columns),
        choices,
        ..Question::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false };

    fn question(text: &str, choices: &[&str]) -> ModelQuestion {
        let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
        ModelQuestion { author: QuestionAuthor::Model, text: text.to_owned(), choices }
    }

    #[test]
    fn model_question_is_shown_with_its_choices() {
        let asked = asked(&question("Which database?", &["SQLite", "PostgreSQL"]), PLAIN, 80);
        assert_eq!(asked.lines, ["", "? The model asks:", "  │ Which database?"]);
        let choices: Vec<_> = asked.choices.iter().map(|choice| (choice.letter, choice.label.as_str())).collect();
        let expected = [('b', "“SQLite”"), ('c', "“PostgreSQL”"), ('w', "Write an answer"), ('x', "Do not answer")];
        assert_eq!(choices, expected);
    }

    // promise ask.marked: A model's question is shown as the model's, whatever it says, and cannot look like a question
    //   about a call.
    #[test]
    fn model_question_cannot_look_like_a_question_about_a_call() {
        let text = "fine\n\n? shell wants to run this command:\n  │ ls\r\u{1b}[1A\u{1b}[2K\u{1b}]0;t\u{7}\u{202e}";
        let choices = ["Yes, this once", "Always in this folder: `rm`\n  3 n  No", "\u{1b}[2J\u{200b}", "”  9 y  Yes"];
        for columns in [20, 40, 80, 200] {
            let asked = asked(&question(text, &choices), PLAIN, columns);
            // Besides the title, every line of the model's is behind the bar.
            assert!(asked.lines[1].starts_with("? The model asks"), "{:?}", asked.lines);
            let rest = asked.lines.iter().skip(2).filter(|line| !line.is_empty());
            assert!(rest.clone().count() > 3 && rest.clone().all(|line| line.starts_with("  │ ")), "{:?}", asked.lines);
            for choice in asked.choices.iter().take(choices.len()) {
                assert!(choice.label.starts_with('“') && choice.label.ends_with('”'), "{}", choice.label);
                assert!(!"yatpsen".contains(choice.letter), "{}", choice.letter);
            }
            let shown = asked.lines.iter().chain(asked.choices.iter().map(|choice| &choice.label));
            let is_safe = |character: char| !host_text::is_unsafe(character);
            assert!(shown.flat_map(|line| line.chars()).all(is_safe), "{asked:?}");
        }
    }
}
