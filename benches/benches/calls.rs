//! One call within a running host: what the sandbox costs, with the compiled component warm.
//!
//! Each measurement goes through `Runtime::call`, so admission, a fresh store, a fresh instance and the check of what
//! came back are all in it. Deliberately not here: whole processes (`runs`, and `tests/bench.sh`).

use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use host_manifest::{Manifest, Source};
use host_plugin::Plugin;
use host_tests::{Bench, repository, text};
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

    let small = |tool| small_tree(built_in(tool));
    measure("ls", &small("ls"), "ls", json!({"path": "."}), "file_07.rs");
    measure("read_file", &small("read_file"), "read_file", json!({"path": "file_07.rs"}), "value_199");
    measure("grep", &small("grep"), "grep", json!({"pattern": "value_1[0-4]\\b"}), "file_07.rs:12");
}

fn call(tokio: &Runtime, bench: &Bench, tool: &str, arguments: &Value) {
    tokio.block_on(bench.call(tool, arguments.clone())).expect("it worked before");
}

/// A built-in plugin, out of the components that are part of the host.
fn built_in(name: &str) -> Arc<Plugin> {
    let file = |end: &str| repository().join("plugins/dist").join(format!("{name}.{end}"));
    let json = std::fs::read_to_string(file("json")).expect("the manifest");
    let manifest = Manifest::parse(&json, Source::File(file("json"))).expect("a manifest");
    let component = std::fs::read(file("wasm")).expect("the component");
    let declared = manifest.declared(Path::new("/")).expect("a scope");
    Arc::new(Plugin::new(manifest.plugin_name(), component, declared))
}

/// A workspace with a few source files, for a plugin that may read it.
fn small_tree(plugin: Arc<Plugin>) -> Bench {
    let bench = Bench::with(plugin, &["fs-read=."]);
    for file in 0..FILES {
        let line = |line| format!("    let value_{line} = compute(value_{file}, {line}); // keeps the total\n");
        bench.file(&format!("file_{file:02}.rs"), (0..LINES).map(line).collect::<String>());
    }
    bench.file(".gitignore", "target\n*.log\n").file("build.log", "ignored\n");
    bench
}

criterion_group!(benches, calls);
criterion_main!(benches);
