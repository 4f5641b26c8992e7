//! A question as a form that a client shows, and its answer.
//!
//! Promises: an answer that was not offered, a form that was declined and one that was dismissed reject the call.
//!
//! Deliberately not here: the words of a question (`host-app`), and what an answer allows (`host-tool`).

use std::time::Duration;

use host_app::question::{self, Choice, QuestionPage};
use host_tool::{Answer, Question};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};

/// The name of the question among the inputs that a call requires.
pub(super) const KEY: &str = "approval";

/// How long a client may take to answer a form.
const ANSWER_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The longest text that a user can change in a form, in bytes: a form has one line or a few.
const EDITABLE_BYTES: usize = 8_000;

/// The reason for a call whose answer was none of the form's.
const NOT_OFFERED: &str = "the answer is not one of those that were offered";

/// How a client asks its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// With a request of ours, while the call is under way: the revisions before 2026-07-28.
    InRequest,
    /// With a result that requires input, after which the client repeats the call.
    InResult,
    /// Not at all.
    Nobody,
}

impl Asks {
    /// Returns how the client of a request asks: as it said in the request, or when it began.
    pub(super) fn from_request(context: &RequestContext<RoleServer>) -> Self {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // Without any mode a client means forms; that was the only one at first.
        let has_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let is_new = context.protocol_version().is_some_and(|version| !version.has_initialize());
        match (has_forms, is_new) {
            (false, _) => Self::Nobody,
            (true, true) => Self::InResult,
            (true, false) => Self::InRequest,
        }
    }
}

/// Asks the client's user, and waits for the answer. `None` if the user cannot be asked after all.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    question: &Question,
    version: Option<ProtocolVersion>,
) -> Option<Answer> {
    let has_titles = version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2025_11_25.as_str());
    let form = form(question, has_titles)?;
    match peer.create_elicitation_with_timeout(form, Some(ANSWER_LIMIT)).await {
        Ok(result) => Some(of_result(result, question)),
        Err(error) => {
            tracing::info!(%error, "the client did not show a question");
            None
        }
    }
}

/// Returns the question as the input that a call requires.
pub(super) fn required(question: &Question) -> Option<InputRequests> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question, true)?));
    Some(InputRequests::from([(KEY.to_owned(), request)]))
}

/// Returns the answer in the response to a required input.
pub(super) fn of_response(response: Value, question: &Question) -> Answer {
    match serde_json::from_value::<ElicitResult>(response) {
        Ok(result) => of_result(result, question),
        Err(_) => not_offered(),
    }
}

fn of_result(result: ElicitResult, question: &Question) -> Answer {
    match result.action {
        ElicitationAction::Accept => of_content(result.content.as_ref(), question),
        _ => Answer::Cancel { reason: None },
    }
}

fn of_content(content: Option<&Value>, question: &Question) -> Answer {
    let field = |name: &str| content?.get(name)?.as_str();
    let choices = QuestionPage::new(question).answers;
    let chosen = field("answer").and_then(|id| choices.iter().find(|choice| choice.id == id));
    let text = field("text").filter(|text| text.len() <= MAX_TEXT).map(str::to_owned);
    chosen.and_then(|choice| choice.answer(text)).unwrap_or_else(not_offered)
}

/// The longest text that comes with an answer, in bytes. Protects the call, which gets it.
const MAX_TEXT: usize = 1 << 20;

fn not_offered() -> Answer {
    Answer::Cancel { reason: Some(NOT_OFFERED.to_owned()) }
}

fn form(question: &Question, has_titles: bool) -> Option<ElicitRequestParams> {
    // The same page as every frontend's, so that nothing is left out here.
    let choices = QuestionPage::new(question).answers;
    let ids: Vec<&str> = choices.iter().map(|choice| choice.id).collect();
    let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
    let mut answer = json!({"type": "string", "title": "Answer", "description": "Whether the call may run"});
    // Older revisions know only the second form.
    if has_titles {
        let titled = choices.iter().map(|Choice { id, label, .. }| json!({"const": id, "title": label}));
        answer["oneOf"] = titled.collect();
    } else {
        answer["enum"] = json!(ids);
        answer["enumNames"] = json!(labels);
    }
    let editable = question::editable(question).filter(|text| text.len() <= EDITABLE_BYTES);
    let about = match editable {
        Some(_) => "With `edit`, what to use instead; with `reject`, what the model should do instead",
        None => "With `reject`, what the model should do instead",
    };
    let mut text = json!({"type": "string", "title": "Text", "description": about});
    if let Some(editable) = editable {
        text["default"] = json!(editable);
    }
    let schema = json!({
        "type": "object",
        "properties": {"answer": answer, "text": text},
        "required": ["answer"],
    });
    let requested_schema: ElicitationSchema = match serde_json::from_value(schema) {
        Ok(schema) => schema,
        Err(error) => {
            tracing::error!(%error, "a form cannot be made");
            return None;
        }
    };
    let offered: String = choices.iter().map(|Choice { id, label, .. }| format!("{id}: {label}\n")).collect();
    let message = format!("{}\nAnswers:\n{offered}", question::text(question));
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}
