//! `host plugin dev`: what a change of the sources leads to, and what it leaves alone.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use host_tests::host::Host;
use host_tests::languages::{LANGUAGES, Project};
use host_tests::snapshot::Transcript;
use host_tests::transcript_snapshot;
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// How long a line is waited for. A machine that is busy with other things is slow.
const LIMIT: Duration = Duration::from_secs(180);

/// A plugin in C, whose build takes a moment.
fn project() -> Project {
    let language = LANGUAGES.into_iter().find(|language| language.name == "c").expect("it is one of them");
    Project::new(language, "acme/words")
}

/// The command under way, and what it prints.
struct Dev {
    child: Child,
    lines: Receiver<String>,
    /// All that it printed until now.
    said: String,
}

impl Dev {
    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, said: String::new() }
    }

    /// The next lines up to the one that has this in it.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        let mut lines = String::new();
        while !lines.lines().last().is_some_and(|line| line.contains(text)) {
            let Ok(line) = self.lines.recv_timeout(LIMIT) else { panic!("no `{text}` in\n{}{lines}", self.said) };
            lines.push_str(&format!("{line}\n"));
        }
        self.said.push_str(&lines);
        lines
    }

    /// A whole round, which is the one with this number and begins with these words, and ends with such a line.
    #[track_caller]
    fn round(&mut self, number: u32, why: &str, end: &str) -> String {
        let lines = self.until(end);
        let begins: Vec<&str> = lines.lines().filter(|line| line.starts_with("round ")).collect();
        assert_eq!(begins, [format!("round {number}{why}")], "{}", self.said);
        lines
    }

    /// Ctrl-C, and how it ended.
    fn interrupted(mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("it has an id");
        kill_process(pid, Signal::INT).expect("it runs");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // A test that failed leaves nothing running; one that did not has waited for its end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Writes a file as editors do: there is no moment in which it is half written.
fn write(project: &Project, file: &str, text: &str) {
    let half = project.path().join(".half");
    std::fs::write(&half, text).expect("written");
    std::fs::rename(half, project.path().join(file)).expect("moved");
}

fn built(project: &Project) -> [Vec<u8>; 2] {
    ["dist/acme+words.wasm", "dist/acme+words.json"]
        .map(|file| std::fs::read(project.path().join(file)).expect("built"))
}

const GOOD: &str = "try it: ";
const KEPT: &str = "dist keeps the last good build";

#[test]
fn plugin_dev_keeps_the_last_good_build_and_reports_what_changed() {
    let project = project();
    write(&project, "some.txt", "one two one");
    let (source, manifest, cases) =
        (project.text("plugin.c"), project.text("plugin.toml"), project.text("tests/word_count.toml"));
    let mut dev = Dev::start(project.host(&["plugin", "dev"]));
    let first = dev.round(1, "", GOOD);
    assert!(first.starts_with("watching ") && first.contains("Ctrl-C ends it"), "{first}");
    for says in ["acme/words 0.1.0, ", " bytes\n", "tools     word_count\n", "built in ", "3 passed, 0 failed\n"] {
        assert!(first.contains(says), "{says}: {first}");
    }
    assert!(first.ends_with("try it: host tool call word_count '{\"path\": \"…\"}' --plugin dist\n"), "{first}");
    let call = ["tool", "call", "word_count", r#"{"path": "some.txt"}"#, "--any-folder", "--plugin", "dist"];
    let output = project.host(&call).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("1 lines, 3 words"), "{output:?}");

    // What a caller sees is told.
    let optional = "\\\"required\\\":[\\\"path\\\"]";
    assert!(source.contains(optional));
    let stricter = source.replacen(optional, "\\\"required\\\":[\\\"path\\\",\\\"top\\\"]", 1);
    let fitting = cases.replace("path = \"other.txt\" }", "path = \"other.txt\", top = 1 }");
    let fitting = fitting.replace("path = \"some.txt\" }", "path = \"some.txt\", top = 1 }");
    write(&project, "plugin.c", &stricter);
    let second = dev.round(2, ": plugin.c changed", KEPT);
    assert!(second.contains("breaking  `word_count`, arguments: ") && second.contains("`top`"), "{second}");
    assert!(second.contains("1 passed, 2 failed") && second.contains("  FAIL a file that is not there"), "{second}");
    let good = built(&project);

    // Cases alone are run again alone, and what was built is kept then.
    write(&project, "tests/word_count.toml", &fitting);
    let third = dev.round(3, ": tests/word_count.toml changed", GOOD);
    assert!(third.contains("3 passed, 0 failed") && !third.contains("built in"), "{third}");
    assert_ne!(built(&project), good, "it is written now");

    // Broken sources, a broken manifest, and both mended.
    let good = built(&project);
    write(&project, "plugin.c", &format!("{source}int x = ;\n"));
    assert!(dev.round(4, ": plugin.c changed", KEPT).contains("not built"));
    write(&project, "plugin.toml", "nam = 1\n");
    assert!(dev.round(5, ": plugin.toml changed", KEPT).contains("not built"));
    assert_eq!(built(&project), good);
    write(&project, "plugin.toml", &manifest.replace("0.1.0", "0.2.0"));
    assert!(dev.round(6, ": plugin.toml changed", KEPT).contains("not built"));
    write(&project, "plugin.c", &stricter);
    let seventh = dev.round(7, ": plugin.c changed", GOOD);
    assert!(seventh.contains("acme/words 0.2.0, ") && seventh.contains("are unchanged"), "{seventh}");
    assert!(String::from_utf8(built(&project)[1].clone()).expect("text").contains("0.2.0"));

    // An invalid file of cases.
    write(&project, "tests/word_count.toml", "[[case]]\nnme = \"x\"\n");
    dev.round(8, ": tests/word_count.toml changed", KEPT);
    // The name of a plugin that is another takes the place of the one before.
    write(&project, "tests/word_count.toml", &fitting);
    dev.round(9, ": tests/word_count.toml changed", GOOD);
    write(&project, "plugin.toml", &manifest.replace("acme/words", "acme/terms"));
    assert!(dev.round(10, ": plugin.toml changed", GOOD).contains("acme/words is gone"));
    assert!(
        !project.path().join("dist/acme+words.wasm").exists() && project.path().join("dist/acme+terms.wasm").exists()
    );
    assert!(!dev.said.contains('\u{1b}'), "a pipe gets text alone");
    assert_eq!(dev.interrupted(), Some(0));
}

/// Makes the package's compiler wait for the test, and hands over what it waits for.
fn gated(project: &Project) -> (tempfile::TempDir, PathBuf) {
    let outside = tempfile::tempdir().expect("a folder");
    let gate = outside.path().join("gate");
    mkfifoat(CWD, &gate, Mode::RUSR | Mode::WUSR).expect("made");
    let venv = project.path().join(".venv");
    let real = std::fs::canonicalize(&venv).expect("it is a link").join("bin/python-zig");
    std::fs::remove_file(&venv).expect("removed");
    std::fs::create_dir_all(venv.join("bin")).expect("made");
    let script = format!("#!/bin/sh\n[ \"$1\" = cc ] && cat '{}'\nexec '{}' \"$@\"\n", gate.display(), real.display());
    let program = venv.join("bin/python-zig");
    std::fs::write(&program, script).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
    (outside, gate)
}

/// Waits until the compiler waits; it goes on when what is handed over is dropped.
#[track_caller]
fn compiling(gate: &Path) -> File {
    let began = Instant::now();
    loop {
        // With this flag, opening a FIFO that nothing reads fails at once instead of waiting for a reader.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        match File::options().write(true).custom_flags(flags).open(gate) {
            Ok(gate) => return gate,
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) && began.elapsed() < LIMIT => {
                std::thread::yield_now();
            }
            Err(error) => panic!("no compiler was started: {error}"),
        }
    }
}

