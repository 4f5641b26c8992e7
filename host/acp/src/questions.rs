//! Questions about calls, asked as permission requests of the client.
//!
//! Promises: only an answer that the question offers allows anything; a client that answers anything else, fails or
//! goes away has said no. A question that is withdrawn, or answered elsewhere, is cancelled at the client.
//!
//! Deliberately not here: what an answer means (`host_tool::Gate`), and the questions of `ask_user`, which this
//! frontend does not show: the model has to decide by itself.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use host_app::question::{
    Summary, Touches, asker, choices, commands_to_list, reaching, reason_of_model, server_in_words,
};
use host_plugin::{Confirmation, command_line};
use host_text::{Newlines, escape_exact, exact, fenced};
use host_tool::{About, Answer, ApprovalMode, Listener, Notice, Question, Until};

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
        let offers = offered(question);
        let options = offers.iter().enumerate().map(|(at, offer)| option(at, offer)).collect();
        let request = RequestPermissionRequest::new(self.session.clone(), self.shown(question), options);
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
    fn shown(&self, question: &Question) -> ToolCallUpdate {
        let call = &question.call;
        let tool = exact(call.name.as_str());
        let who = match question.agent_id.is_subagent() {
            true => format!("{tool} (of the agent {})", exact(&question.agent)),
            false => tool.into_owned(),
        };
        let (title, mut contents) = match &question.about {
            About::Reading { path } => {
                let path = exact(&path.display().to_string()).into_owned();
                (format!("{who} wants to read outside of the workspace: {path}"), Vec::new())
            }
            About::Reaching { program, what, servers } => {
                let about = servers;
                let servers = servers.iter().map(|server| server_in_words(server)).collect::<Vec<_>>();
                (format!("{}: {}", reaching(program, *what, about), servers.join("; ")), Vec::new())
            }
            About::Plan { text, .. } => ("The plan".to_owned(), vec![calls::text(text)]),
            About::Call => self.about_call(question, &who),
        };
        let mut notes: Vec<String> =
            question.reasons.iter().map(|reason| format!("reason: {}", exact(reason))).collect();
        if question.mode != ApprovalMode::Default {
            notes.push(format!("{} mode", question.mode));
        }
        notes.extend(question.objection.as_deref().map(|objection| exact(objection).into_owned()));
        if !notes.is_empty() {
            contents.push(ToolCallContent::from(notes.join("\n")));
        }
        let fields = ToolCallUpdateFields::new()
            .title(title)
            .kind(self.tools.kind(call.name.as_str()))
            .status(ToolCallStatus::Pending)
            .content(contents);
        ToolCallUpdate::new(call_id(&question.agent_id, &call.id), fields)
    }

    fn about_call(&self, question: &Question, who: &str) -> (String, Vec<ToolCallContent>) {
        match &question.confirmation {
            Confirmation::Exec { argv, directory, input, background } => {
                let place = if directory == "." { String::new() } else { format!(" in {}", exact(directory)) };
                let ground = if *background { " in the background" } else { "" };
                let mut contents = vec![code("sh", &command_line(argv))];
                // What it does, and each command by itself, so that none hides behind the others.
                let reason = reason_of_model(question).map(|words| format!("in the model's words: {words}"));
                let commands = commands_to_list(question, COLUMNS).iter();
                let commands = commands.map(|command| format!("it runs: {}", exact(&command.text)));
                let lines: Vec<String> =
                    reason.into_iter().chain(Summary::new(question).line()).chain(commands).collect();
                if !lines.is_empty() {
                    contents.push(ToolCallContent::from(lines.join("\n")));
                }
                if let Some(input) = input {
                    contents.push(ToolCallContent::from("which reads this:".to_owned()));
                    contents.push(code("", input));
                }
                (format!("{who} wants to run this command{ground}{place}"), contents)
            }
            Confirmation::Edit { path, unified, .. } => {
                let absolute = self.tools.absolute(path);
                let changes = absolute.map(|absolute| calls::changes(&absolute, unified).0).unwrap_or_default();
                let contents = if changes.is_empty() { vec![code("diff", unified)] } else { changes };
                (format!("{who} wants to change {}", exact(path)), contents)
            }
            Confirmation::Info { text, requests, writes } => {
                let requests =
                    requests.iter().map(|(method, url)| format!("it sends: {} {}", exact(method), exact(url)));
                let writes = writes.iter().map(|path| format!("it changes: {}", exact(path)));
                let lines: Vec<String> = requests.chain(writes).collect();
                let mut contents = vec![calls::text(text)];
                if !lines.is_empty() {
                    contents.push(ToolCallContent::from(lines.join("\n")));
                }
                (format!("{who} wants to do this"), contents)
            }
            Confirmation::Mcp { server, identity, tool, changed } => {
                let arguments = serde_json::to_string_pretty(&question.call.arguments).unwrap_or_default();
                let mut contents = vec![code("json", &arguments)];
                contents.push(ToolCallContent::from(format!("`{server}` is: {}", exact(identity))));
                if let Some(changed) = changed {
                    let words = "what the server says about this tool has changed since you allowed it:";
                    contents.push(ToolCallContent::from(words.to_owned()));
                    contents.push(code("diff", changed));
                }
                (format!("{} wants to call `{}` of the MCP server `{server}`", asker(question), exact(tool)), contents)
            }
            Confirmation::Call => {
                let arguments = serde_json::to_string_pretty(&question.call.arguments).unwrap_or_default();
                let mut contents = vec![code("json", &arguments)];
                let Touches { capabilities, exceptions } = Touches::new(&question.touches);
                let lines = |label: &str, all: Vec<String>| -> Vec<String> {
                    all.iter().map(|one| format!("{label}: {}", exact(one))).collect()
                };
                let all = [lines("it could touch", capabilities), lines("but not", exceptions)].concat();
                if !all.is_empty() {
                    contents.push(ToolCallContent::from(all.join("\n")));
                }
                (format!("{who} wants to run with these arguments"), contents)
            }
        }
    }
}

/// Text in which nothing is hidden, as a block of code.
fn code(language: &str, text: &str) -> ToolCallContent {
    ToolCallContent::from(fenced(language, &escape_exact(text, Newlines::Keep)))
}

/// The answers that the client can choose: a list cannot change what is proposed.
fn offered(question: &Question) -> Vec<(Answer, String)> {
    let answers = choices(question).into_iter();
    answers.filter_map(|choice| Some((choice.answer(None)?, choice.label))).collect()
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
