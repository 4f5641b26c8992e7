//! How large a program may be that the host reads before it starts it: to copy it, or to see that it is the one that
//! was trusted.

/// The largest, in bytes. Scripts are small; a compiled one may be some megabytes. Protects memory.
pub const MAX_PROGRAM: u64 = 16 << 20;
