//! Asks the user what an MCP server wants to know: its form, field by field, as questions that any frontend can show.
//!
//! Promises: each question names the server and is about no call, so that no answer allows one; texts and fields are
//! bounded; a value is of the field's kind before the server gets it; a user who does not answer ends the whole form,
//! and the server gets nothing of it.
//!
//! Deliberately not here: the protocol, and opening an address in a browser, which a server could make the host do.

use host_capability::McpServerName;
use host_plugin::{Elicitation, ElicitationAnswer, ElicitationField, ElicitationForm, ElicitationKind};
use host_text::{clip, excerpt};
use serde_json::{Map, Value};

use crate::{ApprovalQueue, ModelAnswer, ModelChoice, ModelQuestion, ModelQuestions, QuestionAuthor};

/// The most fields of a form. Protects the user from an endless one.
const MAX_FIELDS: usize = 16;
/// The longest text of a question, in characters. Protects the terminal of the user who reads it.
const MAX_TEXT: usize = 2_000;
/// The longest title or description of a field, in characters. See [`MAX_TEXT`].
const MAX_TITLE: usize = 300;
/// The most values that are choices; of more the user writes one. With two of the frontend's own no more than there are
/// digits.
const MAX_CHOICES: usize = 6;
/// The most values that are listed. See [`MAX_TEXT`].
const MAX_LISTED: usize = 40;
/// How often a field is asked about, if the answer is not one of its values.
const MAX_TRIES: usize = 3;

const YES: &str = "Yes";
const NO: &str = "No";

/// What came of a field.
enum Field {
    Value(Value),
    /// It needs none, and got none.
    Empty,
    /// The user ended the form.
    Ended(ElicitationAnswer),
}

/// Asks; without a listener the question is cancelled.
pub(crate) async fn ask(queue: &ApprovalQueue, asked: Elicitation) -> ElicitationAnswer {
    let Elicitation { server, message, form } = asked;
    // A server's text of any length would push the fields off the screen.
    let message = clip(&message, MAX_TEXT).into_owned();
    match form {
        ElicitationForm::Visit { url } => {
            // The address is shown and not opened: a server could make the host open any.
            let text =
                format!("{message}\n\nIt wants you to open this address in a browser:\n{}", excerpt(&url, MAX_TEXT));
            let choices = vec!["I opened it".to_owned(), NO.to_owned()];
            match one(queue, &server, question(text, &choices)).await {
                Ok(ModelAnswer::Choice { index: 0 }) => ElicitationAnswer::Accepted(Map::new()),
                Ok(ModelAnswer::Choice { .. } | ModelAnswer::Choices { .. } | ModelAnswer::Text { .. }) => {
                    ElicitationAnswer::Declined
                }
                Ok(ModelAnswer::Dismissed) | Err(Nobody) => ElicitationAnswer::Cancelled,
            }
        }
        // Declined and not cut: a form with the first half of its fields is not what the server asked for.
        ElicitationForm::Fields(fields) if fields.len() > MAX_FIELDS => ElicitationAnswer::Declined,
        ElicitationForm::Fields(fields) if fields.is_empty() => {
            let choices = vec![YES.to_owned(), NO.to_owned()];
            match one(queue, &server, question(message, &choices)).await {
                Ok(ModelAnswer::Choice { index: 0 }) => ElicitationAnswer::Accepted(Map::new()),
                Ok(ModelAnswer::Choice { .. } | ModelAnswer::Choices { .. } | ModelAnswer::Text { .. }) => {
                    ElicitationAnswer::Declined
                }
                Ok(ModelAnswer::Dismissed) | Err(Nobody) => ElicitationAnswer::Cancelled,
            }
        }
        ElicitationForm::Fields(fields) => {
            let mut values = Map::new();
            for field in &fields {
                match ask_field(queue, &server, &message, field).await {
                    Field::Value(value) => {
                        values.insert(field.name.clone(), value);
                    }
                    Field::Empty => {}
                    // Nothing of the form is sent: half of it could mean another thing than the user wanted.
                    Field::Ended(answer) => return answer,
                }
            }
            ElicitationAnswer::Accepted(values)
        }
    }
}

/// Nobody can be asked.
struct Nobody;

async fn one(queue: &ApprovalQueue, server: &McpServerName, asked: ModelQuestion) -> Result<ModelAnswer, Nobody> {
    let author = QuestionAuthor::McpServer(server.clone());
    let questions = ModelQuestions { author, questions: vec![asked] };
    let answers = queue.ask_for_model(questions).await.map_err(|_| Nobody)?;
    Ok(answers.into_iter().next().unwrap_or(ModelAnswer::Dismissed))
}

/// A question that takes one of these answers.
fn question(text: String, choices: &[String]) -> ModelQuestion {
    let choices = choices.iter().map(|choice| ModelChoice::from(choice.as_str())).collect();
    ModelQuestion { text, choices, multiple: false }
}

