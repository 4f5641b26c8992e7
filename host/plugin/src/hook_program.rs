//! Programs that are asked about an event of a session: they read JSON, and answer by what they print and how they end.
//!
//! Promises: such a program is confined like those of calls, unless the user turned that off; it gets an environment
//! without secrets; what it prints is bounded; when it has ended, in time or not, everything that it started is ended
//! too, and dropping the future ends it the same way.
//!
//! Deliberately not here: which hooks there are, and what an answer means.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host_capability::{Grants, PluginName, Resources, Scope};
use host_process::{ConfineMode, Ended, Process};
use host_programs::{Confined, ProgramAccess, ProgramReach, Repositories};
use host_undo::CallRecorder;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, sleep_until, timeout};

use crate::process::{AfterProgram, AllowedBy, Doors, KeptFrom, before_program, file_of, network, widen};
use crate::runtime::Runtime;
use crate::server_program::environment;

/// The most bytes that a hook may answer. Protects memory; an answer is a few lines.
pub const MAX_HOOK_OUTPUT: usize = 1 << 20;

/// The most bytes that are kept of what a hook reports on standard error; the rest is read and dropped.
const MAX_ERRORS: usize = 64 << 10;

/// The longest time that a file may give a hook. Protects the session from one that waits for ever.
pub const MAX_HOOK_TIME: Duration = Duration::from_secs(600);

/// How long reading what was printed may go on after all processes have ended: the pipes are closed by then.
const DRAIN: Duration = Duration::from_secs(5);

/// A program to ask.
#[derive(Clone, Debug)]
pub struct HookCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The folder that it starts in; absolute.
    pub directory: PathBuf,
    /// Variables besides those that every program gets.
    pub environment: Vec<(String, String)>,
    /// What it may use when it is confined, besides what every program may.
    pub resources: Resources,
    /// Whether it is confined.
    pub confine: ConfineMode,
    /// Whether it may change nothing but its folder for temporary files, where it is confined.
    pub only_reads: bool,
    /// How long it may take.
    pub limit: Duration,
    /// Keeps what it changes, to be undone.
    pub changes: Option<CallRecorder>,
}

/// What a program printed until it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookPrinted {
    /// Its standard output.
    pub output: Vec<u8>,
    /// The beginning of its standard error.
    pub errors: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEnd {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It was ended, since it took too long.
    TimedOut,
    /// It was ended, since it printed more than [`MAX_HOOK_OUTPUT`].
    TooMuch,
    /// It did not start; says why, safe to show.
    NotStarted(String),
}

impl Runtime {
    /// Runs a program with this input to its end. Dropping the future ends it.
    pub async fn run_hook(&self, command: &HookCommand, input: Vec<u8>) -> (HookEnd, HookPrinted) {
        let not_started = |why| (HookEnd::NotStarted(why), HookPrinted::default());
        // Nothing is looked at for a hook that only reads: a look takes as long as the folder is large.
        let changes = command.changes.clone().filter(|_| !command.only_reads);
        let program = match before_program(changes).await {
            Ok(program) => program,
            Err(why) => return not_started(format!("what it may change cannot be kept: {why}")),
        };
        let reach = if command.only_reads { ProgramReach::Reading } else { ProgramReach::Workspace };
        let access = self.access();
        let (shared, of_search) = (Arc::clone(self.shared()), Arc::clone(&access));
        let confine = command.confine;
        // Searching the workspace for repositories reads thousands of folders.
        let found =
            tokio::task::spawn_blocking(move || shared.programs.repositories_in(&of_search.programs, confine, reach));
        let found = found.await;
        let repositories = match found {
            Ok(repositories) => repositories,
            Err(error) => return not_started(error.to_string()),
        };
        // A hook opens no door: nobody is asked on its behalf.
        let doors = Doors::closed(KeptFrom::new(AllowedBy::Hooks));
        match self.start_hook(command, &access.programs, repositories.as_ref(), doors) {
            Ok(process) => {
                let mut after = AfterProgram::new(program, repositories);
                let ended = follow(process, input, command.limit.min(MAX_HOOK_TIME)).await;
                after.look().await.iter().for_each(|line| tracing::warn!("{line}"));
                ended
            }
            Err(why) => not_started(why),
        }
    }

