//! The process that holds the network of a session.
//!
//! A network lives as long as something is in it, and a socket belongs to the network of the process that makes it, for
//! good. The host cannot enter one: without privileges that needs a user namespace, which no process with several
//! threads can enter. So the holder makes sockets in there and hands them over; the host binds and connects them
//! itself.
//!
//! It is a confined process that may touch nothing, and runs no program. It ends when the host's end of its socket is
//! closed, and not by a signal at its parent's death: that comes when the *thread* ends that cloned it.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_long};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use rustix::process::Pid;
use tokio::net::TcpSocket;

use super::child;
use super::descriptors::{KeptDescriptors, close_from};
use super::handover::{MOST, give, take};
use super::join::Joins;
use super::means::Means;
use super::step::{Failed, Step, check, errno};
use super::walls::Walls;
use crate::{Confinement, StartError};

/// How long the holder of a session's network may take to answer. It only makes sockets, so that one which takes longer
/// is stopped or gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked of the holder, in one byte: a socket of this family.
const IPV4: u8 = 4;
/// See [`IPV4`].
const IPV6: u8 = 6;

/// Set in the first answer if its files have the table of sockets.
const HAS_TABLE: i32 = 1;
/// Set in the first answer if its files have the user namespace.
const HAS_USERS: i32 = 2;

/// The way to the holder, on which answers come in the order of what was asked.
#[derive(Debug)]
struct Asked {
    socket: OwnedFd,
    /// Whether an answer comes that nobody waits for: a socket for the proxy of the next program.
    is_ahead: bool,
    /// That socket, once its answer was taken because another one was wanted.
    ahead: Option<OwnedFd>,
}

/// The holder of a network.
#[derive(Debug)]
pub(super) struct Holder {
    pid: Pid,
    asked: Mutex<Asked>,
    network: OwnedFd,
    /// `None` if it has none of its own.
    users: Option<OwnedFd>,
    /// Whether it did not answer.
    is_broken: AtomicBool,
    /// The ports on which proxies of programs listen.
    doors: Mutex<BTreeSet<u16>>,
}

impl Holder {
    /// Makes a network with a loopback device, and a socket that lists those in it if the kernel has such.
    pub(super) fn new(means: Means) -> Result<(Self, Option<OwnedFd>), StartError> {
        let failed = |source: io::Error| StartError::System { step: Step::Network.name(), source };
        // The holder gets every wall and no place: what took it over could do nothing.
        let walls = Walls::new(&Confinement::default(), means, None)?;
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (socket, inside) = pair.map_err(|error| failed(error.into()))?;
        // A holder that is stopped or starved must not hang the host at the start of each program.
        let timeout = [Timeout::Recv, Timeout::Send].map(|id| set_socket_timeout(&socket, id, Some(PATIENCE)));
        timeout.into_iter().collect::<Result<(), _>>().map_err(|error| failed(error.into()))?;
        let kept = KeptDescriptors::new(walls.descriptors().chain([inside.as_raw_fd()]));
        let pid = child::cloned(walls.namespaces, &kept, || hold(&walls, inside.as_raw_fd())).map_err(failed)?;
        drop(inside);
        // Ends the holder if anything below fails; until then nobody else knows its id.
        let unfinished = Ended(Some(pid));
        let (done, files) = take(&socket).map_err(failed)?;
        let has = done.map_err(|Failed { step, error }| StartError::System { step: step.name(), source: error })?;
        let mut files = files.into_iter();
        let lacks = || failed(io::ErrorKind::UnexpectedEof.into());
        let network = files.next().ok_or_else(lacks)?;
        let table = if has & HAS_TABLE != 0 { Some(files.next().ok_or_else(lacks)?) } else { None };
        let users = if has & HAS_USERS != 0 { Some(files.next().ok_or_else(lacks)?) } else { None };
        unfinished.keep();
        let asked = Mutex::new(Asked { socket, is_ahead: false, ahead: None });
        Ok((Self { pid, asked, network, users, is_broken: AtomicBool::default(), doors: Mutex::default() }, table))
    }

    /// Returns what a guard needs to join the network. Valid as long as this holder lives.
    pub(super) fn joins(&self) -> Joins {
        Joins { network: self.network.as_raw_fd(), users: self.users.as_ref().map(AsRawFd::as_raw_fd) }
    }