#[test]
fn plugin_dev_change_during_a_build_is_one_more_round_and_no_round_starts_another() {
    let project = project();
    let (_outside, gate) = gated(&project);
    let source = project.text("plugin.c");
    let mut dev = Dev::start(project.host(&["plugin", "dev", "--filter", "not there"]));
    let first = compiling(&gate);
    for i in 0..20 {
        write(&project, "plugin.c", &format!("{source}/* {i} */\n"));
        write(&project, "more.c", &format!("/* {i} */\n"));
        // What is there for a moment, and what is merely written again, is not a change.
        write(&project, "gone.c", "int gone;\n");
        std::fs::remove_file(project.path().join("gone.c")).expect("removed");
        write(&project, "README.md", &project.text("README.md"));
    }
    drop(first);
    let lines = dev.round(1, "", GOOD);
    assert!(lines.contains("1 passed, 0 failed"), "{lines}");
    drop(compiling(&gate));
    dev.round(2, ": more.c, plugin.c changed", GOOD);
    // A folder that is new, with a file in it that was there before the folder was watched.
    std::fs::create_dir_all(project.path().join("src/deep")).expect("made");
    write(&project, "src/deep/er.c", "/* er */\n");
    drop(compiling(&gate));
    let lines = dev.until(GOOD);
    assert!(lines.contains("round 3: src/deep/er.c changed"), "{lines}");
    write(&project, "src/deep/er.c", "/* er and er */\n");
    drop(compiling(&gate));
    dev.round(4, ": src/deep/er.c changed", GOOD);
    assert_eq!(dev.interrupted(), Some(0));
}

#[test]
fn a_ctrl_c_while_it_is_built_ends_it_in_good_order_after_the_build() {
    let project = project();
    let (_outside, gate) = gated(&project);
    let dev = Dev::start(project.host(&["plugin", "dev"]));
    let mut waiting = compiling(&gate);
    let ended = std::thread::spawn(move || dev.interrupted());
    waiting.write_all(b"go on").expect("it is read");
    drop(waiting);
    assert_eq!(ended.join().expect("it ended"), Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let project = project();
    let mut command = project.host(&["plugin", "dev"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("read");
    assert!(line.starts_with("watching "), "{line}");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn plugin_dev_folder_that_cannot_be_watched_is_an_error_before_anything_is_written() {
    let manifest = "name = \"words\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n";
    let mut errors = Transcript::default();
    for arguments in [&["missing"][..], &["empty"], &["words", "--out", "words"], &["words", "--out", "."]] {
        let host = Host::new(["plugin", "dev"]).args(arguments);
        let host = host.file("words/plugin.toml", manifest).file("empty/a.txt", "");
        errors.add(arguments.join(" "), &host.run());
        assert!(!host.repository().join("empty/dist").exists());
    }
    transcript_snapshot!(errors, @r"
    # missing
    exit: 42
    ----- stderr
    error: cannot use the folder `missing`: No such file or directory (os error 2)

    # empty
    exit: 42
    ----- stderr
    error: there is no plugin in `empty`
    help: name a folder with a plugin.toml, or a cargo workspace with such folders; `host plugin new` makes \
    a plugin

    # words --out words
    exit: 42
    ----- stderr
    error: `words` contains the sources: writing there would start a build again and again
    help: name a folder outside of the sources with --out DIR

    # words --out .
    exit: 42
    ----- stderr
    error: `.` contains the sources: writing there would start a build again and again
    help: name a folder outside of the sources with --out DIR
    ");
}
