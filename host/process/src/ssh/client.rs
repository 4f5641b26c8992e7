//! What a confined git starts as its ssh: the host's binary, which asks the proxy of the program and carries bytes.
//!
//! It has no rights of its own: it runs behind the walls of the program that started it, and says only what that
//! program could say itself.

use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Family;
use super::frame::Frame;

/// The first argument that makes the host's binary this client.
pub const GIT_SSH_ARGUMENT: &str = "host-git-ssh";

/// The method of a request to the proxy.
pub(crate) const METHOD: &str = "SSH";
/// The fields of such a request.
pub(crate) const COMMAND_FIELD: &str = "git-command";
pub(crate) const PROTOCOL_FIELD: &str = "git-protocol";
pub(crate) const FAMILY_FIELD: &str = "ip-option";

/// The longest head of an answer.
const HEAD: usize = 8 << 10;

/// The longest text of a refusal.
const REFUSAL: u64 = 16 << 10;

/// The exit code of ssh for an error of its own.
const FAILED: u8 = 255;

/// What git wants, going by the arguments that it gives to ssh.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    target: String,
    command: String,
    family: Option<Family>,
    sends_protocol: bool,
}

/// How git starts the client.
pub struct GitSshCall {
    /// The arguments that git gives to ssh.
    pub arguments: Vec<OsString>,
    /// The proxy of the program: the value of `https_proxy`.
    pub proxy: Option<String>,
    /// What git wants to be passed on: the value of `GIT_PROTOCOL`.
    pub protocol: Option<String>,
}

/// Runs the client, with these as its standard streams. Returns the exit code. The input may be read on in a thread
/// when it has ended, since git can keep its end open.
pub fn run_git_ssh(
    call: GitSshCall,
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    errors: &mut impl Write,
) -> u8 {
    let GitSshCall { arguments, proxy, protocol } = call;
    let ended = wanted(arguments).and_then(|wanted| {
        let (mut stream, mut answer) = ask(&wanted, proxy.as_deref(), protocol.as_deref())?;
        // Not joined: git can keep its end open although ssh has ended, and the call would never return.
        std::thread::spawn(move || {
            let mut input = input;
            io::copy(&mut input, &mut stream).ok();
            stream.shutdown(Shutdown::Write).ok();
        });
        carry(&mut answer, output, errors).map_err(broken)
    });
    ended.unwrap_or_else(|why| {
        writeln!(errors, "host: {why}").ok();
        FAILED
    })
}

fn broken(error: io::Error) -> String {
    format!("the way to ssh is broken: {error}")
}

fn wanted(arguments: Vec<OsString>) -> Result<Wanted, String> {
    let unsupported = || "ssh is for git alone behind these walls: HOST and one command of git's".to_owned();
    let mut words = Vec::new();
    for argument in arguments {
        words.push(argument.into_string().map_err(|_| unsupported())?);
    }
    let mut wanted = Wanted::default();
    let mut port = None;
    let mut words = words.into_iter().peekable();
    // A list of what git itself passes: of anything else ssh would be told nothing, and git would believe it was.
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if let Some(family) = Family::ALL.into_iter().find(|family| family.option() == option) {
            wanted.family = Some(family);
            continue;
        }
        match (option.as_str(), words.next()) {
            ("-p", Some(given)) => port = Some(given),
            ("-o", Some(given)) if given == "SendEnv=GIT_PROTOCOL" => wanted.sends_protocol = true,
            _ => return Err(unsupported()),
        }
    }
    let (Some(target), Some(command), None) = (words.next(), words.next(), words.next()) else {
        return Err(unsupported());
    };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let (user, host) = target.split_once('@').map_or(("", &*target), |(user, host)| (user, host));
    let user = if target.contains('@') { format!("{user}@") } else { String::new() };
    // Git passes IPv6 addresses without brackets, which a port behind them needs.
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    wanted.target = format!("{user}{host}{port}");
    wanted.command = command;
    // A line break would begin another field of the request.
    let is_line = |text: &str| !text.contains(char::is_control);
    if !is_line(&wanted.command) || !is_line(&wanted.target) || wanted.target.contains(' ') {
        return Err(unsupported());
    }
    Ok(wanted)
}

