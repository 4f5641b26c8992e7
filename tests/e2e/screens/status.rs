//! The row below the input line.

use super::*;

/// A conversation in a repository, with a price for its model, after a reply.
fn talked(configuration: &str, columns: u16, environment: &[(&str, &str)]) -> (Host, Pty) {
    let host = Host::scripted(&[answer("It is a rocket.")], &[])
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".git/objects/info/x", "")
        .file(".git/refs/x", "");
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let price = format!("[models.\"{model}\"]\nprice = {{ input = 1000.0, output = 10000.0 }}\n{configuration}");
    let host = host.configured(&price);
    let mut command = host.command();
    command.env("TERM", "xterm-256color").envs(environment.iter().copied());
    let mut pty = Pty::start(command, columns, ROWS);
    pty.sees("default › ").types("What is it?\r").sees("It is a rocket.");
    (host, pty)
}

// promise conversation.status: A row below the input line has model, mode, context, tokens, cost and branch; it takes
//   one row at any width.
#[test]
fn screens_status_row_at_three_widths() {
    for columns in [40, 80, 120] {
        let (host, mut pty) = talked("", columns, &[]);
        pty.sees("\n\ndefault › \nscript.jsonl").sees("of 128k · ");
        shown(&host, &format!("status_{columns}"), &mut pty);
        let rows = pty.rows();
        let at = rows.iter().rposition(|row| !row.trim().is_empty()).expect("something is shown");
        assert!(rows[at].starts_with("script.jsonl") && rows[at - 1].starts_with("default ›"), "{rows:?}");
        // A list takes its place, and so does what is said about a key.
        pty.types("/").until("the list alone", |screen| screen.contains("/help  ") && !screen.contains("of 128k"));
        pty.types("\u{7f}").sees("of 128k").types("\u{4}");
        assert_eq!(pty.ends(), Some(0));
        assert!(!pty.everything().contains("of 128k"), "nothing of it stays: {}", pty.everything());
    }
}

#[test]
fn status_row_follows_the_width_of_the_terminal() {
    let (_host, mut pty) = talked("", 120, &[]);
    pty.sees("cost 1.60 · main").resize(40, ROWS);
    pty.until("a short row", |screen| screen.contains("of 128k") && !screen.contains("· main")).types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}

#[test]
fn status_row_is_plain_without_colour_and_absent_where_it_is_not_wanted() {
    let (_host, mut pty) = talked("", 80, &[("NO_COLOR", "1")]);
    pty.sees("cost 1.60 · main").types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    assert!(!pty.written().contains("\u{1b}[2m"), "{:?}", pty.written());
    for (configuration, variables) in [("[conversation]\nstatus = false\n", &[][..]), ("", &[("TERM", "dumb")])] {
        let (_host, mut pty) = talked(configuration, 80, variables);
        pty.types("/quit\r");
        assert_eq!(pty.ends(), Some(0));
        assert!(!pty.written().contains("· main"), "{:?}", pty.written());
    }
}

#[test]
fn status_row_has_the_mode_and_the_branch_of_now() {
    let (host, mut pty) = talked("", 120, &[]);
    pty.sees("script.jsonl · default").types("/mode plan\r").sees("script.jsonl · plan");
    let host = host.file(".git/HEAD", "ref: refs/heads/a\u{1b}[2Jb\n");
    pty.types("/mode default\r").sees("a\\u{1b}[2Jb").types("/clear\r").sees("new conversation");
    pty.until("nothing was used", |screen| screen.contains("script.jsonl · default · a\\u{1b}[2Jb"));
    drop(host);
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
}
