//! Attacks on the user's ssh, which a confined git gets bytes of: other commands, other servers, options, sending
//! instead of fetching.
//!
//! The ssh of these tests writes down what it was started with, and runs the remote command here.

use std::path::{Path, PathBuf};
use std::process::Command;

use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

use super::Failures;

const PROBE: &str = include_str!("network/probe.py");

/// The ssh of the user: it records each start, and runs the last argument as the server would.
pub(crate) const SSH: &str = "#!/bin/sh\n\
    { printf '%s|' \"$@\"; echo \"$GIT_PROTOCOL|$PWD\"; } >>\"$HOME/started\"\n\
    for last in \"$@\"; do :; done\n\
    exec sh -c \"$last\"\n";

/// The arguments that every ssh is started with.
pub(crate) const FIXED: &str = "-o|BatchMode=yes|-o|ClearAllForwardings=yes|-o|ForwardAgent=no|-o|ForwardX11=no|-o|\
    PermitLocalCommand=no|-o|RequestTTY=no|-o|StrictHostKeyChecking=yes|";

/// A host in a repository with one commit, whose home has the user's ssh and the repository `remote.git`.
pub(crate) fn with_ssh(host: Host) -> Host {
    let bin = host.home().join("bin");
    let host = host.home_file("bin/ssh", SSH);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("ssh"), mode).expect("it can be run");
    git(&host, &["init", "-q", "-b", "main", "."]);
    git(&host, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"]);
    let remote = remote(&host);
    git(&host, &["init", "-q", "--bare", "-b", "main", &remote]);
    git(&host, &["push", "-q", &remote, "main:old"]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).expect("a path");
    host.env("PATH", path)
}

/// The path of the repository on the other side.
pub(crate) fn remote(host: &Host) -> String {
    let home: PathBuf = std::fs::canonicalize(host.home()).expect("it is there");
    home.join("remote.git").display().to_string()
}

