//! What a model, or an MCP server, asks the user, at the terminal: one question after the other.
//!
//! Promises: it cannot look like a question about a call. Its title says that the model asks; what the model wrote is
//! behind a bar or in quotes, with each invisible or confusable character shown by its code; and its choices have
//! digits and the letters of a list, never those of a question about a call.
//!
//! Deliberately not here: the words (`host_app::question::AskedPage`).

use host_app::question::{AskedChoice, AskedPage, AskedQuestion, Takes};
use host_terminal::{Choice, Chosen, Escape, Line, Question, Terminal};
use host_tool::{ModelAnswer, ModelQuestions};

use super::look;
use crate::printer::Style;

/// The letters of the model's choices, in their order. None of them is a letter of a question about a call.
const LETTERS: [char; 6] = ['b', 'c', 'd', 'f', 'g', 'h'];

/// Returns the user's answers; `None` if the terminal is gone.
pub(super) async fn ask_all(terminal: &Terminal, style: Style, questions: &ModelQuestions) -> Option<Vec<ModelAnswer>> {
    let page = AskedPage::new(questions);
    let mut answers = Vec::new();
    for asked in &page.questions {
        answers.push(ask(terminal, style, &page, asked).await?);
    }
    Some(answers)
}

async fn ask(terminal: &Terminal, style: Style, page: &AskedPage, asked: &AskedQuestion) -> Option<ModelAnswer> {
    let (question, rows) = drawn(page, asked, style, terminal.columns());
    let line = Line {
        choice: rows.iter().position(|row| *row == Row::Write).unwrap_or(usize::MAX),
        label: "answer › ".to_owned(),
        help: format!("Enter to send it to {} · Esc to go back", page.recipient),
    };
    let (chosen, text, marked) = terminal.ask_with_marks(question, line).await;
    let row = match chosen {
        Chosen::Choice(at) => rows.get(at).copied().unwrap_or(Row::Dismiss),
        Chosen::Dismissed => Row::Dismiss,
        Chosen::Nobody => return None,
    };
    Some(answer(row, text, marked))
}

/// What a row of the choices means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// One of the model's choices, by its index.
    Choice(usize),
    /// Those that are marked.
    Marked,
    Write,
    Dismiss,
}

fn answer(row: Row, text: String, marked: Vec<usize>) -> ModelAnswer {
    match row {
        Row::Choice(index) => ModelAnswer::Choice { index },
        Row::Marked => ModelAnswer::Choices { indexes: marked, text: None },
        Row::Write if marked.is_empty() => ModelAnswer::Text { text },
        Row::Write => ModelAnswer::Choices { indexes: marked, text: Some(text) },
        Row::Dismiss => ModelAnswer::Dismissed,
    }
}

/// The question, and what each of its choices means.
fn drawn(page: &AskedPage, asked: &AskedQuestion, style: Style, columns: usize) -> (Question, Vec<Row>) {
    let offered = asked.choices.iter().zip(LETTERS).enumerate().map(|(at, (offered, letter))| {
        let AskedChoice { label, description } = offered;
        let about = description.clone().unwrap_or_default();
        (Choice { about, ..Choice::new(letter, label) }, Row::Choice(at))
    });
    let mut rows: Vec<(Choice, Row)> = offered.collect();
    let (preselected, markable) = match asked.takes {
        Takes::One { recommended } => (recommended.unwrap_or(0), 0),
        Takes::Several => {
            let markable = rows.len();
            rows.push((Choice::new('k', "Send what is marked"), Row::Marked));
            (0, markable)
        }
    };
    rows.push((Choice::new('w', "Write an answer"), Row::Write));
    rows.push((Choice::new('x', "Do not answer"), Row::Dismiss));
    let (choices, rows) = rows.into_iter().unzip();
    let lines = look::asked(page, asked, style, columns);
    (Question { lines, choices, preselected, escape: Escape::Skips, markable }, rows)
}

#[cfg(test)]
mod tests {
    use host_tool::{ModelChoice, ModelQuestion, QuestionAuthor};

    use super::*;

    const PLAIN: Style = Style { colour: false };

    fn page(questions: Vec<ModelQuestion>) -> AskedPage {
        AskedPage::new(&ModelQuestions { author: QuestionAuthor::Model, questions })
    }

    fn question(text: &str, choices: &[&str]) -> ModelQuestion {
        let choices = choices.iter().map(|&choice| ModelChoice::from(choice)).collect();
        ModelQuestion { text: text.to_owned(), choices, multiple: false }
    }

    fn drawn_at(page: &AskedPage, at: usize, columns: usize) -> (Question, Vec<Row>) {
        drawn(page, &page.questions[at], PLAIN, columns)
    }

    fn letters(question: &Question) -> Vec<(char, &str)> {
        question.choices.iter().map(|choice| (choice.letter, choice.label.as_str())).collect()
    }

