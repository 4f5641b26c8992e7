//! Guests that wear the host out, each alone and many at once: each is ended with an error of its own kind, the host's
//! memory stays within its bound, and no thread, program, descriptor or file is left.
//!
//! Each test runs in a process of its own, where nothing else takes memory or starts programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use host_message::Output;
use host_plugin::{CallError, Limits, Plugin, Runtime, RuntimeOptions};
use host_tests::server::{Answer, Request, Server};
use host_tests::{Bench, cache, guest};
use serde_json::json;

mod compiled;
mod kinds;
mod logs;
mod made;
mod measured;

use kinds::{Asked, Ends, KINDS, Kind, Source};
use measured::{Footprint, peak, resident};

/// Bytes of linear memory of a guest.
const MEMORY: usize = 32 << 20;

/// Bytes that the host may take for a call besides: what passes in one host call, twice.
const BESIDES: usize = 2 * (32 << 20);

/// Bytes that may come once, whatever runs: what the allocator keeps, stacks, buffers of threads.
const ONCE: usize = 32 << 20;

/// How many calls run at once: as many as the pool of instances has.
const AT_ONCE: usize = 64;

/// How long a guest that never ends may take.
const HASTY: Duration = Duration::from_millis(700);

/// How long one may take that ends by itself, on any machine.
const PATIENT: Duration = Duration::from_secs(90);

/// How long each may take among 64.
const CROWDED: Duration = Duration::from_secs(3);

/// The most that a call may leave in the log, in bytes: what it may log, and what the host puts before each line.
const MOST_LOGGED: usize = 64 << 10;

/// What was logged by this process.
static LOGGED: AtomicUsize = AtomicUsize::new(0);

/// A log of which only the length is kept.
struct Counting;

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOGGED.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The variables that make a test do its work here, and its server's address.
const INSIDE: &str = "HOST_TESTS_INSIDE";
const SERVER: &str = "HOST_TESTS_SERVER";

// promise plugin.misbehaves
// promise plugin.bounded
#[test]
fn limits_each_hostile_guest_ends_with_its_own_error_and_leaves_nothing() {
    let said = in_its_own_process(
        "limits::limits_each_hostile_guest_ends_with_its_own_error_and_leaves_nothing",
        async || {
            let (hasty, patient) = (prepared(HASTY).await, prepared(PATIENT).await);
            // What a first call makes stays. In a hurry it may not come to its end.
            let _ = good(&hasty).await;
            assert_eq!(good(&patient).await, None);
            let counting = tracing_subscriber::fmt().with_writer(|| Counting).finish();
            tracing::subscriber::set_global_default(counting).expect("there is no other here");
            let mut wrong = Vec::new();
            for kind in KINDS {
                let what = kind.name;
                let prepared = if kind.ends == Ends::TimedOut { &hasty } else { &patient };
                let before = Footprint::now();
                let at_first = resident();
                let bench = Arc::new(bench());
                let begun = Instant::now();
                let ended = ask(prepared, kind, &bench).await;
                let took = begun.elapsed();
                let more = peak().saturating_sub(at_first);
                if !kind.ends.is(&ended) {
                    wrong.push(format!("{what}: not {:?}: {:.2000}", kind.ends, format!("{ended:?}")));
                }
                drop(ended);
                if more > MEMORY + BESIDES + ONCE {
                    wrong.push(format!("{what}: {} MiB more", more >> 20));
                }
                println!("{what} {}: {} MiB, {} ms", kind.on, more >> 20, took.as_millis());
                let logged = LOGGED.load(Ordering::Relaxed);
                if logged > MOST_LOGGED || (logged == 0 && what == "flood_log") {
                    wrong.push(format!("{what}: {logged} bytes in the log"));
                }
                wrong.extend(left(&before, vec![bench]).await.map(|left| format!("{what}: {left}")));
                wrong.extend(good(&patient).await.map(|said| format!("the call after {what}: {said}")));
            }
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        },
    );
    println!("{said}");
}

