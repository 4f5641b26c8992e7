//! `docs/publishing.md`, word for word: its commands, on the two machines that it speaks of.

use std::path::Path;
use std::process::Command;

use host_tests::host::{Ended, Host, binary};
use host_tests::pty::Pty;
use host_tests::registry::DockerRegistry;
use host_tests::{add_target, repository};
use serde_json::json;

/// The blocks of the guide: who runs them, and what.
fn blocks() -> Vec<(String, String)> {
    let guide = std::fs::read_to_string(repository().join("docs/publishing.md")).expect("it is there");
    let mut blocks = Vec::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        if let Some(who) = line.strip_prefix("```sh ") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((who.to_owned(), block.join("\n")));
        }
    }
    blocks
}

/// One of the guide's blocks, on a machine, in a folder.
fn shell(host: &Host, folder: &Path, script: &str, registry: &str) -> Command {
    let mut command = host.command_in_shell(script);
    let own = binary().parent().expect("a folder");
    let path = std::env::join_paths(
        [own.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    command.current_dir(folder).env("PATH", path.expect("a path")).env("REGISTRY", registry);
    // The compiler is the machine's.
    for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let (None, Some(home)) = (std::env::var_os("RUSTUP_HOME"), std::env::home_dir()) {
        command.env("RUSTUP_HOME", home.join(".rustup"));
    }
    if let (None, Some(home)) = (std::env::var_os("CARGO_HOME"), std::env::home_dir()) {
        command.env("CARGO_HOME", home.join(".cargo"));
    }
    command
}

fn good(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
}

#[test]
fn guide_leads_from_an_empty_folder_to_the_machine_of_a_different_user() {
    add_target();
    let registry = DockerRegistry::start(false);
    let place = registry.name("acme/words");
    // The user's model calls the tool when it is asked, as any would.
    let replies = [
        json!({"chunks": [{"call": {"name": "word_count", "arguments": {"path": "README.md"}}}]}),
        json!({"expect": {"responses": ["2 lines, 3 words"]}, "chunks": [{"text": "It has three."}]}),
    ];
    let script: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    let (author, user) = (Host::new(["run"]), Host::new(["run"]).file("README.md", "One two\nthree\n"));
    let user = user.home_file("script.jsonl", script);
    let model = format!("model = \"scripted:{}\"\n", user.home().join("script.jsonl").display());
    let user = user.configured(&model);
    let work = author.home().join("work");
    std::fs::create_dir(&work).expect("made");

    let blocks = blocks();
    let whose: Vec<&str> = blocks.iter().map(|(who, _)| who.as_str()).collect();
    assert_eq!(whose, ["author", "author", "author", "user", "author", "user asks", "user"]);
    let mut said = Vec::new();
    for (place_in_guide, (who, block)) in blocks.iter().enumerate() {
        let text = format!("set -eu\n{block}\n");
        match who.as_str() {
            "author" => {
                let folder = if place_in_guide == 0 { work.clone() } else { work.join("words") };
                let ended = author.end(shell(&author, &folder, &text, &place));
                good(&ended);
                said.push(ended.stdout);
            }
            "user" => {
                // A publisher's key is where people know that it is theirs.
                std::fs::copy(work.join("acme.pub"), user.repository().join("acme.pub")).expect("copied");
                let ended = user.end(shell(&user, user.repository(), &text, &place));
                good(&ended);
                said.push(ended.stdout);
            }
            "user asks" => {
                let mut pty = Pty::start(shell(&user, user.repository(), &text, &place), 120, 50);
                pty.sees("it asks for `state` = `write`: remember what was counted");
                pty.sees("New requests:").sees("state = write").sees("[n]o: ");
                pty.types("g\r").sees("Installed `acme/words` 0.2.0; granted: state=write.");
                assert_eq!(pty.ends(), Some(0));
                said.push(pty.everything());
            }
            other => panic!("the guide has nobody called `{other}`"),
        }
    }
    for (step, words) in [
        (0, "3 passed, 0 failed"),
        (0, "  no errors\n"),
        (0, "Whatever is granted, it cannot change files"),
        (2, "with 1 signature"),
        (3, "Installed `acme/words` 0.1.0"),
        (3, "It has three."),
        (6, "the key was stolen"),
    ] {
        assert!(said[step].contains(words), "step {step}: {words}\n{}", said[step]);
    }
    // From then on it is refused, and it is said why.
    let ended = user.run_of(&["plugin", "install", &format!("{place}:0.1.0"), "--yes"]);
    assert!(ended.code == Some(55) && ended.stderr.contains("the key was stolen"), "{ended:?}");
    let ended = user.run_of(&["tool", "call", "word_count", "{\"path\": \"README.md\"}"]);
    assert!(ended.code == Some(42) && ended.stderr.contains("the key was stolen"), "{ended:?}");
}
