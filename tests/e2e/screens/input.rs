//! The input line: the list of completions, the search, a folded paste, the keys.

use super::*;

/// A terminal of this width with what was typed, as soon as this is seen. The last that is seen is in the last row, so
/// that no screen is compared that is half drawn.
fn typed(host: &Host, columns: u16, keys: &[(&str, &str)]) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, columns, 30);
    pty.sees("default › \nscript.jsonl · default");
    for (keys, seen) in keys {
        pty.types(keys).sees(seen);
    }
    pty
}

#[test]
fn screens_input_line_at_three_widths() {
    let paste = format!("explain \u{1b}[200~{}\u{1b}[201~", "a line\n".repeat(200));
    for columns in [40, 80, 120] {
        for (name, keys) in [
            ("menu_commands", &[("/", "\n  1/"), ("\u{1b}[B", "\n  2/")][..]),
            ("menu_modes", &[("/mode ", "yolo")]),
            ("menu_files", &[("see @fuel", "docs/fuel.md"), ("\u{1b}[B", "› docs/fuel.md")]),
            (
                "search",
                &[
                    ("one prompt\r", "\n\ndefault › \nscript.jsonl · "),
                    ("\u{12}", "search ›"),
                    ("pro", "search › pro"),
                    ("", "to cancel"),
                ],
            ),
            ("paste", &[(paste.as_str(), "200 lines]"), (" ok", "lines] ok\nscript.jsonl · default")]),
            ("keys", &[("?", "suspend"), ("", "open the ed")]),
            ("shell", &[("!", "runs as you"), ("git status", "!git status"), ("", "your next prompt")]),
        ] {
            let host = Host::scripted(&[answer("Done.")], &[]).file("src/fuel.rs", "").file("docs/fuel.md", "");
            let mut pty = typed(&host, columns, keys);
            shown(&host, &format!("input_{name}_{columns}"), &mut pty);
        }
    }
}
