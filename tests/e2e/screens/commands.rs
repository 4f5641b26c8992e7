//! The commands of a conversation that show something as a table, and those that have a prompt of their own.

use super::*;

const PROMPT: &str = "default › ";

/// A conversation after one prompt, and then a command, at each width.
fn at_three_widths(name: &str, command: &str, last: &str, host: impl Fn() -> Host) {
    for columns in [40, 80, 120] {
        let host = host();
        let mut pty = begin_on(&host, &[], columns);
        pty.sees(PROMPT).types("Go\r").saw("It is a rocket.").sees(PROMPT);
        pty.types(&format!("{command}\r")).saw(last).sees(PROMPT).types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        shown(&host, &format!("command_{name}_{columns}"), &mut pty);
    }
}

fn rocket() -> Host {
    let call = call("read_file", json!({"path": "rocket.md"}));
    let usage = json!({"usage": {"input": 9000, "output": 40, "cached": 4000}});
    Host::scripted(&[json!({"chunks": [call]}), json!({"chunks": [{"text": "It is a rocket."}, usage]})], &[])
        .file("rocket.md", "It flies.\n".repeat(400))
        .file("AGENTS.md", "Fly carefully.\n".repeat(20))
}

// promise conversation.context: `/context` shows how many tokens each kind of content takes, as estimates, and the sum
//   by the service's last count.
#[test]
fn screens_context_shows_what_fills_the_window() {
    at_three_widths("context", "/context", "The rows are estimates.", rocket);
}

#[test]
fn screens_context_without_colour_and_on_a_dumb_terminal() {
    for (name, variable) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let host = rocket().env(name, variable);
        let mut command = host.command();
        if name == "NO_COLOR" {
            command.env("TERM", "xterm-256color");
        }
        let mut pty = Pty::start(command, 60, ROWS);
        pty.sees(PROMPT).types("Go\r").saw("It is a rocket.").sees(PROMPT);
        pty.types("/context\r").saw("The rows are estimates.").sees(PROMPT).types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let (mark, other) = if variable == "dumb" { ("#", "█") } else { ("█", "#") };
        let rows = pty.everything();
        let free = rows.lines().find(|row| row.starts_with("free ")).expect("a row for what is free");
        assert!(free.contains(mark) && !free.contains(other), "{rows}");
        let colours: Vec<String> = (30..38).map(|colour| format!("\u{1b}[{colour}m")).collect();
        assert!(!colours.iter().any(|colour| pty.written().contains(colour)), "{}", pty.written());
    }
}

#[test]
fn screens_cost_shows_tokens_by_model_and_the_budgets() {
    at_three_widths("cost", "/cost", "budget ", || {
        let host = rocket();
        let script = host.home().join("script.jsonl");
        let price = format!("[models.\"scripted:{}\"]\nprice = {{ input = 1.0, output = 10.0 }}\n", script.display());
        host.configured(&format!("[run]\nmax_tokens = 50000\nmax_cost = 2.5\n{price}"))
    });
}

// promise conversation.config
#[test]
fn screens_config_shows_settings_with_their_origin_and_no_secret() {
    for columns in [40, 80, 120] {
        let host = Host::scripted(&[answer("It is a rocket.")], &["--max-turns", "7"])
            .configured(
                "[run]\nmax_tokens = 50000\n[providers.openai]\nheaders = { x-team = \"sec-ret-1\" }\n\
                 [retry]\nattempts = 4\n",
            )
            .env("OPENAI_API_KEY", "sec-ret-2")
            .env("OPENAI_BASE_URL", "https://me:sec-ret-3@example.com/v1?key=sec-ret-4");
        let mut pty = begin_on(&host, &[], columns);
        pty.sees(PROMPT).types("/mode auto-edit\r").sees("auto-edit ›");
        pty.types("/config\r").saw("docs/reference/settings.md").sees("auto-edit ›").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert!(!pty.written().contains("sec-ret"), "{}", pty.written());
        shown(&host, &format!("command_config_{columns}"), &mut pty);
    }
}

