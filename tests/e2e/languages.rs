//! Plugins in other languages: begun by `host plugin new`, built by `host plugin build`, and the same tool in each
//! gives the same answers.

use std::sync::Arc;

use host_message::Output;
use host_plugin::{CallError, Failure};
use host_tests::host::Host;
use host_tests::languages::{LANGUAGES, Language, example, load};
use host_tests::{Bench, text};
use serde_json::{Value, json};

mod adopt;
mod all;
mod baseline;
mod building;
mod goroutines;
mod packages;

/// The example of a language with these grants, and a workspace.
fn bench(language: Language, grants: &[&str]) -> Bench {
    Bench::with(load(&example(language)), grants)
}

async fn counted(language: Language, content: &[u8], arguments: Value) -> Result<Output, CallError> {
    let bench = bench(language, &["fs-read=."]);
    bench.file("some.txt", content);
    bench.call("word_count", arguments).await
}

/// What the tool has to say of a text, by another way than any of the examples goes.
fn expected(content: &str, top: usize) -> (String, Value) {
    let words: Vec<String> = content
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut counts: Vec<(usize, &String)> = Vec::new();
    for word in &words {
        match counts.iter_mut().find(|(_, known)| *known == word) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, word)),
        }
    }
    counts.sort_by(|(one, a), (other, b)| other.cmp(one).then(a.cmp(b)));
    counts.truncate(top);
    let lines = content.split_inclusive('\n').count();
    let mut said = format!("{lines} lines, {} words, {} bytes", words.len(), content.len());
    for (count, word) in &counts {
        said.push_str(&format!("\n{count} {word}"));
    }
    let top: Vec<Value> = counts.iter().map(|(count, word)| json!({"word": word, "count": count})).collect();
    (said, json!({"lines": lines, "words": words.len(), "bytes": content.len(), "top": top}))
}

#[tokio::test]
async fn the_same_tool_gives_the_same_answer_in_every_language() {
    let long = "One two three two ONE one\n".repeat(5_000);
    let many: String = (0..2_000u32).map(|i| format!("w{} ", char::from(b'a' + (i % 26) as u8))).collect();
    for language in LANGUAGES {
        for (content, arguments, top) in [
            ("Hello world, hello\nyou and The world", json!({"path": "some.txt"}), 10),
            ("Hello world, hello\nyou and The world\n", json!({"path": "some.txt", "top": 2}), 2),
            ("", json!({"path": "some.txt"}), 10),
            ("\n", json!({"path": "some.txt"}), 10),
            ("\n\r\n x", json!({"path": "some.txt", "top": 0}), 0),
            ("straße it's naïve 日本語 🦀 b2b \u{feff}Kelvin K", json!({"path": "some.txt", "top": 100}), 100),
            ("b a c b a c\0zero", json!({"path": "./some.txt", "top": 3}), 3),
            ("a ab abc b a ab", json!({"path": "some.txt", "top": 1_000_000}), 1_000_000),
            (&long, json!({"path": "some.txt"}), 10),
            (&many, json!({"path": "some.txt", "top": 7}), 7),
        ] {
            let output = counted(language, content.as_bytes(), arguments).await;
            let output = output.unwrap_or_else(|error| panic!("{}: {error}", language.name));
            let (said, structured) = expected(content, top);
            assert_eq!(text(&output), said, "{}", language.name);
            assert_eq!(output.structured, Some(structured), "{}", language.name);
        }
    }
}

#[tokio::test]
async fn a_failure_has_the_same_case_in_every_language() {
    for language in LANGUAGES {
        let name = language.name;
        let error = counted(language, b"", json!({"path": "none.txt"})).await.expect_err("it is not there");
        assert!(
            matches!(&error, CallError::Failure(Failure::NotFound(what)) if what.contains("none.txt")),
            "{name}: {error:?}"
        );

        // Bytes that are none of UTF-8: a lone continuation, an overlong form, a surrogate, past the end, cut short.
        for bytes in [
            &b"\xff\xfe"[..],
            b"a\x80",
            b"\xc0\xaf",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xf5\x80\x80\x80",
            b"ab\xe2\x82",
        ] {
            let error = counted(language, bytes, json!({"path": "some.txt"})).await.expect_err("it is not text");
            assert!(
                matches!(&error, CallError::Failure(Failure::InvalidArguments(why)) if why.contains("some.txt")),
                "{name}: {bytes:?}: {error:?}"
            );
        }

        let error = counted(language, b"", json!({"path": "/etc/passwd"})).await.expect_err("it is outside");
        let CallError::Failure(Failure::Denied { wanted, .. }) = &error else { panic!("{name}: {error:?}") };
        assert_eq!(wanted, "/etc/passwd", "{name}");

        let bench = bench(language, &["fs-read=."]);
        let error = bench.call("another", json!({})).await.expect_err("there is no such tool");
        assert!(
            matches!(&error, CallError::Failure(Failure::InvalidArguments(why)) if why.contains("another")),
            "{name}: {error:?}"
        );
    }
}