    pub(crate) fn start_hook(
        &self,
        command: &HookCommand,
        access: &ProgramAccess,
        repositories: Option<&Repositories>,
        doors: Doors,
    ) -> Result<Process, String> {
        let names_none = || "the command names no program".to_owned();
        let scope = Scope::for_command_using(&command.argv, &command.resources).map_err(|error| error.to_string())?;
        let scope = scope.ok_or_else(names_none)?;
        // A permit of its own, for the words that the user configured: the session's grants do not reach hooks.
        let permit = Grants::none().with(scope).permit_process(&PluginName::new("hooks"), &command.argv);
        let permit = permit.map_err(|denied| denied.to_string())?;
        let Some((program, arguments)) = permit.argv().split_first() else { return Err(names_none()) };
        let shared = self.shared();
        let reach = if command.only_reads { ProgramReach::Reading } else { ProgramReach::Workspace };
        let Confined { mut confinement, note } = shared.programs.next_in(access, command.confine, reach)?;
        note.iter().for_each(|note| tracing::warn!("{}", note.trim_end()));
        let network = confinement.as_mut().map(|confinement| {
            if let Some(repositories) = repositories {
                repositories.confine(confinement);
            }
            if let Some(note) = widen(confinement, permit.resources()) {
                tracing::warn!("{}", note.trim_end());
            }
            network(permit.clone(), doors)
        });
        if let Some(confinement) = &mut confinement {
            // Right before the start, after the confinement got its last folder.
            access.hide(confinement)?;
        }
        let (file, first) = file_of(program).map_err(|_| "this machine has no shell".to_owned())?;
        let started = host_process::start(
            &host_process::Command {
                program: file,
                arguments: first.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
                directory: command.directory.clone(),
                environment: environment(
                    &shared.variables.for_reach(ProgramReach::Workspace, &[]),
                    &command.environment,
                ),
                input: host_process::Input::Pipe,
            },
            confinement.as_ref(),
            network,
        );
        started.map_err(|error| format!("`{}` does not start: {error}", host_text::exact(program)))
    }
}

async fn follow(mut process: Process, input: Vec<u8>, limit: Duration) -> (HookEnd, HookPrinted) {
    let until = Instant::now() + limit;
    let (stdin, output, errors) = (process.input.take(), process.output.take(), process.errors.take());
    // Pinned and not awaited in turn: a program that fills one pipe waits for its reader, and so would the others.
    let mut answer = Box::pin(answer(output));
    let mut rest = Box::pin(async move { tokio::join!(kept(errors), write(stdin, input)).0 });
    let (mut answered, mut reported) = (None, None);
    let end = loop {
        tokio::select! {
            // The limit first: output without a pause would otherwise win each time.
            biased;
            () = sleep_until(until) => break HookEnd::TimedOut,
            read = &mut answer, if answered.is_none() => {
                let is_whole = read.is_some();
                answered = Some(read);
                if !is_whole {
                    // At once, and not when the program has ended: it could print without end.
                    break HookEnd::TooMuch;
                }
            }
            errors = &mut rest, if reported.is_none() => reported = Some(errors),
            ended = process.wait() => break match ended {
                Ended::Code(code) => HookEnd::Code(code),
                Ended::Signal(signal) => HookEnd::Signal(signal),
            },
        }
    };
    // What it left behind holds its pipes open, and must not outlive it.
    process.end();
    drop(process);
    let answered = match answered {
        Some(answered) => answered,
        // What was printed before the end is still in the pipe; an inherited one would keep it open.
        None => timeout(DRAIN, answer).await.unwrap_or_default(),
    };
    let reported = match reported {
        Some(reported) => reported,
        None => timeout(DRAIN, rest).await.unwrap_or_default(),
    };
    let end = match (end, &answered) {
        // A cut answer is none: half of a JSON object could mean another thing than the whole.
        (HookEnd::Code(_) | HookEnd::Signal(_), None) => HookEnd::TooMuch,
        (end, _) => end,
    };
    (end, HookPrinted { output: answered.unwrap_or_default(), errors: reported })
}

