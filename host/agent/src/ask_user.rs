//! `ask_user`: the tool with which a model asks the user. It runs in the host itself, like the rest of the agent.
//!
//! Promises: questions go through the approval queue, so that any frontend can answer them; they are about no call, and
//! no answer allows one; their texts and the answers are bounded; without a listener the call is denied at once, with
//! words that say how to continue. The clock of the run is paused while the user is asked. It is not marked as
//! read-only, so it runs alone: nothing else is asked at the same time.
//!
//! Deliberately not here: how a question is shown, and questions about calls (`host_tool::Gate`).

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, Display, FunctionCall, Output, ToolName, ToolSpec};
use host_text::{clip, excerpt, title_line};
use host_tool::{
    ApprovalQueue, CallContext, CallFailure, FailureKind, ModelAnswer, ModelChoice, ModelQuestion, ModelQuestions,
    NobodyListens, Outcome, QuestionAuthor, Tool,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the tool.
pub const ASK_USER: &str = "ask_user";

/// The most questions of one call. Protects the user, who answers them one after the other.
const MAX_QUESTIONS: usize = 4;
/// The longest question, in characters. Protects the terminal of the user who reads it.
const MAX_QUESTION: usize = 2_000;
/// The most choices: with three of the frontend's own no more than there are digits.
const MAX_CHOICES: usize = 6;
/// The longest choice, in characters. See [`MAX_QUESTION`].
const MAX_CHOICE: usize = 200;
/// The longest description of a choice, in characters. See [`MAX_QUESTION`].
const MAX_DESCRIPTION: usize = 400;
/// The longest answer of the user that is passed to the model, in characters. Protects its window.
const MAX_ANSWER: usize = 4_000;
/// How much of an answer the user's line about the call has, in characters.
const SHOWN_ANSWER: usize = 60;
/// How much of a question is repeated above its answer, in characters: the model wrote it.
const QUOTED: usize = 200;

const DESCRIPTION: &str = "\
Asks the user up to 4 questions at once and waits for the answers. Use it when the task cannot be done well without \
something that only the user knows: a preference, a choice between designs, a missing requirement. Find out everything \
else yourself, and do not ask whether you may call a tool: the user is asked about that anyway, and an answer here \
allows nothing. Offer choices where the answers are known, and mark the one that you recommend; the user can always \
write another one. Limits: 2,000 characters a question, 6 choices.";

/// The tool. Clones ask over the same queue.
#[derive(Clone)]
pub struct AskUser {
    spec: ToolSpec,
    queue: ApprovalQueue,
}

impl AskUser {
    /// Creates the tool, whose questions go to the listeners of this queue.
    pub fn new(queue: ApprovalQueue) -> Self {
        let spec = ToolSpec {
            name: ToolName::new(ASK_USER),
            title: Some("Ask the user".to_owned()),
            description: DESCRIPTION.to_owned(),
            input_schema: Arc::new(input_schema()),
            output_schema: None,
            // Not read-only, so that the scheduler runs it alone: nothing else is asked at the same time.
            annotations: Annotations { read_only: false, destructive: false, idempotent: false, open_world: false },
        };
        Self { spec, queue }
    }

    async fn ask(&self, call: &FunctionCall, context: &CallContext) -> Outcome {
        // Before the clock stops: an invalid question is an answer to the model, and nobody is asked.
        let questions = match questions(&call.arguments) {
            Ok(questions) => questions,
            Err(why) => return CallFailure::new(FailureKind::InvalidArguments, why).into(),
        };
        let asked = ModelQuestions { author: QuestionAuthor::Model, questions: questions.clone() };
        let _asking = context.run_clock.pause();
        let answers = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return Outcome::Cancelled { reason: "the question was withdrawn".to_owned(), partial: None };
            }
            answers = self.queue.ask_for_model(asked) => answers,
        };
        match answers {
            Ok(answers) => Outcome::Success(output(&questions, &answers)),
            Err(NobodyListens) => CallFailure::new(
                FailureKind::Denied,
                format!(
                    "`{ASK_USER}` was not run: the user cannot be asked here, because this run is not in a terminal. \
                     Do not ask again: decide yourself, and say in your answer what you assumed and what the user \
                     should decide."
                ),
            )
            .into(),
        }
    }
}

