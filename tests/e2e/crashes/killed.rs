//! A run that reads, writes, edits and runs programs, ended by a signal at a hundred moments, and gone on with each
//! time.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use host_tests::host::Host;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answer, call};

/// How often a process is ended in all, and over how many runs at once.
const KILLS: usize = 100;
const AT_ONCE: usize = 4;

/// Rounds of a run; in each it reads, writes, edits and runs a program.
const ROUNDS: usize = 8;

/// How far a process may come before it is ended, in bytes of the log: more than two rounds.
const SPAN: u64 = 16_000;

/// The longest pause behind that, in idle rounds: it hits the middle of a call, or of what lies between two.
const JITTER: u64 = 2_000_000;

/// The size of the file that is written, which is in the log; and of the one that is edited, so that it takes a while.
const SMALL: usize = 3_000;
const LARGE: usize = 8 << 20;

/// What the model says at last.
const LAST: &str = "All is done.";

/// A linear congruential generator with the constants of Knuth's MMIX: the same numbers each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

// promise session.recorded
// promise files.atomic
#[test]
fn crashes_run_ended_at_any_moment_continues_and_leaves_whole_files_and_no_program() {
    let counted: Vec<_> = (0..AT_ONCE as u64)
        .map(|seed| std::thread::spawn(move || many(&mut Chance(20_261_122 + seed), KILLS / AT_ONCE)))
        .collect();
    let mut all = BTreeMap::<String, usize>::new();
    for thread in counted {
        for (what, count) in thread.join().expect("what it found is right") {
            *all.entry(what).or_default() += count;
        }
    }
    println!("{all:?}");
    // Each kind of end was hit, or the test would show nothing.
    for what in ["SIGTERM", "SIGKILL", "success", "interrupted"] {
        assert!(all.get(what).is_some_and(|count| *count > 0), "never {what}: {all:?}");
    }
}

fn many(chance: &mut Chance, kills: usize) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::<String, usize>::new();
    let mut done = 0;
    while done < kills {
        let mut again = false;
        let host = Host::scripted(&script(), &["--approval-mode", "yolo", "--max-turns", "200", "Begin"])
            .file("written", whole(0))
            .file("edited", edited(0));
        // How many runs that takes depends on where they are hit.
        while !one_process(&host, chance, &mut seen, &mut done, kills, &mut again) {}
        calls(&host, &mut seen);
    }
    seen
}

fn whole(round: usize) -> String {
    char::from(b'a' + round as u8).to_string().repeat(SMALL)
}

fn edited(round: usize) -> String {
    format!("value {round}.\n{}", "line\n".repeat(LARGE / 5))
}

/// Whether it is the file as it was behind one of the rounds.
fn is_edited(text: &str) -> bool {
    let Some((first, rest)) = text.split_once('\n') else { return false };
    let round = first.strip_prefix("value ").and_then(|first| first.strip_suffix('.')?.parse::<usize>().ok());
    round.is_some_and(|round| round <= ROUNDS) && rest.len() == LARGE / 5 * 5 && rest.lines().all(|line| line == "line")
}

fn script() -> Vec<Value> {
    let rounds = (1..=ROUNDS).flat_map(|round| {
        [
            call("read_file", json!({"path": "edited", "limit": 1})),
            call("write_file", json!({"path": "written", "content": whole(round)})),
            call("edit", json!({"path": "edited", "old_string": format!("value {}.", round - 1), "new_string": format!("value {round}.")})),
            call("shell", json!({"command": format!("echo {round} >> counted; sleep 0.05; echo {round} >> ended")})),
        ]
    });
    std::iter::once(json!({"goes_on": true})).chain(rounds).chain([answer(LAST)]).collect()
}

