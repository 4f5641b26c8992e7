//! The tool on a fake host.

use host_sdk::Content;
use host_sdk::fake::{FakeHost, Printed};

use super::*;

fn host(printed: Printed) -> FakeHost {
    FakeHost::new().program(["sh", "-c", "make"], printed)
}

fn call(host: &FakeHost, arguments: Value) -> String {
    match host.call(&shell(), arguments).map(|outcome| outcome.content) {
        Ok(content) => match content.as_slice() {
            [Content::Text(text)] => text.clone(),
            other => panic!("one text, not {other:?}"),
        },
        Err(failure) => format!("{failure:?}"),
    }
}

#[test]
fn shell_outputs_are_one_text_in_the_order_in_which_they_came() {
    let host = host(Printed::new().stdout("a\n").stderr("b\nc\n").stdout("d\n").code(1));
    let expected = "Output:\na\n[stderr]\nb\nc\n[stdout]\nd\nExit code: 1\n";
    assert_eq!(call(&host, json!({"command": "make"})), expected);
}

#[test]
fn shell_timeout_is_what_the_model_asks_for_within_what_the_user_set() {
    let slow = || Printed::new().stdout("begun\n").runs_for(60_000);
    let ended =
        |seconds: u64| format!("Output:\nbegun\nSignal: 15\nEnded: it had run for {seconds} seconds, its timeout\n");
    let (none, short) = (json!({"command": "make"}), json!({"command": "make", "timeout": 20}));
    assert_eq!(call(&host(slow()), none.clone()), "Output:\nbegun\n");
    assert_eq!(call(&host(slow()), short.clone()), ended(20));
    let set = |seconds: u64| host(slow()).config("timeout", seconds);
    assert_eq!(call(&set(30), none.clone()), ended(30));
    assert_eq!(call(&set(10), short.clone()), ended(10));
    assert_eq!(call(&set(50), short), ended(20));
    // The longest time of all ends a command that has no other.
    assert_eq!(call(&host(slow().runs_for(LONGEST * 1_000 + 1)), none.clone()), ended(LONGEST));
    for wrong in [0, LONGEST + 1] {
        assert!(call(&set(wrong), none.clone()).contains("it is 1 to 3540 seconds"), "{wrong}");
    }
}

#[test]
fn shell_timeout_stays_when_the_user_changes_the_command() {
    let asked = json!({"command": "make", "timeout": 20});
    let revised = host(Printed::new()).revise(&shell(), asked, "make test").expect("it can be changed");
    assert_eq!(revised, json!({"command": "make test", "directory": "", "description": "", "timeout": 20}));
}
