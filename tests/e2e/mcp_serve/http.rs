//! The server on HTTP: who is answered at all, and the same calls and questions.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;
use std::time::Duration;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::client::{NEW, OLD, accept, forms, meta};

const TOKEN: &str = "a-token-of-this-test-0123456789";

/// A server on a port that the system chose.
struct Server {
    child: Child,
    address: String,
}

/// An answer: its status, its session, and the messages in its body.
#[derive(Debug)]
struct Answer {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Answer {
    /// The messages, of a stream or one.
    fn messages(&self) -> Vec<Value> {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let all: Vec<Value> = events.filter_map(|data| serde_json::from_str(data).ok()).collect();
        if all.is_empty() { serde_json::from_str(&self.body).into_iter().collect() } else { all }
    }

    /// The response among them.
    fn response(&self) -> Value {
        let found = self.messages().into_iter().find(|message| message.get("method").is_none());
        found.unwrap_or_else(|| panic!("a response in {self:?}"))
    }
}

impl Server {
    fn start(host: &Host, arguments: &[&str]) -> Self {
        let mut command = host.command_of(&[&["mcp", "serve", "--http", "127.0.0.1:0"], arguments].concat());
        let mut child = command.env("HOST_MCP_TOKEN", TOKEN).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("it says where it is");
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        Self { address: address.unwrap_or_else(|| panic!("an address, not {line:?}")).to_owned(), child }
    }

    /// Opens a request: everything up to its body.
    fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let mut all = vec![
            ("Authorization", format!("Bearer {TOKEN}")),
            ("Host", self.address.clone()),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("Content-Type", "application/json".to_owned()),
            ("Content-Length", body.len().to_string()),
            ("Connection", "close".to_owned()),
        ];
        for (name, value) in headers {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push((name, (*value).to_owned()));
            }
        }
        let head: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let path = headers.iter().find(|(name, _)| *name == "path").map_or("/mcp", |(_, path)| path);
        stream.write_all(format!("{method} {path} HTTP/1.1\r\n{head}\r\n{body}").as_bytes()).ok();
        stream
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        read(self.open(method, headers, body))
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.send("POST", headers, &message.to_string())
    }

    /// A request of the revision without sessions.
    fn new_request(&self, method: &str, mut params: Value) -> Answer {
        params["_meta"] = meta(forms());
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let headers = [("MCP-Protocol-Version", NEW), ("Mcp-Method", method), ("Mcp-Name", &name)];
        self.post(&headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// Begins a session of the older revision.
    fn session(&self) -> String {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": OLD, "capabilities": forms(), "clientInfo": {"name": "test", "version": "1"}
        }});
        let answer = self.post(&[], &hello);
        assert_eq!(answer.response()["result"]["protocolVersion"], OLD, "{answer:?}");
        let session = answer.session.expect("a session");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let accepted = self.post(&[("Mcp-Session-Id", &session), ("MCP-Protocol-Version", OLD)], &initialized);
        assert_eq!(accepted.status, 202, "{accepted:?}");
        session
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Reads an answer to its end.
fn read(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    // A server that refuses a body may close before it has read it.
    stream.read_to_string(&mut text).ok();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let header = |name: &str| {
        let line =
            head.lines().find_map(|line| line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)));
        line.map(|(_, value)| value.to_owned())
    };
    Answer { status, session: header("mcp-session-id"), body: body.to_owned() }
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta(json!({}))}})
}

// promise mcp.http: On HTTP nothing is answered without the token, nor for a name that is not the server's, nor for a
//   page of a browser.
#[test]
fn mcp_serve_http_answers_only_clients_with_the_token_and_the_right_names() {
    let host = Host::new(["run"]);
    let server = Server::start(&host, &[]);
    let new = [("MCP-Protocol-Version", NEW), ("Mcp-Method", "tools/list")];
    let with = |more: &[(&'static str, &'static str)]| [new.as_slice(), more].concat();
    assert_eq!(server.post(&new, &list()).status, 200);
    for (headers, status) in [
        (with(&[("Authorization", "")]), 401),
        (with(&[("Authorization", "Bearer a-token-of-this-test-012345678")]), 401),
        (with(&[("Authorization", "Bearer a-token-of-this-test-01234567890")]), 401),
        (with(&[("Authorization", "Basic a-token-of-this-test-0123456789")]), 401),
        (with(&[("Authorization", "Bearer ")]), 401),
        (with(&[("Host", "evil.example")]), 403),
        (with(&[("Host", "127.0.0.1.evil.example:80")]), 403),
        (with(&[("Host", "192.168.1.2")]), 403),
        (with(&[("Host", "[::1].evil")]), 403),
        (with(&[("Host", "[::1].evil:80")]), 403),
        (with(&[("Host", "[::1]:80.evil")]), 403),
        (with(&[("Origin", "https://evil.example")]), 403),
        (with(&[("Origin", "null")]), 403),
        (with(&[("Origin", "http://localhost:3000")]), 403),
        (with(&[("path", "/")]), 404),
    ] {
        let answer = server.post(&headers, &list());
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
        assert!(!answer.body.contains("read_file"), "{answer:?}");
    }
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        assert_eq!(server.send(method, &[("Authorization", "")], "").status, 401, "{method}");
        assert!(server.send(method, &[("Origin", "https://evil.example")], "").status == 403, "{method}");
    }
}

