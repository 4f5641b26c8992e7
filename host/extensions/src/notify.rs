//! The user's own command for notifications.
//!
//! Promises: the command comes from the user's configuration and never from a project's; no shell reads the message,
//! which is one argument; it runs beside the session, gets no input, and is ended with all that it started after
//! [`LIMIT`], or with the session.
//!
//! Deliberately not here: when a user is notified, which a frontend knows.

use std::ffi::OsString;
use std::time::Duration;

use host_process::{Command, Input};
use host_settings::environment::Environment;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long the command may take. A notification is shown at once or not at all.
const LIMIT: Duration = Duration::from_secs(10);

/// A program with arguments, to which a message is added.
pub struct NotifyCommand {
    words: Vec<String>,
    environment: Vec<(OsString, OsString)>,
    handle: Handle,
}

impl NotifyCommand {
    /// Prepares a command with the variables of this environment; `None` if there are no words. Must be called within a
    /// tokio runtime.
    pub fn new(words: &[String], environment: &Environment) -> Option<Self> {
        let handle = Handle::current();
        (!words.is_empty()).then(|| Self { words: words.to_vec(), environment: environment.all(), handle })
    }

    /// Runs it with this message as its last argument. Does not wait for it; a failure is logged.
    pub fn run(&self, message: &str) {
        let Some((program, arguments)) = self.words.split_first() else { return };
        let arguments = arguments.iter().map(OsString::from).chain([OsString::from(message)]).collect();
        let (program, environment) = (OsString::from(program), self.environment.clone());
        // Not in the workspace: no file there takes part.
        let command = Command { program, arguments, directory: "/".into(), environment, input: Input::Empty };
        self.handle.spawn(async move {
            let mut process = match host_process::start(&command, None, None) {
                Ok(process) => process,
                Err(error) => return tracing::warn!(%error, program = ?command.program, "cannot notify the user"),
            };
            // Nobody reads what it prints.
            drop((process.output.take(), process.errors.take()));
            if timeout(LIMIT, process.wait()).await.is_err() {
                tracing::warn!(program = ?command.program, "the command for notifications took too long");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use host_settings::environment::Terminals;

    fn command(words: &[&str]) -> NotifyCommand {
        let path = std::env::var_os("PATH").expect("the tests have one");
        let environment = Environment::new(BTreeMap::from([("PATH".into(), path)]), None, Terminals::default());
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        NotifyCommand::new(&words, &environment).expect("it has words")
    }

    /// Waits for a file that a command writes in one step.
    async fn written(path: &Path) -> String {
        let wait = async {
            loop {
                match std::fs::read_to_string(path) {
                    Ok(text) => return text,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        timeout(Duration::from_secs(30), wait).await.expect("it is written")
    }

    // promise conversation.notify: A command for notifications is the user's own; no shell reads the message, and
    //   nothing of it stays.
    #[tokio::test]
    async fn notification_is_one_argument_that_no_shell_reads() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, made) = (folder.path().join("file"), folder.path().join("made"));
        let script = "printf '%s|' \"$@\" \"$PWD\" > \"$0.new\"; mv \"$0.new\" \"$0\"";
        let message = format!("a b; touch {0} $(touch {0}) `touch {0}` \"' * --help", made.display());
        command(&["sh", "-c", script, file.to_str().expect("text"), "-x"]).run(&message);
        assert_eq!(written(&file).await, format!("-x|{message}|/|"));
        assert!(!made.exists());
    }

    #[tokio::test]
    async fn notification_that_cannot_run_or_prints_much_disturbs_nothing() {
        command(&["/no/such/program"]).run("a");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        // More than a pipe holds: nobody reads it, and it ends all the same.
        let script = "trap '' PIPE; head -c 200000 /dev/zero; echo x > \"$0.new\"; mv \"$0.new\" \"$0\"";
        command(&["sh", "-c", script, file.to_str().expect("text")]).run("b");
        assert_eq!(written(&file).await, "x\n");
        let none = Environment::new(BTreeMap::new(), None, Terminals::default());
        assert!(NotifyCommand::new(&[], &none).is_none());
    }
}
