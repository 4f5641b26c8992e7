//! Programs that run a command from their arguments, after options that are not followed: sandboxes, schedulers,
//! tracers, environments. Each of their words may be the command.

use super::{Program, Runs};

pub(super) const ROWS: &[Program] = &[Program {
    runs: Runs::Unfollowed,
    ..Program::named(&[
        "at",
        "batch",
        "bwrap",
        "caffeinate",
        "cgexec",
        "chronic",
        "dbus-run-session",
        "direnv",
        "entr",
        "fakeroot",
        "firejail",
        "linux32",
        "linux64",
        "mise",
        "nix-shell",
        "nsenter",
        "numactl",
        "parallel",
        "perf",
        "prlimit",
        "proot",
        "proxychains",
        "proxychains4",
        "rlwrap",
        "run-parts",
        "setarch",
        "start-stop-daemon",
        "systemd-run",
        "torsocks",
        "unbuffer",
        "unshare",
        "valgrind",
        "watch",
        "xvfb-run",
    ])
}];