// promise plugin.misbehaves
#[test]
fn limits_hostile_guests_at_once_stay_within_their_memory_and_leave_nothing() {
    in_its_own_process(
        "limits::limits_hostile_guests_at_once_stay_within_their_memory_and_leave_nothing",
        async || {
            let (crowded, patient) = (prepared(CROWDED).await, prepared(PATIENT).await);
            assert_eq!(good(&patient).await, None);
            // All kinds, and then some alone: those that take the most of one thing each.
            let alone = ["grow", "return_much_data", "keep_walks", "keep_programs", "read_a_program_that_never_stops"];
            let mixed: Vec<&Kind> = KINDS.iter().cycle().take(AT_ONCE.max(KINDS.len())).collect();
            let crowds = alone.map(|name| {
                let kind = KINDS.iter().find(|kind| kind.name == name).expect("it is a kind");
                (name, vec![kind; AT_ONCE])
            });
            let mut wrong = Vec::new();
            for (what, crowd) in [("all kinds", mixed)].into_iter().chain(crowds) {
                let (before, at_first) = (Footprint::now(), resident());
                let benches: Vec<_> = crowd.iter().map(|_| Arc::new(bench())).collect();
                let calls = crowd.iter().zip(&benches).map(|(kind, bench)| {
                    let (kind, bench) = (*kind, Arc::clone(bench));
                    let crowded = Arc::clone(&crowded);
                    tokio::spawn(async move { (kind, ask(&crowded, kind, &bench).await) })
                });
                for ended in futures::future::join_all(calls).await {
                    let (kind, ended) = ended.expect("no call panics");
                    // Where 64 share the machine, time may run out before whatever else ends a call.
                    if !kind.ends.is(&ended) && !Ends::TimedOut.is(&ended) {
                        wrong.push(format!(
                            "{what}: {}: not {:?}: {:.500}",
                            kind.name,
                            kind.ends,
                            format!("{ended:?}")
                        ));
                    }
                }
                let more = peak().saturating_sub(at_first);
                println!("{AT_ONCE} of {what}: {} MiB", more >> 20);
                if more > AT_ONCE * (MEMORY + BESIDES) + ONCE {
                    wrong.push(format!("{AT_ONCE} of {what}: {} MiB more", more >> 20));
                }
                wrong.extend(left(&before, benches).await.map(|left| format!("{AT_ONCE} of {what}: {left}")));
                wrong.extend(good(&patient).await.map(|said| format!("the call after {what}: {said}")));
            }
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        },
    );
}

/// A runtime with the plugins of all kinds, compiled, in the order of the kinds; and the honest one.
struct Prepared {
    runtime: Runtime,
    plugins: Vec<Arc<Plugin>>,
    good: Arc<Plugin>,
}

/// Prepares a runtime in which a call takes at most this time. A plugin belongs to one engine, so each has its own.
async fn prepared(time: Duration) -> Arc<Prepared> {
    let mut guests = BTreeMap::new();
    let mut of_guest = |name: &'static str| {
        let built = guest(name);
        let anew = || {
            Plugin::new(
                built.name().clone(),
                built.component().expect("it is read").into_owned(),
                built.declared().clone(),
            )
        };
        Arc::clone(guests.entry(name).or_insert_with(|| Arc::new(anew())))
    };
    let plugins = KINDS.iter().map(|kind| match kind.plugin {
        Source::Guest(name) => of_guest(name),
        Source::Made(made) => Arc::new(made.plugin(kind.name)),
    });
    let prepared = Prepared { runtime: runtime(time), plugins: plugins.collect(), good: of_guest("hostile") };
    for (plugin, kind) in prepared.plugins.iter().zip(KINDS) {
        // One whose memory is too large from the start does not even compile.
        let compiled = prepared.runtime.prepare(plugin).await;
        assert!(compiled.is_ok() || matches!(kind.ends, Ends::NotCompiled(_)), "{}: {compiled:?}", kind.name);
    }
    prepared.runtime.prepare(&prepared.good).await.expect("it compiles");
    Arc::new(prepared)
}

fn runtime(time: Duration) -> Runtime {
    Runtime::new(RuntimeOptions {
        cache: Some(cache()),
        state: Some(PathBuf::from(std::env::var_os("TMPDIR").expect("set")).join("state")),
        environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        limits: Limits { time, process_time: time, memory: MEMORY },
        ..RuntimeOptions::default()
    })
}