/// Starts the run or goes on with it, ends it, and looks at what there is then. Whether the run is over.
fn one_process(
    host: &Host,
    chance: &mut Chance,
    seen: &mut BTreeMap<String, usize>,
    done: &mut usize,
    kills: usize,
    again: &mut bool,
) -> bool {
    let before = log(host);
    let mut command = match &before {
        None => host.command(),
        Some(text) if !text.contains(r#""type":"content""#) => {
            host.command_of(&["run", "--resume", "--approval-mode", "yolo", "--max-turns", "200", "Begin"])
        }
        // A run that was cancelled has nothing left to do: its prompt is asked again.
        Some(_) if *again => {
            host.command_of(&["run", "--resume", "--approval-mode", "yolo", "--max-turns", "200", "Begin"])
        }
        Some(_) => host.command_of(&["run", "--resume", "--approval-mode", "yolo", "--max-turns", "200"]),
    };
    let from = before.as_ref().map_or(0, String::len) as u64;
    // Behind the last kill it comes to its end.
    let span = if *done < kills { chance.below(SPAN) } else { u64::MAX / 2 };
    let (until, jitter) = (from + 1 + span, chance.below(JITTER));
    // Every second one hits an edit, or what is around it.
    let at_an_edit = *done < kills && chance.below(2) == 0;
    let signal = if chance.below(2) == 0 { Signal::TERM } else { Signal::KILL };
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
    let mut hit = false;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        if is_there(host, from, until, at_an_edit) {
            for _ in 0..jitter {
                std::hint::spin_loop();
            }
            // It may have ended by itself meanwhile, and is not waited for yet.
            kill_process(pid, signal).expect("it is ours");
            hit = true;
            break child.wait().expect("it ends");
        }
        std::thread::yield_now();
    };
    let said = std::io::read_to_string(child.stderr.take().expect("a pipe")).expect("text");
    assert!(!said.contains("panicked"), "{said}");
    let by_itself = status.code() == Some(0);
    if status.code() == Some(42) && said.contains("no unfinished work") {
        // It was ended between its last answer and its own end.
        if before.is_some_and(|log| log.contains(LAST)) {
            return true;
        }
        assert!(!*again, "{said}");
        *again = true;
        return false;
    }
    *again = false;
    if hit && !by_itself {
        *done += 1;
        *seen.entry(if signal == Signal::TERM { "SIGTERM" } else { "SIGKILL" }.to_owned()).or_default() += 1;
        assert!(signal == Signal::KILL || status.code() == Some(143) || status.code() == Some(130), "{status}: {said}");
    } else {
        assert!(by_itself, "{status}: {said}");
    }
    check(host, before.as_deref().unwrap_or_default(), signal == Signal::KILL && hit);
    by_itself
}

/// Whether the log is as long as it has to be for the kill, or asks for an edit that it did not ask for before.
fn is_there(host: &Host, from: u64, until: u64, at_an_edit: bool) -> bool {
    let Some(log) = host.logs().into_iter().next() else { return false };
    if !at_an_edit {
        return std::fs::metadata(log).is_ok_and(|log| log.len() >= until);
    }
    let text = std::fs::read(log).unwrap_or_default();
    let new = text.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default();
    String::from_utf8_lossy(new).contains("\"name\":\"edit\"")
}

