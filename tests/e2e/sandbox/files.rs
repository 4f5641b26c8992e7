//! What `fs-read` and `fs-write` promise.

use std::os::unix::fs::{PermissionsExt, symlink};

use host_plugin::Digest;
use host_tests::Bench;
use serde_json::json;

/// A workspace that may be read and written, but for keys; with a secret beside it.
fn bench() -> Bench {
    let bench =
        Bench::new("reach", &["fs-read=.,!**/*.pem", "fs-write=.,!**/*.pem", "process=*", "http=*", "state=write"]);
    std::fs::write(bench.outside().join("secret"), "UNTOLD").expect("written");
    bench.file("a.txt", "inside").file("key.pem", "private").file("deep/b.txt", "below");
    bench
}

// promise files.roots: Nothing outside the granted roots is read or changed through `..`, absolute paths, links,
//   `/proc` links or trailing slashes.
// promise files.deny
#[tokio::test]
async fn nothing_outside_of_the_granted_roots_is_read_by_any_way_there() {
    let bench = bench();
    let outside = bench.outside();
    symlink(outside.join("secret"), bench.root().join("link")).expect("made");
    symlink(&outside, bench.root().join("folder")).expect("made");
    symlink("../secret", bench.root().join("relative")).expect("made");
    symlink("/proc/self/root", bench.root().join("magic")).expect("made");
    symlink("key.pem", bench.root().join("innocent")).expect("made");
    symlink(".", bench.root().join("here")).expect("made");
    let absolute = outside.join("secret").display().to_string();
    for path in [
        "../secret",
        "deep/../../secret",
        &absolute,
        "link",
        "link/",
        "folder/secret",
        "folder/../secret",
        "relative",
        "magic/etc/hostname",
        "/etc/hostname",
        "key.pem",
        "./deep/../key.pem",
        "here/key.pem",
        "innocent",
    ] {
        let answer = bench.text("read", json!({"path": path})).await;
        assert!(answer.starts_with("error: "), "{path} was read: {answer}");
        assert!(!answer.contains("UNTOLD") && !answer.contains("private"), "{path}: {answer}");
    }
    assert_eq!(bench.text("read", json!({"path": "a.txt"})).await, "inside");
    assert_eq!(bench.text("read", json!({"path": "here/here/deep/b.txt"})).await, "below");
    assert_eq!(bench.text("read", json!({"path": bench.root().join("a.txt")})).await, "inside");
}

#[tokio::test]
async fn sandbox_files_denial_names_what_was_wanted_and_what_would_allow_it() {
    let bench = bench();
    let answer = bench.text("read", json!({"path": "/etc/hostname"})).await;
    for part in ["`reach`", "fs-read", "`/etc/hostname`", "--grant reach:fs-read=/etc/hostname"] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
}

// promise files.walk: A walk returns only files that may be read.
#[tokio::test]
async fn a_walk_hands_over_only_what_may_be_read() {
    let bench = bench();
    symlink(bench.outside().join("secret"), bench.root().join("link")).expect("made");
    symlink(bench.outside(), bench.root().join("folder")).expect("made");
    bench.file(".gitignore", "*.log\n").file("x.log", "ignored").file(".git/config", "git");
    let answer = bench.text("walk", json!({"path": "."})).await;
    assert_eq!(answer, ".gitignore=*.log\n\na.txt=inside\ndeep/b.txt=below");
    assert_eq!(bench.text("walk", json!({"path": "deep"})).await, "deep/b.txt=below");
    assert_eq!(bench.text("walk", json!({"path": "deep/b.txt"})).await, "deep/b.txt=below");
    assert!(bench.text("walk", json!({"path": ".."})).await.starts_with("error: "));
    assert!(bench.text("walk", json!({"path": "nowhere"})).await.contains("nowhere"));
}

