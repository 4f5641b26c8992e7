//! A full disk, one that cannot be written, and one that breaks, in each place where the host writes.
//!
//! The place is a small file system of its own, in namespaces that end with the host.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use host_tests::host::{Ended, Host};
use host_tests::mounted::{Broken, Mounted};
use serde_json::json;

use super::{answer, behind, call};
use crate::publisher::{Publisher, READS, file};

/// What is done to the place before the host starts, and what is kept of it behind the host's end.
struct Disk {
    name: &'static str,
    prepare: &'static str,
    /// What the system says of it.
    says: &'static str,
    /// What is broken, if it is a disk of the test's own.
    broken: Option<Broken>,
}

/// A memory disk whose pages are all taken. Names can still be made, as on many a full disk; bytes cannot.
const FULL: Disk = Disk {
    name: "full",
    prepare: r#"keep=$(mktemp -d); cp -a "$PLACE/." "$keep"; mount -t tmpfs -o size=8m,mode=0700 none "$PLACE"
        cp -a "$keep/." "$PLACE"; cat /dev/zero > "$PLACE/.filler" 2> /dev/null || true"#,
    says: "No space left on device",
    broken: None,
};

const READ_ONLY: Disk = Disk {
    name: "read-only",
    prepare: r#"mount --bind "$PLACE" "$PLACE"; mount -o remount,bind,ro "$PLACE""#,
    says: "Read-only file system",
    broken: None,
};

const BROKEN: Disk = Disk {
    name: "broken",
    prepare: r#"mount --bind "$DISK" "$PLACE""#,
    says: "Input/output error",
    broken: Some(Broken::Writes),
};

/// A disk that fails behind a cache: it takes everything, and fails when that has to be safe.
const FORGETFUL: Disk = Disk { name: "forgetful", broken: Some(Broken::Syncs), ..BROKEN };

/// What is written without waiting for the disk: lines behind others, copies, and what is verified when it is read.
const UNSYNCED: &[&str] = &["a new session", "a resumed session", "a recording", "an export", "the cache"];

/// One thing that the host writes.
struct Written {
    what: &'static str,
    /// The folder that it lies in, beneath the home (`~/`) or the repository.
    place: &'static str,
    arguments: Vec<String>,
    /// How it ends on a full or broken disk, and on one that is read-only.
    codes: [i32; 2],
    /// What a user or the model is told besides what the system says.
    told: Vec<&'static str>,
}

