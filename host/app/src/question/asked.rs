//! What a model, or an MCP server, asks the user: composed once for every frontend.
//!
//! Promises: each text of a choice is one line, in quotes that it cannot end, and safe to show, so that it looks like
//! no answer of the host's; a frontend that draws each part of each question leaves nothing out.
//!
//! Deliberately not here: what an answer is for (`host-agent`, `host_tool::elicitation`), and the look.

use host_tool::{ModelChoice, ModelQuestion, ModelQuestions, QuestionAuthor};

use super::line;

/// The questions of one author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPage {
    /// Who asks: `The model asks`. Safe to show.
    pub title: String,
    /// What an answer does, where that is not plain. Safe to show.
    pub note: Option<&'static str>,
    /// Who gets the answers. Safe to show.
    pub recipient: String,
    /// The questions, in order.
    pub questions: Vec<AskedQuestion>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedQuestion {
    /// Which of several it is: `2 of 3`.
    pub place: Option<String>,
    /// The question. Not escaped.
    pub text: String,
    /// The choices that are offered. Every question takes the user's own words besides, or no answer.
    pub choices: Vec<AskedChoice>,
    /// How many of them an answer has.
    pub takes: Takes,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedChoice {
    /// In quotes, with a word if it is recommended. Safe to show.
    pub label: String,
    /// What it means, in quotes; `None` if nothing is said. Safe to show.
    pub description: Option<String>,
}

/// How many choices an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One, and this is the recommended one if there is such.
    One {
        /// Its index, from 0.
        recommended: Option<usize>,
    },
    /// Any number.
    Several,
}

impl AskedPage {
    /// Composes what is asked.
    pub fn new(asked: &ModelQuestions) -> Self {
        let ModelQuestions { author, questions } = asked;
        let (title, note, recipient) = match author {
            QuestionAuthor::Model => ("The model asks".to_owned(), None, "the model".to_owned()),
            QuestionAuthor::McpServer(server) => {
                let note = "your answer goes to it, and allows nothing";
                (format!("The MCP server {server} asks"), Some(note), server.to_string())
            }
        };
        let all = questions.len();
        let place = |number| (all > 1).then(|| format!("{number} of {all}"));
        let questions = (1..).zip(questions).map(|(number, asked)| question(place(number), asked)).collect();
        Self { title, note, recipient, questions }
    }
}

fn question(place: Option<String>, asked: &ModelQuestion) -> AskedQuestion {
    let ModelQuestion { text, choices, multiple } = asked;
    let takes = match multiple {
        true => Takes::Several,
        false => Takes::One { recommended: choices.iter().position(|choice| choice.recommended) },
    };
    AskedQuestion { place, text: text.clone(), choices: choices.iter().map(choice).collect(), takes }
}

fn choice(choice: &ModelChoice) -> AskedChoice {
    let ModelChoice { label, description, recommended } = choice;
    let quoted = |text: &str| format!("“{}”", line(text).replace(['“', '”', '„', '‟'], "\""));
    let recommended = if *recommended { " (recommended)" } else { "" };
    AskedChoice { label: quoted(label) + recommended, description: description.as_deref().map(quoted) }
}

#[cfg(test)]
mod tests {
    use host_capability::McpServerName;

    use super::*;

    #[test]
    fn asked_page_has_each_question_with_its_choices() {
        let offered = |label: &str, description: Option<&str>, recommended| ModelChoice {
            label: label.to_owned(),
            description: description.map(str::to_owned),
            recommended,
        };
        let which = ModelQuestion {
            text: "Which?".to_owned(),
            choices: vec![offered("a", None, false), offered("b", Some("the\nsecond"), true)],
            multiple: false,
        };
        let several = ModelQuestion { multiple: true, ..which.clone() };
        let free = ModelQuestion { text: "Name?".to_owned(), ..ModelQuestion::default() };
        let questions = vec![which.clone(), several, free];
        let page = AskedPage::new(&ModelQuestions { author: QuestionAuthor::Model, questions });
        assert_eq!((page.title.as_str(), page.note, page.recipient.as_str()), ("The model asks", None, "the model"));
        let places: Vec<_> = page.questions.iter().map(|asked| asked.place.as_deref()).collect();
        assert_eq!(places, [Some("1 of 3"), Some("2 of 3"), Some("3 of 3")]);
        let takes: Vec<_> = page.questions.iter().map(|asked| asked.takes).collect();
        assert_eq!(takes, [Takes::One { recommended: Some(1) }, Takes::Several, Takes::One { recommended: None }]);
        let choices = [
            AskedChoice { label: "“a”".to_owned(), description: None },
            AskedChoice {
                label: "“b” (recommended)".to_owned(), description: Some("“the\\nsecond”".to_owned())
            },
        ];
        assert_eq!(page.questions[0].choices, choices);
        let server = McpServerName::parse("lab").expect("a name");
        let page =
            AskedPage::new(&ModelQuestions { author: QuestionAuthor::McpServer(server), questions: vec![which] });
        assert_eq!((page.title.as_str(), page.recipient.as_str()), ("The MCP server lab asks", "lab"));
        assert_eq!((page.note, &page.questions[0].place), (Some("your answer goes to it, and allows nothing"), &None));
    }

    #[test]
    fn asked_choice_cannot_end_its_quotes_or_steer() {
        let text = "”  9 y  Yes\n“\u{1b}[2J\u{202e}";
        let offered = ModelChoice { label: text.to_owned(), description: Some(text.to_owned()), recommended: false };
        let AskedChoice { label, description } = choice(&offered);
        for shown in [&label, &description.expect("it has one")] {
            assert!(shown.starts_with('“') && shown.ends_with('”'), "{shown}");
            assert_eq!(shown.matches(['“', '”']).count(), 2, "{shown}");
            assert!(!shown.chars().any(host_text::is_unsafe), "{shown}");
        }
    }
}
