//! The progress of a transfer: one row on standard error, if that is a terminal.
//!
//! Promises: the row goes when the transfer ends, also by Ctrl-C. The terminal writes `^C` where the cursor is, so the
//! row leaves room for it: in a row that is full it would begin another one, and the full one would stay. Deliberately
//! not here: how much was transferred.

use std::io::{self, Write};
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_app::environment::Environment;
use host_bundle::OciDigest;
use host_registry::Transfer;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};

/// Interval at which the row is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Columns that stay free behind the row, for two times `^C`.
const FREE: usize = 4;

/// The most columns that the row takes with everything in it.
const LONG: usize = 75;

/// The most columns that it takes without a bar.
const SHORT: usize = 50;

/// The most columns that it takes with the amounts alone. In fewer nothing is drawn.
const SHORTEST: usize = 26;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// The row; it restarts with each blob. It goes when it is dropped, however the transfer ended.
pub(super) struct Bar {
    bar: ProgressBar,
    way: Way,
    room: usize,
    of: Mutex<Option<OciDigest>>,
}

impl Bar {
    pub(super) fn new(way: Way, environment: &Environment) -> Self {
        let columns = host_terminal::columns_of_stderr().filter(|_| environment.stderr_is_terminal);
        let room = columns.unwrap_or_default().saturating_sub(FREE);
        let target = match room >= SHORTEST {
            true => {
                let columns = u16::try_from(room).unwrap_or(u16::MAX);
                ProgressDrawTarget::term_like(Box::new(Stderr { columns, drawing: Mutex::default() }))
            }
            false => ProgressDrawTarget::hidden(),
        };
        Self { bar: ProgressBar::with_draw_target(None, target), way, room, of: Mutex::default() }
    }

    pub(super) fn show(&self, transfer: &Transfer) {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if of.as_ref() != Some(&transfer.digest) {
            if let Ok(style) = ProgressStyle::with_template(template(self.way, transfer.total, self.room)) {
                // Earlier bytes do not count for the speed.
                let before = transfer.done;
                let speed = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let came = state.pos().saturating_sub(before) as f64;
                    // A string takes everything.
                    let _ = write!(out, "{}/s", HumanBytes((came / state.elapsed().as_secs_f64().max(0.1)) as u64));
                };
                let style = style.with_key("speed", speed);
                self.bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
            }
            self.bar.reset();
            self.bar.set_length(transfer.total);
            self.bar.set_message(transfer.digest.digits().chars().take(12).collect::<String>());
            // Before there is something to show it would be an empty bar.
            self.bar.enable_steady_tick(TICK);
            *of = Some(transfer.digest.clone());
        }
        self.bar.set_position(transfer.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // The ticker of the bar holds it too.
        self.bar.finish_and_clear();
    }
}

/// Returns what the row has, which fits so many columns.
fn template(way: Way, total: u64, room: usize) -> &'static str {
    // The amount that was sent is known only once all of it was accepted.
    match (way, total) {
        (Way::Out, _) if room >= SHORT => "{spinner} sending {msg}, {total_bytes}, {elapsed}",
        (Way::Out, _) => "{spinner} sending {total_bytes}",
        (Way::In, 0) if room >= SHORT => "{spinner} getting {msg}, {bytes}, {speed}",
        (Way::In, 0) => "{spinner} getting {bytes}",
        (Way::In, _) if room >= LONG => "getting {msg} [{bar:10}] {bytes} of {total_bytes}, {speed}",
        (Way::In, _) if room >= SHORT => "getting {msg}, {bytes} of {total_bytes}",
        (Way::In, _) => "{bytes} of {total_bytes}",
    }
}

/// Standard error as a terminal of fewer columns than it has. What is drawn at a time is one write: with `^C` the
/// terminal forgets what was written and not shown yet, and half of a drawing would leave the row before it.
#[derive(Debug)]
struct Stderr {
    columns: u16,
    drawing: Mutex<String>,
}

impl Stderr {
    fn drawing(&self) -> MutexGuard<'_, String> {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, text: &str) -> io::Result<()> {
        self.drawing().push_str(text);
        Ok(())
    }

    fn moved(&self, count: usize, end: char) -> io::Result<()> {
        match count {
            0 => Ok(()),
            count => self.draw(&format!("\u{1b}[{count}{end}")),
        }
    }
}

impl TermLike for Stderr {
    fn width(&self) -> u16 {
        self.columns
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.draw(text)?;
        self.draw("\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.draw(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let drawn = take(&mut *self.drawing());
        io::stderr().write_all(drawn.as_bytes())
    }
}