/// Returns the proxy's address and the credentials for it.
fn proxy(address: &str) -> Option<(String, Option<String>)> {
    let rest = address.strip_prefix("http://")?.trim_end_matches('/');
    match rest.rsplit_once('@') {
        Some((user, server)) => Some((server.to_owned(), Some(user.to_owned()))),
        None => Some((rest.to_owned(), None)),
    }
}

/// Asks the proxy; returns both ends of the connection once ssh runs.
fn ask(
    wanted: &Wanted,
    address: Option<&str>,
    protocol: Option<&str>,
) -> Result<(TcpStream, BufReader<TcpStream>), String> {
    let (server, user) = address.and_then(proxy).ok_or("there is no way to ssh here: the program has no proxy")?;
    let mut stream = TcpStream::connect(server).map_err(broken)?;
    let mut head = format!("{METHOD} {} HTTP/1.1\r\n{COMMAND_FIELD}: {}\r\n", wanted.target, wanted.command);
    if let Some(user) = user {
        head += &format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(user));
    }
    if let Some(protocol) = protocol.filter(|protocol| wanted.sends_protocol && !protocol.contains(char::is_control)) {
        head += &format!("{PROTOCOL_FIELD}: {protocol}\r\n");
    }
    if let Some(family) = wanted.family {
        head += &format!("{FAMILY_FIELD}: {}\r\n", family.option());
    }
    stream.write_all((head + "\r\n").as_bytes()).map_err(broken)?;
    let mut answer = BufReader::new(stream.try_clone().map_err(broken)?);
    if is_accepted(&mut answer).map_err(broken)? {
        return Ok((stream, answer));
    }
    let mut why = String::new();
    // Bounded: git shows all of it.
    answer.take(REFUSAL).read_to_string(&mut why).map_err(broken)?;
    let why = why.trim();
    Err(why.strip_prefix("host: ").unwrap_or(why).to_owned())
}

/// Carries what ssh answers until it has ended; returns its exit code.
fn carry(answer: &mut impl Read, output: &mut impl Write, errors: &mut impl Write) -> io::Result<u8> {
    loop {
        match Frame::read(answer)? {
            Frame::Output(bytes) => {
                output.write_all(&bytes)?;
                output.flush()?;
            }
            Frame::Errors(bytes) => errors.write_all(&bytes)?,
            Frame::Ended(code) => return Ok(code),
        }
    }
}

/// Reads the head of an answer, and nothing behind it.
fn is_accepted(answer: &mut impl Read) -> io::Result<bool> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        answer.read_exact(&mut byte)?;
        head.extend(byte);
        if head.len() > HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(head.starts_with(b"HTTP/1.1 200 "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_ssh_client_takes_what_git_gives_to_ssh() {
        let wanted = |words: &[&str]| wanted(words.iter().map(OsString::from).collect());
        let command = "git-upload-pack 'a b'";
        for (words, target, family, sends) in [
            (vec!["git@h", command], "git@h", None, false),
            (vec!["-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "git@h", command], "git@h:2222", None, true),
            (vec!["-4", "h", command], "h", Some(Family::V4), false),
            (vec!["-6", "-p", "22", "git@::1", command], "git@[::1]:22", Some(Family::V6), false),
        ] {
            let target = target.to_owned();
            let expected = Wanted { target, command: command.to_owned(), family, sends_protocol: sends };
            assert_eq!(wanted(&words), Ok(expected), "{words:?}");
        }
        for words in [
            vec!["h"],
            vec!["h", command, "more"],
            vec!["-G", "h"],
            vec!["-o", "ProxyCommand=x", "h", command],
            vec!["-oProxyCommand=x", "h", command],
            vec!["-L", "1:h:2", "h", command],
            vec!["-F", "x", "h", command],
            vec!["-p"],
            vec!["h", "git-upload-pack 'a'\r\nx: y"],
            vec!["h HTTP/1.1", command],
        ] {
            assert!(wanted(&words).is_err(), "{words:?}");
        }
        let credentials = Some("host:ab".to_owned());
        assert_eq!(proxy("http://host:ab@127.0.0.1:9"), Some(("127.0.0.1:9".to_owned(), credentials)));
        assert_eq!(proxy("http://127.0.0.1:3128/"), Some(("127.0.0.1:3128".to_owned(), None)));
        assert_eq!(proxy("socks5h://127.0.0.1:3128"), None);
    }
}
