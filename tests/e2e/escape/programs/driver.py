"""Runs attacks, and writes how each ended.

Usage: driver.py ATTACKS RESULTS [TEMPLATE]. Each attack is a script of the shell or of Python that succeeds only if it
got what it wanted. With a template, each attack gets a copy of that world, so that none stands on another's ruins.
"""

import ctypes, errno, json, mmap, os, platform, resource, shutil, signal, socket, struct, subprocess, sys, tempfile

LIMIT = 30  # seconds for one attack
libc = ctypes.CDLL(None, use_errno=True)

# The numbers of system calls that the C library has no function for. Those from 424 on are the same everywhere.
X86_64 = dict(
    ptrace=101, setns=308, unshare=272, process_vm_readv=310, process_vm_writev=311, kcmp=312, keyctl=250, add_key=248,
    request_key=249, bpf=321, perf_event_open=298, userfaultfd=323, mount=165, umount2=166, pivot_root=155, chroot=161,
    open_by_handle_at=304, init_module=175, finit_module=313, delete_module=176, kexec_load=246, kexec_file_load=320,
    reboot=169, swapon=167, swapoff=168, acct=163, quotactl=179, settimeofday=164, clock_settime=227, adjtimex=159,
    clock_adjtime=305, sethostname=170, setdomainname=171, syslog=103, clone=56, execveat=322, memfd_create=319,
    fanotify_init=300, prlimit64=302, truncate=76, capset=126, iopl=172, ioperm=173, setpriority=141, openat2=437,
)
AARCH64 = dict(
    ptrace=117, setns=268, unshare=97, process_vm_readv=270, process_vm_writev=271, kcmp=272, keyctl=219, add_key=217,
    request_key=218, bpf=280, perf_event_open=241, userfaultfd=282, mount=40, umount2=39, pivot_root=41, chroot=51,
    open_by_handle_at=265, init_module=105, finit_module=273, delete_module=106, kexec_load=104, kexec_file_load=294,
    reboot=142, swapon=224, swapoff=225, acct=89, quotactl=60, settimeofday=170, clock_settime=112, adjtimex=171,
    clock_adjtime=266, sethostname=161, setdomainname=162, syslog=116, clone=220, execveat=281, memfd_create=279,
    fanotify_init=262, prlimit64=261, truncate=45, capset=91, iopl=-1, ioperm=-1, setpriority=140, openat2=437,
)
NEW = dict(
    io_uring_setup=425, io_uring_enter=426, io_uring_register=427, open_tree=428, move_mount=429, fsopen=430,
    fsconfig=431, fsmount=432, fspick=433, pidfd_open=434, clone3=435, pidfd_getfd=438, mount_setattr=442,
    quotactl_fd=443, open_tree_attr=467, pidfd_send_signal=424,
)
NUMBERS = {**(X86_64 if platform.machine() == "x86_64" else AARCH64), **NEW}


def call(name, *arguments):
    """Makes a system call; an error is an exception."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(NUMBERS[name]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def reached(name, *arguments):
    """Makes a system call with arguments that the kernel finds wrong, once it looks at them."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise


def exchange(one, other):
    """Exchanges two names in one step."""
    if libc.renameat2(-100, one.encode(), -100, other.encode(), 2) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def attack(kind, script, names):
    """Runs an attack in a process of its own: whether it succeeded, and what it printed."""
    if kind == "shell":
        command = ["/bin/bash", "-c", script]
    else:
        command = None
    output = tempfile.TemporaryFile()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.environ.update(names)
            os.chdir(names["WORK"])
            signal.alarm(LIMIT)
            if command:
                os.execv(command[0], command)
            exec(script, {**globals(), **names})
            code = 0
        except BaseException as error:
            os.write(1, f"{type(error).__name__}: {error}".encode(errors="replace"))
        os._exit(code)
    _, status = os.waitpid(pid, 0)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    output.seek(0)
    said = output.read(2000).decode(errors="replace").strip()
    if os.WIFSIGNALED(status):
        said = f"ended by signal {os.WTERMSIG(status)} {said}"
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, said


def names_of(template):
    """The places of the world, by the names that attacks have for them."""
    names = {name: os.environ[name] for name in ("WORK", "OUT", "HOME", "TWIN")}
    if template:
        copy = tempfile.mkdtemp(prefix="world-", dir=template)
        for name in names:
            # The twin's path begins with that of the workspace.
            target = os.path.join(copy, "work-twin" if name == "TWIN" else name.lower())
            shutil.copytree(names[name], target, symlinks=True)
            names[name] = target
    for name in ("SERVICES", "VICTIM", "ABSTRACT", "PORT", "UDP", "HOST_PID", "SHARED"):
        names[name] = os.environ.get(name, "")
    return names


def main():
    attacks, results = sys.argv[1:3]
    template = sys.argv[3] if len(sys.argv) > 3 else None
    ended = []
    for each in json.load(open(attacks)):
        succeeded, said = attack(each["kind"], each["script"], names_of(template))
        ended.append({"name": each["name"], "succeeded": succeeded, "said": said})
    json.dump(ended, open(results, "w"))


main()
