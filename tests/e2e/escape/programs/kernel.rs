//! System calls that lead out of the other walls, and rights that a program could take back.
//!
//! An attack by a call that would harm this machine has arguments that the kernel finds wrong once it looks at them:
//! `reached` fails only if the call was not let through. Calls that are free for every user have their control
//! unconfined, the others as root.

use super::world::check;
use super::{Attack, Control, Place, python, shell};

const CLOSED: &str = "PermissionError|Operation not permitted|Function not implemented";

/// A call that needs privileges without the walls, too.
const fn privileged(name: &'static str, script: &'static str) -> Attack {
    python(name, script, CLOSED).controlled(Control::Root)
}

/// A call that is free for all without the walls.
const fn free(name: &'static str, script: &'static str) -> Attack {
    python(name, script, CLOSED)
}

const CALLS: &[Attack] = &[
    // openai/codex pull request 10814: rings make calls that filters do not see.
    free("rings of calls", "reached('io_uring_setup', 0, 0)"),
    free("rings that were made elsewhere", "reached('io_uring_enter', -1, 0, 0, 0, 0)"),
    free("buffers of rings", "reached('io_uring_register', -1, 0, 0, 0)"),
    privileged("programs in the kernel", "reached('bpf', 0, 0, 0)"),
    privileged("counters of the processor", "reached('perf_event_open', 0, 0, -1, -1, 0)"),
    privileged("faults handled by a program", "reached('userfaultfd', 0xffff)"),
    free("keys of the session", "call('keyctl', 0, -3, 1)"),
    free("a key in the kernel", "call('add_key', ctypes.c_char_p(b'user'), ctypes.c_char_p(b'escape'), b'x', 1, -2)"),
    free("a key by request", "reached('request_key', 0, 0, 0, 0)"),
    free("tracing", "call('ptrace', 0, 0, 0, 0)"),
    free("comparing processes", "call('kcmp', os.getpid(), os.getpid(), 2, 0, 0)"),
    free("a new user namespace", "call('unshare', 0x10000000)"),
    privileged("a new mount namespace", "call('unshare', 0x20000)"),
    privileged("a new network namespace", "call('unshare', 0x40000000)"),
    privileged("a new PID namespace", "call('unshare', 0x20000000)"),
    free(
        "a child in a new user namespace",
        "pid = call('clone', 0x10000000 | 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)",
    ),
    free(
        "a child by a call whose arguments no filter sees",
        "args = struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)\n\
         pid = call('clone3', args, len(args))\nif pid == 0: os._exit(0)",
    ),
    free("the namespace of a different process", "reached('setns', -1, 0)"),
    privileged("mounting", "reached('mount', 0, 0, 0, 0, 0)"),
    privileged("mounting the old way again", "reached('mount', 0, ctypes.c_char_p(b'/nowhere'), 0, 32, 0)"),
    privileged("unmounting", "reached('umount2', ctypes.c_char_p(b'/nowhere'), 0)"),
    privileged("a file system by the new calls", "call('fsopen', ctypes.c_char_p(b'tmpfs'), 0)"),
    privileged("settings of a file system", "reached('fsconfig', -1, 0, 0, 0, 0)"),
    privileged("a mount by the new calls", "reached('fsmount', -1, 0, 0)"),
    privileged("a mount that is picked", "call('fspick', -100, ctypes.c_char_p(b'/'), 0)"),
    privileged("a copy of the tree", "call('open_tree', -100, ctypes.c_char_p(b'/'), 1)"),
    privileged("a mount that is moved", "reached('move_mount', -1, 0, -1, 0, 0)"),
    privileged("a mount made writable again", "reached('mount_setattr', -1, ctypes.c_char_p(b''), 0, 0, 0)"),
    privileged("a different root", "reached('pivot_root', ctypes.c_char_p(b'/nowhere'), ctypes.c_char_p(b'/nowhere'))"),
    privileged("a root of its own", "os.chroot('.')"),
    privileged("a file by its number", "reached('open_by_handle_at', -1, 0, 0)"),
    privileged("a module", "reached('init_module', 0, 0, 0)"),
    privileged("a module from a file", "reached('finit_module', -1, 0, 0)"),
    privileged("a module removed", "reached('delete_module', 0, 0)"),
    privileged("a new kernel", "reached('kexec_load', 0, 1 << 20, 0, 0xffff)"),
    privileged("a new kernel from a file", "reached('kexec_file_load', -1, -1, 0, 0, 0xffff)"),
    privileged("a restart", "reached('reboot', 0, 0, 0, 0)"),
    privileged("swapping", "reached('swapon', 0, 0)"),
    privileged("an end of swapping", "reached('swapoff', 0)"),
    privileged("accounting", "reached('acct', ctypes.c_char_p(b'/nowhere'))"),
    privileged("the clock", "reached('settimeofday', 1, 0)"),
    privileged("the clock, the new way", "reached('clock_settime', 0, 0)"),
    privileged("the pace of the clock", "reached('adjtimex', struct.pack('I300x', 0x8000 | 1))"),
    privileged("the name of the machine", "reached('sethostname', 0, 5)"),
    privileged("the domain of the machine", "reached('setdomainname', 0, 5)"),
    privileged("the kernel's log by a call", "call('syslog', 10, 0, 0)"),
    privileged("watching all files", "os.close(call('fanotify_init', 4, 0))"),
    privileged("quotas", "reached('quotactl', 0x80000100, 0, 0, 0)"),
    privileged("ports of the processor", "reached('iopl', 3)"),
];

