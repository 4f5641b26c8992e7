//! The terminal as a frontend: the real binary on a pseudo-terminal, driven by keys.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use host_tests::host::Host;
use host_tests::pty::Pty;

use super::{Frontend, Reply};

/// The row of a question that listens, with the choice that Enter takes.
const LISTENS: &str = "› 1 y  ";

pub(super) struct OnTerminal(Pty);

impl OnTerminal {
    /// Answers the question that listens.
    fn answer(&mut self, key: &str) {
        let listens = |screen: &str| screen.lines().any(|row| row.starts_with(LISTENS));
        self.0.until("a question", listens).types(key);
    }
}

impl Frontend for OnTerminal {
    fn start(host: &Host, script: &Path, resumes: bool) -> Self {
        let editor = host.home().join("editor.sh");
        std::fs::write(&editor, "#!/bin/sh\nsed -i \"s/the model's/the user's/\" \"$1\"\n").expect("written");
        std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
        let model = format!("scripted:{}", script.display());
        let arguments = ["run", "--approval-mode", "default", "--model", &model, "--continue"];
        let mut command = host.command_of(if resumes { &arguments } else { &arguments[..5] });
        command.env("TERM", "xterm-256color").env("VISUAL", editor);
        let mut pty = Pty::start(command, 100, 40);
        if !resumes {
            pty.sees("› 2 w  Continue without it").types("t");
        }
        pty.sees("default › ");
        Self(pty)
    }

    fn install(host: &Host, bundle: &Path, yes: bool) {
        let bundle = bundle.display().to_string();
        let mut pty = Pty::start(host.command_of(&["plugin", "install", &bundle, "--user"]), 100, 40);
        pty.sees("Install it?").types(if yes { "y\r" } else { "n\r" });
        assert_eq!(pty.ends(), Some(if yes { 0 } else { 130 }), "{}", pty.everything());
    }

    fn prompt(&mut self, text: &str, replies: &[Reply], end: &str) {
        self.0.types(text).types("\r");
        for reply in replies {
            match reply {
                Reply::Yes => self.answer("y"),
                Reply::No => self.answer("n"),
                Reply::Change => {
                    self.answer("e");
                    self.0.sees("+ the user's");
                }
            }
        }
        self.0.saw(end).sees("default › ");
    }

    fn cancel(&mut self, text: &str) {
        self.0.types(text).types("\r");
        self.answer("y");
        self.0.sees("begun").types("\u{3}").sees("stopped").sees("default › ");
    }

    fn leave(mut self) {
        self.0.types("\u{4}");
        assert_eq!(self.0.ends(), Some(0), "{}", self.0.everything());
    }
}
