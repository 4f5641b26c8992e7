//! Many hosts in one project at once: what each of them reports as written is there.

use std::collections::BTreeSet;

use host_tests::host::{Ended, Host};
use serde_json::json;

use super::{answer, call};

const HOSTS: usize = 8;

/// Runs command lines of one host at once.
fn at_once(host: &Host, lines: &[Vec<String>]) -> Vec<Ended> {
    std::thread::scope(|scope| {
        let started: Vec<_> = lines
            .iter()
            .map(|line| scope.spawn(|| host.run_of(&line.iter().map(String::as_str).collect::<Vec<_>>())))
            .collect();
        started.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    })
}

fn lines(of: impl Fn(usize) -> Vec<String>) -> Vec<Vec<String>> {
    (0..HOSTS).map(of).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn crashes_session_that_many_hosts_resume_at_once_is_written_by_one_at_a_time() {
    let replies: Vec<_> = (0..=HOSTS).map(|_| answer("So be it.")).collect();
    let all: Vec<_> = std::iter::once(json!({"goes_on": true})).chain(replies).collect();
    let host = Host::scripted(&all, &["Begin"]);
    assert_eq!(host.run().code, Some(0));
    let ended = at_once(&host, &lines(|number| words(&["run", "--resume", &format!("And {number}?")])));
    let done = ended.iter().filter(|ended| ended.code == Some(0)).count();
    assert!(done >= 1, "{ended:?}");
    for ended in ended.iter().filter(|ended| ended.code != Some(0)) {
        assert!(ended.code == Some(42) && ended.stderr.contains("is being written by process"), "{ended:?}");
    }
    // Each that succeeded is whole in the log, one behind the other.
    let log = host.session();
    let asked = log.iter().filter(|line| line["content"]["role"] == "user").count();
    let resumed = log.iter().filter(|line| line["type"] == "resumed").count();
    assert_eq!((asked, resumed), (done + 1, done), "{log:?}");
}

#[test]
fn crashes_hosts_at_once_lose_no_session_no_state_and_no_trust() {
    let replies = [call("ls", json!({})), answer("Seen.")];
    let host = Host::scripted(&replies, &["Look"]);
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let cache = host.home().join("empty-cache").display().to_string();

    // Sessions, with a cache that all of them fill.
    let host = host.env("XDG_CACHE_HOME", &cache);
    for ended in at_once(&host, &lines(|_| words(&["run", "--model", &model, "Look"]))) {
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Seen.\n"), "{ended:?}");
    }
    assert_eq!(host.logs().len(), HOSTS, "each has a log of its own");
    let listed = host.run_of(&["session", "list", "--json"]).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(HOSTS), "{listed}");

    // State: what was reported as kept is there.
    let saved = at_once(
        &host,
        &lines(|number| {
            let fact = json!({"action": "save", "fact": format!("fact {number}"), "key": format!("key-{number}")});
            words(&["tool", "call", "memory", &fact.to_string(), "--approval-mode", "yolo"])
        }),
    );
    let kept = host.run_of(&["tool", "call", "memory", r#"{"action": "list"}"#, "--approval-mode", "yolo"]).stdout;
    let mut some = 0;
    for (number, ended) in saved.iter().enumerate() {
        match ended.code {
            Some(0) => assert!(kept.contains(&format!("fact {number}")), "fact {number} is lost: {kept}"),
            Some(54) => assert!(ended.stderr.contains("try again"), "{ended:?}"),
            _ => panic!("{ended:?}"),
        }
        some += usize::from(ended.code == Some(0));
    }
    assert!(some > 0, "{saved:?}");

    // Trust.
    let folders: Vec<String> = (0..HOSTS)
        .map(|number| {
            let folder = host.home().join(format!("project-{number}"));
            std::fs::create_dir_all(folder.join(".host")).expect("made");
            std::fs::write(folder.join(".host/config.toml"), "").expect("written");
            folder.display().to_string()
        })
        .collect();
    for ended in at_once(&host, &lines(|number| words(&["trust", "add", &folders[number]]))) {
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let trusted = host.run_of(&["trust", "list"]).stdout;
    let lost: BTreeSet<_> = folders.iter().filter(|folder| !trusted.contains(folder.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?} in {trusted}");
}