/// The schema of the arguments.
fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "description": "The questions. Ask together what you need to know now, each about one thing.",
                "items": question_schema(),
            },
        },
        "required": ["questions"],
        "additionalProperties": false,
    })
}

fn question_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_QUESTION,
                "description": "The question, with what the user has to know in order to answer it.",
            },
            "choices": {
                "type": "array",
                "maxItems": MAX_CHOICES,
                "description": "Answers to choose from. Leave it out for a question whose answer is free text.",
                "items": choice_schema(),
            },
            "multiple": {
                "type": "boolean",
                "description": "Whether the user can take several of the choices. Default: false.",
            },
        },
        "required": ["question"],
        "additionalProperties": false,
    })
}

fn choice_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "label": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_CHOICE,
                "description": "The answer, in a few words.",
            },
            "description": {
                "type": "string",
                "maxLength": MAX_DESCRIPTION,
                "description": "What it means or costs, in one sentence.",
            },
            "recommended": {
                "type": "boolean",
                "description": "Whether you would take it: one of the choices at most. Default: false.",
            },
        },
        "required": ["label"],
        "additionalProperties": false,
    })
}

impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The first question, which may have a few words about others behind it.
    fn title(&self, call: &FunctionCall) -> String {
        let listed = call.arguments.get("questions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let first = listed.first().and_then(|first| first.get("question")).and_then(Value::as_str).unwrap_or_default();
        match listed.len().saturating_sub(1) {
            0 => title_line(first),
            more => title_line(&format!("{} (and {more} more)", excerpt(first, SHOWN_ANSWER))),
        }
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        async move { self.ask(call, &context).await }.boxed()
    }
}

/// The arguments of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    question: String,
    #[serde(default)]
    choices: Vec<Offered>,
    #[serde(default)]
    multiple: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    recommended: bool,
}

/// Returns the questions of a call. Their limits are those of the schema, for whoever calls the tool without it.
fn questions(arguments: &Map<String, Value>) -> Result<Vec<ModelQuestion>, String> {
    let Arguments { questions } = Arguments::deserialize(arguments).map_err(|error| error.to_string())?;
    if !(1..=MAX_QUESTIONS).contains(&questions.len()) {
        return Err(format!("{} questions were asked: ask 1 to {MAX_QUESTIONS} at once", questions.len()));
    }
    (1..).zip(questions).map(|(number, asked)| question(number, asked)).collect()
}

fn question(number: usize, asked: Asked) -> Result<ModelQuestion, String> {
    let Asked { question, choices, multiple } = asked;
    let has_too_many = |text: &str, most: usize| text.chars().count() > most;
    if question.trim().is_empty() || choices.iter().any(|choice| choice.label.trim().is_empty()) {
        return Err(format!("question {number} or one of its choices is empty"));
    }
    if has_too_many(&question, MAX_QUESTION) || choices.len() > MAX_CHOICES {
        return Err(format!(
            "question {number} is too long: a question has at most {MAX_QUESTION} characters and {MAX_CHOICES} choices"
        ));
    }
    let is_too_long = |choice: &Offered| {
        has_too_many(&choice.label, MAX_CHOICE) || has_too_many(&choice.description, MAX_DESCRIPTION)
    };
    if choices.iter().any(is_too_long) {
        return Err(format!(
            "a choice of question {number} is too long: it has at most {MAX_CHOICE} characters, and its description at \
             most {MAX_DESCRIPTION}"
        ));
    }
    if choices.iter().filter(|choice| choice.recommended).count() > 1 {
        return Err(format!(
            "question {number} has more than one recommended choice: mark the one that you would take"
        ));
    }
    let is_repeated = |(at, choice): (usize, &Offered)| choices[..at].iter().any(|other| other.label == choice.label);
    if choices.iter().enumerate().any(is_repeated) {
        return Err(format!("question {number} has the same choice twice"));
    }
    if multiple && choices.is_empty() {
        return Err(format!("question {number} has no choices of which several could be taken: leave out `multiple`"));
    }
    let choice = |Offered { label, description, recommended }| ModelChoice {
        label,
        description: Some(description).filter(|description| !description.trim().is_empty()),
        recommended,
    };
    Ok(ModelQuestion { text: question, choices: choices.into_iter().map(choice).collect(), multiple })
}

