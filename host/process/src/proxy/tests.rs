//! What gets through the proxy, and what does not: each case speaks real HTTP, SOCKS or TLS to it.

use std::sync::{Arc, Mutex};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::Ended;
use crate::network::{Connecting, GitSsh, SshStreams, StartingSsh};
use crate::ssh::GitRequest;

/// A proxy to one server, which is `allowed.example`, port 443 and 80. The server sends back what it gets in capitals.
struct Bench {
    proxy: std::net::SocketAddr,
    /// What the network was asked for.
    asked: Arc<Mutex<Vec<String>>>,
    /// What the server got.
    got: Arc<Mutex<Vec<u8>>>,
    _tasks: JoinSet<()>,
}

impl Bench {
    async fn new() -> Self {
        Self::asking_for(None).await
    }

    /// With a proxy that asks for this token.
    async fn asking_for(token: Option<Token>) -> Self {
        let upstream = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = upstream.local_addr().expect("bound");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let got: Arc<Mutex<Vec<u8>>> = Arc::default();
        let mut tasks = JoinSet::new();
        let received = Arc::clone(&got);
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = upstream.accept().await {
                let received = Arc::clone(&received);
                tokio::spawn(async move {
                    let mut buffer = [0; 1024];
                    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                        received.lock().expect("whole").extend_from_slice(&buffer[..count]);
                        let answer: Vec<u8> = buffer[..count].to_ascii_uppercase();
                        if stream.write_all(&answer).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let proxy = listener.local_addr().expect("bound");
        let seen = Arc::clone(&asked);
        let network = Network::new(Arc::new(move |asked: Server| -> Connecting {
            seen.lock().expect("whole").push(asked.to_string());
            Box::pin(async move {
                match (asked.host.as_str(), asked.port) {
                    ("allowed.example", 80 | 443) => {
                        TcpStream::connect(server).await.map_err(|error| NotConnected::Unreachable(error.to_string()))
                    }
                    ("away.example", _) => Err(NotConnected::Unreachable("it is away".to_owned())),
                    _ => Err(NotConnected::Denied(format!("`{asked}` is not allowed"))),
                }
            })
        }));
        tasks.spawn(serve(listener, network, token));
        Self { proxy, asked, got, _tasks: tasks }
    }

    /// Sends bytes, and returns all that comes back until the end.
    async fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.proxy).await.expect("it listens");
        stream.write_all(bytes).await.expect("sent");
        stream.shutdown().await.expect("closed");
        let mut answer = Vec::new();
        // A proxy that closes while something is unread resets the connection; what came before counts.
        stream.read_to_end(&mut answer).await.ok();
        answer
    }

    fn asked(&self) -> String {
        self.asked.lock().expect("whole").drain(..).collect::<Vec<_>>().join(" ")
    }

    fn got(&self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut *self.got.lock().expect("whole"))).into_owned()
    }
}

// promise confine.proxy: A confined program reaches only servers that were granted by name, and greets them by that
//   name.
#[tokio::test]
async fn proxy_connects_by_http_only_to_what_is_allowed() {
    let bench = Bench::new().await;
    for (target, status, asked) in [
        ("allowed.example:443", "200", "allowed.example:443"),
        ("ALLOWED.Example.:443", "200", "allowed.example:443"),
        ("denied.example:443", "403", "denied.example:443"),
        ("allowed.example:22", "403", "allowed.example:22"),
        ("away.example:443", "502", "away.example:443"),
        ("127.0.0.1:443", "403", "127.0.0.1:443"),
        ("[::1]:443", "403", "[::1]:443"),
        ("[::ffff:127.0.0.1]:443", "403", "[::ffff:127.0.0.1]:443"),
        ("127.1:443", "400", ""),
        ("2130706433:443", "400", ""),
        ("0x7f000001:443", "400", ""),
        ("0177.0.0.1:443", "400", ""),
        ("denied.example\0.allowed.example:443", "400", ""),
        ("denied.example%00.allowed.example:443", "400", ""),
        ("user@allowed.example:443", "400", ""),
        ("denied.example#@allowed.example:443", "400", ""),
        ("allowed.example", "400", ""),
        ("allowed.example:0", "400", ""),
        ("allowed.example:+443", "400", ""),
        ("allowed.example:99999", "400", ""),
        ("-allowed.example:443", "400", ""),
        ("allowed..example:443", "400", ""),
        ("аllowed.example:443", "400", ""),
        ("", "400", ""),
    ] {
        let answer = bench.send(format!("CONNECT {target} HTTP/1.1\r\n\r\nhello").as_bytes()).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {answer}");
        assert_eq!(bench.asked(), asked, "{target}");
        assert_eq!(bench.got(), if status == "200" { "hello" } else { "" }, "{target}");
        assert_eq!(answer.ends_with("HELLO"), status == "200", "{target}: {answer}");
    }
    let denied = bench.send(b"CONNECT denied.example:443 HTTP/1.1\r\n\r\n").await;
    assert!(String::from_utf8_lossy(&denied).ends_with("host: `denied.example:443` is not allowed\n"));
}

