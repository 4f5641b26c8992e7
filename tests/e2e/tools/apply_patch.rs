//! What `apply_patch` promises.

use host_plugin::{Confirmation, FileChange};
use host_tests::Bench;
use serde_json::{Value, json};

use super::{failure, refuses};

fn bench() -> Bench {
    Bench::built_in("apply_patch", &["fs-read=.", "fs-write=."])
}

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")})
}

/// A patch of every kind of change.
const EVERYTHING: &str = "*** Add File: new/file\n+one\n*** Delete File: old\n*** Update File: f\n@@\n a\n-b\n+B\n\
                          *** Update File: from\n*** Move to: deep/to\n@@\n-x\n+y\n";

fn filled() -> Bench {
    let bench = bench();
    bench.file("old", "gone\n").file("f", "a\r\nb\r\n").file("from", "x\n");
    bench
}

fn is_there(bench: &Bench, path: &str) -> bool {
    bench.root().join(path).exists()
}

// promise files.whole: A patch changes all of its files or none.
#[tokio::test]
async fn patch_adds_deletes_changes_and_moves_files() {
    let bench = filled();
    let said = bench.text("apply_patch", patch(EVERYTHING)).await;
    assert_eq!(said, "Created `new/file`\nDeleted `old`\nChanged `f`\nMoved `from` to `deep/to`");
    assert_eq!(bench.content("new/file"), "one\n");
    assert_eq!(bench.content("f"), "a\r\nB\r\n", "line ends stay");
    assert_eq!(bench.content("deep/to"), "y\n");
    assert!(!is_there(&bench, "old") && !is_there(&bench, "from"));
}

// promise files.whole
#[tokio::test]
async fn patch_that_does_not_fit_changes_nothing_and_names_each_reason() {
    let bench = filled();
    let unchanged = || {
        assert_eq!((bench.content("f").as_str(), bench.content("from").as_str()), ("a\r\nb\r\n", "x\n"));
        assert!(!is_there(&bench, "new") && is_there(&bench, "old"));
    };
    let several = "*** Add File: new\n+1\n*** Update File: f\n@@\n-c\n+d\n*** Update File: nowhere\n@@\n-a\n+b\n\
                   *** Add File: old\n+2\n";
    let says: &[&str] = &[
        "nothing was changed",
        "`f`: the lines from `c` on are not in it",
        "`nowhere`: there is no such file",
        "`old`: it exists already",
    ];
    refuses(
        &bench,
        "apply_patch",
        [
            (patch(several), "conflict", says),
            (json!({"patch": "*** Begin Patch\n*** Delete File: f\n"}), "invalid-arguments", &["cut off"]),
            (patch("*** Update File: f\n a\n?b\n"), "invalid-arguments", &["line 4 of the patch is `?b`"]),
            (patch("*** Update File: f\n*** Move to: old\n@@\n-a\n+c\n"), "conflict", &["it exists already"]),
            (patch("*** Delete File: /etc/hostname\n"), "denied", &["fs-read=/etc/hostname"]),
        ],
    )
    .await;
    unchanged();
    // The last of its files cannot be written: those before it are put back.
    let narrow = Bench::built_in("apply_patch", &["fs-read=.", "fs-write=f"]);
    narrow.file("f", "a\nb\n").file("g", "a\n");
    let two = "*** Update File: f\n@@\n-b\n+B\n*** Update File: g\n@@\n-a\n+A\n";
    let (case, words) = failure(&narrow, "apply_patch", patch(two)).await;
    assert!(case == "denied" && words.contains("fs-write"), "{case}: {words}");
    assert_eq!((narrow.content("f").as_str(), narrow.content("g").as_str()), ("a\nb\n", "a\n"));
}

// promise files.shown: The question about a patch shows what becomes of each file, and the call can do nothing else.
#[tokio::test]
async fn patch_preview_has_each_file_and_changes_none() {
    let bench = filled();
    let shown = bench.preview("apply_patch", patch(EVERYTHING)).await.expect("it is asked");
    let Some(Confirmation::Edits { changes }) = shown else { panic!("{shown:?}") };
    let named: Vec<(&str, Option<&str>)> =
        changes.iter().map(|FileChange { path, proposed, .. }| (path.as_str(), proposed.as_deref())).collect();
    assert_eq!(
        named,
        [
            ("new/file", Some("one\n")),
            ("old", None),
            ("f", Some("a\r\nB\r\n")),
            ("deep/to", Some("y\n")),
            ("from", None)
        ]
    );
    for change in &changes {
        assert!(change.unified.contains("@@"), "{change:?}");
    }
    assert!(changes[1].unified.contains("-gone"), "what is removed is shown: {}", changes[1].unified);
    assert!(is_there(&bench, "old") && !is_there(&bench, "new"));
    // What cannot be done is said before anybody is asked.
    assert!(bench.preview("apply_patch", patch("*** Delete File: nowhere\n")).await.is_err());
}
