//! The questions: before a call, about a project, before an installation.

use super::*;
use crate::publisher::{self, Publisher, READS};

const LISTENS: &str = "› 1 y  Yes, this once";

/// The last line of a question, which may come a moment after the others.
const END: &str = "Esc to reject";

/// The question of one call, and what is left of it once it was declined.
#[track_caller]
fn asked(name: &str, call: Value, host: impl FnOnce(Host) -> Host) {
    let host = host(calling(&[call], &[]));
    let mut pty = begin(&host, &["Do it"]);
    pty.sees(LISTENS).sees(END);
    shown(&host, name, &mut pty);
    pty.types("n").saw("All is done.");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    shown(&host, &format!("{name}_declined"), &mut pty);
}

#[test]
fn screens_question_of_an_edit() {
    let edit =
        json!({"path": "src/fuel.rs", "old_string": "let fuel = 1;", "new_string": "let fuel = 2;\nburn(fuel);"});
    let source = "fn main() {\n    let fuel = 1;\n}\n";
    asked("question_edit", call("edit", edit), |host| host.file("src/fuel.rs", source));
}

#[test]
fn screens_question_of_a_new_file() {
    let write = json!({"path": "notes.md", "content": "# Notes\n\nFly to the moon.\n"});
    asked("question_write", call("write_file", write), |host| host);
}

#[test]
fn screens_question_of_a_command() {
    let command = json!({"command": "cargo test --workspace && git push", "description": "Tests and pushes"});
    asked("question_shell", call("shell", command), |host| host);
}

#[test]
fn screens_question_of_a_request() {
    let fetch = json!({"url": "https://example.com/a?b=c"});
    asked("question_fetch", call("web_fetch", fetch), |host| host);
}

/// A project that brings a configuration, rules and an agent.
fn project() -> Host {
    let agent = "---\nname: surveyor\ndescription: Surveys.\ntools: [ls]\n---\nYou survey.\n";
    Host::scripted(&[answer("All is done.")], &[])
        .file(".host/config.toml", "[run]\nmax_turns = 5\n")
        .file(
            ".host/policies/rules.toml",
            "[[rule]]\ntool = \"shell\"\ncommand = [\"git push\"]\ndecision = \"deny\"\n",
        )
        .file(".host/agents/surveyor.md", agent)
}

/// The question at several widths, before it is answered: as it stands after these keys.
#[track_caller]
fn at_widths(name: &str, call: &Value, arguments: &[&str], keys: &str, ends: &str) {
    for columns in [40, 80, 120] {
        let host =
            calling(std::slice::from_ref(call), arguments).file("src/fuel.rs", "fn main() {\n    let fuel = 1;\n}\n");
        let mut command = host.command();
        command.env("TERM", "xterm-256color").arg("Do it");
        let mut pty = Pty::start(command, columns, ROWS);
        pty.until("the question", |screen| screen.contains("↑↓ and ")).types(keys).sees(ends);
        shown(&host, &format!("{name}_{columns}"), &mut pty);
    }
}

#[test]
fn screens_question_of_each_kind_at_every_width() {
    let edit =
        json!({"path": "src/fuel.rs", "old_string": "let fuel = 1;", "new_string": "let fuel = 2;\nburn(fuel);"});
    at_widths("question_width_edit", &call("edit", edit.clone()), &[], "", "· Esc");
    at_widths("question_width_reason", &call("edit", edit), &[], "too much fuel", "› too much fuel");
    let command = json!({"command": "cargo test --workspace", "description": "Runs the tests"});
    at_widths("question_width_shell", &call("shell", command), &[], "", "· Esc");
    at_widths(
        "question_width_fetch",
        &call("web_fetch", json!({"url": "https://example.com/a?b=c"})),
        &[],
        "",
        "· Esc",
    );
    at_widths("question_width_memory", &call("memory", json!({"action": "save", "fact": "tabs"})), &[], "", "· Esc");
    at_widths("question_width_read", &call("read_file", json!({"path": "/etc/passwd"})), &[], "", "· Esc");
    let server = json!({"command": "npm run dev", "background": true, "description": "Starts the server"});
    at_widths("question_width_background", &call("shell", server), &[], "", "· Esc");
    let choices = ["Keep the old format, so that nobody has to change anything", "Only the new one"];
    let choices = [
        json!({"label": choices[0]}),
        json!({"label": choices[1], "recommended": true, "description": "Readers of the old one get an error that says how to convert."}),
    ];
    let which = json!({"question": "Which formats should the reader accept?", "choices": choices});
    let name = json!({"question": "What should it be called?"});
    let ask = json!({"questions": [which, name]});
    at_widths("question_width_ask", &call("ask_user", ask), &[], "", "· Esc");
    let systems = json!([
        {"label": "Linux", "description": "Where it runs today."},
        {"label": "macOS"},
        {"label": "Windows", "description": "Needs another way to watch files, which is a day of work."},
    ]);
    let ask = json!({"questions": [{"question": "Which systems?", "choices": systems, "multiple": true}]});
    at_widths("question_width_marks", &call("ask_user", ask), &[], "13", "› 3 d  [x]");
    let plan = json!({"plan": "1. Rename `burn` in `src/fuel.rs`, and its callers.\n2. Run the tests of the workspace, then write the change down in `CHANGELOG.md`."});
    at_widths("question_width_plan", &call("present_plan", plan), &["--approval-mode", "plan"], "", "· Esc");
}

#[test]
fn screens_question_of_a_project() {
    for (columns, name) in [(120, "question_project"), (80, "question_project_80"), (40, "question_project_40")] {
        let host = project();
        let mut pty = begin_on(&host, &["Look"], columns);
        pty.sees("› 2 w  Continue").sees("↑↓ and Enter");
        shown(&host, name, &mut pty);
        if columns == 120 {
            pty.types("w").saw("All is done.");
            assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
            shown(&host, "question_project_without", &mut pty);
        }
    }
}

#[test]
fn screens_question_of_a_project_that_changed() {
    let host = project();
    assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
    let host = host.file(".host/config.toml", "[run]\nmax_turns = 500\n").file(".host/agents/new.md", "x");
    let mut pty = begin(&host, &["Look"]);
    pty.sees("› 2 w  Continue").sees("Esc to quit");
    shown(&host, "question_project_changed", &mut pty);
}

#[tokio::test]
async fn screens_question_of_an_installation() {
    let host = Host::new(["run"]);
    let asks = [READS, &[("http", "GET api.example.com")]].concat();
    let bundle = publisher::file(&host, "counts.tar", &Publisher::new("acme").bundle("1.0.0", &asks).await);
    let install = ["plugin", "install", &bundle, "--user", "--allow-unsigned"];
    for (name, key, columns) in [
        ("question_install_60", "n\r", 60),
        ("question_install_declined", "n\r", COLUMNS),
        ("question_install", "y\r", COLUMNS),
    ] {
        let mut pty = Pty::start(host.command_of(&install), columns, ROWS);
        pty.sees("[n]o: ").types(key);
        pty.ends();
        shown(&host, name, &mut pty);
    }
}
