//! The programs that run in the background, and the ports of theirs that the user reaches.

use std::time::Duration;

use host_plugin::{BackgroundProgram, BackgroundState, Forwarded};
use host_text::{clip, counted, visible_line};

use crate::page::{Line, Page, Weight};

/// How much of a command is shown, in characters.
const COMMAND: usize = 200;

/// Two lines for each program, in the order in which they were started, and one for the ports.
pub fn page(programs: &[BackgroundProgram], ports: &[Forwarded]) -> Page {
    if programs.is_empty() {
        return Page::of("nothing runs in the background");
    }
    let mut page = Page::default();
    for program in programs {
        let state = match program.state {
            BackgroundState::Running => format!("running for {}", time(program.time)),
            BackgroundState::Exited(code) => format!("exited with {code} after {}", time(program.time)),
            BackgroundState::Signalled(signal) => format!("ended by signal {signal} after {}", time(program.time)),
        };
        let command = visible_line(&clip(&program.command, COMMAND)).into_owned();
        let id = Line::strong(&program.id);
        page.push(id.and(format!("  {command}"), Weight::Plain).indented(4));
        let about = format!("{state}, {} printed", counted(program.printed, "byte"));
        page.push(Line::new("    ").and(about, Weight::Faint).indented(4));
    }
    if !ports.is_empty() {
        page.push(Line::new(format!("open: {}", addresses(ports))).indented(4));
    }
    page
}

/// The addresses of ports that the user reaches, each with the number that the program knows if it is a different one.
pub fn addresses(ports: &[Forwarded]) -> String {
    let address = |port: &Forwarded| match port.inside == port.outside {
        true => format!("localhost:{}", port.outside),
        false => format!("localhost:{} (for {})", port.outside, port.inside),
    };
    ports.iter().map(address).collect::<Vec<_>>().join(" ")
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

    #[test]
    fn processes_have_command_state_and_time() {
        assert_eq!(page(&[], &[]).text(), "nothing runs in the background\n");
        let program = |id: &str, command: &str, state, seconds| BackgroundProgram {
            id: id.to_owned(),
            command: command.to_owned(),
            plugin: PluginName::new("shell"),
            state,
            time: Duration::from_secs(seconds),
            printed: 1,
        };
        let programs = [
            program("p1", "npm run dev", BackgroundState::Running, 75),
            program("p2", "make\n\u{1b}[2Jx", BackgroundState::Exited(2), 3),
            program("p3", "sleep 9", BackgroundState::Signalled(15), 7_300),
        ];
        let ports = [Forwarded { inside: 5173, outside: 5173 }];
        let expected = "p1  npm run dev\n    running for 1 min 15 s, 1 byte printed\n\
                        p2  make\\n\\u{1b}[2Jx\n    exited with 2 after 3 s, 1 byte printed\n\
                        p3  sleep 9\n    ended by signal 15 after 2 h 1 min, 1 byte printed\n\
                        open: localhost:5173\n";
        assert_eq!(page(&programs, &ports).text(), expected);
    }
}
