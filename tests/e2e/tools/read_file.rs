//! What `read_file` promises.

use std::fs::File;

use host_message::{InlineData, OutputPart};
use host_tests::Bench;
use host_tests::host::Host;
use serde_json::json;

use super::refuses;

/// The largest file that is read.
const LARGEST: usize = 20 << 20;

fn bench() -> Bench {
    Bench::built_in("read_file", &["fs-read=."])
}

fn lines(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(|number| format!("line {number}\n")).collect()
}

/// The lines as they are shown.
fn numbered(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(|number| format!("{number}\tline {number}\n")).collect()
}

#[tokio::test]
async fn read_file_part_of_a_file_names_its_lines_and_how_to_read_on() {
    let bench = bench();
    bench.file("long", lines(1..=2_500)).file("short", "a\nb\nc").file("empty", "").file("dos", "a\r\nb\r\n");
    for (arguments, note, shown) in [
        (json!({"path": "short"}), "", "1\ta\n2\tb\n3\tc"),
        (json!({"path": "short", "limit": 2}), "(lines 1-2 of 3; to read on, pass offset: 3)\n", "1\ta\n2\tb\n"),
        (json!({"path": "short", "offset": 3}), "(lines 3-3 of 3)\n", "3\tc"),
        (json!({"path": "short", "offset": 2, "limit": 1}), "(lines 2-2 of 3; to read on, pass offset: 3)\n", "2\tb\n"),
        (json!({"path": "empty"}), "(`empty` is empty)\n", ""),
        (json!({"path": "dos"}), "(lines end in CRLF)\n", "1\ta\n2\tb\n"),
        (json!({"path": "long"}), "(lines 1-2000 of 2500; to read on, pass offset: 2001)\n", &numbered(1..=2_000)),
        (json!({"path": "long", "offset": 2_001}), "(lines 2001-2500 of 2500)\n", &numbered(2_001..=2_500)),
        (
            json!({"path": "long", "offset": 10, "limit": 9_999}),
            "(lines 10-2009 of 2500; to read on, pass offset: 2010)\n",
            &numbered(10..=2_009),
        ),
    ] {
        assert_eq!(bench.text("read_file", arguments.clone()).await, format!("{note}{shown}"), "{arguments}");
    }
}

#[tokio::test]
async fn read_file_long_line_is_cut_between_characters_and_marked() {
    let bench = bench();
    bench.file("wide", format!("{}\nend\n", "é".repeat(2_001))).file("fits", "é".repeat(2_000));
    let text = bench.text("read_file", json!({"path": "wide"})).await;
    assert_eq!(text, format!("1\t{}… [line cut after 2000 characters]\n2\tend\n", "é".repeat(2_000)));
    assert_eq!(bench.text("read_file", json!({"path": "fits"})).await, format!("1\t{}", "é".repeat(2_000)));
}

#[tokio::test]
async fn a_file_of_the_largest_size_is_read_and_one_byte_more_is_refused() {
    let bench = bench();
    bench.file("largest", "0123456789abcde\n".repeat(LARGEST / 16));
    let text = bench.text("read_file", json!({"path": "largest", "offset": LARGEST / 16})).await;
    assert_eq!(text, "(lines 1310720-1310720 of 1310720)\n1310720\t0123456789abcde\n");

    bench.file("larger", "");
    let file = File::options().write(true).open(bench.root().join("larger")).expect("it is there");
    file.set_len(LARGEST as u64 + 1).expect("grown");
    let says: &[&str] = &["`larger` has 20971521 bytes", "20971520", "`grep`"];
    refuses(&bench, "read_file", [(json!({"path": "larger"}), "invalid-arguments", says)]).await;
}

