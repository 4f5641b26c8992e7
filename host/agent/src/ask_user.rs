//! `ask_user`: the tool with which a model asks the user. It runs in the host itself, like the rest of the agent.
//!
//! Promises: the question goes through the approval queue, so that any frontend can answer it; it is about no call, and
//! no answer allows one; its texts and the answer are bounded; without a listener the call is denied at once, with
//! words that say how to continue. The clock of the run is paused while the user is asked. It is not marked as
//! read-only, so it runs alone: nothing else is asked at the same time.
//!
//! Deliberately not here: how a question is shown, and questions about calls (`host_tool::Gate`).

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use host_message::{Annotations, Display, FunctionCall, Output, ToolName, ToolSpec};
use host_text::{clip, excerpt};
use host_tool::{
    ApprovalQueue, CallContext, CallFailure, FailureKind, ModelAnswer, ModelQuestion, NobodyListens, Outcome,
    QuestionAuthor, Tool,
};
use serde_json::{Map, Value, json};

/// The name of the tool.
pub const ASK_USER: &str = "ask_user";

/// The longest question, in characters. Protects the terminal of the user who reads it.
const MAX_QUESTION: usize = 2_000;
/// The most choices: with two of the frontend's own no more than there are digits.
const MAX_CHOICES: usize = 6;
/// The longest choice, in characters. See [`MAX_QUESTION`].
const MAX_CHOICE: usize = 200;
/// The longest answer of the user that is passed to the model, in characters. Protects its window.
const MAX_ANSWER: usize = 4_000;
/// How much of an answer the user's line about the call has, in characters.
const SHOWN_ANSWER: usize = 60;

const DESCRIPTION: &str = "\
Asks the user one question and waits for the answer. Use it when the task cannot be done well without something that \
only the user knows: a preference, a choice between designs, a missing requirement. Find out everything else yourself, \
and do not ask whether you may call a tool: the user is asked about that anyway, and an answer here allows nothing. \
Offer choices where the answers are known; the user can always write another one.";

/// The tool. Clones ask over the same queue.
#[derive(Clone)]
pub struct AskUser {
    spec: ToolSpec,
    queue: ApprovalQueue,
}

impl AskUser {
    /// Creates the tool, whose questions go to the listeners of this queue.
    pub fn new(queue: ApprovalQueue) -> Self {
        let input_schema = json!({
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
                    "items": {"type": "string", "minLength": 1, "maxLength": MAX_CHOICE},
                    "maxItems": MAX_CHOICES,
                    "uniqueItems": true,
                    "description": "Answers to choose from, the one that you recommend first. Leave it out for a question \
                                    whose answer is free text.",
                },
            },
            "required": ["question"],
            "additionalProperties": false,
        });
        let spec = ToolSpec {
            name: ToolName::new(ASK_USER),
            title: Some("Ask the user".to_owned()),
            description: DESCRIPTION.to_owned(),
            input_schema: Arc::new(input_schema),
            output_schema: None,
            // Not read-only, so that the scheduler runs it alone: nothing else is asked at the same time.
            annotations: Annotations { read_only: false, destructive: false, idempotent: false, open_world: false },
        };
        Self { spec, queue }
    }

    async fn ask(&self, call: &FunctionCall, context: &CallContext) -> Outcome {
        // Before the clock stops: an invalid question is an answer to the model, and nobody is asked.
        let question = match question(&call.arguments) {
            Ok(question) => question,
            Err(why) => return CallFailure::new(FailureKind::InvalidArguments, why).into(),
        };
        let choices = question.choices.clone();
        let _asking = context.run_clock.pause();
        let answer = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                return Outcome::Cancelled { reason: "the question was withdrawn".to_owned(), partial: None };
            }
            answer = self.queue.ask_for_model(question) => answer,
        };
        match answer {
            Ok(answer) => Outcome::Success(output(&answer, &choices)),
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

impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, call: &'a FunctionCall, context: CallContext) -> BoxFuture<'a, Outcome> {
        async move { self.ask(call, &context).await }.boxed()
    }
}

/// Returns the question of a call. Its limits are those of the schema, for whoever calls the tool without it.
fn question(arguments: &Map<String, Value>) -> Result<ModelQuestion, String> {
    let text = arguments.get("question").and_then(Value::as_str).unwrap_or_default();
    let listed = arguments.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let choices: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
    let is_blank = |text: &&str| text.trim().is_empty();
    if is_blank(&text) || choices.iter().any(is_blank) {
        return Err("the question or one of its choices is empty".to_owned());
    }
    let fits = |text: &str, most: usize| text.chars().count() <= most;
    if !fits(text, MAX_QUESTION) || choices.len() > MAX_CHOICES || !choices.iter().all(|text| fits(text, MAX_CHOICE)) {
        return Err(format!(
            "a question has at most {MAX_QUESTION} characters and {MAX_CHOICES} choices, each of at most {MAX_CHOICE} \
             characters"
        ));
    }
    let choices = choices.into_iter().map(str::to_owned).collect();
    Ok(ModelQuestion { author: QuestionAuthor::Model, text: text.to_owned(), choices })
}

