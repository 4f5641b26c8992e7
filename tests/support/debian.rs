//! Other people's programs to test against, as Debian has them: `minisign`, and whatever else is a package.
//!
//! One that is installed is used. Else its package, and those that it needs and this machine lacks, are downloaded and
//! unpacked beneath `target/`, once for all tests and processes: nothing is installed, and nobody has to be root.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::repository;

/// What a machine does besides when lists were fetched, such as emptying its own cache, is none of ours.
const NO_HOOKS: &str = "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n\
                        #clear APT::Update::Post-Invoke-Success;\n#clear DPkg::Pre-Invoke;\n#clear DPkg::Post-Invoke;\n";

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Where the libraries lie that it needs and this machine lacks.
    pub libraries: Option<OsString>,
}

impl Program {
    /// It, with its libraries.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

/// The program of this name, of the Debian package of the same name.
///
/// # Errors
///
/// In one line that says what to install, where it is neither installed nor can be downloaded.
pub fn program(name: &str) -> Result<Program, String> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(path) = std::env::split_paths(&on_path).map(|folder| folder.join(name)).find(|path| path.is_file()) {
        return Ok(Program { path, libraries: None });
    }
    let folder = repository().join("target/debian");
    download(name, &folder).map_err(|why| format!("the tests need `{name}`, which {why}; apt-get install {name}"))
}

/// Downloads and unpacks a package, unless somebody has.
fn download(name: &str, folder: &Path) -> Result<Program, String> {
    let failed = |error: std::io::Error| format!("cannot be kept in `{}` ({error})", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    // The system unlocks it when the process ends, however it does.
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let (root, done) = (folder.join(name), folder.join(format!("{name}.done")));
    if !done.exists() {
        let work = folder.join("work");
        for path in [&root, &work] {
            std::fs::remove_dir_all(path).or_else(absent).map_err(failed)?;
        }
        for path in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(work.join(path)).map_err(failed)?;
        }
        std::fs::write(work.join("apt.conf"), NO_HOOKS).map_err(failed)?;
        apt(&work, &["update"])?;
        apt(&work, &["install", "--yes", "--download-only", "--no-install-recommends", name])?;
        for entry in std::fs::read_dir(work.join("cache/archives")).map_err(failed)? {
            let package = entry.map_err(failed)?.path();
            if package.extension().is_some_and(|end| end == "deb") {
                let mut unpack = Command::new("dpkg");
                unpack.arg("-x").args([&package, &root]);
                run(unpack)?;
            }
        }
        std::fs::remove_dir_all(&work).map_err(failed)?;
        File::create(&done).map_err(failed)?;
    }
    let places = ["usr/bin", "usr/sbin", "bin", "sbin"];
    let path = places.iter().map(|place| root.join(place).join(name)).find(|path| path.is_file());
    let path = path.ok_or_else(|| "is not in the package of its name".to_owned())?;
    let mut libraries = Vec::new();
    for place in ["usr/lib", "lib"] {
        let own = root.join(place);
        let beneath = std::fs::read_dir(&own).into_iter().flatten().flatten().map(|entry| entry.path());
        libraries.extend(beneath.filter(|path| path.is_dir()));
        libraries.push(own);
    }
    libraries.retain(|path| path.is_dir());
    let libraries = std::env::join_paths(libraries).map_err(|error| format!("cannot be found: {error}"))?;
    Ok(Program { path, libraries: Some(libraries).filter(|list| !list.is_empty()) })
}

/// `apt-get` with lists and a cache of its own, which knows what this machine has.
fn apt(work: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    command.arg("-c").arg(work.join("apt.conf"));
    for (name, value) in [
        ("Dir::State::lists", work.join("lists").display().to_string()),
        ("Dir::Cache", work.join("cache").display().to_string()),
        // Nothing of the system is changed, so nothing of it has to be locked, and no other user has to write here.
        ("Debug::NoLocking", "true".to_owned()),
        ("APT::Sandbox::User", String::new()),
    ] {
        command.arg("-o").arg(format!("{name}={value}"));
    }
    command.args(arguments);
    run(command)
}

fn run(mut command: Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("is not installed, and `{name}` cannot be run ({error})"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().find(|line| line.starts_with("E:")).or_else(|| said.lines().last()).unwrap_or_default();
    Err(format!("is not installed, and `{name}` could not get it ({line})"))
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