/// Runs git as the user, without walls.
pub(crate) fn git(host: &Host, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(host.repository()).env("HOME", host.home()).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// What ssh was started with, a line for each start.
pub(crate) fn started(home: &Path) -> String {
    std::fs::read_to_string(home.join("started")).unwrap_or_default()
}

/// A host that runs this line behind all walls, with a grant for these servers.
fn running(line: &str, net: &str) -> Host {
    let arguments = json!({"command": line}).to_string();
    let grant = if net.is_empty() { "shell:process=*".to_owned() } else { format!("shell:process=*;net={net}") };
    with_ssh(Host::new(["tool", "call", "shell", &arguments, "--confine", "require", "--grant", &grant]))
}

/// The same in one step; returns what was started besides.
fn run(line: &str, net: &str) -> (Ended, String) {
    let host = running(line, net);
    let ended = host.run();
    (ended, started(host.home()))
}

// promise confine.ssh
#[test]
fn escape_git_itself_gets_through_to_the_users_ssh() {
    let host = running("git push -q git@git.invalid:~/x HEAD:new", "ssh://git@git.invalid +push");
    let remote = remote(&host);
    let arguments = |line: &str| json!({"command": line}).to_string();
    let call = |line: &str, net: &str| {
        let grant = format!("shell:process=*;net={net}");
        host.run_of(&["tool", "call", "shell", &arguments(line), "--confine", "require", "--grant", &grant])
    };
    let push = format!("git push -q git@git.invalid:{remote} HEAD:refs/heads/new");
    let ended = call(&push, "ssh://git@git.invalid +push");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(started(host.home()), format!("{FIXED}--|git@git.invalid|git-receive-pack '{remote}'||/\n"));
    assert!(git(&host, &["ls-remote", &remote]).contains("refs/heads/new"));
    std::fs::remove_file(host.home().join("started")).expect("it was started");
    // Fetching with the version of the protocol that git speaks, on another port.
    let fetch = format!("git fetch -q ssh://git@git.invalid:2222{remote} old:fetched");
    let ended = call(&fetch, "ssh://git@git.invalid:2222");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sent = "-o|SendEnv=GIT_PROTOCOL|-p|2222|--|git@git.invalid|";
    assert_eq!(started(host.home()), format!("{FIXED}{sent}git-upload-pack '{remote}'|version=2|/\n"));
    assert!(git(&host, &["branch", "--list", "fetched"]).contains("fetched"));
    // How ssh ends, and what it reports, comes back.
    let ended = call("git ls-remote git@git.invalid:/none", "ssh://git@git.invalid");
    assert!(ended.stdout.contains("does not appear to be a git repository"), "{ended:?}");
}

/// A line of a shell behind the walls, with a door for fetching from `git@git.invalid`; `inside` is the ssh of git
/// there.
const LINES: &[&str] = &[
    "inside git@git.invalid id",
    "inside git@git.invalid",
    "inside git@git.invalid \"git-upload-pack 'REMOTE'; touch $HOME/started\"",
    "inside git@git.invalid \"git-upload-pack REMOTE\"",
    "inside git@git.invalid \"git-shell 'REMOTE'\"",
    "inside git@git.invalid \"git-upload-pack '--help'\"",
    "inside git@git.invalid \"git-receive-pack 'REMOTE'\"",
    "inside git@other.invalid \"git-upload-pack 'REMOTE'\"",
    "inside root@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -p 2222 git@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -oProxyCommand=id git@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -o ProxyCommand=id git@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -F /dev/null git@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -L 1:h:2 git@git.invalid \"git-upload-pack 'REMOTE'\"",
    "inside -- -oProxyCommand=id \"git-upload-pack 'REMOTE'\"",
    "git push -q git@git.invalid:REMOTE HEAD:new",
    "git ls-remote --upload-pack='id;' git@git.invalid:REMOTE",
    "git ls-remote --upload-pack=id git@git.invalid:REMOTE",
    "git ls-remote ssh://-oProxyCommand=id/REMOTE",
    "git -c core.sshCommand='ssh -oProxyCommand=id' ls-remote git@other.invalid:REMOTE",
    "curl -s --max-time 5 --proxytunnel http://git.invalid:22",
];

/// What is sent to the proxy by hand, with its password.
const REQUESTS: &[&str] = &[
    "SSH git@git.invalid HTTP/1.1\r\ngit-command: id\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\n\r\n",
    "SSH -oProxyCommand=id HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH git@-oProxyCommand=id HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH -lroot@git.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH git@git.invalid:-1 HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\ngit-command: id\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\n id\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE' -oProxyCommand=id\r\n\r\n",
    "SSH git@git.invalid@other.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH git@other.invalid HTTP/1.1\r\ngit-command: git-upload-pack 'REMOTE'\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\ngit-command: git-receive-pack 'REMOTE'\r\n\r\n",
    "SSH git@git.invalid HTTP/1.1\r\nproxy-authorization: Basic eDp5\r\ngit-command: git-receive-pack 'REMOTE'\r\n\r\n",
    "CONNECT git.invalid:22 HTTP/1.1\r\n\r\n",
];

/// The controls: what gets through, to a repository that is not there.
const LINE: &str = "inside git@git.invalid \"git-upload-pack '/none'\"";
const REQUEST: &str = "SSH git@git.invalid HTTP/1.1\r\ngit-command: git-upload-pack '/none'\r\n\r\n";

// promise confine.ssh
#[test]
fn escape_nothing_but_the_granted_use_of_git_starts_ssh() {
    let mut failures = Failures::default();
    let host = running("true", "");
    let remote = remote(&host);
    let filled = |text: &str| text.replace("REMOTE", &remote);
    let requests: Vec<Value> =
        REQUESTS.iter().chain([&REQUEST]).map(|request| json!({"steps": [hex(&filled(request))]})).collect();
    let lines: String =
        LINES.iter().chain([&LINE]).map(|line| format!("{} </dev/null; echo \"$?\"\n", filled(line))).collect();
    let script = format!("inside() {{ sh -c \"$GIT_SSH_COMMAND \\\"\\$@\\\"\" ssh \"$@\"; }}\n{lines}");
    let host =
        host.file("lines", script).file("probe.py", PROBE).file("requests.json", Value::from(requests).to_string());
    let line = "sh lines >ended 2>said; /usr/bin/python3 probe.py requests.json results.json";
    let arguments = json!({"command": line}).to_string();
    let grant = "shell:process=*;net=ssh://git@git.invalid";
    let ended = host.run_of(&["tool", "call", "shell", &arguments, "--confine", "require", "--grant", grant]);
    let read = |path: &str| std::fs::read_to_string(host.repository().join(path)).unwrap_or_default();
    let codes = read("ended");
    let codes: Vec<&str> = codes.lines().filter(|line| line.bytes().all(|byte| byte.is_ascii_digit())).collect();
    failures.check("all lines ran", codes.len() == LINES.len() + 1, &format!("{ended:?}\n{}", read("said")));
    for (line, code) in LINES.iter().zip(&codes) {
        failures.check(line, *code != "0", "it ended well");
    }
    let results: Vec<String> = serde_json::from_str(&read("results.json")).unwrap_or_default();
    failures.check("all requests were made", results.len() == REQUESTS.len() + 1, &format!("{ended:?}"));
    for (request, answer) in REQUESTS.iter().zip(&results) {
        failures.check(request, answer.starts_with("HTTP/1.1 4"), answer);
    }
    // The controls, and all that was started.
    failures.check(
        REQUEST,
        results.last().is_some_and(|answer| answer.starts_with("HTTP/1.1 200")),
        "it did not get through",
    );
    let expected = format!("{FIXED}--|git@git.invalid|git-upload-pack '/none'||/\n").repeat(2);
    failures.check("what was started", started(host.home()) == expected, &started(host.home()));
    failures.check("a branch", !git(&host, &["ls-remote", &remote]).contains("refs/heads/new"), "it was sent");
    failures.report(LINES.len() + REQUESTS.len());
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

// promise confine.ssh
#[test]
fn escape_a_door_for_a_server_is_none_for_ssh_and_says_what_would_be() {
    for net in ["", "git.invalid:22", "git.invalid:*,git.invalid", "*:* +private", "ssh://git.invalid +push"] {
        let (ended, started) = run("git push -q git@git.invalid:x HEAD:new", net);
        assert_eq!(started, "", "{net}");
        let told = "this program may not send to `git@git.invalid` over ssh; to allow it, add --grant \
                    'shell:process=PROGRAM;net=ssh://git@git.invalid +push'";
        assert!(format!("{ended:?}").contains(told), "{net}: {ended:?}");
    }
    // A name that leads to this machine needs more.
    let (ended, none) = run("git ls-remote git@localhost:x", "ssh://git@localhost");
    assert!(none.is_empty() && format!("{ended:?}").contains("net=ssh://git@localhost +private'"), "{ended:?}");
    let (ended, some) = run("git ls-remote git@localhost:x", "ssh://git@localhost +private");
    assert!(some.contains("git@localhost"), "{ended:?}");
}

// promise confine.ssh
#[test]
fn escape_the_ssh_that_runs_is_the_users_and_none_of_the_workspace() {
    let look = "git ls-remote git@git.invalid:x";
    // The user's own settings of git name a key.
    let host = running(look, "ssh://git@git.invalid").home_file(".gitconfig", "[core]\n\tsshCommand = ssh -i '/a b'\n");
    host.run();
    let sent = "-o|SendEnv=GIT_PROTOCOL|--|git@git.invalid|git-upload-pack 'x'|version=2|/\n";
    assert_eq!(started(host.home()), format!("-i|/a b|{FIXED}{sent}"));
    // Settings that a program of the workspace can change do not count, and those of ssh none at all.
    let host = running(look, "ssh://git@git.invalid").file("mine", "[core]\n\tsshCommand = ssh -i wrong\n");
    std::os::unix::fs::symlink(host.repository().join("mine"), host.home().join(".gitconfig")).expect("linked");
    host.run();
    assert!(started(host.home()).starts_with(FIXED), "{}", started(host.home()));
    let host = running(look, "ssh://git@git.invalid").file("mine/config", "ProxyCommand touch wrong\n");
    std::os::unix::fs::symlink(host.repository().join("mine"), host.home().join(".ssh")).expect("linked");
    let ended = host.run();
    assert!(started(host.home()).is_empty() && format!("{ended:?}").contains("that programs can change"), "{ended:?}");
    // One of the repository runs behind the walls, and reaches nothing.
    let host = running(look, "ssh://git@git.invalid");
    git(&host, &["config", "core.sshCommand", "ssh -i own"]);
    let ended = host.run();
    assert!(started(host.home()).is_empty(), "{ended:?}");
    // A program that it wrote is not taken for the user's.
    let host = running(look, "ssh://git@git.invalid").file("ssh", SSH.replace("started", "wrong"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(host.repository().join("ssh"), mode).expect("it can be run");
    let home = host.home().join("bin");
    let path = [host.repository().to_owned(), PathBuf::from("."), PathBuf::new(), home];
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(path.into_iter().chain(std::env::split_paths(&rest))).expect("a path");
    let host = host.env("PATH", path);
    let ended = host.run();
    assert!(!host.home().join("wrong").exists() && started(host.home()).contains("git-upload-pack"), "{ended:?}");
}
