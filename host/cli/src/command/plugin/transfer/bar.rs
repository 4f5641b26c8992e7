//! The progress of a transfer: one row on standard error, if that is a terminal.
//!
//! Promises: the row goes when the transfer ends, also by Ctrl-C. The terminal writes `^C` where the cursor is, so the
//! row leaves room for it: in a row that is full it would begin another one, and the full one would stay. Deliberately
//! not here: how much was transferred.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use host_registry::Transfer;
use host_settings::environment::Environment;

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

/// The columns of the bar itself.
const BAR: usize = 10;

/// What stands in turn before a row whose end is unknown.
const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// Units of sizes, each 1,024 times the one before.
const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// The row; it restarts with each blob. It goes when it is dropped, however the transfer ended.
pub(super) struct Bar {
    shown: Arc<Mutex<Shown>>,
    /// Draws the row; `None` where it is not shown.
    painter: Option<JoinHandle<()>>,
}

/// What the row shows.
#[derive(Default)]
struct Shown {
    blob: Option<Blob>,
    is_over: bool,
}

/// A blob on its way.
#[derive(Clone)]
struct Blob {
    transfer: Transfer,
    /// The bytes that were there already. They do not count for the speed.
    before: u64,
    since: Instant,
}

/// The figures of a row.
struct Figures {
    /// The first digits of the blob's digest.
    name: String,
    done: u64,
    /// 0 if it is unknown.
    total: u64,
    /// The bytes that came in the time.
    came: u64,
    elapsed: Duration,
}

impl Bar {
    pub(super) fn new(way: Way, environment: &Environment) -> Self {
        let shown = Arc::<Mutex<Shown>>::default();
        // Before something is transferred there is nothing to show; a dumb terminal would print the sequences.
        let is_drawn = environment.stderr_is_terminal
            && host_terminal::columns_of_stderr().is_some()
            && environment.text("TERM").is_none_or(|term| term != "dumb");
        let painter = is_drawn.then(|| {
            let shown = Arc::clone(&shown);
            // Without a thread there is no row, and the transfer is the same.
            thread::Builder::new().name("progress".to_owned()).spawn(move || paint(way, &shown)).ok()
        });
        Self { shown, painter: painter.flatten() }
    }

