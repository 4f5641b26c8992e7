//! What is asked of a server: a call of a tool, a resource, a prompt.
//!
//! Promises: a call that becomes a task is polled to its end, and cancelled when it is dropped.

use std::time::Duration;

use host_message::OutputPart;
use host_plugin::{McpAnswer, McpError};
use host_settings::mcp::McpMessage;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelTaskParams, CancelTaskRequest, ClientRequest,
    GetPromptRequest, GetPromptRequestParams, GetTaskParams, GetTaskRequest, ReadResourceRequest,
    ReadResourceRequestParams, Role, ServerResult, Task, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::content;
use super::exchange::{Exchange, TOTAL_LIMIT, seconds};

/// How often the state of an MCP server's task is asked for if the server does not say, and the limits of what it may
/// say. Protects the server, and the user who waits.
const POLL: Duration = Duration::from_secs(1);
/// See [`POLL`].
const POLL_LEAST: Duration = Duration::from_millis(100);
/// See [`POLL`].
const POLL_MOST: Duration = Duration::from_secs(30);

/// The most messages of a prompt of an MCP server. Protects the context of the model.
const MAX_MESSAGES: usize = 100;

/// Calls a tool.
pub(super) async fn tool(
    exchange: &Exchange,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<McpAnswer, McpError> {
    let request = |answers, state| {
        let mut params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments.clone());
        params.input_responses = answers;
        params.request_state = state;
        ClientRequest::CallToolRequest(CallToolRequest::new(params))
    };
    match exchange.send_with_input(request).await? {
        ServerResult::CallToolResult(result) => Ok(content::answer(result)),
        ServerResult::CreateTaskResult(created) => task(exchange, created.task).await,
        // One block of a kind that is not known makes the whole answer one that the library does not know.
        ServerResult::CustomResult(result) => content::of_unknown(&result.0)
            .ok_or_else(|| exchange.protocol("answered a call with no content".to_owned())),
        // A tool without content.
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => Ok(McpAnswer::default()),
        _ => Err(exchange.protocol("answered a call with something else".to_owned())),
    }
}

/// Waits for the end of a task, and returns its result.
async fn task(exchange: &Exchange, mut task: Task) -> Result<McpAnswer, McpError> {
    // Cancels the task if this future is dropped, and everywhere below that does not clear it.
    let mut unended = Unended { peer: &exchange.peer, id: Some(task.task_id.clone()) };
    // As one request under way, so that its questions find their call.
    let under_way = exchange.requests.begin(std::sync::Arc::clone(&exchange.listener));
    let begun = Instant::now();
    loop {
        if let Some(status) = &task.status_message {
            exchange.listener.progress(0, None, &host_text::clip(status, 500));
        }
        // A server could ask to be polled without a pause, or never.
        let pause = task.poll_interval_ms.map_or(POLL, Duration::from_millis).clamp(POLL_LEAST, POLL_MOST);
        tokio::time::sleep(pause).await;
        // Looked at after the pause, so that at least one look is made.
        if begun.elapsed() > TOTAL_LIMIT {
            return Err(McpError::Unavailable(format!(
                "the task of the MCP server `{}` did not end within {}, so it was cancelled",
                exchange.server,
                seconds(TOTAL_LIMIT)
            )));
        }
        let asked = GetTaskRequest::new(GetTaskParams::new(task.task_id.clone()));
        let ServerResult::GetTaskResult(state) = exchange.send(ClientRequest::GetTaskRequest(asked)).await? else {
            return Err(exchange.protocol("answered a question about a task with something else".to_owned()));
        };
        // What ends the task clears its id, since an ended one is not cancelled.
        match state.task.payload {
            TaskPayload::Working => {}
            TaskPayload::InputRequired { input_requests } => {
                let answers = exchange.ask(&input_requests, &under_way).await?;
                let update = UpdateTaskParams::new(task.task_id.clone(), answers);
                exchange.send(ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(update))).await?;
            }
            TaskPayload::Completed { result } => {
                unended.id = None;
                let result: Result<CallToolResult, _> = serde_json::from_value(Value::Object(result));
                let result =
                    result.map_err(|error| exchange.protocol(format!("ended a task with no result: {error}")))?;
                return Ok(content::answer(result));
            }
            TaskPayload::Failed { error } => {
                unended.id = None;
                let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
                return Err(
                    exchange.protocol(format!("says that the task failed: {}", host_text::excerpt(message, 2_000)))
                );
            }
            TaskPayload::Cancelled => {
                unended.id = None;
                return Err(McpError::Unavailable(format!("the MCP server `{}` cancelled the task", exchange.server)));
            }
            // The library's enum may grow, and an unknown state would be polled for ever.
            _ => return Err(exchange.protocol("says nothing about a task that is known".to_owned())),
        }
        task = state.task.task;
    }
}

/// A task that has not ended. Dropping it cancels the task.
struct Unended<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<String>,
}

impl Drop for Unended<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let cancel = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(CancelTaskParams::new(id)));
        runtime.spawn(async move { peer.send_request(cancel).await.ok() });
    }
}

/// Reads a resource.
pub(super) async fn resource(exchange: &Exchange, uri: &str) -> Result<Vec<OutputPart>, McpError> {
    let request = |answers, state| {
        let mut params = ReadResourceRequestParams::new(uri);
        params.input_responses = answers;
        params.request_state = state;
        ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
    };
    match exchange.send_with_input(request).await? {
        ServerResult::ReadResourceResult(result) => {
            Ok(result.contents.into_iter().filter_map(content::resource).collect())
        }
        _ => Err(exchange.protocol("answered a request for a resource with something else".to_owned())),
    }
}

/// Fills in a prompt.
pub(super) async fn prompt(
    exchange: &Exchange,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<Vec<McpMessage>, McpError> {
    let request = |answers, state| {
        let mut params = GetPromptRequestParams::new(name).with_arguments(arguments.clone());
        // The same request again, with the answers that the server wanted.
        params.input_responses = answers;
        params.request_state = state;
        ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
    };
    match exchange.send_with_input(request).await? {
        ServerResult::GetPromptResult(result) if result.messages.len() > MAX_MESSAGES => {
            Err(exchange.protocol(format!("answered with a prompt of over {MAX_MESSAGES} messages")))
        }
        ServerResult::GetPromptResult(result) => {
            let message = |message: rmcp::model::PromptMessage| {
                let is_model = matches!(message.role, Role::Assistant);
                Some(McpMessage { is_model, content: content::part(message.content)? })
            };
            Ok(result.messages.into_iter().filter_map(message).collect())
        }
        _ => Err(exchange.protocol("answered a request for a prompt with something else".to_owned())),
    }
}
