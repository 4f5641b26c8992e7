//! Components that are cheap to send and expensive to compile: the compiler's process is ended by its limits or with
//! the call, and the caller learns what it waits for.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_bundle::{Bundle, Parts};
use host_capability::{Grants, PluginName};
use host_manifest::{Manifest, Source};
use host_plugin::{
    CallError, CompileEvent, CompileLimit, CompileLimits, CompileOptions, Plugin, Runtime, RuntimeError, RuntimeOptions,
};
use host_tests::host::{Host, binary, guest_file};
use host_tests::pty::Pty;
use host_tests::{Bench, eventually, guest};
use serde_json::json;

use super::made::Made;
use crate::acp::editor::{calls, says, script};

/// A function of many loops, one in the other, whose variables all change in the innermost: each loop has a value for
/// each variable, so that the compiler's work is their product. A kilobyte of code for each hundred variables and
/// loops.
fn nested(name: &str, variables: usize, loops: usize) -> String {
    let locals = "i32 ".repeat(variables);
    let changed =
        |at: usize| format!("local.get {} local.get {} i32.add local.set {}\n", at, (at + 7) % variables + 1, at);
    let body: String = (1..=variables).map(changed).collect();
    let (begins, ends) = ("loop\n".repeat(loops), "local.get 0 br_if 0 end\n".repeat(loops));
    format!("(func (export \"{name}\") (param i32) (local {locals})\n{begins}{body}{ends})")
}

/// A component that takes over a gigabyte, and many seconds.
fn expensive() -> Vec<u8> {
    Made::default().component(&nested("nested", 2_000, 400))
}

/// Limits for a component of any size.
fn limits(memory_mib: u64, seconds: u64) -> CompileLimits {
    CompileLimits {
        memory: memory_mib << 20,
        memory_per_byte: 0,
        time: Duration::from_secs(seconds),
        time_per_mib: Duration::ZERO,
    }
}

/// A runtime with a cache of its own that compiles in processes of the binary.
fn compiling(limits: CompileLimits) -> (Runtime, tempfile::TempDir, Arc<Mutex<Vec<CompileEvent>>>) {
    let folder = tempfile::tempdir().expect("a folder");
    let events: Arc<Mutex<Vec<CompileEvent>>> = Arc::default();
    let seen = Arc::clone(&events);
    let listener = move |event| seen.lock().expect("no listener panics").push(event);
    let program = Some(binary().to_owned());
    let runtime = Runtime::new(RuntimeOptions {
        cache: Some(folder.path().join("cache")),
        compile: CompileOptions { program, limits, listener: Some(Arc::new(listener)) },
        ..RuntimeOptions::default()
    });
    (runtime, folder, events)
}

fn entries(folder: &tempfile::TempDir) -> usize {
    let names =
        fs::read_dir(folder.path().join("cache")).expect("it is there").map(|entry| entry.expect("read").path());
    names.filter(|path| path.extension().is_some_and(|end| end == "aot")).count()
}

/// The processes that compile for this one with so many seconds.
fn compilers(seconds: u64) -> Vec<u32> {
    let children = fs::read_dir("/proc/self/task").expect("threads").flat_map(|thread| {
        // A thread that ended meanwhile has none.
        let list = fs::read_to_string(thread.expect("read").path().join("children")).unwrap_or_default();
        list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    });
    let end = format!("\0{seconds}\0");
    let compiles = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.starts_with(b"host-compiler\0") && line.ends_with(end.as_bytes())
    };
    children.filter(compiles).collect()
}

