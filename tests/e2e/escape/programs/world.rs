//! A repository, a home and the surroundings with things to steal, and the two runs of a table of attacks in it: one
//! with the walls, one without.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use host_tests::host::{Host, folder};
use serde_json::{Value, json};

use super::super::Failures;
use super::super::users::As;
use super::{Attack, Control, How, Outcome};

/// What no attack may get.
pub(super) const SECRET: &str = "SECRET-OF-THE-USER";

/// Where Python is looked for: a shim in the user's home is not part of what confined programs read.
const PYTHON: &str = "/usr/bin/python3";

/// The variables that scripts know.
const NAMES: &[&str] = &["WORK", "OUT", "TWIN", "SERVICES", "VICTIM", "ABSTRACT", "PORT", "UDP", "HOST_PID", "SHARED"];

const DRIVER: &str = include_str!("driver.py");

/// The world of one run.
pub(super) struct World {
    host: Host,
    /// What lies beside the repository and the home; `OUT` in scripts.
    outside: tempfile::TempDir,
    /// Sockets of services of this machine; `SERVICES` in scripts.
    services: tempfile::TempDir,
    /// A process of the same user with a secret in its memory and its environment; `VICTIM` in scripts.
    victim: Child,
    /// A file in shared memory; `SHARED` in scripts.
    shared: PathBuf,
    /// A folder whose path begins with that of the repository; `TWIN` in scripts.
    twin: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// How an attack ended.
#[derive(Debug)]
struct Ended {
    succeeded: bool,
    said: String,
}

impl World {
    fn new() -> Self {
        assert!(Path::new(PYTHON).exists(), "these tests need {PYTHON}");
        let (outside, services) = (folder(), folder());
        let host = Host::new(Vec::<String>::new())
            .file("file", "mine\n")
            .file("src/main.rs", "fn main() {}\n")
            .file("vendor/lib.rs", "\n")
            .file(".bashrc", "# kept\n")
            .file(".host/config.toml", "# kept\n")
            .home_file(".ssh/id_ed25519", SECRET)
            .home_file(".aws/credentials", SECRET)
            .home_file(".bashrc", "# kept\n")
            .home_file(".gitconfig", "[user]\n\tname = a\n\temail = a@example.com\n")
            .home_file(".npmrc", SECRET)
            .home_file(".cargo/credentials.toml", SECRET)
            .home_file(".config/gh/hosts.yml", SECRET)
            .home_file(".config/host/keys.toml", SECRET)
            .home_file(".config/host/policies/answers.toml", "# kept\n")
            .home_file(".local/state/host/trust.json", "{\"version\":1,\"folders\":{}}")
            .home_file(".local/state/host/sessions/old.jsonl", SECRET)
            .home_file(".local/share/host/plugins/agreed.json", "{}")
            .configured(&format!("[confine]\nvariables = {NAMES:?}\n"));
        let repository = host.repository().to_owned();
        std::fs::remove_dir_all(repository.join(".git")).expect("removed");
        for arguments in
            [&["init", "-q", "--template=", "-b", "main"][..], &["add", "file", "src"], &["commit", "-qm", "x"]]
        {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(&repository).env("HOME", host.home()).env("GIT_CONFIG_NOSYSTEM", "1");
            assert!(git.status().expect("git runs").success());
        }
        std::fs::create_dir_all(repository.join(".git/hooks")).expect("made");
        std::fs::write(repository.join(".git/hooks/sample"), "# kept\n").expect("written");
        std::fs::write(outside.path().join("secret"), SECRET).expect("written");
        std::fs::create_dir(outside.path().join("project")).expect("made");
        std::fs::write(outside.path().join("project/notes"), SECRET).expect("written");
        let twin = PathBuf::from(format!("{}-twin", repository.display()));
        std::fs::create_dir(&twin).expect("made");
        std::fs::write(twin.join("notes"), SECRET).expect("written");
        // The host takes no list that others could have written.
        for file in [".local/state/host/trust.json", ".config/host/keys.toml", ".config/host/config.toml"] {
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(host.home().join(file), private).expect("set");
        }
        let shared = Path::new("/dev/shm")
            .join(format!("host-escape-{}", services.path().file_name().expect("a name").display()));
        std::fs::write(&shared, SECRET).expect("written");

        away_from_small_pids();
        let victim = Command::new("/bin/sh")
            .args(["-c", "read line; exit 0", "escape-victim"])
            .env("VICTIM_HAS", SECRET)
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        let name = format!("host-escape-{}-{}", std::process::id(), victim.id());
        for socket in ["docker.sock", "agent.sock", "bus"] {
            let listener = UnixListener::bind(services.path().join(socket)).expect("bound");
            std::thread::spawn(move || tell(listener.incoming(), SECRET));
        }
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let listener = UnixListener::bind_addr(&address).expect("bound");
        std::thread::spawn(move || tell(listener.incoming(), SECRET));
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = tcp.local_addr().expect("bound").port();
        std::thread::spawn(move || tell(tcp.incoming(), SECRET));
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        let datagrams = udp.local_addr().expect("bound").port();
        std::thread::spawn(move || {
            let mut bytes = [0; 64];
            while let Ok((_, from)) = udp.recv_from(&mut bytes) {
                udp.send_to(SECRET.as_bytes(), from).ok();
            }
        });
        let text = |path: &Path| std::fs::canonicalize(path).expect("there").display().to_string();
        let variables = vec![
            ("WORK", text(&repository)),
            ("OUT", text(outside.path())),
            ("TWIN", text(&twin)),
            ("SERVICES", text(services.path())),
            ("VICTIM", victim.id().to_string()),
            ("ABSTRACT", name),
            ("PORT", port.to_string()),
            ("UDP", datagrams.to_string()),
            ("SHARED", shared.display().to_string()),
        ];
        Self { host, outside, services, victim, shared, twin, variables }
    }