async fn ask_field(queue: &ApprovalQueue, server: &McpServerName, message: &str, field: &ElicitationField) -> Field {
    let asked = words(message, field);
    let chosen = |index: usize| asked.choices.get(index).map(|choice| choice.label.clone());
    let mut objection = String::new();
    // A field that takes no answer would ask for ever.
    for _ in 0..MAX_TRIES {
        let again = ModelQuestion { text: format!("{objection}{}", asked.text), ..asked.clone() };
        let answer = match one(queue, server, again).await {
            Ok(answer) => answer,
            Err(Nobody) => return Field::Ended(ElicitationAnswer::Cancelled),
        };
        let written = match answer {
            ModelAnswer::Dismissed if field.is_required => return Field::Ended(ElicitationAnswer::Cancelled),
            ModelAnswer::Dismissed => return Field::Empty,
            ModelAnswer::Choice { index } => match chosen(index) {
                Some(choice) => choice,
                None => return Field::Ended(ElicitationAnswer::Cancelled),
            },
            ModelAnswer::Choices { indexes, text } => match indexes.into_iter().map(chosen).collect::<Option<Vec<_>>>()
            {
                Some(choices) => choices.into_iter().chain(text).collect::<Vec<_>>().join(","),
                None => return Field::Ended(ElicitationAnswer::Cancelled),
            },
            ModelAnswer::Text { text } => text,
        };
        let written = written.trim();
        // An empty line is how a user passes over a field.
        if written.is_empty() && !field.is_required {
            return Field::Empty;
        }
        match value(&field.kind, written) {
            Some(value) => return Field::Value(value),
            None => objection = format!("`{}` is not {}.\n\n", excerpt(written, 60), expected(&field.kind)),
        }
    }
    Field::Ended(ElicitationAnswer::Declined)
}

/// The question about a field.
fn words(message: &str, field: &ElicitationField) -> ModelQuestion {
    let title = clip(field.title.as_deref().unwrap_or(&field.name), MAX_TITLE);
    let mut text = format!("{message}\n\n{title}");
    if let Some(description) = &field.description {
        text.push_str(&format!(": {}", clip(description, MAX_TITLE)));
    }
    if !field.is_required {
        text.push_str(" (you can leave it out)");
    }
    let titles = |values: &[(String, String)]| values.iter().map(|(_, title)| title.clone()).collect::<Vec<_>>();
    // What is chosen is joined by commas.
    let can_be_marked = |(_, title): &(String, String)| !title.contains(',');
    let choices = match &field.kind {
        ElicitationKind::Choices(values) if values.len() <= MAX_CHOICES && values.iter().all(can_be_marked) => {
            return ModelQuestion { multiple: true, ..question(text, &titles(values)) };
        }
        ElicitationKind::Boolean => vec![YES.to_owned(), NO.to_owned()],
        // More than these do not fit on a screen as keys, and are written by name.
        ElicitationKind::Choice(values) if values.len() <= MAX_CHOICES => titles(values),
        ElicitationKind::Choice(values) | ElicitationKind::Choices(values) => {
            let how = match field.kind {
                ElicitationKind::Choices(_) => "Write any of these, separated by commas",
                _ => "Write one of these",
            };
            let listed = titles(values).into_iter().take(MAX_LISTED).collect::<Vec<_>>().join(", ");
            text.push_str(&format!("\n\n{how}: {}", clip(&listed, MAX_TEXT)));
            Vec::new()
        }
        ElicitationKind::Text | ElicitationKind::Number | ElicitationKind::Integer => Vec::new(),
    };
    question(text, &choices)
}

/// The value that the user's words mean; `None` if the field does not take it.
fn value(kind: &ElicitationKind, written: &str) -> Option<Value> {
    let one_of = |values: &[(String, String)], written: &str| {
        let written = written.trim();
        // The user sees titles, and writes what they see.
        let found = values.iter().find(|(value, title)| value == written || title.eq_ignore_ascii_case(written));
        found.map(|(value, _)| Value::from(value.as_str()))
    };
    match kind {
        ElicitationKind::Text => Some(Value::from(written)),
        // By JSON's own grammar, since the value becomes JSON: `1e5` is a number and `0x10` is none.
        ElicitationKind::Number => serde_json::from_str(written).ok().filter(Value::is_number),
        ElicitationKind::Integer => {
            serde_json::from_str(written).ok().filter(|value: &Value| value.is_i64() || value.is_u64())
        }
        ElicitationKind::Boolean => match written.to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Some(Value::Bool(true)),
            "no" | "n" | "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ElicitationKind::Choice(values) => one_of(values, written),
        ElicitationKind::Choices(values) => {
            let chosen = written.split(',').filter(|one| !one.trim().is_empty()).map(|one| one_of(values, one));
            // One that is not known makes all of it invalid: the server must not get a part of what was written.
            chosen.collect::<Option<Vec<_>>>().map(Value::Array)
        }
    }
}