// promise confine.proxy
#[tokio::test]
async fn proxy_forwards_one_request_to_the_server_that_it_names() {
    let bench = Bench::new().await;
    let forwarded = "POST /a?b HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let request = "POST http://allowed.example/a?b HTTP/1.1\r\nHost: allowed.example\r\nProxy-Authorization: x\r\n\
                   Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
    bench.send(request.as_bytes()).await;
    assert_eq!((bench.asked().as_str(), bench.got().as_str()), ("allowed.example:80", forwarded));
    // A second request on the same connection would go to the same server, whatever it names.
    bench.send(format!("{request}GET http://denied.example/ HTTP/1.1\r\n\r\n").as_bytes()).await;
    assert_eq!((bench.asked().as_str(), bench.got().as_str()), ("allowed.example:80", forwarded));
    for (request, status) in [
        ("GET http://allowed.example/ HTTP/1.1\r\nHost: denied.example\r\n\r\n", "400"),
        ("GET http://denied.example@allowed.example/ HTTP/1.1\r\n\r\n", "400"),
        ("GET http://allowed.example:80:80/ HTTP/1.1\r\n\r\n", "400"),
        ("POST http://allowed.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
        ("POST http://allowed.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
        ("POST http://allowed.example/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
        ("GET http://denied.example/ HTTP/1.1\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n", "501"),
        ("GET ftp://allowed.example/ HTTP/1.1\r\n\r\n", "501"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let answer = bench.send(request.as_bytes()).await;
        assert!(
            answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()),
            "{request}: {}",
            String::from_utf8_lossy(&answer)
        );
        assert_eq!(bench.got(), "", "{request}");
    }
    let long = format!("GET http://allowed.example/{} HTTP/1.1\r\n\r\n", "x".repeat(20_000));
    assert!(bench.send(long.as_bytes()).await.starts_with(b"HTTP/1.1 431 "));
}

// promise confine.proxy
#[tokio::test]
async fn proxy_connects_by_socks_only_to_what_is_allowed() {
    let bench = Bench::new().await;
    let named = |command: u8, name: &[u8]| {
        let length = u8::try_from(name.len()).expect("short");
        [&[5, 1, 0, 5, command, 0, 3, length], name, &443_u16.to_be_bytes(), b"hello"].concat()
    };
    let local = [&[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1], &443_u16.to_be_bytes()[..]].concat();
    let mapped =
        [&[5, 1, 0, 5, 1, 0, 4], &std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets()[..], &443_u16.to_be_bytes()]
            .concat();
    for (bytes, code, asked) in [
        (named(1, b"allowed.example"), Some(0), "allowed.example:443"),
        (named(1, b"denied.example"), Some(2), "denied.example:443"),
        (named(1, b"denied.example\0.allowed.example"), Some(8), ""),
        (named(1, b"2130706433"), Some(8), ""),
        (named(1, b""), Some(8), ""),
        (named(1, b"away.example"), Some(4), "away.example:443"),
        // Listening, and datagrams.
        (named(2, b"allowed.example"), Some(7), ""),
        (named(3, b"allowed.example"), Some(7), ""),
        (local, Some(2), "127.0.0.1:443"),
        (mapped, Some(2), "[::ffff:127.0.0.1]:443"),
        // A password, and version 4.
        (vec![5, 1, 2], None, ""),
        (vec![4, 1, 1, 187, 127, 0, 0, 1, 0], None, ""),
    ] {
        let answer = bench.send(&bytes).await;
        let found = answer.get(2..4).filter(|answer| answer[0] == 5).map(|answer| answer[1]);
        assert_eq!(found, code, "{bytes:?}: {answer:?}");
        assert_eq!(bench.asked(), asked, "{bytes:?}");
        assert_eq!(bench.got(), if code == Some(0) { "hello" } else { "" }, "{bytes:?}");
    }
}

// promise confine.proxy
#[tokio::test]
async fn proxy_with_a_token_serves_only_who_knows_it() {
    let token = Token::new().expect("random");
    let (own, other) = (token.user_information(), Token::new().expect("random").user_information());
    let bench = Bench::asking_for(Some(token)).await;
    let encoded = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let right = format!("Proxy-Authorization: Basic {}\r\n", encoded(&own));
    for (what, fields, is_served) in [
        ("the token", right.clone(), true),
        ("another case", format!("proxy-authorization:  bAsIc   {}\r\n", encoded(&own)), true),
        ("no token", String::new(), false),
        ("that of a different program", format!("Proxy-Authorization: Basic {}\r\n", encoded(&other)), false),
        ("a part of it", format!("Proxy-Authorization: Basic {}\r\n", encoded(&own[..own.len() - 1])), false),
        ("more", format!("Proxy-Authorization: Basic {}\r\n", encoded(&format!("{own}0"))), false),
        ("no user", format!("Proxy-Authorization: Basic {}\r\n", encoded(&own["host".len()..])), false),
        ("nothing", "Proxy-Authorization: Basic\r\n".to_owned(), false),
        ("another scheme", format!("Proxy-Authorization: Bearer {}\r\n", encoded(&own)), false),
        ("another field", format!("Authorization: Basic {}\r\n", encoded(&own)), false),
        ("no base64", format!("Proxy-Authorization: Basic {own}\r\n"), false),
    ] {
        for request in ["CONNECT allowed.example:443 HTTP/1.1", "GET http://allowed.example/ HTTP/1.1"] {
            let answer = bench.send(format!("{request}\r\n{fields}\r\nhello").as_bytes()).await;
            let answer = String::from_utf8_lossy(&answer).into_owned();
            let wanted = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"host\"\r\n";
            assert_eq!(!answer.starts_with(wanted), is_served, "{what}: {answer}");
            assert_eq!(!bench.asked().is_empty(), is_served, "{what}: {request}");
            let got = bench.got();
            assert_eq!(!got.is_empty(), is_served, "{what}: {request}");
            assert!(!got.to_lowercase().contains("proxy-authorization"), "{got}");
        }
    }
    let (user, password) = own.split_once(':').expect("both");
    let socks = |methods: &[u8], version: u8, user: &str, password: &str| {
        let part = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
        let [user, password, name] = [user, password, "allowed.example"].map(part);
        let count = [5, u8::try_from(methods.len()).expect("few")];
        let port = 443_u16.to_be_bytes();
        [&count, methods, &[version], &user, &password, &[5, 1, 0, 3], &name, &port[..], b"hello"].concat()
    };
    let other = other.split_once(':').expect("both").1;
    for (bytes, begin, is_served) in [
        (socks(&[0, 2], 1, user, password), &[5, 2, 1, 0, 5, 0][..], true),
        (socks(&[0, 2], 1, user, other), &[5, 2, 1, 1], false),
        (socks(&[2], 1, user, ""), &[5, 2, 1, 1], false),
        (socks(&[2], 1, "", password), &[5, 2, 1, 1], false),
        (socks(&[2], 0, user, password), &[5, 2, 1, 1], false),
        // Without a password.
        (socks(&[0], 1, user, password), &[5, 0xff], false),
    ] {
        let answer = bench.send(&bytes).await;
        assert!(answer.starts_with(begin), "{bytes:?}: {answer:?}");
        assert_eq!(!bench.asked().is_empty(), is_served, "{bytes:?}");
        assert_eq!(bench.got() == "hello", is_served, "{bytes:?}");
    }
}

// promise confine.proxy
#[tokio::test]
async fn proxy_lets_a_client_of_tls_greet_only_the_server_that_it_named() {
    let bench = Bench::new().await;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config = Arc::new(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    let greeting = |name: &'static str| {
        let name = ServerName::try_from(name).expect("a name");
        let mut client = ClientConnection::new(Arc::clone(&config), name).expect("a client");
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("written");
        bytes
    };
    let connect = b"CONNECT allowed.example:443 HTTP/1.1\r\n\r\n".as_slice();
    for (name, reaches) in [("allowed.example", true), ("denied.example", false), ("192.0.2.1", false)] {
        let greeting = greeting(name);
        bench.send(&[connect, &greeting].concat()).await;
        assert_eq!(std::mem::take(&mut *bench.got.lock().expect("whole")) == greeting, reaches, "{name}");
        // In pieces, as a network may deliver it, and cut off.
        bench.send(&[connect, &greeting[..greeting.len() / 2]].concat()).await;
        assert_eq!(bench.got(), "", "{name}");
    }
    bench.send(&[connect, &[22; 200]].concat()).await;
    assert_eq!(bench.got(), "");
}

// promise confine.ssh
#[tokio::test]
async fn proxy_starts_ssh_only_for_requests_of_git() {
    let token = Token::new().expect("random");
    let own = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, token.user_information());
    let started: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&started);
    let start = move |request: GitRequest| -> StartingSsh {
        let arguments = request.arguments();
        let shown = arguments.iter().skip_while(|word| *word != "StrictHostKeyChecking=yes").skip(1);
        seen.lock().expect("whole").push(shown.cloned().collect::<Vec<_>>().join("|"));
        Box::pin(async move {
            match request.host() {
                "denied.example" => Err(NotConnected::Denied("it is denied".to_owned())),
                _ => Ok(SshStreams {
                    input: None,
                    output: None,
                    errors: None,
                    ended: Box::pin(async { Ended::Code(3) }),
                }),
            }
        })
    };
    let mut network = Network::new(Arc::new(|_| Box::pin(async { Err(NotConnected::Denied(String::new())) })));
    network.ssh = Some(GitSsh { client: "/host".into(), start: Arc::new(start) });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy = listener.local_addr().expect("bound");
    let mut tasks = JoinSet::new();
    tasks.spawn(serve(listener, network, Some(token)));
    let own = format!("Proxy-Authorization: Basic {own}\r\n");
    let fetch = "git-command: git-upload-pack 'x'\r\n";
    let long = format!("git-command: git-upload-pack '{}'\r\n", "x".repeat(20_000));
    let many = "a: b\r\n".repeat(200);
    for (target, fields, status, expected) in [
        ("git@a.example", format!("{own}{fetch}"), "200", "--|git@a.example|git-upload-pack 'x'"),
        (
            "a.example:22",
            format!("{own}{fetch}git-protocol: version=2\r\nip-option: -4\r\n"),
            "200",
            "-o|SendEnv=GIT_PROTOCOL|-4|-p|22|--|a.example|git-upload-pack 'x'",
        ),
        ("a.example", format!("{own}{fetch}ip-option: -oX\r\n"), "200", "--|a.example|git-upload-pack 'x'"),
        ("denied.example", format!("{own}{fetch}"), "403", "--|denied.example|git-upload-pack 'x'"),
        ("git@a.example", fetch.to_owned(), "407", ""),
        ("git@a.example", format!("Proxy-Authorization: Basic eDp5\r\n{fetch}"), "407", ""),
        ("git@a.example", own.clone(), "400", ""),
        ("git@a.example", format!("{own}{fetch}{fetch}"), "400", ""),
        ("git@a.example", format!("{own}git-command: id\r\n"), "400", ""),
        ("git@a.example", format!("{own}git-command: git-upload-pack 'x'\r\n id\r\n"), "400", ""),
        ("-oProxyCommand=id", format!("{own}{fetch}"), "400", ""),
        ("git@-oProxyCommand=id", format!("{own}{fetch}"), "400", ""),
        ("http://a.example/", format!("{own}{fetch}"), "400", ""),
        ("git@a.example", format!("{own}{long}"), "431", ""),
        ("git@a.example", format!("{own}{many}{fetch}"), "400", ""),
    ] {
        let mut stream = TcpStream::connect(proxy).await.expect("it listens");
        stream.write_all(format!("SSH {target} HTTP/1.1\r\n{fields}\r\n").as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok();
        assert!(answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{target} {fields}: {answer:?}");
        assert_eq!(answer.ends_with(b"\r\n\r\nx\0\0\0\x01\x03"), status == "200", "{target} {fields}: {answer:?}");
        assert_eq!(started.lock().expect("whole").drain(..).collect::<String>(), expected, "{target} {fields}");
    }
    // Another program's proxy starts none.
    let bench = Bench::new().await;
    let answer = bench.send(format!("SSH a.example HTTP/1.1\r\n{fetch}\r\n").as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.1 501 "), "{answer:?}");
}

#[tokio::test]
async fn proxy_serves_many_connections_and_forgets_those_that_end() {
    let bench = Bench::new().await;
    for _ in 0..2 * CONNECTIONS {
        let answer = bench.send(b"CONNECT allowed.example:443 HTTP/1.1\r\n\r\nhello").await;
        assert!(answer.ends_with(b"HELLO"), "{answer:?}");
    }
}
