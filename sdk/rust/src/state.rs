//! The capability `state`: small things that a plugin keeps between calls.

use crate::Failure;
pub use crate::bindings::host::cap::state::{Error, Expected, Item};
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::cap::state::{delete, get, list, put};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::state::{delete, get, list, put};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Denied(denial) => denial.into(),
            Error::Changed(_) => Self::Conflict("another call changed it at the same time: try again".to_owned()),
            Error::Invalid(why) => Self::InvalidArguments(why),
            Error::Full(why) => Self::Unavailable(why),
            Error::Io(why) => Self::Failed(why),
        }
    }
}
