//! The running call's line to the host. It needs no grant, and reaches nothing but the host itself.
//!
//! [`emit`] and [`progress`] show the user what goes on, [`log`] writes a line to the host's log, [`config`] reads the
//! plugin's own configuration. A tool that may take long asks [`should_stop`] now and then, and answers with what it has:
//!
//! ```
//! use host_sdk::fs_read::{Walk, WalkOptions};
//! use host_sdk::{Failure, context};
//!
//! fn count_bytes() -> Result<String, Failure> {
//!     let walk = Walk::open(&WalkOptions::default())?;
//!     let (mut files, mut bytes) = (0, 0);
//!     while let Some(batch) = walk.next_batch()? {
//!         files += batch.len();
//!         bytes += (0..batch.len()).map(|index| batch.size(index)).sum::<u64>();
//!         context::progress(files as u64, None, "counting");
//!         if context::should_stop() {
//!             return Err(Failure::cancelled(format!("{bytes} bytes in {files} files, and there may be more")));
//!         }
//!     }
//!     Ok(format!("{bytes} bytes in {files} files"))
//! }
//!
//! let host = host_sdk::fake::FakeHost::new().file("a", "123").file("b", "45");
//! assert_eq!(host.run(count_bytes).as_deref(), Ok("5 bytes in 2 files"));
//! let stopped = host.stop_after(0).run(count_bytes);
//! assert_eq!(stopped, Err(Failure::cancelled("5 bytes in 2 files, and there may be more")));
//! ```

pub use crate::bindings::host::tool::context::Level;
#[cfg(target_family = "wasm")]
pub use crate::bindings::host::tool::context::{config, emit, log, progress, should_stop};
#[cfg(not(target_family = "wasm"))]
pub use crate::fake::context::{config, emit, log, progress, should_stop};
