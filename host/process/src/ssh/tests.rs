//! What is a request of git's, and what it becomes.

use super::*;

fn request(target: &str, command: &str) -> Result<GitRequest, WrongRequest> {
    GitRequest::parse(target, command)
}

fn words(request: &GitRequest) -> String {
    let fixed: usize = OPTIONS.len() * 2;
    request.arguments().split_off(fixed).join("|")
}

// promise confine.ssh: Of ssh a confined program gets the three commands of git and the path of one repository, quoted
//   by the host, on a server that the user was asked about.
#[test]
fn git_ssh_takes_the_commands_of_git_and_writes_them_anew() {
    for (target, command, expected) in [
        ("git@Example.org", "git-upload-pack '/a/b.git'", "--|git@example.org|git-upload-pack '/a/b.git'"),
        ("h:2222", "git receive-pack '~/a b'", "-p|2222|--|h|git-receive-pack '~/a b'"),
        ("u@[::1]:22", "git-upload-archive 'x'", "-p|22|--|u@::1|git-upload-archive 'x'"),
        ("h", r"git-upload-pack 'it'\''s'\!''", r"--|h|git-upload-pack 'it'\''s'\!''"),
        ("h", "git-upload-pack '$(id);`id` \"x\"'", "--|h|git-upload-pack '$(id);`id` \"x\"'"),
        ("h", "git-upload-pack 'é/ü'", "--|h|git-upload-pack 'é/ü'"),
    ] {
        assert_eq!(request(target, command).map(|request| words(&request)), Ok(expected.to_owned()), "{command}");
    }
    let request = request("h", "git-upload-pack 'x'").expect("valid");
    let with = |protocol: &str| words(&request.clone().with_protocol(protocol));
    assert_eq!(with("version=2"), "-o|SendEnv=GIT_PROTOCOL|--|h|git-upload-pack 'x'");
    for protocol in ["version=3", "version=2:x", "version=", "VERSION=2", "version=2\n", "x"] {
        assert_eq!(with(protocol), "--|h|git-upload-pack 'x'", "{protocol}");
    }
    assert_eq!(words(&request.with_family(Some(Family::V6))), "-6|--|h|git-upload-pack 'x'");
}

// promise confine.ssh
#[test]
fn git_ssh_takes_no_other_command_and_no_option() {
    let long = format!("git-upload-pack '{}'", "a".repeat(PATH_LIMIT + 1));
    for command in [
        "",
        "id",
        "git",
        "git-upload-pack",
        "git-upload-pack ",
        "git-upload-pack x",
        "git-upload-pack ''",
        "git-upload-pack 'x' 'y'",
        "git-upload-pack 'x'; id",
        "git-upload-pack 'x';id",
        "git-upload-pack 'x' && id",
        "git-upload-pack 'x'|id",
        "git-upload-pack 'x'\nid",
        "git-upload-pack 'x\nid'",
        "git-upload-pack 'x\r\nGit-Command: id'",
        "git-upload-pack 'x\0'",
        "git-upload-pack 'x",
        "git-upload-pack \"x\"",
        "git-upload-pack $(id)",
        "git-upload-pack 'x'$(id)",
        r"git-upload-pack 'x'\'$(id)''",
        r"git-upload-pack 'x'\a''",
        r"git-upload-pack 'x'\''",
        "git-upload-pack '--help'",
        "git-upload-pack '-x'",
        "git-upload-pack --strict 'x'",
        "git-upload-pack  'x'",
        "git-upload-pack\t'x'",
        " git-upload-pack 'x'",
        "git  upload-pack 'x'",
        "git -c core.pager=id upload-pack 'x'",
        "git-shell 'x'",
        "git-lfs-authenticate 'x' download",
        "git-upload-pack2 'x'",
        "/bin/git-upload-pack 'x'",
        "env git-upload-pack 'x'",
        "git-upload-pack.exe 'x'",
        &long,
    ] {
        assert_eq!(request("git@h", command), Err(WrongRequest::Command), "{command:?}");
    }
    let long = "a".repeat(USER_LIMIT + 1) + "@h";
    for target in [
        "",
        "@h",
        "git@",
        "-oProxyCommand=id",
        "-h",
        "git@-oProxyCommand=id",
        "git@-h",
        "-l@h",
        "-oProxyCommand=id@h",
        "a b@h",
        "a;id@h",
        "a$b@h",
        "a/b@h",
        "a@b@h",
        "git@h:",
        "git@h:0",
        "git@h:x",
        "git@h:+22",
        "git@h:22x",
        "git@h:65536",
        "git@h:22:22",
        "git@127.1",
        "git@0x7f000001",
        "git@h/x",
        "git@h%x",
        "git@h h",
        "git@h\n",
        "ssh://git@h",
        "git@h,h2",
        &long,
    ] {
        assert_eq!(request(target, "git-upload-pack 'x'"), Err(WrongRequest::Target), "{target:?}");
    }
}

#[test]
fn git_ssh_is_started_with_options_that_ask_and_open_nothing() {
    let arguments = request("h", "git-upload-pack 'x'").expect("valid").arguments();
    for option in ["BatchMode=yes", "ClearAllForwardings=yes", "ForwardAgent=no", "StrictHostKeyChecking=yes"] {
        assert!(arguments.windows(2).any(|words| words == ["-o", option]), "{option}: {arguments:?}");
    }
    assert_eq!(quoted("/opt/it's/host"), r"'/opt/it'\''s/host'");
}
