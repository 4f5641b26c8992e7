//! Questions about calls, asked as permission requests of the client.
//!
//! Promises: only an answer that the question offers allows anything; a client that answers anything else, fails or
//! goes away has said no. A question that is withdrawn, or answered elsewhere, is cancelled at the client.
//!
//! Deliberately not here: what an answer means (`host_tool::Gate`), and the questions of `ask_user`, which this
//! frontend does not show: the model has to decide by itself.

use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use host_app::question::{Block, Choice, QuestionPage, Title};
use host_text::{Newlines, escape_exact, exact, fenced};
use host_tool::{Answer, Listener, Notice, Question, Until};

use crate::calls::{self, Tools};
use crate::connection::Connection;
use crate::outbox::Outbox;
use crate::updates::call_id;

/// The columns of a client's questions, as far as anybody knows.
const COLUMNS: usize = 80;

/// The client, who is asked about the calls of one session.
pub(crate) struct Asking {
    pub(crate) connection: Connection,
    pub(crate) session: SessionId,
    pub(crate) outbox: Outbox,
    pub(crate) tools: Arc<Tools>,
}

impl Asking {
    /// Asks until the session ends.
    pub(crate) async fn ask_all(self, mut listener: Listener) {
        while let Some(notice) = listener.next().await {
            match notice {
                Notice::Asked { id, question } => {
                    let answer = tokio::select! {
                        answer = self.ask(&question) => answer,
                        () = listener.settled(id) => continue,
                    };
                    // A question that was withdrawn meanwhile needs no answer.
                    listener.answer(id, answer).ok();
                }
                Notice::ModelAsked { id, .. } => listener.give_up(id),
                Notice::Answered { .. } | Notice::Withdrawn { .. } => {}
            }
        }
    }

    async fn ask(&self, question: &Question) -> Answer {
        let page = QuestionPage::new(question);
        let offers = offered(&page.answers);
        let options = offers.iter().enumerate().map(|(at, offer)| option(at, offer)).collect();
        let request = RequestPermissionRequest::new(self.session.clone(), self.shown(question, page), options);
        // The client has to know the call before it is asked about it.
        self.outbox.flush().await;
        let no = || Answer::Cancel { reason: None };
        let response = match self.connection.send_request(request).block_task().await {
            Ok(response) => response,
            Err(error) => {
                tracing::info!(message = error.message, "the client cannot ask about a call, which is a no");
                return no();
            }
        };
        match response.outcome {
            RequestPermissionOutcome::Selected(selected) => {
                let chosen = selected.option_id.0.parse::<usize>().ok().and_then(|at| offers.get(at));
                chosen.map_or_else(no, |(answer, _)| answer.clone())
            }
            _ => no(),
        }
    }

    /// The call that is asked about: what it would do, and nothing that it only claims.
    fn shown(&self, question: &Question, page: QuestionPage) -> ToolCallUpdate {
        let call = &question.call;
        let (title, contents) = drawn(page, &|path| self.tools.absolute(path));
        let fields = ToolCallUpdateFields::new()
            .title(title)
            .kind(self.tools.kind(call.name.as_str()))
            .status(ToolCallStatus::Pending)
            .content(contents);
        ToolCallUpdate::new(call_id(&question.agent_id, &call.id), fields)
    }
}

/// Returns the title and the contents in which a client shows a question.
fn drawn(page: QuestionPage, absolute: &dyn Fn(&str) -> Option<PathBuf>) -> (String, Vec<ToolCallContent>) {
    // The answers are options of the request.
    let QuestionPage { title: Title { words, name, .. }, blocks, answers: _ } = page;
    let mut title = if name.is_empty() { words } else { format!("{words} {name}") };
    let mut drawn = Drawn::default();
    for block in blocks {
        match block {
            Block::Reason(words) => drawn.line(format!("in the model's words: {words}")),
            Block::Code { language, text } => drawn.content(code(language, &text)),
            Block::Prose(text) | Block::Plan(text) => drawn.content(calls::text(&text)),
            Block::Difference { path, unified } => {
                let absolute = path.and_then(|path| absolute(&path));
                let changes = absolute.map(|absolute| calls::changes(&absolute, &unified).0).unwrap_or_default();
                // A client shows changes beside the file; where there is none it gets the text.
                match changes.is_empty() {
                    true => drawn.content(code("diff", &unified)),
                    false => changes.into_iter().for_each(|change| drawn.content(change)),
                }
            }
            Block::Names(names) => title = format!("{title}: {}", names.join("; ")),
            Block::Effects(summary) => summary.line().into_iter().for_each(|line| drawn.line(line)),
            Block::Commands(commands) => drawn.list("it runs", commands.to_list(COLUMNS)),
            Block::List { label, items, .. } => drawn.list(label, &items),
            Block::Note(words) | Block::Objection(words) => drawn.line(words),
        }
    }
    (title, drawn.contents())
}

/// The contents of a question: lines that follow each other are one.
#[derive(Default)]
struct Drawn {
    contents: Vec<ToolCallContent>,
    lines: Vec<String>,
}

impl Drawn {
    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    fn list(&mut self, label: &str, items: &[String]) {
        self.lines.extend(items.iter().map(|item| format!("{label}: {}", exact(item))));
    }

