//! What the sandbox promises, tried with plugins that break every rule they can.

use std::sync::Arc;
use std::time::Duration;

use host_capability::{Capability, CapabilitySet, Grants, PluginName};
use host_plugin::admission::AdmissionError;
use host_plugin::{Allocator, CallError, Limit, Limits, Plugin, Runtime, RuntimeOptions};
use host_tests::{Bench, Heard, eventually, guest, runtime};
use serde_json::json;

#[cfg(target_os = "linux")]
mod calls;
mod caseless;
mod claims;
mod confined;
mod files;
mod network;
mod programs;
mod secrets;
mod shown;
mod states;

// promise plugin.dropped: Dropping a call frees its store and ends its programs, whether the guest computes or waits
//   in the host.
/// The first promise of all: whoever drops a call gets everything back at once, whatever the guest is doing.
#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_call_frees_its_store_whether_the_guest_computes_or_waits_in_the_host() {
    let computing = Bench::new("misbehave", &[]);
    let heard = Arc::new(Heard::default());
    let mut invocation = computing.invocation("loop_until_told", json!({"text": "I compute"}));
    invocation.listener = heard.clone();
    let store = Arc::downgrade(&invocation.config);
    let call = tokio::spawn(async move { computing.invoke(invocation).await });
    heard.something().await;
    assert!(store.upgrade().is_some(), "the store holds the configuration while the call runs");
    call.abort();
    assert!(call.await.expect_err("it was dropped").is_cancelled());
    assert!(store.upgrade().is_none(), "and nothing holds it afterwards");

    let waiting = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
    let marker = waiting.root().join("started");
    let invocation = waiting
        .invocation("run", json!({"argv": ["sh", "-c", format!("echo > '{}'; exec sleep 1000", marker.display())]}));
    let store = Arc::downgrade(&invocation.config);
    let call = tokio::spawn(async move { waiting.invoke(invocation).await });
    eventually(|| marker.exists()).await;
    call.abort();
    assert!(call.await.expect_err("it was dropped").is_cancelled());
    assert!(store.upgrade().is_none());
}

// promise plugin.instance: Each call has a fresh instance that sees nothing of earlier calls.
#[tokio::test]
async fn each_call_has_an_instance_of_its_own() {
    let bench = Bench::new("misbehave", &[]);
    for _ in 0..3 {
        assert_eq!(bench.text("count", json!({})).await, "1");
    }
}

// promise plugin.instance
#[tokio::test]
async fn memory_of_a_call_has_nothing_of_earlier_calls() {
    let bench = Bench::new("misbehave", &[]);
    // Less than what stays resident between calls, about as much, and more.
    for size in [2_000, 100_000, 250_000, 1_000_000, 6_000_000] {
        let found: usize = bench.text("leave", json!({"text": size.to_string()})).await.parse().expect("a number");
        assert!(found >= size / 256 - 2, "{found} blocks of {size} bytes are found while they are there");
        assert_eq!(bench.text("find", json!({})).await, "0", "after {size} bytes");
    }
}

