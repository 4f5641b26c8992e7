//! Lines that real shells run: whenever a denied command ran, the policy must not have allowed the line.
//!
//! The denied command is a script that leaves a mark; the search path contains nothing else but a few programs that
//! read or wrap. Each line runs in a folder of its own, for a second at most.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tempfile::TempDir;

use super::hidden::{WRITTEN, all_but_rm, hiding, soup, wrapped};
use super::lines::example;
use super::*;

/// The programs that a line can find besides the command that leaves a mark.
const PROGRAMS: &[&str] = &[
    "awk", "bash", "cat", "dash", "echo", "env", "find", "head", "ls", "nice", "nohup", "printf", "sed", "setsid",
    "sh", "sort", "stdbuf", "tail", "tee", "test", "timeout", "true", "wc", "xargs",
];

/// A folder with the programs, and one for the lines.
struct Place {
    folder: TempDir,
    shells: Vec<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        let found = |name: &str| {
            let places = ["/usr/bin", "/bin"].iter().map(|place| PathBuf::from(place).join(name));
            places.into_iter().find(|path| path.is_file())
        };
        for name in PROGRAMS {
            if let Some(path) = found(name) {
                symlink(path, bin.join(name)).expect("a link");
            }
        }
        let marks = bin.join("rm");
        fs::write(&marks, "#!/bin/sh\n: > \"$MARK\"\n").expect("a script");
        fs::set_permissions(&marks, fs::Permissions::from_mode(0o755)).expect("a mode");
        Self { folder, shells: ["dash", "bash"].iter().filter_map(|name| found(name)).collect() }
    }

    /// Whether the denied command ran.
    fn runs(&self, shell: &Path, line: &str) -> bool {
        // Each line has its own mark: a process of an earlier line may still be running.
        let place = tempfile::tempdir_in(self.folder.path()).expect("a folder");
        let (mark, work) = (place.path().join("mark"), place.path().join("work"));
        fs::create_dir(&work).expect("a folder");
        fs::write(work.join("x"), "x\n").expect("a file");
        for (name, text) in [("script", "rm x\n"), ("awkscript", "BEGIN { system(\"rm x\") }\n")] {
            fs::write(work.join(name), text).expect("a file");
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        let status = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "1"])
            .arg(shell)
            .args(["-c", line])
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .env("MARK", &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.expect("a shell that ends");
        mark.exists()
    }

    fn check(&self, line: &str) -> Result<bool, TestCaseError> {
        if line.contains('\0') {
            return Ok(false);
        }
        let ran = self.shells.iter().filter(|shell| self.runs(shell, line)).map(|shell| shell.display().to_string());
        let ran: Vec<String> = ran.collect();
        for policy in [example(), all_but_rm()] {
            let verdict = Case::line(&policy, line).verdict();
            let fine = ran.is_empty() || verdict.decision != Decision::Allow;
            prop_assert!(fine, "{} ran it:\n{}\n{}", ran.join(" and "), line, verdict.explain());
        }
        Ok(!ran.is_empty())
    }
}

#[test]
fn no_way_to_write_a_denied_command_was_allowed() {
    let place = Place::new();
    if place.shells.is_empty() || !Path::new("/usr/bin/timeout").is_file() {
        return;
    }
    let failed: Vec<String> =
        WRITTEN.iter().filter_map(|line| place.check(line).err()).map(|failed| failed.to_string()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns the number of cases, or that of the environment for a long run.
fn cases(usual: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

// promise policy.hidden
#[test]
fn policy_line_that_runs_a_denied_command_was_not_allowed() {
    let place = Place::new();
    if place.shells.is_empty() || !Path::new("/usr/bin/timeout").is_file() {
        return;
    }
    let (mut ran, mut all) = (0, 0);
    let mut check = |line: &str| {
        all += 1;
        ran += u32::from(place.check(line)?);
        Ok(())
    };
    let check = std::cell::RefCell::new(&mut check);
    for strategy in [hiding().boxed(), soup().boxed(), wrapped().boxed()] {
        let mut runner = proptest::test_runner::TestRunner::new(cases(80));
        let outcome = runner.run(&strategy, |line| check.borrow_mut()(&line));
        outcome.unwrap_or_else(|failed| panic!("{failed}"));
    }
    assert!(ran * 6 > all, "{ran} of {all} lines ran it: too few to prove anything");
}