    fn content(&mut self, content: ToolCallContent) {
        self.end_lines();
        self.contents.push(content);
    }

    fn end_lines(&mut self) {
        if !self.lines.is_empty() {
            self.contents.push(ToolCallContent::from(std::mem::take(&mut self.lines).join("\n")));
        }
    }

    fn contents(mut self) -> Vec<ToolCallContent> {
        self.end_lines();
        self.contents
    }
}

/// Text in which nothing is hidden, as a block of code.
fn code(language: &str, text: &str) -> ToolCallContent {
    ToolCallContent::from(fenced(language, &escape_exact(text, Newlines::Keep)))
}

/// The answers that the client can choose: a list cannot change what is proposed.
fn offered(answers: &[Choice]) -> Vec<(Answer, String)> {
    answers.iter().filter_map(|choice| Some((choice.answer(None)?, choice.label.clone()))).collect()
}

fn option(at: usize, (answer, label): &(Answer, String)) -> PermissionOption {
    let kind = match answer {
        Answer::ProceedOnce | Answer::ProceedWithoutWalls | Answer::Switch { .. } | Answer::Modify { .. } => {
            PermissionOptionKind::AllowOnce
        }
        Answer::Proceed { until: Until::SessionEnds | Until::TakenBack, .. } => PermissionOptionKind::AllowAlways,
        Answer::Cancel { .. } => PermissionOptionKind::RejectOnce,
    };
    PermissionOption::new(at.to_string(), label.clone(), kind)
}

#[cfg(test)]
mod tests {
    use host_capability::{Grants, PluginName};
    use host_message::{AgentId, CallId, FunctionCall, ToolName};
    use host_plugin::Confirmation;
    use host_tool::{About, ApprovalMode, Origin, simple_commands};
    use serde_json::{Map, Value, json};

    use super::*;

    fn question(confirmation: Confirmation, about: About) -> Question {
        let commands = match &confirmation {
            Confirmation::Exec { argv, .. } => simple_commands(argv),
            Confirmation::Edit { .. }
            | Confirmation::Edits { .. }
            | Confirmation::Info { .. }
            | Confirmation::Mcp { .. }
            | Confirmation::Call => Vec::new(),
        };
        let arguments = Map::from_iter([("description".to_owned(), json!("to see"))]);
        Question {
            agent: "main".to_owned(),
            agent_id: AgentId::new("main"),
            call: Arc::new(FunctionCall::new(CallId::new("c"), ToolName::new("builds"), arguments)),
            origin: Some(Origin { plugin: PluginName::new("strange"), digest: "0".repeat(64) }),
            confirmation,
            about,
            commands,
            effects: Vec::new(),
            touches: Grants::none(),
            reasons: vec!["a reason of a rule".to_owned()],
            not_undone: vec!["what lies elsewhere".to_owned()],
            can_leave_walls: false,
            mode: ApprovalMode::AutoEdit,
            switches: Vec::new(),
            always: Vec::new(),
            objection: Some("the text was empty".to_owned()),
        }
    }

    /// All texts in a value, joined.
    fn texts(value: &Value) -> String {
        match value {
            Value::String(text) => format!("{text}\n"),
            Value::Array(values) => values.iter().map(texts).collect(),
            Value::Object(fields) => fields.values().map(texts).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
        }
    }

    // promise approval.page
    #[test]
    fn client_shows_everything_that_a_question_says() {
        let unified = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old line\n+new line\n".to_owned();
        let argv = ["sh", "-c", "make && $(rm -rf x)"].map(str::to_owned).to_vec();
        let confirmations = [
            Confirmation::Exec {
                argv,
                directory: "sub".into(),
                input: Some("the input".into()),
                ground: host_plugin::Ground::Background,
            },
            Confirmation::Edit { path: "f".into(), unified: unified.clone(), proposed: "new line\n".into() },
            Confirmation::Info {
                text: "It fetches a page.".into(),
                requests: vec![("GET".into(), "https://example.org/a".into())],
                writes: vec!["out.html".into()],
            },
            Confirmation::Mcp {
                server: "lab".into(),
                identity: "node lab.js".into(),
                tool: "measure".into(),
                changed: Some(unified),
            },
            Confirmation::Call,
        ];
        let abouts = [
            About::Reading { path: "/etc/motd".into() },
            About::Reaching { program: "cargo".into(), what: Some("crates"), servers: vec!["a.example:443".into()] },
            About::Plan { text: "Look, then change".into(), modes: vec![ApprovalMode::Auto] },
        ];
        let calls = confirmations.map(|confirmation| question(confirmation, About::Call)).into_iter();
        for asked in calls.chain(abouts.map(|about| question(Confirmation::Call, about))) {
            let page = QuestionPage::new(&asked);
            for absolute in [None, Some(PathBuf::from("/w/f"))] {
                let (title, contents) = drawn(page.clone(), &|_| absolute.clone());
                let shown = title + "\n" + &texts(&serde_json::to_value(contents).expect("JSON"));
                for words in page.words() {
                    assert!(shown.contains(words.trim()), "`{words}` is not in:\n{shown}");
                }
            }
        }
    }
}
