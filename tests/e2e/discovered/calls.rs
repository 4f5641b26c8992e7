//! Calls of discovered tools: what their command gets, what comes back, what they may run, and who decides.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

use host_capability::{Grants, PluginName, Scope};
use host_plugin::{CallError, Confirmation, Failure, Plugin};
use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::{Bench, built_in, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{GRANT, answer, call, calling, refused, went_well, with_tools};

fn tools() -> Value {
    json!([
        {"name": "get.time", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}},
        {"name": "count"},
    ])
}

#[test]
fn a_call_gets_the_tools_own_name_and_the_arguments_on_standard_input() {
    let called = "echo \"$# $1\"; cat; pwd > where";
    let arguments = json!({"zone": "a \"b\" é $HOME", "more": [1.5, 1e300, null], "b": true});
    let told = format!("1 get.time\n{arguments}");
    let calls = [
        call("get_time", arguments),
        call("count", json!({})),
        call("get_time", json!({"zone": 5})),
        call("get.time", json!({"zone": "x"})),
    ];
    let told = [&told, "1 count\n{}", "invalid arguments for `", "by the name \"get.time\", which is not a valid name"];
    let host = with_tools(calling(&calls, &told, &["--grant", GRANT, "Go"]), &tools(), called);
    went_well(&host.run());
    let folder = std::fs::canonicalize(host.repository()).expect("it is there");
    let ran = std::fs::read_to_string(host.repository().join("where")).expect("it ran");
    assert_eq!(ran, format!("{}\n", folder.display()));
}

#[test]
fn discovered_call_that_failed_is_reported_in_named_lines() {
    let called = "cat > /dev/null; case $1 in
        code) echo half; echo no such row >&2; exit 3;;
        signal) kill -9 $$;;
        warns) echo fine; echo careful >&2;;
        long) head -c 3670017 /dev/zero | tr '\\0' x;;
        endless) exec yes;;
    esac";
    let names = ["code", "signal", "warns", "long", "endless"];
    let list = json!(names.map(|name| json!({"name": name})));
    let calls = names.map(|name| call(name, json!({})));
    let over = "Error: it printed more than 3670016 bytes, and was ended";
    let told = [
        "Stdout: half\n\nStderr: no such row\n\nError: (none)\nExit Code: 3\nSignal: (none)",
        "Stdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: (none)\nSignal: 9",
        "Stdout: fine\n\nStderr: careful\n\nError: (none)\nExit Code: 0\nSignal: (none)",
        over,
        over,
    ];
    went_well(&with_tools(calling(&calls, &told, &["--grant", GRANT, "Go"]), &list, called).run());
    let host = with_tools(Host::new(["tool"]), &list, called);
    let ended = host.run_of(&["tool", "call", "code", "{}", "--grant", GRANT]);
    refused(&ended, 54, &["Stdout: half", "Exit Code: 3"]);
}

#[test]
fn discovered_program_that_is_missing_or_reads_no_input_causes_no_waiting() {
    let long = json!({"zone": "x".repeat(1 << 17)});
    let host = calling(&[call("get_time", long)], &["noon"], &["--grant", GRANT, "Go"]);
    went_well(&with_tools(host, &tools(), "exec echo noon").run());
    let list =
        "[tools]\ndiscovery_command = [\"echo\", '[{\"name\":\"a\"}]']\ncall_command = [\"no-such-program-at-all\"]\n";
    let host = calling(&[call("a", json!({}))], &["there is no `no-such-program-at-all`"], &["--grant", GRANT, "Go"]);
    went_well(&host.configured(list).run());
}

