//! Runs a case: makes its repository, starts the host as a user would, and collects what happened.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::case::Case;

/// Which host runs the cases, and which model it asks.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The binary.
    pub host: PathBuf,
    /// The model; `None` replays the recording of each case.
    pub model: Option<String>,
    /// The folder of the recordings.
    pub recordings: PathBuf,
    /// Whether to write a recording of what the model says.
    pub record: bool,
    /// The longest time that one run of the host may take.
    pub limit: Duration,
    /// A cache that all cases share, so that tools are compiled once.
    pub cache: PathBuf,
}

/// A case that ran.
#[derive(Debug)]
pub struct Finished {
    /// The folder with its repository; it is removed with this value.
    pub folder: TempDir,
    /// The exit code of the last run; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What the host wrote on standard error.
    pub errors: String,
    /// The calls, in their order.
    pub calls: Vec<Call>,
    /// The last answer.
    pub answer: String,
    /// The turns of all runs.
    pub turns: u64,
    /// The tokens of all runs.
    pub tokens: u64,
    /// The cost of all runs, if the model has a price.
    pub cost: Option<f64>,
    /// How long it took.
    pub time: Duration,
    /// The files before, by their paths.
    pub before: BTreeMap<String, Vec<u8>>,
}

/// A call that the model made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Whether it failed or was denied.
    pub failed: bool,
}

impl Finished {
    /// Returns the folder of the repository.
    pub fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// Returns the commands of `shell`, in their order.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().filter(|call| call.tool == "shell").filter_map(|call| call.arguments["command"].as_str())
    }
}

/// Runs a case in a folder of its own.
///
/// # Errors
///
/// If its repository cannot be made, or the host cannot be started or takes too long.
pub fn run(case: &Case, setup: &Setup) -> io::Result<Finished> {
    let folder = tempfile::Builder::new().prefix("host-evals-").tempdir()?;
    let (home, repository) = (folder.path().join("home"), folder.path().join("repository"));
    std::fs::create_dir_all(&home)?;
    std::fs::create_dir_all(&repository)?;
    write_all(&repository, &case.files)?;
    let generated = case.generated.iter().map(|(path, file)| (path.clone(), file.text())).collect();
    write_all(&repository, &generated)?;
    if case.git {
        for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
            let status = git(&repository).args(arguments).status()?;
            if !status.success() {
                return Err(io::Error::other(format!("`git {}` ended with {status}", arguments.join(" "))));
            }
        }
        // The model commits as the user, whom a confined program knows from the repository alone here.
        for (name, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
            git(&repository).args(["config", name, value]).status()?;
        }
    }
    write_all(&repository, &case.dirty)?;
    let before = tree(&repository)?;
    let mut finished = Finished {
        code: None,
        errors: String::new(),
        calls: Vec::new(),
        answer: String::new(),
        turns: 0,
        tokens: 0,
        cost: None,
        time: Duration::ZERO,
        before,
        folder,
    };
    let start = Instant::now();
    let prompts = std::iter::once(&case.prompt).chain(&case.then);
    for (number, prompt) in prompts.enumerate() {
        let mut command = Command::new(&setup.host);
        command.args(["run", "--print", "--output-format", "stream-json", "--approval-mode", &case.mode]);
        command.args(model(case, setup, number)).args(&case.arguments);
        if number > 0 {
            command.arg("--resume");
        }
        command.arg(prompt).current_dir(&repository).stdin(Stdio::null());
        command.env("HOME", &home).env("XDG_CACHE_HOME", &setup.cache).env_remove("HOST_CONFIG");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ended = within(command, setup.limit)?;
        finished.code = ended.status.code();
        finished.errors.push_str(&String::from_utf8_lossy(&ended.stderr));
        finished.take(&String::from_utf8_lossy(&ended.stdout));
    }
    finished.time = start.elapsed();
    Ok(finished)
}

/// The arguments that choose the model, and the recording that is written. A model on a network needs the keys of the
/// environment, which are passed on.
fn model(case: &Case, setup: &Setup, number: usize) -> Vec<String> {
    let recording = |about: &str| {
        let end = if number == 0 { String::new() } else { format!(".{number}") };
        setup.recordings.join(format!("{}{about}{end}.jsonl", case.name)).display().to_string()
    };
    match &setup.model {
        None => vec!["--model".to_owned(), format!("scripted:{}", recording(""))],
        Some(model) => {
            let mut arguments = vec!["--model".to_owned(), model.clone()];
            if setup.record {
                let about = format!(".{}", model.replace(['/', ':'], "-"));
                arguments.extend(["--record".to_owned(), recording(&about)]);
            }
            arguments
        }
    }
}

/// Runs a command to its end, or kills it after the limit.
fn within(mut command: Command, limit: Duration) -> io::Result<std::process::Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let id = child.id();
    let (done, watched) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
        let read = |from: &mut dyn io::Read| {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).map(|_| bytes)
        };
        let stderr = scope.spawn(move || err.as_mut().map_or(Ok(Vec::new()), |from| read(from)));
        let watch = scope.spawn(move || {
            // The sender is dropped when the host has ended.
            let late = watched.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if late {
                let _ = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            }
            late
        });
        let stdout = out.as_mut().map_or(Ok(Vec::new()), |from| read(from));
        let status = child.wait();
        drop(done);
        let late = watch.join().unwrap_or(false);
        let stderr = stderr.join().unwrap_or_else(|_| Ok(Vec::new()));
        if late {
            return Err(io::Error::other(format!("the host did not end within {} s", limit.as_secs())));
        }
        Ok(std::process::Output { status: status?, stdout: stdout?, stderr: stderr? })
    })
}

impl Finished {
    /// Takes up the lines of one run.
    fn take(&mut self, lines: &str) {
        for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["type"].as_str() {
                Some("tool_use") => self.calls.push(Call {
                    id: text("tool_id"),
                    tool: text("tool_name"),
                    arguments: line["parameters"].clone(),
                    failed: false,
                }),
                Some("tool_result") => {
                    let id = text("tool_id");
                    // Ids are unique within one run, and the last run's calls come last.
                    if let Some(call) = self.calls.iter_mut().rfind(|call| call.id == id) {
                        call.failed = line["status"] == "error";
                    }
                }
                Some("result") => {
                    let stats = &line["stats"];
                    self.answer =
                        line["response"].as_str().or(line["partial_response"].as_str()).unwrap_or("").to_owned();
                    self.turns += stats["turns"].as_u64().unwrap_or(0);
                    self.tokens += stats["tokens"]["total"].as_u64().unwrap_or(0);
                    if let Some(cost) = stats["cost"].as_f64() {
                        self.cost = Some(self.cost.unwrap_or(0.0) + cost);
                    }
                }
                _ => {}
            }
        }
    }
}

fn write_all(folder: &Path, files: &BTreeMap<String, String>) -> io::Result<()> {
    for (path, content) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, content)?;
    }
    Ok(())
}

/// Git with nothing of this machine's configuration.
pub(crate) fn git(repository: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(repository).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for (name, value) in [("NAME", "Ada"), ("EMAIL", "ada@example.com")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command
}

/// Returns the files of a folder without those of Git and of caches, by their paths.
pub(crate) fn tree(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = entry.file_name();
            if kind.is_dir() {
                if !matches!(name.to_str(), Some(".git" | "target" | "node_modules" | "__pycache__")) {
                    folders.push(path);
                }
            } else if kind.is_file() {
                let relative = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                found.insert(relative, std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
