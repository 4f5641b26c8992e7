//! What `edit` promises.

use host_message::Display;
use host_plugin::Confirmation;
use host_tests::Bench;
use serde_json::{Value, json};

use super::{failure, refuses};

fn bench() -> Bench {
    Bench::built_in("edit", &["fs-read=.", "fs-write=."])
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "f", "old_string": old, "new_string": new})
}

#[tokio::test]
async fn text_is_replaced_and_the_rest_of_the_file_stays_as_it_was() {
    let bench = bench();
    for (content, old, new, times, after) in [
        ("let a = 1;\n", "1", "2", 1, "let a = 2;\n"),
        ("a b a\n", "a", "c", 2, "c b c\n"),
        ("a\nb\nc\n", "b\n", "", 1, "a\nc\n"),
        // White space at the ends of lines may differ, and the new lines are indented as the old ones were.
        ("    if a {\n        b();\n    }\n", "if a {\n    b();\n}", "if c {\n    d();\n}", 1, {
            "    if c {\n        d();\n    }\n"
        }),
        ("\tx  \n", "x", "y", 1, "\ty  \n"),
        ("\tx  \n\tz\n", "  x\n  z\n", "  y\n", 1, "\ty\n"),
        // Quotes and dashes too, and what is not changed stays the file's.
        ("say(“a” – “b”)\n", "say(\"a\" - \"b\")", "say(\"a\" - \"c\")", 1, "say(“a” – “c”)\n"),
        // Line numbers were copied.
        ("a\nb\n", "2\tb\n", "2\tc\n", 1, "a\nc\n"),
        // Endings are kept line by line, and new lines take the one that most lines have.
        ("a\r\nb\r\nc\r\n", "b", "x\ny", 1, "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\nd\n", "b\nc", "x", 1, "a\r\nx\nd\n"),
        ("\u{feff}a\r\nb\r\n", "a\nb", "b\na", 1, "\u{feff}b\r\na\r\n"),
        // The end of the file is kept.
        ("a\nb\n", "b\n", "c", 1, "a\nc\n"),
        ("a\nb", "b", "c", 1, "a\nc"),
        // A dollar sign or a backslash is itself.
        ("a.b\n", "a.b", r"$1\n$0", 1, "$1\\n$0\n"),
    ] {
        let mut arguments = edit(old, new);
        arguments["replace_all"] = (times > 1).into();
        bench.file("f", content);
        let said = bench.text("edit", arguments.clone()).await;
        assert_eq!(bench.content("f"), after, "{content:?} {arguments}: {said}");
        assert!(said.starts_with("Edited `f` in "), "{said}");
        assert!(said.contains(if times == 1 { "1 place" } else { "2 places" }), "{said}");
    }
}

#[tokio::test]
async fn edit_match_without_regard_to_indentation_is_reported() {
    let bench = bench();
    bench.file("f", "  a\n    b\n");
    let said = bench.text("edit", edit("a\n  b\n", "a\n  c\n")).await;
    assert!(said.contains("found with other indentation; what you did not change is as it was"), "{said}");
    assert_eq!(bench.content("f"), "  a\n    c\n");
}

#[tokio::test]
async fn edit_that_does_not_fit_reports_in_which_way_and_changes_nothing() {
    let bench = bench();
    let content = "one\ntwo\n  two\nthree\nfour\n";
    bench.file("f", content).file("data", b"a\0b").file("src/x", "");
    let at = |path: &str| json!({"path": path, "old_string": "a", "new_string": "b"});
    refuses(
        &bench,
        "edit",
        [
            (
                edit("seven", "7"),
                "conflict",
                &["`f` was not changed", "`old_string` is not in it", "none of its lines"],
            ),
            (edit("three\nfive\n", "x"), "conflict", &["nearest lines", "\n4\tthree\n5\tfour\n"]),
            (edit("two", "2"), "conflict", &["2 times, at the lines 2, 3", "`replace_all: true`"]),
            (edit("seven\n", "one\ntwo\n  two\n"), "conflict", &["`new_string` is in it already, at line 1"]),
            (edit("one", "one"), "conflict", &["`old_string` and `new_string` are the same"]),
            (edit("", "x"), "conflict", &["`f` exists", "`write_file`"]),
            (edit(" \n", "x"), "conflict", &["`old_string` is not in it"]),
            (at("data"), "invalid-arguments", &["`data` is not UTF-8 text"]),
            (at("nowhere"), "not-found", &["there is no file `nowhere`", "leave `old_string` empty"]),
            (at("src"), "invalid-arguments", &["`src` is a directory"]),
            (at("/etc/hostname"), "denied", &["--grant edit:fs-read=/etc/hostname"]),
        ],
    )
    .await;
    assert_eq!(bench.content("f"), content);
}

