//! The client as the conformance suite of the protocol runs it: with the address of a server as its last argument, and
//! the name of a scenario in `MCP_CONFORMANCE_SCENARIO`. With `-- COMMAND` it tries a server that is a program.
//!
//! It does what a session does: it connects, logs in if the server wants that, reads the lists, and calls the tools. A
//! user who logs in is played by a request to the address that is shown, and to where that leads.

#![expect(clippy::print_stderr, reason = "the suite shows it beside what failed")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{Capability, Grants, McpServerName, PluginName, Resources, Scope};
use host_mcp::Connector;
use host_plugin::{
    CallListener, Elicitation, ElicitationAnswer, McpAnswer, McpClient, McpError, Runtime, RuntimeOptions,
};
use host_process::ConfineMode;
use host_settings::mcp::{
    McpAddress, McpConnector, McpProgram, McpServer, McpServers, McpSetup, McpState, McpStatus, McpTransport,
};
use host_text::Secret;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// How often a scenario may want another login.
const LOGINS: usize = 3;

/// How long a scenario may take. The suite waits for thirty seconds.
const LIMIT: Duration = Duration::from_secs(25);

/// The address of a document about this client, which a scenario expects.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> ExitCode {
    let url = std::env::args().next_back().unwrap_or_default();
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context = serde_json::from_str(&context).unwrap_or_default();
    let ran = tokio::time::timeout(LIMIT, run(&url, &scenario, &context)).await;
    match ran.unwrap_or_else(|_| Err("it takes too long".to_owned())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{scenario}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Accepts every question, with the form's own values.
struct Accepts;

impl CallListener for Accepts {
    fn output(&self, _text: &str) {}
    fn progress(&self, _done: u64, _total: Option<u64>, _message: &str) {}
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        eprintln!("asked: {question:?}");
        Box::pin(async { ElicitationAnswer::Accepted(Map::new()) })
    }
}

async fn run(url: &str, scenario: &str, context: &Value) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let name = McpServerName::parse("suite").map_err(|error| error.to_string())?;
    let client_id = match scenario {
        "auth/basic-cimd" => Some(CLIENT_DOCUMENT.to_owned()),
        _ => context["client_id"].as_str().map(str::to_owned),
    };
    let client_secret = context["client_secret"].as_str().map(Secret::new);
    let address =
        McpAddress { url: url.to_owned(), headers: BTreeMap::new(), reaches_private: false, client_id, client_secret };
    let server = McpServer {
        name: name.clone(),
        transport: program().map_or(McpTransport::Http(address), McpTransport::Program),
        timeout: Duration::from_secs(20),
        tools: None,
        is_required: true,
        trusts_hints: false,
        origin: PathBuf::new(),
    };
    let setup = McpSetup {
        servers: vec![server],
        runtime: Arc::new(Runtime::new(RuntimeOptions {
            environment: std::env::vars_os().collect(),
            ..RuntimeOptions::default()
        })),
        folder: folder.path().join("mcp"),
    };
    let servers = Connector.connect(setup);
    let status = ready(&*servers, &name).await?;
    eprintln!("ready: {:?} with {} tools", status.revision, status.tools.len());
    for (tool, arguments) in wanted(&status, context) {
        let mut answer = call(&*servers, &name, &tool, arguments.clone()).await;
        for _ in 0..LOGINS {
            if !matches!(answer, Err(McpError::NeedsLogin(_))) {
                break;
            }
            log_in(&*servers, &name).await?;
            ready(&*servers, &name).await?;
            answer = call(&*servers, &name, &tool, arguments.clone()).await;
        }
        eprintln!("{tool}: {answer:?}");
    }
    for prompt in &status.prompts {
        eprintln!("{}: {:?}", prompt.name, servers.prompt(&name, &prompt.name, Map::new()).await);
    }
    for resource in &status.resources {
        eprintln!("{}: {:?}", resource.uri, servers.resource(&name, &resource.uri).await);
    }
    Ok(())
}

