//! The terminal: the one place that reads keys and draws.
//!
//! Callers pass what they want to show to this crate, which draws it above a few rows that change: what is going on, a
//! question, the text that is being written. So typed text never mixes with shown text, and neither breaks the other.
//!
//! Promises: a key that was pressed before a question was visible never answers it; [`Terminal::leave`] restores the
//! terminal's modes, and a panic does so too; without a terminal that can move its cursor everything is still shown,
//! line by line. Texts are shown as they are given: a caller with text from a model or a tool makes it
//! [`host_text::visible`] first. What the model says is the exception: [`Terminal::say`] makes it safe to show and
//! renders its Markdown. A line that is too long for the terminal is broken at a word, in one place for all of them.
//!
//! A thread of its own reads the keys and draws what moves; everything else happens under one lock, in the caller's
//! thread. Deliberately not here: how a run's events are shown, and what a prompt leads to, which `host-cli`
//! knows. A line editor from a library was considered: it asks the terminal where its cursor is, so it waits
//! where nothing answers, and it reads keys for itself only while a line is written.

mod asking;
mod assist;
mod attention;
mod bindings;
mod completing;
mod difference;
mod draw;
mod editor;
mod hint;
mod history;
mod input;
mod interrupt;
mod keys;
mod markdown;
mod menu;
mod pick;
mod question;
mod raw;
mod screen;
mod search;
mod secret;
mod sent;
mod state;
mod status;
mod style;
mod typed;
mod values;
mod width;
mod wrap;
mod write;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

pub use self::assist::{
    Assist, CanSteer, Completer, Completions, Dropped, Edit, Folded, Glance, Keymap, LookUp, Lookup, ModeShown,
    NextMode, TakeImage,
};
pub use self::attention::{Alert, Attention, Notify as NotifyUser, Title};
pub use self::bindings::{BINDINGS, Binding};
use self::completing::Jobs;
pub use self::difference::{DifferenceRow, difference};
use self::editor::Draft;
pub use self::history::History;
pub use self::interrupt::Interrupt;
pub use self::markdown::{Answers, Voice, rendered};
pub use self::menu::Candidate;
pub use self::pick::{Pick, PickEntry};
pub use self::question::{Choice, Chosen, Escape, Line, Question};
use self::question::{Open, Reply};
pub use self::raw::{columns_of_stderr, columns_of_stdout};
pub use self::secret::{SecretPrompt, TypedSecret};
use self::state::{End, State, Turn};
pub use self::style::Style;
pub use self::typed::{Typed, typed};
pub use self::values::StatusPart;
use self::values::{Sent, When};
pub use self::width::{truncate_to_width, width};
pub use self::wrap::{broken_at_word, wrap, wrapped, wrapped_entries, wrapped_lines};

/// The columns before what the model says, which set it apart from prompts and from the lines of calls.
pub const INDENT: usize = 2;

/// A terminal. Clones share it; [`leave`](Terminal::leave) ends its use.
#[derive(Clone)]
pub struct Terminal(Arc<Shared>);

/// A terminal that somebody else keeps open.
#[derive(Clone)]
pub struct WeakTerminal(Weak<Shared>);

impl WeakTerminal {
    /// Returns the terminal, if it is still kept open.
    pub fn upgrade(&self) -> Option<Terminal> {
        self.0.upgrade().map(Terminal)
    }
}

/// The properties of the terminal, and what is read from it.
pub struct Setup {
    /// When keys are read.
    pub keyboard: Keyboard,
    /// What it can show.
    pub mode: TerminalMode,
    /// Whether it supports colour.
    pub style: Style,
    /// The receiver of a Ctrl-C.
    pub interrupt: Interrupt,
    /// The prompts of earlier conversations.
    pub history: History,
    /// What becomes of rows when its width changes.
    pub resize: Resize,
    /// How answers are shown. A terminal that cannot move its cursor shows their source.
    pub answers: Answers,
    /// What is done for the text that is being written.
    pub assist: Assist,
    /// How the user's attention is drawn; only where prompts are written, and not without a cursor that moves.
    pub attention: Attention,
}

