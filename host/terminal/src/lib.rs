//! The terminal: the one place that reads keys and draws.
//!
//! Whoever has something to show says so here, and it comes to stand above a few rows that change: what is going on, a
//! question, the text that is being written. So nothing that is typed mixes with what is shown, and nothing that is
//! shown breaks what is typed.
//!
//! Promises: a key that was pressed before a question could be seen never answers it; the terminal's modes are as they
//! were once [`leave`] was called, which a panic does as well; without a terminal that can move its cursor everything
//! still comes, line by line. Texts are shown as they are given: whoever has one from a model or a tool makes it
//! [`host_text::visible`] first.
//!
//! The keys are read by a thread of its own, which also draws what moves; the rest happens under one lock, in whoever's
//! thread it is. Deliberately not here: what a run's events look like (`printer`), and what a prompt leads to
//! (`conversation`). A line editor of a library was looked at: it asks the terminal where its cursor is, so it waits
//! where nobody answers, and it reads keys for itself only while a line is written.

mod draw;
mod editor;
mod history;
mod input;
mod interrupt;
mod keys;
mod question;
mod raw;
mod screen;
mod style;
mod width;
mod write;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use self::editor::Editor;
pub use self::history::History;
pub use self::interrupt::Interrupt;
use self::question::Open;
pub use self::question::{Choice, Chosen, Question};
use self::screen::Screen;
pub use self::style::Style;
pub use self::width::{broken_at, truncate_to_width, width, wrapped};

/// The terminal that is drawn on now, for those who have something to say and know of none.
static DRAWN_ON: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

/// A terminal. Clones are the same one; [`leave`] ends its use.
#[derive(Clone)]
pub struct Terminal(Arc<Shared>);

/// What the terminal is like, and what is read from it.
pub struct Setup {
    /// When keys are read.
    pub keyboard: Keyboard,
    /// What it can show.
    pub looks: TerminalMode,
    /// Whether it takes colour.
    pub style: Style,
    /// What Ctrl-C is handed to.
    pub interrupt: Interrupt,
    /// What was said before.
    pub history: History,
    /// What may stand behind what was written.
    pub completer: Completer,
}

/// When keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyboard {
    /// Never: standard input is no terminal.
    Never,
    /// While a question is open. What is typed else is for whoever reads it after this process.
    WhenAsked,
    /// All the time: prompts are written here.
    Always,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalMode {
    /// It moves its cursor as it is told.
    Ansi,
    /// It shows line after line, and lets the user edit a line by itself.
    Dumb,
}

/// What may stand behind a text: how many of its last bytes are replaced, and by which of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// How many bytes before the cursor are replaced.
    pub replaced: usize,
    /// What may take their place.
    pub candidates: Vec<String>,
}

/// Says what may stand behind the text before the cursor.
pub type Completer = Box<dyn Fn(&str) -> Completions + Send + Sync>;

/// Something that goes on, as it is drawn below all text.
#[derive(Clone, Debug)]
pub struct Activity {
    /// What is done, in a line.
    pub words: String,
    /// Since when.
    pub since: Instant,
    /// What it shows of itself, the last of it last.
    pub below: Vec<String>,
}

/// What a user did when there was something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    /// They sent a prompt.
    Prompt(String),
    /// They left, or the terminal is gone.
    Leave,
}

struct Shared {
    setup: Setup,
    state: Mutex<State>,
    /// Something was said, or nothing more will be.
    said: Notify,
    /// Wakes the thread that reads keys.
    wake: OwnedFd,
}

struct State {
    screen: Screen,
    /// Text that stays and is not written yet: a question is open, and its lines are to stand above its choices.
    held: String,
    activity: Vec<Activity>,
    frame: usize,
    questions: VecDeque<Open>,
    next_question: u64,
    editor: Editor,
    history: History,
    /// What stands before what is written.
    prompt: String,
    /// What was said while there was something else to do.
    queued: VecDeque<String>,
    turn: Turn,
    /// A line below what is written, until the next key.
    hint: Option<String>,
    /// Whether another Ctrl-C leaves.
    leaves_next: bool,
    /// Whether another program has the terminal for now.
    lent: bool,
    /// When the other program gave it back.
    given_back: Option<Instant>,
    /// Whether the user leaves when there is nothing more to do.
    leaves_then: bool,
    end: End,
}

/// Whose turn it is in a conversation.
enum Turn {
    User,
    /// Ctrl-C stops what has a token.
    Model(Option<CancellationToken>),
}

/// Whether the terminal is still used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    NotYet,
    /// The user has left the conversation.
    Left,
    /// Nobody is there any more.
    Gone,
    /// It is another program's.
    Closed,
}