#[test]
fn mcp_serve_http_limits_what_it_reads() {
    let host = Host::new(["run"]);
    let server = Server::start(&host, &[]);
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "x".repeat(5 << 20)});
    assert_eq!(server.post(&[("MCP-Protocol-Version", NEW)], &long).status, 413);
    assert!(server.send("POST", &[("X-Long", &"x".repeat(100 << 10))], "{}").status >= 400);
    for rubbish in ["", "{", "null", "[]", "\u{0}"] {
        let answer = server.send("POST", &[], rubbish);
        assert!((400..500).contains(&answer.status), "{rubbish:?}: {answer:?}");
    }
    // More sessions than there are places: the last is refused, and the others go on.
    let sessions: Vec<String> = (0..64).map(|_| server.session()).collect();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }});
    let refused = server.post(&[], &hello);
    assert!(refused.status >= 500 && refused.body.contains("64 sessions"), "{refused:?}");
    let ended = server.send("DELETE", &[("Mcp-Session-Id", &sessions[0])], "");
    assert!((200..300).contains(&ended.status), "{ended:?}");
    server.session();
    for unknown in ["", "unknown", &sessions[0]] {
        let answer = server.post(&[("Mcp-Session-Id", unknown), ("MCP-Protocol-Version", OLD)], &list());
        assert!((400..500).contains(&answer.status), "{unknown}: {answer:?}");
    }
}

/// How long a client waits that must not wait for others: less than the server gives a head.
const AT_ONCE: Duration = Duration::from_secs(9);

#[test]
fn mcp_serve_http_answers_while_a_thousand_connections_send_nothing() {
    let host = Host::new(["run"]);
    let server = Server::start(&host, &[]);
    // Both ends of a connection are counted by the system, this one's here.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let current = limit.current.map(|current| current.max(4_096).min(limit.maximum.unwrap_or(u64::MAX)));
    rustix::process::setrlimit(rustix::process::Resource::Nofile, rustix::process::Rlimit { current, ..limit })
        .expect("set");
    let half = "POST /mcp HTTP/1.1\r\nHost: ";
    let silent: Vec<TcpStream> = (0..1_000)
        .map(|number| {
            let mut stream = TcpStream::connect(&server.address).expect("it listens");
            // Some send nothing at all. What is closed again cannot be written to.
            if number % 2 == 0 {
                stream.write_all(half.as_bytes()).ok();
            }
            stream
        })
        .collect();
    let new = [("MCP-Protocol-Version", NEW), ("Mcp-Method", "tools/list")];
    let stream = server.open("POST", &new, &list().to_string());
    stream.set_read_timeout(Some(AT_ONCE)).expect("set");
    assert_eq!(read(stream).status, 200);
    drop(silent);
}

#[test]
fn mcp_serve_http_asks_in_both_revisions() {
    let host = Host::new(["run"]);
    let server = Server::start(&host, &[]);
    let call = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}});
    let asked = server.new_request("tools/call", call.clone()).response();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut again = call;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({"approval": accept("once")});
    let done = server.new_request("tools/call", again.clone()).response();
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert!(host.repository().join("a.txt").exists());
    assert_eq!(server.new_request("tools/call", again).response()["error"]["code"], -32602, "it counted once");
    // In a session the question comes on the stream of the call.
    let session = server.session();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", OLD)];
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "write_file", "arguments": {"path": "b.txt", "content": "new\n"}
    }});
    let mut lines = BufReader::new(server.open("POST", &headers, &call.to_string())).lines();
    let mut next = || -> Value {
        let data = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?).ok());
        data.expect("a message")
    };
    let question = next();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert!(!host.repository().join("b.txt").exists());
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("once")});
    assert_eq!(server.post(&headers, &answer).status, 202);
    assert_eq!(next()["result"]["isError"], false);
    assert!(host.repository().join("b.txt").exists());
}

// promise mcp.token: The token for HTTP is in a file that only the user can read, or in the environment; the server is
//   on this machine alone unless the user names it for others.
#[test]
fn mcp_serve_http_keeps_its_token_private_and_its_address_local() {
    let host = Host::new(["run"]);
    let file = host.home().join(".local/state/host/mcp-token");
    let mut child = host.command_of(&["mcp", "serve", "--http", "127.0.0.1:0"]).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("it says where it is");
    child.kill().expect("it runs");
    let ended = child.wait_with_output().expect("it ends");
    let token = std::fs::read_to_string(&file).expect("it was made");
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert!(token.trim().len() >= 40, "{token}");
    let said = format!("{line}{}", String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("mcp-token") && !said.contains(token.trim()), "{said}");
    // Others can read it.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("ours");
    for (arguments, variable, words) in [
        (&["--http", "127.0.0.1:0"][..], None, "cannot use the token file"),
        (&["--http", "127.0.0.1:0"], Some("short"), "invalid HOST_MCP_TOKEN"),
        (&["--http", "0.0.0.0:0"], Some(TOKEN), "other machines can reach `0.0.0.0:0`"),
        (&["--http", "[::]:0"], Some(TOKEN), "other machines can reach `[::]:0`"),
        (&["--host-name", "a.example"], Some(TOKEN), "--http"),
    ] {
        let mut command = host.command_of(&[&["mcp", "serve"], arguments].concat());
        command.envs(variable.map(|token| ("HOST_MCP_TOKEN", token)));
        let ended = host.end(command);
        assert_eq!(ended.code, Some(42), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{arguments:?}: {ended:?}");
    }
}