// promise plugin.compile-limits: The component of a plugin that is not built in is compiled in a process of its own
//   with limits on memory and time; one that takes more is refused with its size and the limit.
#[tokio::test(flavor = "multi_thread")]
async fn limits_component_that_takes_too_much_to_compile_is_stopped() {
    let size = expensive().len();
    assert!(size < 100_000, "{size} bytes are cheap to send");
    for (most, limit, words) in [
        (limits(400, 120), CompileLimit::Memory(400 << 20), "takes more than 400 MiB of memory to compile"),
        (
            limits(8 << 10, 1),
            CompileLimit::Time(Duration::from_secs(1)),
            "takes more than 1 s of processor time to compile",
        ),
    ] {
        let (runtime, folder, events) = compiling(most);
        let name = PluginName::new("expensive");
        let plugin = Plugin::new(name.clone(), expensive(), Grants::none());
        let error = runtime.prepare(&plugin).await.expect_err("it takes too much");
        let CallError::Runtime(RuntimeError::TooCostly { limit: found, .. }) = &error else { panic!("{error}") };
        assert_eq!(*found, limit);
        let said = error.to_string();
        assert!(
            said.contains(words) && said.contains(&format!("`expensive` was not compiled: its component of {size}")),
            "{said}"
        );
        assert!(said.contains("check where it comes from"), "{said}");
        assert_eq!(entries(&folder), 0);
        let seen = events.lock().expect("no listener panics").clone();
        assert_eq!(seen, [CompileEvent::Began(name.clone()), CompileEvent::Ended(name)]);
    }
}

// promise plugin.compile-limits
#[tokio::test(flavor = "multi_thread")]
async fn limits_honest_component_is_compiled_apart_once_and_called() {
    let (runtime, folder, events) = compiling(limits(400, 120));
    let known = guest("misbehave");
    let anew = || {
        Plugin::new(known.name().clone(), known.component().expect("it is read").into_owned(), known.declared().clone())
    };
    let bench = Bench::new("misbehave", &[]);
    for _ in 0..2 {
        // The second one is loaded.
        let call = bench.invocation("echo", json!({"text": "still here"}));
        let output = runtime.call(&anew(), call).await.expect("it works");
        assert_eq!(host_tests::text(&output), "still here");
        assert_eq!(entries(&folder), 1);
    }
    assert_eq!(events.lock().expect("no listener panics").len(), 2);

    // An engine with a pool, in this process, takes what the other one wrote.
    let here = Runtime::new(RuntimeOptions { cache: Some(folder.path().join("cache")), ..RuntimeOptions::default() });
    let call = bench.invocation("echo", json!({"text": "here"}));
    assert_eq!(host_tests::text(&here.call(&anew(), call).await.expect("it works")), "here");
    assert_eq!(entries(&folder), 1);

    let broken = Plugin::new(known.name().clone(), invalid(), Grants::none());
    let error = runtime.prepare(&broken).await.expect_err("it is invalid").to_string();
    assert!(error.contains("`misbehave` does not compile") && error.contains("type mismatch"), "{error}");
}

/// A component with the imports of a plugin, whose code is invalid.
fn invalid() -> Vec<u8> {
    let mut component = Made::default().component("(func (export \"f\") (result i32) i32.const 0x12345)");
    // A drop in place of the constant's operands, which leaves nothing to return.
    let at = component.windows(4).position(|bytes| bytes == [0x41, 0xc5, 0xc6, 0x04]).expect("the constant is there");
    component[at..at + 4].copy_from_slice(&[0x01, 0x01, 0x01, 0x01]);
    component
}

// promise plugin.compile-cancelled: Cancelling a call ends the compilation that it waits for.
#[tokio::test(flavor = "multi_thread")]
async fn limits_compilation_ends_with_the_call_that_waits_for_it() {
    let (runtime, folder, _) = compiling(limits(8 << 10, 601));
    let plugin = Plugin::new(PluginName::new("expensive"), expensive(), Grants::none());
    let waits = tokio::spawn(async move { runtime.prepare(&plugin).await.map_err(|error| error.to_string()) });
    eventually(|| !compilers(601).is_empty()).await;
    waits.abort();
    assert!(waits.await.expect_err("it was aborted").is_cancelled());
    eventually(|| compilers(601).is_empty()).await;
    assert_eq!(entries(&folder), 0);
}