#[tokio::test]
async fn without_a_grant_no_language_reads_a_file() {
    for language in LANGUAGES {
        let bench = bench(language, &[]);
        bench.file("some.txt", "secret");
        let error = bench.call("word_count", json!({"path": "some.txt"})).await.expect_err("nothing is granted");
        assert!(matches!(error, CallError::Admission(_)), "{}: {error:?}", language.name);
        assert!(error.to_string().contains("fs-read"), "{error}");
    }
}

#[tokio::test]
async fn a_tool_that_only_reads_has_nothing_to_ask_in_every_language() {
    for language in LANGUAGES {
        let bench = bench(language, &["fs-read=."]);
        let preview = bench.preview("word_count", json!({"path": "some.txt"})).await;
        assert!(preview.unwrap_or_else(|error| panic!("{}: {error}", language.name)).is_none());
        let revised = bench.revise("word_count", json!({"path": "some.txt"}), "x").await;
        let error = revised.expect_err("it cannot be revised");
        assert!(error.to_string().contains("can be allowed or refused"), "{}: {error}", language.name);
    }
}

/// As many as the host runs side by side: the parts of an interpreter are many, and the pool of instances is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_in_every_language_run_side_by_side() {
    for language in LANGUAGES {
        let bench = bench(language, &["fs-read=."]);
        bench.file("some.txt", "one two one");
        let calls = (0..16).map(|_| bench.call("word_count", json!({"path": "some.txt"})));
        for ended in futures::future::join_all(calls).await {
            let output = ended.unwrap_or_else(|error| panic!("{}: {error}", language.name));
            assert!(text(&output).starts_with("1 lines, 3 words"), "{}", language.name);
        }
    }
}

#[test]
fn a_plugin_in_every_language_is_called_from_the_command_line() {
    let content = "Hello world, hello\nyou and The world";
    let (said, structured) = expected(content, 3);
    for language in LANGUAGES {
        let dist = example(language);
        let host = Host::new(["tool", "call", "word_count", r#"{"path": "some.txt", "top": 3}"#, "--json"])
            .arg("--plugin")
            .arg(&dist)
            .args(&["--grant", "acme/words:fs-read=."])
            .file("some.txt", content);
        let ended = host.run();
        assert_eq!(ended.code, Some(0), "{}: {ended:?}", language.name);
        let answer = ended.json();
        assert_eq!(answer["content"][0]["text"], json!(said), "{}", language.name);
        assert_eq!(answer["structured"], structured, "{}", language.name);
    }
}

/// The manifest is what a model is told, so that it differs by language in nothing.
#[test]
fn the_same_tool_describes_itself_the_same_in_every_language() {
    let told = |language: Language| -> Value {
        let manifest = example(language).join("acme+words.json");
        let text = std::fs::read_to_string(manifest).expect("the name of the publisher is in the file's name");
        let mut manifest: Value = serde_json::from_str(&text).expect("it is JSON");
        manifest["tools"].take()
    };
    let [first, others @ ..] = LANGUAGES;
    let one = told(first);
    assert_eq!(one[0]["name"], json!("word_count"));
    assert_eq!(one[0]["capabilities"], json!(["fs-read"]));
    for language in others {
        assert_eq!(told(language), one, "{}", language.name);
    }
}

/// Keeps the compiler from dropping the plugin while a test looks at its imports.
fn imports(language: Language) -> Vec<String> {
    let plugin: Arc<_> = load(&example(language));
    plugin.imports().expect("it is a plugin").names.clone()
}
