//! The state of a terminal, behind one lock: what it shows, what is asked, what the user writes, and whose turn it is.
//!
//! Each part is a struct whose fields change for one reason. What excludes one another is an enum: the panel below the
//! input line, the key before this one, how the user is about to quit, and which program has the terminal.
//!
//! Deliberately not here: drawing (`draw`), and what a key does (`write`).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use host_text::counted;
use tokio_util::sync::CancellationToken;

use super::editor::Editor;
use super::hint::Hint;
use super::markdown::{Answers, Markdown};
use super::menu::Menu;
use super::question::{Listening, Open};
use super::screen::Screen;
use super::search::Search;
use super::values::{Focus, Looking, Sent, StatusPart};
use super::{Activity, Chosen, History, INDENT, Keymap, Setup, TerminalMode, raw};

/// The most text that is held back until a question is answered, in bytes. Protects memory. Any more is left out, and
/// counted: shown at once it would stand between the words of the question and its choices.
const MAX_HELD: usize = 256 << 10;

/// How long after another program ended a signal meant for it may still arrive.
const LATE: Duration = Duration::from_millis(300);

/// The state of a terminal.
pub(super) struct State {
    pub(super) output: Output,
    pub(super) questions: Questions,
    pub(super) input: Input,
    pub(super) conversation: Conversation,
}

/// What the terminal shows, and what it will show.
pub(super) struct Output {
    pub(super) screen: Screen,
    /// Whether the last line is unfinished, on a terminal that does not move its cursor.
    pub(super) dumb_within_line: bool,
    pub(super) held: Held,
    /// What the model says.
    pub(super) speech: Markdown,
    /// When everything was drawn last.
    pub(super) drawn: Instant,
    /// Whether it changed since.
    pub(super) changed: bool,
    pub(super) activities: Activities,
    /// The parts of the row below the input line.
    pub(super) status: Vec<StatusPart>,
    /// The title of the window; `None` if it is not ours.
    pub(super) title: Option<String>,
    pub(super) holder: Holder,
}

/// Text that is not shown yet: a question is open, and its lines have to stay directly above its choices.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) text: String,
    /// How many lines were left out of it.
    left_out: usize,
}

/// What goes on, as it is drawn below the text.
#[derive(Debug, Default)]
pub(super) struct Activities {
    /// Those that the caller shows.
    pub(super) shown: Vec<Activity>,
    /// Those that go on besides, by their numbers.
    pub(super) besides: Vec<(u64, Activity)>,
    next_id: u64,
    /// The frame of the spinner.
    pub(super) frame: usize,
}

/// The program that has the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// This one; another one returned it at this time, if it was ever lent.
    Us(Option<Instant>),
    /// Another program.
    Other,
}

/// The questions, the one that is asked first.
#[derive(Default)]
pub(super) struct Questions {
    pub(super) open: VecDeque<Open>,
    next_id: u64,
}

/// What the user writes and has sent.
pub(super) struct Input {
    pub(super) editor: Editor,
    pub(super) history: History,
    /// The label before the text that is being written.
    pub(super) label: String,
    /// Prompts that were sent while the model worked.
    pub(super) queued: VecDeque<Sent>,
    pub(super) panel: Panel,
    /// The text whose completions are being looked up.
    pub(super) looking: Option<Looking>,
    /// A line below the text that is being written.
    pub(super) hint: Option<Hint>,
    pub(super) previous: Previous,
}

/// What is shown below the text that is being written.
#[derive(Debug, Default)]
pub(super) enum Panel {
    #[default]
    Nothing,
    /// The completions of the text.
    Menu(Menu),
    /// The search through earlier prompts, in place of the text.
    Search(Search),
    /// The keys.
    Keys,
}

/// What the key before this one began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Previous {
    #[default]
    Nothing,
    /// It was Ctrl-X, which begins a combination.
    Chord,
    /// It was Esc on an empty line.
    Escape,
    /// It was a `?` that showed the keys: a second one is written.
    Keys,
}

/// Whose turn it is, and whether the conversation goes on.
pub(super) struct Conversation {
    pub(super) turn: Turn,
    pub(super) leaving: Leaving,
    /// Whether the user selected another mode, which nobody took so far.
    pub(super) has_new_mode: bool,
    /// Whether keys go to the terminal.
    pub(super) focus: Focus,
    pub(super) end: End,
}

/// Whose turn it is in a conversation.
pub(super) enum Turn {
    User,
    /// The program's, with nothing that Ctrl-C could stop.
    Between,
    /// The model's.
    Model {
        /// Ctrl-C cancels it.
        stop: CancellationToken,
        /// When it began.
        since: Instant,
    },
}

/// Whether the user is about to leave the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Leaving {
    #[default]
    No,
    /// With another Ctrl-C.
    WithInterrupt,
    /// Once the model is done.
    WhenDone,
}