const RIGHTS: &[Attack] = &[
    python(
        "typing into a terminal",
        "import fcntl\nm, s = os.openpty()\nfcntl.ioctl(s, 0x540E, 0)\nfcntl.ioctl(s, 0x5412, b'x')",
        "not permitted|Permission denied",
    )
    .controlled(Control::Root),
    // CVE-2019-10063 (Flatpak): the filter compared 64 bits of a request of which the kernel takes 32.
    python(
        "typing into a terminal by a request with more bits",
        "import fcntl\nm, s = os.openpty()\nfcntl.ioctl(s, 0x540E, 0)\nif libc.ioctl(s, \
             ctypes.c_ulong(0x100005412), b'x') < 0: raise OSError(ctypes.get_errno(), 'typing')",
        "PermissionError",
    )
    .controlled(Control::Root),
    python(
        "selecting in a console",
        "m, s = os.openpty()\nimport fcntl\ntry: fcntl.ioctl(s, 0x541C, b'x')\nexcept OSError as e:\n  if \
             e.errno in (1, 13): raise",
        "not permitted|Permission denied",
    ),
    shell("a device that is made", "mknod d1 c 1 3 && head -c 0 d1", "not permitted|Permission denied")
        .controlled(Control::Root),
    shell("a disk that is made", "mknod d2 b 7 0", "not permitted|Permission denied").controlled(Control::Root),
    python(
        "a capability that is taken back",
        "call('capset', struct.pack('Ii', 0x20080522, 0), struct.pack('6I', 1 << 21, 1 << 21, 0, 0, 0, 0))",
        "not permitted",
    )
    .controlled(Control::Root),
    shell(
        "privileges of a setuid program",
        "test $(awk '/NoNewPrivs/{print $2}' /proc/self/status) = 0 || { grep NoNew /proc/self/status; exit \
             1; }",
        "NoNewPrivs:\t1",
    ),
    shell(
        "a setuid program that is made",
        "cp $(command -v id) id1 && chmod u+s id1 && u=$(setpriv --reuid=1234 --clear-groups ./id1 -u); \
         echo \"it runs as $u\"; test $u = 0",
        "changing permissions of 'id1': Operation not permitted",
    )
    .controlled(Control::Root)
    .only(Place::ByRoot),
    shell(
        "privileges by su",
        "su -s /bin/sh -c 'test $(id -u) = 0' root",
        "su:|Authentication|denied|not permitted|must be",
    )
    .controlled(Control::Root)
    .only(Place::ByUser),
    python(
        "a larger limit of processes",
        "resource.setrlimit(resource.RLIMIT_NPROC, (5000, 5000))",
        "not allowed|not permitted",
    )
    .controlled(Control::Root)
    .only(Place::ByUser),
    python(
        "processes without end",
        "import threading\nthreading.stack_size(32768)\nrelease = threading.Event()\n\
         try:\n  for n in range(4200): threading.Thread(target=release.wait, daemon=True).start()\n\
         finally: release.set()",
        "can't start new thread",
    )
    .controlled(Control::Root)
    .only(Place::ByUser),
    python(
        "a file of memory that is run",
        "fd = os.memfd_create('x')\nos.write(fd, open('/bin/cat', 'rb').read())\nos.execve(fd, ['cat', OUT + \
             '/secret'], {})",
        "Permission denied",
    ),
    python(
        "a handler of dumps",
        "p = '/proc/sys/kernel/core_pattern'\nt = open(p).read()\nopen(p, 'w').write(t)",
        "Permission denied|Read-only",
    )
    .controlled(Control::Root),
    python(
        "settings of the kernel",
        "p = '/proc/sys/vm/swappiness'\nt = open(p).read()\nopen(p, 'w').write(t)",
        "Permission denied|Read-only",
    )
    .controlled(Control::Root),
    python(
        "settings in /sys",
        "p = '/sys/kernel/mm/transparent_hugepage/enabled'\nt = open(p).read()\nopen(p, \
             'w').write(t.split('[')[1].split(']')[0])",
        "Permission denied|Read-only|No such file",
    )
    .controlled(Control::Root),
    python(
        "a group of processes",
        "import glob\np = (glob.glob('/sys/fs/cgroup/*/cgroup.procs') + \
             ['/sys/fs/cgroup/cgroup.procs'])[0]\nopen(p, 'a')",
        "Permission denied|Read-only",
    )
    .controlled(Control::Root),
    python(
        "the ranking when memory is short",
        "open('/proc/self/oom_score_adj', 'w').write('-1000')",
        "Permission denied|Read-only",
    )
    .controlled(Control::Root),
    python("a maximal priority", "os.setpriority(os.PRIO_PROCESS, 0, -20)", "Permission denied|not permitted")
        .controlled(Control::Root),
];

// promise confine.kernel: A confined program makes no system call that leads around its other walls: no namespaces,
//   mounts, rings, traces, modules or keys.
#[test]
fn escape_programs_make_no_call_around_their_walls() {
    check(CALLS);
}

// promise confine.kernel
#[test]
fn escape_programs_take_no_right_back() {
    check(RIGHTS);
}
