//! What keeping changes costs: a program and a written file, with a recorder and without one.
//!
//! Both take turns, so that a machine that is busy for a while spoils both alike. Prints a line for each measurement as
//! `programs` does: its name, the median and the least in milliseconds, parted by tabs; before it the first look at the
//! files.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_manifest::{Manifest, Source};
use host_plugin::{Invocation, Plugin};
use host_tests::{Bench, repository, text};
use serde_json::{Value, json};

/// How often each is done.
const ROUNDS: usize = 100;

/// The sizes of the workspace, in files.
const FILES: [usize; 2] = [2_000, 20_000];

/// The files of a folder.
const FOLDER: usize = 50;

/// The bytes of a file, about as many as a source file has.
const BYTES: usize = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    for files in FILES {
        let program = bench("shell", &["process=*", "fs-read=.", "fs-write=."], files);
        let Measured { first, times } =
            measure(&threads, &program, "shell", "ran", |_| json!({"command": "echo ran"}))?;
        writeln!(out, "first look at {files} files (ms)\t{}\t{}", milliseconds(first), milliseconds(first))?;
        print(&mut out, &format!("program among {files} files"), times)?;
    }
    let write = bench("write_file", &["fs-read=.", "fs-write=."], FOLDER);
    let content = |call: usize| json!({"path": "0/0", "content": format!("{call} ").repeat(BYTES / 4)});
    let Measured { times, .. } = measure(&threads, &write, "write_file", "0/0", content)?;
    print(&mut out, "written file", times)
}

/// What was measured.
struct Measured {
    first: Duration,
    /// Of the calls without a recorder, and with one.
    times: [Vec<Duration>; 2],
}

/// Calls a tool with and without a recorder in turn. Returns the times of both, and how long the first look took.
fn measure(
    threads: &tokio::runtime::Runtime,
    bench: &Bench,
    tool: &str,
    holds: &str,
    arguments: impl Fn(usize) -> Value,
) -> Result<Measured, Box<dyn Error>> {
    let kept = tempfile::tempdir()?;
    let recorder = Arc::new(host_plugin::recorder(kept.path().join("undo")));
    recorder.set_roots([bench.root()]);
    let begun = Instant::now();
    recorder.prepare()?;
    let first = begun.elapsed();
    let mut times = [(); 2].map(|()| Vec::with_capacity(ROUNDS));
    // The first round compiles.
    for round in 0..=ROUNDS {
        for (way, (changes, times)) in [None, Some(&recorder)].into_iter().zip(&mut times).enumerate() {
            // What a file has already is not written again.
            let invocation = bench.invocation(tool, arguments(2 * round + way));
            let invocation = Invocation { changes: changes.map(Arc::clone), ..invocation };
            let begun = Instant::now();
            let output = threads.block_on(bench.invoke(invocation)).map_err(|error| format!("`{tool}`: {error}"))?;
            let took = begun.elapsed();
            if !text(&output).contains(holds) {
                return Err(format!("`{tool}` failed: {}", text(&output)).into());
            }
            if round > 0 {
                times.push(took);
            }
        }
    }
    Ok(Measured { first, times })
}

/// A workspace with so many files, for a built-in plugin.
fn bench(name: &str, grants: &[&str], files: usize) -> Bench {
    let file = |end: &str| repository().join("plugins/dist").join(format!("{name}.{end}"));
    let json = std::fs::read_to_string(file("json")).expect("the manifest");
    let manifest = Manifest::parse(&json, Source::File(file("json"))).expect("a manifest");
    let component = std::fs::read(file("wasm")).expect("the component");
    let declared = manifest.declared(Path::new("/")).expect("a scope");
    let bench = Bench::with(Arc::new(Plugin::new(manifest.plugin_name(), component, declared)), grants);
    for number in 0..files {
        bench.file(&format!("{}/{}", number / FOLDER, number % FOLDER), format!("{number}\n").repeat(BYTES / 6));
    }
    bench
}

fn print(out: &mut impl Write, what: &str, ways: [Vec<Duration>; 2]) -> Result<(), Box<dyn Error>> {
    for (mut times, way) in ways.into_iter().zip(["", ", kept for undo"]) {
        times.sort();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let least = times.first().copied().unwrap_or_default();
        writeln!(out, "{what}{way} (ms)\t{}\t{}", milliseconds(median), milliseconds(least))?;
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
