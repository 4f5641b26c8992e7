//! Programs under confinement: each row of a table tries to get past a wall.

mod session;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, WaitOptions, pidfd_open, waitpid};
use tokio::io::AsyncReadExt;

use super::*;
use crate::{Missing, NotConnected, Wall};

mod hidden;
mod layers;
mod limits;
mod terminal;
mod tmp;

/// A home with secrets, a workspace with a repository in it, and a folder for temporary files.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// One outside of `/tmp`, which a program sees as it is.
    fn new() -> Self {
        Self::beneath("/var/tmp")
    }

    fn beneath(place: &str) -> Self {
        let folder = tempfile::tempdir_in(place).expect("a folder");
        let root = folder.path();
        for path in ["home/.ssh", "work/.git/hooks", "work/.git/objects", "work/src", "tmp", "other"] {
            fs::create_dir_all(root.join(path)).expect("made");
        }
        for (path, text) in [
            ("home/.ssh/id", "SECRET"),
            ("other/file", "SECRET"),
            ("work/file", "mine"),
            ("work/.git/config", "[core]"),
            ("work/.git/hooks/sample", "#"),
        ] {
            fs::write(root.join(path), text).expect("written");
        }
        symlink(root.join("home/.ssh/id"), root.join("work/link")).expect("linked");
        symlink(root.join("home/.ssh"), root.join("work/folder")).expect("linked");
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("there").join(path)
    }

    fn confinement(&self) -> Confinement {
        let system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/sys"];
        Confinement {
            readable: system.map(PathBuf::from).to_vec(),
            writable: vec![self.path("work")],
            protected: ["work/.git/hooks", "work/.git/config", "work/.host"].map(|path| self.path(path)).to_vec(),
            temporary: Some(self.path("tmp")),
            ..Confinement::default()
        }
    }

    fn command(&self, script: &str) -> Command {
        let (root, host) = (self.path(""), std::process::id().to_string());
        let environment =
            [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("R", root.to_str().expect("text")), ("HOST", &host)];
        Command {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            directory: self.path("work"),
            environment: environment.map(|(name, value)| (name.into(), value.into())).to_vec(),
            input: Input::Empty,
        }
    }

    /// Runs a script, and returns its end and all that it printed.
    async fn run(&self, script: &str, confinement: Option<&Confinement>) -> (Ended, String) {
        self.run_at(script, confinement, level()).await
    }

    /// The same on a machine of this level.
    async fn run_at(&self, script: &str, confinement: Option<&Confinement>, level: &Level) -> (Ended, String) {
        self.run_with(self.command(script), confinement, level).await
    }

    async fn run_with(&self, command: Command, confinement: Option<&Confinement>, level: &Level) -> (Ended, String) {
        let confinement = confinement.map(|confinement| (confinement, level));
        let mut process = start_at(&command, confinement, None, None).expect("it starts");
        let ended = process.wait().await;
        process.end();
        let mut text = String::new();
        for stream in [&mut process.output, &mut process.errors].into_iter().filter_map(Option::take) {
            std::pin::pin!(stream).read_to_string(&mut text).await.expect("text");
        }
        if let Some(mut terminal) = process.terminal.take() {
            terminal.read_to_string(&mut text).await.expect("text");
        }
        (ended, text)
    }
}

fn level_of_tests() -> &'static Level {
    let level = level();
    assert!(level.is_whole(), "these tests need a machine with all walls; it lacks {:?}", level.missing());
    level
}

