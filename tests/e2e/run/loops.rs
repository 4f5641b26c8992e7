//! A model that goes round in circles: it is told once, and then the run ends with a code of its own.

use host_tests::host::Host;
use host_tests::host_snapshot;
use serde_json::{Value, json};

use super::{answer, call};

const SENTENCE: &str = "I will now look at the file again to make sure that it is right. ";

fn looks(path: &str) -> Value {
    json!({"chunks": [call("ls", json!({"path": path}))]})
}

/// A reply that says the same without an end.
fn chant() -> Value {
    let mut chunks = vec![json!({"text": SENTENCE}); 40];
    chunks.push(json!({"hang": true}));
    json!({"chunks": chunks})
}

#[test]
fn loops_model_that_repeats_a_call_is_warned_and_can_change_course() {
    let mut replies = vec![looks("."); 5];
    let told = "`ls {\"path\":\".\"}` repeated 5 times in a row";
    replies.push(json!({"expect": {"last_text": told}, "chunks": [{"text": "I was stuck."}]}));
    let host = Host::scripted(&replies, &["--output-format", "stream-json", "Look"]);
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = ended.lines();
    let warnings: Vec<_> = lines.iter().filter(|line| line["severity"] == "warning").collect();
    assert!(warnings.len() == 1 && warnings[0].to_string().contains("repeating itself"), "{warnings:?}");
    let started = host.session().iter().filter(|line| line["type"] == "call_started").count();
    assert_eq!(started, 4, "the call that closed the loop did not run");
}

#[test]
fn the_second_loop_ends_the_run_with_its_own_code() {
    host_snapshot!(Host::scripted(&vec![looks("src"); 6], &["Look"]), @r#"
    exit: 56
    ----- stdout
    ----- stderr
    error: the model is repeating itself: `ls {"path":"src"}` repeated 5 times in a row with the same result
    help: rephrase the task, split it into smaller steps, or try another model
    "#);

    let ended = Host::scripted(&[chant(), chant()], &["--output-format", "json", "Look"]).run();
    assert_eq!(ended.code, Some(56), "{ended:?}");
    let object = ended.json();
    assert_eq!((&object["terminate_reason"], &object["response"]), (&json!("ERROR"), &Value::Null));
    assert_eq!(object["error"]["code"], 56);
}

#[test]
fn looking_in_many_places_and_a_long_table_are_no_loop() {
    let mut replies: Vec<_> = (0..12).map(|at| looks(&format!("folder-{at}"))).collect();
    let table = "| a cell that is the same in each row | and another one, as it happens |\n".repeat(60);
    replies.push(answer(&table));
    let ended = Host::scripted(&replies, &["Look"]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), table.as_str()), "{ended:?}");
}

#[test]
fn loop_detection_can_be_switched_off_in_the_configuration() {
    let mut replies = vec![looks("."); 12];
    replies.push(answer(&SENTENCE.repeat(40)));
    let host = Host::scripted(&replies, &["Look"]).configured("[run]\nloop_detection = false\n");
    assert_eq!(host.run().code, Some(0));
}
