//! Sockets: services of this machine, names of the network, and what lies beneath both.

use super::world::check;
use super::{Attack, Control, How, python, shell};

const CLOSED: &str = "not permitted|Permission denied|unreachable|refused|not known|name resolution|Cannot assign";

const ROWS: &[Attack] = &[
    python(
        "socket of Docker",
        "s = socket.socket(socket.AF_UNIX)\ns.connect(SERVICES + '/docker.sock')\nassert s.recv(99)",
        CLOSED,
    ),
    shell(
        "socket of Docker by curl",
        "curl -s --max-time 9 --http0.9 --unix-socket $SERVICES/docker.sock http://x/ 2>&1 | grep SECRET || { \
             echo not permitted; exit 1; }",
        CLOSED,
    )
    .controlled(Control::Other(How::Python(
        "s = socket.socket(socket.AF_UNIX)\ns.connect(SERVICES + '/docker.sock')\nassert s.recv(99)",
    ))),
    python(
        "agent with keys",
        "s = socket.socket(socket.AF_UNIX)\ns.connect(SERVICES + '/agent.sock')\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "bus of the session",
        "s = socket.socket(socket.AF_UNIX)\ns.connect(SERVICES + '/bus')\nassert s.recv(99)",
        CLOSED,
    ),
    // Landlock before its sixth version and path rules of mounts do not see these names.
    python(
        "abstract socket",
        "s = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + ABSTRACT)\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "socket by a short name",
        "s = socket.socket(socket.AF_UNIX)\nos.chdir(SERVICES)\ns.connect('bus')\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "socket by a link",
        "os.symlink(SERVICES + '/bus', 'bus1')\ns = socket.socket(socket.AF_UNIX)\ns.connect('bus1')\nassert \
             s.recv(99)",
        CLOSED,
    ),
    python("socket of packets in order", "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)", CLOSED),
    python("datagram to a path", "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", CLOSED),
    python("datagram by one end of a pair", "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", CLOSED),
    python("this machine", "s = socket.create_connection(('127.0.0.1', int(PORT)), 9)\nassert s.recv(99)", CLOSED),
    shell("this machine by bash", "exec 3<>/dev/tcp/127.0.0.1/$PORT && head -c 6 <&3 | grep SECRET", CLOSED),
    python(
        "this machine as IPv6",
        "s = socket.create_connection(('::ffff:127.0.0.1', int(PORT)), 9)\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "this machine as nowhere",
        "s = socket.create_connection(('0.0.0.0', int(PORT)), 9)\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "this machine as a number",
        "s = socket.create_connection(('2130706433', int(PORT)), 9)\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "this machine by its name",
        "s = socket.create_connection(('localhost', int(PORT)), 9)\nassert s.recv(99)",
        CLOSED,
    ),
    python(
        "a datagram to this machine",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.settimeout(9)\ns.connect(('127.0.0.1', \
             int(UDP)))\ns.send(b'x')\nassert s.recv(99)",
        CLOSED,
    ),
    // CVE-2025-55284 (Claude Code): names carried data out where only addresses were closed.
    python("a name that carries data", "socket.getaddrinfo('data.example.com', 443)", CLOSED)
        .controlled(Control::Without("the machine of the tests may have no resolver")),
    python(
        "a resolver of the machine",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('192.0.2.53', 53))",
        CLOSED,
    ),
    python("metadata of a cloud", "s = socket.socket()\ns.settimeout(2)\ns.connect(('169.254.169.254', 80))", CLOSED)
        .controlled(Control::Without("the machine of the tests is in no cloud")),
    python(
        "an address of the internet",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(('192.0.2.1', 9))",
        CLOSED,
    ),
    python("a port that others see", "s = socket.socket()\ns.bind(('192.0.2.1', 0))", CLOSED)
        .controlled(Control::Without("the machine of the tests has no such address")),
    python("raw packets", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", CLOSED).controlled(Control::Root),
    python("packets of the device", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)", CLOSED)
        .controlled(Control::Root),
    python("devices of the network", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)", CLOSED),
    python("events of the kernel", "socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)", CLOSED),
    python(
        "ciphers of the kernel",
        "try: socket.socket(38, socket.SOCK_SEQPACKET)\nexcept OSError as e:\n  if e.errno in (1, 13): raise",
        CLOSED,
    ),
    python(
        "sockets of virtual machines",
        "try: socket.socket(40, socket.SOCK_STREAM)\nexcept OSError as e:\n  if e.errno in (1, 13): raise",
        CLOSED,
    ),
    python(
        "sockets of Bluetooth",
        "try: socket.socket(31, socket.SOCK_RAW)\nexcept OSError as e:\n  if e.errno in (1, 13): raise",
        CLOSED,
    ),
    shell(
        "a task for later",
        "systemd-run --user true 2>&1 || true; python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); \
             s.connect('$SERVICES/bus')\"",
        "not permitted",
    ),
];

// promise confine.network
#[test]
fn escape_programs_reach_no_socket_of_this_machine() {
    check(ROWS);
}
