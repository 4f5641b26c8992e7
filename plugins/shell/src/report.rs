//! What is told of a command that has ended.

use std::fmt::Write;

use host_sdk::process::Exit;

use crate::SILENCE_LIMIT;

/// A command that has ended.
pub(crate) struct Report {
    /// What it printed to both outputs, in order and marked.
    pub(crate) printed: String,
    /// How it ended.
    pub(crate) exit: Exit,
    /// The time after which it was ended, in seconds; `None` if it was not.
    pub(crate) expired: Option<u64>,
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
        if let Some(seconds) = self.expired {
            _ = writeln!(text, "Ended: it had run for {seconds} seconds, its timeout");
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
        match self.printed.trim().is_empty() {
            true => String::new(),
            false => format!("Output:\n{}\n", self.printed.trim_end_matches('\n')),
        }
    }

    /// The line for a user, who sees the command and its output: empty when that says all.
    pub(crate) fn summary(&self) -> String {
        if let Some(seconds) = self.expired {
            return format!("ended after {seconds} s");
        }
        match (self.exit.timed_out, self.exit.signal, self.exit.code) {
            (true, ..) => format!("ended: no output for {} minutes", SILENCE_LIMIT / 60_000),
            (false, Some(signal), _) => format!("signal {signal}"),
            (false, None, Some(0)) if !self.exit.background.is_empty() => {
                let count = self.exit.background.len();
                format!("ended {count} background {}", if count == 1 { "process" } else { "processes" })
            }
            (false, None, Some(0)) if !self.printed.trim().is_empty() => String::new(),
            (false, None, Some(0)) => "no output".to_owned(),
            (false, None, Some(code)) => format!("exit {code}"),
            (false, None, None) => "ended".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(printed: &str, code: Option<i32>, signal: Option<i32>) -> Report {
        let exit = Exit { code, signal, timed_out: false, background: Vec::new() };
        Report { printed: printed.to_owned(), exit, expired: None }
    }

    #[test]
    fn shell_report_has_only_lines_with_content() {
        assert_eq!(report("a\nb\n", Some(0), None).write(), "Output:\na\nb\n");
        assert_eq!(report("[stderr]\nno\n", Some(2), None).write(), "Output:\n[stderr]\nno\nExit code: 2\n");
        assert_eq!(report("a", None, Some(9)).write(), "Output:\na\nSignal: 9\n");
        assert_eq!(report("\n", Some(0), None).write(), "It succeeded and printed nothing\n");
    }

    #[test]
    fn shell_report_names_what_the_host_ended() {
        let mut report = report("a", None, Some(15));
        report.exit.timed_out = true;
        report.exit.background = vec![7, 8];
        let expected = "Output:\na\nSignal: 15\nEnded: it had printed nothing for 5 minutes\n\
            Background processes, now ended: 7, 8\n";
        assert_eq!(report.write(), expected);
        assert_eq!(report.summary(), "ended: no output for 5 minutes");
    }

    #[test]
    fn shell_report_of_a_command_that_ran_too_long_has_what_it_printed_and_its_timeout() {
        let report = Report { expired: Some(90), ..report("a", None, Some(15)) };
        assert_eq!(report.write(), "Output:\na\nSignal: 15\nEnded: it had run for 90 seconds, its timeout\n");
        assert_eq!(report.summary(), "ended after 90 s");
    }

    #[test]
    fn shell_summary_says_what_command_and_output_do_not() {
        for (printed, code, signal, summary) in [
            ("a", Some(0), None, ""),
            ("\n", Some(0), None, "no output"),
            ("a", Some(101), None, "exit 101"),
            ("a", None, Some(9), "signal 9"),
            ("a", None, None, "ended"),
        ] {
            assert_eq!(report(printed, code, signal).summary(), summary);
        }
        let mut report = report("a", Some(0), None);
        report.exit.background = vec![7];
        assert_eq!(report.summary(), "ended 1 background process");
    }
}
