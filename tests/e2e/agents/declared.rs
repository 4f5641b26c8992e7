//! Agents as they are written down: listed, shown, run as the root; and a main agent whose answer has a form.

use host_tests::host::Host;
use host_tests::repository;
use serde_json::{Value, json};

use super::{SEARCHER, answer, calls, expecting, report};

#[test]
fn agents_are_listed_and_shown_with_where_they_come_from() {
    let listed = Host::new(["agent", "list"]).agent("searcher.md", SEARCHER).run();
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "{listed:?}");
    for part in [
        "codebase_investigator  Codebase Investigator Agent, built in",
        "tools: ls, read_file, glob, grep; inputs: objective",
        "searcher  searcher, in `",
        "Searches the web.",
    ] {
        assert!(listed.stdout.contains(part), "{part} in {}", listed.stdout);
    }
    let listed = Host::new(["agent", "list", "--json"]).agent("searcher.md", SEARCHER).run().json();
    assert_eq!(listed[0]["source"], "built-in");
    assert_eq!((&listed[1]["name"], &listed[1]["tools"]), (&json!("searcher"), &json!(["web_search", "memory"])));

    let shown = Host::new(["agent", "show", "codebase_investigator", "--json"]).run().json();
    assert_eq!(shown["limits"], json!({"max_turns": 15, "timeout_seconds": 300.0}));
    assert_eq!(shown["output"]["name"], "report");
    assert_eq!(shown["input_schema"]["required"], json!(["objective"]));
    let configured = "[agents.codebase_investigator]\nenabled = false\nmodel = \"offline\"\ntimeout_minutes = 9\n";
    let shown = Host::new(["agent", "show", "codebase_investigator"]).configured(configured).run();
    for part in ["built in, not enabled", "Model: offline", "15 turns, 540 s", "temperature: 0.1", "SummaryOfFindings"]
    {
        assert!(shown.stdout.contains(part), "{part} in {}", shown.stdout);
    }
    let unknown = Host::new(["agent", "show", "investigator"]).run();
    assert_eq!(unknown.code, Some(42), "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `codebase_investigator`?"), "{unknown:?}");
}

#[test]
fn agent_file_that_is_invalid_is_reported_with_its_place_and_stops_the_run() {
    let wrong = SEARCHER.replace("memory", "shell");
    for arguments in [vec!["agent", "list"], vec!["run", "--model", "offline", "Survey this repository"]] {
        let ended = Host::new(arguments).agent("searcher.md", &wrong).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(52), ""), "{ended:?}");
        assert!(
            ended.stderr.contains("searcher.md:4:21: the agent `searcher` may not use the tool `shell`"),
            "{ended:?}"
        );
        assert!(ended.stderr.contains("help: it may only read, with `ls`"), "{ended:?}");
    }
    let twice = Host::new(["agent", "list"]).agent("a.md", SEARCHER).agent("b.md", SEARCHER).run();
    assert_eq!(twice.code, Some(52), "{twice:?}");
    assert!(twice.stderr.contains("there are two agents `searcher`"), "{twice:?}");
    // A tool that may be named and is not there.
    let ended = Host::scripted(&[], &["Go"]).agent("searcher.md", SEARCHER).run();
    assert_eq!(ended.code, Some(52), "{ended:?}");
    assert!(ended.stderr.contains("there is no tool `web_search`"), "{ended:?}");
}

#[test]
fn a_declared_agent_runs_as_the_root_on_typed_inputs() {
    let agent = SEARCHER.replace("[web_search, memory]", "[ls]").replace("for ${topic}", "for ${topic} ${depth} deep");
    let expected = json!({"system": "You search for a rocket 3 deep.", "tools": ["ls", "complete_task"]});
    let replies = [
        expecting(expected, calls(&[("shell", json!({"command": "id"}))])),
        expecting(
            json!({"responses": ["the tool `shell` is not available"]}),
            calls(&[("complete_task", json!({"result": "found"}))]),
        ),
    ];
    let arguments = ["--agent", "searcher", "--input", "topic=a rocket", "--input", "depth=3"];
    let ended = Host::scripted(&replies, &arguments).agent("searcher.md", &agent).run();
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "found\n", ""));

    for (arguments, told) in [
        (vec!["--agent", "searcher"], "needs the input `topic`"),
        (vec!["--agent", "searcher", "--input", "tpic=x"], "did you mean `topic`?"),
        (vec!["--agent", "searcher", "--input", "topic=x", "--input", "depth=deep"], "of the type `integer`"),
        (vec!["--agent", "sercher"], "did you mean `searcher`?"),
        (vec!["--agent", "searcher", "do this"], "cannot be used with"),
        (vec!["--input", "topic=x", "do this"], "--agent"),
    ] {
        let ended = Host::scripted(&[], &arguments).agent("searcher.md", &agent).run();
        assert_eq!(ended.code, Some(42), "{ended:?}");
        assert!(ended.stderr.contains(told), "{told} in {}", ended.stderr);
    }
}

