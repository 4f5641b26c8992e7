//! Whole runs of the binary, from the spawn of the process to its end, against a model's service on this machine.
//!
//! Prints a line for each measurement: its name, the median and the least, parted by tabs; `tests/bench.sh` makes a
//! table of them. Kinds of runs take turns, so that a machine that is busy for a while spoils all of them alike. Or
//! prints which functions a run executes ([`executed`]).
//! Deliberately not here: targets, and single calls (`calls`).

mod echo;
mod executed;
mod plugins;
mod process;
mod reply;
mod service;
mod wire;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use process::{Ended, FILES, Place};
use reply::Reply;
use service::Service;
use wire::Wire;

/// Characters of the long answer, and the events that it comes in.
const ANSWER: usize = 200_000;
/// See [`ANSWER`].
const EVENTS: usize = 8_000;

/// How long a model takes to its first word, at the very least.
const THINKING: Duration = Duration::from_millis(50);

/// Runs of each kind when nobody says how many. Fewer have no median worth the name.
const RUNS: usize = 15;

/// The values of one measurement.
type Values = BTreeMap<String, Vec<f64>>;

fn main() -> ExitCode {
    let all: Vec<String> = std::env::args().skip(1).collect();
    if let [first, command @ ..] = all.as_slice()
        && first == process::PEAK_OF
    {
        let printed = process::peak_of(command).and_then(|bytes| list([bytes.to_string()]));
        return printed.map_or_else(|error| complain(&error.to_string()), |()| ExitCode::SUCCESS);
    }
    // Cargo adds `--bench` for its own harness.
    let arguments: Vec<String> = all.into_iter().filter(|argument| !argument.starts_with("--")).collect();
    let [host, runs @ ..] = arguments.as_slice() else {
        let usage = "name the binary twice: HOST_TEST_BINARY=BINARY cargo bench --bench runs -- BINARY [RUNS|executed]";
        return complain(usage);
    };
    if runs.first().is_some_and(|word| word == "executed") {
        let listed = executed::functions(Path::new(host)).and_then(|names| Ok(list(names)?));
        return listed.map_or_else(|error| complain(&error.to_string()), |()| ExitCode::SUCCESS);
    }
    let runs = match runs.first().map(|runs| runs.parse()) {
        None => RUNS,
        Some(Ok(runs)) if runs > 0 => runs,
        Some(_) => return complain("the number of runs is no number over 0"),
    };
    match measure(PathBuf::from(host), runs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

fn list(lines: impl IntoIterator<Item = String>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn complain(message: &str) -> ExitCode {
    // A failure of this line cannot be reported.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::FAILURE
}

fn measure(host: PathBuf, runs: usize) -> Result<(), Box<dyn Error>> {
    let service = Service::start()?;
    let place = Place::new(host.clone(), service.port())?;
    let with_plugins = Place::new(host, service.port())?;
    plugins::install(&with_plugins)?;
    let mut values = Values::new();
    // The first round fills the caches: of the host, which compiles its components once, and of the system.
    for round in 0..=runs {
        let mut counted = |name: &str, value| {
            if round > 0 {
                values.entry(name.to_owned()).or_default().push(value);
            }
        };
        let empty = run(&service, &place, vec![Reply::text(1, 1)], 1)?;
        counted("first request (ms)", milliseconds(empty.requests[0]));
        counted("run with an empty answer (ms)", milliseconds(empty.ended.wall));
        service.will_say(vec![Reply::text(1, 1)]);
        counted("peak memory of one turn (MB)", megabytes(place.peak_memory(Wire::Chat)?));
        let many = run(&service, &with_plugins, vec![Reply::text(1, 1)], 1)?;
        counted(&format!("first request with {} plugins (ms)", plugins::PLUGINS), milliseconds(many.requests[0]));
        service.will_say(vec![Reply::text(1, 1)]);
        let peak = with_plugins.peak_memory(Wire::Chat)?;
        counted(&format!("peak memory with {} plugins (MB)", plugins::PLUGINS), megabytes(peak));

        let reads = || Reply::call("read_file", r#"{"path":"README.md"}"#).sent_at_once();
        let called = run(&service, &place, vec![reads(), reads(), Reply::text(1, 1)], 3)?;
        counted("first call between requests (ms)", milliseconds(called.requests[1] - called.answered[0]));
        counted("second call between requests (ms)", milliseconds(called.requests[2] - called.answered[1]));
        service.will_say(vec![reads(), reads(), Reply::text(1, 1)]);
        counted("peak memory with two calls (MB)", megabytes(place.peak_memory(Wire::Chat)?));

        let thought = run(&service, &place, vec![reads().after(THINKING), Reply::text(1, 1)], 2)?;
        counted("first call after a pause (ms)", milliseconds(thought.requests[1] - thought.answered[0]));

        let reading = |file| format!(r#"{{"path":"{}"}}"#, Place::file(file));
        let read = |files: std::ops::Range<usize>| {
            Reply::calls("read_file", &files.map(reading).collect::<Vec<_>>()).sent_at_once()
        };
        // The tool is loaded by the first call, and the second is one like any other.
        let several = run(&service, &place, vec![read(0..1), read(1..2), read(2..10), Reply::text(1, 1)], 4)?;
        let answered_after = |call: usize| several.requests[call + 1] - several.answered[call];
        counted(
            "8 calls in one reply, over one (ms)",
            milliseconds(answered_after(2)) - milliseconds(answered_after(1)),
        );

        let turns = (0..FILES).map(|file| read(file..file + 1)).chain([Reply::text(1, 1)]).collect();
        let turns = run(&service, &place, turns, FILES + 1)?;
        counted("processor time of 100 turns (ms)", milliseconds(turns.ended.processor));
        // While the first calls run, the tools that were not called yet are loaded; with many turns the history is
        // long.
        let mut later: Vec<_> = (2..12).map(|call| turns.requests[call + 1] - turns.answered[call]).collect();
        later.sort();
        counted("later call between requests (ms)", milliseconds(later[later.len() / 2]));

        let long = run(&service, &place, vec![Reply::text(ANSWER, EVENTS).sent_at_once()], 1)?;
        if long.ended.printed < ANSWER as u64 {
            return Err(format!("only {} bytes of the long answer were printed", long.ended.printed).into());
        }
        counted("run with a long answer (ms)", milliseconds(long.ended.wall));
        let single = run(&service, &place, vec![Reply::text(ANSWER, EVENTS)], 1)?;
        counted("run with a long answer, event by event (ms)", milliseconds(single.ended.wall));

        for wire in Wire::ALL {
            let empty = run_on(wire, &service, &place, vec![Reply::answer(wire, &["x".to_owned()])], 1)?;
            let long = Reply::markdown(wire, ANSWER, EVENTS).sent_at_once();
            let long = run_on(wire, &service, &place, vec![long], 1)?;
            if long.ended.printed < ANSWER as u64 {
                return Err(format!("only {} bytes of the long answer were printed", long.ended.printed).into());
            }
            let provider = wire.provider();
            for (answer, run) in [("empty", empty), ("long", long)] {
                let name = format!("processor time with {provider}, {answer} answer (ms)");
                counted(&name, milliseconds(run.ended.processor));
            }
        }

        // What drawing costs: the same answers on a terminal and in a file.
        let markdown = || Reply::markdown(Wire::Chat, ANSWER, EVENTS).sent_at_once();
        let time = drawn(&service, &place, Reply::text(1, 1))?;
        counted("processor time on a terminal, empty answer (ms)", milliseconds(time));
        let time = drawn(&service, &place, markdown())?;
        counted("processor time on a terminal, long answer (ms)", milliseconds(time));
        counted("processor time in a file, empty answer (ms)", milliseconds(empty.ended.processor));
        let written = run(&service, &place, vec![markdown()], 1)?;
        counted("processor time in a file, long answer (ms)", milliseconds(written.ended.processor));
        let mut echoes = echo::measure(&service, &place)?;
        counted("start to the first prompt on a terminal (ms)", milliseconds(echoes.start));
        for (usual, slow, times) in [
            ("echo of a key at rest (ms)", "slowest echo of 60 keys at rest (ms)", &mut echoes.at_rest),
            (
                "echo of a key while an answer streams (ms)",
                "slowest echo of 60 keys while an answer streams (ms)",
                &mut echoes.streaming,
            ),
        ] {
            times.sort();
            counted(usual, milliseconds(times[times.len() / 2]));
            counted(slow, milliseconds(times[times.len() - 1]));
        }
    }
    let mut out = io::stdout().lock();
    for (name, mut values) in values {
        values.sort_by(f64::total_cmp);
        writeln!(out, "{name}\t{:.3}\t{:.3}", values[values.len() / 2], values[0])?;
    }
    Ok(())
}

/// One run, by the clock that starts just before its process does.
struct Run {
    /// When each request arrived.
    requests: Vec<Duration>,
    /// When the last of each reply was sent.
    answered: Vec<Duration>,
    ended: Ended,
}

fn run(service: &Service, place: &Place, replies: Vec<Reply>, requests: usize) -> Result<Run, Box<dyn Error>> {
    run_on(Wire::Chat, service, place, replies, requests)
}

/// One run with a model of this wire format.
fn run_on(
    wire: Wire,
    service: &Service,
    place: &Place,
    replies: Vec<Reply>,
    requests: usize,
) -> Result<Run, Box<dyn Error>> {
    service.will_say(replies);
    let ended = place.run(wire)?;
    let seen = service.seen();
    if seen.len() != requests {
        return Err(format!("the run made {} requests instead of {requests}", seen.len()).into());
    }
    let since = |at: &std::time::Instant| at.duration_since(ended.started);
    Ok(Run {
        requests: seen.iter().map(|seen| since(&seen.arrived)).collect(),
        answered: seen.iter().map(|seen| since(&seen.answered)).collect(),
        ended,
    })
}

/// One run on a terminal: the processor time of the host.
fn drawn(service: &Service, place: &Place, reply: Reply) -> Result<Duration, Box<dyn Error>> {
    service.will_say(vec![reply]);
    let time = place.run_drawn()?;
    match service.seen().len() {
        1 => Ok(time),
        requests => Err(format!("the run made {requests} requests instead of 1").into()),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
