//! The user's input: the words of the command line, and standard input if it is not a terminal.

use std::io::Read;
use std::time::Duration;

use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use tokio_util::sync::CancellationToken;

use crate::arguments::Run;
use crate::printer;

/// How long standard input may stay silent if there is a prompt already. The other end of a pipe in a script or a job
/// runner often never writes anything.
const SILENT_INPUT: Duration = Duration::from_millis(500);

/// How long the run waits for an open standard input before it prints a note. Without the note the run would seem to
/// hang.
const TOLD: Duration = Duration::from_secs(3);

/// The most that is read from standard input. Protects memory; a prompt of this size fits no model.
const MAX_INPUT: u64 = 16 << 20;

/// The input.
pub(super) struct UserInput {
    /// The words of the command line.
    pub(super) words: String,
    /// Standard input, if it is not a terminal.
    pub(super) piped: String,
}

impl UserInput {
    /// Creates an empty input.
    pub(super) fn nothing() -> Self {
        Self { words: String::new(), piped: String::new() }
    }

    /// Takes all of it as one prompt and leaves nothing.
    pub(super) fn take(&mut self) -> String {
        let Self { words, piped } = std::mem::replace(self, Self::nothing());
        joined(&words, &piped)
    }

    /// Returns whether the input is empty.
    pub(super) fn is_nothing(&self) -> bool {
        joined(&self.words, &self.piped).is_empty()
    }
}

/// Reads what to do, within the time limit of the run. Nothing is enough only where something may be left to do.
pub(super) async fn read_input(
    run: &Run,
    may_be_nothing: bool,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<UserInput, Failure> {
    let limit = run.timeout.unwrap_or(Duration::MAX);
    let words = Some(run.prompt.join(" ")).filter(|words| !words.trim().is_empty()).unwrap_or_default();
    let needed = words.is_empty() && !may_be_nothing;
    let piped = match environment.stdin_is_terminal {
        true => String::new(),
        false => tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
            piped = tokio::time::timeout(limit, standard_input(!needed, environment)) => {
                piped.map_err(|_| late(limit)).flatten()?
            }
        },
    };
    if needed && joined(&words, &piped).is_empty() {
        return Err(Failure::input("no prompt").help(
            "pass it as an argument, such as host run \"Survey this repository\", or on standard input; in a terminal, \
             `host` starts a conversation",
        ));
    }
    Ok(UserInput { words, piped })
}

fn late(limit: Duration) -> Failure {
    let words = format!("time limit reached: standard input was still open after {limit:?}");
    Failure::new(ErrorKind::TimeLimit, words).help("close standard input, or raise --timeout")
}

/// Both, parted by a line; whichever is blank is left out.
fn joined(words: &str, piped: &str) -> String {
    let parts: Vec<&str> = [words, piped].into_iter().filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n\n")
}

/// Reads standard input to its end. If there is a prompt already, it does not wait for input that stays silent; for any
/// other input it waits, and prints a note.
async fn standard_input(prompted: bool, environment: &Environment) -> Result<String, Failure> {
    let note = |words: &str| printer::notes(&[words.to_owned()], environment);
    let told = tokio::time::sleep(TOLD);
    tokio::pin!(told);
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<std::io::Result<Vec<u8>>>(4);
    // A thread of its own: a read that never returns must not keep the process from ending.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock().take(MAX_INPUT + 1);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let piece = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer.get(..count).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = piece.is_err();
            if sender.blocking_send(piece).is_err() || failed {
                return;
            }
        }
    });
    let mut bytes = Vec::new();
    loop {
        let piece = if prompted && bytes.is_empty() {
            match tokio::time::timeout(SILENT_INPUT, receiver.recv()).await {
                Ok(piece) => piece,
                Err(_) => {
                    note("ignoring standard input: it is open, but nothing arrived; to close it: `< /dev/null`");
                    return Ok(String::new());
                }
            }
        } else {
            tokio::select! {
                biased;
                piece = receiver.recv() => piece,
                () = &mut told, if !told.is_elapsed() => {
                    note("reading standard input; the run starts when it ends");
                    continue;
                }
            }
        };
        match piece {
            None => break,
            Some(Ok(piece)) => bytes.extend_from_slice(&piece),
            Some(Err(error)) => return Err(Failure::input(format!("cannot read standard input: {error}"))),
        }
        if bytes.len() as u64 > MAX_INPUT {
            return Err(Failure::input(format!("standard input is over the limit of {MAX_INPUT} bytes"))
                .help("save it to a file of the workspace and name the file in the prompt"));
        }
    }
    String::from_utf8(bytes).map_err(|error| {
        Failure::input(format!("standard input is not text: byte {} is not UTF-8", error.utf8_error().valid_up_to()))
    })
}
