//! Answers with every element of Markdown: at several widths, without colour, on a terminal that cannot move its
//! cursor, in a pipe, and while the width changes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use super::*;

/// An answer with every element.
const ANSWER: &str = r#"# Fuel report

The burn rate is computed in **`src/fuel.rs`**, *not* in the ~~old~~ scheduler. Two callers depend on it; see [the
guide](https://example.com/guide/fuel?x=1) or https://example.com/plain for the reasons why it is computed so late.

## Findings

1. The first finding is long enough that it has to be wrapped at forty columns and hang under its text:
   - nested **bold** item with `code`
   - another one
     - third level, which is also rather long for a narrow terminal
2. The second finding
   ```rust
   /// Burns fuel.
   pub fn burn(litres: u32) -> Result<(), Error> {
       let left = 42 - litres; // may underflow
       todo!("not \"yet\"")
   }
   ```
3. 日本語のテキストも正しく折り返されます。句読点は行頭に来ません。絵文字 👩‍👩‍👧 ⚠️ も。

> A quote that goes on for long enough to be wrapped on each of the terminals.
>
> - with a list

| Tool | Calls | What it does |
|:-----|------:|--------------|
| `grep` | 12 | finds lines that match a regular expression |
| 読む | 3 | reads |

- [x] done
- [ ] open

---

```diff
-old
+new
```

The end & <b>not</b> HTML: 2 * 3 * 4, snake_case_name.
"#;

fn pieces(text: &str) -> Value {
    // In pieces that end anywhere, as a model sends them.
    let characters: Vec<char> = text.chars().collect();
    let chunks: Vec<Value> =
        characters.chunks(7).map(|piece| json!({"text": piece.iter().collect::<String>()})).collect();
    json!({ "chunks": chunks })
}

fn answered(arguments: &[&str]) -> Host {
    Host::scripted(&[pieces(ANSWER)], arguments)
}

fn start(host: &Host, columns: u16, variables: &[(&str, &str)]) -> Pty {
    let mut command = host.command();
    command.env("TERM", "xterm-256color").envs(variables.iter().copied()).arg("Report");
    Pty::start(command, columns, 24)
}

// promise terminal.markdown: On a terminal an answer's Markdown is rendered as it arrives and wrapped at words, at any
//   width; no word of it is lost.
#[test]
fn screens_answer_with_every_element() {
    for columns in [40, 80, 120] {
        let host = answered(&[]);
        let mut pty = start(&host, columns, &[]);
        pty.saw("1 turn");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        shown(&host, &format!("answer_{columns}"), &mut pty);
        let seen: String = pty.everything().split_whitespace().collect();
        for word in [
            "burnrate",
            "underflow",
            "third",
            "regular",
            "折り返されます",
            "句読点",
            "guide/fuel?x=1",
            "snake_case_name",
        ] {
            assert!(seen.contains(word), "{word} is lost in {columns} columns");
        }
        assert!(!pty.written().contains("**"), "marks are not shown where there is colour");
    }
}

// promise terminal.markdown
#[test]
fn screens_answer_without_colour() {
    let host = answered(&[]);
    let mut pty = start(&host, 80, &[("NO_COLOR", "1")]);
    pty.saw("1 turn");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    let written = pty.written();
    assert!(!written.contains("\u{1b}[1m") && !written.contains("\u{1b}]8;"), "{written:?}");
    shown(&host, "answer_without_colour", &mut pty);
}

// promise terminal.plain: In a pipe and on a terminal that cannot move its cursor, an answer is the model's own text;
//   in a pipe byte for byte.
#[test]
fn screens_answer_where_nothing_is_drawn() {
    let host = answered(&["Report"]);
    assert_eq!(host.run().stdout, ANSWER);
    let host = answered(&[]);
    let mut pty = start(&host, 200, &[("TERM", "dumb")]);
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(!pty.written().contains('\u{1b}'), "{:?}", pty.written());
    let written = pty.written().replace("\r\n", "\n");
    // Joiners and selectors of emoji stay: they are safe where they are.
    assert!(written.contains(ANSWER), "{written}");
}

// promise terminal.plain
#[test]
fn screens_answer_as_its_source() {
    let host = answered(&[]).configured("[conversation]\nraw = true\n");
    let mut pty = start(&host, 200, &[]);
    pty.saw("1 turn");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    assert!(
        pty.everything().contains("The burn rate is computed in **`src/fuel.rs`**, *not* in the ~~old~~ scheduler.")
    );
}

#[test]
fn screens_answer_is_rendered_copied_and_shown_raw() {
    let host = Host::scripted(&[answer("It is **here**.")], &[]);
    let mut command = host.command();
    command.env("TERM", "xterm-256color");
    let mut pty = Pty::start(command, 60, 24);
    pty.sees("default › ").types("Where?\r").sees("It is here.").sees("default › ");
    pty.types("/copy\r").sees("copied 15 characters");
    // The clipboard gets the source, in base64.
    assert!(pty.written().contains("SXQgaXMgKipoZXJlKiou"), "{:?}", pty.written());
    pty.types("/raw\r").sees("showing answers as the model wrote them").sees("It is **here**.");
    pty.types("/raw\r").sees("showing answers rendered").types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
}

/// Serves one reply of a model in two parts; the second when the test says so.
fn two_parts(first: &str, second: &str) -> (u16, mpsc::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (go_on, told) = mpsc::channel();
    let event = |text: &str| {
        let delta = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        format!("data: {delta}\n\n")
    };
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let (first, second) = (event(first), event(second) + &format!("data: {stop}\n\ndata: [DONE]\n\n"));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        std::io::copy(&mut reader.take(length), &mut std::io::sink()).expect("a body");
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(format!("{head}{first}").as_bytes()).expect("sent");
        told.recv().expect("the test goes on");
        stream.write_all(second.as_bytes()).expect("sent");
    });
    (port, go_on)
}

// promise terminal.resize: A change of the terminal's width while an answer arrives loses nothing and shows nothing
//   twice.
#[test]
fn screens_answer_while_the_width_changes() {
    for (before, behind) in [(80, 40), (40, 120)] {
        let first = "First words that stand above.\n\nAlpha bravo charlie delta echo foxtrot golf hotel india juliett";
        let second = " kilo lima mike november oscar papa quebec **romeo** sierra.\n\n| a | b |\n|---|---|\n| c | d |\n\nLast.\n";
        let (port, go_on) = two_parts(first, second);
        let host = Host::new(["run", "--model", "openai/x"]);
        let mut command = host.command();
        // The emulator cuts rows, as xterm does.
        command.env("TERM", "xterm-256color").env("XTERM_VERSION", "XTerm(390)");
        command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}")).arg("Spell");
        let mut pty = Pty::start(command, before, 24);
        pty.sees("juliett").resize(behind, 24);
        // It is drawn again at the new width before more comes.
        pty.until("the new width", |screen| {
            let rows: Vec<&str> =
                screen.lines().filter(|row| row.contains("Alpha") || row.contains("juliett")).collect();
            rows.len() == if behind == 40 { 2 } else { 1 }
        });
        go_on.send(()).expect("it waits");
        pty.saw("1 turn");
        assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
        let everything = pty.everything();
        let mut from = 0;
        let words = "First above Alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa \
                     quebec romeo sierra Last";
        for word in words.split(' ') {
            assert_eq!(everything.matches(word).count(), 1, "{word} in\n{everything}");
            let at = everything.find(word).expect("it was counted");
            assert!(at >= from, "{word} comes too early in\n{everything}");
            from = at;
        }
        assert!(everything.contains("c │ d"), "{everything}");
    }
}