/// What is done, the script, and whether it works: in each case it does without a confinement.
const CASES: &[(&str, &str, bool)] = &[
    ("reads its workspace", "cat file", true),
    ("writes its workspace", "echo x > new && mkdir d && mv new d/y && rm -r d", true),
    ("writes what it may of a repository", "echo x > .git/index && mkdir .git/objects/aa && rm .git/index", true),
    ("writes temporary files", "f=$(mktemp) && echo x > $f && cat $f && rm $f", true),
    ("uses the null device", "echo x > /dev/null && head -c 4 /dev/urandom > /dev/null", true),
    ("starts programs", "ls /usr > /dev/null && sh -c 'exit 0'", true),
    ("uses pipes and jobs", "(sleep 0.01; echo a) | cat & wait", true),
    ("reads a secret", "cat $R/home/.ssh/id", false),
    ("reads a secret through a link", "cat link", false),
    ("reads a secret through a linked folder", "cat folder/id", false),
    ("reads a secret by the way up", "cat ../home/.ssh/id", false),
    ("reads a secret by the root of a process", "cat /proc/self/root$R/home/.ssh/id", false),
    ("reads a secret by the folder of a process", "cat /proc/self/cwd/../home/.ssh/id", false),
    ("lists a folder of secrets", "ls $R/home/.ssh", false),
    ("links a secret into its workspace", "ln $R/home/.ssh/id stolen && cat stolen", false),
    ("reads another project", "cat $R/other/file", false),
    ("writes another project", "echo x > $R/other/new", false),
    ("changes another project", "echo x >> $R/other/file", false),
    ("empties a file elsewhere", "truncate -s 0 $R/other/file", false),
    ("empties a file through a link", ": > link", false),
    ("removes a file elsewhere", "rm -f $R/other/file && test ! -e $R/other/file", false),
    ("moves a file out", "mv file $R/other/moved", false),
    ("moves a file in", "mv $R/other/file in", false),
    ("changes modes elsewhere", "chmod 777 $R/other/file && test $(stat -c %a $R/other/file) = 777", false),
    ("writes the system", "echo x > /etc/host-test-file", false),
    ("writes beside its workspace", "echo x > ../new", false),
    ("writes a hook", "echo x > .git/hooks/pre-commit", false),
    ("changes a hook", "echo x >> .git/hooks/sample", false),
    ("renames a hook", "mv .git/hooks/sample .git/hooks/pre-commit", false),
    ("replaces the hooks", "mv .git/hooks .git/old && mkdir .git/hooks", false),
    ("removes the hooks", "rm -rf .git/hooks && test ! -e .git/hooks", false),
    ("replaces the repository", "mv .git old && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", false),
    ("changes the settings of git", "echo x >> .git/config", false),
    ("replaces the settings of git", "echo x > .git/c && mv -f .git/c .git/config", false),
    ("mounts over the hooks", "mkdir m && mount --bind m .git/hooks && echo x > .git/hooks/pre-commit", false),
    ("takes away a mount", "umount .git/hooks", false),
    ("makes namespaces of its own", "unshare -Urm true", false),
    ("makes a device", "mknod d c 1 1 && head -c 1 d", false),
    ("reads the memory of its host", ": < /proc/$HOST/mem", false),
    ("reads the environment of its host", "cat /proc/$HOST/environ", false),
    ("signals its host", "kill -0 $HOST", false),
    ("sees the processes of its host", "test -d /proc/$HOST", false),
    ("changes the kernel's settings", "cat /proc/sys/vm/swappiness | tee /proc/sys/vm/swappiness", false),
    ("reaches this machine", "exec 3<>/dev/tcp/127.0.0.1/$PORT", false),
];

/// One word of a shell that is this text.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Tries all cases at a level, with this as their input; returns those that end differently than they should.
async fn try_cases(level: &Level, differences: &[&str], input: Input) -> Vec<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let mut wrong = Vec::new();
    for (what, script, works) in CASES {
        let works = *works != differences.contains(what);
        let world = World::new();
        // Redirections to sockets are bash's.
        let script = format!("PORT={port}; export PORT; bash -c {}", quoted(script));
        // What it mounts would outlive the test where root runs it, and the folder could not be removed.
        let alone = match rustix::process::geteuid().is_root() && script.contains("mount") {
            true => format!("unshare -m sh -c {}", quoted(&script)),
            false => script.clone(),
        };
        let (free, text) = world.run(&alone, None).await;
        let needs_root = ["unshare", "mount", "mknod", "/etc/", "/proc/sys"].iter().any(|text| script.contains(text));
        if free != Ended::Code(0) && !needs_root {
            wrong.push(format!("{what}: fails without a confinement, so it shows nothing: {free:?} {text}"));
        }
        let world = World::new();
        let command = Command { input, ..world.command(&script) };
        let (ended, text) = world.run_with(command, Some(&world.confinement()), level).await;
        if (ended == Ended::Code(0)) != works {
            wrong.push(format!("{what}: {ended:?} {text}"));
        }
        if text.contains("SECRET") {
            wrong.push(format!("{what}: {text}"));
        }
    }
    wrong
}

