//! The real binary, in a fresh repository, with a fresh home and an environment that has nothing else in it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use host_manifest::Manifest;
use host_plugin::admission::CONTRACT;

use crate::{cache, guest, repository, runtime};

/// The binary that Cargo built with the tests, or the one that `HOST_TEST_BINARY` names.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let named = std::env::var_os("HOST_TEST_BINARY").or_else(|| std::env::var_os("CARGO_BIN_EXE_host"));
        PathBuf::from(named.expect("`cargo test` says where the binary is; without it, set HOST_TEST_BINARY"))
    })
}

/// A command line of the host, in a repository of its own.
pub struct Host {
    repository: tempfile::TempDir,
    home: tempfile::TempDir,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    /// Whether the mode is the one that holds where none was chosen.
    has_no_mode: bool,
    input: Option<Vec<u8>>,
}

/// How a command ended.
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said besides.
    pub stderr: String,
    folders: Vec<(PathBuf, &'static str)>,
}

/// Without the folders, which say nothing of how it ended.
impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr, folders: _ } = self;
        f.debug_struct("Ended").field("code", code).field("stdout", stdout).field("stderr", stderr).finish()
    }
}

/// Makes a folder that a confined program sees by its own name. In `/tmp`, of which it has one for itself, what it may
/// not touch is not denied but missing, and an attack on that would show nothing.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a folder")
}

impl Host {
    /// `host` with these arguments.
    pub fn new(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let host = Self {
            repository: folder(),
            home: folder(),
            arguments: arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect(),
            variables: Vec::new(),
            has_no_mode: false,
            input: None,
        };
        std::fs::create_dir(host.repository.path().join(".git")).expect("made");
        host
    }

    /// `host run` with a script for a model, one reply a line.
    pub fn scripted(replies: &[serde_json::Value], arguments: &[&str]) -> Self {
        let host = Self::new(["run"]);
        let script = host.home.path().join("script.jsonl");
        let lines: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
        std::fs::write(&script, lines).expect("written");
        host.arg("--model").arg(format!("scripted:{}", script.display())).args(arguments)
    }

    /// Makes its `.git`, which is an empty folder, a repository that git takes for one.
    pub fn in_git(self) -> Self {
        for folder in ["objects", "refs"] {
            std::fs::create_dir(self.repository.path().join(".git").join(folder)).expect("made");
        }
        self.file(".git/HEAD", "ref: refs/heads/main\n")
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Writes a file of the repository.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.repository.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the repository")).expect("made");
        std::fs::write(path, content).expect("written");
        self
    }

