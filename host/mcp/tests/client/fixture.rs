//! Servers and calls for the tests.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use host_capability::{Capability, Grants, McpServerName, PluginName, Resources, Scope};
use host_mcp::Connector;
use host_message::OutputPart;
use host_plugin::{
    CallListener, Elicitation, ElicitationAnswer, McpAnswer, McpClient, McpError, ProgramAccess, Runtime,
    RuntimeOptions,
};
use host_process::ConfineMode;
use host_settings::mcp::{
    McpAddress, McpConnector, McpProgram, McpServer, McpServers, McpSetup, McpState, McpStatus, McpTransport,
};
use host_text::Secret;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::unix::AsyncFd;

/// What answers messages in a shell: the functions `on_…` can be replaced.
const PRELUDE: &str = r#"
capabilities='{"tools":{"listChanged":true}}'
tools='[{"name":"echo","description":"Says it","inputSchema":{"type":"object"}}]'
say() { printf '%s\n' "$1"; }
result() { say "{\"jsonrpc\":\"2.0\",\"id\":$i,\"result\":$1}"; }
failed() { say "{\"jsonrpc\":\"2.0\",\"id\":$i,\"error\":{\"code\":$1,\"message\":\"$2\"}}"; }
text() { result "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
on_discover() { failed -32601 unknown; }
on_initialize() {
    result '{"protocolVersion":"2025-11-25","capabilities":'"$capabilities"',"serverInfo":{"name":"fake","version":"1.0"}}'
}
on_tools() { result '{"tools":'"$tools"'}'; }
on_call() { text "called"; }
on_other() { failed -32601 unknown; }
on_notification() { :; }
on_answer() { :; }
discovered() {
    result '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":'"$capabilities"',"ttlMs":0,"cacheScope":"private"}'
}
serve() {
    while IFS= read -r line; do
        printf '%s\n' "$line" >> "$LOG"
        i=${line#*\"id\":}
        i=${i%%[,\}]*}
        case $line in
            *'"method":"server/discover"'*) on_discover ;;
            *'"method":"initialize"'*) on_initialize ;;
            *'"method":"tools/list"'*) on_tools ;;
            *'"method":"tools/call"'*) on_call ;;
            *'"method":"notifications/'*) on_notification ;;
            *'"method":'*) on_other ;;
            *) on_answer ;;
        esac
    done
}
"#;

/// A folder with what a session of servers needs.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) access: Option<ProgramAccess>,
}

/// Servers that are connected.
pub(crate) struct Session {
    pub(crate) servers: Arc<dyn McpServers>,
    pub(crate) log: PathBuf,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), access: None }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    /// Returns a server that is a script; `script` replaces parts of the prelude and calls `serve`.
    pub(crate) fn script(&self, script: &str) -> McpServer {
        let file = self.path("server.sh");
        std::fs::write(&file, format!("{PRELUDE}\n{script}\n")).expect("written");
        let environment = [("LOG".to_owned(), Secret::new(self.path("log").display().to_string()))];
        let program = McpProgram {
            command: vec!["sh".to_owned(), file.display().to_string()],
            directory: Some(self.path("").components().collect()),
            files: Vec::new(),
            confine: self.access.as_ref().map_or(ConfineMode::Off, |access| access.walls.mode),
            environment: environment.into_iter().collect(),
            resources: Resources::default(),
        };
        server(McpTransport::Program(program))
    }

    /// Returns a server at an address.
    pub(crate) fn address(&self, url: &str, headers: &[(&str, &str)]) -> McpServer {
        let secret = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new(*value));
        let headers: BTreeMap<_, _> = headers.iter().map(secret).collect();
        server(McpTransport::Http(McpAddress {
            url: url.to_owned(),
            headers,
            reaches_private: false,
            client_id: None,
            client_secret: None,
        }))
    }

    /// Begins to connect a server.
    pub(crate) fn connect(&self, server: McpServer) -> Session {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let runtime = Runtime::new(RuntimeOptions {
            environment: vec![("PATH".into(), path)],
            access: self.access.clone().unwrap_or_default().into(),
            ..RuntimeOptions::default()
        });
        let setup = McpSetup { servers: vec![server], runtime: Arc::new(runtime), folder: self.path("mcp") };
        Session { servers: Connector.connect(setup), log: self.path("log") }
    }
}

fn server(transport: McpTransport) -> McpServer {
    McpServer {
        name: name(),
        transport,
        timeout: Duration::from_secs(20),
        tools: None,
        is_required: false,
        trusts_hints: false,
        origin: PathBuf::from("config.toml"),
    }
}

pub(crate) fn name() -> McpServerName {
    McpServerName::parse("fake").expect("a name")
}

impl Session {
    pub(crate) fn status(&self) -> McpStatus {
        self.servers.statuses().remove(0)
    }