// promise files.search: A search hands over only files that may be read, and nothing that it returns tells what is in
//   others.
#[tokio::test]
async fn a_search_hands_over_only_what_may_be_read_and_tells_nothing_of_the_rest() {
    let bench = bench();
    bench.file("a.txt", "the Needle\n").file("b.txt", "hay\n").file("deep/c.txt", "needles").file("empty", "");
    bench.file("key.pem", "").file(".git/config", "needle").file(".gitignore", "*.log\n").file("x.log", "needle");
    symlink(bench.outside().join("secret"), bench.root().join("link")).expect("made");
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.root().join("pipe"), rustix::fs::Mode::RUSR).expect("made");
    let search = async |text: &str| bench.text("walk", json!({"path": ".", "text": text})).await;
    let found = "a.txt=the Needle\n\ndeep/c.txt=needles\n2 found, 0 too large, 0 unreadable, 1 denied";
    assert_eq!(search("needle").await, found);
    // What is denied answers nothing, whatever is in it.
    bench.file("key.pem", "the needle");
    assert_eq!(search("nEEdle").await, found);
    assert_eq!(search("not there").await, "0 found, 0 too large, 0 unreadable, 1 denied");
    assert_eq!(
        bench.text("walk", json!({"path": "deep/c.txt", "text": "x"})).await,
        "0 found, 0 too large, 0 unreadable, 0 denied"
    );
    assert!(bench.text("walk", json!({"path": "..", "text": "x"})).await.starts_with("error: "));
    assert!(search(&"x".repeat(257)).await.contains("1 to 256 bytes, not 257"));
}

// promise files.special: Pipes and devices are denied at once.
#[tokio::test]
async fn pipes_and_devices_are_refused_at_once() {
    let bench = bench();
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.root().join("pipe"), rustix::fs::Mode::RUSR).expect("made");
    let answer = bench.text("read", json!({"path": "pipe"})).await;
    assert!(answer.contains("is not a regular file"), "{answer}");
    assert!(!bench.text("walk", json!({"path": "."})).await.contains("pipe"));
}

// promise files.roots
// promise files.deny
#[tokio::test]
async fn nothing_outside_of_the_granted_roots_is_changed_by_any_way_there() {
    let bench = bench();
    let outside = bench.outside();
    symlink(outside.join("secret"), bench.root().join("link")).expect("made");
    symlink(&outside, bench.root().join("folder")).expect("made");
    symlink(outside.join("new"), bench.root().join("dangling")).expect("made");
    let absolute = outside.join("secret").display().to_string();
    for path in [
        "../secret",
        &absolute,
        "link",
        "link/",
        "folder/secret",
        "folder/new",
        "folder/new/deep",
        "dangling",
        "key.pem",
    ] {
        for (tool, arguments) in [
            ("write", json!({"path": path, "text": "changed"})),
            ("rename", json!({"path": "a.txt", "text": path})),
            ("make_directory", json!({"path": path})),
        ] {
            let answer = bench.text(tool, arguments).await;
            assert!(answer.starts_with("error: "), "{tool} {path}: {answer}");
        }
    }
    for path in ["../secret", "folder/secret", &absolute, "key.pem"] {
        let answer = bench.text("remove", json!({"path": path})).await;
        assert!(answer.starts_with("error: "), "{path}: {answer}");
        let answer = bench.text("rename", json!({"path": path, "text": "stolen"})).await;
        assert!(answer.starts_with("error: "), "{path}: {answer}");
    }
    assert_eq!(std::fs::read_to_string(outside.join("secret")).expect("there"), "UNTOLD");
    assert_eq!(bench.content("key.pem"), "private");
    assert_eq!(bench.content("a.txt"), "inside");
    let mut names: Vec<_> =
        std::fs::read_dir(&outside).expect("there").map(|entry| entry.expect("read").file_name()).collect();
    names.sort();
    assert_eq!(names, ["secret", "workspace"]);
}

