//! The programs that go on after the call that started them, until they end, are stopped, or their session ends; and
//! the host side of `host:tool/background`.
//!
//! Promises: a plugin reaches its own programs and no others; their number and the output that is kept of each are
//! bounded, and what is lost is counted; when the set is cleared or dropped, all of them end with everything that they
//! started.
//!
//! Deliberately not here: which programs may start (`process`), and how they end when the host itself is killed, which
//! their guard sees to (`host-process`).

mod keys;
mod screen;
mod terminals;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use host_capability::PluginName;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::answer::Ground;
use crate::bindings::background as wit;
use crate::bindings::child::Child;
use crate::bindings::process::Exit;
use crate::listener::ProgramEnd;
use crate::lock::lock;
use crate::store::StoreData;
use terminals::OnTerminal;

pub(crate) use screen::size;

/// The most programs that run in the background of a session at once. Protects the machine and the user's overview.
pub(crate) const MAX_RUNNING: usize = 8;
/// The most ended programs that are remembered, the latest ones. Protects memory.
const MAX_ENDED: usize = 16;
/// How much of a program's output is kept until it is read, in bytes: the last of it. Protects memory.
const MAX_KEPT: usize = 256 << 10;
/// The longest wait of a call, whatever it asks for. Protects the run from a program that never ends.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// The programs in the background of one session. Dropping it ends all of them.
#[derive(Debug, Default)]
pub struct BackgroundPrograms(Mutex<Programs>);

/// A program in the background, for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundProgram {
    /// Its id: `p1`, `p2`, ….
    pub id: String,
    /// What runs, as a user would type it. A model wrote it: make it safe before it is shown.
    pub command: String,
    /// The plugin that started it.
    pub plugin: PluginName,
    /// How far it is.
    pub state: BackgroundState,
    /// How long it has run, or did until it ended.
    pub time: Duration,
    /// How many bytes it has printed.
    pub printed: u64,
}

/// How far a program in the background is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundState {
    /// It runs.
    Running,
    /// It ended with this exit code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
}

#[derive(Debug, Default)]
struct Programs {
    started: u64,
    all: VecDeque<Program>,
}

#[derive(Debug)]
struct Program {
    id: String,
    command: String,
    plugin: PluginName,
    since: Instant,
    output: Arc<Mutex<Output>>,
    ended: watch::Receiver<Option<End>>,
    kill: CancellationToken,
    terminal: Option<OnTerminal>,
    /// Owns the program, and ends it when it is aborted.
    task: AbortHandle,
}

#[derive(Clone, Copy, Debug)]
struct End {
    state: BackgroundState,
    at: Instant,
}

/// The last of what was printed and not read.
#[derive(Debug, Default)]
struct Output {
    unread: VecDeque<u8>,
    dropped: u64,
    printed: u64,
}

impl Drop for Program {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl BackgroundPrograms {
    /// Returns all programs that are remembered, in the order in which they were started.
    pub fn list(&self) -> Vec<BackgroundProgram> {
        lock(&self.0).all.iter().map(Program::shown).collect()
    }

    /// Returns how many programs run.
    pub fn running(&self) -> usize {
        lock(&self.0).running()
    }

    /// Asks a program to end, kills it if it has not half a second later, and returns how it ended; `None` if none with
    /// this id runs.
    pub async fn stop(&self, id: &str) -> Option<BackgroundProgram> {
        let mut ended = {
            let programs = lock(&self.0);
            let found = programs.all.iter().find(|program| program.id == id && program.is_running())?;
            found.kill.cancel();
            found.ended.clone()
        };
        // It fails only if the program was ended with its session.
        ended.wait_for(Option::is_some).await.ok();
        lock(&self.0).all.iter().find(|program| program.id == id).map(Program::shown)
    }

    /// Ends all programs, and forgets them.
    pub fn clear(&self) {
        lock(&self.0).all.clear();
    }

    /// Whether there is a program of this plugin, for which a call can wait.
    pub(crate) fn has_any(&self, plugin: &PluginName) -> bool {
        lock(&self.0).all.iter().any(|program| program.plugin == *plugin)
    }

