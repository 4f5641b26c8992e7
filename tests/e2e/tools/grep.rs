//! What `grep` promises.

use std::fmt::Write;

use host_tests::Bench;
use serde_json::{Value, json};

use super::refuses;

fn bench() -> Bench {
    Bench::built_in("grep", &["fs-read=.,!**/*.pem"])
}

/// What is found without the first line, and that line.
async fn search(bench: &Bench, arguments: Value) -> (String, String) {
    let found = bench.text("grep", arguments).await;
    let (headline, rest) = found.split_once('\n').unwrap_or((&found, ""));
    (headline.to_owned(), rest.to_owned())
}

#[tokio::test]
async fn grep_each_option_finds_what_it_describes() {
    let bench = bench();
    bench.file(".git/HEAD", "needle\n").file(".gitignore", "out/\n").file("out/x", "needle\n");
    bench.file("a.rs", "fn needle() {}\nlet Needle = 1;\n// nothing\n").file("src/b.rs", "needle needle\nn..dle\n");
    bench.file("src/c.md", "a needle").file(".github/d.yml", "needle\n").file("key.pem", "needle\n");
    bench.file("dos.txt", "one needle\r\ntwo\r\n").file("program", b"needle\n\0\x01needle\n");
    let all = ".github/d.yml:1: needle\na.rs:1: fn needle() {}\ndos.txt:1: one needle\nsrc/b.rs:1: needle needle\n\
               src/c.md:1: a needle\n";
    let denied = "(1 file: left out by the grant)\n";
    for (arguments, found) in [
        (json!({"pattern": "needle"}), format!("{all}{denied}")),
        (json!({"pattern": "needle", "path": "src"}), "src/b.rs:1: needle needle\nsrc/c.md:1: a needle\n".to_owned()),
        (json!({"pattern": "needle", "path": "src/c.md"}), "src/c.md:1: a needle\n".to_owned()),
        (json!({"pattern": "NEEDLE", "path": "a.rs"}), String::new()),
        (
            json!({"pattern": "NEEDLE", "path": "a.rs", "ignore_case": true}),
            "a.rs:1: fn needle() {}\na.rs:2: let Needle = 1;\n".to_owned(),
        ),
        (
            json!({"pattern": "n..dle", "path": "src", "include": "*.rs"}),
            "src/b.rs:1: needle needle\nsrc/b.rs:2: n..dle\n".to_owned(),
        ),
        (json!({"pattern": "n..dle", "path": "src", "fixed_strings": true}), "src/b.rs:2: n..dle\n".to_owned()),
        (json!({"pattern": "needle()", "path": "a.rs", "fixed_strings": true}), "a.rs:1: fn needle() {}\n".to_owned()),
        (json!({"pattern": "needle", "include": "*.{md,yml}"}), {
            format!(".github/d.yml:1: needle\nsrc/c.md:1: a needle\n{denied}")
        }),
        (json!({"pattern": "needle", "path": "src", "include": "!*.rs"}), "src/c.md:1: a needle\n".to_owned()),
        (json!({"pattern": "needle", "path": "out", "respect_ignore": false}), "out/x:1: needle\n".to_owned()),
        (json!({"pattern": "needle$", "path": "dos.txt"}), "dos.txt:1: one needle\n".to_owned()),
        (json!({"pattern": "^two$", "path": "dos.txt"}), "dos.txt:2: two\n".to_owned()),
        (json!({"pattern": r"\bneedle\b.*\{", "path": "a.rs"}), "a.rs:1: fn needle() {}\n".to_owned()),
        (json!({"pattern": "needle", "path": "program"}), String::new()),
        (json!({"pattern": "needle", "type": "rust"}), {
            format!("a.rs:1: fn needle() {{}}\nsrc/b.rs:1: needle needle\n{denied}")
        }),
        (json!({"pattern": "needle", "type": "rust", "include": "src/*"}), {
            format!("src/b.rs:1: needle needle\n{denied}")
        }),
        (json!({"pattern": r"needle needle\nn", "multiline": true}), {
            format!("src/b.rs:1: needle needle\nsrc/b.rs:2: n..dle\n{denied}")
        }),
        (json!({"pattern": "needle\r\ntwo", "multiline": true, "fixed_strings": true, "path": "dos.txt"}), {
            "dos.txt:1: one needle\ndos.txt:2: two\n".to_owned()
        }),
    ] {
        let (headline, rest) = search(&bench, arguments.clone()).await;
        assert_eq!(rest, found, "{arguments}");
        // A match over several lines is one, and those here have two.
        let lines = found.lines().filter(|line| !line.starts_with('(')).count();
        let matches = if arguments["multiline"] == true { lines / 2 } else { lines };
        let counted = match matches {
            0 => "No matches found".to_owned(),
            1 => "Found 1 match in 1 file".to_owned(),
            _ => format!("Found {matches} matches in "),
        };
        assert!(headline.starts_with(&counted), "{arguments}: {headline}");
    }
}