    /// Returns its process.
    #[cfg(test)]
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether it did not answer, so that another one is needed.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Returns the ports on which proxies of programs listen, which are nobody else's.
    pub(super) fn doors(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a TCP socket in the network.
    pub(super) fn socket(&self, is_v6: bool) -> io::Result<TcpSocket> {
        self.made(|asked| asked.socket(if is_v6 { IPV6 } else { IPV4 }))
    }

    /// Makes the socket on which a program's proxy listens. The next one is asked for already: the holder makes it
    /// while the program runs, and no start waits until it was woken.
    pub(super) fn door(&self) -> io::Result<TcpSocket> {
        self.made(|asked| {
            let socket = match asked.take_ahead()? {
                Some(socket) => socket,
                None => asked.socket(IPV4)?,
            };
            asked.send(IPV4)?;
            asked.is_ahead = true;
            Ok(socket)
        })
    }

    fn made(&self, make: impl FnOnce(&mut Asked) -> Result<OwnedFd, NotMade>) -> io::Result<TcpSocket> {
        let made = make(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        let socket = made.map_err(|why| match why {
            NotMade::Refused(error) => error,
            NotMade::Broken(error) => {
                self.is_broken.store(true, Ordering::Relaxed);
                error
            }
        })?;
        // SAFETY: the descriptor is a TCP socket that does not block, and belongs to nothing else.
        Ok(unsafe { TcpSocket::from_raw_fd(socket.into_raw_fd()) })
    }
}

/// Why there is no socket.
enum NotMade {
    /// The kernel refused it to the holder.
    Refused(io::Error),
    /// The holder did not answer.
    Broken(io::Error),
}

impl Asked {
    fn socket(&mut self, what: u8) -> Result<OwnedFd, NotMade> {
        // What was asked for before is answered before.
        self.ahead = self.take_ahead()?;
        self.send(what)?;
        self.take()
    }

    /// Returns the socket that was asked for ahead, if one was and could be made.
    fn take_ahead(&mut self) -> Result<Option<OwnedFd>, NotMade> {
        if let Some(socket) = self.ahead.take() {
            return Ok(Some(socket));
        }
        match std::mem::take(&mut self.is_ahead).then(|| self.take()) {
            None | Some(Err(NotMade::Refused(_))) => Ok(None),
            Some(Ok(socket)) => Ok(Some(socket)),
            Some(Err(broken)) => Err(broken),
        }
    }

    fn send(&self, what: u8) -> Result<(), NotMade> {
        send(self.socket.as_fd(), &[what], SendFlags::NOSIGNAL).map(drop).map_err(|error| NotMade::Broken(error.into()))
    }

    fn take(&self) -> Result<OwnedFd, NotMade> {
        let (done, files) = take(&self.socket).map_err(NotMade::Broken)?;
        done.map_err(|failed| NotMade::Refused(failed.error))?;
        files.into_iter().next().ok_or_else(|| NotMade::Refused(io::ErrorKind::UnexpectedEof.into()))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        child::end(self.pid);
    }
}

/// Ends the holder unless it is kept.
struct Ended(Option<Pid>);

impl Ended {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(child::end);
    }
}

/// What the holder does: like all between clone and exec, it makes system calls on memory that was prepared before.
fn hold(walls: &Walls, socket: c_int) -> ! {
    // SAFETY: system calls without pointers, on memory of this process, and on paths that end with NUL.
    unsafe {
        // So that Ctrl-C in the terminal ends no network that a session still uses.
        libc::setsid();
        // It has a copy of the host's memory, which nobody may look into.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        match prepare(walls) {
            Ok((done, files, count)) => {
                if give(socket, Ok(done), files.get(..count).unwrap_or_default()).is_err() {
                    libc::_exit(126);
                }
            }
            Err((step, error)) => {
                give(socket, Err((step, error)), &[]).ok();
                libc::_exit(126);
            }
        }
        // Nothing of the host stays open, so that whoever waits for the end of something does not wait for this
        // process.
        if libc::dup2(socket, 0) < 0 {
            libc::_exit(126);
        }
        close_from(1);
        loop {
            let mut what = 0_u8;
            match libc::recv(0, (&raw mut what).cast(), 1, 0) {
                1 => {}
                -1 if errno() == libc::EINTR => continue,
                // The host has closed its end: the network has no more use.
                _ => libc::_exit(0),
            }
            let family = if what == IPV6 { libc::AF_INET6 } else { libc::AF_INET };
            let made = libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0);
            let given = match made {
                0.. => give(0, Ok(0), &[made]),
                _ => give(0, Err((Step::Network, errno())), &[]),
            };
            // The host has its own copy; kept here, each connection would use up a descriptor of the holder.
            libc::close(made);
            if given.is_err() {
                libc::_exit(0);
            }
        }
    }
}

/// Puts up the walls around the holder. Returns what it has besides its network, and the files: its network, and behind
/// it those that it has of the table of sockets and the user namespace, and how many they are.
fn prepare(walls: &Walls) -> Result<(i32, [c_int; MOST], usize), (Step, i32)> {
    walls.surround()?;
    let (mut has, mut files, mut count) = (0, [-1; MOST], 0);
    let mut add = |file: c_int, flag: i32| {
        if let Some(place) = files.get_mut(count) {
            *place = file;
        }
        // Counted even if there is no room: a list that is too small for all files is an error at the host, and no file
        // is missed.
        count += 1;
        has |= flag;
    };
    add(opened(c"/proc/self/ns/net")?, 0);
    // A kernel can be built without it: nothing is forwarded then. The filter of system calls denies it from here on.
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: a system call without pointers.
    let table = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) };
    if table >= 0 {
        add(table, HAS_TABLE);
    }
    // Programs have to enter this user namespace before they may join the network.
    if walls.has_users() {
        add(opened(c"/proc/self/ns/user")?, HAS_USERS);
    }
    // Last: reading `/proc/self/ns` is denied behind Landlock.
    walls.confine()?;
    Ok((has, files, count))
}

fn opened(path: &CStr) -> Result<c_int, (Step, i32)> {
    // SAFETY: the path ends with NUL.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    check(c_long::from(file)).map(|()| file).map_err(|error| (Step::Network, error))
}
