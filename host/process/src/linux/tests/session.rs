//! Programs that share the network of a session: what each reaches of the others, and who else reaches what listens
//! there.

use std::sync::Arc;
use std::time::Duration;

use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::*;
use crate::{Forwarded, Server};

/// Much longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Serves `hello` over TCP and, if it may, through an abstract Unix socket; prints its port.
const SERVES: &str = "exec python3 -uc '
import os, socket, threading
def serve(server):
    while True:
        client = server.accept()[0]
        client.sendall(b\"hello\")
        client.close()
tcp = socket.create_server((\"127.0.0.1\", 0))
try:
    local = socket.socket(socket.AF_UNIX)
    local.bind(\"\\0host-test-\" + os.environ[\"NAME\"])
    local.listen()
    threading.Thread(target=serve, args=(local,)).start()
except PermissionError: pass
print(tcp.getsockname()[1])
serve(tcp)
'";

/// A program that goes on while others start.
struct Serving {
    process: Process,
    port: u16,
}

impl World {
    fn start_in(&self, session: Option<&SessionNetwork>, script: &str, network: Option<Network>) -> Process {
        let (command, confinement) = (self.command(script), self.confinement());
        let started = match session {
            Some(session) => start_in(session, &command, Some(&confinement), network),
            None => start(&command, None, None),
        };
        started.expect("it starts")
    }

    /// Starts a server, and waits for its port.
    async fn serve(&self, session: Option<&SessionNetwork>, script: &str) -> Serving {
        let mut process = self.start_in(session, script, None);
        let mut line = String::new();
        let output = process.output.as_mut().expect("it has one");
        timeout(LONG, BufReader::new(output).read_line(&mut line)).await.expect("in time").expect("text");
        let port = line.trim().parse();
        Serving { port: port.unwrap_or_else(|_| panic!("no port: {line:?}")), process }
    }

    /// Runs a script in a session, or without a confinement; returns its end and all that it printed.
    async fn run_in(&self, session: Option<&SessionNetwork>, script: &str) -> (Ended, String) {
        finish(self.start_in(session, script, None)).await
    }
}

async fn finish(mut process: Process) -> (Ended, String) {
    let ended = timeout(LONG, process.wait()).await.expect("in time");
    process.end();
    let mut text = String::new();
    for stream in [&mut process.output, &mut process.errors] {
        stream.take().expect("taken once").read_to_string(&mut text).await.expect("text");
    }
    (ended, text)
}

/// Waits until this port is forwarded, and returns where to.
async fn forwarded(session: &SessionNetwork, inside: u16) -> u16 {
    let mut changes = session.changes();
    let is_it = |ports: &Vec<Forwarded>| ports.iter().any(|port| port.inside == inside);
    let ports = timeout(LONG, changes.wait_for(is_it)).await.expect("in time").expect("the session is there").clone();
    ports.into_iter().find(|port| port.inside == inside).expect("just seen").outside
}

/// Returns what a server sends to whoever connects.
async fn sent(port: u16) -> String {
    let mut text = String::new();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
    timeout(LONG, stream.read_to_string(&mut text)).await.expect("in time").ok();
    text
}

/// What one program does to another of its session, and whether it works. Without walls all of it does.
const AGAINST: &[(&str, &str, bool)] = &[
    ("connects to it", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT && grep -q hello <&3'", true),
    ("sees it", "test -d /proc/$PID", false),
    ("signals it", "kill -0 $PID", false),
    ("reads its environment", "grep -q NAME /proc/$PID/environ", false),
    ("reads its memory", ": < /proc/$PID/mem", false),
    ("reads its files", "ls /proc/$PID/root/", false),
    ("opens its descriptors", "ls /proc/$PID/fd/", false),
    (
        "connects to its abstract socket",
        "python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(\"\\0host-test-\" + os.environ[\"NAME\"])'",
        false,
    ),
    (
        "traces it",
        "python3 -c 'import ctypes, os, sys; sys.exit(ctypes.CDLL(None).ptrace(16, int(os.environ[\"PID\"]), 0, 0) != 0)'",
        false,
    ),
    (
        "enters its namespaces",
        "python3 -c 'import os; os.open(\"/proc/\" + os.environ[\"PID\"] + \"/ns/net\", 0)'",
        false,
    ),
];

// promise confine.session: Programs of a session reach each other's servers on one loopback device, and nothing else of
//   each other.
#[tokio::test]
async fn programs_of_a_session_reach_each_others_servers_and_nothing_else() {
    level_of_tests();
    let session = SessionNetwork::default();
    for session in [Some(&session), None] {
        let world = World::new();
        let name = world.path("").to_string_lossy().replace('/', "-");
        let serving = world.serve(session, &format!("export NAME={name}; {SERVES}")).await;
        let pid = *serving.process.pids().last().expect("it runs");
        for (what, script, works) in AGAINST {
            let script = format!("export NAME={name} PID={pid} PORT={}; {script}", serving.port);
            let (ended, text) = world.run_in(session, &script).await;
            assert_eq!(ended == Ended::Code(0), *works || session.is_none(), "{what}: {ended:?} {text}");
        }
    }
}

/// Switches off the loopback device.
const OFF: &str = "python3 -c '
import fcntl, socket, struct
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack(\"16sh14x\", b\"lo\", 0))
'";

// promise confine.session
#[tokio::test]
async fn program_of_a_session_does_not_change_the_network_of_the_others() {
    level_of_tests();
    let (session, world) = (SessionNetwork::default(), World::new());
    let (ended, text) = world.run_in(Some(&session), OFF).await;
    assert!(ended == Ended::Code(1) && text.contains("not permitted"), "{text}");
    // In a network of its own, with the rights over it.
    let (ended, text) = world.run_in(None, &format!("unshare -rn sh -c '{}'", OFF.replace('\'', r"'\''"))).await;
    assert_eq!(ended, Ended::Code(0), "{text}");
}

// promise confine.session
#[tokio::test]
async fn what_listens_in_a_session_is_reached_by_the_user_and_by_no_other_session() {
    level_of_tests();
    let (session, other, world) = (SessionNetwork::default(), SessionNetwork::default(), World::new());
    let serve = "python3 -uc 'from http.server import *
server = HTTPServer((\"\", 0), SimpleHTTPRequestHandler)
print(server.server_port)
server.serve_forever()'";
    let serving = world.serve(Some(&session), serve).await;
    let curl = format!("curl -sf http://127.0.0.1:{}/file", serving.port);
    assert_eq!(world.run_in(Some(&session), &curl).await, (Ended::Code(0), "mine".to_owned()));
    assert_eq!(world.run_in(Some(&other), &curl).await, (Ended::Code(7), String::new()));
    let outside = forwarded(&session, serving.port).await;
    let (ended, text) = world.run_in(None, &format!("curl -sf http://localhost:{outside}/file")).await;
    assert_eq!((ended, text.as_str()), (Ended::Code(0), "mine"));
    assert_eq!(other.forwarded(), []);
    // Another session has the same port on its own.
    let (ended, text) = world
        .run_in(
            Some(&other),
            &format!(
                "python3 -c '
import socket
socket.create_server((\"\", {}))'",
                serving.port
            ),
        )
        .await;
    assert_eq!(ended, Ended::Code(0), "{text}");
    let mut changes = session.changes();
    drop(serving);
    timeout(LONG, changes.wait_for(Vec::is_empty)).await.expect("in time").expect("the session is there");
    assert!(TcpStream::connect(("127.0.0.1", outside)).await.is_err(), "nothing listens any more");
}

// promise confine.session
#[tokio::test]
async fn port_that_is_taken_is_forwarded_to_another_one() {
    level_of_tests();
    let (session, world) = (SessionNetwork::default(), World::new());
    for ip in ["127.0.0.1", "::1"] {
        let taken = TcpListener::bind((ip, 0)).await.expect("a port");
        let inside = taken.local_addr().expect("bound").port();
        let serve = SERVES.replace("(\"127.0.0.1\", 0)", &format!("(\"127.0.0.1\", {inside})"));
        let serving = world.serve(Some(&session), &format!("export NAME=taken; {serve}")).await;
        assert_eq!(serving.port, inside);
        let outside = forwarded(&session, inside).await;
        assert_ne!(outside, inside, "{ip}");
        assert_eq!(sent(outside).await, "hello");
    }
}

// promise confine.session
/// Only root can be somebody else.
#[tokio::test]
async fn forwarded_port_lets_no_other_user_through() {
    level_of_tests();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (session, world) = (SessionNetwork::default(), World::new());
    // Abstract sockets are the whole machine's, so a fixed name could be taken: this test may run twice at once.
    let serves = format!("export NAME={}; {SERVES}", world.path("").to_string_lossy().replace('/', "-"));
    let serving = world.serve(Some(&session), &serves).await;
    let outside = forwarded(&session, serving.port).await;
    let asked = |user: &str, port: u16| {
        let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3");
        format!("setpriv --reuid={user} --regid={user} --clear-groups bash -c '{connect}'")
    };
    assert_eq!(world.run_in(None, &asked("0", outside)).await.1, "hello");
    let text = world.run_in(None, &asked("65534", outside)).await.1;
    assert!(!text.contains("hello"), "{text}");
    // The same server without walls, on a port of the machine.
    let open = world.serve(None, &serves).await;
    assert_eq!(world.run_in(None, &asked("65534", open.port)).await.1, "hello");
}

#[tokio::test]
async fn socket_that_nobody_has_any_more_belongs_to_no_user() {
    let mut table = table::Table::new().expect("this kernel has one");
    let own = Some(rustix::process::geteuid().as_raw());
    for ip in ["127.0.0.1", "::1"] {
        let listener = TcpListener::bind((ip, 0)).await.expect("a port");
        let address = listener.local_addr().expect("bound");
        assert!(table.listening().expect("listed").contains(&address));
        let mut client = TcpStream::connect(address).await.expect("it listens");
        let (mut server, peer) = listener.accept().await.expect("it came");
        assert_eq!(table.user_of(peer, address).expect("listed"), own);
        assert_eq!(table.user_of(address, peer).expect("listed"), own);
        // The kernel would return the socket that listens.
        assert_eq!(table.user_of(address, "192.0.2.1:9".parse().expect("valid")).ok().flatten(), None);
        // Sent before it is looked at, and gone: whoever it was, the kernel says root.
        client.write_all(b"request").await.expect("sent");
        drop(client);
        // A program that another test starts just then holds a copy of it until it runs.
        let gone = async {
            while table.user_of(peer, address).expect("listed").is_some() {
                tokio::task::yield_now().await;
            }
        };
        timeout(LONG, gone).await.expect("it belongs to nobody");
        let mut request = [0; 7];
        server.read_exact(&mut request).await.expect("it was sent");
    }
}

/// A network that leads `allowed.example` to a server.
fn allowing(server: std::net::SocketAddr) -> Network {
    Network::new(Arc::new(move |asked: Server| -> crate::Connecting {
        Box::pin(async move {
            match asked.host.as_str() {
                "allowed.example" => {
                    TcpStream::connect(server).await.map_err(|error| NotConnected::Unreachable(error.to_string()))
                }
                _ => Err(NotConnected::Denied(format!("`{asked}` is not allowed"))),
            }
        })
    }))
}

// promise confine.session
#[tokio::test]
async fn program_of_a_session_does_not_use_the_grants_of_another() {
    level_of_tests();
    let upstream = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let network = allowing(upstream.local_addr().expect("bound"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = upstream.accept().await {
            if stream.read(&mut [0; 1024]).await.is_ok_and(|count| count > 0) {
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello").await.ok();
            }
        }
    });
    let (session, world) = (SessionNetwork::default(), World::new());
    let mut granted = world.start_in(Some(&session), "echo $http_proxy; exec sleep 1000", Some(network));
    let mut url = String::new();
    let output = granted.output.as_mut().expect("it has one");
    timeout(LONG, BufReader::new(output).read_line(&mut url)).await.expect("in time").expect("text");
    let (credentials, door) = url.trim().trim_start_matches("http://").split_once('@').expect("both");
    let guessed = "host:00000000000000000000000000000000";
    for (what, proxy, is_served) in [
        ("with the token", format!("http://{credentials}@{door}"), true),
        ("with the token, by SOCKS", format!("socks5h://{credentials}@{door}"), true),
        ("without", format!("http://{door}"), false),
        ("with another one", format!("http://{guessed}@{door}"), false),
        ("without, by SOCKS", format!("socks5h://{door}"), false),
        ("with another one, by SOCKS", format!("socks5h://{guessed}@{door}"), false),
    ] {
        let curl = format!("curl -sS -x {proxy} http://allowed.example/");
        let (_, text) = world.run_in(Some(&session), &curl).await;
        assert_eq!(text == "hello", is_served, "{what}: {text}");
    }
    // Its port is not shown, although it listens as a server does.
    let serving = world.serve(Some(&session), &format!("export NAME=doors; {SERVES}")).await;
    forwarded(&session, serving.port).await;
    let ports: Vec<u16> = session.forwarded().iter().map(|port| port.inside).collect();
    assert_eq!(ports, [serving.port]);
    // It ends with its program.
    granted.end();
    let (_, text) = world.run_in(Some(&session), &format!("curl -sS -x {} http://allowed.example/", url.trim())).await;
    assert!(text.starts_with("curl: ") && !text.contains("hello"), "{text}");
}

#[tokio::test]
async fn session_whose_holder_is_gone_gets_another_one() {
    let level = level_of_tests();
    let (session, world) = (SessionNetwork::default(), World::new());
    let member = session.enter(level.means()).expect("it can be made");
    member.socket(false).expect("it makes sockets");
    rustix::process::kill_process(member.holder(), Signal::KILL).expect("it runs");
    member.socket(false).expect_err("it is gone");
    assert_eq!(world.run_in(Some(&session), "true").await.0, Ended::Code(0));
    session.enter(level.means()).expect("it was made").socket(true).expect("it makes sockets");
}

#[tokio::test]
async fn session_socket_that_was_made_ahead_is_taken_for_no_other() {
    let level = level_of_tests();
    let session = SessionNetwork::default();
    let mut known: Vec<TcpListener> = Vec::new();
    for asked in [&[][..], &[true], &[], &[], &[false, true, true], &[true]] {
        let mut member = session.enter(level.means()).expect("it can be made");
        for is_v6 in asked {
            let socket = member.socket(*is_v6).expect("it makes sockets");
            let family = if *is_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
            assert_eq!(socket_domain(&socket).expect("known"), family);
        }
        let (listener, _) = member.door().expect("it makes sockets").listener().expect("it listens");
        let address = listener.local_addr().expect("known");
        assert!(address.is_ipv4(), "{address}");
        // They are kept open, so that the same socket twice would be the same port twice.
        let is_new = known.iter().all(|known| known.local_addr().is_ok_and(|other| other != address));
        assert!(is_new, "{address}");
        known.push(listener);
    }
}

#[tokio::test]
async fn joining_a_session_leaves_the_host_as_it_was() {
    level_of_tests();
    let dumpable = || rustix::process::dumpable_behavior().expect("known");
    let before = dumpable();
    let (session, world) = (SessionNetwork::default(), World::new());
    let network = || fs::read_link("/proc/self/ns/net").expect("there");
    let own = network();
    let (ended, text) = world.run_in(Some(&session), "readlink /proc/self/ns/net").await;
    assert_eq!(ended, Ended::Code(0));
    assert_ne!(Path::new(text.trim()), own);
    assert_eq!((dumpable(), network()), (before, own));
    assert_eq!(world.run_in(Some(&session), "readlink /proc/self/ns/net").await.1, text, "they share it");
    let other = world.run_in(Some(&SessionNetwork::default()), "readlink /proc/self/ns/net").await.1;
    assert_ne!(other, text);
    let users = "readlink /proc/self/ns/user /proc/self/ns/pid /proc/self/ns/mnt /proc/self/ns/ipc";
    let sleeping = world.start_in(Some(&session), &format!("{users} > first; sleep 1000"), None);
    while fs::read_to_string(world.path("work/first")).map_or(0, |text| text.lines().count()) < 4 {
        tokio::task::yield_now().await;
    }
    let first = fs::read_to_string(world.path("work/first")).expect("written");
    let second = world.run_in(Some(&session), users).await.1;
    let shared: Vec<_> = first.lines().filter(|line| second.contains(line)).collect();
    // Root needs no user namespace, and has no right in one.
    let is_root = level().means().namespaces == means::Namespaces::AsRoot;
    assert_eq!(shared.len(), usize::from(is_root), "{first} {second}");
    drop(sleeping);
}