/// When keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyboard {
    /// Never: standard input is not a terminal.
    Never,
    /// While a question is open. Anything else that is typed is left to the program that reads it after this process.
    WhenAsked,
    /// All the time: prompts are written here.
    Always,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalMode {
    /// It obeys the sequences that move its cursor.
    Ansi,
    /// It shows line after line, and the user edits a line in the terminal itself.
    Dumb,
}

/// What a terminal does with rows that are wider than it has become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resize {
    /// It wraps them, as most do.
    #[default]
    Wraps,
    /// It cuts them, or hides what does not fit.
    Cuts,
}

/// An activity, as it is drawn below all text.
#[derive(Clone, Debug)]
pub struct Activity {
    /// A description of one line.
    pub words: String,
    /// When it began; `None` if its time does not count, as while it waits for an answer.
    pub since: Option<Instant>,
    /// What it waits for, if that is a time.
    pub wait: Option<Wait>,
    /// Its output, the latest line last.
    pub below: Vec<String>,
}

/// A wait for a time, which is counted down.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The time.
    pub until: Instant,
    /// What happens then, behind `waiting 4 s`. Once the time has come, the activity's own words are shown.
    pub words: String,
}

/// What the user did when it was their turn to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    /// The user sent a prompt.
    Prompt(String),
    /// The user selected another approval mode.
    Mode,
    /// The user left, or the terminal is gone.
    Leave,
}

struct Shared {
    setup: Setup,
    state: Mutex<State>,
    /// A prompt was sent, or none can come any more.
    said: Notify,
    /// Ctrl-O was pressed.
    expand: Notify,
    /// Wakes the thread that reads keys.
    wake: OwnedFd,
    /// What the thread for completions is to do.
    jobs: Arc<Jobs>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.jobs.end();
    }
}