// promise command-tools.decided: Policy decides about the command and the tool's name, and the question shows the
//   arguments.
#[test]
fn a_call_is_decided_about_like_any_command_and_by_the_tools_name() {
    let called = "cat > /dev/null; touch \"called-$1\"";
    let calls = || [call("get_time", json!({"zone": "x"})), call("count", json!({}))];
    let ran = |host: &Host| ["get.time", "count"].map(|name| host.repository().join(format!("called-{name}")).exists());
    let lacks = "`discovered` has no process grant for";
    let check = |arguments: &[&str], rules: &str, told: [&str; 2], runs: [bool; 2]| {
        let arguments = [arguments, &["Go"]].concat();
        let host = with_tools(calling(&calls(), &told, &arguments), &tools(), called);
        let host = host.home_file(".config/host/policies/mine.toml", rules);
        went_well(&host.run());
        assert_eq!(ran(&host), runs, "{arguments:?} {rules}");
    };
    check(&[], "", [lacks, lacks], [false, false]);
    check(&["--approval-mode", "auto-edit"], "", [lacks, lacks], [false, false]);
    check(&["--approval-mode", "yolo"], "", ["", ""], [true, true]);
    let plan = "plan mode only reads; the user can leave it with Shift-Tab or /mode";
    check(&["--approval-mode", "plan", "--grant", GRANT], "", [plan, plan], [false, false]);
    check(&["--approval-mode", "yolo", "--deny", "discovered:process"], "", [lacks, lacks], [false, false]);
    check(&["--grant", "shell:process=*"], "", [lacks, lacks], [false, false]);
    let allows = "[[rule]]\ntool = \"get_time\"\ndecision = \"allow\"\n";
    check(&[], allows, ["", lacks], [true, false]);
    let denies = "[[rule]]\ntool = \"count\"\narguments = \"^[{]\"\ndecision = \"deny\"\nmessage = \"not now\"\n";
    check(&["--grant", GRANT], denies, ["", "`count` was not run: not now"], [true, false]);
    let of_plugin = "[[rule]]\nplugin = \"discovered\"\ndecision = \"allow\"\n";
    check(&[], of_plugin, ["", ""], [true, true]);
}

#[test]
fn discovered_call_is_explained_with_its_command_and_nothing_runs() {
    let host = with_tools(Host::new(["policy"]), &tools(), "touch called");
    let script = host.home().join("call.sh").display().to_string();
    let explained = host.run_of(&["policy", "check", "get_time", "{\"zone\":\"x\"}", "--json"]).json();
    assert_eq!(explained["decision"], "ask", "{explained}");
    assert_eq!(explained["touches"], format!("process=sh {script} get.time $"));
    let previewed = host.run_of(&["tool", "call", "get_time", "{\"zone\": \"x\"}", "--preview", "--json"]).json();
    let expected = json!({"kind": "exec", "argv": ["sh", script, "get.time"], "directory": ".", "input": "{\"zone\":\"x\"}", "background": false,
                          "terminal": false});
    assert_eq!(previewed, expected);
    let previewed = host.run_of(&["tool", "call", "get_time", "{\"zone\": \"x\"}", "--preview"]).stdout;
    assert!(previewed.ends_with(" get.time\nwhich reads:\n{\"zone\":\"x\"}\n"), "{previewed}");
    // As a subagent has it, when it is one that calls.
    let ended = host.run_of(&["policy", "check", "get_time", "{}", "--agent", "codebase_investigator"]);
    assert!(ended.stderr.contains("not available to this agent"), "{ended:?}");
    assert!(!host.repository().join("called").exists());
}

