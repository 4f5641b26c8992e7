//! Goroutines of a plugin in Go that all call the host, and how a plugin in Go fails.
//!
//! While the host puts a result into the plugin's memory, the plugin must not call the host. Go's scheduler and
//! collector would if they ran then: see `host/devkit/src/build/go.rs`.

use host_tests::languages::{Project, kept, load};
use host_tests::{Bench, text};
use serde_json::json;

use super::building::language;

/// Calls of the tool with each of [`SIZES`]. A few are enough: without the allocator of the binding, none of ten ended.
const CALLS: usize = 8;

/// Bytes of the files that are read, how often each goroutine reads, and bytes of the text that is passed in and
/// returned: small results, some that fill the memory taken for them, and some larger than that.
const SIZES: &[([usize; 4], usize, usize)] = &[
    ([0, 900, 30_000, 200_000], 25, 0),
    ([1, 10_000, 10_001, 65_536], 25, 10_000),
    ([0, 10_000, 524_288, 2_000_000], 3, 2_000_000),
];

fn together() -> Bench {
    let project = Project::new(language("go"), "together");
    let manifest = project.text("plugin.toml");
    // The template's titles are of its own tool.
    let (manifest, _) = manifest.split_once("\n# What a user reads of a call").expect("it has titles");
    let project = project.file("plugin.toml", manifest).file("plugin.go", include_str!("goroutines/plugin.go"));
    Bench::with(load(&kept(project)), &["fs-read=."])
}

#[tokio::test]
async fn go_goroutines_call_the_host_while_others_run() {
    let bench = together();
    for (sizes, times, length) in SIZES {
        for (file, bytes) in sizes.iter().enumerate() {
            bench.file(&format!("{file}.txt"), file.to_string().repeat(*bytes));
        }
        let said = "x".repeat(*length);
        for _ in 0..CALLS {
            let arguments = json!({"readers": 20, "times": times, "sizes": sizes, "text": said});
            let output = bench.call("read_together", arguments).await.unwrap_or_else(|error| panic!("{error}"));
            assert!(text(&output) == format!("{} reads, {said}", 20 * times), "{sizes:?}");
        }
    }
}

/// What the host cannot put into the plugin's memory ends the call, and not the host.
#[tokio::test]
async fn go_plugin_that_is_sent_more_than_its_memory_fails_alone() {
    let bench = together();
    let sizes = [20_000_000; 4];
    for (file, bytes) in sizes.into_iter().enumerate() {
        bench.file(&format!("{file}.txt"), file.to_string().repeat(bytes));
    }
    let arguments = |readers, times| json!({"readers": readers, "times": times, "sizes": sizes, "text": ""});
    let error = bench.call("read_together", arguments(20, 1)).await.expect_err("400 MB do not fit");
    assert!(error.to_string().contains("memory"), "{error}");
    let output = bench.call("read_together", arguments(1, 4)).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text(&output), "4 reads, ");
}

#[tokio::test]
async fn go_errors_and_panics_fail_the_call_that_they_are_in() {
    let bench = together();
    for (how, says) in [
        ("error", "it did not work"),
        ("failure", "no file \u{fffd}"),
        ("panic", "index out of range"),
        ("panic in a goroutine", "crashed"),
        ("deadlock", "crashed"),
        ("recursion", "call stack exhausted"),
    ] {
        let error = bench.call("end", json!({"how": how})).await.expect_err(how).to_string();
        assert!(error.contains(says), "{how}: {error}");
        assert_eq!(bench.text("end", json!({"how": "well"})).await, "\u{fffd} is no UTF-8");
    }
}
