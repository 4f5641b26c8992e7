//! The door between a program's own network and the host: a listener that the guard makes there, and hands over.

use std::ffi::c_int;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg, socketpair,
};
use tokio::net::TcpListener;

use super::step::{Stepped, check};

/// The port of the proxy: any would do, since nothing else listens in a new network.
const PORT: u16 = 3128;

/// How many connections wait to be accepted.
const BACKLOG: c_int = 128;

/// Returns the variables by which programs find the proxy.
pub(super) fn variables() -> impl Iterator<Item = (&'static str, String)> {
    let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];
    let http = names.into_iter().map(|name| (name, format!("http://127.0.0.1:{PORT}")));
    let socks = ["all_proxy", "ALL_PROXY"].into_iter().map(|name| (name, format!("socks5h://127.0.0.1:{PORT}")));
    // What a program starts itself is reached without the proxy.
    let own = ["no_proxy", "NO_PROXY"].into_iter().map(|name| (name, "localhost,127.0.0.1,::1".to_owned()));
    // Node.js uses the others only if it is told to.
    http.chain(socks).chain(own).chain([("NODE_USE_ENV_PROXY", "1".to_owned())])
}

/// Both ends of the way on which the listener is handed over.
pub(super) struct Door {
    outside: OwnedFd,
    inside: OwnedFd,
}

impl Door {
    pub(super) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (outside, inside) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        Ok(Self { outside, inside })
    }

    /// Returns the end for the guard.
    pub(super) fn inside(&self) -> c_int {
        self.inside.as_raw_fd()
    }

    /// Returns the listener, once the guard has handed it over.
    pub(super) fn listener(self) -> io::Result<TcpListener> {
        drop(self.inside);
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        recvmsg(&self.outside, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let listener = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        let listener = std::net::TcpListener::from(listener.ok_or(io::ErrorKind::UnexpectedEof)?);
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    }
}

/// Listens in this process's network, and hands the listener over. Runs between clone and exec.
pub(super) fn open(inside: c_int) -> Stepped {
    // SAFETY: the structures are zeroed, filled and the kernel's; the control buffer is larger than one message with one
    // descriptor, and aligned; the descriptor is closed here.
    unsafe {
        let listener = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        check(listener.into())?;
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
        address.sin_port = PORT.to_be();
        address.sin_addr.s_addr = u32::from(std::net::Ipv4Addr::LOCALHOST).to_be();
        let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_in>()).unwrap_or_default();
        check(libc::bind(listener, (&raw const address).cast(), length).into())?;
        check(libc::listen(listener, BACKLOG).into())?;

        let mut control = [0_u64; 8];
        let mut byte = 0_u8;
        let mut data = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut data;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        let one = u32::try_from(size_of::<c_int>()).unwrap_or_default();
        message.msg_controllen = libc::CMSG_SPACE(one).try_into().unwrap_or_default();
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(libc::EINVAL);
        }
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(one).try_into().unwrap_or_default();
        std::ptr::write_unaligned(libc::CMSG_DATA(header).cast::<c_int>(), listener);
        let sent = check(libc::sendmsg(inside, &raw const message, 0).try_into().unwrap_or(-1));
        libc::close(listener);
        sent
    }
}
