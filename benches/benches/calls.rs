//! One call within a running host: what the sandbox costs, with the compiled component warm.
//!
//! Each measurement goes through `Runtime::call`, so admission, a fresh store, a fresh instance and the check of what
//! came back are all in it. Deliberately not here: whole processes (`runs`, and `tests/bench.sh`).

use criterion::{Criterion, criterion_group, criterion_main};
use host_tests::{Bench, text};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Files of the small tree, as many as a small project has.
const FILES: usize = 20;

/// Lines of each of its files, about as many as a source file has.
const LINES: usize = 200;

fn calls(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads to work with");
    let mut measure = |name: &str, bench: &Bench, tool: &str, arguments: Value, holds: &str| {
        // Compiles, fills the caches, and shows that what is measured is the call and not its failure.
        let first = tokio.block_on(bench.call(tool, arguments.clone())).expect("the call works");
        assert!(text(&first).contains(holds), "`{tool}` says {}", text(&first));
        criterion.bench_function(name, |bencher| bencher.iter(|| call(&tokio, bench, tool, &arguments)));
    };
    measure("empty call", &Bench::new("misbehave", &[]), "echo", json!({}), "");

    let small = |tool| small_tree(Bench::built_in(tool, &["fs-read=."]));
    measure("ls", &small("ls"), "ls", json!({"path": "."}), "file_07.rs");
    measure("read_file", &small("read_file"), "read_file", json!({"path": "file_07.rs"}), "value_199");
    measure("grep", &small("grep"), "grep", json!({"pattern": "value_1[0-4]\\b"}), "file_07.rs:12");
    measure("glob", &small("glob"), "glob", json!({"pattern": "*_0?.rs"}), "file_07.rs");
    let all = json!({"include": ["*.rs"]});
    measure("read_many_files", &small("read_many_files"), "read_many_files", all, "value_199");
}

fn call(tokio: &Runtime, bench: &Bench, tool: &str, arguments: &Value) {
    tokio.block_on(bench.call(tool, arguments.clone())).expect("it worked before");
}

/// Fills a workspace with a few source files.
fn small_tree(bench: Bench) -> Bench {
    for file in 0..FILES {
        let line = |line| format!("    let value_{line} = compute(value_{file}, {line}); // keeps the total\n");
        bench.file(&format!("file_{file:02}.rs"), (0..LINES).map(line).collect::<String>());
    }
    bench.file(".gitignore", "target\n*.log\n").file("build.log", "ignored\n");
    bench
}

criterion_group!(benches, calls);
criterion_main!(benches);