// promise confine.files: A confined program reads the system, the toolchains and the workspace, and changes the
//   workspace and its temporary folder; not what git, shells or the host obey in it.
#[tokio::test]
async fn confined_programs_do_their_work_and_do_not_get_past_a_wall() {
    let wrong = try_cases(level_of_tests(), &[], Input::Empty).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// promise confine.files
#[tokio::test]
async fn confined_program_reads_what_took_the_place_of_a_readable_folder_and_not_what_was_there() {
    let world = World::new();
    let (place, aside) = (world.path("given"), world.path("aside"));
    fs::create_dir(&place).expect("made");
    let mut confinement = world.confinement();
    confinement.readable.push(place.clone());
    // A later one may get the ruleset that was made while an earlier one ran.
    for round in 0..4 {
        fs::write(place.join("file"), format!("round {round}")).expect("written");
        let (ended, text) = world.run("cat \"$R/given/file\"; cat \"$R/aside/file\"", Some(&confinement)).await;
        assert!(ended != Ended::Code(0) && text.starts_with(&format!("round {round}cat:")), "{ended:?} {text}");
        fs::remove_dir_all(&aside).ok();
        fs::rename(&place, &aside).expect("moved");
        fs::create_dir(&place).expect("made");
    }
}

// promise confine.files
#[tokio::test]
async fn confined_programs_do_not_get_past_a_wall_without_namespaces() {
    let level = level_of_tests().without_namespaces();
    assert!(!level.is_whole());
    // What cannot be new at the top of a folder, and what `level.missing()` says.
    let differences = [
        "writes its workspace",
        "writes what it may of a repository",
        "changes modes elsewhere",
        "sees the processes of its host",
    ];
    let wrong = try_cases(&level, &differences, Input::Empty).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// promise confine.files
/// The tests above once more as a user without privileges, whose namespaces need one for users.
#[test]
fn confined_programs_of_a_user_without_privileges_do_not_get_past_a_wall() {
    const AGAIN: &str = "HOST_PROCESS_TESTS_WITHOUT_PRIVILEGES";
    if !rustix::process::geteuid().is_root() || std::env::var_os(AGAIN).is_some() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("set");
    let tests = folder.path().join("tests");
    // By another process: a file that is still open for writing in a guard of another test cannot be run.
    let copied = std::process::Command::new("cp").arg(std::env::current_exe().expect("known")).arg(&tests).status();
    assert!(copied.expect("cp runs").success());
    let ended = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
        .arg(&tests)
        .arg("linux::tests::")
        .env(AGAIN, "1")
        .env("TMPDIR", folder.path())
        .output()
        .expect("setpriv runs");
    let (text, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    let is_ok = ended.status.success() && text.contains("get_past_a_wall_without_namespaces ... ok");
    assert!(is_ok, "{}\n{text}{errors}", ended.status);
}

#[test]
fn clone_closes_what_it_does_not_use_before_all_else() {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let ((used, used_out), (other, other_out)) = (pipe(), pipe());
    let kept = descriptors::KeptDescriptors::new([used_out.as_raw_fd()]);
    let clone = child::cloned(0, &kept, || {
        loop {
            // SAFETY: a system call without pointers.
            unsafe { libc::pause() };
        }
    });
    let clone = clone.expect("cloned");
    drop((used_out, other_out));
    let closes = |pipe: &OwnedFd, seconds| {
        let patience = rustix::event::Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&patience)).expect("looked at") == 1
    };
    let (other_closes, used_closes) = (closes(&other, 60), closes(&used, 0));
    child::end(clone);
    assert!(other_closes, "it keeps what it does not use");
    assert!(!used_closes, "it closed what it uses");
    assert!(closes(&used, 60));
}

// The standard input of a host can be a socket, whose other end would read what a guard writes there.
#[test]
fn guard_whose_report_is_not_wanted_writes_nothing() {
    const AS_HOST: &str = "HOST_PROCESS_TESTS_AS_HOST";
    if std::env::var_os(AS_HOST).is_some() {
        let walls = Walls::new(&Confinement::default(), level().means(), None).expect("they can be put up");
        Plan { image: None, walls: Some(&walls), door: None }.start().expect("it starts");
        // From now on only the guard could hold the socket.
        let nothing = File::open("/dev/null").expect("there");
        // SAFETY: a system call on two open files.
        assert_eq!(unsafe { libc::dup2(nothing.as_raw_fd(), 0) }, 0);
        loop {
            std::thread::park();
        }
    }
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a socket");
    let mut command = std::process::Command::new(std::env::current_exe().expect("known"));
    command.args(["--exact", "linux::tests::guard_whose_report_is_not_wanted_writes_nothing", "--nocapture"]);
    let mut host = command
        .env(AS_HOST, "1")
        .stdin(OwnedFd::from(theirs))
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("this program runs");
    drop(command);
    let mut heard = [0; 64];
    let length = std::io::Read::read(&mut ours, &mut heard).expect("nothing, or what was written");
    host.kill().expect("it waits");
    host.wait().expect("it was killed");
    assert_eq!(heard.get(..length), Some(&[][..]));
}

// promise confine.files
#[tokio::test]
async fn confined_program_does_not_replace_a_link_to_what_is_protected() {
    let level = level_of_tests();
    for level in [level, &level.without_namespaces()] {
        let world = World::new();
        fs::rename(world.path("work/.git"), world.path("other/git")).expect("moved");
        symlink(world.path("other/git"), world.path("work/.git")).expect("linked");
        let script = "rm .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x > src/new && echo done";
        let (_, text) = world.run_at(script, Some(&world.confinement()), level).await;
        assert!(text.starts_with("done\n"), "{text}");
        assert!(fs::symlink_metadata(world.path("work/.git")).expect("there").is_symlink(), "{text}");
        assert!(!world.path("other/git/hooks/pre-commit").exists(), "{text}");
    }
}

/// Ways to leave a file that gives others the rights of this user or group. Each works without walls.
const SET_ID: &[&str] = &[
    "chmod 4755 file",
    "chmod g+s file",
    "install -m 4755 file new",
    "mkdir d; chmod g+s d; cp file d/file; chmod u+s d/file",
    "python3 -c 'import os; os.close(os.open(\"new\", os.O_CREAT | os.O_WRONLY, 0o4755))'",
    "python3 -c 'import os; os.close(os.open(\"new\", os.O_CREAT | os.O_EXCL, 0o2755))'",
    "python3 -c 'import ctypes, os
f = os.open(\".\", os.O_TMPFILE | os.O_RDWR, 0o4755)
ctypes.CDLL(None).linkat(-100, f\"/proc/self/fd/{f}\".encode(), -100, b\"new\", 0x400)'",
    "python3 -c 'import os; os.mknod(\"new\", 0o104755)'",
    "python3 -c 'import os; os.fchmod(os.open(\"file\", os.O_RDWR), 0o6755)'",
    // The calls that no library makes: `fchmodat2`, and `openat2` with a structure of flags, mode and restrictions.
    "python3 -c 'import ctypes; ctypes.CDLL(None).syscall(452, -100, b\"file\", 0o4755, 0)'",
    "python3 -c 'import ctypes, os, struct
ctypes.CDLL(None).syscall(437, -100, b\"new\", struct.pack(\"QQQ\", os.O_CREAT | os.O_RDWR, 0o4755, 0), 24)'",
    #[cfg(target_arch = "x86_64")]
    "python3 -c 'import ctypes; c = ctypes.CDLL(None); c.syscall(85, b\"new\", 0o4755); c.syscall(90, b\"new\", 0o2755)'",
];

// promise confine.files
#[tokio::test]
async fn confined_program_does_not_get_past_a_wall_by_leaving_the_rights_of_its_user() {
    let level = level_of_tests();
    for level in [level, &level.without_namespaces()] {
        for script in SET_ID {
            let left = async |confined: bool| {
                let world = World::new();
                fs::create_dir(world.path("work/deep")).expect("made");
                fs::write(world.path("work/deep/file"), "mine").expect("written");
                // Without namespaces nothing new can be made beside what is protected.
                let script = format!("cd deep; {script}");
                let confinement = confined.then(|| world.confinement());
                let (_, text) = world.run_at(&script, confinement.as_ref(), level).await;
                let all = walk(&world.path("work/deep"));
                (all.into_iter().any(|(mode, is_folder)| !is_folder && mode & 0o6000 != 0), text)
            };
            let (works, text) = left(false).await;
            assert!(works, "{script}: leaves nothing without a confinement, so it shows nothing: {text}");
            let (got_past, text) = left(true).await;
            assert!(!got_past, "{script}: {text}");
        }
    }
}

/// The modes of all that is in a folder, and whether it is a folder.
fn walk(folder: &Path) -> Vec<(u32, bool)> {
    let entries = fs::read_dir(folder).expect("listed").map(|entry| entry.expect("there").path());
    entries
        .flat_map(|path| {
            let about = fs::symlink_metadata(&path).expect("there");
            let inner = if about.is_dir() { walk(&path) } else { Vec::new() };
            inner.into_iter().chain([(about.permissions().mode(), about.is_dir())])
        })
        .collect()
}

#[tokio::test]
async fn confined_program_works_in_a_folder_whose_group_is_inherited() {
    level_of_tests();
    let world = World::new();
    let (shared, tool) = (world.path("work/shared"), world.path("work/tool"));
    fs::create_dir(&shared).expect("made");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o2775)).expect("set");
    fs::write(&tool, "#").expect("written");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o6755)).expect("set");
    let script = "mkdir shared/d && test -g shared/d && echo x > shared/d/f && chmod 644 shared/d/f && echo x >> tool";
    let (ended, text) = world.run(script, Some(&world.confinement())).await;
    assert_eq!(ended, Ended::Code(0), "{text}");
    // What a program writes into a file that gives such rights does not get them.
    assert_eq!(fs::metadata(&tool).expect("there").permissions().mode() & 0o7777, 0o755);
}