    /// Writes a file of the home.
    pub fn home_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the home")).expect("made");
        std::fs::write(path, content).expect("written");
        self
    }

    /// Writes the configuration.
    pub fn configured(self, text: &str) -> Self {
        let folder = self.home.path().join(".config/host");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join("config.toml"), text).expect("written");
        self
    }

    /// Declares an agent in the user's folder.
    pub fn agent(self, file: &str, text: &str) -> Self {
        let folder = self.home.path().join(".config/host/agents");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join(file), text).expect("written");
        self
    }

    /// What it reads.
    pub fn input(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.input = Some(text.into());
        self
    }

    /// The repository.
    pub fn repository(&self) -> &Path {
        self.repository.path()
    }

    /// The home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The logs of the sessions that were recorded, by their names.
    pub fn logs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.home.path().join(".local/state/host/sessions")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.expect("read").path());
        let mut logs: Vec<_> = paths.filter(|path| path.extension() == Some(OsStr::new("jsonl"))).collect();
        logs.sort();
        logs
    }

    /// The lines of the one session that was recorded.
    pub fn session(&self) -> Vec<serde_json::Value> {
        let logs = self.logs();
        let [log] = logs.as_slice() else { panic!("one session, not {logs:?}") };
        let text = std::fs::read_to_string(log).expect("read");
        text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
    }

    /// What the host told the model in the latest run of the only session: its instructions, and the texts that the
    /// host added to the conversation, such as the environment and the context files; of two with one name the later.
    pub fn told(&self) -> String {
        let lines = self.session();
        let started = lines.iter().rfind(|line| line["type"] == "run_started").expect("a run was recorded");
        let parts = lines.iter().flat_map(|line| line["content"]["parts"].as_array().into_iter().flatten());
        let texts = parts.filter_map(|part| part["text"].as_str()).filter(|text| text.starts_with("[Kept in full: "));
        let mut told: Vec<&str> = started["system"].as_str().into_iter().collect();
        for text in texts {
            told.retain(|earlier| earlier.lines().next() != text.lines().next());
            told.push(text);
        }
        told.join("\n\n")
    }

    /// The parts of a recorded message, without the surroundings that the host put before the prompt.
    pub fn parts(message: &serde_json::Value) -> Vec<serde_json::Value> {
        let surroundings = ["environment", "file tree", "context files", "facts", "skills"];
        let marks = surroundings.map(|name| format!("[Kept in full: {name}]\n"));
        let is_said = |part: &&serde_json::Value| {
            let text = part["text"].as_str().unwrap_or_default();
            !marks.iter().any(|mark| text.starts_with(mark))
        };
        message["content"]["parts"].as_array().expect("parts").iter().filter(is_said).cloned().collect()
    }

    /// The texts of those parts.
    pub fn texts(message: &serde_json::Value) -> Vec<String> {
        Self::parts(message).iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
    }

    /// The command, ready to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(binary());
        self.prepare(&mut command);
        command.args(self.with_mode());
        command
    }

    /// Its arguments with the mode that asks: what is tested is rarely which mode holds where none was chosen.
    fn with_mode(&self) -> Vec<OsString> {
        let mut arguments = self.arguments.clone();
        let command = arguments.first().and_then(|first| first.to_str()).unwrap_or_default();
        // A session needs no command.
        let at = usize::from(!command.is_empty() && command != "--model");
        let is_session = at == 0 || command == "run" || command == "acp";
        let file = std::fs::read_to_string(self.home.path().join(".config/host/config.toml")).unwrap_or_default();
        let names_one = |argument: &OsString| {
            argument.to_str().is_some_and(|argument| argument.starts_with("--approval-mode") || argument == "--yolo")
        };
        if is_session && !self.has_no_mode && !arguments.iter().any(names_one) && !file.contains("approval_mode") {
            arguments.splice(at..at, ["--approval-mode", "default"].map(OsString::from));
        }
        arguments
    }

    /// Chooses no approval mode.
    pub fn without_mode(self) -> Self {
        Self { has_no_mode: true, ..self }
    }

    /// Another command line in the same repository, with the same home.
    pub fn command_of(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        self.prepare(&mut command);
        command.args(arguments);
        command
    }

    /// Runs another command line to its end.
    pub fn run_of(&self, arguments: &[&str]) -> Ended {
        self.end(self.command_of(arguments))
    }

    /// The same, behind a line of the shell that ends with `exec "$@"`.
    pub fn command_in_shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        self.prepare(&mut command);
        command.args(["-c", line, "sh"]).arg(binary()).args(self.with_mode());
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.repository.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            // Compiling the tools anew for each test would take longer than all the tests.
            .env("XDG_CACHE_HOME", cache())
            // Whoever forbids rustup to install toolchains by itself forbids it here, too.
            .envs(std::env::var_os("RUSTUP_AUTO_INSTALL").map(|value| ("RUSTUP_AUTO_INSTALL", value)))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    /// Runs it to its end.
    pub fn run(&self) -> Ended {
        self.end(self.command())
    }

    /// Runs a command of this host's to its end.
    pub fn end(&self, mut command: Command) -> Ended {
        let mut child = command.spawn().expect("it starts");
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), &self.input) {
            // A process that does not read its input closes it, which is its own affair.
            pipe.write_all(input).ok();
        }
        let output = child.wait_with_output().expect("it ends");
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
            folders: vec![(self.repository().to_owned(), "[REPOSITORY]"), (self.home().to_owned(), "[HOME]")],
        }
    }
}

impl Ended {
    /// The folders that it worked in, each with its name in a snapshot.
    pub(crate) fn folders(&self) -> &[(PathBuf, &'static str)] {
        &self.folders
    }

    /// Standard output as one JSON value.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Standard output as JSON lines.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
            .collect()
    }
}

/// A guest of `tests/guests` as `host plugin build` would leave it: the path of its component.
pub async fn guest_file(name: &str, folder: &Path) -> PathBuf {
    let plugin = guest(name);
    let source = host_devkit::read_manifest(&repository().join("tests/guests").join(name).join("plugin.toml"))
        .expect("it is right");
    let tools = runtime().describe(plugin).await.expect("it describes itself");
    let manifest = Manifest::new(source, CONTRACT, tools).expect("it is right");
    let component = folder.join(format!("{name}.wasm"));
    std::fs::write(&component, plugin.component().expect("it is read")).expect("written");
    std::fs::write(component.with_extension("json"), manifest.to_json()).expect("written");
    component
}
