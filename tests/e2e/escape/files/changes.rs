//! Paths by which a plugin would change what it may not.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use host_tests::Bench;
use serde_json::json;

use super::super::Failures;
use super::{SECRET, bench, filled};

/// An attack that changes something: the tool and its arguments.
struct Change {
    tool: &'static str,
    path: &'static str,
    text: &'static str,
    control: Control,
}

/// What shows that it works without the walls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    /// The same guest with a grant for everything.
    Granted,
    /// The same by the system, because no grant lets a guest go through such a link.
    Plain,
    /// Nothing: no grant makes it work.
    Nothing,
}

const fn change(tool: &'static str, path: &'static str, text: &'static str) -> Change {
    Change { tool, path, text, control: Control::Granted }
}

/// One through a link that leads out.
const fn through(tool: &'static str, path: &'static str, text: &'static str) -> Change {
    Change { control: Control::Plain, ..change(tool, path, text) }
}

/// One that nothing makes work.
const fn never(tool: &'static str, path: &'static str, text: &'static str) -> Change {
    Change { control: Control::Nothing, ..change(tool, path, text) }
}

const WRITE: &[&str] = &["fs-read=.", "fs-write=out,!**/*.pem,!out/.env", "process=*", "http=*", "state=write"];
const WRITE_ALL: &[&str] = &["fs-read=*", "fs-write=*", "process=*", "http=*", "state=write"];

const CHANGES: &[Change] = &[
    change("write", "../secret", "evil"),
    change("write", "OUT/secret", "evil"),
    change("write", "OUT/new", "evil"),
    change("write", "out/../../secret", "evil"),
    change("write", "out/up/secret", "evil"),
    through("write", "out/folder/new", "evil"),
    through("write", "out/folder/made/new", "evil"),
    through("write", "/proc/self/rootOUT/secret", "evil"),
    change("write", "OUT/workspace-twin/secret", "evil"),
    // A grant for reading is none for writing or emptying.
    change("write", "a.txt", "evil"),
    change("write", "a.txt", ""),
    change("write", "out/../a.txt", "evil"),
    change("write", "output", "evil"),
    change("write", "out-twin/x", "evil"),
    change("write", "out/key.pem", "evil"),
    change("write", "out/./key.pem", "evil"),
    change("write", "out/deep/../key.pem", "evil"),
    change("write", "out/new.pem", "evil"),
    change("write", "out/.env", "evil"),
    change("remove", "../secret", ""),
    change("remove", "OUT/secret", ""),
    change("remove", "a.txt", ""),
    change("remove", "out/../a.txt", ""),
    change("remove", "out/key.pem", ""),
    change("remove", "out/.env", ""),
    change("remove", "out/up/secret", ""),
    through("remove", "out/folder/secret", ""),
    change("rename", "a.txt", "out/a.txt"),
    change("rename", "out/b.txt", "b.txt"),
    change("rename", "out/b.txt", "../b.txt"),
    change("rename", "out/b.txt", "OUT/b.txt"),
    change("rename", "out/b.txt", "out/b.pem"),
    change("rename", "out/key.pem", "out/key.txt"),
    change("rename", "../secret", "out/secret"),
    change("rename", "OUT/secret", "out/secret"),
    change("rename", "out/b.txt", "out/up/b.txt"),
    change("make_directory", "../made", ""),
    change("make_directory", "made", ""),
    change("make_directory", "OUT/made", ""),
    change("make_directory", "out/up/made", ""),
    change("make_directory", "out/x.pem", ""),
    never("rename", "out/b.txt", "out/key.pem"),
    never("rename", "out/b.txt", "out/.env"),
    never("write", "out/b.txt/x", "evil"),
    never("write", "out/pipe", "evil"),
    never("write", "out/\0", "evil"),
    never("write", "out", "evil"),
    never("write", "out/", "evil"),
    never("write", "out/.", "evil"),
    never("write", "/dev/full/x", "evil"),
    never("write", "/proc/self/comm/x", "evil"),
    never("remove", "out/deep", ""),
    never("remove", "out/..", ""),
];