// promise command-tools.decided
#[test]
fn discovered_question_shows_the_command_and_what_it_reads() {
    let host = calling(&[call("get_time", json!({"zone": "Mars\u{1b}[2J"}))], &["Mars"], &[]);
    let host = with_tools(host, &tools(), "cat");
    let mut command = host.command();
    command.env("TERM", "xterm-256color").arg("Go");
    let mut pty = Pty::start(command, 300, 40);
    pty.until("a question", |screen| screen.contains("› 1 y  Yes, this once") && screen.contains("↑↓ and Enter"));
    let seen = pty.everything();
    for words in [
        "get_time wants to run this command:",
        "call.sh get.time",
        "which reads this:",
        "│ {\"zone\":\"Mars\\u001b[2J\"}",
    ] {
        assert!(seen.contains(words), "{words} in {seen}");
    }
    assert!(!seen.contains("Edit before running"), "{seen}");
    pty.types("y");
    pty.saw("Done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

// promise command-tools.ends
#[tokio::test]
async fn a_first_ctrl_c_ends_the_program_of_a_call() {
    let called = "echo begun; echo $$ > pid; exec sleep 1009";
    let replies = [json!({"chunks": [call("count", json!({}))]}), answer("never said")];
    let host = Host::scripted(&replies, &["--grant", GRANT, "--output-format", "stream-json", "Go"]);
    let host = with_tools(host, &tools(), called);
    let mut child = host.command().spawn().expect("it starts");
    let pid = host.repository().join("pid");
    eventually(|| std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n'))).await;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    kill_process(id, Signal::INT).expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line.expect("read")).expect("each line is JSON"));
    let result = lines.into_iter().find(|line| line["type"] == "tool_result").expect("the call has a result");
    assert_eq!(result["status"], "cancelled", "{result}");
    assert!(result["output"].as_str().is_some_and(|output| output.contains("begun")), "{result}");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    // Its own number is that in its namespace.
    let processes = std::fs::read_dir("/proc").expect("read").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    assert!(!lines.into_iter().any(|line| line == b"sleep\x001009\x00"), "it survived");
}

// promise command-tools.ends
#[test]
fn a_call_that_takes_too_long_is_ended() {
    let host = calling(&[call("count", json!({}))], &["`count` timed out after 1 s"], &["--grant", GRANT, "Go"]);
    let home = host.home().display().to_string();
    let host = with_tools(host, &tools(), "exec sleep 1010").configured(&format!(
        "[limits]\nprocess_call_seconds = 1\n[tools]\ndiscovery_command = [\"sh\", \"{home}/list.sh\"]\n\
         call_command = [\"sh\", \"{home}/call.sh\"]\n"
    ));
    went_well(&host.run());
}

/// The plugin as the host makes it for a list with the one tool `get_time`, and what it was configured to run.
fn bench(command: &[&str]) -> (Bench, Arc<BTreeMap<String, String>>) {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let declared = Grants::none().with(Scope::for_command(&words(&["echo", "get_time"])).expect("it names a program"));
    let component = built_in("discovered").component().expect("it is read").into_owned();
    let bench = Bench::with(Arc::new(Plugin::new(PluginName::new("discovered"), component, declared)), &["process=*"]);
    let commands = json!({"get_time": words(command)}).to_string();
    (bench, Arc::new(BTreeMap::from([("commands".to_owned(), commands)])))
}

// promise command-tools.exact: A tool runs exactly its command with the arguments that were shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_runs_exactly_its_command_and_another_configuration_makes_no_other() {
    for (command, runs) in [
        (&["echo", "get_time"][..], true),
        (&["echo"], false),
        (&["echo", "get_time", "more"], false),
        (&["echo", "other_tool"], false),
        (&["/bin/echo", "get_time"], false),
        (&["sh", "-c", "echo get_time"], false),
        (&["./echo", "get_time"], false),
    ] {
        let (bench, config) = bench(command);
        let invocation =
            |tool: &str| host_plugin::Invocation { config: Arc::clone(&config), ..bench.invocation(tool, json!({})) };
        let ended = bench.invoke(invocation("get_time")).await;
        match ended {
            Ok(output) => assert!(runs && host_tests::text(&output) == "get_time\n", "{command:?}: {output:?}"),
            Err(CallError::Failure(Failure::Denied { capability, .. })) => {
                assert!(!runs && capability == "process", "{command:?}");
            }
            Err(error) => panic!("{command:?}: {error}"),
        }
        let other = bench.invoke(invocation("other_tool")).await;
        assert!(matches!(&other, Err(CallError::Failure(Failure::InvalidArguments(_)))), "{other:?}");
    }
}

// promise command-tools.exact
#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_arguments_are_not_those_that_were_shown_does_not_run() {
    let (bench, config) = bench(&["echo", "get_time"]);
    let shown = |input: Option<&str>| {
        let argv = ["echo", "get_time"].map(str::to_owned).to_vec();
        let shown = Confirmation::Exec {
            argv,
            directory: ".".to_owned(),
            input: input.map(str::to_owned),
            ground: host_plugin::Ground::Call,
        };
        let (config, shown) = (Arc::clone(&config), Some(Arc::new(shown)));
        host_plugin::Invocation { config, shown, ..bench.invocation("get_time", json!({"zone": "x"})) }
    };
    assert!(bench.invoke(shown(Some("{\"zone\":\"x\"}"))).await.is_ok());
    for other in [None, Some("{}"), Some("{\"zone\":\"y\"}")] {
        let ended = bench.invoke(shown(other)).await;
        assert!(matches!(&ended, Err(CallError::Failure(Failure::Denied { .. }))), "{other:?}: {ended:?}");
    }
}
