//! An hour at the terminal without its pauses: 300 turns, 40 questions, pastes, interrupts, and a window that changes
//! its size.

use super::*;

/// How many prompts are sent: nearly all of them take two turns.
const PROMPTS: usize = 160;

/// After so many prompts, whatever is allocated once has been.
const WARM: usize = 40;

/// How much memory the other prompts may take, in bytes: their messages, twice over, are less than one megabyte.
const GROWTH: u64 = 12 << 20;

/// The prompt on which the user writes, with the status row below it.
const READY: &str = "default › \nscript.jsonl";

/// What happens at a prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The model looks at something and answers.
    Looks,
    /// It wants to change a file, and the user is asked.
    Asks,
    /// It is stopped while it answers.
    Stopped,
}

fn kind(at: usize) -> Kind {
    match (at % 7, at % 14) {
        (3 | 5, _) => Kind::Asks,
        (_, 6) => Kind::Stopped,
        _ => Kind::Looks,
    }
}

// promise conversation.hour: After 300 turns with 40 questions, pastes, interrupts and resizes every answer has been
//   shown once, and memory has not grown.
#[test]
fn conversation_of_an_hour_keeps_its_screen_and_its_memory() {
    let count = |kind_of: Kind| (0..PROMPTS).filter(|at| kind(*at) == kind_of).count();
    let turns = 2 * (count(Kind::Looks) + count(Kind::Asks)) + count(Kind::Stopped);
    assert!(turns >= 300 && count(Kind::Asks) >= 40 && count(Kind::Stopped) >= 10, "{turns}");
    let replies: Vec<Value> = (0..PROMPTS)
        .flat_map(|at| match kind(at) {
            Kind::Looks => {
                vec![json!({"chunks": [call("ls", json!({}))]}), answer(&format!("Answer {at}: **seen**, `twice`."))]
            }
            Kind::Asks => {
                let write = call("write_file", json!({"path": "out.txt", "content": format!("{at}\n")}));
                vec![json!({"chunks": [write]}), answer(&format!("Answer {at}: changed."))]
            }
            Kind::Stopped => vec![hangs(&format!("Begin {at}"))],
        })
        .collect();
    let host = Host::scripted(&replies, &[]);
    let mut command = host.command();
    // The emulator of these tests cuts rows when it becomes narrower, as this terminal does.
    command.env("TERM", "xterm-256color").env("XTERM_VERSION", "XTerm(390)");
    let mut pty = Pty::start(command, 80, 30);
    pty.sees(READY);
    let mut warm = 0;
    for at in 0..PROMPTS {
        if at % 9 == 0 {
            pty.resize([40, 80, 120][at / 9 % 3], [24, 30, 40][at / 9 % 3]);
        }
        match at % 10 {
            4 => pty.types(&format!("\u{1b}[200~paste\nof two lines {at}\u{1b}[201~")).types("\r"),
            _ => pty.types(&format!("prompt {at}\r")),
        };
        let begins = match kind(at) {
            Kind::Looks => format!("Answer {at}: "),
            Kind::Asks => {
                pty.sees("› 1 y  Yes, this once").types("y");
                format!("Answer {at}: ")
            }
            Kind::Stopped => {
                let begins = format!("Begin {at}");
                pty.sees(&begins).types("\u{3}");
                begins
            }
        };
        pty.until(&format!("the end of prompt {at}"), |screen| {
            screen.rsplit_once(begins.as_str()).is_some_and(|(_, rest)| rest.contains(READY))
        });
        if at == WARM {
            warm = pty.resident_memory();
        }
    }
    let grown = pty.resident_memory().saturating_sub(warm);
    let screen = pty.screen();
    assert!(screen.trim_end().lines().rev().take(2).any(|row| row.starts_with("default ›")), "{screen}");
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0));
    let all = pty.everything();
    for at in 0..PROMPTS {
        let (text, times) = match kind(at) {
            Kind::Looks | Kind::Asks => (format!("\n  Answer {at}: "), 1),
            Kind::Stopped => (format!("\n  Begin {at}\n"), 1),
        };
        assert_eq!(all.matches(&text).count(), times, "{text}:\n{all}");
    }
    assert_eq!(all.matches("› Yes, this once").count(), count(Kind::Asks), "{all}");
    assert!(!all.contains("› 1 y  Yes"), "no choices are left");
    assert!(grown < GROWTH, "it has grown by {grown} bytes since it was warm");
    let settled = host.session().into_iter().filter(|entry| entry["type"] == "call_settled").count();
    assert_eq!(settled, count(Kind::Looks) + count(Kind::Asks));
}
