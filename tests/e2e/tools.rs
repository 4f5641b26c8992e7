//! What the built-in tools promise, each as it is shipped, in the real sandbox.
//!
//! Arguments are given as a model gives them. Deliberately not here: what a path may lead to and what a capability
//! refuses (`sandbox`), and what each tool computes without a host, which its own tests try.

use host_plugin::{CallError, Failure};
use host_tests::Bench;
use serde_json::Value;

mod apply_patch;
mod edit;
mod glob;
mod grep;
mod ls;
mod memory;
mod process;
mod read_file;
mod read_many_files;
mod shell;
mod todo;
mod tty;
mod web_fetch;
mod web_search;
mod write_file;

/// A call that must fail: which case of the contract's `failure` it is, and its words.
async fn failure(bench: &Bench, tool: &str, arguments: Value) -> (&'static str, String) {
    let shown = arguments.to_string();
    match bench.call(tool, arguments).await {
        Err(CallError::Failure(failure)) => (case(&failure), failure.to_string()),
        other => panic!("{tool} {shown} fails in the tool's own words, not with {other:?}"),
    }
}

fn case(failure: &Failure) -> &'static str {
    match failure {
        Failure::InvalidArguments(_) => "invalid-arguments",
        Failure::Denied { .. } => "denied",
        Failure::Claimed { .. } => "claimed",
        Failure::NotFound(_) => "not-found",
        Failure::Conflict(_) => "conflict",
        Failure::Unavailable(_) => "unavailable",
        Failure::Cancelled(_) => "cancelled",
        Failure::Failed(_) => "failed",
    }
}

/// Calls a tool once for each of these arguments, each of which it must refuse as told and with these words.
async fn refuses<const N: usize>(bench: &Bench, tool: &str, cases: [(Value, &str, &[&str]); N]) {
    for (arguments, case, says) in cases {
        let shown = arguments.to_string();
        let (found, words) = failure(bench, tool, arguments).await;
        assert_eq!(found, case, "{tool} {shown}: {words}");
        for part in says {
            assert!(words.contains(part), "{tool} {shown} says {part:?}: {words}");
        }
    }
}
