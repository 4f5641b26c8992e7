//! What is printed for programs is what the schemas say, and has nothing that they do not know.

use host_schema::Schema;
use host_tests::host::{Ended, Host};
use serde_json::{Value, json};

use super::{answer, call};

fn schema(format: &str) -> Value {
    let ended = Host::new(["schema", format]).run();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.json()
}

fn validator(schema: &Value) -> Schema {
    Schema::compile(schema).expect("it is a schema")
}

fn check(validator: &Schema, value: &Value) {
    assert_eq!(validator.check(value), Ok(()), "{value:#}");
}

fn run(replies: &[Value], arguments: &[&str], format: &str, configuration: &str) -> Ended {
    Host::scripted(replies, &["--output-format", format])
        .args(arguments)
        .configured(configuration)
        .file(".host/config.toml", "")
        .run()
}

/// Runs of all kinds: what the model says, what is asked, the configuration and the exit code.
fn runs() -> Vec<(Vec<Value>, Vec<&'static str>, &'static str, i32)> {
    let look = || json!({"chunks": [call("ls", json!({}))]});
    let report = json!({"SummaryOfFindings": "x", "ExplorationTrace": [], "RelevantLocations": []});
    let usage = json!({"usage": {"input": 100, "output": 10, "cached": 20, "thought": 5}});
    let failed = |kind: &str| json!({"chunks": [{"text": "Half"}, {"error": {"kind": kind, "message": "no"}}]});
    let price = "[models.\"scripted\"]\nprice = { input = 1.0, output = 2.0 }\n";
    vec![
        (vec![json!({"chunks": [{"thought": "**So** it is"}, {"text": "Done."}, usage]})], vec!["Look"], price, 0),
        (
            vec![
                json!({"chunks": [call("ls", json!({})), call("nothing", json!({})), call("shell", json!({"command": "id"})),
                                  call("read_file", json!({"pth": 1}))]}),
                answer("Done."),
            ],
            vec!["Look"],
            "",
            0,
        ),
        (
            vec![
                json!({"chunks": [call("codebase_investigator", json!({"objective": "How?"}))]}),
                look(),
                json!({"chunks": [call("complete_task", json!({"report": report}))]}),
                answer("Done."),
            ],
            vec!["Look"],
            "",
            0,
        ),
        (vec![json!({"chunks": [{"text": "Half"}, {"finish": "max_tokens"}]})], vec!["Look"], "", 0),
        (vec![json!({"chunks": []}), answer("Done.")], vec!["Look"], "retry.reply_pause_seconds = 0\n", 0),
        (vec![failed("server")], vec!["Look"], "", 59),
        (vec![failed("authentication")], vec!["Look"], "", 41),
        ((0..40).map(|_| look()).collect(), vec!["--max-turns", "40", "Look"], "", 56),
        (vec![look(), look(), look()], vec!["--max-turns", "2", "Look"], "", 53),
        (vec![look(), look(), answer("So far.")], vec!["--max-turns", "2", "Look"], "", 53),
        (
            vec![json!({"chunks": [{"hang": true}]}), json!({"chunks": [{"hang": true}]})],
            vec!["--timeout", "1s", "Look"],
            "run.grace_seconds = 1\n",
            57,
        ),
        (
            vec![answer("I think."), answer("So.")],
            vec!["--agent", "codebase_investigator", "--input", "objective=x"],
            "",
            58,
        ),
    ]
}

#[test]
fn everything_that_is_printed_for_programs_is_in_the_schema() {
    let (object, line) = (validator(&schema("json")), validator(&schema("stream-json")));
    let mut kinds = std::collections::BTreeSet::new();
    for (replies, arguments, configuration, code) in runs() {
        let ended = run(&replies, &arguments, "json", configuration);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        check(&object, &ended.json());
        let ended = run(&replies, &arguments, "stream-json", configuration);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        let lines = ended.lines();
        lines.iter().for_each(|printed| check(&line, printed));
        let kind = |line: &Value| line["type"].as_str().expect("each has a type").to_owned();
        assert_eq!((kind(&lines[0]).as_str(), kind(lines.last().expect("a last line")).as_str()), ("init", "result"));
        let (uses, results) =
            ["tool_use", "tool_result"].map(|of| lines.iter().filter(|line| kind(line) == of).count()).into();
        assert_eq!(uses, results, "each call has its result");
        kinds.extend(lines.iter().map(kind));
    }
    assert_eq!(Vec::from_iter(kinds), ["error", "init", "message", "result", "tool_result", "tool_use"]);
}

#[test]
fn a_shortened_conversation_is_in_the_schema() {
    for format in ["json", "stream-json"] {
        let validator = validator(&schema(format));
        let story = format!("Remember: {}", "a long story. ".repeat(400));
        let replies = [answer("I do."), answer("<state_snapshot>a story</state_snapshot>")];
        let host = Host::scripted(&replies[..1], &[&story]);
        assert_eq!(host.run().code, Some(0));
        let script = host.home().join("next.jsonl");
        std::fs::write(&script, format!("{}\n{}\n", replies[1], replies[1])).expect("written");
        let model = format!("scripted:{}", script.display());
        let ended = host.run_of(&["run", "--model", &model, "--output-format", format, "--resume", "/compress"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        check(&validator, &ended.json());
        assert_eq!(ended.json()["type"], "compressed");
    }
}

#[test]
fn a_schema_refuses_what_it_does_not_know() {
    let ended = run(&[answer("Done.")], &["Look"], "json", "");
    let validator_of_object = validator(&schema("json"));
    for change in [
        |value: &mut Value| value["more"] = json!(1),
        |value: &mut Value| value["stats"]["more"] = json!(1),
        |value: &mut Value| value["stats"]["tokens"]["more"] = json!(1),
        |value: &mut Value| value["terminate_reason"] = json!("goal"),
        |value: &mut Value| value["project_trust"] = json!("perhaps"),
    ] {
        let mut value = ended.json();
        check(&validator_of_object, &value);
        change(&mut value);
        assert!(validator_of_object.check(&value).is_err(), "{value}");
    }
    let line = validator(&schema("stream-json"));
    let lines = run(&[answer("Done.")], &["Look"], "stream-json", "").lines();
    for printed in lines {
        let mut more = printed.clone();
        more["more"] = json!(1);
        assert_eq!(line.check(&printed), Ok(()));
        assert!(line.check(&more).is_err(), "{more}");
    }
    assert_eq!(Host::new(["schema", "text"]).run().code, Some(42));
}
