//! The input line: the list of completions, the search, the editor, commands of the user's, pastes, modes, steering,
//! vim.

use host_tests::server::{Answer, Server};

use super::*;

/// A paste, as a terminal sends it.
fn pasted(text: &str) -> String {
    format!("\u{1b}[200~{text}\u{1b}[201~")
}

/// What the user's messages of the recorded session say, each with its attachments.
fn asked(host: &Host) -> Vec<String> {
    let users = host.session().into_iter().filter(|entry| entry["content"]["role"] == "user");
    users.map(|entry| Value::from(Host::parts(&entry)).to_string()).collect()
}

#[test]
fn input_list_of_commands_opens_while_typing_and_enter_runs_what_is_selected() {
    let (_host, mut pty) = talk(&[], &[]);
    pty.types("/").sees("/help").sees("Show the commands and the keys").types("sta").sees("› /stats");
    pty.types("\r")
        .sees("prompts   0")
        .types("/mode ")
        .sees("reads only")
        .types("\u{1b}[B\u{1b}[B")
        .sees("› auto-edit");
    pty.types("\r").sees("mode: auto-edit").sees("auto-edit › ");
    // What is written out is sent as it is, and Esc closes the list before it clears the line.
    pty.types("/he")
        .sees("› /help")
        .types("\u{1b}")
        .until("the list is closed", |screen| !screen.contains("Show the com"));
    pty.sees("› /he")
        .types("\u{1b}")
        .until("it is cleared", |screen| screen.contains("auto-edit › \nscript.jsonl"))
        .types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn input_files_are_found_anywhere_and_without_what_is_ignored_or_denied() {
    let host = Host::scripted(&[answer("Read.")], &["--deny", "ls:fs-read=*.key"])
        .file(".gitignore", "target/\n")
        .file("target/fuel.rs", "")
        .file("fuel.key", "")
        .file("src/engine/fuel.rs", "fn burn() {}")
        .file("bad\u{1b}[2J\u{7}fuel", "")
        .file("bad\u{202e}fuel", "");
    let mut pty = open(&host, 80, 24);
    pty.types("see @fuel").sees("› src/engine/fuel.rs").sees("bad\\u{202e}fuel");
    let screen = pty.screen();
    assert!(!screen.contains("target") && !screen.contains("fuel.key"), "{screen}");
    pty.types("\r").sees("see @src/engine/fuel.rs").types("\r").sees("Read.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(asked(&host)[0].contains("fn burn() {}"));
    let written = pty.written();
    assert!(
        !written.contains("\u{1b}[2J") && !written.contains('\u{202e}') && !written.contains('\u{7}'),
        "{written:?}"
    );
}

#[test]
fn input_search_brings_an_earlier_prompt_back() {
    let replies = [answer("One."), answer("Two."), answers("fix the parser now", "Three.")];
    let (_host, mut pty) = talk(&replies, &[]);
    pty.types("fix the parser\r").sees("One.").types("run all tests\r").sees("Two.");
    pty.types("\u{12}").sees("search ›").sees("› run all tests").types("pars").sees("› fix the parser");
    pty.types("zz")
        .sees("no earlier prompt")
        .types("\u{1b}")
        // The status row comes last.
        .until("it is over", |screen| !screen.contains("search ›") && screen.contains("default › \nscript.jsonl"));
    pty.types("\u{12}\u{12}").sees("› fix the parser").types("\r").sees("default › fix the parser").types(" now\r");
    pty.sees("Three.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn input_editor_opens_on_the_prompt_also_with_what_was_folded() {
    let host = Host::scripted(&[answers("line 1\nline 2\nline 20\nedited", "Good.")], &[])
        .file("editor.sh", "#!/bin/sh\ngrep -c . \"$1\" > seen\nsed -i -e 3,19d \"$1\"\necho edited >> \"$1\"\n")
        .env("VISUAL", "sh editor.sh");
    let mut pty = open(&host, 80, 24);
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    pty.types(&pasted(&text)).sees("› [pasted 20 lines]").types("\u{7}").sees("edited").sees("line 20");
    assert_eq!(std::fs::read_to_string(host.repository().join("seen")).expect("it ran").trim(), "20");
    pty.types("\r").sees("Good.");
    // The other keys for it, and an editor that fails.
    std::fs::write(host.repository().join("editor.sh"), "exit 3\n").expect("written");
    pty.types("mine\u{18}\u{5}").sees("the editor `sh editor.sh` failed").sees("default › mine").types("\u{15}\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

// promise conversation.shell: `!command` runs as the user and only from what was typed at the prompt; the model gets
//   its output with the next prompt.
#[test]
fn input_command_of_the_user_is_shown_and_given_to_the_model() {
    let (host, mut pty) = talk(&[answers("what happened", "It failed.")], &[]);
    pty.types("!").sees("runs as you, in no sandbox").types("echo out $((40 + 2)); echo err >&2; exit 3\r");
    pty.sees("out 42").sees("err").sees("exit code 3").types("what happened?\r").sees("It failed.");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let asked = asked(&host);
    assert!(asked[0].contains("the user ran the command `echo out") && asked[0].contains("out 42"), "{asked:?}");
    assert!(asked[0].contains("exit code 3") && asked[0].contains("what happened?"), "{asked:?}");
}

// promise conversation.shell
#[test]
fn input_command_is_never_one_of_the_model_nor_one_that_is_not_seen() {
    let replies = [answer("!touch pwned"), answer("!touch pwned\n!!"), answers("!touch pwned", "No.")];
    let host = Host::scripted(&replies, &[]).file("notes.txt", "!touch pwned\n").file("AGENTS.md", "!touch pwned\n");
    let mut pty = open(&host, 80, 24);
    let is_idle = |screen: &str| screen.contains("  !!\n") && screen.contains("\n\ndefault › \nscript.jsonl");
    pty.types("first\r").sees("!touch pwned").types("second @notes.txt\r").until("the second answer", is_idle);
    // A paste whose beginning is folded away is shown before it can run, and one in the middle is text.
    let long = format!("!touch pwned{}", "\n".repeat(30));
    pty.types(&pasted(&long)).sees("[pasted 30 lines]").types("\r").sees("this paste begins as a command");
    pty.types("\u{3}").until("it is cleared", |screen| !screen.contains("begins as a command"));
    pty.types(&format!("see {}\r", pasted("\n!touch pwned"))).sees("No.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!host.repository().join("pwned").exists());
}

#[test]
fn input_command_is_stopped_by_ctrl_c_with_all_that_it_started() {
    let (host, mut pty) = talk(&[answer("Stopped, I see.")], &[]);
    pty.types("!(while :; do sleep 0.05; echo x >> alive; done) & echo begun; wait\r").saw("\nbegun\n");
    pty.types("\u{3}").sees("stopped by the user");
    let size = || std::fs::metadata(host.repository().join("alive")).map_or(0, |file| file.len());
    let after = size();
    pty.types("!sleep 0.3\r").until("it ended", |screen| screen.matches("with your next prompt").count() == 2);
    assert_eq!(size(), after, "nothing of it is left");
    pty.types("go on\r").sees("Stopped, I see.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn input_long_paste_is_folded_sent_whole_and_removed_as_one() {
    let text: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    let (host, mut pty) = talk(&[answer("Read.")], &[]);
    pty.types("see ").types(&pasted(&text)).sees("› see [pasted 200 lines]").types("\u{7f}");
    pty.until("it is gone", |screen| !screen.contains("pasted")).types(&pasted(&text)).sees("[pasted 200 lines]");
    pty.types("\r").sees("Read.").sees("default › see [pasted 200 lines]").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(asked(&host)[0].contains("line 1\\nline 2\\n") && asked(&host)[0].contains("line 200"));
    assert!(!pty.everything().contains("line 100"), "{}", pty.everything());
}

#[test]
fn input_question_mark_on_an_empty_line_shows_the_keys_and_twice_is_text() {
    let (_host, mut pty) = talk(&[answers("?why", "Because.")], &[]);
    pty.types("?").sees("Ctrl-R").sees("search earlier prompts").types("\u{1b}");
    pty.until("they are gone", |screen| !screen.contains("search earlier")).types("??").sees("› ?").types("why\r");
    pty.sees("Because.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

// promise conversation.yolo
#[test]
fn input_shift_tab_goes_through_the_modes_and_the_next_prompt_has_the_new_one() {
    let (_host, mut pty) = talk(&[answer("One.")], &[]);
    for mode in ["auto-edit", "auto", "plan", "default", "auto-edit", "auto", "plan"] {
        pty.types("\u{1b}[Z").sees(&format!("{mode} › ")).sees(&format!("mode: {mode} "));
    }
    pty.types("first\r").sees("One.").types("/mode\r").sees("› plan").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

// promise conversation.steer
#[test]
fn input_enter_while_the_model_works_reaches_its_next_turn_and_is_recorded() {
    let replies = [waits_for_go(), answers("use tabs", "With tabs."), answers("then this", "Later.")];
    let (host, mut pty) = talk(&replies, &["--approval-mode", "yolo"]);
    pty.types("first\r").sees("begun").types("use tabs").sees("Enter to send at its next turn").types("\r");
    pty.sees("next turn › use tabs").types("then this\t").sees("queued › then this");
    go(&host);
    pty.saw("With tabs.").saw("Later.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    assert!(all.find("› use tabs") < all.find("With tabs.") && all.contains("› then this\n"), "{all}");
    assert_eq!(host.session().iter().filter(|entry| entry["type"] == "run_started").count(), 2);
    let asked = asked(&host);
    assert!(asked.iter().any(|text| text.contains("use tabs") && text.contains("while you work")), "{asked:?}");
}

#[test]
fn input_has_the_keys_of_vim_where_that_is_configured() {
    let host = Host::scripted(&[answers("one three", "Good.")], &[]).configured("[conversation]\nkeys = \"vim\"\n");
    let mut pty = open(&host, 80, 24);
    pty.sees("-- INSERT --").types("one two three\u{1b}").sees("-- NORMAL --").types("bbdw");
    pty.sees("› one three").types("\r").sees("Good.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn input_image_that_is_dropped_is_attached() {
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), b"\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"].concat();
    let host = Host::scripted(&[answer("A dot.")], &[]).file("a shot.png", png);
    let path = std::fs::canonicalize(host.repository().join("a shot.png")).expect("it is there");
    let mut pty = open(&host, 80, 24);
    pty.types("what is ").types(&pasted(&format!("'{}'", path.display()))).sees("› what is [image a shot.png]");
    pty.types("\r").sees("A dot.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(asked(&host)[0].contains("image/png"), "{:?}", asked(&host));
}

#[test]
fn input_image_of_the_clipboard_is_attached_or_what_is_missing_is_named() {
    let host = Host::scripted(&[answer("A dot.")], &[])
        .home_file("bin/xclip", "#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n'\n")
        .env("DISPLAY", ":9");
    let folder = host.home().join("bin");
    let program = folder.join("xclip");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(program, mode).expect("set");
    let path = std::env::join_paths([folder.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
    let host = host.env("PATH", path);
    let mut pty = open(&host, 80, 24);
    pty.types("what is \u{16}").sees("[image clipboard-1.png]").types("\r").sees("A dot.").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(asked(&host)[0].contains("image/png"), "{:?}", asked(&host));
    let bare = Host::scripted(&[], &[]);
    let mut pty = open(&bare, 80, 24);
    pty.types("\u{16}").sees("no clipboard to read here").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn input_list_of_models_is_the_services_own_and_a_failure_is_named() {
    let server = Server::start(|request| match request.path.as_str() {
        "/v1/models" => Answer::ok(r#"{"data":[{"id":"alpha"},{"id":"bad\u001b[2Jname"},{"id":"beta-2"}]}"#),
        _ => Answer::status(500, "no more"),
    })
    .await;
    let url = server.url("/v1");
    let typed = tokio::task::spawn_blocking(move || {
        let host = Host::new(["run", "--model", "offline"])
            .env("OPENAI_API_KEY", "sk-secret")
            .env("OPENAI_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "sk-other")
            .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
        let mut pty = open(&host, 100, 24);
        pty.types("/model ").sees("openai/beta-2").sees("cannot list the models of `anthropic`");
        let screen = pty.screen();
        pty.types("alp").sees("› openai/alpha").types("\r").sees("model: openai/alpha").types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
        (screen, pty.written())
    });
    let (screen, written) = typed.await.expect("it ends");
    assert!(!screen.contains("bad") && !written.contains("sk-other") && !written.contains("sk-secret"), "{screen}");
}
