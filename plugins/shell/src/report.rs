//! What is told of a command that has ended.

use std::fmt::Write;

use host_sdk::process::Exit;

use crate::SILENCE_LIMIT;

/// How many characters of the command stand in the line for a user.
const MAX_COMMAND: usize = 60;

/// A command that has ended.
pub(crate) struct Report {
    /// What it printed.
    pub(crate) stdout: String,
    /// What it printed as errors.
    pub(crate) stderr: String,
    /// How it ended.
    pub(crate) exit: Exit,
}

impl Report {
    /// The lines for a model: each named, and only those that say something.
    pub(crate) fn write(&self) -> String {
        let mut text = self.partial();
        match self.exit.code {
            Some(0) | None => {}
            Some(code) => _ = writeln!(text, "Exit code: {code}"),
        }
        if let Some(signal) = self.exit.signal {
            _ = writeln!(text, "Signal: {signal}");
        }
        if self.exit.timed_out {
            _ = writeln!(text, "Ended: it had printed nothing for {} minutes", SILENCE_LIMIT / 60_000);
        }
        if !self.exit.background.is_empty() {
            let ids: Vec<_> = self.exit.background.iter().map(u32::to_string).collect();
            _ = writeln!(text, "Background processes, now ended: {}", ids.join(", "));
        }
        if text.is_empty() {
            text.push_str("It succeeded and printed nothing\n");
        }
        text
    }

    /// What it printed, for a command that was stopped.
    pub(crate) fn partial(&self) -> String {
        let mut text = String::new();
        for (name, printed) in [("Output", &self.stdout), ("Error", &self.stderr)] {
            if !printed.trim().is_empty() {
                _ = writeln!(text, "{name}:\n{}", printed.trim_end_matches('\n'));
            }
        }
        text
    }

    /// The line for a user.
    pub(crate) fn summary(&self, command: &str) -> String {
        let first = command.lines().next().unwrap_or_default();
        let mut line: String = first.chars().take(MAX_COMMAND).collect();
        if line.len() < command.trim_end().len() {
            line.push('…');
        }
        _ = match (self.exit.timed_out, self.exit.signal, self.exit.code) {
            (true, ..) => write!(line, ": ended after silence"),
            (false, Some(signal), _) => write!(line, ": signal {signal}"),
            (false, None, Some(code)) => write!(line, ": exit code {code}"),
            (false, None, None) => write!(line, ": ended"),
        };
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(stdout: &str, stderr: &str, code: Option<i32>, signal: Option<i32>) -> Report {
        let exit = Exit { code, signal, timed_out: false, background: Vec::new() };
        Report { stdout: stdout.to_owned(), stderr: stderr.to_owned(), exit }
    }

    #[test]
    fn shell_report_has_only_lines_with_content() {
        assert_eq!(report("a\nb\n", "", Some(0), None).write(), "Output:\na\nb\n");
        assert_eq!(report("", "no\n", Some(2), None).write(), "Error:\nno\nExit code: 2\n");
        assert_eq!(report("a", "b", None, Some(9)).write(), "Output:\na\nError:\nb\nSignal: 9\n");
        assert_eq!(report("\n", "", Some(0), None).write(), "It succeeded and printed nothing\n");
    }

    #[test]
    fn shell_report_names_what_the_host_ended() {
        let mut report = report("a", "", None, Some(15));
        report.exit.timed_out = true;
        report.exit.background = vec![7, 8];
        let expected = "Output:\na\nSignal: 15\nEnded: it had printed nothing for 5 minutes\n\
            Background processes, now ended: 7, 8\n";
        assert_eq!(report.write(), expected);
        assert_eq!(report.summary("make"), "make: ended after silence");
    }

    #[test]
    fn shell_report_cuts_a_long_command_for_the_user() {
        let ended = report("", "", Some(0), None);
        assert_eq!(ended.summary("ls\n"), "ls: exit code 0");
        assert_eq!(ended.summary("ls\npwd"), "ls…: exit code 0");
        assert_eq!(ended.summary(&"x".repeat(70)), format!("{}…: exit code 0", "x".repeat(60)));
    }
}
