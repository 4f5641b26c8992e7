//! How long a key takes to be seen in a conversation: at rest, and while a long answer streams.
//!
//! The time is from the write to the terminal until its echo was read there. The answer comes event by event, as fast
//! as this machine's clock lets it, so that most keys fall between two of its pieces.

use std::error::Error;
use std::time::{Duration, Instant};

use host_tests::pty::Pty;

use crate::process::Place;
use crate::reply::Reply;
use crate::service::Service;
use crate::{ANSWER, EVENTS};

/// Keys in each of the two.
const KEYS: usize = 60;

/// The pause between two keys of a quick typist.
const BETWEEN: Duration = Duration::from_millis(15);

/// The pause between two events.
const PACE: Duration = Duration::from_micros(300);

/// The times of the echoes, at rest and while an answer streams, and how long it took until there was a prompt.
pub(crate) struct Echoes {
    pub(crate) start: Duration,
    pub(crate) at_rest: Vec<Duration>,
    pub(crate) streaming: Vec<Duration>,
}

/// Types into a conversation.
pub(crate) fn measure(service: &Service, place: &Place) -> Result<Echoes, Box<dyn Error>> {
    service.will_say(vec![Reply::text(ANSWER, EVENTS).paced(PACE)]);
    let mut command = place.command(&["run", "--model", "openai/x", "--approval-mode", "default"]);
    command.env("TERM", "xterm-256color");
    let began = Instant::now();
    let mut pty = Pty::start(command, 100, 40);
    pty.sees("default › ");
    let start = began.elapsed();
    // Letters that nothing else on the screen has.
    let at_rest = typed(&mut pty, "q");
    pty.types("\u{15}Answer.\r");
    pty.saw("xxxx");
    let streaming = typed(&mut pty, "j");
    // Only an answer that is still coming can be stopped; otherwise something else was measured.
    pty.time_to("\u{3}", "stopping");
    Ok(Echoes { start, at_rest, streaming })
}

/// Types a letter again and again, each time until it is seen at the end of what was typed.
fn typed(pty: &mut Pty, letter: &str) -> Vec<Duration> {
    (1..=KEYS)
        .map(|count| {
            std::thread::sleep(BETWEEN);
            pty.time_to(letter, &letter.repeat(count)).0
        })
        .collect()
}
