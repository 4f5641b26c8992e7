//! Ratios that must hold on every machine, with generous bounds: a change that breaks one made something several times
//! as slow.
//!
//! It runs with the tests. Both sides of a ratio take turns in one process, and the least time of each counts, since a
//! busy machine only ever adds. How fast the host is, and beside what, is for the other benchmarks.

use std::error::Error;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_tests::languages::{LANGUAGES, example, load};
use host_tests::{Bench, repository, text};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// How often each side is done.
const ROUNDS: usize = 15;

/// Files that are searched.
const FILES: usize = 500;

/// Calls that begin at the same moment.
const AT_ONCE: usize = 500;

/// Something that is timed.
type Side<'a> = &'a dyn Fn() -> Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    match checked() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // A failure of this line cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all ratios hold.
fn checked() -> Result<bool, Box<dyn Error>> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let empty = Arc::new(Bench::new("misbehave", &[]));
    let call =
        |bench: &Bench, tool: &str, arguments: Value, holds: &str| calls(&threads, bench, tool, arguments, holds);

    let search = Bench::built_in("grep", &["fs-read=."]);
    for file in 0..FILES {
        search.file(
            &format!("{}/{file}.rs", file % 20),
            "    let reply = self.read_buffer(&cursor, options)?;\n".repeat(200),
        );
    }
    search.file("found.rs", "    // a needle\n");

    let one_call = || call(&empty, "echo", json!({}), "");
    let program = || started("true", &[]);
    let behind = || (0..AT_ONCE).try_for_each(|_| one_call());
    let at_once = || together(&threads, &empty);
    let by_text = || call(&search, "grep", json!({"pattern": "needle"}), "found.rs:1");
    // No text is part of every match, so all files are handed over.
    let by_class = || call(&search, "grep", json!({"pattern": "[n-n][^ ]{4}e$"}), "found.rs:1");

    let mut all_hold = true;
    let mut check = |what: &str, bound: f64, [one, other]: [Side<'_>; 2]| -> Result<(), Box<dyn Error>> {
        let ratio = ratio(one, other)?;
        let verdict = if ratio <= bound { "ok" } else { "TOO SLOW" };
        all_hold &= ratio <= bound;
        Ok(writeln!(std::io::stdout(), "{what:<68} {ratio:>6.2} <= {bound:<5} {verdict}")?)
    };
    check("a call that does nothing, of starting `true`", 0.5, [&one_call, &program])?;
    check("500 calls at once, of one behind the other", 1.5, [&at_once, &behind])?;
    check("a search for a text, of one for what no text is part of", 0.9, [&by_text, &by_class])?;
    for (language, interpreter) in [("js", "node"), ("python", "python3")] {
        let language = LANGUAGES.into_iter().find(|known| known.name == language).ok_or("there is no such language")?;
        let bench = Bench::with(load(&example(language)), &["fs-read=."]);
        bench.file("some.txt", "Each of these few words is counted\n".repeat(50));
        let word_count = || call(&bench, "word_count", json!({"path": "some.txt"}), "counted");
        let script = repository().join("benches/benches/languages/word_count");
        let script = script.with_extension(if interpreter == "node" { "mjs" } else { "py" });
        let arguments = json!({"path": bench.root().join("some.txt")}).to_string();
        let program = || started(interpreter, &[&script.to_string_lossy(), &arguments]);
        let what = format!("a tool in {}, of the same started by `{interpreter}`", language.name);
        check(&what, 1.0, [&word_count, &program])?;
    }
    Ok(all_hold)
}

/// How long one takes, as a multiple of the other.
fn ratio(one: Side<'_>, other: Side<'_>) -> Result<f64, Box<dyn Error>> {
    let mut least = [Duration::MAX; 2];
    // The first round compiles, and is counted too: the least is another.
    for _ in 0..ROUNDS {
        for (side, least) in [one, other].into_iter().zip(&mut least) {
            let begun = Instant::now();
            side()?;
            *least = begun.elapsed().min(*least);
        }
    }
    Ok(least[0].as_secs_f64() / least[1].as_secs_f64())
}

fn calls(threads: &Runtime, bench: &Bench, tool: &str, arguments: Value, holds: &str) -> Result<(), Box<dyn Error>> {
    let said = text(&threads.block_on(bench.call(tool, arguments))?);
    if said.contains(holds) { Ok(()) } else { Err(format!("`{tool}` said {said:?}").into()) }
}

fn together(threads: &Runtime, bench: &Arc<Bench>) -> Result<(), Box<dyn Error>> {
    threads.block_on(async {
        let call = |_| {
            let bench = Arc::clone(bench);
            tokio::spawn(
                async move { bench.call("echo", json!({})).await.map(drop).map_err(|error| error.to_string()) },
            )
        };
        for call in (0..AT_ONCE).map(call).collect::<Vec<_>>() {
            call.await??;
        }
        Ok(())
    })
}

fn started(program: &str, arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}`: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("`{program}` failed: {output:?}").into()) }
}