/// What holds after each end.
fn check(host: &Host, before: &str, killed: bool) {
    let ended = || std::fs::read_to_string(host.repository().join("ended")).unwrap_or_default();
    let ended_before = ended();
    let now = log(host).unwrap_or_default();
    let whole_lines = &before[..before.rfind('\n').map_or(0, |at| at + 1)];
    assert!(now.starts_with(whole_lines), "what was written down is still there");
    // Files are as before or as after a call.
    let written = std::fs::read_to_string(host.repository().join("written")).expect("it is there");
    let first = written.chars().next().expect("it is not empty");
    assert!(written.len() == SMALL && written.chars().all(|c| c == first), "a torn file, {} bytes", written.len());
    let text = std::fs::read_to_string(host.repository().join("edited")).expect("it is there");
    assert!(is_edited(&text), "a torn file: {:.40}", text);
    let known = [".git", "written", "edited", "counted", "ended"];
    let names = std::fs::read_dir(host.repository()).expect("there").map(|entry| entry.expect("read").file_name());
    let others: Vec<_> = names.filter(|name| !known.iter().any(|known| name == known)).collect();
    for left in others {
        // A host that ends between writing a file and putting it in its place leaves the new one, whole. One that gets
        // a SIGTERM waits half a second for the disk.
        let path = host.repository().join(&left);
        let is_new = left.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(".new"));
        let text = std::fs::read_to_string(&path).expect("it is there");
        let is_whole = is_edited(&text) || (0..=ROUNDS).any(|round| text == whole(round));
        assert!(is_new && is_whole, "left: {left:?}, {} bytes", text.len());
        std::fs::remove_file(path).expect("removed");
    }
    let begun = Instant::now();
    loop {
        let running = programs(host.repository());
        if running.is_empty() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "still running: {running:?}");
        std::thread::yield_now();
    }
    // A host that gets a SIGTERM ends its programs before it ends itself; one that is killed leaves that to the kernel.
    assert!(killed || ended() == ended_before, "a program went on: {ended_before:?}, then {:?}", ended());
    if now.contains('\n') {
        let first: Value = serde_json::from_str(now.lines().next().expect("a line")).expect("JSON");
        let id = first["id"].as_str().expect("a name");
        let shown = host.run_of(&["session", "show", id]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let listed = host.run_of(&["session", "list"]);
        let is_listed = listed.stdout.contains(id) || !now.contains(r#""type":"content""#);
        assert!(listed.code == Some(0) && is_listed, "{listed:?}");
    }
}

fn log(host: &Host) -> Option<String> {
    let log = host.logs().into_iter().next()?;
    Some(std::fs::read_to_string(log).expect("each line is text"))
}

/// The programs that work in this folder.
fn programs(folder: &Path) -> Vec<String> {
    let folder = std::fs::canonicalize(folder).expect("it is there");
    let processes = std::fs::read_dir("/proc").expect("there is one").filter_map(|entry| Some(entry.ok()?.path()));
    processes
        .filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)))
        .map(|process| std::fs::read_to_string(process.join("cmdline")).unwrap_or_default().replace('\0', " "))
        .collect()
}

/// Holds what the log says of the programs against what they did.
fn calls(host: &Host, seen: &mut BTreeMap<String, usize>) {
    let lines = host.session();
    let read = |name: &str| std::fs::read_to_string(host.repository().join(name)).unwrap_or_default();
    let (counted, ended) = (read("counted"), read("ended"));
    let parts = lines.iter().flat_map(|line| line["content"]["parts"].as_array().into_iter().flatten());
    let asked: Vec<&Value> = parts.map(|part| &part["function_call"]).filter(|call| !call.is_null()).collect();
    assert!(asked.len() >= 4 * ROUNDS, "each call is asked for: {}", asked.len());
    // A prompt that was cancelled is asked again, with its calls: what a program did is as often as the log says.
    let mut rounds = vec![(0, 0); ROUNDS + 1];
    for call in asked {
        let of = |kind: &str| {
            lines.iter().filter(|line| line["type"] == kind && line["call_id"] == call["id"]).collect::<Vec<_>>()
        };
        let [settled] = of("call_settled")[..] else { panic!("{} did not settle once", call["id"]) };
        let status = settled["status"].as_str().expect("a word").to_owned();
        let begun = of("call_started").len();
        assert!(begun <= 1 && (status != "success" || begun == 1), "{}: {status}, began {begun} times", call["id"]);
        if call["name"] == "shell" {
            let command = call["arguments"]["command"].as_str().expect("text");
            let round: usize = command.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
            rounds[round].0 += begun;
            rounds[round].1 += usize::from(status == "success");
        }
        *seen.entry(status).or_default() += 1;
    }
    for (round, (begun, succeeded)) in rounds.into_iter().enumerate() {
        let times = |text: &str| text.lines().filter(|line| *line == round.to_string()).count();
        let (first, last) = (times(&counted), times(&ended));
        let right = succeeded <= last && last <= first && first <= begun;
        assert!(right, "round {round}: {begun} began, {succeeded} succeeded, {first} printed, {last} ended");
    }
}
