//! What changes while a call runs: links that are exchanged with folders, and files that are read while they are
//! written.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host_tests::Bench;
use serde_json::json;

use super::super::Failures;
use super::{SECRET, bench};

/// What is exchanged with what, while a call uses the first.
const SWAPS: &[(&str, &str, &str, &str)] = &[
    ("read", "swap/secret", "swap", "evil"),
    ("read", "swap/in/secret", "swap/in", "evil-in"),
    ("read", "file", "file", "evil-file"),
    ("write", "swap/new", "swap", "evil"),
    ("write", "swap/in/new", "swap/in", "evil-in"),
    ("make_directory", "swap/made", "swap", "evil"),
    ("list", "swap", "swap", "evil"),
    ("walk", "swap", "swap", "evil"),
];

/// How often each call is made while something is exchanged all the time.
const CALLS: usize = 60;

// promise files.swap
#[tokio::test(flavor = "multi_thread")]
async fn escape_what_is_exchanged_while_a_call_runs_leads_nowhere() {
    let mut failures = Failures::default();
    for (tool, path, from, to) in SWAPS {
        let walls = bench(&["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
        walls.file("swap/secret", "mine").file("swap/in/secret", "mine").file("file", "mine");
        std::fs::create_dir(walls.outside().join("target")).expect("made");
        std::fs::write(walls.outside().join("target/secret"), SECRET).expect("written");
        let target = walls.outside().join("target");
        for (link, target) in [("evil", &target), ("evil-in", &target), ("evil-file", &target.join("secret"))] {
            symlink(target, walls.root().join(link)).expect("linked");
        }
        let (one, other) = (walls.root().join(from), walls.root().join(to));
        let (done, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (stop, begun) = (Arc::clone(&done), Arc::clone(&swaps));
        let swapping = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &one, rustix::fs::CWD, &other, flags).expect("exchanged");
                begun.store(true, Ordering::Relaxed);
            }
        });
        host_tests::eventually(|| swaps.load(Ordering::Relaxed)).await;
        for _ in 0..CALLS {
            let answer = walls.text(tool, json!({"path": path, "text": "evil"})).await;
            failures.check(&format!("{tool} {path}"), !answer.contains(SECRET), &answer);
        }
        done.store(true, Ordering::Relaxed);
        swapping.join().expect("it ends");
        let names: Vec<_> =
            std::fs::read_dir(&target).expect("read").map(|entry| entry.expect("read").file_name()).collect();
        failures.check(&format!("{tool} {path}"), names == ["secret"], &format!("{names:?}"));
        // Without walls, what is exchanged leads out: one of the two states does.
        let through = [from, to].map(|name| std::fs::canonicalize(walls.root().join(name)).expect("there"));
        failures.check(
            &format!("the control of {path}"),
            through.iter().any(|path| path.starts_with(&target)),
            "no way out",
        );
    }
    failures.report(SWAPS.len());
}

// promise files.atomic
#[tokio::test(flavor = "multi_thread")]
async fn escape_no_part_of_a_write_is_ever_seen_and_nothing_is_left_of_it() {
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
    let (short, long) = ("a".repeat(10), "b".repeat(1 << 20));
    bench.file("f", &short);
    let (path, done) = (bench.root().join("f"), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&done);
    let reading = std::thread::spawn(move || {
        let mut seen = std::collections::BTreeSet::new();
        while !stop.load(Ordering::Relaxed) {
            let text = std::fs::read(&path).expect("it is always there");
            let is_one = text.windows(2).all(|pair| pair[0] == pair[1]);
            seen.insert((text.len(), is_one));
        }
        seen
    });
    for round in 0..40 {
        let text = if round % 2 == 0 { &long } else { &short };
        let answer = bench.text("write", json!({"path": "f", "text": text})).await;
        assert!(!answer.starts_with("error: "), "{answer}");
    }
    done.store(true, Ordering::Relaxed);
    let seen = reading.join().expect("it ends");
    assert!(seen.iter().all(|state| [(10, true), (1 << 20, true)].contains(state)), "{seen:?}");
    assert_eq!(bench.text("list", json!({"path": "."})).await, "f");
}
