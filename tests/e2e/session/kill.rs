//! A run that is killed wherever it happens to be, and gone on with: nothing that was written down as done is lost or
//! done again.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;

use host_tests::host::Host;
use serde_json::{Value, json};

use super::{answer, call};

/// Calls of a run, each with an effect that can be counted.
const CALLS: usize = 30;

/// How often a process is killed, over as many runs as that takes.
const KILLS: usize = 100;

/// How often at most, on a machine on which some place is hardly ever hit.
const MOST_KILLS: usize = 5 * KILLS;

/// How far a process may come at most before it is killed, in bytes of the log: some four calls. What it writes before
/// its first call, its instructions among it, is two thirds of that, so that going on is killed too.
const SPAN: u64 = 14_000;

/// The most idle rounds between the line of the log that a process is killed at and the kill: some of them hit the
/// middle of a call, or of what is done between two entries.
const JITTER: u64 = 40_000;

/// A linear congruential generator with the constants of Knuth's MMIX: the same numbers each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

// promise session.recorded
// promise audit.torn
#[test]
fn session_killed_anywhere_continues_and_no_call_is_lost_or_run_twice() {
    let mut chance = Chance(20_261_120);
    let (mut kills, mut seen) = (0, HashMap::<String, usize>::new());
    // Where a kill hits depends on how busy the machine is: until each place was hit once, there are more of them.
    while kills < KILLS || (seen.len() < 3 && kills < MOST_KILLS) {
        let host = Host::scripted(&script(), &["--approval-mode", "yolo", "--max-turns", "100", "Count"]);
        kills += run_to_its_end(&host, &mut chance);
        for status in check(&host) {
            *seen.entry(status).or_default() += 1;
        }
        // No kill looks like a change of the log, or of what is kept to undo it.
        let verified = host.run_of(&["session", "verify"]);
        assert!(verified.code == Some(0) && verified.stdout.contains("  verified ("), "{verified:?}");
    }
    // The kills hit before, within and behind calls, or the test would show nothing.
    for status in ["success", "interrupted", "cancelled"] {
        assert!(seen.get(status).is_some_and(|count| *count > 0), "no call ended as {status}: {seen:?}");
    }
}

fn script() -> Vec<Value> {
    let calls = (0..CALLS).map(|number| {
        let count = call("shell", json!({"command": format!("echo {number} >> counted")}));
        json!({"chunks": [count]})
    });
    let header = json!({"goes_on": true});
    std::iter::once(header).chain(calls).chain([answer("Counted.")]).collect()
}

/// Starts it, kills it, and goes on, until it ends by itself. Answers how often it was killed.
fn run_to_its_end(host: &Host, chance: &mut Chance) -> usize {
    let mut kills = 0;
    loop {
        let before = log(host);
        let mut command = match &before {
            None => host.command(),
            Some(text) if !text.contains(r#""type":"content""#) => {
                host.command_of(&["run", "--resume", "--approval-mode", "yolo", "Count"])
            }
            Some(text) if text.contains("Counted.") => return kills,
            Some(_) => host.command_of(&["run", "--resume", "--approval-mode", "yolo", "--max-turns", "100"]),
        };
        let from = before.as_ref().map_or(0, String::len) as u64;
        let (until, jitter) = (from + 1 + chance.below(SPAN), chance.below(JITTER));
        let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let status = loop {
            if let Some(status) = child.try_wait().expect("it is ours") {
                break status;
            }
            if host.logs().first().is_some_and(|log| length(log) >= until) {
                for _ in 0..jitter {
                    std::hint::spin_loop();
                }
                child.kill().expect("it is ours");
                kills += 1;
                break child.wait().expect("it ends");
            }
            std::thread::yield_now();
        };
        let now = log(host).unwrap_or_default();
        let whole = before.as_deref().map_or("", |text| &text[..text.rfind('\n').map_or(0, |at| at + 1)]);
        assert!(now.starts_with(whole), "what was written down is still there");
        if let Some(code) = status.code() {
            let said = std::io::read_to_string(child.stderr.take().expect("a pipe")).expect("text");
            assert_eq!(code, 0, "{said}");
        }
    }
}

fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |about| about.len())
}

fn log(host: &Host) -> Option<String> {
    let log = host.logs().into_iter().next()?;
    Some(std::fs::read_to_string(log).expect("each line is text"))
}

/// Holds the log against what was really done. Answers how each call ended.
fn check(host: &Host) -> Vec<String> {
    let lines = host.session();
    let of = |kind: &str, id: &Value| -> Vec<Value> {
        lines.iter().filter(|line| line["type"] == kind && line["call_id"] == *id).cloned().collect()
    };
    let counted = std::fs::read_to_string(host.repository().join("counted")).expect("something was counted");
    let asked: Vec<&Value> = lines
        .iter()
        .flat_map(|line| line["content"]["parts"].as_array().into_iter().flatten())
        .filter(|part| !part["function_call"].is_null())
        .map(|part| &part["function_call"])
        .collect();
    assert_eq!(asked.len(), CALLS, "each call is asked for once");
    let mut ends = Vec::new();
    for (number, call) in asked.into_iter().enumerate() {
        assert_eq!(call["arguments"]["command"], format!("echo {number} >> counted"));
        let (begun, settled) = (of("call_started", &call["id"]), of("call_settled", &call["id"]));
        let done = counted.lines().filter(|line| *line == number.to_string()).count();
        let [settled] = settled.as_slice() else { panic!("the call {number} settled as {settled:?}") };
        let status = settled["status"].as_str().expect("a word").to_owned();
        let right = match (status.as_str(), begun.len()) {
            ("success", 1) => done == 1,
            ("interrupted", 1) => done <= 1,
            ("cancelled", 0) => done == 0,
            _ => false,
        };
        assert!(right, "the call {number} ended as {status}, began {} times and was done {done} times", begun.len());
        ends.push(status);
    }
    ends
}
