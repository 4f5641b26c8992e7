//! The files that a call changes, for a preview of more than one change, or of a file that is removed. It needs no grant:
//! it changes nothing.
//!
//! A preview that names changes here returns [`crate::Confirmation::Call`]. The user is asked about all of them, and the
//! call may then make these changes and no others.

#[cfg(target_family = "wasm")]
pub use crate::bindings::host::tool::file_changes::{remove, write};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::file_changes::{remove, write};