impl Terminal {
    /// Begins to draw, and to read the keyboard where the setup says so.
    ///
    /// # Errors
    ///
    /// If the system has no thread for the keys, or the terminal's modes cannot be set.
    pub fn open(mut setup: Setup) -> std::io::Result<Self> {
        let (woken, wake) =
            // The end that is written to must never wait: it is written under the lock.
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK)?;
        attention::prepare(&mut setup);
        let history = std::mem::take(&mut setup.history);
        let state = State::new(&setup, history);
        let (said, expand, jobs) = (Notify::new(), Notify::new(), Arc::default());
        let shared = Arc::new(Shared { setup, state: Mutex::new(state), said, expand, wake, jobs });
        if shared.setup.keyboard == Keyboard::Always && shared.setup.mode == TerminalMode::Ansi {
            raw::enter()?;
        }
        // The threads begin last: they find a state that is complete.
        completing::start(&shared)?;
        input::start(&shared, woken)?;
        Ok(Self(shared))
    }

    /// Returns a reference that does not keep the terminal open.
    pub fn downgrade(&self) -> WeakTerminal {
        WeakTerminal(Arc::downgrade(&self.0))
    }

    /// Shows text that stays: whole lines, or the next piece of a line.
    pub fn show(&self, text: &str) {
        let mut state = self.0.state();
        self.0.show(&mut state, text);
    }

    /// Shows lines, beginning on a new line.
    pub fn lines(&self, text: &str) {
        let mut state = self.0.state();
        self.0.lines(&mut state, text);
    }

    /// Does the same and sets what goes on now, in one step.
    pub fn show_with(&self, text: &str, activity: Vec<Activity>) {
        let mut state = self.0.state();
        self.0.goes_on(&mut state, activity);
        self.0.show(&mut state, text);
    }

    /// Shows a prompt that was sent, with the label that it had.
    pub fn said(&self, label: &str, text: &str) {
        let mut state = self.0.state();
        let said = self.0.said_lines(label, text, state.output.screen.columns());
        self.0.lines(&mut state, &said);
    }

    /// Shows a piece of what the model says, and sets what goes on now. Lines that are shown next end the text.
    pub fn say(&self, piece: &str, voice: Voice, activity: Vec<Activity>) {
        let mut state = self.0.state();
        self.0.goes_on(&mut state, activity);
        self.0.says(&mut state, piece, voice);
    }

    /// Returns how answers are shown.
    pub fn answers(&self) -> Answers {
        self.0.state().output.speech.answers()
    }

    /// Shows answers in this way from now on, if the terminal can. Returns how they are shown.
    pub fn set_answers(&self, answers: Answers) -> Answers {
        let mut state = self.0.state();
        self.0.end_speech(&mut state);
        if self.0.setup.mode == TerminalMode::Ansi {
            state.output.speech.set_answers(answers);
        }
        state.output.speech.answers()
    }

    /// Sends a sequence to the terminal that it does not show.
    pub fn steer(&self, sequence: &str) {
        let mut state = self.0.state();
        self.0.write(&mut state, sequence);
    }

    /// Shows lines, and sets what goes on now.
    pub fn lines_with(&self, text: &str, activity: Vec<Activity>) {
        let mut state = self.0.state();
        self.0.goes_on(&mut state, activity);
        self.0.lines(&mut state, text);
    }

    /// Asks a question once the earlier ones are answered. Keys pressed before the question was visible do not answer
    /// it. Dropping the future withdraws the question.
    pub async fn ask(&self, question: Question) -> Chosen {
        self.ask_for(question, None).await.0
    }

    /// The same for a question of which one choice asks for a line of text. Returns the choice and that line: at most
    /// 500 characters, without control characters, empty for any other choice. It is not escaped.
    pub async fn ask_with_line(&self, question: Question, line: Line) -> (Chosen, String) {
        self.ask_for(question, Some(line)).await
    }

    /// The same for a question whose first choices are marked: with the marked ones, in their order.
    pub async fn ask_with_marks(&self, question: Question, line: Line) -> (Chosen, String, Vec<usize>) {
        let Reply { answered: (chosen, text), marked } = self.reply_to(question, Some(line)).await;
        (chosen, text, marked)
    }

    async fn ask_for(&self, question: Question, line: Option<Line>) -> (Chosen, String) {
        self.reply_to(question, line).await.answered
    }

    async fn reply_to(&self, question: Question, line: Option<Line>) -> Reply {
        let (sender, answer) = oneshot::channel();
        let Some(id) = self.0.ask(question, line, sender) else { return Reply::nobody() };
        let _taken_away_when_dropped = Asking { shared: &self.0, id };
        answer.await.unwrap_or_else(|_| Reply::nobody())
    }

    /// Lets the user pick an entry of a list, by the rules of [`ask`](Self::ask). It needs a terminal that can move its
    /// cursor.
    pub async fn pick(&self, pick: Pick) -> Chosen {
        self.pick_or_rename(Pick { renamed: 0, ..pick }).await.0
    }

    /// The same for a list whose entries can be renamed: with the new title of the chosen one, not escaped, which is
    /// empty if the entry is not renamed but picked.
    pub async fn pick_or_rename(&self, pick: Pick) -> (Chosen, String) {
        let nobody = (Chosen::Nobody, String::new());
        if self.mode() == TerminalMode::Dumb {
            return nobody;
        }
        let (sender, answer) = oneshot::channel();
        let Some(id) = self.0.asks(|id| Open::pick(id, pick, sender)) else { return nobody };
        let _taken_away_when_dropped = Asking { shared: &self.0, id };
        answer.await.map_or(nobody, |reply| reply.answered)
    }

    /// Lends the terminal to another program for as long as the work takes: meanwhile no key is read, and text to be
    /// shown waits.
    pub async fn lend<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.0.lend();
        let terminal = self.clone();
        let worked = tokio::task::spawn_blocking(move || {
            // Also if the work panics, or if the caller no longer waits for it.
            let _given_back_when_done = Lent(terminal);
            work()
        });
        worked.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Waits until there is a prompt: one that was queued, or one that the user writes now behind this label.
    pub async fn next(&self, label: &str) -> TerminalInput {
        loop {
            let said = self.0.said.notified();
            if let Some(said) = self.0.take_input(label) {
                return said;
            }
            said.await;
        }
    }

    /// Waits until the user asks with Ctrl-O to see a call whole. The key works while the model does, and not while a
    /// question is open.
    pub async fn expands(&self) {
        self.0.expand.notified().await;
    }

    /// Makes Ctrl-C cancel this turn.
    pub fn works_on(&self, turn: &CancellationToken) {
        self.0.state().conversation.turn = Turn::Model { stop: turn.clone(), since: Instant::now() };
    }

    /// Ends the turn that Ctrl-C cancels.
    pub fn rests(&self) {
        self.0.state().conversation.turn = Turn::Between;
    }

    /// Sends a prompt in the user's place, as if they had written it here.
    pub fn send(&self, text: &str) {
        let mut state = self.0.state();
        if self.0.setup.mode == TerminalMode::Dumb {
            // A terminal that shows what is typed does not show this.
            self.0.lines(&mut state, &host_text::visible(text));
        }
        state.input.queued.push_back(Sent { draft: Draft::unfolded(text), when: When::Done });
        drop(state);
        self.0.said.notify_one();
    }

    /// Offers the user a text to edit, unless they are already writing one.
    pub fn suggest(&self, text: &str) {
        let mut state = self.0.state();
        if state.input.editor.is_empty() && state.input.queued.is_empty() {
            state.input.editor.set(text);
        }
    }

    /// Takes the queued prompts back for editing: they depended on something that did not happen.
    pub fn unqueue(&self) {
        self.0.unqueue(&mut self.0.state());
    }

    /// Takes the next text that the user sent to the model while it works, and shows it as sent.
    pub fn take_steering(&self) -> Option<String> {
        self.0.take_steering()
    }

    /// Handles a Ctrl-C, pressed or received as a signal.
    pub fn interrupted(&self) {
        self.0.key(keys::Key::Interrupt);
    }

    /// Shows lines above what is drawn now; returns false if its use has ended.
    pub fn above(&self, text: &str) -> bool {
        let mut state = self.0.state();
        let is_used = state.conversation.end != End::Closed;
        if is_used {
            self.0.lines(&mut state, text);
        }
        is_used
    }

    /// Shows an activity of one line besides those that are set, until the returned value is dropped; `None` if the
    /// terminal's use has ended.
    pub fn busy(&self, words: &str) -> Option<Busy> {
        let mut state = self.0.state();
        if state.conversation.end == End::Closed {
            return None;
        }
        let id = self.0.begins_besides(&mut state, words);
        Some(Busy { shared: Arc::downgrade(&self.0), id })
    }

    /// Whether a signal from the terminal is meant for another program: that program has the terminal, or had it a
    /// moment ago and may have ended by the same signal.
    pub fn is_lent(&self) -> bool {
        self.0.state().output.holder.is_signal_for_other()
    }

    /// Ends its use: removes what was drawn, keeps what was shown, and restores the modes.
    pub fn leave(&self) {
        self.0.close();
        restore();
    }

    /// Returns its width in columns.
    pub fn columns(&self) -> usize {
        self.0.state().output.screen.columns()
    }

    /// Returns when keys are read.
    pub fn keyboard(&self) -> Keyboard {
        self.0.setup.keyboard
    }

    /// Returns what it can show.
    pub fn mode(&self) -> TerminalMode {
        self.0.setup.mode
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lends the terminal to another program until this is dropped.
struct Lent(Terminal);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.0.take_back();
    }
}

/// Withdraws a question that is dropped before its answer.
struct Asking<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.shared.withdraw(self.id);
    }
}

/// An activity besides those of the terminal's user. Dropping it ends it.
pub struct Busy {
    shared: Weak<Shared>,
    id: u64,
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.ends_besides(&mut shared.state(), self.id);
        }
    }
}

/// Returns the width of the terminal of this process in columns.
pub fn columns() -> usize {
    let (columns, rows) = raw::size();
    screen::usable(columns, rows).0
}

/// Restores the modes that the terminal had before any [`Terminal`] was opened.
pub fn restore() {
    raw::restore();
    raw::set_extras(raw::Extras::default());
}

#[cfg(test)]
mod tests;