/// A workspace with files to walk over and one to read.
fn bench() -> Bench {
    let bench = Bench::new("hostile", &["fs-read=.", "fs-write=.", "process=*", "http=*:* +private", "state=write"]);
    for folder in 0..5 {
        for file in 0..10 {
            bench.file(&format!("tree/{folder}/{file}"), [b'f'; 2_000]);
        }
    }
    // A file of holes: it takes no time to make.
    let big = std::fs::File::create(bench.root().join("big")).and_then(|file| file.set_len(8 << 20));
    big.expect("made");
    bench
}

async fn ask(prepared: &Prepared, kind: &Kind, bench: &Bench) -> Result<Option<Output>, CallError> {
    let runtime = &prepared.runtime;
    let at = KINDS.iter().position(|other| std::ptr::eq(other, kind)).expect("it is one of them");
    let plugin = &prepared.plugins[at];
    let on = match kind.on.strip_prefix('/') {
        Some(path) => format!("{}/{path}", std::env::var(SERVER).expect("set")),
        None => kind.on.to_owned(),
    };
    let invocation = bench.invocation(kind.name, json!({"path": on, "text": "with these words"}));
    match kind.asked {
        Asked::Call => runtime.call(plugin, invocation).await.map(Some),
        Asked::Preview => runtime.preview(plugin, invocation).await.map(|_| None),
        Asked::Describe => runtime.describe(plugin).await.map(|_| None),
    }
}

/// A call of an honest tool, which uses each capability; what is wrong with it.
async fn good(prepared: &Prepared) -> Option<String> {
    let bench = bench();
    let invocation = bench.invocation("good", json!({"text": "as ever"}));
    match prepared.runtime.call(&prepared.good, invocation).await {
        Ok(output) if host_tests::text(&output) == "as ever" => None,
        other => Some(format!("{other:?}")),
    }
}

/// What is left of calls in these workspaces that was not there before, when everything had the time to go.
async fn left(before: &Footprint, benches: Vec<Arc<Bench>>) -> Option<String> {
    if let Some(running) = before.quiet().await {
        return Some(format!("still running: {running}"));
    }
    // A name that no guest gave a file is one that the host forgot.
    let given = |name: &str| ["tree", "big", "good.txt"].contains(&name) || name.starts_with("written-");
    let all = benches.iter().flat_map(|bench| names(bench.root()));
    let files: BTreeSet<String> = all.filter(|name| !given(name)).collect();
    // A workspace holds its folder open.
    drop(benches);
    match (before.settled().await, files.is_empty()) {
        (None, true) => None,
        (more, _) => Some(format!("left: {}, files {files:?}", more.unwrap_or_default())),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is there");
    entries.map(|entry| entry.expect("read").file_name().to_string_lossy().into_owned()).collect()
}

/// Runs a test of this file in a process of its own, with a server that is none of that process; afterwards no
/// temporary file is left. Returns what it measured.
fn in_its_own_process(name: &str, work: impl AsyncFnOnce()) -> String {
    if std::env::var_os(INSIDE).is_some_and(|inside| inside == name) {
        // Threads for blocking work end as soon as they have none, so that what is left can be told from what waits.
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let threads = threads.enable_all().worker_threads(2).thread_keep_alive(Duration::from_millis(10)).build();
        threads.expect("threads").block_on(work());
        return String::new();
    }
    let temporary = tempfile::tempdir().expect("a folder");
    let threads = tokio::runtime::Runtime::new().expect("threads");
    let server = threads.block_on(Server::start(serve));
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(INSIDE, name)
        .env(SERVER, server.url(""))
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{}\n{said}\n{errors}", output.status);
    assert_eq!(names(temporary.path()), ["state"], "files are left");
    said.into_owned()
}

fn serve(request: &Request) -> Answer {
    match request.path.trim_start_matches('/') {
        "endless" => Answer::ok("x".repeat(64 << 10)).endless(),
        "hangs" => Answer::ok("x").hanging(),
        "drips" => Answer::ok("x").dripping(),
        "redirects" => Answer::redirect(302, "/redirects"),
        "large-headers" => Answer::ok("x").header("x-large", &"h".repeat(1 << 20)),
        _ => Answer::ok("short"),
    }
}
