//! The door between a program's network and the host: the listener of the program's proxy in there.
//!
//! In a network of the program's own the guard makes the listener and hands it over. In that of a session other
//! programs reach it too, so the proxy there serves only who knows the program's [`Token`].

use std::ffi::c_int;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::net::TcpListener;

use super::handover::{give, take};
use super::step::{Stepped, check};
use crate::proxy::Token;

/// The port of the proxy in a program's own network: any would do, since nothing else listens there.
const PORT: u16 = 3128;

/// How many connections wait to be accepted.
pub(super) const BACKLOG: c_int = 128;

/// The way to the proxy of a program.
pub(super) struct Door {
    port: u16,
    way: Way,
    token: Option<Token>,
}

enum Way {
    /// Both ends of the way on which the guard hands the listener over.
    HandedOver { outside: OwnedFd, inside: OwnedFd },
    /// It is there.
    Open(TcpListener),
}

impl Door {
    /// That of a program with a network of its own.
    pub(super) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (outside, inside) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        Ok(Self { port: PORT, way: Way::HandedOver { outside, inside }, token: None })
    }

    /// One that is open on a port that others reach, too.
    pub(super) fn open(listener: TcpListener, port: u16) -> io::Result<Self> {
        Ok(Self { port, way: Way::Open(listener), token: Some(Token::new()?) })
    }

    /// Returns the variables by which programs find the proxy.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let authority = match &self.token {
            // The password is in the address, since that is the one place where curl, git, pip, npm and cargo all take
            // it from.
            Some(token) => format!("{}@127.0.0.1:{}", token.user_information(), self.port),
            None => format!("127.0.0.1:{}", self.port),
        };
        // In both cases: curl reads only the lower one for http, other programs only the upper one.
        let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];
        // `socks5h` lets the proxy resolve names. With `socks5` the program would, in a network that has no resolver.
        let (http, socks) = (format!("http://{authority}"), format!("socks5h://{authority}"));
        let http = names.into_iter().map(move |name| (name, http.clone()));
        let socks = ["all_proxy", "ALL_PROXY"].into_iter().map(move |name| (name, socks.clone()));
        // What a program starts itself is reached without the proxy.
        let own = ["no_proxy", "NO_PROXY"].into_iter().map(|name| (name, "localhost,127.0.0.1,::1".to_owned()));
        // Node.js uses the others only if it is told to. A look for a newer version of npm, or of what it runs, is not
        // what the command needs, and would be asked about as if it were.
        let node = [("NODE_USE_ENV_PROXY", "1"), ("NO_UPDATE_NOTIFIER", "1"), ("npm_config_update_notifier", "false")];
        http.chain(socks).chain(own).chain(node.map(|(name, value)| (name, value.to_owned())))
    }

    /// Returns the end for the guard, if it makes the listener.
    pub(super) fn inside(&self) -> Option<c_int> {
        match &self.way {
            Way::HandedOver { inside, .. } => Some(inside.as_raw_fd()),
            Way::Open(_) => None,
        }
    }

    /// Returns the listener, which the guard has handed over now, and what whoever connects must know.
    pub(super) fn listener(self) -> io::Result<(TcpListener, Option<Token>)> {
        let (outside, inside) = match self.way {
            Way::Open(listener) => return Ok((listener, self.token)),
            Way::HandedOver { outside, inside } => (outside, inside),
        };
        drop(inside);
        let (done, files) = take(&outside)?;
        done.map_err(|failed| failed.error)?;
        let listener = files.into_iter().next().ok_or(io::ErrorKind::UnexpectedEof)?;
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        Ok((TcpListener::from_std(listener)?, self.token))
    }
}

/// Listens in this process's network, and hands the listener over. Runs between clone and exec.
pub(super) fn open(inside: c_int) -> Stepped {
    // SAFETY: the structure is zeroed, filled and the kernel's; the descriptor is closed here.
    unsafe {
        let listener = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        check(listener.into())?;
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
        // A fixed port is free in a network that is new; the address is in the variables before the guard runs.
        address.sin_port = PORT.to_be();
        address.sin_addr.s_addr = u32::from(Ipv4Addr::LOCALHOST).to_be();
        let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_in>()).unwrap_or_default();
        check(libc::bind(listener, (&raw const address).cast(), length).into())?;
        check(libc::listen(listener, BACKLOG).into())?;
        let given = give(inside, Ok(0), &[listener]);
        libc::close(listener);
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn door_programs_look_for_no_newer_version_of_themselves() {
        let variables: Vec<_> = Door::new().expect("a door").variables().collect();
        for (name, value) in [("NO_UPDATE_NOTIFIER", "1"), ("npm_config_update_notifier", "false")] {
            assert!(variables.contains(&(name, value.to_owned())), "{name} in {variables:?}");
        }
    }
}