/// Returns what the model is told, and the line for the user.
fn output(questions: &[ModelQuestion], answers: &[ModelAnswer]) -> Output {
    let answers = answers.iter().chain(std::iter::repeat(&ModelAnswer::Dismissed));
    let answered: Vec<Answered> =
        questions.iter().zip(answers).map(|(question, answer)| Answered::new(question, answer)).collect();
    let mut told = match (questions, answered.as_slice()) {
        ([_], [only]) => only.told.clone(),
        _ => {
            let lines = (1..).zip(questions).zip(&answered).map(|((number, question), answer)| {
                let words = question.text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("{number}. {}\n{}", excerpt(&words, QUOTED), answer.told)
            });
            lines.collect::<Vec<_>>().join("\n\n")
        }
    };
    if answered.iter().any(|answer| !answer.is_answer) {
        let where_there_is_none =
            if questions.len() > 1 { "\n\nWhere there is no answer, continue" } else { " Continue" };
        told.push_str(&format!("{where_there_is_none} as seems best, and say what you assumed."));
    }
    let line = answered.iter().map(|answer| answer.line.as_str()).collect::<Vec<_>>().join(" · ");
    Output { display: Some(Display::Summary(excerpt(&line, SHOWN_ANSWER))), ..Output::text(told) }
}

/// An answer in words.
struct Answered {
    is_answer: bool,
    /// For the model.
    told: String,
    /// For the user's line about the call.
    line: String,
}