/// Returns what the model is told, and the line for the user.
fn output(answer: &ModelAnswer, choices: &[String]) -> Output {
    let (told, line) = match answer {
        ModelAnswer::Choice { index } => match choices.get(*index) {
            Some(choice) => (format!("The user chose: {choice}"), excerpt(choice, SHOWN_ANSWER)),
            None => return output(&ModelAnswer::Dismissed, choices),
        },
        ModelAnswer::Text { text } if text.trim().is_empty() => return output(&ModelAnswer::Dismissed, choices),
        ModelAnswer::Text { text } => {
            let text = text.trim();
            (format!("The user answered: {}", clip(text, MAX_ANSWER)), excerpt(text, SHOWN_ANSWER))
        }
        ModelAnswer::Dismissed => {
            let told = "The user did not answer. Continue as seems best, and say what you assumed.";
            (told.to_owned(), "not answered".to_owned())
        }
    };
    Output { display: Some(Display::Summary(line)), ..Output::text(told) }
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
        }
    }

    /// The outcome when a listener replies so.
    async fn answered(answer: ModelAnswer) -> Outcome {
        let queue = ApprovalQueue::new();
        let mut listener = queue.listen();
        let tool = AskUser::new(queue);
        let call = call(json!({"question": "Which?", "choices": ["red", "blue"]}));
        let (outcome, ()) = tokio::join!(tool.call(&call, context()), async {
            let Some(Notice::ModelAsked { id, question }) = listener.next().await else { panic!("it is asked") };
            assert_eq!(question.choices, ["red", "blue"]);
            listener.reply(id, answer).expect("it is open");
        });
        outcome
    }

    #[tokio::test]
    async fn ask_user_tells_the_model_what_the_user_answered() {
        let long = "ä".repeat(10_000);
        for (answer, told, line) in [
            (ModelAnswer::Choice { index: 1 }, "The user chose: blue", "blue"),
            (ModelAnswer::Text { text: " green\n".to_owned() }, "The user answered: green", "green"),
            (ModelAnswer::Text { text: " ".to_owned() }, "The user did not answer.", "not answered"),
            (ModelAnswer::Choice { index: 9 }, "The user did not answer.", "not answered"),
            (ModelAnswer::Dismissed, "The user did not answer.", "not answered"),
            (ModelAnswer::Text { text: long }, "The user answered: ää", "ää"),
        ] {
            let Outcome::Success(output) = answered(answer.clone()).await else { panic!("{answer:?}") };
            let [host_message::OutputPart::Text(text)] = output.content.as_slice() else { panic!("{output:?}") };
            assert!(text.starts_with(told) && text.chars().count() < MAX_ANSWER + 100, "{text}");
            let Some(Display::Summary(shown)) = output.display else { panic!("it has a line") };
            assert!(shown.starts_with(line) && shown.chars().count() <= SHOWN_ANSWER + 10, "{shown}");
        }
    }

    // promise ask.headless: Where the user cannot be asked, a model's question is denied at once, and the model has to
    //   decide.
    #[tokio::test]
    async fn ask_user_is_denied_in_words_where_nobody_listens() {
        let outcome = AskUser::new(ApprovalQueue::new()).call(&call(json!({"question": "Which?"})), context()).await;
        let Outcome::Error(CallFailure { kind, message }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(kind, FailureKind::Denied);
        assert!(message.contains("the user cannot be asked here") && message.contains("decide yourself"), "{message}");
    }

    #[tokio::test]
    async fn ask_user_question_goes_away_when_the_call_is_cancelled() {
        let queue = ApprovalQueue::new();
        let mut listener = queue.listen();
        let (tool, context, call) = (AskUser::new(queue), context(), call(json!({"question": "Which?"})));
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
            assert_eq!(question(&call.arguments).is_ok(), is_valid, "{:.200?}", call.arguments);
        };
        check(json!({"question": "Which?", "choices": []}), true);
        check(json!({"question": "é".repeat(MAX_QUESTION), "choices": ["a", "b", "c", "d", "e", "f"]}), true);
        check(json!({"question": ""}), false);
        check(json!({"question": "é".repeat(MAX_QUESTION + 1)}), false);
        check(json!({"question": "Which?", "choices": ["a", "b", "c", "d", "e", "f", "g"]}), false);
        check(json!({"question": "Which?", "choices": ["a".repeat(MAX_CHOICE + 1)]}), false);
        check(json!({"question": "Which?", "choices": [""]}), false);
    }
}
