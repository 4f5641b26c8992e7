//! What the application needs of the layer that speaks the Model Context Protocol.
//!
//! Owns [`McpServer`], a configured server, and the interface [`McpServers`] of those that are connected. Deliberately
//! not here: the protocol and its types, and which servers there are (`servers`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{McpServerName, Resources};
use host_message::{Annotations, OutputPart};
use host_plugin::{Digest, McpClient, McpError, Runtime};
use host_process::ConfineMode;
use host_text::Secret;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::file_sizes::MAX_PROGRAM;

/// What separates the name of a server from that of its tool.
pub const SEPARATOR: &str = "__";

/// A configured server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: McpServerName,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long a request may take without a word of the server.
    pub timeout: Duration,
    /// The tools that are used, as the server calls them; `None` for all.
    pub tools: Option<BTreeSet<String>>,
    /// Whether the first request to a model waits a moment for it.
    pub is_required: bool,
    /// Whether the user believes what the server says about which of its tools only read.
    pub trusts_hints: bool,
    /// The file that configures it, for messages.
    pub origin: PathBuf,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum McpTransport {
    /// It is a program that reads and writes lines.
    Program(McpProgram),
    /// It is at an address.
    Http(McpAddress),
}

/// A server that is a program.
#[derive(Clone, Debug, PartialEq)]
pub struct McpProgram {
    /// The program and its arguments; there is at least the program.
    pub command: Vec<String>,
    /// The folder that it starts in, absolute; `None` for an empty one of its own, in which there is no code.
    pub directory: Option<PathBuf>,
    /// The files of a project that it is started with, with the digests that were trusted: changed ones do not run.
    pub files: Vec<(PathBuf, Digest)>,
    /// Whether it is confined.
    pub confine: ConfineMode,
    /// Variables besides those that every program gets.
    pub environment: BTreeMap<String, Secret>,
    /// What it may use when it is confined, besides what every program may.
    pub resources: Resources,
}

/// A server at an address.
#[derive(Clone, Debug, PartialEq)]
pub struct McpAddress {
    /// The address: `https`, or `http` on this machine.
    pub url: String,
    /// Header fields of each request.
    pub headers: BTreeMap<String, Secret>,
    /// Whether its name may lead to this machine or a private network, although it does not say so.
    pub reaches_private: bool,
    /// The id by which the user registered this client at the server's authorization server.
    pub client_id: Option<String>,
    /// The secret that belongs to the id, if there is one.
    pub client_secret: Option<Secret>,
}

impl McpProgram {
    /// Returns the first of its project's files that is not as it was trusted.
    pub fn changed_file(&self) -> Option<&Path> {
        let is_same = |path: &Path, trusted: &Digest| {
            host_files::read_found(path, MAX_PROGRAM).is_ok_and(|bytes| Digest::of(&bytes) == *trusted)
        };
        let mut changed = self.files.iter().filter(|(path, trusted)| !is_same(path, trusted));
        changed.next().map(|(path, _)| path.as_path())
    }
}

impl McpServer {
    /// Returns what identifies the server to a user who allows something lastingly: its command or its address.
    pub fn identity(&self) -> String {
        match &self.transport {
            McpTransport::Program(program) => host_plugin::command_line(&program.command),
            McpTransport::Http(address) => address.url.clone(),
        }
    }
}

/// A tool as its server describes it. All of it is the server's claim, limited in size.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// Its name.
    pub name: String,
    /// A title for users.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured result.
    pub output_schema: Option<Value>,
    /// Its effects.
    pub annotations: Annotations,
}

/// A resource as its server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpResource {
    /// Its address, in a scheme of the server's.
    pub uri: String,
    /// Its name for users.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
}

/// A prompt as its server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPrompt {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// Its arguments, in order: for each the name, what it is, and whether it is required.
    pub arguments: Vec<McpPromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Whether the prompt needs it.
    pub is_required: bool,
}

/// Whether a server can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpState {
    /// It is being connected for the first time.
    Starting,
    /// It answers.
    Ready,
    /// It wants the user to log in.
    NeedsLogin,
    /// It does not answer. What it listed before stays listed.
    Unavailable {
        /// Why, safe to show.
        why: String,
        /// Whether it is tried again by itself.
        is_retried: bool,
    },
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpStatus {
    /// Its name.
    pub name: McpServerName,
    /// Whether it can be used.
    pub state: McpState,
    /// The name and version that it gives itself.
    pub program: Option<(String, String)>,
    /// The revision of the protocol that is spoken, such as `2025-11-25`.
    pub revision: Option<String>,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// The tools that are used, in the server's order.
    pub tools: Vec<McpTool>,
    /// Its resources.
    pub resources: Vec<McpResource>,
    /// Its prompts.
    pub prompts: Vec<McpPrompt>,
    /// What of it is not used, and why: a line each, safe to show.
    pub notes: Vec<String>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct McpMessage {
    /// Whether it is the model's; else it is the user's.
    pub is_model: bool,
    /// Its content.
    pub content: OutputPart,
}

/// The servers of a session, while it lasts. Dropping the last reference ends their programs and connections.
///
/// For the implementer: nothing here waits for a server but [`McpServers::settled`] and what asks it for something.
pub trait McpServers: McpClient {
    /// Returns what is known now, in the order of the configuration.
    fn statuses(&self) -> Vec<McpStatus>;

    /// Returns a counter that grows whenever a status changes.
    fn changes(&self) -> watch::Receiver<u64>;

    /// Waits until no server is [`McpState::Starting`] that this is true for.
    fn settled<'a>(&'a self, which: &'a (dyn Fn(&McpServerName) -> bool + Send + Sync)) -> BoxFuture<'a, ()>;

    /// Reads a resource.
    fn resource<'a>(
        &'a self,
        server: &'a McpServerName,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Vec<OutputPart>, McpError>>;

    /// Fills in a prompt.
    fn prompt<'a>(
        &'a self,
        server: &'a McpServerName,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<McpMessage>, McpError>>;

    /// Logs the user in at a server: `show` gets the address to visit. The tokens are stored for later sessions, too.
    fn login<'a>(
        &'a self,
        server: &'a McpServerName,
        show: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), McpError>>;
}

/// Connects servers: the layer that speaks the protocol.
pub trait McpConnector: Send + Sync {
    /// Begins to connect the servers and returns at once.
    fn connect(&self, setup: McpSetup) -> Arc<dyn McpServers>;
}

impl fmt::Debug for dyn McpConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpConnector")
    }
}

/// What is needed to connect servers.
#[derive(Clone)]
pub struct McpSetup {
    /// The servers.
    pub servers: Vec<McpServer>,
    /// Starts their programs, confined like those of calls, and checks addresses.
    pub runtime: Arc<Runtime>,
    /// The folder where tokens and the revision of each server are stored.
    pub folder: PathBuf,
}
