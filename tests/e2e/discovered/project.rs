//! Tools of a project's own: never before a user trusted its programs, and as they were trusted.

use host_tests::host::Host;
use host_tests::pty::Pty;
use serde_json::json;

use super::{GRANT, call, calling, discovered, refused, went_well};

const CONFIGURATION: &str = "[tools]\ndiscovery_command = [\".host/tools/tools.sh\", \"list\"]\n\
                             call_command = [\".host/tools/tools.sh\", \"call\"]\n";

/// Says that it ran, lists one tool, and answers with what lies beside it.
const PROGRAM: &str = "#!/bin/sh\necho \"$*\" >> ran\ncase $1 in\n\
                       list) echo '[{\"name\":\"greet\"}]';;\ncall) cat \"$(dirname \"$0\")/greeting\"; cat;;\nesac\n";

fn with_program(host: Host) -> Host {
    host.file(".host/config.toml", CONFIGURATION)
        .file(".host/tools/tools.sh", PROGRAM)
        .file(".host/tools/greeting", "Hello ")
}

fn greeting() -> Host {
    let calls = [call("greet", json!({"who": "you"}))];
    with_program(calling(&calls, &["Hello {\"who\":\"you\"}"], &["--grant", GRANT, "Go"]))
}

fn trust(host: &Host) {
    let ended = host.run_of(&["trust", "add"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

fn write(host: &Host, path: &str, text: &str) {
    std::fs::write(host.repository().join(path), text).expect("written");
}

/// What the program was run with until now.
fn ran(host: &Host) -> String {
    std::fs::read_to_string(host.repository().join("ran")).unwrap_or_default()
}

// promise command-tools.trusted: Commands of an untrusted project never run; a trusted project can name only programs
//   in its own `.host/tools/`.
#[test]
fn the_command_of_an_untrusted_project_is_never_run() {
    let host = with_program(Host::new(["tool"]));
    for arguments in [
        &["run", "--model", "offline", "Look"][..],
        &["tool", "list"],
        &["tool", "call", "ls", "{}"],
        &["policy", "check", "ls", "{}"],
        &["doctor"],
        &["trust"],
    ] {
        let ended = host.run_of(arguments);
        assert!(!ended.stdout.contains("greet\n"), "{ended:?}");
    }
    assert!(discovered(&host).is_empty());
    assert_eq!(ran(&host), "");
    let ended = host.run_of(&["run", "--model", "offline", "--grant", GRANT, "Look"]);
    refused(&ended, 55, &["there is no plugin `discovered`, unless the untrusted project has it", "host trust add"]);
    assert_eq!(ran(&host), "");
}

#[test]
fn discovered_trust_question_warns_that_programs_run_outside_of_the_sandbox() {
    let host = greeting();
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 300, 40);
    pty.until("the question", |screen| screen.lines().any(|row| row.starts_with("› 2 w  Continue without it")));
    let seen = pty.everything().replace('\n', " ");
    for words in
        ["`tools/tools.sh`: a program, which runs outside of the sandbox", "one, at every start, to list its tools"]
    {
        assert!(seen.contains(words), "{words} in {seen}");
    }
    pty.types("q");
    assert_eq!(pty.ends(), Some(55), "{}", pty.everything());
    assert_eq!(ran(&host), "");
}

#[test]
fn a_trusted_projects_tools_are_found_and_called() {
    let host = greeting();
    trust(&host);
    went_well(&host.run());
    assert_eq!(ran(&host), "list\ncall greet\n");
    assert_eq!(discovered(&host), ["greet"]);
    let shown = host.run_of(&["trust", "status"]).stdout;
    let first = shown.lines().find(|line| line.starts_with("  `")).expect("a list");
    assert!(
        first.contains("`tools/greeting`: a program, which runs outside of the sandbox with your rights"),
        "{shown}"
    );
}

// promise command-tools.bytes
#[test]
fn a_program_that_changed_is_asked_about_again() {
    type Change<'a> = (&'a str, &'a dyn Fn(&Host));
    let changes: [Change<'_>; 4] = [
        ("`tools/tools.sh` changed", &|host| {
            write(host, ".host/tools/tools.sh", &PROGRAM.replace("list)", "list) touch evil;"))
        }),
        ("`tools/greeting` changed", &|host| write(host, ".host/tools/greeting", "Away with ")),
        ("`tools/tools.py` added", &|host| write(host, ".host/tools/tools.py", "")),
        ("`tools/tools.sh` removed", &|host| {
            std::fs::remove_file(host.repository().join(".host/tools/tools.sh")).expect("it was there");
        }),
    ];
    for (told, change) in changes {
        let host = with_program(Host::new(["tool"]));
        trust(&host);
        change(&host);
        let ended = host.run_of(&["run", "--model", "offline", "Look"]);
        assert!(ended.code == Some(0) && ended.stderr.contains(told), "{told}: {ended:?}");
        assert!(discovered(&host).is_empty() && ran(&host).is_empty(), "{told}");
        assert!(!host.repository().join("evil").exists());
    }
    // A folder there, which could hold anything, is nothing that can be trusted.
    let host = with_program(Host::new(["tool"])).file(".host/tools/lib/x.py", "");
    refused(&host.run_of(&["trust", "add"]), 42, &["cannot be trusted", "tools/lib` is not a regular file"]);
}

// promise command-tools.bytes: A project's program runs with the bytes that were trusted; after a change it must be
//   trusted again.
#[test]
fn discovered_program_runs_with_the_trusted_bytes_even_if_the_file_has_changed() {
    // The program of a call changes it: the next call runs what was trusted all the same.
    let program = PROGRAM.replace("call) cat", "call) printf '#!/bin/sh\\ntouch evil\\n' > .host/tools/tools.sh; cat");
    let calls = [call("greet", json!({"n": 1})), call("greet", json!({"n": 2}))];
    let host = calling(&calls, &["Hello {\"n\":1}", "Hello {\"n\":2}"], &["--grant", GRANT, "Go"]);
    let host = with_program(host).file(".host/tools/tools.sh", &program);
    trust(&host);
    went_well(&host.run());
    let now = std::fs::read_to_string(host.repository().join(".host/tools/tools.sh")).expect("it is there");
    assert!(now.contains("evil") && !host.repository().join("evil").exists());
    // No tool can read or write where the copies are.
    let place = host_tests::cache().display().to_string();
    let arguments = json!({"path": format!("{place}/host/tools/x"), "content": "evil"}).to_string();
    let grants = ["fs-read", "fs-write"].map(|capability| format!("write_file:{capability}={place}"));
    let [read, write] = &grants;
    let ended = host.run_of(&["policy", "check", "write_file", &arguments, "--grant", read, "--grant", write]);
    assert!(ended.stdout.contains("host's own files always stay excluded"), "{ended:?}");
}

// promise command-tools.trusted
#[test]
fn a_project_names_its_own_programs_and_no_other() {
    let host = |program: &str| {
        let text = CONFIGURATION.replace(".host/tools/tools.sh", program);
        let host = with_program(Host::new(["tool", "list"])).file(".host/config.toml", text);
        trust(&host);
        host
    };
    for program in ["sh", "/bin/sh", "./tools.sh", ".host/tools/../../tools.sh", ".host/plugins/x"] {
        let host = host(program);
        refused(&host.run(), 52, &["is not a file in the project's `.host/tools/`", program]);
        assert_eq!(ran(&host), "");
    }
    refused(&host(".host/tools/missing").run(), 52, &["the project has no program `.host/tools/missing`"]);
}

#[test]
fn discovered_commands_of_a_project_override_those_of_the_user() {
    let own = "[tools]\ndiscovery_command = [\"echo\", '[{\"name\":\"own\"}]']\ncall_command = [\"echo\"]\n";
    let host = with_program(Host::new(["tool"])).configured(own);
    assert_eq!(discovered(&host), ["own"], "it is not trusted yet");
    trust(&host);
    assert_eq!(discovered(&host), ["greet"]);
}
