//! The beginnings: a first start without a model, a folder that is not a repository, the start screen, the list of
//! sessions, a resumed conversation. Each at 40, 80 and 120 columns.

use super::*;

const WIDTHS: [u16; 3] = [40, 80, 120];

/// The last row of a question that listens.
const END: &str = "↑↓ and Enter";

/// A host without a model, and without a server on this machine that answers.
fn without_model() -> Host {
    Host::new(std::iter::empty::<&str>())
        .env("OLLAMA_HOST", "127.0.0.1:1")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
}

/// The arguments for a script with these replies.
fn script(host: &Host, replies: &[Value]) -> String {
    let script = host.home().join("script.jsonl");
    let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
    std::fs::write(&script, lines).expect("written");
    format!("scripted:{}", script.display())
}

#[test]
fn screens_first_start() {
    for columns in WIDTHS {
        let host = without_model();
        let mut pty = begin_on(&host, &[], columns);
        pty.sees("› 1 g").sees(END);
        shown(&host, &format!("first_start_{columns}"), &mut pty);
    }
}

#[test]
fn screens_folder_that_is_not_a_repository() {
    for columns in WIDTHS {
        let host = Host::new(std::iter::empty::<&str>());
        std::fs::remove_dir(host.repository().join(".git")).expect("removed");
        let mut pty = begin_on(&host, &["--model", "offline"], columns);
        pty.sees("› 1 y").sees(END);
        shown(&host, &format!("folder_{columns}"), &mut pty);
    }
}

#[test]
fn screens_start_of_a_conversation() {
    for columns in WIDTHS {
        let host = Host::new(std::iter::empty::<&str>())
            .file("AGENTS.md", "Use tabs.\n")
            .file("CLAUDE.md", "Use blanks.\n")
            .file("GEMINI.md", "Write tests.\n")
            .file(".host/config.toml", "[run]\nmax_turns = 50\n")
            .file(
                ".host/agents/surveyor.md",
                "---\nname: surveyor\ndescription: Surveys.\ntools: [ls]\n---\nYou survey.\n",
            );
        assert_eq!(host.run_of(&["trust", "add"]).code, Some(0));
        let mut pty = begin_on(&host, &["--model", "offline"], columns);
        pty.sees("default › \noffline · default");
        shown(&host, &format!("start_{columns}"), &mut pty);
        pty.types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
    }
}

#[test]
fn screens_list_of_sessions() {
    let host = Host::new(std::iter::empty::<&str>());
    let model = script(&host, &[answer("Done.")]);
    for prompt in [
        "Fix the tests",
        "日本語で説明して、このリポジトリの構造を。とても長い文章です。",
        "Where is the fuel counted?\nAnd by whom?",
    ] {
        assert_eq!(host.run_of(&["run", "--model", &model, prompt]).code, Some(0));
    }
    for columns in WIDTHS {
        let mut pty = begin_on(&host, &["--model", &model, "--resume"], columns);
        pty.sees("› Where is the fuel").sees("3 · type to search");
        shown(&host, &format!("sessions_{columns}"), &mut pty);
        if columns < 120 {
            pty.types("\u{1b}");
            assert_eq!(pty.ends(), Some(130), "{}", pty.everything());
            continue;
        }
        pty.types("tests").sees("search › tests").sees("1 of 3");
        shown(&host, "sessions_found", &mut pty);
        pty.types("\r").sees("resumed session").sees("Done.").sees("default › ").types("\u{4}");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    }
}

#[test]
fn screens_resumed_conversation() {
    let host = Host::new(std::iter::empty::<&str>());
    let long = "There are **two** places:\n\n- `src/fuel.rs` counts what is burnt, litre by litre, as long as the engine runs\n- `src/tank.rs` counts what is left";
    let model = script(
        &host,
        &[json!({"chunks": [call("ls", json!({})), call("glob", json!({"pattern": "*"}))]}), answer(long)],
    );
    assert_eq!(host.run_of(&["run", "--model", &model, "Where is the fuel counted?"]).code, Some(0));
    for columns in WIDTHS {
        let mut pty = begin_on(&host, &["--model", &model, "-c"], columns);
        pty.until("the prompt", |screen| screen.trim_end().ends_with("of 128k"));
        shown(&host, &format!("resumed_{columns}"), &mut pty);
        pty.types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
    }
}