/// Reads the whole answer; `None` if it is too long.
async fn answer(output: Option<Receiver>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(output) = output {
        // What was read before an error counts: a program that ended has said what it said.
        output.take(MAX_HOOK_OUTPUT as u64 + 1).read_to_end(&mut bytes).await.ok();
    }
    (bytes.len() <= MAX_HOOK_OUTPUT).then_some(bytes)
}

/// Reads to the end, and returns the beginning.
async fn kept(errors: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    let Some(mut errors) = errors else { return kept };
    while let Ok(count) = errors.read(&mut buffer).await
        && count > 0
    {
        let room = MAX_ERRORS.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
    kept
}

/// Writes the input. A program that does not read it closes the pipe, which is not an error.
async fn write(stdin: Option<Sender>, input: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        stdin.write_all(&input).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuntimeOptions;

    fn command(line: &str, limit: Duration) -> HookCommand {
        HookCommand {
            argv: ["sh", "-c", line].map(str::to_owned).into(),
            directory: "/".into(),
            environment: vec![("HOOK_VARIABLE".to_owned(), "set".to_owned())],
            resources: Resources::default(),
            confine: ConfineMode::Off,
            only_reads: false,
            limit,
            changes: None,
        }
    }

    fn runtime() -> Runtime {
        let path = std::env::var_os("PATH").expect("the tests have one");
        let environment = vec![("PATH".into(), path), ("API_TOKEN".into(), "secret".into())];
        Runtime::new(RuntimeOptions { environment, ..RuntimeOptions::default() })
    }

    async fn run(line: &str, input: &[u8], seconds: u64) -> (HookEnd, String, String) {
        let (end, printed) = runtime().run_hook(&command(line, Duration::from_secs(seconds)), input.to_vec()).await;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (end, text(printed.output), text(printed.errors))
    }

    #[tokio::test]
    async fn hook_program_reads_its_input_and_reports_how_it_ended() {
        let (end, output, errors) = run("cat; echo $HOOK_VARIABLE$API_TOKEN; echo no >&2; exit 2", b"{}\n", 60).await;
        assert_eq!((end, output.as_str(), errors.as_str()), (HookEnd::Code(2), "{}\nset\n", "no\n"));
        assert_eq!(run("kill -9 $$", b"", 60).await.0, HookEnd::Signal(9));
        let missing = HookCommand { argv: vec!["/no/such/program".to_owned()], ..command("", Duration::from_secs(60)) };
        let (end, _) = runtime().run_hook(&missing, Vec::new()).await;
        assert!(matches!(end, HookEnd::NotStarted(_)), "{end:?}");
    }

    // promise hooks.bounded: A hook that prints without end, hangs, or leaves processes behind is ended with all of
    //   them.
    #[tokio::test]
    async fn hook_program_that_misbehaves_is_ended_with_all_that_it_started() {
        let long = vec![b'x'; 4 << 20];
        // It never reads its input, which is larger than a pipe.
        assert_eq!(run("exec <&-; echo done", &long, 60).await.0, HookEnd::Code(0));
        assert_eq!(run("echo done", &long, 60).await.1, "done\n");
        assert_eq!(run("yes", b"", 60).await.0, HookEnd::TooMuch);
        assert_eq!(run("trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxx; done", b"", 60).await.0, HookEnd::TooMuch);
        let (end, _, errors) = run("head -c 1000000 /dev/zero >&2; echo done", b"", 60).await;
        assert_eq!((end, errors.len()), (HookEnd::Code(0), MAX_ERRORS));
        // What it left behind would hold its output open for a minute.
        let (end, output, _) = run("(sleep 61; echo late) & setsid sleep 61 & echo done", b"", 60).await;
        assert_eq!((end, output.as_str()), (HookEnd::Code(0), "done\n"));
        assert_eq!(run("trap '' TERM; sleep 61", b"", 0).await.0, HookEnd::TimedOut);
    }
}
