//! What a call costs in each language, in a host that runs: the example `word_count`, and the same in `node` and
//! `python3`, each started for the call.
//!
//! They take turns, so that a machine that is busy for a while spoils all alike. Prints a line for each measurement:
//! its name, the median and the least in milliseconds, parted by tabs. What compiles the examples is got by
//! `host_tests::languages`. Deliberately not here: whole processes of the host, which `tests/languages.sh` times.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host_tests::languages::{LANGUAGES, example, load};
use host_tests::{Bench, text};
use serde_json::json;

/// How often each is done.
const ROUNDS: usize = 50;

/// The texts that are counted: as long as a short file, and as a lock file.
const BYTES: [usize; 2] = [2_000, 200_000];

/// The example as programs, each with what starts it.
const PROGRAMS: [[&str; 2]; 2] = [["node", "word_count.mjs"], ["python3", "word_count.py"]];

fn main() -> Result<(), Box<dyn Error>> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    for bytes in BYTES {
        let content = "Each of these few words is one that is counted here\n".repeat(bytes / 52);
        let benches = LANGUAGES.map(|language| {
            let bench = Bench::with(load(&example(language)), &["fs-read=."]);
            bench.file("some.txt", &content);
            (format!("{} in a running host", language.name), bench)
        });
        let mut times = vec![Vec::with_capacity(ROUNDS); benches.len() + PROGRAMS.len()];
        // The first round compiles.
        for round in 0..=ROUNDS {
            for (place, times) in times.iter_mut().enumerate() {
                let begun = Instant::now();
                let said = match benches.get(place) {
                    Some((_, bench)) => text(&threads.block_on(bench.call("word_count", json!({"path": "some.txt"})))?),
                    None => program(PROGRAMS[place - benches.len()], &benches[0].1.root().join("some.txt"))?,
                };
                let took = begun.elapsed();
                if !said.contains("counted") {
                    return Err(format!("the words were not counted: {said}").into());
                }
                if round > 0 {
                    times.push(took);
                }
            }
        }
        let names =
            benches.iter().map(|(name, _)| name.clone()).chain(PROGRAMS.map(|[name, _]| format!("{name}, started")));
        for (name, mut times) in names.zip(times) {
            times.sort();
            let name = format!("{name}, {} KB (ms)", bytes / 1_000);
            writeln!(out, "{name}\t{}\t{}", milliseconds(times[ROUNDS / 2]), milliseconds(times[0]))?;
        }
    }
    Ok(())
}

fn program([interpreter, script]: [&str; 2], file: &Path) -> Result<String, Box<dyn Error>> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/languages").join(script);
    let arguments = json!({"path": file}).to_string();
    let output = Command::new(interpreter).arg(script).arg(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{interpreter}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{interpreter}` said {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1_000.0)
}
