//! Programs that try to outlive their call.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use host_tests::host::Host;
use serde_json::json;

use super::super::Failures;

/// Ways to leave a process behind; `$1` is how long it sleeps, by which it is found.
const WAYS: &[(&str, &str)] = &[
    ("in the background", "sleep $1 &"),
    ("in a session of its own", "setsid sleep $1 &"),
    ("forked in a session of its own", "setsid -f sleep $1"),
    ("without a hangup", "nohup sleep $1 > /dev/null 2>&1 &"),
    ("forked twice", "(setsid sh -c 'sleep $0 &' $1 &)"),
    ("deaf to signals", "(trap '' TERM HUP INT QUIT; exec setsid sleep $1) &"),
    ("stopped", "sleep $1 & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!"),
    ("without variables", "setsid env -i /bin/sleep $1 &"),
    ("with closed streams", "setsid sleep $1 < /dev/null > /dev/null 2>&1 &"),
    ("as a coprocess", "bash -c 'coproc sleep '$1'; disown'"),
    (
        "as a daemon of Python",
        "/usr/bin/python3 -c 'import os, sys\nif os.fork() == 0:\n os.setsid()\n os.chdir(\"/\")\n os.closerange(0, 99)\n \
         if os.fork() == 0: os.execv(\"/bin/sleep\", [\"kworker\", sys.argv[1]])\n os._exit(0)' $1",
    ),
    ("as the child of one that ended", "sh -c 'sh -c \"setsid sleep $0 &\"' $1"),
];

/// The longest sleep, of the first way.
const LONGEST: usize = 4_000_000;

/// Which of the ways have a process that runs, by the time it sleeps.
fn running(first: usize) -> BTreeMap<usize, u32> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").expect("read").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // Anywhere in the line: a program that starts the sleep has not become it yet.
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let slept = words.windows(2).find_map(|pair| {
            let is_sleep = pair[0].ends_with(b"sleep") || pair[0] == b"kworker";
            std::str::from_utf8(pair[1]).ok().filter(|_| is_sleep)?.parse::<usize>().ok()
        });
        if let Some(slept) = slept.filter(|slept| (first..first + WAYS.len()).contains(slept)) {
            found.insert(slept - first, pid);
        }
    }
    found
}

/// A script that goes all ways.
fn script(first: usize) -> String {
    let way = |(number, (_, way)): (usize, &(&str, &str))| {
        let slept = first + number;
        // The next way begins when this one's process runs; one that never does is reported.
        let all = r"cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' '";
        let is_there = format!(r"{all} | grep -q '\(sleep\|kworker\) {slept}'");
        format!("set -- {slept}\n{way}\nn=0\nuntil [ $((n += 1)) -gt 5000 ] || {is_there}; do :; done\n")
    };
    WAYS.iter().enumerate().map(way).chain(["exit 0\n".to_owned()]).collect()
}

// promise process.ends
#[test]
fn escape_no_way_to_outlive_a_call_works() {
    let mut failures = Failures::default();
    let unique = |run: usize| LONGEST + (std::process::id() as usize % 1_000_000) * 1_000 + run * 100;
    for (run, confine) in ["require", "off"].into_iter().enumerate() {
        let first = unique(run);
        let arguments = json!({"command": script(first)}).to_string();
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
        let ended = Host::new(call).run();
        failures.check(confine, ended.code == Some(0), &format!("the ways were not gone: {ended:?}"));
        for number in running(first).into_keys() {
            failures.check(&format!("{confine}: {}", WAYS[number].0), false, "it is still there");
        }
    }
    // Without the host they are all there.
    let first = unique(2);
    let mut control = Command::new("sh");
    control.arg("-c").arg(script(first)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(control.status().expect("it starts").success());
    // A program that is to become the sleep is found by its words before it has.
    let begun = std::time::Instant::now();
    let mut left = running(first);
    while left.len() < WAYS.len() && begun.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::yield_now();
        left = running(first);
    }
    for pid in left.values() {
        let pid = i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
    }
    for (number, (name, _)) in WAYS.iter().enumerate() {
        failures.check(
            name,
            left.contains_key(&number),
            "it does not work without the host either, so it shows nothing",
        );
    }
    failures.report(WAYS.len());
}
