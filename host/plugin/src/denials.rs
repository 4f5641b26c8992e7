//! The denials that the host made during a call, and whether it cancelled the call.
//!
//! A guest passes a denial on as its own failure, and the user reads there which flag would allow the use. Promises: a
//! failure counts as a denial of the host's only if the host made this very denial during this call; whatever else a
//! guest returns is its own words.
//!
//! Deliberately not here: what is denied (`host-capability`), and how a denial is worded.

use std::collections::VecDeque;

use crate::bindings::cap_types::Denial;
use crate::bindings::{fs_read, fs_write, http, mcp, process, state, tools};
use crate::seen_files::Looked;

/// How many denials are kept, the last ones. Protects memory from a guest that tries one path after the other.
const MAX_KEPT: usize = 64;

/// What the host did to a call. A guest's failure that repeats it is the host's; any other is the guest's own words.
#[derive(Debug)]
pub(crate) struct HostActs {
    /// What it denied.
    pub(crate) denials: Denials,
    /// What it read for it.
    pub(crate) looked: Looked,
    /// Whether it told the guest to stop.
    pub(crate) cancelled: bool,
}

/// The last denials of one call.
#[derive(Debug, Default)]
pub(crate) struct Denials(VecDeque<Denial>);

/// An error of a capability, which may be a denial.
pub(crate) trait CapabilityError {
    /// Returns the denial, if it is one.
    fn denial(&self) -> Option<&Denial>;
}

impl Denials {
    /// Keeps the denial in an answer that a guest is about to get; returns the answer.
    pub(crate) fn noting<T, E: CapabilityError>(&mut self, answer: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &answer
            && let Some(denial) = error.denial()
        {
            self.keep(denial.clone());
        }
        answer
    }

    /// Keeps a denial that a guest is about to get.
    pub(crate) fn keep(&mut self, denial: Denial) {
        if self.0.len() >= MAX_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(denial);
    }

    /// Whether the host made this denial.
    pub(crate) fn has(&self, capability: &str, wanted: &str, help: &str) -> bool {
        let wanted = (capability, wanted, help);
        self.0.iter().any(|made| (made.capability.as_str(), made.wanted.as_str(), made.help.as_str()) == wanted)
    }
}

impl CapabilityError for fs_read::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for tools::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for fs_write::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for process::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for http::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) | Self::RedirectDenied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for state::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

impl CapabilityError for mcp::Error {
    fn denial(&self) -> Option<&Denial> {
        if let Self::Denied(denial) = self { Some(denial) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_are_kept_as_they_were_made_and_the_oldest_go_first() {
        let denied = |wanted: String| -> Result<(), fs_read::Error> {
            let help = format!("`{wanted}` is not granted");
            Err(fs_read::Error::Denied(Denial { capability: "fs-read".to_owned(), wanted, help }))
        };
        let mut denials = Denials::default();
        assert!(denials.noting(Ok::<u8, fs_read::Error>(1)).is_ok());
        assert!(denials.noting(Err::<u8, _>(fs_read::Error::NotFound("x".to_owned()))).is_err());
        for number in 0..=MAX_KEPT {
            assert!(denials.noting(denied(number.to_string())).is_err());
        }
        for (capability, wanted, help, is_made) in [
            ("fs-read", "1", "`1` is not granted", true),
            ("fs-read", "64", "`64` is not granted", true),
            ("fs-read", "0", "`0` is not granted", false),
            ("fs-write", "1", "`1` is not granted", false),
            ("fs-read", "2", "`1` is not granted", false),
            ("fs-read", "1", "`1` is not granted; add --grant x:process=*", false),
        ] {
            assert_eq!(denials.has(capability, wanted, help), is_made, "{capability} {wanted} {help}");
        }
    }
}