#[tokio::test]
async fn files_and_counts_come_without_the_lines() {
    let bench = bench();
    bench.file("b", "x\nx x\ny\n").file("a", "x\n").file("c", "y\n").file("d/e", "x");
    for (output, found) in [
        ("files", "Found matches in 3 files for `x`\na\nb\nd/e\n"),
        ("count", "Found 4 matches in 3 files for `x`\na: 1\nb: 2\nd/e: 1\n"),
    ] {
        assert_eq!(bench.text("grep", json!({"pattern": "x", "output": output})).await, found);
    }
}

#[tokio::test]
async fn context_shows_the_lines_around_and_marks_the_gaps() {
    let bench = bench();
    bench.file("a", "1\n2\nx3\n4\n5\n6\n7\nx8\nx9\n10\n").file("b", "x");
    let (headline, found) = search(&bench, json!({"pattern": "x", "context": 1})).await;
    assert!(headline.starts_with("Found 4 matches in 2 files"), "{headline}");
    assert_eq!(found, "a-2- 2\na:3: x3\na-4- 4\n--\na-7- 7\na:8: x8\na:9: x9\na-10- 10\n--\nb:1: x\n");
    for (arguments, expected) in [
        (json!({"before": 1}), "a-2- 2\na:3: x3\n--\na-7- 7\na:8: x8\na:9: x9\n--\nb:1: x\n"),
        (json!({"after": 1}), "a:3: x3\na-4- 4\n--\na:8: x8\na:9: x9\na-10- 10\n--\nb:1: x\n"),
        (json!({"context": 1, "after": 0}), "a-2- 2\na:3: x3\n--\na-7- 7\na:8: x8\na:9: x9\n--\nb:1: x\n"),
    ] {
        let mut call = json!({"pattern": "x"});
        let options = arguments.as_object().expect("an object").clone();
        call.as_object_mut().expect("an object").extend(options);
        assert_eq!(search(&bench, call).await.1, expected, "{arguments}");
    }
}

#[tokio::test]
async fn no_match_leaves_its_line_or_its_file() {
    let bench = bench();
    // In the order of a walk the end of one file and the start of the next would make the word.
    bench.file("a", "foo").file("b", "bar\nfoo").file("c", "").file("d", "bar").file("e", "foo\nbar\n");
    assert!(search(&bench, json!({"pattern": "foobar"})).await.0.starts_with("No matches"));
    assert!(search(&bench, json!({"pattern": r"foo\s*bar"})).await.0.starts_with("No matches"));
    assert_eq!(search(&bench, json!({"pattern": "^bar$"})).await.1, "b:1: bar\nd:1: bar\ne:2: bar\n");
    assert_eq!(search(&bench, json!({"pattern": "foo$"})).await.1, "a:1: foo\nb:2: foo\ne:1: foo\n");
}

#[tokio::test]
async fn grep_stops_at_a_hundred_matches_and_reports_how_to_get_the_rest() {
    let bench = bench();
    for file in ["c", "a", "b"] {
        bench.file(file, (0..90).map(|number| format!("{file}{number} needle\n")).collect::<String>());
    }
    let (headline, found) = search(&bench, json!({"pattern": "needle"})).await;
    assert!(headline.contains("first 100 matches") && headline.contains("go on with `offset: 100`"), "{headline}");
    assert!(headline.contains("`output: \"count\"`"), "{headline}");
    let lines: Vec<_> = found.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[99]), (100, "a:1: a0 needle", "b:10: b9 needle"));
    // What it says works.
    let (headline, _) = search(&bench, json!({"pattern": "needle", "output": "count"})).await;
    assert!(headline.starts_with("Found 270 matches in 3 files"), "{headline}");
    let (headline, found) = search(&bench, json!({"pattern": "needle", "offset": 100})).await;
    assert!(headline.starts_with("Found matches 101 to 200 in 2 files") && headline.contains("`offset: 200`"));
    assert!(found.starts_with("b:11: b10 needle\n") && found.ends_with("c:20: c19 needle\n"), "{found}");
    let (headline, found) = search(&bench, json!({"pattern": "needle", "offset": 200})).await;
    assert!(headline.starts_with("Found matches 201 to 270, the last, in 1 file") && found.lines().count() == 70);
    let (headline, _) = search(&bench, json!({"pattern": "needle", "offset": 270})).await;
    assert_eq!(headline, "No more matches for `needle`: 270 matches in all, and `offset` is 270");
    let (headline, found) = search(&bench, json!({"pattern": "needle", "limit": 1})).await;
    assert!(headline.contains("go on with `offset: 1`") && found == "a:1: a0 needle\n", "{headline}");
    for output in ["files", "count"] {
        let arguments = json!({"pattern": "needle", "output": output, "limit": 1, "offset": 1});
        let (_, found) = search(&bench, arguments).await;
        let (file, cut) = found.split_once('\n').expect("two lines");
        assert!(file.starts_with('b') && cut.contains("1 more file not listed: go on with `offset: 2`"), "{found}");
    }

    // A hundred and not one more is all of it.
    bench.file("only/x", "needle\n".repeat(100));
    let (headline, _) = search(&bench, json!({"pattern": "needle", "path": "only"})).await;
    assert!(headline.starts_with("Found 100 matches in 1 file"), "{headline}");
}