#[tokio::test]
async fn an_empty_old_text_makes_a_new_file() {
    let bench = bench();
    let said = bench.text("edit", json!({"path": "deep/new", "old_string": "", "new_string": "1\n"})).await;
    assert_eq!(said, "Created `deep/new`");
    assert_eq!(bench.content("deep/new"), "1\n");
}

#[tokio::test]
async fn the_preview_shows_what_the_call_then_does_and_does_nothing_itself() {
    let bench = bench();
    bench.file("f", "a\r\nb\r\nc\r\n");
    for (arguments, path, proposed) in [
        (edit("b", "x"), "f", "a\r\nx\r\nc\r\n"),
        (json!({"path": "new", "old_string": "", "new_string": "1\n"}), "new", "1\n"),
    ] {
        let before = std::fs::read(bench.root().join(path)).ok();
        let shown = bench.preview("edit", arguments.clone()).await.expect("it is asked");
        let Some(Confirmation::Edit { path: shown_path, unified, proposed: shown }) = shown else {
            panic!("{shown:?}")
        };
        assert_eq!((shown_path.as_str(), shown.as_str()), (path, proposed));
        assert_eq!(std::fs::read(bench.root().join(path)).ok(), before);

        let output = bench.call("edit", arguments).await.expect("it is done");
        assert_eq!(bench.content(path), proposed);
        assert_eq!(output.display, Some(Display::Difference { path: path.to_owned(), unified }));
    }
    // What cannot be done is said before anybody is asked.
    assert!(bench.preview("edit", edit("nowhere", "x")).await.is_err());
}

#[tokio::test]
async fn edit_content_can_be_replaced_by_the_user() {
    let bench = bench();
    bench.file("f", "a\r\nb\r\n");
    for (asked, path, theirs) in [
        (edit("b", "x"), "f", "a\r\nmine\r\nx\r\n"),
        (json!({"path": "new", "old_string": "", "new_string": "1\n"}), "new", "2\n"),
    ] {
        let revised = bench.revise("edit", asked, theirs).await.expect("it can be changed");
        bench.call("edit", json!(revised)).await.expect("it is done");
        assert_eq!(bench.content(path), theirs);
    }
}

/// Calls that run at once all read the file before one of them has written it. Each that says it was done was done,
/// and each other says that the file changed.
#[tokio::test]
async fn a_file_that_changed_after_it_was_read_is_not_overwritten() {
    const CALLS: usize = 4;
    let bench = bench();
    let mut conflicts = 0;
    for round in 0.. {
        assert!(round < 100, "calls at once never met");
        bench.file("f", (0..CALLS).map(|line| format!("line {line};\n")).collect::<String>());
        let call =
            async |line: usize| bench.call("edit", edit(&format!("line {line};"), &format!("done {line};"))).await;
        let ended: [_; CALLS] = tokio::join!(call(0), call(1), call(2), call(3)).into();
        let after = bench.content("f");
        for (line, ended) in ended.into_iter().enumerate() {
            assert_eq!(after.contains(&format!("done {line};\n")), ended.is_ok(), "{ended:?} left {after}");
            if let Err(error) = ended {
                assert!(error.to_string().contains("changed after it was read"), "{error}");
                conflicts += 1;
            }
        }
        if conflicts > 0 {
            break;
        }
    }
    // The next call reads what is there now.
    bench.file("f", "line 0;\n");
    assert!(bench.text("edit", edit("line 0;", "done 0;")).await.starts_with("Edited"));
}

#[tokio::test]
async fn edit_without_a_grant_to_write_is_denied_with_what_would_allow_it() {
    let bench = Bench::built_in("edit", &["fs-read=."]);
    bench.file("f", "a\n");
    let error = bench.call("edit", edit("a", "b")).await.expect_err("it may not").to_string();
    assert!(error.contains("`edit` has no fs-write grant"), "{error}");
    let narrow = Bench::built_in("edit", &["fs-read=.", "fs-write=docs"]);
    narrow.file("f", "a\n");
    let (case, words) = failure(&narrow, "edit", edit("a", "b")).await;
    assert!(case == "denied" && words.contains("--grant edit:fs-write="), "{case}: {words}");
    assert_eq!((bench.content("f"), narrow.content("f")), ("a\n".to_owned(), "a\n".to_owned()));
}
