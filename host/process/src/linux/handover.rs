//! Hands open files over to the host, from a process that it cloned and that runs nothing else.

use std::ffi::c_int;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::step::{Failed, Step, Stepped, check};

/// The most open files that are handed over to the host at once.
pub(super) const MOST: usize = 3;

/// The first byte of a message that reports no failed step.
const DONE: u8 = u8::MAX;

/// Sends what was done, as a number, or the step that failed; and files. Runs between clone and exec.
pub(super) fn give(socket: c_int, done: Result<i32, (Step, i32)>, files: &[c_int]) -> Stepped {
    let mut bytes = match done {
        Ok(number) => {
            let [a, b, c, d] = number.to_ne_bytes();
            [DONE, a, b, c, d]
        }
        Err((step, error)) => Failed::bytes(step, error),
    };
    let files = files.get(..MOST).unwrap_or(files);
    let size = u32::try_from(size_of_val(files)).unwrap_or_default();
    // SAFETY: the structures are zeroed, filled and the kernel's; the control buffer is aligned, and larger than one
    // message with the most files.
    unsafe {
        // `u64` and not bytes: the kernel's header needs the alignment.
        let mut control = [0_u64; 8];
        let mut data = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut data;
        message.msg_iovlen = 1;
        if size > 0 {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size).try_into().unwrap_or_default();
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            if header.is_null() {
                return Err(libc::EINVAL);
            }
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size).try_into().unwrap_or_default();
            std::ptr::copy_nonoverlapping(files.as_ptr().cast::<u8>(), libc::CMSG_DATA(header), size_of_val(files));
        }
        // A host that is gone must be an error here and not SIGPIPE.
        check(libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL).try_into().unwrap_or(-1))
    }
}

/// Receives what was given, and waits for it.
pub(super) fn take(socket: &OwnedFd) -> io::Result<(Result<i32, Failed>, Vec<OwnedFd>)> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; Failed::SIZE];
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    // A closed socket reads as nothing; without this a zeroed message would count as a success.
    if received.bytes != bytes.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    // Owned at once: whatever fails below, each received file is closed.
    let files = files.flatten().collect();
    let [first, number @ ..] = bytes;
    let done = if first == DONE { Ok(i32::from_ne_bytes(number)) } else { Err(Failed::from_bytes(bytes)) };
    Ok((done, files))
}