/// Every file beneath a folder, with what it holds or where it leads.
fn picture(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let about = std::fs::symlink_metadata(&path).expect("there");
        let text = match about.file_type() {
            kind if kind.is_dir() => {
                open.extend(std::fs::read_dir(&path).expect("read").map(|entry| entry.expect("read").path()));
                "folder".to_owned()
            }
            kind if kind.is_symlink() => std::fs::read_link(&path).expect("read").display().to_string(),
            kind if kind.is_file() => String::from_utf8_lossy(&std::fs::read(&path).expect("read")).into_owned(),
            _ => "special".to_owned(),
        };
        found.push((path, text));
    }
    found.sort();
    found
}

fn changeable(grants: &[&str]) -> Bench {
    let bench = bench(grants);
    let out = bench.root().join("out");
    bench.file("out/b.txt", "mine").file("out/key.pem", "kept").file("out/.env", "kept").file("out/deep/c.txt", "mine");
    bench.file("out-twin/y", "kept");
    symlink("../..", out.join("up")).expect("linked");
    symlink(bench.outside(), out.join("folder")).expect("linked");
    rustix::fs::mkfifoat(rustix::fs::CWD, out.join("pipe"), rustix::fs::Mode::RUSR).expect("made");
    bench
}

// promise files.roots
// promise files.read-only
// promise files.deny
#[tokio::test]
async fn escape_no_path_changes_what_is_not_granted() {
    let mut failures = Failures::default();
    let walls = changeable(WRITE);
    let before = picture(&walls.outside());
    for Change { tool, path, text, control } in CHANGES {
        let name = format!("{tool} {path:?} {text:?}");
        let arguments = |bench: &Bench| json!({"path": filled(path, bench), "text": filled(text, bench)});
        let answer = walls.text(tool, arguments(&walls)).await;
        failures.check(&name, answer.starts_with("error: "), &answer);
        failures.check(&name, picture(&walls.outside()) == before, "it changed something");
        let free = changeable(WRITE_ALL);
        let untouched = picture(&free.outside());
        let answer = match control {
            Control::Nothing => continue,
            Control::Granted => free.text(tool, arguments(&free)).await,
            Control::Plain => {
                let path = free.root().join(filled(path, &free));
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                let done = if *tool == "remove" { std::fs::remove_file(path) } else { std::fs::write(path, text) };
                format!("{done:?}")
            }
        };
        failures.check(&format!("the control of {name}"), picture(&free.outside()) != untouched, &answer);
    }
    // What is granted works.
    for (tool, arguments) in [
        ("write", json!({"path": "out/b.txt", "text": "new"})),
        ("rename", json!({"path": "out/b.txt", "text": "out/d.txt"})),
        ("remove", json!({"path": "out/d.txt"})),
        ("make_directory", json!({"path": "out/made"})),
    ] {
        let answer = walls.text(tool, arguments).await;
        failures.check(tool, !answer.starts_with("error: "), &answer);
    }
    failures.report(CHANGES.len());
}

// promise files.roots
#[tokio::test]
async fn escape_a_link_in_the_workspace_is_replaced_or_refused_and_never_written_through() {
    let mut failures = Failures::default();
    let walls = bench(&["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
    for path in ["link", "relative", "chain1", "chain3", "dangling", "loop1", "itself"] {
        let answer = walls.text("write", json!({"path": path, "text": "evil"})).await;
        let kept = std::fs::read_to_string(walls.outside().join("secret")).expect("there") == SECRET;
        failures.check(path, kept && !walls.outside().join("new").exists(), &answer);
        // Without the walls it is written through.
        let free = bench(WRITE_ALL);
        if !path.starts_with("loop") && path != "itself" {
            std::fs::write(free.root().join(path), "evil").expect("written");
            let through = ["secret", "new"].map(|name| std::fs::read_to_string(free.outside().join(name)).ok());
            failures.check(
                &format!("the control of {path}"),
                through.contains(&Some("evil".to_owned())),
                "not written",
            );
        }
    }
    failures.report(7);
}