    /// Waits until the status is like that.
    pub(crate) async fn until(&self, what: &str, is: impl Fn(&McpStatus) -> bool) -> McpStatus {
        let mut changes = self.servers.changes();
        let waiting = async {
            loop {
                let status = self.status();
                if is(&status) {
                    return status;
                }
                changes.changed().await.expect("the servers live");
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        found.unwrap_or_else(|_| panic!("never {what}: {:?}", self.status()))
    }

    /// Waits until the server answers.
    pub(crate) async fn ready(&self) -> McpStatus {
        self.until("ready", |status| status.state == McpState::Ready).await
    }

    /// Waits until the server is away, and returns why.
    pub(crate) async fn away(&self) -> String {
        let status = self.until("away", |status| matches!(status.state, McpState::Unavailable { .. })).await;
        match status.state {
            McpState::Unavailable { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn call(&self, tool: &str) -> Result<McpAnswer, McpError> {
        self.call_with(tool, Arc::new(Ears::default())).await
    }

    pub(crate) async fn call_with(&self, tool: &str, listener: Arc<dyn CallListener>) -> Result<McpAnswer, McpError> {
        let client: &dyn McpClient = &*self.servers;
        let scope = Scope::parse_absolute(Capability::Mcp, "*").expect("a scope");
        let grants = Grants::none().with(scope);
        let permit = grants.permit_mcp(&PluginName::new("mcp"), &name(), tool, false).expect("it is granted");
        let arguments: Map<String, Value> = [("text".to_owned(), json!("hi"))].into_iter().collect();
        let calling = client.call(permit, arguments, listener);
        tokio::time::timeout(Duration::from_secs(60), calling).await.expect("a call ends")
    }

    /// What the server was sent.
    pub(crate) fn sent(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until the server was sent something.
    pub(crate) async fn until_sent(&self, text: &str) {
        self.until_sent_often(text, 1).await;
    }

    /// Waits until the server was sent something so often.
    pub(crate) async fn until_sent_often(&self, text: &str, times: usize) {
        until_written(&self.log, |log| log.matches(text).count() >= times).await;
    }
}

/// Waits until a file has a text that is as it should be.
pub(crate) async fn until_written(file: &Path, is: impl Fn(&str) -> bool) {
    let folder = file.parent().expect("a folder");
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).expect("a watch");
    inotify::add_watch(&changes, folder, WatchFlags::CREATE | WatchFlags::MODIFY).expect("it is watched");
    let changes = waitable(changes);
    let waiting = async {
        while !is(&std::fs::read_to_string(file).unwrap_or_default()) {
            let mut ready = changes.readable().await.expect("a change");
            let mut told = [MaybeUninit::uninit(); 4096];
            // Which change it was does not matter.
            while inotify::Reader::new(changes.get_ref(), &mut told).next().is_ok() {}
            ready.clear_ready();
        }
    };
    within(waiting, &format!("what was waited for is never written to {}", file.display())).await;
}

/// Waits until a process has ended.
pub(crate) async fn until_ended(pid: &str) {
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw).expect("a process id");
    // One that is gone has ended.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let process = waitable(process);
    let ended = within(process.readable(), &format!("the process {pid} never ends")).await;
    ended.expect("it is waited for").retain_ready();
}

fn waitable(descriptor: OwnedFd) -> AsyncFd<OwnedFd> {
    // SAFETY: it owns the descriptor, which stays open and the same until it is dropped.
    unsafe { AsyncFd::register(descriptor) }.expect("it can be waited for")
}

async fn within<T>(waiting: impl Future<Output = T>, otherwise: &str) -> T {
    tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("{otherwise}"))
}

/// The text of an answer.
pub(crate) fn text(answer: &McpAnswer) -> String {
    let text = |part: &OutputPart| match part {
        OutputPart::Text(text) => text.clone(),
        OutputPart::Data(data) => data.mime_type.clone(),
        OutputPart::Link { uri, .. } => uri.clone(),
    };
    answer.content.iter().map(text).collect::<Vec<_>>().join("|")
}

/// Hears of progress, and answers questions.
#[derive(Default)]
pub(crate) struct Ears {
    pub(crate) progress: Mutex<Vec<String>>,
    pub(crate) asked: Mutex<Vec<Elicitation>>,
    pub(crate) answer: Option<Map<String, Value>>,
}

impl Ears {
    pub(crate) fn answering(answer: Value) -> Self {
        Self { answer: answer.as_object().cloned(), ..Self::default() }
    }
}

impl CallListener for Ears {
    fn output(&self, _text: &str) {}
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        self.progress.lock().expect("a lock").push(format!("{done}/{total:?} {message}"));
    }
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationAnswer> {
        self.asked.lock().expect("a lock").push(question);
        let answer = self.answer.clone();
        Box::pin(async { answer.map_or(ElicitationAnswer::Declined, ElicitationAnswer::Accepted) })
    }
}
