//! How many empty calls a second Extism makes, on one thread and on two, with a fresh instance for each and with one
//! that is used again. It loads core modules and no components, so the call has no typed arguments or results.
//!
//! Prints a line for each measurement: its name, the median and the least over the rounds, parted by tabs.

use std::time::{Duration, Instant};

use extism::{CompiledPlugin, Error, Manifest, Plugin, PluginBuilder, Wasm};

/// How often each is done.
const ROUNDS: usize = 10;

/// Calls of a round.
const CALLS: usize = 2_000;

/// A module whose one function returns at once.
const MODULE: &str = r#"(module (memory (export "memory") 17) (func (export "empty") (result i32) i32.const 0))"#;

fn main() -> Result<(), Error> {
    let manifest = Manifest::new([Wasm::data(MODULE.as_bytes())]);
    let compiled = CompiledPlugin::new(PluginBuilder::new(manifest))?;
    for (name, threads, is_fresh) in [
        ("Extism, calls a second on one core", 1, true),
        ("Extism, calls a second on two cores", 2, true),
        ("Extism, calls a second on one core, one instance", 1, false),
    ] {
        let mut rates = Vec::with_capacity(ROUNDS);
        // The first round warms.
        for round in 0..=ROUNDS {
            let took = round_of(&compiled, threads, is_fresh)?;
            if round > 0 {
                rates.push(CALLS as f64 / took.as_secs_f64());
            }
        }
        rates.sort_by(f64::total_cmp);
        println!("{name}\t{:.3}\t{:.3}", rates[ROUNDS / 2], rates[0]);
    }
    Ok(())
}

fn round_of(compiled: &CompiledPlugin, threads: usize, is_fresh: bool) -> Result<Duration, Error> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let calls = || -> Result<(), Error> {
            let mut plugin = Plugin::new_from_compiled(compiled)?;
            for call in 0..CALLS / threads {
                if is_fresh && call > 0 {
                    plugin = Plugin::new_from_compiled(compiled)?;
                }
                plugin.call::<&str, &str>("empty", "")?;
            }
            Ok(())
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(calls)).collect();
        running.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    Ok(begun.elapsed())
}