    /// Returns why no other program can be started; `None` if one can.
    pub(crate) fn is_full(&self) -> Option<String> {
        let running = lock(&self.0).running();
        (running >= MAX_RUNNING).then(|| {
            format!("{running} programs run in the background already, and a session has no more at once: stop one")
        })
    }

    /// Takes a program over from the call that started it; returns its id.
    pub(crate) fn adopt(&self, plugin: &PluginName, command: String, mut child: Child) -> String {
        let output: Arc<Mutex<Output>> = Arc::default();
        let (end, ended) = watch::channel(None);
        let (kept, kill) = (Arc::clone(&output), child.kill.clone());
        let (terminal, drawing) = child.terminal.take().map(OnTerminal::new).unzip();
        let task = tokio::spawn(async move {
            while let Some(chunk) = child.output.recv().await {
                lock(&kept).take(&chunk.data);
                if let Some(drawing) = &drawing {
                    drawing.take(&chunk).await;
                }
            }
            // After the output: the pipes end when the program and all that holds them are gone.
            let exit = child.exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone());
            end.send_replace(Some(End { state: state(exit.as_ref()), at: Instant::now() }));
        });
        let mut programs = lock(&self.0);
        programs.started += 1;
        let id = format!("p{}", programs.started);
        let (plugin, task) = (plugin.clone(), task.abort_handle());
        programs.all.push_back(Program {
            id: id.clone(),
            command,
            plugin,
            since: Instant::now(),
            output,
            ended,
            kill,
            terminal,
            task,
        });
        // Here and not when a program ends: its last output must be there to be asked for.
        programs.forget_ended();
        id
    }

    /// Does something with a program of this plugin; `None` if it has none with this id.
    fn with<T>(&self, plugin: &PluginName, id: &str, work: impl FnOnce(&Program) -> T) -> Option<T> {
        let programs = lock(&self.0);
        programs.all.iter().find(|program| program.id == id && program.plugin == *plugin).map(work)
    }
}

impl Programs {
    fn running(&self) -> usize {
        self.all.iter().filter(|program| program.is_running()).count()
    }

    fn forget_ended(&mut self) {
        let ended = self.all.iter().filter(|program| !program.is_running()).count();
        for _ in MAX_ENDED..ended {
            if let Some(at) = self.all.iter().position(|program| !program.is_running()) {
                self.all.remove(at);
            }
        }
    }
}

impl Program {
    fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Returns how it failed; `None` if it runs, succeeded, or was stopped by whoever wanted that.
    fn failure(&self) -> Option<ProgramEnd> {
        let end = (*self.ended.borrow())?;
        let (code, signal) = match end.state {
            BackgroundState::Running => return None,
            BackgroundState::Exited(code) => (Some(code), None),
            BackgroundState::Signalled(signal) => (None, Some(signal)),
        };
        let end = ProgramEnd { code, signal, timed_out: false };
        (!end.is_success() && !self.kill.is_cancelled()).then_some(end)
    }

    fn shown(&self) -> BackgroundProgram {
        let end = *self.ended.borrow();
        BackgroundProgram {
            id: self.id.clone(),
            command: self.command.clone(),
            plugin: self.plugin.clone(),
            state: end.map_or(BackgroundState::Running, |end| end.state),
            time: end.map_or_else(Instant::now, |end| end.at).saturating_duration_since(self.since),
            printed: lock(&self.output).printed,
        }
    }
}

impl Output {
    fn take(&mut self, data: &[u8]) {
        self.printed = self.printed.saturating_add(data.len() as u64);
        self.unread.extend(data);
        let over = self.unread.len().saturating_sub(MAX_KEPT);
        self.unread.drain(..over);
        self.dropped = self.dropped.saturating_add(over as u64);
    }
}

fn state(exit: Option<&Exit>) -> BackgroundState {
    match exit {
        Some(Exit { code: Some(code), .. }) => BackgroundState::Exited(*code),
        Some(Exit { signal: Some(signal), .. }) => BackgroundState::Signalled(*signal),
        // Whoever supervised it was ended, and it with them.
        Some(Exit { code: None, signal: None, .. }) | None => BackgroundState::Signalled(9),
    }
}