// promise confine.network: A confined program reaches no address outside itself and no socket of this machine.
#[tokio::test]
async fn confined_program_has_a_network_of_its_own() {
    level_of_tests();
    let script = "python3 -c '
import socket, threading
server = socket.create_server((\"127.0.0.1\", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].send(b\"hello\")
print(client.recv(9).decode())
for family, kind in ((socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_DGRAM)):
    try:
        socket.socket(family, kind); print(\"socket\")
    except PermissionError: pass
socket.socketpair()
try:
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print(\"datagrams\")
except PermissionError: pass
try:
    socket.create_connection((\"192.0.2.1\", 9), 1); print(\"reached\")
except OSError as error: print(error.strerror)
'";
    let world = World::new();
    let (ended, text) = world.run(script, Some(&world.confinement())).await;
    assert_eq!((ended, text.as_str()), (Ended::Code(0), "hello\nNetwork is unreachable\n"));
}

// promise confine.proxy
#[tokio::test]
async fn confined_program_reaches_a_server_through_the_proxy_alone() {
    level_of_tests();
    let upstream = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = upstream.local_addr().expect("bound");
    let network = Network::new(std::sync::Arc::new(move |asked: crate::Server| -> crate::Connecting {
        Box::pin(async move {
            match asked.to_string().as_str() {
                "allowed.example:80" => tokio::net::TcpStream::connect(address)
                    .await
                    .map_err(|error| NotConnected::Unreachable(error.to_string())),
                other => Err(NotConnected::Denied(format!("`{other}` is not allowed"))),
            }
        })
    }));
    let world = World::new();
    let ask = "exec 3<>/dev/tcp/127.0.0.1/3128; printf \"$1\" >&3; cat <&3\n";
    fs::write(world.path("work/ask"), ask).expect("written");
    let script = format!(
        r"env | grep -i _proxy | sort | head -n 1
        bash ask 'GET http://allowed.example/ HTTP/1.1\r\n\r\n'
        bash ask 'CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n'",
        address.port()
    );
    let mut process = start(&world.command(&script), Some(&world.confinement()), Some(network)).expect("it starts");
    let mut stream = tokio::select! {
        accepted = upstream.accept() => accepted.expect("it connects").0,
        ended = process.wait() => panic!("it ended before it connected: {ended:?}"),
    };
    let mut request = [0; 1024];
    let count = stream.read(&mut request).await.expect("read");
    assert!(request[..count].starts_with(b"GET / HTTP/1.1\r\nHost: allowed.example\r\n"));
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\nhello\n").await.expect("written");
    drop(stream);
    assert_eq!(process.wait().await, Ended::Code(0));
    let mut text = String::new();
    process.output.take().expect("taken once").read_to_string(&mut text).await.expect("text");
    assert!(text.starts_with("ALL_PROXY=socks5h://127.0.0.1:3128\nHTTP/1.1 200 OK\r\n\r\nhello\n"), "{text}");
    assert!(text.contains("403 Forbidden") && text.ends_with("is not allowed\n"), "{text}");
}

/// When the process of this number was started; `None` if there is none. The system uses a number again.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The 22nd field; the name, which is the second, may contain anything.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

// promise process.ends
#[tokio::test]
async fn process_ends_with_everything_that_it_started() {
    level_of_tests();
    let world = World::new();
    let confinement = world.confinement();
    // A daemon in a session of its own, without a variable of its parents, with its output closed.
    let script = "setsid env -i /bin/sh -c 'exec >&- 2>&- <&-; (sleep 987654 & sleep 987655) & >ready; sleep 987656' & \
                  until [ -e ready ]; do :; done; rm ready";
    for confinement in [None, Some(&confinement)] {
        let mut process = start(&world.command(script), confinement, None).expect("it starts");
        assert_eq!(process.wait().await, Ended::Code(0));
        let running: Vec<_> = process.pids().into_iter().map(|pid| (pid, started(pid))).collect();
        assert!(!running.is_empty());
        process.end();
        assert_eq!(process.pids(), [] as [u32; 0]);
        for (pid, before) in running {
            assert!(before.is_some(), "{pid} ended by itself");
            assert_ne!(started(pid), before, "{pid} is left");
        }
    }
}

#[tokio::test]
async fn process_that_is_dropped_leaves_nothing_behind() {
    let world = World::new();
    let process = start(&world.command("sleep 987657 & sleep 987658"), None, None).expect("it starts");
    let guard = process.guard.expect("it runs");
    let before = started(guard.as_raw_pid().unsigned_abs());
    assert!(before.is_some());
    drop(process);
    assert!(tree::beneath(guard).is_empty());
    assert_ne!(started(guard.as_raw_pid().unsigned_abs()), before, "it is left");
}

/// Whether a child of this process is no more, not even as one whose end nobody has asked for.
fn is_reaped(child: Pid) -> bool {
    waitpid(Some(child), WaitOptions::NOHANG).is_err_and(|error| error == Errno::CHILD)
}

#[tokio::test]
async fn guard_ends_with_its_program_and_is_reaped_beside_what_follows() {
    let world = World::new();
    let confinement = world.confinement();
    let patience = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
    for confinement in [None, Some(&confinement)] {
        let mut process = start(&world.command("exit 7"), confinement, None).expect("it starts");
        let guard = process.guard.expect("it runs");
        let ends = pidfd_open(guard, PidfdFlags::empty()).expect("it is there");
        assert_eq!(process.wait().await, Ended::Code(7));
        let ended = poll(&mut [PollFd::new(&ends, PollFlags::IN)], Some(&patience));
        assert_eq!(ended, Ok(1), "the guard of a program of which nothing is left lives on");
        process.end();
        ending::wait();
        assert!(is_reaped(guard), "it was not reaped");

        // With something left it lives on, and its end is waited for.
        let mut process = start(&world.command("sleep 987659 &"), confinement, None).expect("it starts");
        let guard = process.guard.expect("it runs");
        assert_eq!(process.wait().await, Ended::Code(0));
        assert_eq!(process.pids().len(), 1);
        process.end();
        assert!(is_reaped(guard), "it was not reaped");
    }
}

#[tokio::test]
async fn process_reports_how_it_ended() {
    let world = World::new();
    let confinement = world.confinement();
    for confinement in [None, Some(&confinement)] {
        assert_eq!(world.run("exit 7", confinement).await.0, Ended::Code(7));
        assert_eq!(world.run("kill -9 $$", confinement).await.0, Ended::Signal(9));
        assert_eq!(world.run("kill -15 $$", confinement).await.0, Ended::Signal(15));
        let (ended, text) = world.run("trap 'echo asked; exit 3' TERM; kill -15 $$", confinement).await;
        assert_eq!((ended, text.as_str()), (Ended::Code(3), "asked\n"));
    }
    let mut process = start(&world.command("trap 'exit 4' TERM; echo on; while :; do sleep 0.01; done"), None, None)
        .expect("it starts");
    let mut output = process.output.take().expect("taken once");
    output.read_exact(&mut [0; 3]).await.expect("it runs");
    process.terminate();
    assert_eq!(process.wait().await, Ended::Code(4));
}

// promise process.inherits: A program inherits no descriptor of the host and no ignored or blocked signal.
#[tokio::test]
async fn process_inherits_nothing_of_the_host() {
    let world = World::new();
    let confinement = world.confinement();
    let open = fs::File::open("/etc/passwd").expect("opened");
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).expect("inheritable");
    for confinement in [None, Some(&confinement)] {
        let (_, text) =
            world.run("ls /proc/self/fd; env; grep -E 'SigBlk|SigIgn' /proc/self/status", confinement).await;
        let (descriptors, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.parse::<u32>().is_ok());
        // The fourth is that of `ls` itself.
        assert_eq!(descriptors, ["0", "1", "2", "3"]);
        let variables: BTreeMap<_, _> = rest.iter().filter_map(|line| line.split_once('=')).collect();
        assert!(
            variables.keys().all(|name| ["PATH", "R", "HOST", "PWD", "TMPDIR", "SHLVL", "_", "OLDPWD"].contains(name)),
            "{variables:?}"
        );
        let signals: Vec<_> = rest.iter().filter(|line| line.starts_with("Sig")).collect();
        assert_eq!(signals, [&"SigBlk:\t0000000000000000", &"SigIgn:\t0000000000000000"]);
    }
}

#[tokio::test]
async fn program_that_cannot_start_is_reported_and_leaves_nothing() {
    let world = World::new();
    fs::write(world.path("work/text"), "echo \"$0 $1\"").expect("written");
    fs::write(world.path("work/not"), "echo").expect("written");
    fs::set_permissions(world.path("work/text"), fs::Permissions::from_mode(0o755)).expect("set");
    let command =
        |program: &str| Command { program: program.into(), arguments: vec!["a b".into()], ..world.command("") };
    let confinement = world.confinement();
    for confinement in [None, Some(&confinement)] {
        for missing in ["no-such-program", "./no-such-program", ""] {
            assert!(matches!(start(&command(missing), confinement, None), Err(StartError::NotFound)), "{missing}");
        }
        let nowhere = Command { directory: world.path("nowhere"), ..command("true") };
        assert!(matches!(start(&nowhere, confinement, None), Err(StartError::NotFound)));
        let error = start(&command("./not"), confinement, None).expect_err("it is not executable").to_string();
        assert_eq!(error, "exec: Permission denied (os error 13)");
        assert!(matches!(start(&command("a\0b"), confinement, None), Err(StartError::Invalid)));
        // A script without `#!` is run by a shell, as `execvp` does it.
        let mut process = start(&command("./text"), confinement, None).expect("it starts");
        let mut text = String::new();
        process.output.take().expect("taken once").read_to_string(&mut text).await.expect("text");
        assert_eq!(text, "./text a b\n");
    }
}

// promise confine.level: What a machine cannot do to confine programs is named; with `require` programs do not run
//   then.
#[test]
fn level_names_each_missing_wall() {
    let level = level_of_tests();
    // As root, a kernel can lack a limit of processes that is the program's own.
    let is_gap = |missing: &Missing| missing.is_covered && matches!(missing.wall, Wall::Calls | Wall::Processes);
    assert!(level.missing().iter().all(is_gap));
}