#[tokio::test]
async fn every_match_is_found_once_wherever_the_batches_end() {
    let bench = bench();
    // More small files than a batch has, and one file that is larger than a batch; half of them end in the middle of
    // a line.
    for number in 0..4_500 {
        let end = if number % 2 == 0 { "\n" } else { "" };
        bench.file(&format!("{}/{number}", number % 10), format!("file {number}\nneedle {number}{end}"));
    }
    let mut large = String::new();
    for number in 0..100_000 {
        _ = writeln!(large, "line {number} {}", if number % 100 == 0 { "needle" } else { "straw of the hay" });
    }
    assert!(large.len() > 2 << 20);
    bench.file("large", &large);
    let (headline, found) = search(&bench, json!({"pattern": "needle", "output": "count"})).await;
    assert!(headline.starts_with("Found 5500 matches in 4501 files"), "{headline}");
    assert!(found.starts_with("0/0: 1\n0/10: 1\n"), "{found}");
    let (_, found) = search(&bench, json!({"pattern": "^needle 4321$"})).await;
    assert_eq!(found, "1/4321:2: needle 4321\n");
    let (_, found) = search(&bench, json!({"pattern": "line 99900 needle", "context": 1})).await;
    assert_eq!(
        found,
        "large-99900- line 99899 straw of the hay\nlarge:99901: line 99900 needle\nlarge-99902- line 99901 straw of the hay\n"
    );
}

#[tokio::test]
async fn grep_reports_what_was_not_searched() {
    let bench = bench();
    bench.file("small", "needle\n").file("large", "needle\n");
    let file = std::fs::File::options().write(true).open(bench.root().join("large")).expect("it is there");
    file.set_len((20 << 20) + 1).expect("grown");
    let (_, found) = search(&bench, json!({"pattern": "needle"})).await;
    assert_eq!(found, "small:1: needle\n(1 file: over 20 MiB, not searched)\n");
}

#[tokio::test]
async fn a_long_line_is_cut_around_its_match() {
    let bench = bench();
    bench.file("wide", format!("{}needle{}\n", "a".repeat(10_000), "b".repeat(10_000)));
    let (_, found) = search(&bench, json!({"pattern": "needle"})).await;
    assert!(found.contains("aneedleb") && found.contains("[line cut]") && found.len() < 1_000, "{found}");
}

#[tokio::test]
async fn grep_invalid_arguments_are_reported_with_the_reason() {
    let bench = bench();
    bench.file("a", "x\n");
    refuses(
        &bench,
        "grep",
        [
            (json!({"pattern": "a("}), "invalid-arguments", &["a(", "unclosed group"]),
            (json!({"pattern": "[z-a]"}), "invalid-arguments", &["[z-a]", "range"]),
            (json!({"pattern": "(?=x)"}), "invalid-arguments", &["(?=x)", "look-around"]),
            (json!({"pattern": r"(x)\1"}), "invalid-arguments", &["backreferences"]),
            (json!({"pattern": "((x{500}){500}){500}"}), "invalid-arguments", &["too large"]),
            (json!({"pattern": "a\nb"}), "invalid-arguments", &["line break", "set `multiline`"]),
            (json!({"pattern": "a(", "multiline": true}), "invalid-arguments", &["a(", "unclosed group"]),
            (json!({"pattern": "x", "type": "rs"}), "invalid-arguments", &["unknown `type` `rs`", "`rust`"]),
            (json!({"pattern": "x", "include": "[a"}), "invalid-arguments", &["invalid glob `[a`"]),
            (json!({"pattern": "x", "path": "nowhere"}), "not-found", &["nothing at `nowhere`"]),
            (json!({"pattern": "x", "path": "/etc"}), "denied", &["--grant grep:fs-read=/etc"]),
        ],
    )
    .await;
}
