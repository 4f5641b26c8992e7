//! Programs that change the machine as a whole: its power, its disks, its processes.

use super::{Danger, Deletes, Irreversible, Program, Writes};

const POWER_OFF: &[(&[&str], Danger)] = &[(&[], Danger::PowerOff)];
const DISKS: &[(&[&str], Danger)] = &[(&[], Danger::Disks)];

pub(super) const ROWS: &[Program] = &[
    Program { dangers: POWER_OFF, ..Program::named(&["shutdown", "reboot", "halt", "poweroff"]) },
    Program {
        dangers: &[(&["poweroff"], Danger::PowerOff), (&["reboot"], Danger::PowerOff)],
        ..Program::named(&["systemctl"])
    },
    Program { irreversible: Irreversible::Always, dangers: DISKS, ..Program::named(&["mkfs"]) },
    Program { dangers: DISKS, ..Program::named(&["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fdisk", "parted", "wipefs"]) },
    Program {
        writes: Writes::All,
        deletes: Deletes::All,
        irreversible: Irreversible::Always,
        dangers: DISKS,
        ..Program::named(&["shred"])
    },
    Program { irreversible: Irreversible::Always, ..Program::named(&["kill", "killall", "pkill"]) },
];