impl From<BackgroundProgram> for wit::Program {
    fn from(program: BackgroundProgram) -> Self {
        let BackgroundProgram { id, command, state, time, printed, .. } = program;
        let state = match state {
            BackgroundState::Running => wit::State::Running,
            BackgroundState::Exited(code) => wit::State::Exited(code),
            BackgroundState::Signalled(signal) => wit::State::Signalled(signal),
        };
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self { id, command, state, milliseconds, printed }
    }
}

impl wit::Host for StoreData {
    async fn announce(&mut self) -> wasmtime::Result<()> {
        self.announced = Ground::Background;
        Ok(())
    }

    async fn announce_terminal(&mut self) -> wasmtime::Result<()> {
        self.announced = Ground::Terminal;
        Ok(())
    }

    async fn list(&mut self) -> wasmtime::Result<Vec<wit::Program>> {
        let all = self.call.background.as_ref().map(|programs| programs.list()).unwrap_or_default();
        Ok(all.into_iter().filter(|program| program.plugin == self.plugin).map(Into::into).collect())
    }

    async fn read(&mut self, id: String) -> wasmtime::Result<Option<wit::Output>> {
        let read = self.own(&id, |program| {
            let (data, dropped) = {
                let mut output = lock(&program.output);
                (Vec::from(std::mem::take(&mut output.unread)), std::mem::take(&mut output.dropped))
            };
            (wit::Output { data, dropped, program: program.shown().into() }, program.failure())
        });
        let Some((output, failure)) = read else { return Ok(None) };
        if let Some(end) = failure {
            self.call.listener.background_failed(end);
        }
        Ok(Some(output))
    }

    async fn wait(&mut self, id: String, milliseconds: u64) -> wasmtime::Result<Option<wit::Program>> {
        let Some(mut ended) = self.own(&id, |program| program.ended.clone()) else { return Ok(None) };
        let limit = Duration::from_millis(milliseconds).min(MAX_WAIT);
        tokio::select! {
            biased;
            // It fails only if the program was ended with its session.
            _ = ended.wait_for(Option::is_some) => {}
            () = self.call.cancel.cancelled() => {}
            () = tokio::time::sleep(limit) => {}
        }
        Ok(self.own(&id, |program| program.shown().into()))
    }

    async fn stop(&mut self, id: String) -> wasmtime::Result<Option<wit::Program>> {
        let stopped = self.own(&id, |program| {
            program.kill.cancel();
            program.ended.clone()
        });
        let Some(mut ended) = stopped else { return Ok(None) };
        // It is killed when it does not end by itself, so this is a moment.
        ended.wait_for(Option::is_some).await.ok();
        Ok(self.own(&id, |program| program.shown().into()))
    }

    async fn send(&mut self, id: String, input: Vec<wit::Input>) -> wasmtime::Result<Result<(), wit::TerminalError>> {
        Ok(self.type_into(&id, &input).await)
    }

    async fn view(
        &mut self,
        id: String,
        quiet: u64,
        most: u64,
    ) -> wasmtime::Result<Result<wit::Screen, wit::TerminalError>> {
        let (quiet, most) = (Duration::from_millis(quiet), Duration::from_millis(most).min(MAX_WAIT));
        Ok(self.look_at(&id, quiet, most).await)
    }

    async fn resize(
        &mut self,
        id: String,
        columns: u16,
        rows: u16,
    ) -> wasmtime::Result<Result<(), wit::TerminalError>> {
        Ok(self.resize_terminal(&id, columns, rows))
    }
}

impl StoreData {
    /// Does something with a program that this plugin started; `None` if there is none with this id.
    fn own<T>(&self, id: &str, work: impl FnOnce(&Program) -> T) -> Option<T> {
        self.call.background.as_ref()?.with(&self.plugin, id, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_output_keeps_its_end_and_counts_what_is_lost() {
        let mut output = Output::default();
        output.take(b"abc");
        assert_eq!((output.unread.len(), output.dropped, output.printed), (3, 0, 3));
        for _ in 0..1_000 {
            output.take(&[b'x'; 64 << 10]);
        }
        output.take(b"end");
        assert_eq!(output.unread.len(), MAX_KEPT);
        assert_eq!(output.printed, 3 + (1_000 << 16) + 3);
        assert_eq!(output.dropped, output.printed - MAX_KEPT as u64);
        assert!(Vec::from(output.unread).ends_with(b"xend"));
    }
}
