//! Many calls: 1,000 at once, how many a second, and how long the slowest take. The call does nothing, so what is
//! measured is the sandbox: admission, a fresh store, a fresh instance, and the check of what came back.
//!
//! Prints a line for each measurement: its name, the median and the least over the rounds, parted by tabs. Deliberately
//! not here: how long one call takes (`calls`).

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_tests::Bench;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

/// How often each is done.
const ROUNDS: usize = 10;

/// Calls that begin at the same moment.
const AT_ONCE: usize = 1_000;

/// Calls of a round of each other measurement.
const CALLS: usize = 20_000;

/// Calls that wait for each other on two threads: enough that neither is ever idle.
const ABREAST: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let one = Builder::new_current_thread().enable_all().build()?;
    let two = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bench = Arc::new(Bench::new("misbehave", &[]));
    let names = [
        "1,000 calls at once (ms)",
        "1,000 calls at once, growth of memory (MB)",
        "calls a second on one core",
        "calls a second on two cores",
        "call on one of two cores, median (us)",
        "call on one of two cores, 99th percentile (us)",
    ];
    let mut values = names.map(|_| Vec::with_capacity(ROUNDS));
    // The first rounds compile, and fill the pool.
    for round in 0..=ROUNDS {
        let before = peak_memory()?;
        let took = at_once(&two, &bench)?;
        let grown = peak_memory()?.saturating_sub(before);
        let (alone, mut times) = in_turn(&one, &bench)?;
        let abreast = abreast(&two, &bench)?;
        times.sort();
        let all = [
            took.as_secs_f64() * 1e3,
            grown as f64 / 1e6,
            CALLS as f64 / alone.as_secs_f64(),
            CALLS as f64 / abreast.as_secs_f64(),
            times[CALLS / 2].as_secs_f64() * 1e6,
            times[CALLS / 100 * 99].as_secs_f64() * 1e6,
        ];
        if round > 0 {
            values.iter_mut().zip(all).for_each(|(values, value)| values.push(value));
        }
    }
    let mut out = std::io::stdout();
    for (name, mut values) in names.into_iter().zip(values) {
        values.sort_by(f64::total_cmp);
        writeln!(out, "{name}\t{:.3}\t{:.3}", values[ROUNDS / 2], values[0])?;
    }
    Ok(())
}

/// All begin before any ends.
fn at_once(threads: &Runtime, bench: &Arc<Bench>) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    threads.block_on(async {
        let calls: Vec<_> = (0..AT_ONCE).map(|_| tokio::spawn(empty(Arc::clone(bench)))).collect();
        for call in calls {
            call.await??;
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(begun.elapsed())
}

/// One behind the other on one thread; also how long each took.
fn in_turn(thread: &Runtime, bench: &Arc<Bench>) -> Result<(Duration, Vec<Duration>), Box<dyn Error>> {
    let begun = Instant::now();
    let mut times = Vec::with_capacity(CALLS);
    thread.block_on(async {
        for _ in 0..CALLS {
            let begun = Instant::now();
            empty(Arc::clone(bench)).await?;
            times.push(begun.elapsed());
        }
        Ok::<_, String>(())
    })?;
    Ok((begun.elapsed(), times))
}

/// On all threads.
fn abreast(threads: &Runtime, bench: &Arc<Bench>) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    threads.block_on(async {
        let callers = (0..ABREAST).map(|_| {
            let bench = Arc::clone(bench);
            tokio::spawn(async move {
                for _ in 0..CALLS / ABREAST {
                    empty(Arc::clone(&bench)).await?;
                }
                Ok::<_, String>(())
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await??;
        }
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(begun.elapsed())
}

async fn empty(bench: Arc<Bench>) -> Result<(), String> {
    bench.call("echo", json!({})).await.map(|_| ()).map_err(|error| error.to_string())
}

/// The most memory that this process had, in bytes.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("there is no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
