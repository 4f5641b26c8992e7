//! The user's pager on a text that is too long for the screen.
//!
//! Promises: what is paged has no control characters but line ends and tabs; without a pager, or if it fails at once,
//! the text is shown in the terminal all the same.
//!
//! Deliberately not here: which text is paged.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use host_settings::environment::Environment;
use host_terminal::{Terminal, TerminalMode};
use host_text::visible;

/// The pager of those who named none: it takes the whole text, and ends with a key.
const DEFAULT: &str = "less";

/// The exit codes by which a shell says that a program is not there or cannot be run.
const NOT_RUN: [i32; 2] = [126, 127];

/// The pager of the user.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    /// As the variable has it: a program, perhaps with arguments. `None` pages nothing.
    command: Option<OsString>,
}

impl Pager {
    /// `PAGER`, or `less`. `cat` pages nothing, and so does a terminal that does not move its cursor.
    pub(crate) fn from_environment(environment: &Environment, mode: TerminalMode) -> Self {
        let named = environment.variable("PAGER").map_or_else(|| DEFAULT.into(), OsString::from);
        let pages = mode == TerminalMode::Ansi && named.to_str().map(str::trim) != Some("cat");
        Self { command: pages.then_some(named) }
    }

    /// Shows a text, made visible, and returns when the user is done with it.
    pub(crate) async fn show(&self, terminal: &Terminal, text: &str) {
        let text = visible(text).into_owned();
        let Some(command) = self.command.clone() else { return terminal.lines(&text) };
        let paged = text.clone();
        if !terminal.lend(move || page(&command, &paged)).await {
            terminal.lines(&text);
        }
    }
}

/// Runs the pager on the text; returns whether it ran.
fn page(command: &OsString, text: &str) -> bool {
    // The variable may hold arguments, so a shell reads it. Ctrl-C is for the pager: the shell waits for it.
    let mut line = OsString::from("trap : INT QUIT\n");
    line.push(command);
    let started = Command::new("sh").arg("-c").arg(line).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = started else { return false };
    let written = match child.stdin.take() {
        // One that is left before the end closes the pipe.
        Some(mut pipe) => pipe.write_all(text.as_bytes()),
        None => Ok(()),
    };
    let is_read = written.is_ok() || written.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    let ended = child.wait();
    is_read && ended.is_ok_and(|status| !status.code().is_some_and(|code| NOT_RUN.contains(&code)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use host_settings::environment::Terminals;

    use super::*;

    #[test]
    fn pager_is_the_users_or_less() {
        for (variable, mode, pager) in [
            (None, TerminalMode::Ansi, Some("less")),
            (Some("more -f"), TerminalMode::Ansi, Some("more -f")),
            // As any empty variable, it counts as unset.
            (Some(""), TerminalMode::Ansi, Some("less")),
            (Some(" cat "), TerminalMode::Ansi, None),
            (Some("more"), TerminalMode::Dumb, None),
            (None, TerminalMode::Dumb, None),
        ] {
            let variables: BTreeMap<OsString, OsString> =
                variable.into_iter().map(|value: &str| ("PAGER".into(), value.into())).collect();
            let environment = Environment::new(variables, None, Terminals::default());
            let found = Pager::from_environment(&environment, mode).command;
            assert_eq!(found.as_deref().and_then(std::ffi::OsStr::to_str), pager, "{variable:?}");
        }
    }

    #[test]
    fn pager_gets_the_text_and_may_leave_before_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("paged");
        assert!(page(&format!("cat > '{}'", file.display()).into(), "a\nb\n"));
        assert_eq!(std::fs::read_to_string(file).expect("it was paged"), "a\nb\n");
        assert!(page(&"true".into(), &"x".repeat(1 << 20)), "it was left at once");
        assert!(page(&"false".into(), "a"), "one that ran has shown it");
        assert!(!page(&"/no/such/pager -R".into(), "a"));
    }
}