// promise files.read-only: A grant for reading changes nothing, even next to a grant for writing (GHSA-2r75-cxrj-cmph,
//   GHSA-4ch3-9j33-3pmj, GHSA-vqjp-4c8c-hfgg).
/// The published holes of wasmtime-wasi's own file system (GHSA-2r75-cxrj-cmph, GHSA-4ch3-9j33-3pmj,
/// GHSA-vqjp-4c8c-hfgg), tried here.
#[tokio::test]
async fn a_grant_for_reading_changes_nothing() {
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=out", "process=*", "http=*", "state=write"]);
    bench.file("a.txt", "inside").file("out/b.txt", "mine");
    for (tool, arguments) in [
        ("write", json!({"path": "a.txt", "text": ""})),
        ("write", json!({"path": "out/../a.txt", "text": ""})),
        ("rename", json!({"path": "a.txt", "text": "out/a.txt"})),
        ("rename", json!({"path": "out/b.txt", "text": "a.txt"})),
        ("rename", json!({"path": "out/b.txt", "text": "b.txt/"})),
        ("remove", json!({"path": "a.txt"})),
        ("remove", json!({"path": "a.txt/"})),
        ("remove", json!({"path": "out"})),
    ] {
        let answer = bench.text(tool, arguments.clone()).await;
        assert!(answer.starts_with("error: "), "{tool} {arguments}: {answer}");
    }
    assert_eq!(bench.content("a.txt"), "inside");
    assert_eq!(bench.content("out/b.txt"), "mine");
}

// promise files.atomic: A file is replaced completely or not at all, only if it matches what the tool expects, and
//   keeps its permission bits.
#[tokio::test]
async fn a_file_is_replaced_whole_and_only_when_it_is_as_expected() {
    let bench = bench();
    let digest = Digest::of(b"inside").to_string();
    std::fs::set_permissions(bench.root().join("a.txt"), PermissionsExt::from_mode(0o640)).expect("set");

    let stale =
        bench.text("write", json!({"path": "a.txt", "text": "new", "expected": Digest::of(b"old").to_string()})).await;
    assert!(stale.contains("changed"), "{stale}");
    let taken = bench.text("write", json!({"path": "a.txt", "text": "new", "expected": "absent"})).await;
    assert!(taken.contains("changed"), "{taken}");
    assert_eq!(bench.content("a.txt"), "inside");

    let written = bench.text("write", json!({"path": "a.txt", "text": "new", "expected": digest})).await;
    assert_eq!(written, Digest::of(b"new").to_string());
    assert_eq!(bench.content("a.txt"), "new");
    let mode = std::fs::metadata(bench.root().join("a.txt")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    bench.text("write", json!({"path": "made/on/the/way.txt", "text": "x", "expected": "absent"})).await;
    assert_eq!(bench.content("made/on/the/way.txt"), "x");
    // Nothing is left beside what was written.
    assert_eq!(bench.text("list", json!({"path": "made/on/the"})).await, "way.txt");
}

// promise files.rename: A rename never replaces an existing file.
#[tokio::test]
async fn a_rename_never_replaces_what_is_there() {
    let bench = bench();
    let answer = bench.text("rename", json!({"path": "a.txt", "text": "deep/b.txt"})).await;
    assert!(answer.starts_with("error: "), "{answer}");
    assert_eq!(bench.content("deep/b.txt"), "below");
    assert_eq!(bench.text("rename", json!({"path": "a.txt", "text": "deep/c.txt"})).await, "renamed");
    assert_eq!(bench.content("deep/c.txt"), "inside");
}

// promise files.moves: A rename lets a plugin read or change nothing that it could not before.
#[tokio::test]
async fn sandbox_rename_makes_nothing_readable_that_was_not() {
    let files = ["fs-read=.,!.env,!docs/private,!docs/deep/er/key", "fs-write=.,!a/kept"];
    let bench = Bench::new("reach", &[files[0], files[1], "process=*", "http=*", "state=write"]);
    bench.file(".env", "KEY=1").file("docs/private/plan", "secret").file("docs/open", "").file("docs/deep/er/key", "k");
    bench.file("sub/.env", "KEY=2").file("a/kept/x", "");
    for (from, to, names) in [
        (".env", "env.txt", ".env"),
        ("docs/private", "public", "docs/private"),
        ("docs", "public", "docs/"),
        ("docs/deep", "shallow", "docs/deep/er/key"),
        ("docs/deep/er/key", "docs/deep/er/lock", "docs/deep/er/key"),
        ("a", "b", "a/kept"),
    ] {
        let answer = bench.text("rename", json!({"path": from, "text": to})).await;
        assert!(answer.starts_with("error: `reach` may not ") && answer.contains(names), "{from}: {answer}");
        assert!(bench.root().join(from).exists() && !bench.root().join(to).exists(), "{from}");
    }
    // What is denied under every name stays denied.
    for (from, to) in [("docs/open", "open"), ("sub", "moved")] {
        assert_eq!(bench.text("rename", json!({"path": from, "text": to})).await, "renamed");
    }
    let answer = bench.text("read", json!({"path": "moved/.env"})).await;
    assert!(answer.starts_with("error: `reach` may not read `"), "{answer}");
}

#[tokio::test]
async fn sandbox_files_ignore_rules_are_reported() {
    let bench = bench();
    bench.file(".gitignore", "out/\n").file("out/x", "").file(".git/HEAD", "");
    assert!(bench.text("stat", json!({"path": "out/x"})).await.ends_with("ignored: true"));
    assert!(bench.text("stat", json!({"path": "a.txt"})).await.ends_with("ignored: false"));
}

// promise files.rules: A repository's ignore files are read up to a limit, without following links or waiting for
//   pipes.
#[tokio::test]
async fn files_with_rules_neither_hang_nor_lead_out_nor_grow_without_end() {
    for name in [".gitignore", ".ignore", ".hostignore", ".git/info/exclude"] {
        for what in ["endless", "pipe", "outside", "large"] {
            let bench = bench();
            bench.file(".git/info/x", "").file(".git/HEAD", "");
            let path = bench.root().join(name);
            std::fs::write(bench.outside().join("rules"), "a.txt\n").expect("written");
            match what {
                "endless" => symlink("/dev/zero", &path).expect("made"),
                "outside" => symlink(bench.outside().join("rules"), &path).expect("made"),
                "large" => std::fs::write(&path, format!("{}\na.txt\n", "#".repeat(2 << 20))).expect("written"),
                _ => rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).expect("made"),
            }
            let stat = bench.text("stat", json!({"path": "a.txt"})).await;
            assert!(stat.ends_with("ignored: false"), "{name}, {what}: {stat}");
            let walk = bench.text("walk", json!({"path": "deep"})).await;
            assert_eq!(walk, "deep/b.txt=below", "{name}, {what}");
        }
    }
}

