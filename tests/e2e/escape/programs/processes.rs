//! Other processes: those of the user, the host, and the guard above the program, which is a copy of the host's
//! process.

use super::world::check;
use super::{Attack, Control, How, python, shell};

const GONE: &str = "No such process|No such file|Permission denied|not permitted";

/// Reads a secret out of the memory of a process.
const MEMORY: How = How::Python(
    "maps = open(f'/proc/{VICTIM}/maps').read()\nmem = open(f'/proc/{VICTIM}/mem', 'rb', 0)\n\
     stack = next(line for line in maps.splitlines() if '[stack]' in line).split()[0].split('-')\n\
     a, b = (int(x, 16) for x in stack)\nmem.seek(a)\nassert b'SECRET-OF' in mem.read(b - a)",
);

/// The control of an attack on the guard, which is a process of the user like the victim.
const fn guard(name: &'static str, script: &'static str, control: &'static str) -> Attack {
    shell(name, script, "Permission denied|not permitted|cannot").controlled(Control::Other(How::Shell(control)))
}

const ROWS: &[Attack] = &[
    shell("environment of a process", "tr '\\0' '\\n' < /proc/$VICTIM/environ | grep SECRET", "No such file"),
    Attack { how: MEMORY, ..python("memory of a process", "", "No such file").controlled(Control::Root) },
    shell("command line of a process", "grep -q escape-victim /proc/$VICTIM/cmdline", "No such file"),
    shell("root of a process", "ls /proc/$VICTIM/root/", "cannot"),
    shell("working folder of a process", "ls /proc/$VICTIM/cwd/", "cannot"),
    shell("descriptors of a process", "ls /proc/$VICTIM/fd/ | grep 0", "cannot"),
    shell("maps of a process", "head -n 1 /proc/$VICTIM/maps | grep -", "No such file|cannot open"),
    shell(
        "all processes of this machine",
        "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep '[e]scape-victim' || { echo none; exit 1; }",
        "none",
    ),
    shell("a signal", "grep -q escape-victim /proc/$VICTIM/cmdline && kill -0 $VICTIM", GONE),
    shell(
        "a signal to all",
        "kill -CONT -1 && grep -l '[e]scape-victim' /proc/[0-9]*/cmdline || { echo none; exit 1; }",
        "none",
    )
    .controlled(Control::Other(How::Shell("kill -CONT $VICTIM"))),
    python(
        "tracing a process",
        "call('ptrace', 16, int(VICTIM), 0, 0)\nos.waitpid(int(VICTIM), 0)\ncall('ptrace', 17, int(VICTIM), \
             0, 0)",
        GONE,
    )
    .controlled(Control::Root),
    python("seizing a process", "call('ptrace', 0x4206, int(VICTIM), 0, 0)", GONE).controlled(Control::Root),
    python(
        "memory of a process by a call",
        "b = ctypes.create_string_buffer(8)\niov = struct.pack('QQ', ctypes.addressof(b), \
             8)\nreached('process_vm_readv', int(VICTIM), iov, 1, iov, 1, 0)",
        GONE,
    )
    .controlled(Control::Root),
    python(
        "writing into a process by a call",
        "b = ctypes.create_string_buffer(8)\niov = struct.pack('QQ', ctypes.addressof(b), \
             0)\nreached('process_vm_writev', int(VICTIM), iov, 1, iov, 1, 0)",
        GONE,
    )
    .controlled(Control::Root),
    python("a handle of a process", "os.close(os.pidfd_open(int(VICTIM)))", GONE),
    python("a descriptor of a process", "fd = os.pidfd_open(int(VICTIM))\ncall('pidfd_getfd', fd, 0, 0)", GONE)
        .controlled(Control::Root),
    python(
        "a descriptor of its own process",
        "fd = os.pidfd_open(os.getpid())\ncall('pidfd_getfd', fd, 1, 0)",
        "not permitted",
    ),
    python("limits of a process", "resource.prlimit(int(VICTIM), resource.RLIMIT_NOFILE)", GONE),
    python("priority of a process", "os.setpriority(os.PRIO_PROCESS, int(VICTIM), 1)", GONE),
    python("processors of a process", "os.sched_setaffinity(int(VICTIM), os.sched_getaffinity(int(VICTIM)))", GONE),
    shell(
        "environment of the host",
        "tr '\\0' '\\n' < /proc/$HOST_PID/environ | grep HOST",
        "No such file|Permission denied",
    )
    .controlled(Control::Root),
    shell("memory of the host", ": < /proc/$HOST_PID/mem", "No such file|Permission denied").controlled(Control::Root),
    shell(
        "a stop of the host",
        "kill -0 $HOST_PID && grep -q host /proc/$HOST_PID/comm",
        "No such process|cannot|No such file",
    ),
    guard(
        "environment of the guard",
        "head -c 1 /proc/1/environ | grep -q ''",
        "head -c 1 /proc/$VICTIM/environ | grep -q ''",
    ),
    guard("memory of the guard", ": < /proc/1/mem", ": < /proc/$VICTIM/mem"),
    guard("maps of the guard", "head -n 1 /proc/1/maps | grep -", "head -n 1 /proc/$VICTIM/maps | grep -"),
    guard("root of the guard", "ls /proc/1/root/", "ls /proc/$VICTIM/root/"),
    guard("working folder of the guard", "ls /proc/1/cwd/", "ls /proc/$VICTIM/cwd/"),
    guard("descriptors of the guard", "ls -l /proc/1/fd/0 && : < /proc/1/fd/0", "ls -l /proc/$VICTIM/fd/0"),
    guard("namespaces of the guard", "readlink -v /proc/1/ns/mnt", "readlink /proc/$VICTIM/ns/mnt"),
    python("tracing the guard", "call('ptrace', 16, 1, 0, 0)", GONE).controlled(Control::Other(How::Python(
        "call('ptrace', 16, int(VICTIM), 0, 0)\nos.waitpid(int(VICTIM), 0)\ncall('ptrace', 17, int(VICTIM), 0, 0)",
    ))),
    python("an end of the guard", "os.kill(1, 9)", "not permitted")
        .controlled(Control::Other(How::Python("os.kill(int(VICTIM), 0)"))),
    shell("descriptors that were left open", "ls /proc/self/fd | grep -vE '^[0-3]$' || { echo none; exit 1; }", "none")
        .controlled(Control::Other(How::Shell("exec 7< /etc/passwd; ls /proc/self/fd | grep -vE '^[0-3]$'"))),
];

// promise confine.processes: A confined program sees, signals and reads no process but its own, nor the one above it.
#[test]
fn escape_programs_reach_no_other_process() {
    check(ROWS);
}