fn written(
    what: &'static str,
    place: &'static str,
    arguments: &[&str],
    codes: [i32; 2],
    told: &[&'static str],
) -> Written {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Written { what, place, arguments, codes, told: told.to_vec() }
}

/// A host that wrote everything once, so that there is something to lose.
async fn host() -> (Host, Vec<Written>, [Publisher; 2]) {
    let replies = [answer("One."), call("read_file", json!({"path": "out/a.txt"})), answer("Two."), answer("Three.")];
    let lines: Vec<_> = std::iter::once(json!({"goes_on": true})).chain(replies).collect();
    let host = Host::scripted(&lines, &["Begin"])
        .file("out/a.txt", "inside\n")
        .file("password", "correct horse\n")
        .file(".host/config.toml", "");
    let (acme, zeta) = (Publisher::new("acme"), Publisher::new("zeta"));
    let bundles = [file(&host, "one.tar", &acme.signed("1.0.0", READS).await)];
    let newer = file(&host, "two.tar", &acme.signed("1.1.0", READS).await);
    std::fs::set_permissions(host.repository().join("password"), PermissionsExt::from_mode(0o600)).expect("set");
    let (first, second) = (acme.public().display().to_string(), zeta.public().display().to_string());
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    for arguments in [
        &["run", "--model", &model, "Begin"][..],
        &["trust", "add"],
        &["keys", "trust", &first, "--for", "acme/*"],
        &["plugin", "install", &bundles[0], "--yes"],
        &["tool", "call", "memory", r#"{"action": "save", "fact": "it rains"}"#, "--approval-mode", "yolo"],
    ] {
        let ended = host.run_of(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    }
    let writes = |tool: &str, arguments: serde_json::Value| {
        vec![
            "tool".to_owned(),
            "call".into(),
            tool.into(),
            arguments.to_string(),
            "--approval-mode".into(),
            "yolo".into(),
        ]
    };
    let other = host.home().join("elsewhere");
    std::fs::create_dir(&other).expect("made");
    std::fs::create_dir(other.join(".host")).expect("made");
    std::fs::write(other.join(".host/config.toml"), "").expect("written");
    let other = other.display().to_string();
    let save = writes("memory", json!({"action": "save", "fact": "it snows"}));
    let write = writes("write_file", json!({"path": "out/a.txt", "content": "x".repeat(9_000)}));
    let edit = writes("edit", json!({"path": "out/a.txt", "old_string": "inside", "new_string": "outside"}));
    let (run, out) = (["run", "--model", &model], "out");
    let with = |more: &[&'static str]| [&run[..], more].concat();
    let sessions = "~/.local/state/host/sessions";
    let rows = vec![
        written("a new session", sessions, &with(&["More"]), [74, 52], &["session log", "sessions", "help: "]),
        written("a resumed session", sessions, &["run", "--resume", "More"], [74, 42], &["session log", "help: "]),
        written(
            "the trusted folders",
            "~/.local/state/host",
            &["trust", "add", &other],
            [52; 2],
            &["trust.json", "help: "],
        ),
        written(
            "the keys",
            "~/.config/host",
            &["keys", "trust", &second, "--for", "zeta/*"],
            [52; 2],
            &["keys.toml", "make its folder writable"],
        ),
        written(
            "the store",
            "~/.local/share/host",
            &["plugin", "install", &newer],
            [52; 2],
            &["cannot be written", "help: "],
        ),
        written("the lock file", ".host", &["plugin", "install", &newer], [52; 2], &["plugins.lock", "help: "]),
        written("a plugin's state", "~/.local/share/host", &strs(&save), [54; 2], &[]),
        written("a file", out, &strs(&write), [54; 2], &["a.txt"]),
        written("an edit", out, &strs(&edit), [54; 2], &["a.txt"]),
        written(
            "a recording",
            out,
            &with(&["--record", "out/tape.jsonl", "More"]),
            [52, 42],
            &["out/tape.jsonl", "help: "],
        ),
        written("an export", out, &["session", "export", "--output", "out/it.md"], [42; 2], &["out/it.md", "help: "]),
        written(
            "a key",
            out,
            &["keys", "generate", "--out", "out/host.key", "--password-file", "password"],
            [42; 2],
            &["host.key"],
        ),
        written(
            "the cache",
            "~/.cache/host",
            &["tool", "call", "ls", "{}"],
            [0; 2],
            &["one.tar", "compiled again in each process"],
        ),
    ];
    (host, rows, [acme, zeta])
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn crashes_disk_that_takes_nothing_is_named_and_loses_nothing() {
    // A publisher's files are there while the publisher is.
    let (host, rows, _publishers) = host().await;
    let mut wrong = Vec::new();
    for disk in [FULL, READ_ONLY, BROKEN, FORGETFUL] {
        for row in &rows {
            // Not even a disk that forgets is asked to keep these at once, so nobody notices.
            let is_unnoticed = disk.broken == Some(Broken::Syncs) && UNSYNCED.contains(&row.what);
            let code = match is_unnoticed {
                true => 0,
                false => row.codes[usize::from(disk.name == READ_ONLY.name)],
            };
            let place = match row.place.strip_prefix("~/") {
                Some(beneath) => host.home().join(beneath),
                None => host.repository().join(row.place),
            };
            let before = contents(&place);
            let Some((ended, after)) = on(&disk, &host, &place, row) else { break };
            let what = format!("{} on a {} disk", row.what, disk.name);
            let said = format!("{}{}", ended.stdout, ended.stderr);
            if ended.code != Some(code) {
                wrong.push(format!("{what}: it ended with {:?}, not {code}: {said}", ended.code));
            }
            let told = row.told.iter().copied().chain(Some(disk.says)).filter(|_| !is_unnoticed);
            wrong
                .extend(told.filter(|part| !said.contains(part)).map(|part| format!("{what}: no `{part}` in: {said}")));
            if said.contains("panicked") {
                wrong.push(format!("{what}: {said}"));
            }
            for (name, bytes) in &before {
                // A log may have gained whole lines.
                let is_log = name.ends_with(".jsonl");
                let there = after.get(name).is_some_and(|now| now == bytes || (is_log && now.starts_with(bytes)));
                if !there {
                    wrong.push(format!("{what}: `{name}` is not as it was"));
                }
            }
            let left = after.keys().filter(|name| !before.contains_key(*name) && name.contains(".new-"));
            wrong.extend(left.map(|name| format!("{what}: `{name}` is left")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs a command line on such a disk; how it ended, and what the place had then. `None` where there is no such disk.
fn on(disk: &Disk, host: &Host, place: &Path, row: &Written) -> Option<(Ended, BTreeMap<String, Vec<u8>>)> {
    std::fs::create_dir_all(place).expect("made");
    let after = tempfile::tempdir().expect("a folder");
    let line = format!(
        r#"set -e; {}
        set +e; "$@"; code=$?; rm -f "$PLACE/.filler" 2> /dev/null; cp -a "$PLACE/." "$AFTER"; exit $code"#,
        disk.prepare
    );
    let arguments: Vec<&str> = row.arguments.iter().map(String::as_str).collect();
    let mut command = behind(host, &["unshare", "-Urm", "sh", "-c", &line, "sh"], &arguments);
    command.env("PLACE", place).env("AFTER", after.path());
    let mut mounted = None;
    if let Some(broken) = disk.broken {
        let disk = mounted.insert(Mounted::mount()?);
        copy(place, disk.root());
        disk.breaks(broken);
        command.env("DISK", disk.root());
    }
    if row.place.starts_with("~/.cache") {
        command.env("XDG_CACHE_HOME", host.home().join(".cache"));
    }
    let ended = host.end(command);
    drop(mounted);
    Some((ended, contents(after.path())))
}

/// Copies what lies beneath a folder, with its modes.
fn copy(from: &Path, to: &Path) {
    std::fs::set_permissions(to, std::fs::metadata(from).expect("it is there").permissions()).expect("set");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("read");
        if from.is_dir() {
            std::fs::create_dir(&to).expect("made");
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("copied");
        }
    }
}

/// The files beneath a folder, by their paths in it.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.expect("read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it lies in it").display().to_string();
                found.insert(name, std::fs::read(&path).expect("read"));
            }
        }
    }
    found
}

#[test]
fn crashes_file_that_cannot_be_read_is_named() {
    let Some(mounted) = Mounted::mount() else { return };
    std::fs::write(mounted.root().join("a.txt"), "inside").expect("written");
    std::fs::write(mounted.root().join(".gitignore"), "b.txt").expect("written");
    mounted.breaks(Broken::Reads);
    let root = mounted.root().display().to_string();
    let names_it = "a.txt: Input/output error";
    for (tool, arguments, code, told) in [
        ("read_file", json!({"path": "a.txt"}), 54, names_it),
        ("edit", json!({"path": "a.txt", "old_string": "inside", "new_string": "x"}), 54, names_it),
        ("grep", json!({"pattern": "inside"}), 0, "could not be read"),
        ("read_many_files", json!({"include": ["*.txt"]}), 0, "could not be read"),
        ("ls", json!({}), 0, "a.txt (6 bytes)"),
        ("shell", json!({"command": "cat a.txt"}), 0, names_it),
    ] {
        let ended = Host::new(["tool", "call", tool, &arguments.to_string()])
            .args(&["--approval-mode", "yolo", "--any-folder", "-C", &root])
            .run();
        assert_eq!(ended.code, Some(code), "{tool}: {ended:?}");
        assert!(format!("{}{}", ended.stdout, ended.stderr).contains(told), "{tool}: {ended:?}");
    }
}