    pub(super) fn show(&self, transfer: &Transfer) {
        let blob = &mut lock(&self.shown).blob;
        match blob {
            Some(blob) if blob.transfer.digest == transfer.digest => blob.transfer = transfer.clone(),
            _ => *blob = Some(Blob { transfer: transfer.clone(), before: transfer.done, since: Instant::now() }),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        lock(&self.shown).is_over = true;
        if let Some(painter) = self.painter.take() {
            painter.thread().unpark();
            // What is printed next must not meet the row.
            painter.join().ok();
        }
    }
}

impl Blob {
    fn figures(&self) -> Figures {
        let Transfer { digest, done, total } = &self.transfer;
        Figures {
            name: digest.digits().chars().take(8).collect(),
            done: *done,
            total: *total,
            came: done.saturating_sub(self.before),
            elapsed: self.since.elapsed(),
        }
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the row until the transfer is over, and erases it then.
fn paint(way: Way, shown: &Mutex<Shown>) {
    let mut is_drawn = false;
    loop {
        // The lock is not held while the terminal is waited for: a transfer never waits for it.
        let blob = match &*lock(shown) {
            Shown { is_over: true, .. } => break,
            Shown { blob, .. } => blob.clone(),
        };
        if let Some(blob) = blob {
            // Asked each time: a window that became narrower would wrap the row.
            let room = host_terminal::columns_of_stderr().unwrap_or_default().saturating_sub(FREE);
            write(&format!("\r{}\u{1b}[K", row(way, &blob.figures(), room)));
            is_drawn = true;
        }
        thread::park_timeout(TICK);
    }
    if is_drawn {
        write("\r\u{1b}[2K");
    }
}

/// Writes at once: with `^C` the terminal forgets what was written and not shown yet, and half of a drawing would stay.
fn write(text: &str) {
    // A row that cannot be drawn is none; the transfer goes on.
    io::stderr().write_all(text.as_bytes()).ok();
}

/// Returns the row, which fits so many columns; nothing if there are too few.
fn row(way: Way, figures: &Figures, room: usize) -> String {
    let Figures { name, done, total, came, elapsed } = figures;
    let spinner = SPINNER[(elapsed.as_millis() / TICK.as_millis()) as usize % SPINNER.len()];
    let speed = format!("{}/s", size((*came as f64 / elapsed.as_secs_f64().max(0.1)) as u64));
    let amounts = format!("{} of {}", size(*done), size(*total));
    // The amount that was sent is known only once all of it was accepted.
    match (way, total) {
        _ if room < SHORTEST => String::new(),
        (Way::Out, total) if room >= SHORT => {
            format!("{spinner} sending {name}, {}, {} s", size(*total), elapsed.as_secs())
        }
        (Way::Out, total) => format!("{spinner} sending {}", size(*total)),
        (Way::In, 0) if room >= SHORT => format!("{spinner} getting {name}, {}, {speed}", size(*done)),
        (Way::In, 0) => format!("{spinner} getting {}", size(*done)),
        (Way::In, total) if room >= LONG => {
            format!("getting {name} [{}] {}, {amounts}, {speed}", bar(*done, *total), percent(*done, *total))
        }
        (Way::In, total) if room >= SHORT => {
            format!("getting {name}, {}, {amounts}", percent(*done, *total))
        }
        (Way::In, _) => amounts,
    }
}

/// Returns the bar, which is as full as the transfer is done.
fn bar(done: u64, total: u64) -> String {
    let full = usize::try_from(share(done, total, BAR as u64)).unwrap_or(BAR);
    let head = if full < BAR { ">" } else { "" };
    let filled = "=".repeat(full) + head;
    format!("{filled:BAR$}")
}

fn percent(done: u64, total: u64) -> String {
    format!("{} %", share(done, total, 100))
}

/// Returns the part of `whole` that is done, rounded down.
fn share(done: u64, total: u64, whole: u64) -> u64 {
    let part = u128::from(done.min(total)) * u128::from(whole) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(whole)
}

/// Formats a size in at most ten columns.
fn size(bytes: u64) -> String {
    let power = bytes.checked_ilog2().unwrap_or_default() / 10;
    let unit = UNITS[power as usize];
    match power {
        0 => format!("{bytes} {unit}"),
        power => format!("{:.1} {unit}", bytes as f64 / 1_024_f64.powf(f64::from(power))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(done: u64, total: u64, came: u64, elapsed: u64) -> Figures {
        Figures { name: "0123abcd".to_owned(), done, total, came, elapsed: Duration::from_millis(elapsed) }
    }

    #[test]
    fn progress_row_has_what_its_columns_have_room_for() {
        let half = figures(3 << 19, 3 << 20, 1 << 20, 2_000);
        let unknown = figures(2_000, 0, 1_000, 100);
        let sent = figures(0, 5_000, 0, 65_300);
        for (way, figures, room, want) in [
            (Way::In, &half, 120, "getting 0123abcd [=====>    ] 50 %, 1.5 MiB of 3.0 MiB, 512.0 KiB/s"),
            (Way::In, &half, LONG, "getting 0123abcd [=====>    ] 50 %, 1.5 MiB of 3.0 MiB, 512.0 KiB/s"),
            (Way::In, &half, LONG - 1, "getting 0123abcd, 50 %, 1.5 MiB of 3.0 MiB"),
            (Way::In, &half, SHORT, "getting 0123abcd, 50 %, 1.5 MiB of 3.0 MiB"),
            (Way::In, &half, SHORT - 1, "1.5 MiB of 3.0 MiB"),
            (Way::In, &half, SHORTEST, "1.5 MiB of 3.0 MiB"),
            (Way::In, &half, SHORTEST - 1, ""),
            (Way::In, &half, 0, ""),
            (Way::In, &unknown, SHORT, "/ getting 0123abcd, 2.0 KiB, 9.8 KiB/s"),
            (Way::In, &unknown, SHORT - 1, "/ getting 2.0 KiB"),
            (Way::Out, &sent, SHORT, "/ sending 0123abcd, 4.9 KiB, 65 s"),
            (Way::Out, &sent, SHORT - 1, "/ sending 4.9 KiB"),
            (Way::Out, &sent, SHORTEST - 1, ""),
        ] {
            assert_eq!(row(way, figures, room), want, "{way:?} in {room}");
        }
    }

    #[test]
    fn progress_row_never_has_more_columns_than_there_are() {
        let longest = (1 << 30) - 1;
        for (done, total) in
            [(0, 0), (longest, 0), (0, longest), (longest, longest), (longest, 1), (u64::MAX, u64::MAX)]
        {
            for (came, elapsed) in [(0, 0), (longest / 10, 0), (longest, 1_000), (longest, 86_400_000)] {
                for (way, room) in [Way::In, Way::Out].into_iter().flat_map(|way| (0..100).map(move |room| (way, room)))
                {
                    let row = row(way, &figures(done, total, came, elapsed), room);
                    assert!(row.chars().count() <= room, "{way:?} in {room}: {row}");
                }
            }
        }
    }

    #[test]
    fn progress_bar_is_full_only_at_the_end() {
        for (done, total, want, part) in [
            (0, 7, ">         ", "0 %"),
            (1, 7, "=>        ", "14 %"),
            (999, 1_000, "=========>", "99 %"),
            (7, 7, "==========", "100 %"),
            (9, 7, "==========", "100 %"),
        ] {
            assert_eq!((bar(done, total).as_str(), percent(done, total).as_str()), (want, part), "{done} of {total}");
        }
    }

    #[test]
    fn progress_sizes_are_in_their_largest_unit() {
        for (bytes, want) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_048_575, "1024.0 KiB"),
            (1_048_576, "1.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), want);
        }
    }
}
