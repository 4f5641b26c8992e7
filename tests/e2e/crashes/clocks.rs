//! Clocks that jump: the wall clock between runs and within one, and the clock that only counts.
//!
//! The wall clock is another for one process: a small library in front of the system's reads an offset from a file.

use std::path::{Path, PathBuf};
use std::process::Command;

use host_tests::host::Host;
use serde_json::json;

use super::{answer, behind, call};
use crate::publisher::{Publisher, READS, file};

const DAY: i64 = 86_400;

/// Adds the seconds that a file holds to the wall clock.
const SHIFTED: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *to) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, to);
    if (id == CLOCK_REALTIME && result == 0) {
        long long offset = 0;
        FILE *file = fopen(getenv("CLOCK_OFFSET"), "re");
        if (file) { if (fscanf(file, "%lld", &offset) != 1) offset = 0; fclose(file); }
        to->tv_sec += offset;
    }
    return result;
}
"#;

/// The library, and the file that it reads.
struct Shift {
    folder: tempfile::TempDir,
}

impl Shift {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("shift.c");
        std::fs::write(&source, SHIFTED).expect("written");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("shift.so")).arg(&source).arg("-ldl");
        let built = compiler.output().expect("there is a C compiler, which Rust links with");
        assert!(built.status.success(), "{built:?}");
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }

    fn by(&self, days: i64) -> &Self {
        std::fs::write(self.file(), (days * DAY).to_string()).expect("written");
        self
    }

    /// The host whose clock this is.
    fn of(&self, host: Host) -> Host {
        host.env("LD_PRELOAD", self.folder.path().join("shift.so")).env("CLOCK_OFFSET", self.file())
    }
}

fn write(path: &Path, days: i64) -> serde_json::Value {
    call("shell", json!({"command": format!("echo {} > '{}'", days * DAY, path.display())}))
}

#[test]
fn crashes_wall_clock_that_jumps_loses_no_session_and_ends_no_run() {
    let shift = Shift::new();
    let offset = shift.file();
    let replies = [write(&offset, -400), call("ls", json!({})), write(&offset, 400), answer("All is done.")];
    let host = shift.of(Host::scripted(&replies, &["--approval-mode", "yolo", "--timeout", "10m", "Begin"]));
    let format = ["--output-format", "json"];
    // Within a run, by more than a year to either side; a limit on time goes by the clock that only counts.
    shift.by(0);
    let ended = host.run_of(
        &[
            &["run", "--model", &format!("scripted:{}", host.home().join("script.jsonl").display())][..],
            &["--approval-mode", "yolo", "--timeout", "10m", "Begin"],
            &format,
        ]
        .concat(),
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.json()["response"], "All is done.");
    // Between runs: a later run has an earlier name, or the same second.
    std::fs::write(host.home().join("script.jsonl"), format!("{}\n", answer("Again."))).expect("written");
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    for days in [-3_000, 0, 3_000, 3_000] {
        shift.by(days);
        let ended = host.run_of(&["run", "--model", &model, "Again"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Again.\n"), "{days}: {ended:?}");
    }
    assert_eq!(host.logs().len(), 5, "each has a log of its own");
    shift.by(0);
    let listed = host.run_of(&["session", "list", "--json"]).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(5), "{listed}");
    // Each can be shown and gone on with, those of the future too.
    std::fs::write(
        host.home().join("script.jsonl"),
        format!("{{\"goes_on\":true}}\n{}\n{}\n", answer("-"), answer("On.")),
    )
    .expect("written");
    for session in listed.as_array().expect("a list") {
        let id = session["id"].as_str().expect("a name");
        let shown = host.run_of(&["session", "show", id]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
    }
}

// promise bundle.keys
#[tokio::test]
async fn crashes_clock_that_jumps_over_a_keys_end_is_obeyed_and_comes_back() {
    let shift = Shift::new();
    shift.by(0);
    let host = shift.of(Host::new(["plugin"]));
    let acme = Publisher::new("acme");
    let bundle = file(&host, "one.tar", &acme.signed("1.0.0", READS).await);
    let key = acme.public().display().to_string();
    let ended = host.run_of(&["keys", "trust", &key, "--for", "acme/*", "--expires", "2030-01-01"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for (days, code) in [(3_000, 55), (0, 0), (3_000, 55)] {
        shift.by(days);
        let ended = host.run_of(&["plugin", "verify", &bundle]);
        assert_eq!(ended.code, Some(code), "{days}: {ended:?}");
        assert!(code == 0 || ended.stderr.contains("was trusted until 2030-01-01"), "{ended:?}");
    }
}

#[test]
fn crashes_machine_that_runs_for_years_has_limits_like_any() {
    // The clock that only counts begins where a machine is that was never switched off.
    let replies = [call("shell", json!({"command": "sleep 0.1"})), answer("All is done.")];
    let host = Host::scripted(&replies, &[]);
    let model = format!("scripted:{}", host.home().join("script.jsonl").display());
    let years = (20 * 365 * DAY).to_string();
    let words = ["unshare", "-UrTf", "--monotonic", &years, "--boottime", &years];
    let command =
        behind(&host, &words, &["run", "--model", &model, "--approval-mode", "yolo", "--timeout", "5m", "Begin"]);
    let ended = host.end(command);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "All is done.\n"), "{ended:?}");
}