impl Terminal {
    /// Begins to draw and, where the keyboard is to be read, to read it.
    ///
    /// # Errors
    ///
    /// When the system has no thread for the keys, or does not let the terminal's modes be set.
    pub fn open(mut setup: Setup) -> std::io::Result<Self> {
        let (woken, wake) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK)?;
        let (columns, rows) = raw::size();
        let state = State {
            screen: Screen::new(columns, rows),
            held: String::new(),
            activity: Vec::new(),
            frame: 0,
            questions: VecDeque::new(),
            next_question: 0,
            editor: Editor::default(),
            history: std::mem::take(&mut setup.history),
            prompt: String::new(),
            queued: VecDeque::new(),
            turn: Turn::Model(None),
            hint: None,
            leaves_next: false,
            lent: false,
            given_back: None,
            leaves_then: false,
            end: End::NotYet,
        };
        let shared = Arc::new(Shared { setup, state: Mutex::new(state), said: Notify::new(), wake });
        if shared.setup.keyboard == Keyboard::Always && shared.setup.looks == TerminalMode::Ansi {
            raw::enter()?;
        }
        *DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&shared);
        input::start(&shared, woken)?;
        Ok(Self(shared))
    }

    /// Shows text that stays: whole lines, or a line's next piece.
    pub fn show(&self, text: &str) {
        let mut state = self.0.state();
        self.0.show(&mut state, text);
    }

    /// Shows lines, which begin where no other line is under way.
    pub fn lines(&self, text: &str) {
        let mut state = self.0.state();
        self.0.lines(&mut state, text);
    }

    /// The same with what goes on from here on, in one step.
    pub fn show_with(&self, text: &str, activity: Vec<Activity>) {
        let mut state = self.0.state();
        self.0.goes_on(&mut state, activity);
        self.0.show(&mut state, text);
    }

    /// Tells the terminal something that it does not show.
    pub fn steer(&self, sequence: &str) {
        let mut state = self.0.state();
        self.0.write(&mut state, sequence);
    }

    /// Ends a text with what was held back of it and shows lines behind it, with what goes on from here on.
    pub fn lines_with(&self, rest: &str, text: &str, activity: Vec<Activity>) {
        let mut state = self.0.state();
        self.0.goes_on(&mut state, activity);
        state.held.push_str(rest);
        self.0.lines(&mut state, text);
    }

    /// Asks, once those who asked before have their answers. What was typed before the question could be seen does not
    /// answer it. Dropping the future takes the question away.
    pub async fn ask(&self, question: Question) -> Chosen {
        let (sender, answer) = oneshot::channel();
        let Some(id) = self.0.ask(question, sender) else { return Chosen::Nobody };
        let _taken_away_when_dropped = Asking { shared: &self.0, id };
        answer.await.unwrap_or(Chosen::Nobody)
    }

    /// Gives the terminal to another program for as long as the work takes: no key is read meanwhile, and what is to be
    /// shown waits.
    pub async fn lend<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.0.lend();
        let terminal = self.clone();
        let worked = tokio::task::spawn_blocking(move || {
            // Also when the work panics, or nobody waits for it any more.
            let _given_back_when_done = Lent(terminal);
            work()
        });
        worked.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Waits until there is a prompt: what was queued, or what is written now behind this label.
    pub async fn next(&self, label: &str) -> TerminalInput {
        loop {
            let said = self.0.said.notified();
            if let Some(said) = self.0.take_input(label) {
                return said;
            }
            said.await;
        }
    }

    /// From here on Ctrl-C stops this.
    pub fn works_on(&self, turn: &CancellationToken) {
        self.0.state().turn = Turn::Model(Some(turn.clone()));
    }

    /// What it worked on has ended.
    pub fn rests(&self) {
        self.0.state().turn = Turn::Model(None);
    }

    /// Gives the user a text to write on, unless they write something already.
    pub fn suggest(&self, text: &str) {
        let mut state = self.0.state();
        if state.editor.is_empty() && state.queued.is_empty() {
            state.editor.set(text);
        }
    }

    /// Takes back what was queued: it stood behind something that did not happen.
    pub fn unqueue(&self) {
        let mut state = self.0.state();
        let queued: Vec<String> = state.queued.drain(..).collect();
        if !queued.is_empty() {
            let text = [queued.join("\n"), state.editor.take()].join("\n");
            state.editor.set(text.trim_end());
        }
    }

    /// Ctrl-C was pressed, or came as a signal.
    pub fn interrupted(&self) {
        self.0.key(keys::Key::Interrupt);
    }

    /// How wide it is.
    pub fn columns(&self) -> usize {
        self.0.state().screen.columns()
    }

    /// Whether it moves its cursor.
    pub fn looks(&self) -> TerminalMode {
        self.0.setup.looks
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The terminal is another program's until this is dropped.
struct Lent(Terminal);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.0.take_back();
    }
}

/// Takes a question away that nobody waits for any more.
struct Asking<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.shared.withdraw(self.id);
    }
}

/// Shows lines above what is drawn now; false when nothing is.
pub fn above(text: &str) -> bool {
    let drawn_on = DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    let Some(shared) = drawn_on else { return false };
    let mut state = shared.state();
    if state.end == End::Closed {
        return false;
    }
    shared.lines(&mut state, text);
    true
}

/// How long after another program ended a signal may come that was meant for it.
const LATE: Duration = Duration::from_millis(300);

/// Whether a signal of the terminal's is another program's: it has the terminal, or had it a moment ago, when it may
/// have ended by the same signal.
pub fn is_lent() -> bool {
    let drawn_on = DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    drawn_on.is_some_and(|shared| {
        let state = shared.state();
        state.lent || state.given_back.is_some_and(|since| since.elapsed() < LATE)
    })
}

#[cfg(test)]
mod tests;

/// Ends the use of the terminal, if it is used: what was drawn goes away, what was shown stays, its modes are as they
/// were.
pub fn leave() {
    let drawn_on = std::mem::take(&mut *DRAWN_ON.lock().unwrap_or_else(PoisonError::into_inner)).upgrade();
    if let Some(shared) = drawn_on {
        shared.close();
    }
    raw::restore();
}