#[test]
fn screens_compact_is_compress() {
    let host = Host::scripted(&[answer("It is a rocket.")], &[]);
    let mut pty = begin(&host, &[]);
    pty.sees(PROMPT).types("/compact\r").saw("nothing to compact yet").sees(PROMPT);
    pty.types("/compress the names\r");
    pty.until("it is the same", |screen| screen.matches("nothing to compact yet").count() == 2).types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

/// The first message of the user in the session's log.
fn asked(host: &Host) -> String {
    let lines = host.session();
    let said = lines.iter().find(|line| line["type"] == "content" && line["content"]["role"] == "user");
    said.unwrap_or_else(|| panic!("the user said something: {lines:?}")).to_string()
}

// promise conversation.init: `/init` writes by the usual tools, so that the user sees the difference before a file
//   changes, and improves a file that exists.
#[test]
fn screens_init_asks_before_it_writes_and_improves_a_file_that_exists() {
    let write = call("write_file", json!({"path": "AGENTS.md", "content": "# Rocket\n"}));
    let host = Host::scripted(&[json!({"chunks": [write]}), answer("It is written.")], &[]);
    let mut pty = begin(&host, &[]);
    pty.sees(PROMPT).types("/init\r").sees("› 1 y  Yes, this once").sees("Esc to reject");
    assert!(!host.repository().join("AGENTS.md").exists(), "nothing is written without an answer");
    pty.types("y").saw("It is written.").sees(PROMPT).types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let written = std::fs::read_to_string(host.repository().join("AGENTS.md")).expect("it is written");
    assert_eq!(written, "# Rocket\n");
    assert!(asked(&host).contains("Write the file `AGENTS.md`"), "{}", asked(&host));

    let host = Host::scripted(&[answer("Nothing to do.")], &[]).file("CLAUDE.md", "@secret.md\n");
    let mut pty = begin(&host, &[]);
    pty.sees(PROMPT).types("/init\r").saw("Nothing to do.").sees(PROMPT).types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(asked(&host).contains("Improve the file `CLAUDE.md`"), "{}", asked(&host));
}

// promise conversation.review: `/review` changes no file, whatever the mode and the grants allow otherwise, and takes a
//   name of git and never an option.
#[test]
fn screens_review_changes_nothing_in_any_mode() {
    let write = call("write_file", json!({"path": "new.md", "content": "x"}));
    let fetch = call("web_fetch", json!({"url": "https://example.com"}));
    let touch = call("shell", json!({"command": "touch made.md"}));
    let status = call("shell", json!({"command": "git diff main..x"}));
    let host = Host::scripted(
        &[json!({"chunks": [write, fetch, status, touch]}), answer("It is reviewed.")],
        &["--approval-mode", "yolo"],
    );
    let mut pty = begin(&host, &[]);
    pty.sees("yolo › ").types("/review main..x\r").sees("touch made.md").sees("Esc to reject");
    pty.types("n").saw("It is reviewed.").sees("yolo › ").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    for file in ["new.md", "made.md"] {
        assert!(!host.repository().join(file).exists(), "{file}: {}", pty.everything());
    }
    assert!(asked(&host).contains("git diff main..x"), "{}", asked(&host));
    let lines = host.session();
    let ended = |id: usize| {
        let settled: Vec<_> = lines.iter().filter(|line| line["type"] == "call_settled").collect();
        settled.get(id).map(|line| line.to_string()).unwrap_or_default()
    };
    for (number, name) in ["write_file", "web_fetch"].iter().enumerate() {
        assert!(ended(number).contains("denied"), "{name}: {}", ended(number));
    }
}

#[test]
fn screens_review_and_init_that_cannot_be_done_say_why() {
    for (arguments, command, message, help) in [
        (&[][..], "/review --output=/etc/passwd", "is not a branch, a commit or a range", "name one"),
        (&["--approval-mode", "plan"], "/review", "the mode `plan` runs no program", "/mode default"),
        (&["--approval-mode", "plan"], "/init", "the mode `plan` only reads", "/mode default"),
    ] {
        let host = Host::scripted(&[answer("Never asked.")], arguments);
        let mut pty = begin(&host, &[]);
        pty.sees(" › ").types(&format!("{command}\r")).saw(message).saw(help).types("\u{15}").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        assert!(!pty.everything().contains("Never asked."), "{}", pty.everything());
    }
    let host = Host::new(["run", "--model", "offline"]);
    let mut pty = begin(&host, &[]);
    for command in ["/init", "/review"] {
        pty.sees(PROMPT).types(&format!("{command}\r")).saw(&format!("{command} needs a language model"));
    }
    pty.sees(PROMPT).types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}
