//! Built-in tools that are compiled ahead of their first calls, by a process that goes on when a run has ended: each
//! once, whichever process begins, and whatever ends it.
//!
//! The binary that the tests run has no machine code of them, as every build but a release.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use host_tests::host::Host;
use host_tests::repository;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// How long a change is waited for: the process in the background gives way to all other tests.
const LIMIT: Timespec = Timespec { tv_sec: 300, tv_nsec: 0 };

/// A host whose cache is empty.
struct Fresh {
    host: Host,
    cache: PathBuf,
}

impl Fresh {
    fn new() -> Self {
        // The call is what a short run waits for.
        let call = json!({"chunks": [{"call": {"name": "ls", "arguments": {}}}]});
        let host = Host::scripted(&[call, json!({"chunks": [{"text": "Done."}]})], &["Go"]);
        let root = host.home().join("cache");
        let cache = root.join("host/components");
        fs::create_dir_all(&cache).expect("made");
        Self { cache, host: host.env("XDG_CACHE_HOME", root).env("HOST_LOG", "info") }
    }

    /// A short run; returns what it compiled itself.
    fn run(&self) -> Vec<String> {
        let ended = self.host.run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Done.\n"), "{ended:?}");
        compiled_by(&ended.stderr)
    }

    /// Short runs until so many processes have begun in the background; returns what the runs compiled themselves. On a
    /// busy machine a run may end before it begins one.
    fn run_until_begun(&self, processes: usize) -> Vec<String> {
        let mut compiled = Vec::new();
        while self.recorded().0.len() < processes {
            compiled.extend(self.run());
        }
        compiled
    }

    fn record(&self) -> PathBuf {
        self.cache.join("ahead.log")
    }

    /// What the processes in the background wrote down so far: their ids, and the tools that they compiled.
    fn recorded(&self) -> (Vec<i32>, Vec<String>) {
        let text = fs::read_to_string(self.record()).unwrap_or_default();
        let (mut processes, mut tools) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match line.split_once(' ').expect("two words") {
                ("process", id) => processes.push(id.parse().expect("a number")),
                ("compile", tool) => tools.push(tool.to_owned()),
                _ => panic!("{line}"),
            }
        }
        (processes, tools)
    }

    /// Waits until this is so, and looks again after each change in the cache. A test that asked all the time would
    /// keep the processor from the process that it waits for.
    fn until(&self, happened: impl Fn(&Self) -> bool) {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC).expect("made");
        let changes = inotify::WatchFlags::CREATE | inotify::WatchFlags::MODIFY | inotify::WatchFlags::MOVED_TO;
        inotify::add_watch(&watch, &self.cache, changes).expect("watched");
        while !happened(self) {
            let ready = poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&LIMIT)).expect("polled");
            assert_eq!(ready, 1, "nothing changes: {:?}", self.recorded());
            rustix::io::read(&watch, &mut [0; 4096]).expect("read");
        }
    }

    /// Waits until no process compiles in the background.
    fn settle(&self) {
        File::open(self.record()).and_then(|record| record.lock()).expect("locked");
    }

    /// The files of the cache, each with what tells it from one that was put in its place.
    fn files(&self) -> BTreeMap<String, u64> {
        let entries = fs::read_dir(&self.cache).expect("it is there").map(|entry| entry.expect("read"));
        entries
            .map(|entry| (entry.file_name().into_string().expect("ASCII"), entry.metadata().expect("read").ino()))
            .collect()
    }

    fn entries(&self) -> BTreeMap<String, u64> {
        self.files().into_iter().filter(|(name, _)| name.ends_with(".aot")).collect()
    }

    /// What this command line compiles itself, which must work.
    fn compiles(&self, arguments: &[&str]) -> Vec<String> {
        let ended = self.host.run_of(arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        compiled_by(&ended.stderr)
    }
}

/// The tools that a process compiled, by its log.
fn compiled_by(log: &str) -> Vec<String> {
    let name = |line: &str| Some(line.split_once("compiling `")?.1.split_once('`')?.0.to_owned());
    log.lines().filter_map(name).collect()
}

/// The tools that every user has. Those that a command lists or a server brings need their plugin only then.
fn built_in() -> Vec<String> {
    let files = fs::read_dir(repository().join("plugins/dist")).expect("read").map(|entry| entry.expect("read").path());
    let components = files.filter(|path| path.extension().is_some_and(|end| end == "wasm"));
    let names = components.map(|path| path.file_stem().expect("a name").to_str().expect("ASCII").to_owned());
    let mut names: Vec<String> = names.filter(|name| !["discovered", "mcp"].contains(&name.as_str())).collect();
    names.sort();
    names
}

