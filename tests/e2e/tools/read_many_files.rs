//! What `read_many_files` promises.

use host_message::OutputPart;
use host_tests::Bench;
use serde_json::json;

use super::refuses;

fn bench() -> Bench {
    Bench::built_in("read_many_files", &["fs-read=."])
}

#[tokio::test]
async fn read_many_files_shows_each_file_under_its_path_in_order() {
    let bench = bench();
    bench.file(".git/x.txt", "").file(".gitignore", "out/\n").file("out/x.txt", "ignored\n");
    bench.file("b.txt", "2\n").file("a.txt", "1").file("c.md", "3\n").file("a/z.txt", "0\n").file("data.txt", b"\0");
    let all = "--- a/z.txt ---\n0\n--- a.txt ---\n1\n--- b.txt ---\n2\n(skipped: data.txt (binary))\n";
    for (arguments, text) in [
        (json!({"include": ["*.txt"]}), all.to_owned()),
        (json!({"include": ["*.txt", "b.*"]}), all.to_owned()),
        (json!({"include": ["*.txt"], "exclude": ["a/**", "data.txt"]}), "--- a.txt ---\n1\n--- b.txt ---\n2\n".into()),
        (json!({"include": ["b.txt", "c.md"]}), "--- b.txt ---\n2\n--- c.md ---\n3\n".into()),
        (json!({"include": ["out/*"], "respect_ignore": false}), "--- out/x.txt ---\nignored\n".into()),
        (json!({"include": ["out/*", "*.zip"]}), "No files to read match `out/*`, `*.zip`\n".into()),
    ] {
        assert_eq!(bench.text("read_many_files", arguments.clone()).await, text, "{arguments}");
    }
}

#[tokio::test]
async fn read_many_files_cuts_and_reports_what_does_not_fit() {
    let bench = bench();
    bench.file("lines/a", "x\n".repeat(2_500));
    let text = bench.text("read_many_files", json!({"include": ["lines/*"]})).await;
    assert!(text.ends_with("x\n(cut: 2000 of 2500 lines; read on with `read_file`)\n"), "{text}");

    let wide = format!("{}\n", "é".repeat(1_999)).repeat(150);
    bench.file("wide/a", &wide).file("wide/b", &wide).file("wide/c", "never\n");
    let text = bench.text("read_many_files", json!({"include": ["wide/*"]})).await;
    assert!(text.contains("(cut here)\n(stopped in `wide/b` at 400000 characters in all"), "{}", text.len());
    assert!(!text.contains("never") && text.chars().count() < 401_000);

    bench.file("large/a", "").file("large/b", "small\n");
    let file = std::fs::File::options().write(true).open(bench.root().join("large/a")).expect("it is there");
    file.set_len((20 << 20) + 1).expect("grown");
    let text = bench.text("read_many_files", json!({"include": ["large/*"]})).await;
    assert_eq!(text, "--- large/b ---\nsmall\n(1 over 20 MiB, not read)\n");
}

#[tokio::test]
async fn images_come_only_when_a_glob_names_them() {
    let bench = bench();
    bench.file("a.png", b"\x89PNG\r\n\x1a\n").file("b.txt", "text\n");
    let check = async |glob: &str, text: &str, images: usize| {
        let output = bench.call("read_many_files", json!({"include": [glob]})).await.expect("it is read");
        let data = output.content.iter().filter(|part| matches!(part, OutputPart::Data(_))).count();
        assert_eq!((host_tests::text(&output).as_str(), data), (text, images), "{glob}");
    };
    check("*", "--- b.txt ---\ntext\n(skipped: a.png (image/png))\n", 0).await;
    check("*.png", "--- a.png ---\n(image/png, 8 bytes)\n", 1).await;
}

#[tokio::test]
async fn read_many_files_invalid_arguments_are_reported_in_words() {
    let says: &[&str] = &["invalid glob `[a`"];
    refuses(&bench(), "read_many_files", [(json!({"include": ["[a"]}), "invalid-arguments", says)]).await;
    refuses(&bench(), "read_many_files", [(json!({"include": []}), "invalid-arguments", &["names no files"])]).await;
}
