//! The kinds of standard streams that clients use.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use host_tests::host::Host;
use rustix::fs::{Mode, OFlags, fcntl_getfl};
use serde_json::{Value, json};

/// What a client says first, and a request with an argument of this length.
fn requests(length: usize) -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let call = json!({"name": "read_file", "arguments": {"path": "a".repeat(length)}});
    [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}),
    ]
    .iter()
    .map(|message| format!("{message}\n"))
    .collect()
}

/// Checks the responses to the [`requests`].
fn check(output: impl Read) {
    let lines = BufReader::new(output).lines().take(3);
    let mut answers: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("a message")).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2, 3], "{answers:?}");
    assert!(answers[1]["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{answers:?}");
    assert_eq!(answers[2]["result"]["isError"], true);
}

// promise mcp.streams
#[test]
fn mcp_serve_does_not_wait_for_a_client_that_never_reads_standard_error() {
    let host = Host::new(["run"]).env("HOST_LOG", "trace");
    let (mut theirs, mut errors) = std::io::pipe().expect("a pipe");
    // No line has room.
    let flags = fcntl_getfl(&errors).expect("flags");
    rustix::fs::fcntl_setfl(&errors, flags | OFlags::NONBLOCK).expect("set");
    let mut filled = Vec::new();
    for size in [4096, 1] {
        while errors.write(&vec![b'x'; size]).is_ok() {
            filled.resize(filled.len() + size, 0);
        }
    }
    rustix::fs::fcntl_setfl(&errors, flags).expect("set");
    let (input, mut ours) = std::io::pipe().expect("a pipe");
    let (output_read, output) = std::io::pipe().expect("a pipe");
    let mut command = host.command_of(&["mcp", "serve"]);
    let mut server = command.stdin(input).stdout(output).stderr(errors).spawn().expect("it starts");
    // The command holds streams of its own.
    drop(command);
    ours.write_all(requests(100).as_bytes()).expect("it is read");
    check(&output_read);
    // Once there is room, the next line counts those that were lost.
    theirs.read_exact(&mut filled).expect("read");
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        theirs.read_to_string(&mut text).expect("text");
        text
    });
    let list = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {}});
    ours.write_all(format!("{list}\n").as_bytes()).expect("it is read");
    drop(ours);
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
    let text = reading.join().expect("read");
    assert!(text.starts_with("… ") && text.contains(" left out: nothing read standard error\n"), "{text:.1000}");
}

fn start(host: &Host, input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
    host.command_of(&["mcp", "serve"]).stdin(input).stdout(output).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Whether reading from this, or writing to it, waits.
fn waits(stream: impl AsFd) -> bool {
    !fcntl_getfl(stream).expect("flags").contains(OFlags::NONBLOCK)
}

/// Talks to a server over these, and checks that they are as they were while it uses them.
fn talk(host: &Host, (input, mut ours): (OwnedFd, impl Write), (output, theirs): (OwnedFd, impl Read)) {
    let shared = (input.try_clone().expect("a descriptor"), output.try_clone().expect("a descriptor"));
    let mut server = start(host, input, output);
    // More than either has room for at once.
    ours.write_all(requests(3 << 20).as_bytes()).expect("it is read");
    check(theirs);
    assert!(waits(&shared.0) && waits(&shared.1), "others wait for these streams, too");
    drop(shared);
    drop(ours);
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
}

// promise mcp.streams: A server speaks over pipes, sockets, named pipes and files, and leaves them to others as they
//   were.
#[test]
fn mcp_serve_speaks_over_pipes_and_sockets_and_leaves_them_as_they_were() {
    let host = Host::new(["run"]);
    let (input, ours) = std::io::pipe().expect("a pipe");
    let (theirs, output) = std::io::pipe().expect("a pipe");
    talk(&host, (input.into(), ours), (output.into(), theirs));
    let (input, ours) = UnixStream::pair().expect("sockets");
    let (output, theirs) = UnixStream::pair().expect("sockets");
    talk(&host, (input.into(), ours), (output.into(), theirs));
    // One socket for both, as a program behind a network has.
    let (both, ours) = UnixStream::pair().expect("sockets");
    let theirs = ours.try_clone().expect("a descriptor");
    let hung_up = HangUp(ours);
    talk(&host, (both.try_clone().expect("a descriptor").into(), hung_up), (both.into(), theirs));
}

/// One half of a socket that has a second descriptor: it is shut down when it is dropped.
struct HangUp(UnixStream);

impl Write for HangUp {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.shutdown(std::net::Shutdown::Write).expect("it is open");
    }
}

// promise mcp.streams
#[test]
fn mcp_serve_speaks_over_files_and_named_pipes_that_were_closed() {
    let host = Host::new(["run"]);
    let folder = tempfile::tempdir().expect("a folder");
    let (questions, answers) = (folder.path().join("questions"), folder.path().join("answers"));
    std::fs::write(&questions, requests(100)).expect("written");
    let open = |path| File::open(path).expect("it is there");
    let mut server = start(&host, open(&questions), File::create(&answers).expect("a file"));
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
    check(open(&answers));

    let named = folder.path().join("named");
    rustix::fs::mkfifoat(rustix::fs::CWD, &named, Mode::RUSR | Mode::WUSR).expect("a named pipe");
    let writer = std::thread::spawn({
        let named = named.clone();
        move || std::fs::write(named, requests(100)).expect("it is read")
    });
    let input = open(&named);
    // Nobody writes to it any more when the server opens its streams.
    writer.join().expect("it wrote");
    let mut server = start(&host, input, File::create(&answers).expect("a file"));
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
    check(open(&answers));
}
