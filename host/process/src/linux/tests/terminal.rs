//! Programs on terminals of their own, and attacks from there on the terminal of the user.

use std::time::Duration;

use super::*;
use crate::TerminalSize;
use crate::terminal::{Opened, Terminal};

const SIZE: TerminalSize = TerminalSize { columns: 100, rows: 30 };

/// A program on a terminal, and what it printed there.
struct Run {
    process: Process,
    terminal: Terminal,
    printed: String,
}

impl Run {
    fn start(world: &World, script: &str, confinement: Option<&Confinement>) -> Self {
        let command = Command { input: Input::Terminal(SIZE), ..world.command(script) };
        let confinement = confinement.map(|confinement| (confinement, level()));
        let process = start_at(&command, confinement, None, None).expect("it starts");
        let terminal = process.terminal.clone().expect("it has one");
        Self { process, terminal, printed: String::new() }
    }

    /// Reads until this was printed.
    async fn sees(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.printed.contains(text) {
            let read = tokio::time::timeout(Duration::from_secs(60), self.terminal.read(&mut buffer)).await;
            let count = read.unwrap_or_else(|_| panic!("{text} did not come: {}", self.printed)).expect("read");
            assert!(count > 0, "it ended without {text}: {}", self.printed);
            self.printed.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    async fn types(&self, keys: &str) {
        self.terminal.write(keys.as_bytes()).await.expect("typed");
    }
}

/// Confined and not.
fn both(world: &World) -> [Option<Confinement>; 2] {
    level_of_tests();
    [None, Some(world.confinement())]
}

// promise tty.own: A program on a terminal has one of its own as its controlling terminal: keys and sizes reach it,
//   and what it prints.
#[tokio::test]
async fn program_on_a_terminal_leads_a_session_there_and_gets_its_keys_and_sizes() {
    let world = World::new();
    let script = "for fd in 0 1 2; do test -t $fd || echo no $fd; done; stty size; echo by name > /dev/tty; \
                  echo by path > /dev/stdout; head -n 1 < /dev/stdin; \
                  trap 'echo interrupted; exit 7' INT; trap 'stty size' WINCH; echo ready; \
                  while :; do read line && echo got $line; done";
    for confinement in both(&world) {
        let mut run = Run::start(&world, script, confinement.as_ref());
        run.sees("by path").await;
        assert!(run.printed.starts_with("30 100\r\nby name\r\nby path"), "{:?}", run.printed);
        run.types("typed\r").await;
        run.sees("ready").await;
        run.types("a line\r").await;
        run.sees("got a line").await;
        run.terminal.resize(TerminalSize { columns: 40, rows: 10 }).expect("it has another size");
        run.sees("10 40").await;
        run.types("\u{3}").await;
        run.sees("interrupted").await;
        assert_eq!(run.process.wait().await, Ended::Code(7), "{:?}", run.printed);
        // The end is an end, and no error.
        run.process.end();
        let mut rest = Vec::new();
        run.terminal.read_to_end(&mut rest).await.expect("it ends");
    }
}

// promise confine.files
#[tokio::test]
async fn confined_program_on_a_terminal_does_not_get_past_a_wall() {
    let wrong = try_cases(level_of_tests(), &[], Input::Terminal(SIZE)).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// promise tty.ends: A program on a terminal ends with everything that it started, whatever it does to get away.
#[tokio::test]
async fn program_on_a_terminal_ends_with_all_that_it_started() {
    let world = World::new();
    let script = "trap '' HUP TERM INT; (setsid sh -c 'trap \"\" HUP TERM; exec sleep 1031' &); \
                  (nohup sh -c 'exec sleep 1032' > /dev/null 2>&1 &); echo away; exec sleep 1033";
    for confinement in both(&world) {
        let mut run = Run::start(&world, script, confinement.as_ref());
        run.sees("away").await;
        let directory = world.path("work");
        let here = || {
            let all = fs::read_dir("/proc").expect("there").flatten();
            all.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory)).count()
        };
        assert!(here() >= 1, "they run");
        run.process.end();
        assert_eq!(here(), 0, "{confinement:?}");
    }
}

/// What a program tries on its own terminal with the user's in `USER`, and whether that needs root without walls.
const ATTACKS: &[(&str, &str, bool)] = &[
    ("prints on the user's terminal", "os.write(os.open(USER, os.O_WRONLY | os.O_NOCTTY), b'SEEN')", false),
    ("reads what the user types", "os.open(USER, os.O_RDONLY | os.O_NOCTTY)", false),
    ("types into the user's terminal", "fcntl.ioctl(os.open(USER, os.O_RDWR | os.O_NOCTTY), 0x5412, b'x')", true),
    ("types into its own terminal", "fcntl.ioctl(0, 0x5412, b'x')", true),
    ("types by a request with more bits", "long(0x100005412, b'x')", true),
    ("changes how its terminal reads lines", "fcntl.ioctl(0, 0x5423, struct.pack('i', 0))", false),
    (
        "takes the user's terminal for its own",
        "pid = os.fork()\nif pid: sys.exit(os.waitpid(pid, 0)[1] != 0)\nos.setsid()\n\
         fcntl.ioctl(os.open(USER, os.O_RDWR | os.O_NOCTTY), 0x540E, 0)",
        false,
    ),
    (
        "finds another terminal among the descriptors",
        "for fd in range(3, 256):\n  try: fcntl.ioctl(fd, 0x5401, bytes(64)); sys.exit(0)\n  except OSError: pass\n\
         os.open(USER, os.O_RDWR | os.O_NOCTTY)",
        false,
    ),
];

const BEFORE: &str = "import ctypes, fcntl, os, struct, sys\nUSER = sys.argv[1]\n\
    def long(request, value):\n  if ctypes.CDLL(None, use_errno=True).ioctl(0, ctypes.c_ulong(request), value) < 0:\n    \
    raise OSError(ctypes.get_errno(), 'ioctl')\n";

// promise tty.user: A confined program, on a terminal of its own or not, neither prints on the user's terminal, nor
//   reads there, nor types into it.
#[tokio::test]
async fn confined_program_on_a_terminal_does_not_get_past_a_wall_to_that_of_the_user() {
    level_of_tests();
    let Opened { theirs: user, path, ours } = Terminal::open(SIZE).expect("a terminal");
    let is_root = rustix::process::geteuid().is_root();
    for (what, attack, needs_root) in ATTACKS {
        let world = World::new();
        fs::write(world.path("work/attack.py"), format!("{BEFORE}{attack}\n")).expect("written");
        let script = format!("exec python3 attack.py {}", path.display());
        for input in [Input::Terminal(SIZE), Input::Empty] {
            // What is done to its own terminal needs one.
            if input == Input::Empty && !attack.contains("USER") {
                continue;
            }
            let command = Command { input, ..world.command(&script) };
            let (ended, text) = world.run_with(command, Some(&world.confinement()), level()).await;
            let is_refused = text.contains("PermissionError") || text.contains("FileNotFoundError");
            assert!(ended != Ended::Code(0) && is_refused, "{what} {input:?}: {ended:?} {text}");
        }
        if is_root || !needs_root {
            let command = Command { input: Input::Terminal(SIZE), ..world.command(&script) };
            let (ended, text) = world.run_with(command, None, level()).await;
            assert_eq!(ended, Ended::Code(0), "{what}: without walls it shows nothing: {text}");
        }
    }
    drop((user, ours));
}