#[tokio::test]
async fn memory_of_a_call_grows_only_beyond_what_it_has_from_the_start() {
    let bench = Bench::new("misbehave", &[]);
    let mut grown = [1_000, 20_000, 200_000].map(|most| (most, 0));
    for (most, pages) in &mut grown {
        let text = bench.text("allocate", json!({"text": most.to_string()})).await;
        *pages = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    // Of sixteen blocks. The factor is for what is free between them.
    let [(_, small), (middle, middle_pages), (large, large_pages)] = grown;
    let at_most = |most: usize| 2 * 16 * most / 65_536 + 1;
    assert_eq!(small, 0);
    assert!((1..=at_most(middle)).contains(&middle_pages), "{middle_pages} pages for blocks of {middle} bytes");
    assert!((1..=at_most(large)).contains(&large_pages), "{large_pages} pages for blocks of {large} bytes");
}

// promise plugin.misbehaves
#[tokio::test]
async fn sandbox_trap_of_a_guest_names_what_and_where_and_the_next_call_works() {
    let bench = Bench::new("misbehave", &[]);
    let error = bench.call("panic", json!({"text": "the sky fell"})).await.expect_err("it panics");
    let CallError::Crashed { panic: Some(panic), backtrace, .. } = &error else { panic!("{error:?}") };
    assert!(panic.starts_with("the sky fell, at ") && panic.contains("lib.rs:"), "{panic}");
    // Compilers differ in how they write generic names.
    assert!(backtrace.contains("host_sdk::tool::Tool") && !backtrace.contains("panicking"), "{backtrace}");

    let error = bench.call("recurse", json!({})).await.expect_err("its stack is not endless");
    assert!(error.to_string().contains("call stack exhausted"), "{error}");

    assert_eq!(bench.text("echo", json!({"text": "still here"})).await, "still here");
}

// promise plugin.misbehaves
#[tokio::test]
async fn a_guest_that_grows_is_stopped_by_its_limit() {
    let bench = Bench::new("misbehave", &[]);
    let error = bench.call("grow", json!({})).await.expect_err("its memory is not endless");
    assert!(matches!(error, CallError::Limit { limit: Limit::Memory, .. }), "{error:?}");
    assert_eq!(bench.text("echo", json!({"text": "still here"})).await, "still here");
}

// promise plugin.misbehaves: A guest that loops, grows, recurses or traps is stopped and reported, and the next call
//   works.
#[tokio::test]
async fn a_guest_that_loops_is_stopped_by_the_time_limit() {
    let bench = Bench::new("misbehave", &[]);
    let error = bench.call("loop_for_ever", json!({})).await.expect_err("its time is not endless");
    assert!(matches!(error, CallError::TimedOut { limit, .. } if limit == host_tests::CALL_TIME), "{error:?}");
}

#[tokio::test]
async fn sandbox_guest_that_is_cancelled_can_return_what_it_had() {
    let bench = Bench::new("misbehave", &[]);
    let heard = Arc::new(Heard::default());
    let mut invocation = bench.invocation("loop_until_told", json!({"text": "begun"}));
    invocation.listener = heard.clone();
    let cancel = invocation.cancel.clone();
    let (ended, ()) = tokio::join!(bench.invoke(invocation), async {
        heard.something().await;
        cancel.cancel();
    });
    let error = ended.expect_err("it was told to stop");
    assert!(
        matches!(&error, CallError::Failure(host_plugin::Failure::Cancelled(had)) if had == "what I had"),
        "{error:?}"
    );
}

// promise plugin.time: The long time limit is for calls that may start programs; importing the capability is not
//   enough.
#[tokio::test]
async fn sandbox_plugin_that_may_start_no_program_has_the_short_time_limit() {
    let (time, process_time) = (Duration::from_millis(200), Duration::from_millis(700));
    let limits = Limits { time, process_time, ..Limits::default() };
    let runtime =
        Runtime::new(RuntimeOptions { cache: Some(host_tests::cache()), limits, ..RuntimeOptions::default() });
    let built = guest("hostile");
    let anew = || {
        Plugin::new(built.name().clone(), built.component().expect("it is read").into_owned(), built.declared().clone())
    };
    let optional: CapabilitySet = [Capability::Process].into_iter().collect();
    let without = ["fs-read=.", "fs-write=.", "http=*", "state=write"];
    let with = [&without[..], &["process=*"]].concat();
    for (plugin, grants, expected) in
        [(anew().with_optional(optional), &without[..], time), (anew(), &with, process_time)]
    {
        let bench = Bench::new("hostile", grants);
        let invocation = bench.invocation("loop_in_the_host", json!({"path": "", "text": ""}));
        let error = runtime.call(&plugin, invocation).await.expect_err("its time is not endless");
        let CallError::TimedOut { limit, .. } = error else { panic!("{error:?}") };
        assert_eq!(limit, expected, "{grants:?}");
    }
}

// promise plugin.bounded: What a guest returns and shows is limited.
#[tokio::test]
async fn sandbox_result_of_a_guest_is_limited() {
    let bench = Bench::new("misbehave", &[]);
    for tool in ["flood", "flood_pieces"] {
        let error = bench.call(tool, json!({})).await.expect_err("9 MiB are too much");
        assert!(matches!(error, CallError::TooMuch { what: "text", .. }), "{error:?}");
    }
    let error = bench.call("no_json", json!({})).await.expect_err("it is torn");
    assert!(matches!(error, CallError::NotJson { .. }), "{error:?}");

    let heard = Arc::new(Heard::default());
    let mut invocation = bench.invocation("shout", json!({}));
    invocation.listener = heard.clone();
    bench.invoke(invocation).await.expect("shouting is no crime");
    let text = heard.text();
    assert!(text.len() <= (8 << 20) + 100 && text.contains("cut here"), "{}", text.len());
}

// promise plugin.imports: Imports are read before compilation; an unknown, undeclared or ungranted import is denied by
//   name, and a linker holds only granted interfaces.
#[tokio::test]
async fn sandbox_ungranted_import_is_not_linked_and_the_denial_names_what_would_grant_it() {
    let bench = Bench::new("reach", &["fs-read=.", "process=*", "http=*", "state=write"]);
    let error = bench.call("read", json!({"path": "x"})).await.expect_err("fs-write is missing").to_string();
    assert!(error.contains("`reach`") && error.contains("fs-write"), "{error}");

    let undeclared = Plugin::new(
        PluginName::new("reach"),
        guest("reach").component().expect("it is read").into_owned(),
        Grants::none(),
    );
    let bench = Bench::with(Arc::new(undeclared), &["fs-read=."]);
    let error = bench.call("read", json!({"path": "x"})).await.expect_err("nothing is declared").to_string();
    assert!(error.contains("manifest does not declare") && error.contains("host:cap/"), "{error}");
}

// promise plugin.optional: An optional capability that was not granted is denied where it is used, and nowhere else.
#[tokio::test]
async fn a_capability_that_a_plugin_can_do_without_is_refused_where_it_is_used_and_nowhere_else() {
    let whole = guest("reach");
    let optional = [Capability::FsWrite, Capability::Process, Capability::Http].into_iter().collect();
    let plugin = Plugin::new(
        PluginName::new("reach"),
        whole.component().expect("it is read").into_owned(),
        whole.declared().clone(),
    );
    let bench = Bench::with(Arc::new(plugin.with_optional(optional)), &["fs-read=.", "state=write"]);
    bench.file("x", "here");
    assert_eq!(bench.text("read", json!({"path": "x"})).await, "here");
    assert_eq!(bench.text("keep", json!({"path": "k", "text": "v"})).await.len(), 64);
    for (tool, arguments, capability) in [
        ("write", json!({"path": "y", "text": "z"}), "fs-write"),
        ("remove", json!({"path": "x"}), "fs-write"),
        ("run", json!({"argv": ["touch", "y"], "path": "."}), "process"),
        ("fetch", json!({"path": "https://example.com/"}), "http"),
    ] {
        let error = bench.call(tool, arguments).await.expect_err("it was not granted");
        assert!(matches!(error, CallError::Admission(AdmissionError::Ungranted(_))), "{tool}: {error:?}");
        assert!(error.to_string().contains(&format!("`reach` has no {capability} grant")), "{tool}: {error}");
    }
    assert!(bench.root().join("x").exists() && !bench.root().join("y").exists());
    // What is not optional is asked for before anything runs.
    let plugin = Plugin::new(
        PluginName::new("reach"),
        whole.component().expect("it is read").into_owned(),
        whole.declared().clone(),
    );
    let bench = Bench::with(Arc::new(plugin.with_optional(optional)), &["fs-read=.", "fs-write=.", "process=*"]);
    let error = bench.call("read", json!({"path": "x"})).await.expect_err("state is missing").to_string();
    assert!(error.contains("state"), "{error}");
}

// promise plugin.preview: `preview` changes nothing and fetches nothing.
#[tokio::test]
async fn a_preview_cannot_change_anything() {
    let bench = Bench::new("reach", &["fs-read=.", "fs-write=.", "process=*", "http=*", "state=write"]);
    let error = bench.preview("write", json!({"path": "x"})).await.expect_err("it writes");
    assert!(error.to_string().contains("fs-write"), "{error}");
    assert!(!bench.root().join("x").exists());
}

// promise plugin.describe: `describe` runs without any capability.
#[tokio::test]
async fn a_plugin_describes_itself_without_a_capability() {
    let tools = runtime().describe(guest("reach")).await.expect("it only talks");
    assert!(tools.iter().any(|tool| tool.spec.name.as_str() == "fetch"));
}

#[tokio::test]
async fn instances_come_from_a_pool_here() {
    assert_eq!(runtime().allocator().expect("the engine starts"), Allocator::Pooling);
}
