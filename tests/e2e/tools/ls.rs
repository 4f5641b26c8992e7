//! What `ls` promises.

use std::os::unix::fs::symlink;

use host_tests::Bench;
use serde_json::json;

use super::refuses;

fn bench() -> Bench {
    let bench = Bench::built_in("ls", &["fs-read=.,!**/*.pem"]);
    bench.file(".git/HEAD", "").file(".gitignore", "*.log\nout/\n").file(".hostignore", "draft\n");
    bench.file("zoo/x", "").file("app/y", "").file("out/z", "").file("a.log", "").file("draft", "");
    bench.file("b.txt", "twelve bytes").file("Z", "").file("key.pem", "private");
    symlink("b.txt", bench.root().join("link")).expect("made");
    std::fs::create_dir(bench.root().join("empty")).expect("made");
    bench
}

#[tokio::test]
async fn directories_come_first_then_names_with_sizes_and_what_is_ignored_is_counted() {
    let bench = bench();
    let all = "[dir] .git\n[dir] app\n[dir] empty\n[dir] zoo\n.gitignore (11 bytes)\n.hostignore (6 bytes)\nZ (0 bytes)\n\
               b.txt (12 bytes)\n[link] link\n(3 ignored)\n";
    let unasked =
        "[dir] .git\n[dir] app\n[dir] empty\n[dir] out\n[dir] zoo\nb.txt (12 bytes)\n[link] link\n(5 ignored)\n";
    let root = bench.root().display().to_string();
    for (arguments, listing) in [
        (json!({}), all),
        (json!({"path": "."}), all),
        (json!({"path": root}), all),
        (json!({"path": "app"}), "y (0 bytes)\n"),
        (json!({"path": "app/../zoo/"}), "x (0 bytes)\n"),
        (json!({"path": "empty"}), "`empty` is empty\n"),
        (json!({"path": "out"}), "`out` has nothing but ignored entries\n(1 ignored)\n"),
        (json!({"path": "app", "ignore": ["?"]}), "`app` has nothing but ignored entries\n(1 ignored)\n"),
        (json!({"ignore": [".*ignore", "Z", "*.log", "draft"], "respect_ignore": false}), unasked),
    ] {
        assert_eq!(bench.text("ls", arguments.clone()).await, listing, "{arguments}");
    }
}

#[tokio::test]
async fn ls_path_that_is_not_a_directory_is_reported_as_what_it_is() {
    refuses(
        &bench(),
        "ls",
        [
            (json!({"path": "nowhere"}), "not-found", &["nothing at `nowhere`"]),
            (json!({"path": "b.txt"}), "invalid-arguments", &["`b.txt` is a file"]),
            (json!({"path": "b.txt/x"}), "invalid-arguments", &["`b.txt/x`"]),
            (json!({"path": "/etc"}), "denied", &["fs-read", "`/etc`", "--grant ls:fs-read=/etc"]),
            (json!({"path": "a\u{0}b"}), "invalid-arguments", &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn ls_long_listing_is_cut_and_marked() {
    let bench = Bench::built_in("ls", &["fs-read=."]);
    for number in 0..2_003 {
        bench.file(&format!("{number:04}"), "");
    }
    let listing = bench.text("ls", json!({})).await;
    assert!(listing.starts_with("0000 (0 bytes)\n") && listing.contains("1999 (0 bytes)\n(cut: 3 more"), "{listing}");
    assert_eq!(listing.lines().count(), 2_001);
}