// promise plugin.compile-cancelled
#[test]
fn limits_compiler_ends_when_the_host_is_gone() {
    let mut compiler = Command::new(binary());
    std::os::unix::process::CommandExt::arg0(&mut compiler, host_plugin::COMPILER_NAME);
    compiler.args([(8_u64 << 30).to_string(), "600".to_owned()]);
    let mut child =
        compiler.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let component = expensive();
    std::io::Write::write_all(&mut input, &[&(component.len() as u64).to_le_bytes()[..], &component].concat())
        .expect("read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).trim()), (Some(2), "the host is gone"));
}

/// A host with a plugin that takes seconds to compile, whose cache is empty, and the file of the plugin.
async fn with_slow(arguments: &[&str]) -> (Host, String) {
    let host = Host::new(arguments);
    let file = guest_file("misbehave", host.repository()).await;
    // A second or two each, so that a machine with many cores is no quicker. With some more loops each would take half
    // a minute.
    let functions: String = ["a", "b", "c"].map(|name| nested(name, 2_000, 27)).concat();
    fs::write(&file, Made::default().component(&functions)).expect("written");
    let cache = host.home().join("cache").display().to_string();
    (host.env("XDG_CACHE_HOME", cache), file.display().to_string())
}

// promise plugin.compile-told: The user sees on a terminal that a component is compiled: in place and with its time, or
//   by a line once it takes longer than a second. Elsewhere it is in the log alone.
#[tokio::test(flavor = "multi_thread")]
async fn limits_first_use_is_told_on_a_terminal_and_nowhere_else() {
    let (host, file) = with_slow(&["tool", "call", "echo", "{}", "--plugin"]).await;
    let host = host.arg(&file).env("TERM", "dumb");
    let ended = host.run();
    assert!(!ended.stderr.contains("compiling"), "{ended:?}");
    assert!(ended.stderr.contains("unreachable"), "it was compiled and ran: {ended:?}");
    let (host, file) = with_slow(&["tool", "call", "echo", "{}", "--plugin"]).await;
    let host = host.arg(&file).env("TERM", "dumb");
    let mut pty = Pty::start(host.command(), 100, 30);
    pty.saw("note: compiling `misbehave` for its first use, which takes a while");
    pty.ends();
}

// promise plugin.compile-told
// promise plugin.compile-cancelled
#[tokio::test(flavor = "multi_thread")]
async fn limits_compilation_is_shown_on_a_terminal_and_ends_with_an_interrupt() {
    let (host, file) = with_slow(&["tool", "call", "echo", "{}", "--plugin"]).await;
    let host = host.arg(&file).env("TERM", "xterm-256color");
    let mut pty = Pty::start(host.command(), 100, 30);
    pty.saw("compiling `misbehave` for its first use, 1 s").types("\u{3}");
    assert_eq!(pty.ends(), Some(130), "{}", pty.screen());
    assert!(!pty.screen().contains("compiling"), "{}", pty.screen());
}

// promise plugin.compile-cancelled
#[tokio::test(flavor = "multi_thread")]
async fn limits_compilation_of_an_author_ends_with_an_interrupt() {
    let (host, file) = with_slow(&["plugin"]).await;
    let host = host.env("TERM", "xterm-256color");
    let folder = host.repository().join("plugins");
    fs::create_dir(&folder).expect("made");
    fs::copy(&file, folder.join("misbehave.wasm")).expect("copied");
    fs::copy(std::path::Path::new(&file).with_extension("json"), folder.join("misbehave.json")).expect("copied");
    let before = fs::read_dir(host.repository()).expect("read").count();
    for arguments in [
        &["plugin", "adopt", file.as_str(), "--license", "MIT", "--out", "adopted"][..],
        &["plugin", "check", ".", "--built", "plugins"],
    ] {
        let mut pty = Pty::start(host.command_of(arguments), 100, 30);
        pty.saw("compiling `misbehave` for its first use, 1 s").types("\u{3}");
        assert_eq!(pty.ends(), Some(130), "{arguments:?}: {}", pty.screen());
        assert!(!pty.screen().contains("compiling"), "{arguments:?}: {}", pty.screen());
        assert_eq!(fs::read_dir(host.repository()).expect("read").count(), before, "{arguments:?} leaves nothing");
    }
}

/// What it takes to compile code is bought with code alone.
// promise plugin.compile-limits
#[tokio::test(flavor = "multi_thread")]
async fn limits_padding_of_a_component_buys_no_time_to_compile() {
    let padding = |size: usize| {
        let mut section = vec![0];
        leb128(&mut section, size + 2);
        section.extend([1, b'x']);
        section.resize(section.len() + size, 0);
        section
    };
    // A part of a MiB counts as one, and the code is less than that.
    let most = CompileLimits { time_per_mib: Duration::from_secs(1), ..limits(8 << 10, 1) };
    let component = [expensive(), padding(20 << 20)].concat();
    let size = component.len();
    let (runtime, _folder, _) = compiling(most);
    let plugin = Plugin::new(PluginName::new("padded"), component, Grants::none());
    let error = runtime.prepare(&plugin).await.expect_err("it takes too much");
    let CallError::Runtime(RuntimeError::TooCostly { limit, size: found, .. }) = &error else { panic!("{error}") };
    assert_eq!((*limit, *found), (CompileLimit::Time(Duration::from_secs(2)), size));
}

/// Appends a number as WebAssembly has it.
fn leb128(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

// promise plugin.compile-told
#[tokio::test(flavor = "multi_thread")]
async fn limits_compilation_is_an_activity_of_a_conversation() {
    let (host, file) = with_slow(&["run", "--plugin"]).await;
    let model = script(&host, "script.jsonl", &[calls("echo", json!({})), says("All is done.")]);
    let host = host.args(&[&file, "--model", &model]).env("TERM", "xterm-256color");
    let mut pty = Pty::start(host.command(), 100, 30);
    pty.sees("› ").types("Look\r");
    pty.sees("compiling `misbehave` for its first use (2 s").types("\u{3}");
    pty.until("the end of the turn", |screen| !screen.contains("compiling"));
    pty.types("\u{4}");
    assert_eq!(pty.ends(), Some(0), "{}", pty.screen());
}

// promise plugin.compile-told
#[tokio::test(flavor = "multi_thread")]
async fn limits_installed_plugin_was_compiled_before_its_first_use() {
    let host = Host::new(["plugin"]).file("a.txt", "one\ntwo\n");
    let file = guest_file("counts", host.repository()).await;
    let described = fs::read_to_string(file.with_extension("json")).expect("read");
    let mut manifest = Manifest::parse(&described, Source::File(file.clone())).expect("it is right");
    manifest.name = "acme/counts".to_owned();
    let component = fs::read(&file).expect("read");
    let bundle = Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed");
    let archive = host.repository().join("counts.tar").display().to_string();
    fs::write(&archive, bundle.to_archive()).expect("written");
    let cache = host.home().join("cache");
    let host = host.env("XDG_CACHE_HOME", &cache);
    let ended = host.run_of(&["plugin", "install", &archive, "--allow-unsigned", "--yes", "--user"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let compiled = || {
        let names = fs::read_dir(cache.join("host/components")).expect("it is there");
        let paths = names.map(|entry| entry.expect("read").path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "aot")).collect::<Vec<_>>()
    };
    let at_installation = compiled();
    assert_eq!(at_installation.len(), 1);
    let ended = host.run_of(&["tool", "call", "count_lines", "{\"path\": \"a.txt\"}"]);
    assert!(ended.code == Some(0) && ended.stdout.contains('2'), "{ended:?}");
    assert_eq!(compiled(), at_installation, "it was loaded");
}