#[tokio::test]
async fn images_and_pdfs_come_as_data_whatever_they_are_called() {
    let bench = bench();
    bench.file("image.txt", b"\x89PNG\r\n\x1a\n").file("paper", "%PDF-1.7\n").file("page.png", "<html>");
    for (path, mime_type, base64, line) in [
        ("image.txt", "image/png", "iVBORw0KGgo=", "image.txt (image/png, 8 bytes)"),
        ("paper", "application/pdf", "JVBERi0xLjcK", "paper (application/pdf, 9 bytes)"),
    ] {
        let output = bench.call("read_file", json!({"path": path})).await.expect("it is read");
        let data = InlineData { mime_type: mime_type.to_owned(), base64: base64.to_owned() };
        assert_eq!(output.content, [OutputPart::Text(line.to_owned()), OutputPart::Data(data)]);
    }
    assert_eq!(bench.text("read_file", json!({"path": "page.png"})).await, "1\t<html>");

    let mut largest = b"\x89PNG\r\n\x1a\n".to_vec();
    largest.resize(LARGEST, 0);
    bench.file("largest.png", largest);
    let output = bench.call("read_file", json!({"path": "largest.png"})).await.expect("it is read whole");
    let OutputPart::Data(data) = &output.content[1] else { panic!("{output:?}") };
    assert_eq!(data.base64.len(), LARGEST.div_ceil(3) * 4);
}

#[tokio::test]
async fn read_file_path_that_cannot_be_read_is_reported_as_what_it_is() {
    let bench = bench();
    bench.file(".git/HEAD", "").file(".gitignore", "*.log\n").file("x.log", "hot\n").file("src/a", "1 line\n");
    bench.file("program", b"\x7fELF\x02\x01\0\0").file("x.zip", b"PK\x03\x04\0\0");
    refuses(
        &bench,
        "read_file",
        [
            (json!({"path": "nowhere"}), "not-found", &["there is no file `nowhere`"]),
            (json!({"path": "src"}), "invalid-arguments", &["`src` is a directory", "`ls`"]),
            (json!({"path": "program"}), "invalid-arguments", &["`program` is a binary file of 8 bytes"]),
            (json!({"path": "x.zip"}), "invalid-arguments", &["`x.zip` is a binary file of 6 bytes"]),
            (json!({"path": "x.log"}), "invalid-arguments", &["`x.log`", "ignore rules", "`respect_ignore: false`"]),
            (json!({"path": "src/a", "offset": 2}), "invalid-arguments", &["`offset` 2", "`src/a` has 1 line"]),
            (json!({"path": "src/a", "offset": 0}), "invalid-arguments", &["count from 1"]),
            (json!({"path": "/etc/hostname"}), "denied", &["--grant read_file:fs-read=/etc/hostname"]),
        ],
    )
    .await;
    // What the refusal says works.
    assert_eq!(bench.text("read_file", json!({"path": "x.log", "respect_ignore": false})).await, "1\thot\n");
}

#[tokio::test]
async fn read_file_that_is_not_there_has_the_nearest_names() {
    let bench = bench();
    bench.file("src/config.rs", "").file("tests/main.rs", "").file("src/main.rs", "");
    refuses(
        &bench,
        "read_file",
        [
            (
                json!({"path": "src/confg.rs"}),
                "not-found",
                &["there is no file `src/confg.rs`; there is `src/config.rs`"],
            ),
            (json!({"path": "main.rs"}), "not-found", &["there are `src/main.rs` and `tests/main.rs`"]),
        ],
    )
    .await;
}

#[test]
fn read_file_lines_have_no_numbers_where_the_user_wants_none() {
    let call = ["tool", "call", "read_file", r#"{"path": "short"}"#];
    for (setting, shown) in [("true", "1\ta\n2\tb\n"), ("false", "a\nb\n")] {
        let settings = format!("[plugins.read_file]\nconfig.line_numbers = {setting}\n");
        let host = Host::new(call).file("short", "a\nb\n").home_file(".config/host/config.toml", &settings);
        let ended = host.run();
        assert!(ended.code == Some(0) && ended.stdout.ends_with(shown), "{setting}: {ended:?}");
    }
}