/// The calls that a scenario wants; if it does not say, each tool once.
fn wanted(status: &McpStatus, context: &Value) -> Vec<(String, Map<String, Value>)> {
    let Some(calls) = context["toolCalls"].as_array() else {
        return status.tools.iter().map(|tool| (tool.name.clone(), arguments(status, &tool.input_schema))).collect();
    };
    let wanted = |call: &Value| {
        (
            call["name"].as_str().unwrap_or_default().to_owned(),
            call["arguments"].as_object().cloned().unwrap_or_default(),
        )
    };
    calls.iter().map(wanted).collect()
}

/// The program to run as a server: what follows `--`, if anything does.
fn program() -> Option<McpProgram> {
    let command: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(1).collect();
    let directory = Some(std::env::current_dir().ok()?);
    // The servers of the suite are found in folders of its own.
    let (environment, confine) = (BTreeMap::new(), ConfineMode::Off);
    let resources = Resources::default();
    (!command.is_empty()).then(|| McpProgram { command, directory, files: Vec::new(), confine, environment, resources })
}

/// Waits until the server answers, and logs in when it wants that.
async fn ready(servers: &dyn McpServers, name: &McpServerName) -> Result<McpStatus, String> {
    let (mut changes, mut logins) = (servers.changes(), 0);
    loop {
        let status = servers.statuses().into_iter().find(|status| status.name == *name).ok_or("no server")?;
        match &status.state {
            McpState::Ready => return Ok(status),
            McpState::Starting | McpState::Unavailable { is_retried: true, .. } => {}
            McpState::NeedsLogin if logins < LOGINS => {
                logins += 1;
                log_in(servers, name).await?;
            }
            McpState::NeedsLogin => return Err("it wants another login".to_owned()),
            McpState::Unavailable { why, .. } => return Err(why.clone()),
        }
        changes.changed().await.map_err(|error| error.to_string())?;
    }
}

async fn log_in(servers: &dyn McpServers, name: &McpServerName) -> Result<(), String> {
    let show = |url: &str| {
        eprintln!("visits {url}");
        tokio::spawn(visit(url.to_owned()));
    };
    servers.login(name, &show, &CancellationToken::new()).await.map_err(|error| error.to_string())
}

async fn call(
    servers: &dyn McpServers,
    name: &McpServerName,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<McpAnswer, McpError> {
    let scope = Scope::parse_absolute(Capability::Mcp, "*").map_err(|error| McpError::Invalid(error.to_string()))?;
    let permit = Grants::none().with(scope).permit_mcp(&PluginName::new("mcp"), name, tool, false);
    let permit = permit.map_err(|denied| McpError::Invalid(denied.to_string()))?;
    let client: &dyn McpClient = servers;
    client.call(permit, arguments, Arc::new(Accepts)).await
}

/// Arguments that a schema accepts: its defaults, or the plainest value of each type. An object is the schema of the
/// first tool, which a scenario wants to see as it arrived.
fn arguments(status: &McpStatus, schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |of: &Value| match of["type"].as_str() {
        _ if of.get("default").is_some() => of["default"].clone(),
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => status.tools.first().map(|tool| tool.input_schema.clone()).unwrap_or_default(),
        _ => of["enum"].get(0).cloned().unwrap_or_else(|| json!("text")),
    };
    properties.iter().map(|(name, of)| (name.clone(), value(of))).collect()
}

/// Visits an address and where it leads to, as a browser does whose user agrees to everything.
async fn visit(mut url: String) {
    for _ in 0..5 {
        let Ok(parsed) = url::Url::parse(&url) else { return };
        let (Some(host), Some(port)) = (parsed.host_str(), parsed.port_or_known_default()) else { return };
        let Ok(mut stream) = tokio::net::TcpStream::connect((host, port)).await else { return };
        let path = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_err() {
            return;
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok();
        let location = answer.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
        });
        match location.and_then(|location| parsed.join(&location).ok()) {
            Some(next) => url = next.into(),
            None => return,
        }
    }
}
