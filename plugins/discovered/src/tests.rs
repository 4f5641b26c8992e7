use host_sdk::export;
use host_sdk::fake::{FakeHost, Printed as Program};
use host_sdk::serde_json::{Value, json};

use super::*;

fn call_of(tool: &str, arguments: &str) -> Call {
    Call { id: "1".to_owned(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

fn call(call: Call) -> Result<Outcome, Failure> {
    export::call(&called(&call), &call)
}

fn preview(call: Call) -> Result<Option<Confirmation>, Failure> {
    export::preview(&called(&call), &call)
}

fn revise(call: Call, text: String) -> Result<String, Failure> {
    export::revise(&called(&call), &call, text)
}

/// A host that was configured with a command for the list and one for `get_time`, where these print this.
fn host(list: impl Into<Program>, time: impl Into<Program>) -> FakeHost {
    FakeHost::new()
        .config("commands", json!({"discovered": ["tools", "list"], "get_time": ["tools", "call", "get.time"]}))
        .program(["tools", "list"], list)
        .program(["tools", "call", "get.time"], time)
}

fn failed(answer: Result<Outcome, Failure>) -> String {
    match answer {
        Err(Failure::Failed(text)) => text,
        other => panic!("{other:?} did not fail"),
    }
}

#[test]
fn a_call_runs_its_one_command_with_the_arguments_as_they_came() {
    let host = host("", "12:00\n");
    let arguments = r#"{"zone": 1.10,  "a":[]}"#;
    let answered = host.run(|| call(call_of("get_time", arguments)));
    assert_eq!(answered, Ok(Outcome::text("12:00\n").with_summary("12:00")));
    let commands = host.commands();
    let [command] = commands.as_slice() else { panic!("one command and not {commands:?}") };
    assert_eq!(command.argv, ["tools", "call", "get.time"]);
    assert_eq!(command.stdin.as_deref(), Some(arguments.as_bytes()));
    assert!(command.directory.is_empty() && command.environment.is_empty());
    assert_eq!(host.emitted(), "12:00\n");
}

#[test]
fn a_preview_names_the_command_and_runs_nothing() {
    let host = host("", "");
    let shown = host.run(|| preview(call_of("get_time", "{}")));
    let argv = ["tools", "call", "get.time"].map(str::to_owned).to_vec();
    assert_eq!(shown, Ok(Some(Confirmation::Exec(ExecConfirmation { argv, directory: ".".to_owned() }))));
    assert!(host.commands().is_empty());
    let revised = host.run(|| revise(call_of("get_time", "{}"), "rm".to_owned()));
    assert!(matches!(revised, Err(Failure::InvalidArguments(_))));
}

#[test]
fn a_tool_without_a_command_runs_nothing() {
    let host = host("", "");
    for tool in ["get.time", "tools", ""] {
        let refused = host.run(|| call(call_of(tool, "{}")));
        assert!(matches!(&refused, Err(Failure::InvalidArguments(why)) if why.contains("no command")), "{refused:?}");
    }
    let refused = FakeHost::new().run(|| call(call_of("get_time", "{}")));
    assert!(matches!(refused, Err(Failure::InvalidArguments(_))));
    let broken = FakeHost::new().config("commands", Value::from("x"));
    assert!(failed(broken.run(|| call(call_of("get_time", "{}")))).contains("is invalid"));
    assert!(host.commands().is_empty());
}

#[test]
fn a_failure_has_a_line_for_each_thing_that_is_known_of_it() {
    let check = |program: Program, expected: &str| {
        assert_eq!(failed(host("", program).run(|| call(call_of("get_time", "{}")))), expected);
    };
    let none = Program::new();
    check(none.clone().code(3), "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: 3\nSignal: (none)");
    check(
        none.clone().stdout("half\n").stderr("no\n").code(1),
        "Stdout: half\n\nStderr: no\n\nError: (none)\nExit Code: 1\nSignal: (none)",
    );
    check(
        none.clone().stderr("warning"),
        "Stdout: (empty)\nStderr: warning\nError: (none)\nExit Code: 0\nSignal: (none)",
    );
    check(none.clone().signal(9), "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: 9");
    check(
        none.timed_out(),
        "Stdout: (empty)\nStderr: (empty)\nError: it had printed nothing for too long, and was ended\n\
         Exit Code: (none)\nSignal: 15",
    );
}

#[test]
fn discovered_call_that_prints_too_much_is_ended_and_reported() {
    let long = "x".repeat(MAX_ANSWER);
    let fits = host("", Program::new().stdout(&long)).run(|| call(call_of("get_time", "{}")));
    assert!(matches!(fits, Ok(outcome) if outcome.content == [Content::Text(long.clone())]));
    let text = failed(host("", Program::new().stdout(long + "y")).run(|| call(call_of("get_time", "{}"))));
    assert!(
        text.contains("\n[cut: there was more]\nStderr: (empty)\nError: it printed more than 3670016 bytes"),
        "{}",
        text.len()
    );
    let text =
        failed(host("", Program::new().stderr("y".repeat(MAX_ANSWER + 1))).run(|| call(call_of("get_time", "{}"))));
    assert!(text.starts_with("Stdout: (empty)\nStderr: yyy") && text.contains("Error: it printed more than"));
}

#[test]
fn discovered_call_that_is_cancelled_returns_what_it_had() {
    let host = host("", Program::new().stdout("one\n").stdout("two\n")).stop_after(0);
    let stopped = host.run(|| call(call_of("get_time", "{}")));
    assert!(matches!(&stopped, Err(Failure::Cancelled(partial)) if partial.starts_with("one\n")), "{stopped:?}");
}

#[test]
fn the_list_is_handed_over_as_it_was_printed() {
    let data = |program: Program| host(program, "").run(|| call(call_of("discovered", "{}")));
    let blob = |data: &[u8]| {
        let blob = Blob { mime_type: "application/json".to_owned(), data: data.to_vec() };
        Ok(Outcome::of(vec![Content::Blob(blob)]))
    };
    assert_eq!(data(Program::new().stdout("[]\n").stderr("a warning")), blob(b"[]\n"));
    assert_eq!(data(Program::new().stdout(b"\xff")), blob(b"\xff"));
    assert_eq!(
        failed(data(Program::new().stdout("[]").stderr("no file\n").code(2))),
        "it ended with exit code 2\nno file\n"
    );
    assert_eq!(failed(data(Program::new().signal(9))), "it was ended by signal 9\n");
    assert!(failed(data(Program::new().timed_out())).contains("nothing for too long"));
    let over = failed(data(Program::new().stdout(vec![b' '; MAX_LIST + 1])));
    assert_eq!(over, "it printed more than 10485760 bytes\n");
    let host = host("[]", "");
    assert!(host.run(|| call(call_of("discovered", "{}"))).is_ok());
    assert_eq!(host.commands().first().and_then(|command| command.stdin.clone()), None);
    let refused = host.run(|| call(call_of("discovered", r#"{"a":1}"#)));
    assert!(matches!(refused, Err(Failure::InvalidArguments(_))));
}
