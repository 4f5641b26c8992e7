//! What the host sends to the client inside: standard output and standard error of ssh, and how it ended.
//!
//! A frame is its kind, the length of what it holds in four bytes, the highest first, and that. Towards the host there
//! are not frames: all bytes are standard input, and their end is its end.

use std::io::{self, Read};

/// The most bytes in one frame. Protects memory.
pub(crate) const MOST: usize = 32 << 10;

/// The bytes before what a frame holds.
const HEAD: usize = 5;

/// A frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Bytes of standard output.
    Output(Vec<u8>),
    /// Bytes of standard error.
    Errors(Vec<u8>),
    /// The exit code. The last one.
    Ended(u8),
}

impl Frame {
    /// Returns it as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (kind, held) = match self {
            Self::Output(bytes) => (b'o', bytes.as_slice()),
            Self::Errors(bytes) => (b'e', bytes.as_slice()),
            Self::Ended(code) => (b'x', std::slice::from_ref(code)),
        };
        let length = u32::try_from(held.len()).unwrap_or_default().to_be_bytes();
        [&[kind], length.as_slice(), held].concat()
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// If reading fails, or it is not a frame.
    pub(crate) fn read(stream: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; HEAD];
        stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes(length)).ok().filter(|length| *length <= MOST);
        let mut held = vec![0; length.ok_or(io::ErrorKind::InvalidData)?];
        stream.read_exact(&mut held)?;
        match (kind, held.as_slice()) {
            (b'o', _) => Ok(Self::Output(held)),
            (b'e', _) => Ok(Self::Errors(held)),
            (b'x', [code]) => Ok(Self::Ended(*code)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_ssh_frames_are_read_back_and_nothing_else_is() {
        let frames = [Frame::Output(b"a".to_vec()), Frame::Errors(Vec::new()), Frame::Ended(128)];
        let bytes: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
        let mut rest = bytes.as_slice();
        for frame in frames {
            assert_eq!(Frame::read(&mut rest).expect("a frame"), frame);
        }
        for wrong in [b"".as_slice(), b"o\0\0\0\x02a", b"z\0\0\0\0", b"x\0\0\0\x02ab", b"o\xff\xff\xff\xff"] {
            assert!(Frame::read(&mut &*wrong).is_err(), "{wrong:?}");
        }
    }
}
