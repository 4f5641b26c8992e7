//! The running call's line to the host. It needs no grant, and reaches nothing but the host itself.

pub use crate::bindings::host::tool::context::{Level, config, emit, log, progress, should_stop};