// promise files.swap: A granted folder that is swapped for a link leads nowhere.
#[tokio::test]
async fn a_root_swapped_for_a_link_after_the_grant_leads_nowhere() {
    let bench = Bench::new("reach", &["fs-read=src", "fs-write=src", "process=*", "http=*", "state=write"]);
    std::fs::write(bench.outside().join("secret"), "UNTOLD").expect("written");
    symlink(bench.outside(), bench.root().join("src")).expect("made");
    let answer = bench.text("read", json!({"path": "src/secret"})).await;
    assert!(answer.starts_with("error: ") && !answer.contains("outside\n"), "{answer}");
    let answer = bench.text("write", json!({"path": "src/new", "text": "x"})).await;
    assert!(answer.starts_with("error: "), "{answer}");
    assert!(!bench.outside().join("new").exists());
}

#[tokio::test]
async fn a_single_file_can_be_granted() {
    let bench = Bench::new("reach", &["fs-read=a.txt", "fs-write=a.txt", "process=*", "http=*", "state=write"]);
    bench.file("a.txt", "inside").file("b.txt", "other");
    assert_eq!(bench.text("read", json!({"path": "a.txt"})).await, "inside");
    assert!(bench.text("read", json!({"path": "b.txt"})).await.starts_with("error: "));
}