#[test]
fn a_declared_agent_that_never_completes_its_task_has_its_own_code() {
    let arguments = ["--agent", "codebase_investigator", "--input", "objective=x", "--output-format", "json"];
    let ended = Host::scripted(&[answer("I think."), answer("I think so.")], &arguments).run();
    assert_eq!(ended.code, Some(58), "{ended:?}");
    let object = ended.json();
    assert_eq!(object["terminate_reason"], "ERROR_NO_COMPLETE_TASK_CALL");
    assert_eq!((&object["response"], &object["partial_response"]), (&Value::Null, &json!("I think so.")));
}

#[test]
fn a_report_that_does_not_meet_its_schema_is_asked_for_again() {
    let replies = [
        calls(&[("complete_task", json!({"report": {"SummaryOfFindings": "x"}}))]),
        expecting(
            json!({"responses": ["\"ExplorationTrace\" is a required property"]}),
            calls(&[("complete_task", report())]),
        ),
    ];
    let ended = Host::scripted(&replies, &["--agent", "codebase_investigator", "--input", "objective=x"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json(), report()["report"]);
}

#[test]
fn an_output_schema_makes_the_answer_json_of_that_schema() {
    let schema = json!({"type": "object", "properties": {"files": {"type": "integer"}}, "required": ["files"]});
    let replies = [
        expecting(
            json!({"tools": ["complete_task", "codebase_investigator"], "system": "call `complete_task`"}),
            calls(&[("complete_task", json!({"result": {"files": "many"}}))]),
        ),
        expecting(
            json!({"responses": ["\"many\" is not of type \"integer\""]}),
            calls(&[("complete_task", json!({"result": {"files": 3}}))]),
        ),
    ];
    let host = |replies: &[Value]| {
        Host::scripted(replies, &["--output-schema", "schema.json", "How many?"])
            .file("schema.json", schema.to_string())
    };
    let ended = host(&replies).run();
    assert_eq!((ended.code, ended.json()), (Some(0), json!({"files": 3})), "{ended:?}");
    // Models that are weak with tools say it.
    let ended = host(&[answer("```json\n{\"files\": 4}\n```")]).run();
    assert_eq!((ended.code, ended.json()), (Some(0), json!({"files": 4})), "{ended:?}");
    let ended = host(&[answer("Three."), answer("Three!")]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(58), ""), "{ended:?}");

    let text = Host::scripted(
        &[calls(&[("complete_task", json!({"result": "yes"}))])],
        &["--output-schema", "schema.json", "Is it?"],
    );
    let ended = text.file("schema.json", "{\"type\": \"string\"}").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "\"yes\"\n"), "a text is JSON too");

    for (file, told) in
        [("missing.json", "missing.json"), ("bad.json", "invalid output schema"), ("list.json", "not a JSON object")]
    {
        let ended = Host::scripted(&[], &["--output-schema", file, "How many?"])
            .file("bad.json", "{\"type\": \"objekt\"}")
            .file("list.json", "[]")
            .run();
        assert_eq!(ended.code, Some(42), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}

#[test]
fn the_offline_model_completes_a_declared_task_and_a_schema() {
    let host = Host::new(["run", "--model", "offline", "--agent", "codebase_investigator"])
        .args(&["--input", "objective=Where are the TODOs?"])
        .file("src/main.rs", "// TODO: lift off\n");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["RelevantLocations"][0]["FilePath"], "src/main.rs");

    let schema = json!({"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]});
    let host = Host::new(["run", "--model", "offline", "--output-schema", "schema.json", "Where are the TODOs?"])
        .file("schema.json", schema.to_string())
        .file("src/main.rs", "// TODO: lift off\n");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.json()["summary"].as_str().is_some_and(|text| text.contains("TODO")), "{ended:?}");
}

#[test]
fn the_agents_that_help_and_documents_show_are_right() {
    let document = std::fs::read_to_string(repository().join("docs/configuration.md")).expect("it is there");
    let (_, example) = document.split_once("```markdown\n").expect("it shows a file");
    let (example, _) = example.split_once("```").expect("to its end");
    let help = Host::new(["agent", "--help"]).run().stdout;
    let from = help.find("  ---\n").unwrap_or_else(|| panic!("{help}"));
    let shown: String = help[from..]
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("  "))
        .fold(String::new(), |all, line| all + line.strip_prefix("  ").unwrap_or(line) + "\n");
    for text in [example, shown.as_str()] {
        let ended = Host::new(["agent", "show", "reviewer", "--json"]).agent("reviewer.md", text).run();
        assert_eq!(ended.code, Some(0), "{ended:?} for\n{text}");
        assert_eq!(ended.json()["input_schema"]["properties"]["files"]["type"], "array");
    }
}