fn expected(kind: &ElicitationKind) -> &'static str {
    match kind {
        ElicitationKind::Text => "a text",
        ElicitationKind::Number => "a number",
        ElicitationKind::Integer => "a whole number",
        ElicitationKind::Boolean => "`yes` or `no`",
        ElicitationKind::Choice(_) => "one of the values",
        ElicitationKind::Choices(_) => "a list of the values",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Notice;

    fn field(name: &str, kind: ElicitationKind, is_required: bool) -> ElicitationField {
        ElicitationField { name: name.to_owned(), title: None, description: None, is_required, kind }
    }

    /// What a server gets when the user answers so, one question after the other.
    async fn answered(form: ElicitationForm, answers: &[ModelAnswer]) -> ElicitationAnswer {
        let queue = ApprovalQueue::new();
        let mut listener = queue.listen();
        let server = McpServerName::parse("github").expect("a name");
        let asked = Elicitation { server: server.clone(), message: "Which repository?".to_owned(), form };
        let (answer, ()) = tokio::join!(ask(&queue, asked), async {
            for answer in answers {
                let id = loop {
                    match listener.next().await.expect("it is asked") {
                        Notice::ModelAsked { id, questions } => {
                            assert_eq!(questions.author, QuestionAuthor::McpServer(server.clone()));
                            let [asked] = questions.questions.as_slice() else {
                                panic!("one at a time: {questions:?}")
                            };
                            assert!(asked.text.contains("Which repository?"), "{}", asked.text);
                            break id;
                        }
                        _ => continue,
                    }
                };
                listener.reply(id, vec![answer.clone()]).expect("it is open");
            }
        });
        answer
    }

    fn text(text: &str) -> ModelAnswer {
        ModelAnswer::Text { text: text.to_owned() }
    }

    #[tokio::test]
    async fn elicitation_asks_field_by_field_and_hands_over_values_of_their_kind() {
        let values = || vec![("a".to_owned(), "First".to_owned()), ("b".to_owned(), "Second".to_owned())];
        let form = ElicitationForm::Fields(vec![
            field("name", ElicitationKind::Text, true),
            field("count", ElicitationKind::Integer, true),
            field("share", ElicitationKind::Number, true),
            field("fork", ElicitationKind::Boolean, true),
            field("kind", ElicitationKind::Choice(values()), true),
            field("tags", ElicitationKind::Choices(values()), true),
            field("more", ElicitationKind::Choices(values()), true),
            field("none", ElicitationKind::Choices(values()), false),
            field("note", ElicitationKind::Text, false),
        ]);
        let answers = [
            text(" host "),
            text("three"),
            text("3"),
            text("0.5"),
            ModelAnswer::Choice { index: 1 },
            ModelAnswer::Choice { index: 1 },
            text("first, b"),
            ModelAnswer::Choices { indexes: vec![1], text: Some("a".to_owned()) },
            ModelAnswer::Choices { indexes: Vec::new(), text: None },
            ModelAnswer::Dismissed,
        ];
        let Value::Object(expected) = json!({"name": "host", "count": 3, "share": 0.5, "fork": false, "kind": "b", "tags": ["a", "b"], "more": ["b", "a"]})
        else {
            unreachable!("an object")
        };
        assert_eq!(answered(form, &answers).await, ElicitationAnswer::Accepted(expected));
    }

    #[tokio::test]
    async fn elicitation_that_is_not_answered_hands_over_nothing() {
        let form = || {
            let kinds = [("a", ElicitationKind::Text), ("b", ElicitationKind::Integer)];
            ElicitationForm::Fields(kinds.into_iter().map(|(name, kind)| field(name, kind, true)).collect())
        };
        let dismissed = answered(form(), &[text("x"), ModelAnswer::Dismissed]).await;
        assert_eq!(dismissed, ElicitationAnswer::Cancelled);
        let wrong = answered(form(), &[text("x"), text("1.5"), text(""), text("many")]).await;
        assert_eq!(wrong, ElicitationAnswer::Declined);
        let many = (0..=MAX_FIELDS).map(|at| field(&at.to_string(), ElicitationKind::Text, true)).collect();
        assert_eq!(answered(ElicitationForm::Fields(many), &[]).await, ElicitationAnswer::Declined);
        let nobody = Elicitation {
            server: McpServerName::parse("a").expect("a name"),
            message: String::new(),
            form: ElicitationForm::Fields(vec![field("a", ElicitationKind::Text, true)]),
        };
        assert_eq!(ask(&ApprovalQueue::new(), nobody).await, ElicitationAnswer::Cancelled);
    }

    #[tokio::test]
    async fn elicitation_of_an_address_opens_nothing_by_itself() {
        let visit = || ElicitationForm::Visit { url: "https://example.com/\u{1b}[2J".to_owned() };
        let accepted = answered(visit(), &[ModelAnswer::Choice { index: 0 }]).await;
        assert_eq!(accepted, ElicitationAnswer::Accepted(Map::new()));
        assert_eq!(answered(visit(), &[ModelAnswer::Choice { index: 1 }]).await, ElicitationAnswer::Declined);
        assert_eq!(answered(visit(), &[ModelAnswer::Dismissed]).await, ElicitationAnswer::Cancelled);
    }
}
