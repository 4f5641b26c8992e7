//! `@path` in a prompt: what it attaches, what stays text, and what is refused.

use std::os::unix::fs::symlink;

use host_tests::host::Host;
use host_tests::snapshot::Transcript;
use host_tests::{host_snapshot, transcript_snapshot};
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
    Host::parts(first)
}

fn texts(parts: &[Value]) -> Vec<&str> {
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
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
            "\n--- attached: src/a.rs ---\n1\tfn a() {} // ${prompt} 5$\n--- end of src/a.rs ---\n",
            "\n--- attached: my notes.md ---\n1\tnoted\n--- end of my notes.md ---\n",
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
    host_snapshot!(host, @"
    exit: 0
    ----- stdout
    Done.
    ----- stderr
    note: there is no file `types/node`; `@types/node` is sent as plain text
    ");
}

// promise run.context
#[test]
fn attach_file_that_may_not_be_read_is_denied_with_what_would_allow_it() {
    let mut denials = Transcript::default();
    let prompt = "See @/etc/hostname";
    denials.add(prompt, &run(&[prompt]).run());
    let granted = run(&["--grant", "read_file:fs-read=/etc/passwd", "See @/etc/passwd"]);
    assert!(texts(&message(&granted))[1].contains("root:"));

    for (deny, path) in [("*:fs-read=*.pem", "key.pem"), ("*:fs-read=.env", ".env"), ("read_file:fs-read", "a.txt")] {
        let prompt = format!("See @{path}");
        denials.add(format!("--deny {deny} {prompt}"), &run(&["--deny", deny, &prompt]).file(path, "secret").run());
    }
    let host = run(&["--deny", "*:fs-read=*.pem", "See @*.pem @keys/** and @keys"]).file("keys/k.pem", "secret");
    let parts = message(&host);
    assert!(!parts.iter().any(|part| part.to_string().contains("secret")), "{parts:?}");
    assert!(!texts(&parts).last().expect("the listing").contains("k.pem"), "{parts:?}");

    let prompt = "See @target/x.rs";
    denials.add(prompt, &run(&[prompt]).file(".gitignore", "target/\n").file("target/x.rs", "x").run());

    let prompt = "See @link";
    let host = run(&[prompt]);
    std::fs::write(host.home().join("secret"), "secret").expect("written");
    symlink(host.home().join("secret"), host.repository().join("link")).expect("a link");
    denials.add(prompt, &host.run());
    transcript_snapshot!(denials, @r"
    # See @/etc/hostname
    exit: 42
    ----- stderr
    error: `@/etc/hostname` cannot be attached
      caused by: `read_file` may not read `/etc/hostname`: it is outside of `[REPOSITORY]`. Only the user \
    can change this: to allow it, add --grant read_file:fs-read=/etc/hostname.
    help: write `\@` for a plain `@`

    # --deny *:fs-read=*.pem See @key.pem
    exit: 42
    ----- stderr
    error: `@key.pem` cannot be attached
      caused by: `read_file` may not read `[REPOSITORY]/key.pem`. Only the user can change this: its grants \
    exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant that \
    does; host's own files always stay excluded.
    help: write `\@` for a plain `@`

    # --deny *:fs-read=.env See @.env
    exit: 42
    ----- stderr
    error: `@.env` cannot be attached
      caused by: `read_file` may not read `[REPOSITORY]/.env`. Only the user can change this: its grants \
    exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a grant that \
    does; host's own files always stay excluded.
    help: write `\@` for a plain `@`

    # --deny read_file:fs-read See @a.txt
    exit: 42
    ----- stderr
    error: `@a.txt` cannot be attached
      caused by: `read_file` has no fs-read grant for `[REPOSITORY]/a.txt`. Only the user can change this: \
    to allow it, add --grant read_file:fs-read=[REPOSITORY]/a.txt.
    help: write `\@` for a plain `@`

    # See @target/x.rs
    exit: 42
    ----- stderr
    error: `@target/x.rs` cannot be attached
      caused by: the project's ignore rules leave it out
    help: take the `@` away, or give the text on standard input; write `\@` for a plain `@`

    # See @link
    exit: 42
    ----- stderr
    error: `@link` cannot be attached
      caused by: a symbolic link on the way to `[REPOSITORY]/link` leads out of the granted folder; name \
    the place that it leads to, with a grant for it
    ");
}

#[test]
fn attach_text_from_a_pipe_beside_a_prompt_attaches_nothing() {
    let host =
        run(&["Review @a.txt"]).file("a.txt", "told").file("b.txt", "never told").input("+@b.txt @/etc/passwd\n");
    let parts = message(&host);
    let piped = "--- attached: piped input ---\n+@b.txt @/etc/passwd\n\n--- end of piped input ---\n\n";
    assert_eq!((&parts[0]["text"], &parts[1]["text"]), (&json!(piped), &json!("Review @a.txt")));
    assert_eq!(parts.len(), 3);
    let alone = run(&[]).file("a.txt", "told").input("Review @a.txt");
    assert_eq!(message(&alone).len(), 2);
}

#[test]
fn the_offline_planner_takes_no_attachment_for_its_task() {
    let host = Host::new(["run", "--model", "offline", "Where is `needle`? See @notes.md"])
        .file("notes.md", "haystack `thread` overview survey\n")
        .file("src/a.rs", "// needle\n");
    host_snapshot!(host, @r"
    exit: 0
    ----- stdout
    ## `needle`: 1 line in 1 file

    - `src/a.rs:1`: `// needle`

    ## `notes.md`

    ```
    haystack `thread` overview survey
    ```

    ---

    _This is the offline planner of `host`, not a language model: it lists, reads and searches, and \
    understands nothing. For a language model set `GEMINI_API_KEY` and pass `--model \
    gemini/gemini-3.6-flash`, or set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for another server) and pass \
    `--model openai/NAME`._
    ----- stderr
    ");
}
