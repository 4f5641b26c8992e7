//! The thread that reads keys and advances the time, and the signals that concern the terminal.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::signal::unix::{SignalKind, signal};

use super::draw::TEXT_FRAME;
use super::keys::{Key, Keys, Lines};
use super::question::Open;
use super::state::{End, Holder};
use super::{Keyboard, Shared, TerminalMode, raw};

/// How often the moving parts are drawn.
const FRAME: Duration = Duration::from_millis(100);

/// What the thread waits for.
enum Wait {
    Ends,
    For { keys: bool, time: Option<Duration> },
}

/// Starts the thread that reads keys. It ends with the terminal.
pub(super) fn start(shared: &Arc<Shared>, woken: OwnedFd) -> io::Result<()> {
    let weak = Arc::downgrade(shared);
    std::thread::Builder::new().name("keys".to_owned()).spawn(move || read(&weak, &woken))?;
    let weak = Arc::downgrade(shared);
    let mut resized = signal(SignalKind::window_change())?;
    let mut continued = signal(SignalKind::from_raw(libc::SIGCONT))?;
    tokio::spawn(async move {
        loop {
            let goes_on = tokio::select! {
                _ = resized.recv() => false,
                _ = continued.recv() => true,
            };
            let Some(shared) = weak.upgrade() else { return };
            if goes_on {
                raw::enter_again();
            }
            shared.resized();
        }
    });
    Ok(())
}

impl Shared {
    /// Wakes the thread, so that it checks again what to wait for.
    pub(super) fn wake(&self) {
        // A full pipe wakes it too.
        rustix::io::write(&self.wake, &[0]).ok();
    }

    /// Draws what the model said since everything was drawn, if that is long enough ago.
    fn draw_speech(&self) {
        let mut state = self.state();
        if state.output.changed && state.output.drawn.elapsed() >= TEXT_FRAME {
            self.redraw(&mut state);
        }
    }

    /// Whether the time of an open question has come: it may listen from now on, or the letter that was pressed
    /// answers.
    fn is_due(&self) -> bool {
        self.state().questions.open.front().is_some_and(|open| open.due_at().is_some_and(|due| due <= Instant::now()))
    }

    /// Reads and handles what was typed.
    fn read_keys(&self, stdin: BorrowedFd<'_>, lines: Lines, is_hung_up: bool, keys: &mut Keys) -> KeysRead {
        // The terminal may have been lent, or what was typed forgotten, since it was waited for. Neither happens while
        // the lock is held, and a read that is ready does not block.
        let state = self.state();
        if state.output.holder == Holder::Other || !is_ready(stdin) {
            return KeysRead::NotReady;
        }
        let mut buffer = [0; 4096];
        let read = rustix::io::read(stdin, &mut buffer);
        drop(state);
        match read {
            // The end of a terminal's input is Ctrl-D, where it edits lines by itself.
            Ok(0) if lines == Lines::Cooked && !is_hung_up => self.key(Key::EndOfInput),
            // The terminal is closed: nothing can be asked any more, and the run must not wait.
            Ok(0) => self.gone(&mut self.state()),
            Ok(count) => {
                keys.feed(buffer.get(..count).unwrap_or_default()).into_iter().for_each(|key| self.key(key));
                return KeysRead::Some;
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            // A process in the background may not read.
            Err(_) => self.gone(&mut self.state()),
        }
        KeysRead::None
    }

    fn wait(&self, key_ends_in: Option<Duration>) -> Wait {
        let state = self.state();
        if state.conversation.end == End::Closed {
            return Wait::Ends;
        }
        let question = state.questions.open.front();
        let reads = match self.setup.keyboard {
            Keyboard::Never => false,
            Keyboard::WhenAsked => question.is_some(),
            Keyboard::Always => true,
        };
        let due_in = question.and_then(Open::due_at).map(|due| due.saturating_duration_since(Instant::now()));
        let moves = self.setup.mode == TerminalMode::Ansi && !state.output.activities.is_empty();
        let draws_in = state.output.changed.then(|| TEXT_FRAME.saturating_sub(state.output.drawn.elapsed()));
        let times = [key_ends_in, moves.then_some(FRAME), due_in, draws_in];
        Wait::For {
            keys: reads && state.output.holder != Holder::Other && state.conversation.end != End::Gone,
            time: times.into_iter().flatten().min(),
        }
    }
}

/// Whether a read brought keys.
enum KeysRead {
    Some,
    None,
    /// Nothing was read: there is nothing to read any more.
    NotReady,
}

/// Whether a read returns at once.
fn is_ready(input: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::from_borrowed_fd(input, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn read(shared: &Weak<Shared>, woken: &OwnedFd) {
    let Some(lines) = shared.upgrade().map(|shared| match shared.setup.mode {
        TerminalMode::Ansi => Lines::Raw,
        TerminalMode::Dumb => Lines::Cooked,
    }) else {
        return;
    };
    // A dumb terminal sends whole lines, and a line end is Enter there.
    let mut keys = Keys::new(lines);
    let (mut last_frame, mut last_read) = (Instant::now(), Instant::now());
    loop {
        // Held only for moments, so that dropping the terminal ends this thread.
        let wait = match shared.upgrade() {
            Some(shared) => shared.wait(keys.waits_for(last_read.elapsed())),
            None => return,
        };
        let Wait::For { keys: reads, time } = wait else { return };
        let stdin = io::stdin();
        // A pipe, since another thread may change what is waited for while this one waits.
        let mut waited = vec![PollFd::new(woken, PollFlags::IN)];
        if reads {
            waited.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        let ready = poll(&mut waited, time.as_ref());
        let came = waited.get(1).map_or(PollFlags::empty(), PollFd::revents);
        drop(waited);
        let Some(shared) = shared.upgrade() else { return };
        match ready {
            Ok(_) => {}
            // Such as at a new size.
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return shared.gone(&mut shared.state()),
        }
        // All that is in it: many wake-ups are one.
        let mut buffer = [0; 4096];
        while rustix::io::read(woken, &mut buffer).is_ok_and(|count| count == buffer.len()) {}
        if came.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            let is_hung_up = came.contains(PollFlags::HUP);
            match shared.read_keys(stdin.as_fd(), lines, is_hung_up, &mut keys) {
                KeysRead::Some => last_read = Instant::now(),
                KeysRead::None => {}
                KeysRead::NotReady => continue,
            }
        } else if let Some(key) = keys.nothing_more(last_read.elapsed()) {
            shared.key(key);
        }
        shared.draw_speech();
        // What came with the time is read before the time counts: it may be what follows a letter.
        if !(reads && is_ready(stdin.as_fd())) && shared.is_due() {
            shared.question_is_due();
        }
        // Not for each key: a fast typist would make the wheel turn faster.
        if last_frame.elapsed() >= FRAME {
            last_frame = Instant::now();
            shared.tick();
        }
    }
}
