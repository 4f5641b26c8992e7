//! What `write_file` promises.

use std::os::unix::fs::{MetadataExt, symlink};

use host_message::Display;
use host_plugin::{CallError, Confirmation};
use host_tests::Bench;
use host_text::Wording;
use serde_json::json;

use super::refuses;

fn bench() -> Bench {
    Bench::built_in("write_file", &["fs-read=.", "fs-write=."])
}

#[tokio::test]
async fn a_file_is_made_with_the_folders_above_it_or_replaced() {
    let bench = bench();
    bench.file("old", "before\n");
    for (path, content, says) in [
        ("new", "a\nb\n", "Created `new` (2 lines)"),
        ("deep/er/new", "", "Created `deep/er/new` (0 lines)"),
        ("old", "after", "Overwrote `old` (1 line now)"),
        ("old", "after", "`old` has this content already; nothing was written"),
    ] {
        assert_eq!(bench.text("write_file", json!({"path": path, "content": content})).await, says);
        assert_eq!(bench.content(path), content);
    }
}

#[tokio::test]
async fn write_file_does_not_write_again_what_is_already_there() {
    let bench = bench();
    bench.file("same", "same\n");
    let inode = || std::fs::metadata(bench.root().join("same")).expect("there").ino();
    let before = inode();
    assert_eq!(bench.preview("write_file", json!({"path": "same", "content": "same\n"})).await.expect("asked"), None);
    bench.text("write_file", json!({"path": "same", "content": "same\n"})).await;
    assert_eq!(inode(), before);
}

#[tokio::test]
async fn the_preview_shows_the_difference_and_writes_nothing_and_the_call_does_what_it_showed() {
    let bench = bench();
    bench.file("old", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    for (path, content, unified) in [
        (
            "old",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
            "--- a/old\n+++ b/old\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
        ),
        ("deep/new", "1\n2", "--- /dev/null\n+++ b/deep/new\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n"),
    ] {
        let arguments = json!({"path": path, "content": content});
        let before = std::fs::read_to_string(bench.root().join(path)).ok();
        let shown = bench.preview("write_file", arguments.clone()).await.expect("it is asked");
        let (path, unified) = (path.to_owned(), unified.to_owned());
        assert_eq!(
            shown,
            Some(Confirmation::Edit { path: path.clone(), unified: unified.clone(), proposed: content.to_owned() })
        );
        assert_eq!(std::fs::read_to_string(bench.root().join(&path)).ok(), before, "nothing was written");
        assert!(before.is_some() || !bench.root().join("deep").exists());

        let output = bench.call("write_file", arguments).await.expect("it is written");
        assert_eq!(bench.content(&path), content);
        assert_eq!(output.display, Some(Display::Difference { path, unified }));
    }
}

#[tokio::test]
async fn write_file_preview_describes_a_change_that_has_no_diff() {
    let bench = bench();
    bench.file("program", b"\x7fELF\0");
    let shown = bench.preview("write_file", json!({"path": "program", "content": "x\n"})).await.expect("it is asked");
    let Some(Confirmation::Info { text, writes, .. }) = shown else { panic!("{shown:?}") };
    assert_eq!(text, "Replace `program`, a binary file of 5 bytes, with 1 line of text");
    assert_eq!(writes, ["program"]);
}

#[tokio::test]
async fn write_file_content_can_be_replaced_by_the_user() {
    let bench = bench();
    let asked = json!({"path": "f", "content": "1\n"});
    let revised = bench.revise("write_file", asked, "2\n").await.expect("it can be changed");
    assert_eq!(json!(revised), json!({"path": "f", "content": "2\n"}));
}

#[tokio::test]
async fn write_file_without_a_grant_to_write_is_not_started_and_names_what_would_allow_it() {
    let bench = Bench::built_in("write_file", &["fs-read=."]);
    let error = bench.call("write_file", json!({"path": "x", "content": ""})).await.expect_err("it may not");
    let CallError::Admission(refused) = &error else { panic!("{error:?}") };
    let host_plugin::admission::AdmissionError::Ungranted(denied) = refused else { panic!("{refused:?}") };
    let words = denied.explain(Wording::default());
    for part in ["`write_file`", "fs-write", "--grant write_file:fs-write=.", "--approval-mode auto-edit"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert!(!bench.root().join("x").exists());
    // What it would write can still be shown to whoever decides.
    assert!(bench.preview("write_file", json!({"path": "x", "content": "1\n"})).await.expect("asked").is_some());
}

#[tokio::test]
async fn write_file_that_cannot_be_written_is_reported_with_the_reason_and_kept() {
    let bench = Bench::built_in("write_file", &["fs-read=.", "fs-write=docs"]);
    bench.file("docs/deep/x", "").file("docs/real", "real\n");
    symlink("real", bench.root().join("docs/link")).expect("made");
    std::fs::write(bench.root().join("docs/huge"), vec![b'x'; (20 << 20) + 1]).expect("written");
    let says = |path: &str| json!({"path": path, "content": "x"});
    refuses(
        &bench,
        "write_file",
        [
            (says("src/x"), "denied", &["fs-write", "--grant write_file:fs-write="]),
            (says("docs/../x"), "denied", &["fs-write"]),
            (says("/etc/x"), "denied", &["--grant write_file:"]),
            (says("docs/deep"), "invalid-arguments", &["`docs/deep` is a directory"]),
            (says("docs/real/x"), "invalid-arguments", &["docs/real/x"]),
            (says("docs/link"), "invalid-arguments", &["`docs/link` is a symbolic link"]),
            (says("docs/huge"), "conflict", &["20971521 bytes", "remove it first"]),
        ],
    )
    .await;
    assert_eq!(bench.content("docs/real"), "real\n");
    assert!(!bench.root().join("src").exists() && !bench.root().join("x").exists());
}