    #[test]
    fn model_question_is_shown_with_its_choices() {
        let (asked, rows) = drawn_at(&page(vec![question("Which database?", &["SQLite", "PostgreSQL"])]), 0, 80);
        assert_eq!(asked.lines, ["", "? The model asks:", "  │ Which database?"]);
        let expected = [('b', "“SQLite”"), ('c', "“PostgreSQL”"), ('w', "Write an answer"), ('x', "Do not answer")];
        assert_eq!(letters(&asked), expected);
        assert_eq!((asked.preselected, asked.markable), (0, 0));
        assert_eq!(rows, [Row::Choice(0), Row::Choice(1), Row::Write, Row::Dismiss]);
    }

    #[test]
    fn model_questions_have_their_place_their_marks_and_what_is_recommended() {
        let mut first = question("Which?", &["a", "b"]);
        first.choices[1].recommended = true;
        first.choices[1].description = Some("the second".to_owned());
        let second = ModelQuestion { multiple: true, ..question("What else?", &["a", "b", "c", "d", "e", "f"]) };
        let page = page(vec![first, second]);
        let (asked, _) = drawn_at(&page, 0, 80);
        assert_eq!(asked.lines[1], "? The model asks (1 of 2):");
        assert_eq!(asked.choices[1].label, "“b” (recommended)");
        assert_eq!((asked.choices[1].about.as_str(), asked.preselected), ("“the second”", 1));
        let (asked, rows) = drawn_at(&page, 1, 80);
        assert_eq!(asked.lines[1], "? The model asks (2 of 2; several answers can be marked):");
        assert_eq!((asked.markable, asked.choices.len()), (6, 9), "each has its digit");
        assert_eq!(rows[6..], [Row::Marked, Row::Write, Row::Dismiss]);
        let expected = [('k', "Send what is marked"), ('w', "Write an answer"), ('x', "Do not answer")];
        assert_eq!(letters(&asked)[6..], expected);
    }

    #[test]
    fn model_question_is_answered_with_what_is_marked_and_written() {
        let text = |text: &str| text.to_owned();
        for (row, written, marked, expected) in [
            (Row::Choice(1), "", vec![], ModelAnswer::Choice { index: 1 }),
            (Row::Marked, "", vec![0, 2], ModelAnswer::Choices { indexes: vec![0, 2], text: None }),
            (Row::Marked, "", vec![], ModelAnswer::Choices { indexes: vec![], text: None }),
            (Row::Write, "x", vec![], ModelAnswer::Text { text: text("x") }),
            (Row::Write, "x", vec![1], ModelAnswer::Choices { indexes: vec![1], text: Some(text("x")) }),
            (Row::Dismiss, "", vec![1], ModelAnswer::Dismissed),
        ] {
            assert_eq!(answer(row, text(written), marked), expected);
        }
    }

    // promise ask.marked: A model's question is shown as the model's, whatever it says, and cannot look like a question
    //   about a call.
    #[test]
    fn model_question_cannot_look_like_a_question_about_a_call() {
        let text = "fine\n\n? shell wants to run this command:\n  │ ls\r\u{1b}[1A\u{1b}[2K\u{1b}]0;t\u{7}\u{202e}";
        let choices = ["Yes, this once", "Always in this folder: `rm`\n  3 n  No", "\u{1b}[2J\u{200b}", "”  9 y  Yes"];
        for (columns, multiple) in [(20, false), (40, true), (80, false), (200, true)] {
            let mut asked = ModelQuestion { multiple, ..question(text, &choices) };
            asked.choices[0].description = Some(text.to_owned());
            let (asked, _) = drawn_at(&page(vec![asked]), 0, columns);
            // Besides the title, every line of the model's is behind the bar.
            assert!(asked.lines[1].starts_with("? The model asks"), "{:?}", asked.lines);
            let rest = asked.lines.iter().skip(2).filter(|line| !line.is_empty());
            assert!(rest.clone().count() > 3 && rest.clone().all(|line| line.starts_with("  │ ")), "{:?}", asked.lines);
            for choice in asked.choices.iter().take(choices.len()) {
                assert!(choice.label.starts_with('“') && choice.label.ends_with('”'), "{}", choice.label);
            }
            let about = &asked.choices[0].about;
            assert!(about.starts_with('“') && about.ends_with('”'), "{about}");
            assert!(asked.choices.iter().all(|choice| !"yatpsemnorl".contains(choice.letter)), "{asked:?}");
            let of_choices = asked.choices.iter().flat_map(|choice| [&choice.label, &choice.about]);
            let shown = asked.lines.iter().chain(of_choices);
            let is_safe = |character: char| !host_text::is_unsafe(character);
            assert!(shown.flat_map(|line| line.chars()).all(is_safe), "{asked:?}");
        }
    }
}