impl Answered {
    fn new(question: &ModelQuestion, answer: &ModelAnswer) -> Self {
        let words = |text: &str| Some(clip(text.trim(), MAX_ANSWER).into_owned()).filter(|text| !text.is_empty());
        let label = |index: &usize| question.choices.get(*index).map(|choice| choice.label.clone());
        let (chosen, written) = match answer {
            ModelAnswer::Choice { index } => (Vec::from_iter(label(index)), None),
            ModelAnswer::Choices { indexes, text } => {
                (indexes.iter().filter_map(label).collect(), text.as_deref().and_then(words))
            }
            ModelAnswer::Text { text } => (Vec::new(), words(text)),
            ModelAnswer::Dismissed => (Vec::new(), None),
        };
        let told = match (chosen.as_slice(), &written) {
            ([], None) => "The user did not answer.".to_owned(),
            ([], Some(written)) => format!("The user answered: {written}"),
            ([one], None) => format!("The user chose: {one}"),
            (several, None) => format!("The user chose:\n- {}", several.join("\n- ")),
            (several, Some(written)) => {
                format!("The user chose:\n- {}\nand answered: {written}", several.join("\n- "))
            }
        };
        let line = chosen.into_iter().chain(written).collect::<Vec<_>>().join(", ");
        let is_answer = !line.is_empty();
        Self { is_answer, told, line: if is_answer { line } else { "not answered".to_owned() } }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host_message::CallId;
    use host_tool::{LiveOutput, Notice, PausableClock, Registry};
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn call(arguments: Value) -> FunctionCall {
        let Value::Object(arguments) = arguments else { unreachable!("the tests give objects") };
        FunctionCall::new(CallId::new("1"), ToolName::new(ASK_USER), arguments)
    }

    fn context() -> CallContext {
        CallContext {
            cancel: CancellationToken::new(),
            live: LiveOutput::nowhere(),
            run_clock: PausableClock::default(),
            allowance: Arc::default(),
            questions: None,
            tools: None,
        }
    }

    /// The outcome of these questions when a listener replies so.
    async fn replied(questions: Value, answers: Vec<ModelAnswer>) -> Output {
        let queue = ApprovalQueue::new();
        let mut listener = queue.listen();
        let tool = AskUser::new(queue);
        let call = call(json!({"questions": questions}));
        let (outcome, ()) = tokio::join!(tool.call(&call, context()), async {
            let Some(Notice::ModelAsked { id, questions }) = listener.next().await else { panic!("it is asked") };
            assert_eq!(questions.author, QuestionAuthor::Model);
            listener.reply(id, answers).expect("it is open");
        });
        match outcome {
            Outcome::Success(output) => output,
            other => panic!("{other:?}"),
        }
    }

    fn told(output: &Output) -> (&str, &str) {
        let [host_message::OutputPart::Text(text)] = output.content.as_slice() else { panic!("{output:?}") };
        let Some(Display::Summary(line)) = &output.display else { panic!("it has a line") };
        (text, line)
    }

    fn text(text: &str) -> ModelAnswer {
        ModelAnswer::Text { text: text.to_owned() }
    }

    #[tokio::test]
    async fn ask_user_tells_the_model_what_the_user_answered() {
        let question = || json!([{"question": "Which?", "choices": [{"label": "red"}, {"label": "blue"}]}]);
        for (answer, expected, line) in [
            (ModelAnswer::Choice { index: 1 }, "The user chose: blue", "blue"),
            (text(" green\n"), "The user answered: green", "green"),
            (text(" "), "The user did not answer.", "not answered"),
            (ModelAnswer::Choice { index: 9 }, "The user did not answer.", "not answered"),
            (ModelAnswer::Dismissed, "The user did not answer. Continue as seems best, and say", "not answered"),
            (text(&"ä".repeat(10_000)), "The user answered: ää", "ää"),
        ] {
            let output = replied(question(), vec![answer]).await;
            let (text, shown) = told(&output);
            assert!(text.starts_with(expected) && text.chars().count() < MAX_ANSWER + 100, "{text}");
            assert!(shown.starts_with(line) && shown.chars().count() <= SHOWN_ANSWER + 10, "{shown}");
        }
        let output = replied(question(), Vec::new()).await;
        assert!(told(&output).0.starts_with("The user did not answer."));
    }

    // promise ask.each: A model can ask up to four questions at once, and gets each with its answer.
    #[tokio::test]
    async fn ask_user_tells_the_model_each_question_with_its_answer() {
        let questions = json!([
            {"question": "Which database?", "choices": [{"label": "SQLite", "recommended": true}, {"label": "MySQL"}]},
            {"question": "Which\nsystems?", "multiple": true,
             "choices": [{"label": "Linux"}, {"label": "macOS"}, {"label": "Windows"}]},
            {"question": "Which name?"},
            {"question": "Who is it for?"},
        ]);
        let answers = vec![
            ModelAnswer::Choice { index: 0 },
            ModelAnswer::Choices { indexes: vec![0, 2, 7], text: Some(" BSD ".to_owned()) },
            text("fuel"),
        ];
        let output = replied(questions.clone(), answers).await;
        let expected = "1. Which database?\nThe user chose: SQLite\n\n\
            2. Which systems?\nThe user chose:\n- Linux\n- Windows\nand answered: BSD\n\n\
            3. Which name?\nThe user answered: fuel\n\n\
            4. Who is it for?\nThe user did not answer.\n\n\
            Where there is no answer, continue as seems best, and say what you assumed.";
        assert_eq!(told(&output), (expected, "SQLite · Linux, Windows, BSD · fuel · not answered"));
        let tool = AskUser::new(ApprovalQueue::new());
        assert_eq!(tool.title(&call(json!({"questions": questions}))), "Which database? (and 3 more)");
        assert_eq!(tool.title(&call(json!({"questions": [{"question": "Which\nname?"}]}))), "Which↵ name?");
        assert_eq!(tool.title(&call(json!({"questions": "x"}))), "");
    }

    // promise ask.headless: Where the user cannot be asked, a model's question is denied at once, and the model has to
    //   decide.
    #[tokio::test]
    async fn ask_user_is_denied_in_words_where_nobody_listens() {
        let call = call(json!({"questions": [{"question": "Which?"}]}));
        let outcome = AskUser::new(ApprovalQueue::new()).call(&call, context()).await;
        let Outcome::Error(CallFailure { kind, message }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(kind, FailureKind::Denied);
        assert!(message.contains("the user cannot be asked here") && message.contains("decide yourself"), "{message}");
    }

    #[tokio::test]
    async fn ask_user_question_goes_away_when_the_call_is_cancelled() {
        let queue = ApprovalQueue::new();
        let mut listener = queue.listen();
        let call = call(json!({"questions": [{"question": "Which?"}]}));
        let (tool, context) = (AskUser::new(queue), context());
        let cancel = context.cancel.clone();
        let (outcome, ()) = tokio::join!(tool.call(&call, context), async {
            assert!(matches!(listener.next().await, Some(Notice::ModelAsked { .. })));
            cancel.cancel();
        });
        assert!(matches!(outcome, Outcome::Cancelled { .. }), "{outcome:?}");
        assert!(matches!(listener.next().await, Some(Notice::Withdrawn { .. })));
    }

    #[test]
    fn ask_user_question_is_bounded_by_the_schema_and_by_the_tool() {
        let mut registry = Registry::new();
        registry.register(Arc::new(AskUser::new(ApprovalQueue::new()))).expect("it can be registered");
        let check = |arguments: Value, is_valid: bool| {
            let call = call(arguments);
            assert_eq!(registry.admit(&call).is_ok(), is_valid, "{:.200?}", call.arguments);
            assert_eq!(questions(&call.arguments).is_ok(), is_valid, "{:.200?}", call.arguments);
        };
        let labels = |labels: &[&str]| Value::from_iter(labels.iter().map(|label| json!({"label": label})));
        let one = |text: &str, choices: Value| json!({"questions": [{"question": text, "choices": choices}]});
        check(one("Which?", json!([])), true);
        check(one(&"é".repeat(MAX_QUESTION), labels(&["a", "b", "c", "d", "e", "f"])), true);
        check(one("", json!([])), false);
        check(one(&"é".repeat(MAX_QUESTION + 1), json!([])), false);
        check(one("Which?", labels(&["a", "b", "c", "d", "e", "f", "g"])), false);
        check(one("Which?", labels(&[&"a".repeat(MAX_CHOICE + 1)])), false);
        check(one("Which?", labels(&[""])), false);
        check(one("Which?", json!(["a"])), false);
        check(one("Which?", json!([{"label": "a", "description": "d".repeat(MAX_DESCRIPTION)}])), true);
        check(one("Which?", json!([{"label": "a", "description": "d".repeat(MAX_DESCRIPTION + 1)}])), false);
        check(json!({"questions": []}), false);
        check(json!({"questions": vec![json!({"question": "Which?"}); MAX_QUESTIONS]}), true);
        check(json!({"questions": vec![json!({"question": "Which?"}); MAX_QUESTIONS + 1]}), false);
        check(json!({"question": "Which?"}), false);
        check(json!({}), false);
    }

    /// What a schema of each question alone does not say.
    #[test]
    fn ask_user_question_that_makes_no_sense_is_refused_in_words() {
        let check = |question: Value, says: &str| {
            let Value::Object(arguments) = json!({"questions": [{"question": "Which?"}, question]}) else {
                unreachable!("an object")
            };
            assert_eq!(questions(&arguments), Err(says.to_owned()));
        };
        let twice = json!([{"label": "a", "recommended": true}, {"label": "b", "recommended": true}]);
        check(
            json!({"question": "Which?", "choices": twice}),
            "question 2 has more than one recommended choice: mark the one that you would take",
        );
        let same = json!([{"label": "a"}, {"label": "a", "description": "b"}]);
        check(json!({"question": "Which?", "choices": same}), "question 2 has the same choice twice");
        check(
            json!({"question": "Which?", "multiple": true}),
            "question 2 has no choices of which several could be taken: leave out `multiple`",
        );
        check(json!({"question": " "}), "question 2 or one of its choices is empty");
    }
}
