//! The capability `fs-write`: changing files beneath the granted roots. A file is replaced whole or not at all.

use crate::Failure;
pub use crate::bindings::host::cap::fs_write::{Error, Expected, Span, Written};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::fs_write::{edit, make_directory, remove, rename, write};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::fs_write::{edit, make_directory, remove, rename, write};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) => denial.into(),
            Error::NotFound(path) => Self::NotFound(format!("there is nothing at `{path}`")),
            Error::Changed(Some(_)) => {
                Self::Conflict("the file changed after it was read: read it again, then try again".to_owned())
            }
            Error::Changed(None) => Self::Conflict("the file was removed after it was read".to_owned()),
            Error::Exists(path) => Self::Conflict(format!("something else is in the way at `{path}`")),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::TooLarge(size) => Self::InvalidArguments(format!("{size} bytes are too many for one file")),
            Error::Io(why) => Self::Failed(why),
        }
    }
}
