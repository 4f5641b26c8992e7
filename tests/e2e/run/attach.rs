//! `@path` in a prompt: what it attaches, what stays text, and what is refused.

use std::os::unix::fs::symlink;

use host_tests::host::Host;
use serde_json::{Value, json};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn run(arguments: &[&str]) -> Host {
    Host::scripted(&[json!({"chunks": [{"text": "Done."}]})], arguments)
}

/// Runs, and says of what parts the first message was.
fn message(host: &Host) -> Vec<Value> {
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines = host.session();
    let first = lines.iter().find(|line| line["type"] == "content").expect("it was recorded");
    first["content"]["parts"].as_array().expect("parts").clone()
}

fn texts(parts: &[Value]) -> Vec<&str> {
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Checks that the prompt ends the run before anybody is asked.
fn refused(host: &Host, says: &[&str]) {
    let ended = host.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(42), ""), "{ended:?}");
    for words in says {
        assert!(ended.stderr.contains(words), "{words} in {ended:?}");
    }
}

#[test]
fn a_file_a_folder_and_a_glob_stand_behind_the_prompt() {
    let host = run(&["Compare @src/a.rs, @\"my notes.md\" and @src with @src/*.txt, @src/a.rs again."])
        .file("src/a.rs", "fn a() {} // ${prompt} 5$\n")
        .file("src/b.txt", "bee\n")
        .file("my notes.md", "noted\n");
    let parts = message(&host);
    assert_eq!(
        texts(&parts),
        [
            "Compare @src/a.rs, @\"my notes.md\" and @src with @src/*.txt, @src/a.rs again.",
            "\n--- attached: src/a.rs ---\nfn a() {} // ${prompt} 5$\n--- end of src/a.rs ---\n",
            "\n--- attached: my notes.md ---\nnoted\n--- end of my notes.md ---\n",
            "\n--- attached: src ---\na.rs (26 bytes)\nb.txt (4 bytes)\n--- end of src ---\n",
            "\n--- attached: src/*.txt ---\n--- src/b.txt ---\nbee\n--- end of src/*.txt ---\n",
        ]
    );
}

#[test]
fn an_image_comes_as_data_and_a_binary_file_is_named() {
    let host = run(&["See @a.png and @b.bin and @long.txt"])
        .file("a.png", PNG)
        .file("b.bin", b"\0\x01\x02\xff\xfe\0\0")
        .file("long.txt", "line\n".repeat(3_000));
    let parts = message(&host);
    assert_eq!(parts[2]["inline_data"]["mime_type"], "image/png");
    let texts = texts(&parts);
    assert!(texts[2].contains("b.bin ---\n(not attached: `b.bin` is a binary file"), "{}", texts[2]);
    assert!(texts[3].contains("lines 1-2000 of 3000"), "{}", &texts[3][..100]);
}

#[test]
fn addresses_decorators_and_escapes_stay_text() {
    let prompt = "Write to me@example.org about @Override and \\@README.md in @types/node";
    let host = run(&[prompt]).file("README.md", "never told");
    let parts = message(&host);
    assert_eq!(texts(&parts), [prompt.replace("\\@", "@")]);
    let ended = host.run();
    assert!(ended.stderr.contains("note: there is no file `types/node`") && !ended.stderr.contains("Override"));
}

// promise run.context
#[test]
fn attach_file_that_may_not_be_read_is_denied_with_what_would_allow_it() {
    let host = run(&["See @/etc/hostname"]);
    refused(&host, &["`@/etc/hostname` cannot be attached", "--grant read_file:fs-read=/etc/hostname", "`\\@`"]);
    let granted = run(&["--grant", "read_file:fs-read=/etc/passwd", "See @/etc/passwd"]);
    assert!(texts(&message(&granted))[1].contains("root:"));

    for (deny, path) in [("*:fs-read=*.pem", "key.pem"), ("*:fs-read=.env", ".env"), ("read_file:fs-read", "a.txt")] {
        let host = run(&["--deny", deny, &format!("See @{path}")]);
        refused(&host.file(path, "secret"), &[&format!("`@{path}` cannot be attached")]);
    }
    let host = run(&["--deny", "*:fs-read=*.pem", "See @*.pem @keys/** and @keys"]).file("keys/k.pem", "secret");
    let parts = message(&host);
    assert!(!parts.iter().any(|part| part.to_string().contains("secret")), "{parts:?}");
    assert!(!texts(&parts).last().expect("the listing").contains("k.pem"), "{parts:?}");

    let ignored = run(&["See @target/x.rs"]).file(".gitignore", "target/\n").file("target/x.rs", "x");
    refused(&ignored, &["`@target/x.rs` cannot be attached", "ignore rules"]);

    let host = run(&["See @link"]);
    std::fs::write(host.home().join("secret"), "secret").expect("written");
    symlink(host.home().join("secret"), host.repository().join("link")).expect("a link");
    refused(&host, &["`@link` cannot be attached", "symbolic link"]);
}

#[test]
fn attach_text_from_a_pipe_beside_a_prompt_attaches_nothing() {
    let host =
        run(&["Review @a.txt"]).file("a.txt", "told").file("b.txt", "never told").input("+@b.txt @/etc/passwd\n");
    let parts = message(&host);
    assert_eq!(parts[0]["text"], "Review @a.txt\n\n+@b.txt @/etc/passwd\n");
    assert_eq!(parts.len(), 2);
    let alone = run(&[]).file("a.txt", "told").input("Review @a.txt");
    assert_eq!(message(&alone).len(), 2);
}

#[test]
fn the_offline_planner_takes_no_attachment_for_its_task() {
    let host = Host::new(["run", "--model", "offline", "Where is `needle`? See @notes.md"])
        .file("notes.md", "haystack `thread` overview survey\n")
        .file("src/a.rs", "// needle\n");
    let ended = host.run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("src/a.rs:1") && !ended.stdout.contains("## `thread`"), "{}", ended.stdout);
}
