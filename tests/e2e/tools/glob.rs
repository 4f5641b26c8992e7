//! What `glob` promises.

use std::fs::File;
use std::time::{Duration, SystemTime};

use host_tests::Bench;
use serde_json::json;

use super::refuses;

const HOUR: Duration = Duration::from_secs(60 * 60);

fn bench() -> Bench {
    let bench = Bench::built_in("glob", &["fs-read=.,!**/*.pem"]);
    bench.file(".git/x.rs", "").file(".gitignore", "out/\n").file("out/x.rs", "");
    bench
}

/// Makes a file that was last changed so long ago.
fn aged(bench: &Bench, path: &str, age: Duration) {
    // A fixed moment: what counts is how far the files' times lie apart.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    bench.file(path, "");
    let file = File::options().write(true).open(bench.root().join(path)).expect("it is there");
    file.set_modified(now - age).expect("set");
}

#[tokio::test]
async fn the_newest_within_a_day_come_first_and_the_rest_by_path() {
    let bench = bench();
    for (path, hours) in [("z.rs", 0), ("m.rs", 23), ("src/k.rs", 2), ("b.rs", 25), ("a/q.rs", 900), ("a.rs", 30)] {
        aged(&bench, path, HOUR * hours);
    }
    let found = bench.text("glob", json!({"pattern": "*.rs"})).await;
    assert_eq!(
        found, "Found 6 files matching `*.rs` in `.`\nz.rs\nsrc/k.rs\nm.rs\na.rs\na/q.rs\nb.rs\n",
        "two hours, a day less one, then by path"
    );
}

#[tokio::test]
async fn a_glob_finds_what_it_names() {
    let bench = bench();
    for path in ["Readme.MD", "src/lib.rs", "src/deep/x.rs", "src/deep/X.toml", ".github/ci.yml", "web/a.ts"] {
        aged(&bench, path, Duration::ZERO);
    }
    let root = bench.root().display().to_string();
    for (arguments, paths) in [
        (json!({"pattern": "*.rs"}), &["src/deep/x.rs", "src/lib.rs"][..]),
        (json!({"pattern": "src/*.rs"}), &["src/lib.rs"]),
        (json!({"pattern": "./src/*.rs"}), &["src/lib.rs"]),
        (json!({"pattern": "src/**/*.rs"}), &["src/deep/x.rs", "src/lib.rs"]),
        (json!({"pattern": "**/*.{rs,ts}"}), &["src/deep/x.rs", "src/lib.rs", "web/a.ts"]),
        (json!({"pattern": "*.md"}), &["Readme.MD"]),
        (json!({"pattern": "*.md", "case_sensitive": true}), &[]),
        (json!({"pattern": "x.*"}), &["src/deep/X.toml", "src/deep/x.rs"]),
        (json!({"pattern": "x.*", "case_sensitive": true}), &["src/deep/x.rs"]),
        (json!({"pattern": "*.yml"}), &[".github/ci.yml"]),
        (json!({"pattern": "deep/*", "path": "src"}), &["src/deep/X.toml", "src/deep/x.rs"]),
        (json!({"pattern": "*", "path": format!("{root}/web")}), &["web/a.ts"]),
        (json!({"pattern": "!**/*.*"}), &[]),
        (json!({"pattern": "!*.rs", "path": "src"}), &["src/deep/X.toml"]),
        (json!({"pattern": "*.rs", "path": "src/lib.rs"}), &["src/lib.rs"]),
        (json!({"pattern": "out/*"}), &[]),
        (json!({"pattern": "out/*", "respect_ignore": false}), &["out/x.rs"]),
        (json!({"pattern": ".git/**", "respect_ignore": false}), &[]),
        (json!({"pattern": "[x-z].rs"}), &["src/deep/x.rs"]),
    ] {
        let found = bench.text("glob", arguments.clone()).await;
        let mut lines = found.lines();
        let headline = lines.next().unwrap_or_default();
        let counted = match paths.len() {
            0 => "No files found matching `".to_owned(),
            1 => "Found 1 file matching `".to_owned(),
            count => format!("Found {count} files matching `"),
        };
        assert!(headline.starts_with(&counted), "{arguments}: {found}");
        let mut listed: Vec<_> = lines.collect();
        listed.sort_unstable();
        assert_eq!(listed, paths, "{arguments}: {found}");
    }
}

#[tokio::test]
async fn glob_counts_what_the_grant_excludes_and_cuts_a_long_list_with_its_total() {
    let bench = bench();
    bench.file("key.pem", "");
    // The same for each glob: otherwise a model could find out the name.
    for pattern in ["*.pem", "k*", "*.zip"] {
        let found = bench.text("glob", json!({"pattern": pattern})).await;
        assert_eq!(found, format!("No files found matching `{pattern}` in `.`\n(1 left out by the grant)\n"));
    }
    for number in 0..1_234 {
        bench.file(&format!("many/{number:04}"), "");
    }
    let found = bench.text("glob", json!({"pattern": "many/*"})).await;
    assert!(found.starts_with("Found 1234 files matching `many/*` in `.`\nmany/"), "{found}");
    assert!(found.contains("\n(cut: 234 more files, narrow the pattern)\n"), "{found}");
    assert_eq!(found.lines().filter(|line| line.starts_with("many/")).count(), 1_000);
}

#[tokio::test]
async fn glob_invalid_arguments_are_reported_in_words() {
    refuses(
        &bench(),
        "glob",
        [
            (json!({"pattern": "[a"}), "invalid-arguments", &["invalid glob `[a`", "unclosed"]),
            (json!({"pattern": "{a,b"}), "invalid-arguments", &["invalid glob `{a,b`"]),
            (json!({"pattern": "*", "path": "nowhere"}), "not-found", &["nothing at `nowhere`"]),
            (json!({"pattern": "*", "path": ".."}), "denied", &["fs-read", "--grant glob:fs-read="]),
        ],
    )
    .await;
}
