//! The proxy that a confined program with a grant for one server speaks to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use host_tests::host::Host;
use serde_json::{Value, json};

use super::super::Failures;

const PROBE: &str = include_str!("probe.py");

/// A server that answers each request with its name, and keeps what it got.
struct Named {
    address: SocketAddr,
    got: Arc<Mutex<Vec<u8>>>,
}

impl Named {
    fn start(name: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let got: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&got);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    let count = stream.read(&mut bytes).unwrap_or_default();
                    kept.lock().expect("whole").extend_from_slice(&bytes[..count]);
                    write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{name}").ok();
                });
            }
        });
        Self { address, got }
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn got(&self) -> String {
        String::from_utf8_lossy(&self.got.lock().expect("whole")).into_owned()
    }
}

/// What is sent, and whether a grant for every server makes it reach the other one.
enum Row {
    /// A request for a tunnel to this target, and a request in it.
    Tunnel(&'static str, bool),
    /// The bytes of one request.
    Bytes(&'static str, bool),
    /// SOCKS: the command, the kind of address and the address; the port is that of the other server.
    Socks(&'static str, u8, u8, &'static [u8], bool),
    /// A tunnel to the granted server in which a different one is greeted.
    Greeting(&'static str),
}
use Row::{Bytes, Greeting, Socks, Tunnel};

/// `ALLOWED` is the port of the granted server, `OTHER` that of one beside it; both are this machine.
const ROWS: &[Row] = &[
    Tunnel("localhost:OTHER", true),
    Tunnel("LOCALHOST:OTHER", true),
    Tunnel("localhost.:OTHER", true),
    Tunnel("127.0.0.1:OTHER", true),
    Tunnel("[::ffff:127.0.0.1]:OTHER", true),
    Tunnel("0.0.0.0:OTHER", true),
    Tunnel("127.1:OTHER", false),
    Tunnel("2130706433:OTHER", false),
    Tunnel("0x7f000001:OTHER", false),
    Tunnel("0177.0.0.1:OTHER", false),
    Tunnel("user@127.0.0.1:OTHER", false),
    Tunnel("localhost:ALLOWED@127.0.0.1:OTHER", false),
    Tunnel("127.0.0.1:OTHER#@localhost:ALLOWED", false),
    Tunnel("127.0.0.1:OTHER/localhost:ALLOWED", false),
    Tunnel("localhost%00.x:OTHER", false),
    Tunnel("127.0.0.1%2elocalhost:OTHER", false),
    Tunnel("l\u{43e}calhost:OTHER", false),
    Tunnel("http://localhost:OTHER", false),
    Bytes("GET http://localhost:OTHER/ HTTP/1.1\r\n\r\n", true),
    Bytes("GET http://127.0.0.1:OTHER/ HTTP/1.1\r\nHost: 127.0.0.1:OTHER\r\n\r\n", true),
    Bytes("GET HTTP://localhost:OTHER/ HTTP/1.1\r\n\r\n", false),
    Bytes("GET http://localhost:ALLOWED/ HTTP/1.1\r\nHost: localhost:OTHER\r\n\r\n", false),
    Bytes("GET http://localhost:ALLOWED/ HTTP/1.1\r\nHost: localhost:ALLOWED\r\nHost: localhost:OTHER\r\n\r\n", false),
    Bytes("GET http://localhost:ALLOWED@127.0.0.1:OTHER/ HTTP/1.1\r\n\r\n", false),
    Bytes("GET http://127.0.0.1:OTHER\\@localhost:ALLOWED/ HTTP/1.1\r\n\r\n", false),
    Bytes("GET /x HTTP/1.1\r\nHost: localhost:OTHER\r\n\r\n", false),
    Bytes("GET https://localhost:OTHER/ HTTP/1.1\r\n\r\n", false),
    Bytes("GET ftp://localhost:OTHER/ HTTP/1.1\r\n\r\n", false),
    Bytes("CONNECT localhost:OTHER HTTP/1.1\nHost: x\n\n", false),
    Bytes(
        "POST http://localhost:ALLOWED/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n\
         GET http://localhost:OTHER/ HTTP/1.1\r\n\r\n",
        false,
    ),
    Bytes(
        "POST http://localhost:ALLOWED/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
         GET http://localhost:OTHER/ HTTP/1.1\r\n\r\n",
        false,
    ),
    Socks("a name", 1, 3, b"localhost", true),
    Socks("a name in capitals", 1, 3, b"LOCALHOST", true),
    Socks("an address", 1, 1, &[127, 0, 0, 1], true),
    Socks("an address of IPv6", 1, 4, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], true),
    // Aonan Guan, 2026 (sandbox-runtime): NUL ended the name for the resolver, and not for the check of its end.
    Socks("a name with NUL before the granted one", 1, 3, b"127.0.0.1\0.localhost", false),
    Socks("a name with NUL behind it", 1, 3, b"localhost\0", false),
    Socks("a number for a name", 1, 3, b"2130706433", false),
    Socks("a short address for a name", 1, 3, b"127.1", false),
    Socks("an address for a name", 1, 3, b"127.0.0.1", true),
    Socks("a line for a name", 1, 3, b"localhost\r\nx", false),
    Socks("an empty name", 1, 3, b"", false),
    Socks("waiting for a connection", 2, 1, &[127, 0, 0, 1], false),
    Socks("datagrams", 3, 1, &[127, 0, 0, 1], false),
    Socks("an unknown kind of address", 1, 9, &[127, 0, 0, 1], false),
    Greeting("evil.example"),
];

impl Row {
    fn name(&self) -> String {
        match self {
            Tunnel(target, _) => format!("a tunnel to {target}"),
            Bytes(bytes, _) => format!("{bytes:?}"),
            Socks(what, ..) => format!("SOCKS with {what}"),
            Greeting(name) => format!("a greeting for {name}"),
        }
    }

    fn works_with_a_grant(&self) -> bool {
        match self {
            Tunnel(_, works) | Bytes(_, works) | Socks(_, _, _, _, works) => *works,
            Greeting(_) => false,
        }
    }

    fn request(&self, allowed: u16, other: u16) -> Value {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let filled = |text: &str| text.replace("ALLOWED", &allowed.to_string()).replace("OTHER", &other.to_string());
        let get = hex(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        match self {
            Tunnel(target, _) => {
                json!({"steps": [hex(format!("CONNECT {} HTTP/1.1\r\n\r\n", filled(target)).as_bytes()), get]})
            }
            Bytes(bytes, _) => json!({"steps": [hex(filled(bytes).as_bytes())]}),
            Socks(_, command, kind, address, _) => {
                let mut asked = vec![5, *command, 0, *kind];
                if *kind == 3 {
                    asked.push(u8::try_from(address.len()).expect("short"));
                }
                asked.extend_from_slice(address);
                asked.extend(other.to_be_bytes());
                json!({"steps": ["050100", hex(&asked), get]})
            }
            Greeting(name) => json!({"greeting": name, "port": allowed}),
        }
    }
}

/// What comes back for each row, and then for a tunnel to the granted server and for a greeting with its name, with
/// these servers granted.
fn answers(net: &str, allowed: &Named, other: &Named) -> Vec<String> {
    let own = [Tunnel("localhost:ALLOWED", true), Greeting("localhost")];
    let requests: Vec<Value> = ROWS.iter().chain(&own).map(|row| row.request(allowed.port(), other.port())).collect();
    let arguments = json!({"command": "/usr/bin/python3 probe.py requests.json results.json"}).to_string();
    let grant = format!("shell:process=*;net={net}");
    let host = Host::new(["tool", "call", "shell", &arguments, "--confine", "require", "--grant", &grant])
        .file("probe.py", PROBE)
        .file("requests.json", Value::from(requests).to_string());
    let ended = host.run();
    let results = std::fs::read_to_string(host.repository().join("results.json"));
    let results = results.unwrap_or_else(|error| panic!("nothing was asked ({error}): {ended:?}"));
    serde_json::from_str(&results).expect("it is JSON")
}

// promise confine.proxy
#[test]
fn escape_no_word_to_the_proxy_reaches_a_server_beside_the_grant() {
    let mut failures = Failures::default();
    let (allowed, other) = (Named::start("the allowed one"), Named::start("the other one"));
    let net = format!("localhost:{} +private", allowed.port());
    let found = answers(&net, &allowed, &other);
    for (row, answer) in ROWS.iter().zip(&found) {
        failures.check(&row.name(), !answer.contains("the other one"), answer);
    }
    failures.check("the other server", other.got().is_empty(), &other.got());
    failures.check("a greeting for a different server", !allowed.got().contains("evil.example"), "it came through");
    let granted = &found[ROWS.len()];
    failures.check("the granted server", granted.contains("the allowed one"), granted);
    failures.check("a greeting for the granted server", allowed.got().contains("localhost"), "it did not come through");

    // With a grant for every server, those that are valid reach the other one.
    let (allowed, other) = (Named::start("the allowed one"), Named::start("the other one"));
    let found = answers("*:* +private", &allowed, &other);
    for (row, answer) in ROWS.iter().zip(&found).filter(|(row, _)| row.works_with_a_grant()) {
        failures.check(&format!("the control of {}", row.name()), answer.contains("the other one"), answer);
    }
    failures.report(ROWS.len());
}
