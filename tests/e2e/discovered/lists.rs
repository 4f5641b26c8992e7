//! The command that lists tools: how it is configured, and what stops the run that wanted it.

use host_tests::host::Host;
use serde_json::json;

use super::{refused, with_scripts, with_tools};

fn list(script: &str) -> host_tests::host::Ended {
    with_scripts(Host::new(["tool", "list"]), script, "").run()
}

// promise command-tools.list
#[test]
fn discovered_list_command_that_fails_stops_the_run_and_reports_how() {
    let said = "echo '[]'; echo 'no such database' >&2; echo second >&2; exit 3";
    let says =
        ["the discovery command `sh ", "list.sh` failed", "it ended with exit code 3", "no such database\n", "second"];
    refused(&list(said), 52, &says);
    for (script, says) in [
        ("kill -9 $$", "it was ended by signal 9"),
        ("exec no-such-program-at-all", "it ended with exit code 127"),
        ("echo 'nonsense {'", "it is not JSON: expected ident at line 1"),
        ("echo '{}'", "it is JSON, but not an array of function declarations"),
        ("true", "it is not JSON: EOF"),
        ("echo '[{\"nme\":\"x\"}]'", "entry 1 of the list is not a function declaration"),
        ("echo '[{\"name\":\"x\"},{\"name\":\"x\"}]'", "it has two tools `x`"),
        (
            "echo '[{\"name\":\"x\",\"parameters\":{\"type\":\"array\"}}]'",
            "the parameters of `x` are not a JSON Schema",
        ),
        ("echo '[{\"name\":\"x\",\"parameters\":{\"required\":1}}]'", "invalid parameters of `x`"),
        ("exec head -c 10485761 /dev/zero", "it printed more than 10485760 bytes"),
        ("exec yes", "it printed more than 10485760 bytes"),
    ] {
        refused(&list(script), 52, &["the discovery command `sh ", says, "docs/discovered-tools.md"]);
    }
    // As much as may be is read; a warning is not a failure.
    let ended = list("echo 'a warning' >&2; printf '['; head -c 10485757 /dev/zero | tr '\\0' ' '; printf ']'");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
}

// promise command-tools.list
#[test]
fn discovered_list_error_text_is_limited_and_cannot_control_the_terminal() {
    let ended = list(
        "i=0; while [ $i -lt 3000 ]; do printf '\\033[2J line %s of many more\\n' $i >&2; i=$((i+1)); done; exit 1",
    );
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.len() < 4_000 && !ended.stderr.contains('\u{1b}'), "{ended:?}");
    assert!(ended.stderr.contains("line 0 of many") && !ended.stderr.contains("line 100 of many"), "{ended:?}");
}

#[test]
fn a_run_is_stopped_as_well_and_what_reads_no_tools_is_not() {
    let failing = |arguments: &[&str]| with_scripts(Host::new(arguments), "exit 3", "").run();
    refused(&failing(&["run", "--model", "offline", "Look"]), 52, &["the discovery command"]);
    refused(&failing(&["tool", "call", "ls", "{}"]), 52, &["the discovery command"]);
    refused(&failing(&["policy", "check", "ls", "{}"]), 52, &["the discovery command"]);
    for arguments in [&["policy", "list"][..], &["agent", "list"], &["trust"], &["session", "list"]] {
        assert_eq!(failing(arguments).code, Some(0), "{:?}", failing(arguments));
    }
}

#[test]
fn it_runs_once_in_the_folder_that_is_worked_in_without_a_shell_and_without_secrets() {
    let script = "pwd >> ran; echo \"$#${MY_API_KEY-unset}\" >> ran; cat >> ran; echo '[]'";
    let host = with_scripts(Host::new(["run", "--model", "offline", "Look"]), script, "").env("MY_API_KEY", "secret");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let folder = std::fs::canonicalize(host.repository()).expect("it is there");
    let ran = std::fs::read_to_string(host.repository().join("ran")).expect("it ran");
    assert_eq!(ran, format!("{}\n0unset\n", folder.display()));

    // What a shell would take for something else is a word.
    let words = json!(["printf", "%s", "[{\"name\":\"a\",\"description\":\"$HOME; $(touch evil) * `touch evil`\"}]"]);
    let host = Host::new(["tool", "show", "a"]);
    let host = host.configured(&format!("[tools]\ndiscovery_command = {words}\ncall_command = [\"true\"]\n"));
    let ended = host.run();
    assert!(ended.stdout.contains("$HOME; $(touch evil) * `touch evil`"), "{ended:?}");
    assert!(!host.repository().join("evil").exists());
}

// promise command-tools.path: The user's own configuration cannot name a program relative to the current folder.
#[test]
fn a_configuration_that_names_half_of_it_or_a_program_of_whatever_folder_is_refused() {
    for (text, says) in [
        ("discovery_command = [\"a\"]", "`tools.discovery_command` is set and `tools.call_command` is not"),
        ("call_command = [\"a\"]", "`tools.call_command` is set and `tools.discovery_command` is not"),
        ("discovery_command = []\ncall_command = [\"a\"]", "`tools.discovery_command` does not name a program"),
        ("discovery_command = \"a b\"\ncall_command = [\"a\"]", "expected a list"),
        ("discovery_comand = [\"a\"]", "did you mean `discovery_command`?"),
        ("discovery_command = [\"./a\"]\ncall_command = [\"a\"]", "the program `./a` of `tools.discovery_command`"),
        ("discovery_command = [\"a\"]\ncall_command = [\"bin/a\"]", "the program `bin/a` of `tools.call_command`"),
    ] {
        let ended = Host::new(["tool", "list"]).configured(&format!("[tools]\n{text}\n")).run();
        refused(&ended, 52, &["invalid configuration `", says]);
    }
    let nowhere = "[tools]\ndiscovery_command = [\"no-such-program-at-all\"]\ncall_command = [\"a\"]\n";
    let ended = Host::new(["tool", "list"]).configured(nowhere).run();
    refused(
        &ended,
        52,
        &["the discovery command `no-such-program-at-all` failed", "there is no `no-such-program-at-all`"],
    );
}

#[test]
fn doctor_reports_whether_the_programs_of_discovered_tools_exist() {
    let doctor = |host: Host| {
        let rows = host.run_of(&["doctor", "--json"]).json();
        let row = rows.as_array().expect("a list").iter().find(|row| row["about"] == "discovered tools").cloned();
        row.map(|row| (row["state"].as_str().expect("text").to_owned(), row["said"].as_str().expect("text").to_owned()))
    };
    assert_eq!(doctor(Host::new(["doctor"])), None);
    let (state, said) = doctor(with_tools(Host::new(["doctor"]), &json!([]), "")).expect("it is told");
    assert!(state == "good" && said.contains("list.sh"), "{state}: {said}");
    let broken = "[tools]\ndiscovery_command = [\"sh\"]\ncall_command = [\"/no/such/program\"]\n";
    let (state, said) = doctor(Host::new(["doctor"]).configured(broken)).expect("it is told");
    assert!(state == "bad" && said.contains("`/no/such/program`"), "{state}: {said}");
}