    /// Runs attacks by the tool `shell`.
    fn run(&self, attacks: &[(&str, How)], confine: &str, by: As) -> BTreeMap<String, Ended> {
        let list: Vec<Value> = attacks
            .iter()
            .map(|(name, how)| {
                let (kind, script) = match how {
                    How::Shell(script) => ("shell", script),
                    How::Python(script) => ("python", script),
                };
                json!({"name": name, "kind": kind, "script": script})
            })
            .collect();
        let copies = folder();
        let folder = self.host.repository();
        std::fs::write(folder.join("attacks.json"), Value::from(list).to_string()).expect("written");
        std::fs::write(folder.join("driver.py"), DRIVER).expect("written");
        let template = if confine == "off" { copies.path().display().to_string() } else { String::new() };
        let line = format!("{PYTHON} driver.py attacks.json results.json {template}");
        let arguments = json!({"command": line}).to_string();
        let call = ["tool", "call", "shell", &arguments, "--grant", "shell:process=*", "--confine", confine];
        // The process of the host is the one that was this shell.
        let mut command = Command::new("/bin/sh");
        let direct = self.host.command_of(&call);
        command.args(["-c", "export HOST_PID=$$; exec \"$@\"", "sh"]);
        for folder in [folder, self.host.home(), self.outside.path(), self.services.path(), copies.path(), &self.twin] {
            by.owns(folder);
        }
        by.owns(&self.shared);
        command.arg(direct.get_program()).args(direct.get_args()).env_clear();
        for (name, value) in direct.get_envs() {
            command.env(name, value.expect("none is removed"));
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        away_from_small_pids();
        let ended = self.host.end(by.starts(command));
        let results = std::fs::read_to_string(folder.join("results.json"));
        // On a machine that lacks a wall the host starts no program with `require`, and says so here.
        let results = results.unwrap_or_else(|error| panic!("the attacks did not run ({error}): {ended:?}"));
        let results: Vec<Value> = serde_json::from_str(&results).expect("it is JSON");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let ended = |result: &Value| Ended { succeeded: result["succeeded"] == true, said: text(&result["said"]) };
        let found: BTreeMap<_, _> = results.iter().map(|result| (text(&result["name"]), ended(result))).collect();
        assert_eq!(found.len(), attacks.len(), "each row has a name of its own");
        found
    }

    /// What no attack may change, each file with its content and its mode.
    fn kept(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let repository = self.host.repository();
        for root in [self.host.home(), self.outside.path(), self.services.path(), &self.twin] {
            picture(root, &mut found);
        }
        for path in [".git/hooks", ".git/config", ".git/commondir", ".bashrc", ".host"] {
            picture(&repository.join(path), &mut found);
        }
        picture(&self.shared, &mut found);
        // What the host itself writes while it runs.
        let own = ["/.cache", "/.config/host/history", "/.local/state/host/layers"];
        found.retain(|path, _| !own.iter().any(|own| path.contains(own)));
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.victim.kill().ok();
        self.victim.wait().ok();
        std::fs::remove_file(&self.shared).ok();
        std::fs::remove_dir_all(&self.twin).ok();
    }
}

/// Uses up the small ids of processes: in a namespace of its own a program has these, and would take its own process
/// for the victim.
fn away_from_small_pids() {
    const USED: u32 = 3_000;
    const NEEDED: u32 = 1_000;
    let number = |path: &str| {
        let text = std::fs::read_to_string(path).expect("read");
        text.split_whitespace().last().and_then(|word| word.parse::<u32>().ok()).expect("a number")
    };
    let most = number("/proc/sys/kernel/pid_max");
    while !(USED..most - NEEDED).contains(&number("/proc/loadavg")) {
        for _ in 0..100 {
            std::thread::spawn(|| ()).join().expect("it ends");
        }
    }
}

/// Answers everyone who connects.
fn tell<S: Read + Write>(streams: impl Iterator<Item = std::io::Result<S>>, answer: &str) {
    for mut stream in streams.flatten() {
        stream.write_all(answer.as_bytes()).ok();
    }
}

fn picture(path: &Path, found: &mut BTreeMap<String, String>) {
    let Ok(about) = std::fs::symlink_metadata(path) else { return };
    let mut text = format!("{:o}", about.permissions().mode());
    if about.is_symlink() {
        text += &format!(" to {}", std::fs::read_link(path).expect("read").display());
    } else if about.is_file() {
        text += &format!(" {} links {}", about.nlink(), String::from_utf8_lossy(&std::fs::read(path).expect("read")));
    } else if about.is_dir() {
        for entry in std::fs::read_dir(path).expect("read") {
            picture(&entry.expect("read").path(), found);
        }
    }
    found.insert(path.display().to_string(), text);
}

/// Tries each attack of a table behind the walls and without them, and reports each row that ended otherwise than it
/// must.
pub(super) fn check(table: &[Attack]) {
    let mut failures = Failures::default();
    let is_root = rustix::process::geteuid().is_root();
    for by in As::all() {
        let rows: Vec<&Attack> = table.iter().filter(|row| row.fits(is_root && *by == As::Oneself)).collect();
        let world = World::new();
        let attacks: Vec<(&str, How)> = rows.iter().map(|row| (row.name, row.how)).collect();
        let before = world.kept();
        let ended = world.run(&attacks, "require", *by);
        let after = world.kept();
        let changed: Vec<&String> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        failures.check(&format!("{by:?}: nothing is changed outside"), changed.is_empty(), &format!("{changed:?}"));
        for row in &rows {
            let name = format!("{by:?}: {}", row.name);
            let Some(Ended { succeeded, said }) = ended.get(row.name) else {
                failures.check(&name, false, "it was not tried");
                continue;
            };
            failures.check(&name, !said.contains(SECRET), &format!("it has the secret: {said}"));
            match row.outcome {
                Outcome::Refused(reason) => {
                    failures.check(&name, !succeeded, &format!("it succeeded: {said}"));
                    let is_explained = reason.split('|').any(|reason| said.contains(reason));
                    failures.check(&name, *succeeded || is_explained, &format!("not for `{reason}`: {said}"));
                }
                Outcome::Kept => {}
                Outcome::Undone(path) => {
                    let is_there = std::fs::symlink_metadata(world.host.repository().join(path)).is_ok();
                    failures.check(&name, !is_there, &format!("`{path}` is left: {said}"));
                }
            }
        }
    }
    let world = World::new();
    let controls: Vec<(&str, How)> = table.iter().filter_map(|row| Some((row.name, row.control(is_root)?))).collect();
    let ended = world.run(&controls, "off", As::Oneself);
    let mut unshown = Vec::new();
    for row in table {
        match (row.control(is_root), ended.get(row.name)) {
            (Some(_), Some(Ended { succeeded: true, .. })) => {}
            // The kernel has no such call; behind the walls it was closed before the kernel could say that.
            (Some(_), Some(Ended { said, .. })) if said.contains("[Errno 38]") => {
                unshown.push(format!("{} (not in this kernel)", row.name));
            }
            (Some(_), found) => failures.check(
                row.name,
                false,
                &format!("it does not work without the walls either, so it shows nothing: {found:?}"),
            ),
            (None, _) => match row.control {
                Control::Without(why) => unshown.push(format!("{} ({why})", row.name)),
                Control::Same | Control::Root | Control::Other(_) => unshown.push(format!("{} (needs root)", row.name)),
            },
        }
    }
    if !unshown.is_empty() {
        // Not by a macro, whose output a test that passes keeps to itself.
        let words = format!("\nNOT SHOWN to work without the walls: {}\n", unshown.join(", "));
        std::io::stderr().write_all(words.as_bytes()).expect("written");
    }
    failures.report(table.len());
}