/// Whether the terminal is still used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    NotYet,
    /// The user has left the conversation.
    Left,
    /// The terminal is gone.
    Gone,
    /// [`Terminal::leave`](super::Terminal::leave) ended its use; other programs may use it.
    Closed,
}

impl State {
    /// The state of a terminal on which nothing is shown yet.
    pub(super) fn new(setup: &Setup, history: History) -> Self {
        let (columns, rows) = raw::size();
        let answers = match setup.mode {
            TerminalMode::Ansi => setup.answers,
            TerminalMode::Dumb => Answers::Source,
        };
        let output = Output {
            screen: Screen::new(columns, rows, setup.resize),
            dumb_within_line: false,
            held: Held::default(),
            speech: Markdown::new(setup.style.colour, answers).indented(INDENT),
            drawn: Instant::now(),
            changed: false,
            activities: Activities::default(),
            status: Vec::new(),
            title: None,
            holder: Holder::Us(None),
        };
        let input = Input {
            editor: match setup.assist.keymap {
                Keymap::Emacs => Editor::default(),
                Keymap::Vim => Editor::with_vim(),
            },
            history,
            label: String::new(),
            queued: VecDeque::new(),
            panel: Panel::Nothing,
            looking: None,
            hint: None,
            previous: Previous::Nothing,
        };
        let conversation = Conversation {
            turn: Turn::Between,
            leaving: Leaving::No,
            has_new_mode: false,
            focus: Focus::Unknown,
            end: End::NotYet,
        };
        Self { output, questions: Questions::default(), input, conversation }
    }

    /// Whether text is held back: a question is open, or another program has the terminal.
    pub(super) fn holds_back(&self) -> bool {
        self.output.holder == Holder::Other || self.questions.shown().is_some()
    }
}

impl Held {
    /// Shortens the text to what may be held.
    pub(super) fn leave_out(&mut self) {
        if self.text.len() <= MAX_HELD {
            return;
        }
        let most = self.text.floor_char_boundary(MAX_HELD);
        // Whole lines, so that no colour is cut in two.
        let kept = self.text[..most].rfind('\n').map_or(0, |end| end + 1);
        self.left_out += self.text[kept..].matches('\n').count().max(1);
        self.text.truncate(kept);
    }

    /// Takes the text, with a line about what was left out.
    pub(super) fn take(&mut self) -> String {
        let Self { mut text, left_out } = std::mem::take(self);
        if left_out > 0 {
            text.push_str(&format!("… {} left out while a question was open\n", counted(left_out, "line")));
        }
        text
    }
}

impl Activities {
    /// Adds an activity besides those that the caller shows; returns its number.
    pub(super) fn begin(&mut self, words: String) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.besides.push((id, Activity { words, since: Some(Instant::now()), wait: None, below: Vec::new() }));
        id
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.besides.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.shown.clear();
        self.besides.clear();
    }
}

impl Holder {
    /// Whether a signal from the terminal is meant for another program: that program has the terminal, or had it a
    /// moment ago and may have ended by the same signal.
    pub(super) fn is_signal_for_other(self) -> bool {
        match self {
            Self::Other => true,
            Self::Us(since) => since.is_some_and(|since| since.elapsed() < LATE),
        }
    }
}

impl Questions {
    /// The question that the user sees, if there is one.
    pub(super) fn shown(&self) -> Option<&Open> {
        self.open.front().filter(|open| open.state != Listening::Waits)
    }

    /// Adds a question that is made for its id; `None` if it has no choices, so that nobody could answer.
    pub(super) fn add(&mut self, open: impl FnOnce(u64) -> Open) -> Option<u64> {
        let id = self.next_id;
        let open = open(id);
        if open.question.choices.is_empty() {
            return None;
        }
        self.next_id += 1;
        self.open.push_back(open);
        Some(id)
    }

    /// Gives all of them an answer without a line of text.
    pub(super) fn end(&mut self, chosen: Chosen) {
        self.open.drain(..).for_each(|open| open.answered((chosen, String::new())));
    }
}

impl Input {
    /// Closes the list of completions, and drops what is being looked up.
    pub(super) fn close_menu(&mut self) {
        if let Panel::Menu(_) = self.panel {
            self.panel = Panel::Nothing;
        }
        self.looking = None;
    }

    /// The list of completions, if it is shown.
    pub(super) fn menu(&self) -> Option<&Menu> {
        match &self.panel {
            Panel::Menu(menu) => Some(menu),
            Panel::Nothing | Panel::Search(_) | Panel::Keys => None,
        }
    }

    /// Closes the list of completions and returns it.
    pub(super) fn take_menu(&mut self) -> Option<Menu> {
        match std::mem::take(&mut self.panel) {
            Panel::Menu(menu) => Some(menu),
            other => {
                self.panel = other;
                None
            }
        }
    }
}

impl Conversation {
    pub(super) fn is_users_turn(&self) -> bool {
        matches!(self.turn, Turn::User)
    }
}
