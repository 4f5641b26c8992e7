//! The list of programs that run in the background.

use std::time::Duration;

use host_plugin::{BackgroundProgram, BackgroundState, Forwarded};
use host_terminal::truncate_to_width;
use host_text::{counted, visible_line};

use super::status::addresses;
use crate::printer::Style;

/// The narrowest column for a command.
const NARROWEST: usize = 20;

/// Two lines for each program, in the order in which they were started, and one for the ports that the user reaches.
pub(super) fn list(programs: &[BackgroundProgram], ports: &[Forwarded], style: Style, columns: usize) -> String {
    if programs.is_empty() {
        return "nothing runs in the background\n".to_owned();
    }
    let mut lines = String::new();
    for program in programs {
        let state = match program.state {
            BackgroundState::Running => format!("running for {}", time(program.time)),
            BackgroundState::Exited(code) => format!("exited with {code} after {}", time(program.time)),
            BackgroundState::Signalled(signal) => format!("ended by signal {signal} after {}", time(program.time)),
        };
        let about = format!("{state}, {} printed", counted(program.printed, "byte"));
        let room = columns.saturating_sub(program.id.len() + 2).max(NARROWEST);
        let command = truncate_to_width(&visible_line(&program.command), room);
        lines.push_str(&format!("{}  {command}\n", style.bold(&program.id)));
        lines.push_str(&format!("    {}\n", style.dim(&truncate_to_width(&about, room.saturating_sub(2)))));
    }
    if !ports.is_empty() {
        lines.push_str(&format!("{}\n", truncate_to_width(&format!("open: {}", addresses(ports)), columns)));
    }
    lines
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use host_capability::PluginName;

    use super::*;

    fn program(id: &str, command: &str, state: BackgroundState, seconds: u64) -> BackgroundProgram {
        let (id, command, plugin) = (id.to_owned(), command.to_owned(), PluginName::new("shell"));
        BackgroundProgram { id, command, plugin, state, time: Duration::from_secs(seconds), printed: 1 }
    }

    #[test]
    fn processes_list_has_command_state_and_time() {
        let style = Style { colour: false };
        assert_eq!(list(&[], &[], style, 80), "nothing runs in the background\n");
        let programs = [
            program("p1", "npm run dev", BackgroundState::Running, 75),
            program("p2", "make\n\u{1b}[2Jx", BackgroundState::Exited(2), 3),
            program("p3", "sleep 9", BackgroundState::Signalled(15), 7_300),
        ];
        let ports = [Forwarded { inside: 5173, outside: 5173 }];
        let text = list(&programs, &ports, style, 80);
        let expected = "p1  npm run dev\n    running for 1 min 15 s, 1 byte printed\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("    exited with 2 after 3 s") && text.contains("ended by signal 15 after 2 h 1 min"));
        assert!(text.ends_with("\nopen: localhost:5173\n") && text.lines().count() == 7);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(list(&programs, &ports, style, 30).lines().all(|line| host_terminal::width(line) <= 30));
    }
}
