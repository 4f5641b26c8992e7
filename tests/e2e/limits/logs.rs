//! A plugin that paints a question on the terminal through the log, and floods it: whatever shows the log, an entry is
//! one line that begins with the plugin's name, nothing in it steers the terminal, and a call leaves no more than it
//! may.
//!
//! What comes while a question is open is a matter of the terminal, and tested there.

use host_tests::host::{Host, guest_file};
use host_tests::pty::Pty;
use serde_json::json;

use crate::acp::editor::{Editor, calls, says, script};
use crate::mcp_serve::client::{Client, text};

/// The most that one call may leave on standard error, in bytes.
const MOST: usize = 48 << 10;

/// How an entry of the plugin begins.
const MARK: &str = "ERROR plugin `misbehave`: ";

#[track_caller]
fn bounded(place: &str, log: &str) {
    assert!(log.len() < MOST, "{place}: {} bytes", log.len());
    let entries: Vec<&str> = log.lines().filter(|line| line.contains("Allow") || line.contains("pppp")).collect();
    assert!(entries.len() > 10 && entries.iter().all(|line| line.starts_with(MARK)), "{place}: {log:.3000}");
    assert!(
        entries[0].contains(r"\r\n\u{1b}[2J? Allow") && entries[0].contains(r"\u{202e}\n›"),
        "{place}: {}",
        entries[0]
    );
    let hidden = |line: &&str| line.contains(host_text::is_unsafe);
    assert_eq!(log.lines().find(hidden), None, "{place}");
    let left_out: Vec<&str> = log.lines().filter(|line| line.contains("left out")).collect();
    let [line] = left_out.as_slice() else { panic!("{place}: {left_out:?}") };
    let expected = format!(" WARN plugin `misbehave`: left out {} entries of ", 1_001 - entries.len());
    assert!(line.starts_with(&expected) && line.ends_with("a call may write 32 KiB to the log"), "{place}: {line}");
}

/// A host whose model calls the painter, with the painter's file.
async fn painting(arguments: &[&str]) -> (Host, String) {
    let host = Host::scripted(&[calls("paint", json!({})), says("All is done.")], arguments);
    let file = guest_file("misbehave", host.repository()).await.display().to_string();
    (host, file)
}

// promise plugin.log: What a plugin writes to the log is one escaped line an entry, marked with the plugin's name,
//   bounded for each call, plugin and session, and held back while a question is open.
#[tokio::test(flavor = "multi_thread")]
async fn limits_plugin_that_paints_through_the_log_is_bounded_in_each_frontend() {
    for arguments in [&["Look"][..], &["--output-format", "json", "Look"], &["--output-format", "stream-json", "Look"]]
    {
        let (host, file) = painting(&["--plugin"]).await;
        let ended = host.arg(&file).args(arguments).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("All is done."), "{ended:?}");
        bounded(&arguments.join(" "), &ended.stderr);
    }

    let host = Host::new(["tool"]);
    let file = guest_file("misbehave", host.repository()).await.display().to_string();
    let ended = host.run_of(&["tool", "call", "paint", "{}", "--plugin", &file]);
    assert!(ended.code == Some(0) && ended.stdout.contains("painted"), "{ended:?}");
    bounded("tool call", &ended.stderr);

    let mut client = Client::old(&host, &["--plugin", &file], json!({}));
    assert_eq!(text(&client.call("paint", json!({}))), "painted");
    bounded("mcp serve", &client.close().1);

    let model = script(&host, "script.jsonl", &[calls("paint", json!({})), says("ok")]);
    let mut editor = Editor::connected(&host, &["--model", &model, "--plugin", &file], json!({}));
    let id = editor.session();
    assert_eq!(editor.prompt(&id, "look"), "end_turn");
    bounded("acp", &editor.leave().1);

    let cases = "[[case]]\nname = \"paints\"\ntool = \"paint\"\narguments = {}\nexpect = { text = \"painted\" }\n";
    let host = host.file("tests/cases.toml", cases);
    let dist = host.repository().join("dist");
    std::fs::create_dir_all(&dist).expect("made");
    guest_file("misbehave", &dist).await;
    let ended = host.run_of(&["plugin", "test", ".", "--built", "dist"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("1 passed"), "{ended:?}");
    bounded("plugin test", &ended.stderr);
}

// promise plugin.log
#[tokio::test(flavor = "multi_thread")]
async fn limits_log_of_a_call_counts_what_is_shown_of_control_characters() {
    let host = Host::new(["tool"]);
    let file = guest_file("misbehave", host.repository()).await.display().to_string();
    let ended = host.run_of(&["tool", "call", "paint_controls", "{}", "--plugin", &file]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let entries: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with(MARK)).collect();
    assert!(!entries.is_empty() && entries.iter().all(|line| line.contains(r"\u{1}\u{1}")), "{:.500}", ended.stderr);
    let longest = entries.iter().map(|line| line.chars().count()).max();
    assert!(longest.is_some_and(|longest| longest < 1_100), "an entry of {longest:?} characters");
    assert!(ended.stderr.len() < 33 << 10, "{} bytes", ended.stderr.len());
    assert!(ended.stderr.contains("a call may write 32 KiB to the log"), "{:.500}", ended.stderr);
}

// promise plugin.log
#[tokio::test(flavor = "multi_thread")]
async fn limits_plugin_that_paints_through_the_log_begins_no_row_of_the_terminal() {
    for (columns, arguments, prompt) in [(60, &["Look"][..], ""), (100, &[], "Look\r")] {
        let (host, file) = painting(&["--plugin"]).await;
        let host = host.arg(&file).args(arguments).env("TERM", "xterm-256color");
        let mut pty = Pty::start(host.command(), columns, 30);
        if !prompt.is_empty() {
            pty.sees("› ").types(prompt);
        }
        pty.saw("All is done.");
        let rows: Vec<String> = pty.everything().lines().map(str::to_owned).collect();
        let painted = |row: &&String| row.contains("Allow") || row.contains("pppp") || row.contains("rm -rf");
        assert!(rows.iter().filter(painted).count() > 10, "{rows:#?}");
        let begins = |row: &&String| !row.starts_with(MARK) && !row.starts_with("      ");
        assert_eq!(rows.iter().filter(painted).find(begins), None, "{rows:#?}");
        assert!(!pty.written().contains("\u{1b}[2J"));
    }
}
