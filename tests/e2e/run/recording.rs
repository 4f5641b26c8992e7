//! `--record`: a run that can be had again without the model.

use host_tests::host::{Ended, Host};
use host_tests::host_snapshot;
use serde_json::{Value, json};

/// The events of a run, without what differs from run to run: its session, its times, how long things took, and which
/// of the calls that ran side by side ended first.
fn events(ended: &Ended) -> Vec<String> {
    let without = |mut line: Value| {
        for key in ["session_id", "timestamp", "duration_ms", "stats", "model"] {
            line.as_object_mut().expect("a line is an object").remove(key);
        }
        line.to_string()
    };
    let mut events: Vec<String> = ended.lines().into_iter().map(without).collect();
    let is_result = |event: &String| event.contains(r#""type":"tool_result""#);
    events.chunk_by_mut(|one, next| is_result(one) && is_result(next)).for_each(<[String]>::sort);
    events
}

fn files(host: Host) -> Host {
    // One file: of several the newest comes first, and which that is differs from run to run.
    host.file("src/main.rs", "fn main() {} // TODO: lift off\n")
}

#[test]
fn a_recording_replays_the_same_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("talk.jsonl");
    let file = file.to_str().expect("text");
    let prompt = "Survey this repository: where are the TODOs?";
    let said = ["run", "--output-format", "stream-json", prompt];
    let first = files(Host::new(said).args(&["--model", "offline", "--record", file])).run();
    assert_eq!(first.code, Some(0), "{first:?}");
    let second = files(Host::new(said).args(&["--model", &format!("scripted:{file}")])).run();
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(events(&first).len() > 5, "{first:?}");
    assert_eq!(events(&second), events(&first));
}

#[test]
fn recording_includes_what_went_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("talk.jsonl");
    let file = file.to_str().expect("text");
    let replies = [
        json!({"chunks": [{"text": ""}]}),
        json!({"chunks": [{"call": {"name": "ls", "arguments": {}}}, {"usage": {"input": 7}}]}),
        json!({"chunks": [{"text": "half"}, {"error": {"kind": "authentication", "message": "gone", "status": 401}}]}),
    ];
    let first = Host::scripted(&replies, &["--output-format", "stream-json", "--record", file, "Look"]).run();
    let replay = ["run", "--output-format", "stream-json", "--model", &format!("scripted:{file}"), "Look"];
    let second = Host::new(replay).run();
    assert_eq!((first.code, second.code), (Some(41), Some(41)), "{first:?} {second:?}");
    assert_eq!(events(&second), events(&first));
}

#[test]
fn recording_has_what_every_agent_was_answered_whichever_model_it_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (talk, own) = (file("talk.jsonl"), file("own.jsonl"));
    let complete = json!({"chunks": [{"call": {"name": "complete_task", "arguments": {"result": "It flies."}}}]});
    let look = json!({"chunks": [{"call": {"name": "ls", "arguments": {}}}, {"usage": {"input": 9}}]});
    std::fs::write(&own, format!("{look}\n{complete}\n")).expect("it can be written");
    let helper = format!("---\nname: helper\ndescription: Helps.\ntools: [ls]\nmodel: 'scripted:{own}'\n---\nHelp.\n");
    let replies = [
        json!({"chunks": [{"call": {"name": "helper", "arguments": {}}}]}),
        json!({"expect": {"responses": ["It flies."]}, "chunks": [{"text": "Done."}]}),
    ];
    let said = ["--output-format", "stream-json", "Ask the helper"];
    let record = [&["--record", talk.as_str()][..], &said[..]].concat();
    let first = Host::scripted(&replies, &record).agent("helper.md", &helper).run();
    assert_eq!(first.code, Some(0), "{first:?}");
    std::fs::remove_file(&own).expect("it was there");
    let model = format!("scripted:{talk}");
    let second = Host::new([&["run", "--model", &model][..], &said[..]].concat()).agent("helper.md", &helper).run();
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(events(&second), events(&first));
}

#[test]
fn a_conversation_that_was_shortened_replays_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let talk = folder.path().join("talk.jsonl");
    let talk = talk.to_str().expect("text");
    // Not the same call twice, whose result would come once.
    let read = |limit: u32| {
        let arguments = json!({"path": "long.txt", "limit": limit});
        json!({"chunks": [{"call": {"name": "read_file", "arguments": arguments}}]})
    };
    let replies = [
        read(500),
        read(499),
        json!({"expect": {"last_text": "write a summary"}, "chunks": [{"text": "<state_snapshot>x</state_snapshot>"}]}),
        json!({"expect": {"responses": ["a line"]}, "chunks": [{"text": "Done."}]}),
    ];
    let said = ["--output-format", "stream-json", "Read"];
    let set =
        |host: Host| host.file("long.txt", "a line\n".repeat(500)).configured("[compression]\nthreshold = 0.01\n");
    let first = set(Host::scripted(&replies, &[&["--record", talk][..], &said[..]].concat())).run();
    assert_eq!(first.code, Some(0), "{first:?}");
    let told: Vec<_> = first.lines().into_iter().filter(|line| line["severity"] == "warning").collect();
    assert!(told.len() == 1 && told[0].to_string().contains("its beginning was summarised"), "{told:?}");
    let model = format!("scripted:{talk}");
    let second = set(Host::new([&["run", "--model", &model][..], &said[..]].concat())).run();
    // The name of the model is part of what is counted.
    let uncounted = |ended: &Ended| -> Vec<String> {
        let is_notice = |event: &String| event.contains("its beginning was summarised");
        let events = events(ended).into_iter();
        events
            .map(|event| if is_notice(&event) { event.replace(|c: char| c.is_ascii_digit(), "") } else { event })
            .collect()
    };
    assert_eq!(uncounted(&second), uncounted(&first));
}

// promise session.private
#[test]
fn a_recording_is_the_users_alone_and_replaces_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("talk.jsonl");
    let ended = Host::new(["run", "--model", "offline", "--record", file.to_str().expect("text"), "Look"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let about = std::fs::metadata(&file).expect("it is there");
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    let again = Host::new(["run", "--model", "offline", "--record", file.to_str().expect("text"), "Look"]);
    host_snapshot!(again, @"
    exit: 42
    ----- stdout
    ----- stderr
    error: cannot create the recording `[TEMP]/talk.jsonl`: File exists (os error 17)
    help: name a file that does not exist yet, in a folder that you may write
    ");
    assert_eq!(std::fs::metadata(&file).expect("it is there").len(), about.len());
}