// promise cache.ahead: In a build without machine code the built-in tools are compiled once, by one process with a low
//   priority that goes on when the run has ended: short runs repeat nothing.
#[test]
fn ahead_ten_short_runs_compile_each_tool_once() {
    let fresh = Fresh::new();
    let (mut compiled, mut known) = (Vec::new(), BTreeMap::new());
    for _ in 0..10 {
        compiled.extend(fresh.run());
        // What is in the cache stays the file that it is.
        let entries = fresh.entries();
        assert!(known.iter().all(|(name, inode)| entries.get(name) == Some(inode)), "{known:?} {entries:?}");
        known = entries;
    }
    compiled.extend(fresh.run_until_begun(1));
    fresh.settle();
    let (processes, tools) = fresh.recorded();
    assert_eq!(processes.len(), 1, "{processes:?}");
    compiled.extend(tools);
    compiled.sort();
    assert_eq!(compiled, built_in());
    assert_eq!(fresh.entries().len(), compiled.len());
    let is_kept = |name: &String| {
        let is_entry = [".aot", ".stamp"].iter().any(|end| name.ends_with(end));
        is_entry || ["key", "ahead.log"].contains(&name.as_str())
    };
    let files = fresh.files();
    assert!(files.keys().all(is_kept), "nothing is left over: {files:?}");
    // The doctor makes every tool ready.
    assert!(fresh.compiles(&["doctor"]).is_empty());
    assert!(fresh.run().is_empty());
    assert_eq!(fresh.recorded().0, processes, "nothing is left to do");
}

// promise cache.ahead
#[test]
fn ahead_process_that_is_killed_leaves_the_rest_to_the_next() {
    let fresh = Fresh::new();
    fresh.run_until_begun(1);
    fresh.until(|fresh| fresh.recorded().1.len() > 1);
    let (processes, _) = fresh.recorded();
    let [process] = processes.as_slice() else { panic!("one process, not {processes:?}") };
    kill_process(Pid::from_raw(*process).expect("an id"), Signal::KILL).expect("it runs");
    fresh.settle();
    let (_, before) = fresh.recorded();
    let whole = fresh.entries();

    // Another one begins a while later, so that one that always fails is not started by each run.
    fresh.run();
    assert_eq!(fresh.recorded().0.len(), 1);
    let a_while_ago = SystemTime::now() - Duration::from_secs(120);
    File::options().write(true).open(fresh.record()).and_then(|file| file.set_modified(a_while_ago)).expect("set");
    fresh.run_until_begun(2);
    fresh.settle();
    let (_, tools) = fresh.recorded();
    let after = tools.get(before.len()..).expect("the record grows");
    // Each is kept as soon as it is compiled: only the last one was not.
    let (_, done) = before.split_last().expect("some");
    assert!(done.iter().all(|tool| !after.contains(tool)), "{done:?} {after:?}");
    let entries = fresh.entries();
    assert!(whole.iter().all(|(name, inode)| entries.get(name) == Some(inode)), "{whole:?} {entries:?}");
    assert_eq!(entries.len(), built_in().len());
    assert!(fresh.files().keys().all(|name| !name.ends_with(".lock")), "{:?}", fresh.files());
    assert!(fresh.compiles(&["doctor"]).is_empty());
}

// promise cache.turns: Two processes that need the same component at once compile it once.
#[test]
fn ahead_calls_of_two_processes_compile_once() {
    let fresh = Fresh::new();
    let compiled: Vec<String> = std::thread::scope(|scope| {
        let call = || fresh.compiles(&["tool", "call", "grep", &json!({"pattern": "x"}).to_string()]);
        let both = [scope.spawn(call), scope.spawn(call)];
        both.into_iter().flat_map(|one| one.join().expect("it ends")).collect()
    });
    assert_eq!(compiled, ["grep"]);
    assert_eq!(fresh.entries().len(), 1);
}

// promise cache.ahead
#[test]
fn ahead_folder_that_takes_no_record_has_no_process_and_calls_work() {
    let fresh = Fresh::new();
    fs::create_dir(fresh.record()).expect("made");
    assert_eq!(fresh.run(), ["ls"]);
    assert_eq!(fresh.entries().len(), 1, "nothing but the call compiled");
    assert!(fresh.run().is_empty());
}
