//! A conversation: its beginning, its commands, its end.

use super::*;

const PROMPT: &str = "default › ";

#[test]
fn screens_conversation_with_its_commands() {
    let host = Host::scripted(&[answer("It is a rocket."), answer("To the moon.")], &[]);
    let mut pty = begin(&host, &[]);
    pty.sees(PROMPT).types("What is it?\r").saw("It is a rocket.").sees(PROMPT);
    for (command, seen) in [
        ("/help", "/compress"),
        ("/mode plan", "plan ›"),
        ("/mode default", "mode: default"),
        ("/nonsense", "no command"),
    ] {
        pty.types(&format!("{command}\r")).saw(seen);
    }
    // A command that does not exist stays in the line, to be put right.
    pty.sees("default › /nonsense").types("\u{15}");
    pty.types("Where does it fly?\r").saw("To the moon.").sees(PROMPT).types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.everything());
    shown(&host, "conversation", &mut pty);
}
