//! How large a bundle and its parts may be, whoever made it.

/// All bytes of a bundle together. Protects memory: the largest component and the largest manifest fit, and as much
/// again as all else may have.
pub const MAX_BUNDLE: u64 = 100 << 20;
/// The largest blob, in bytes: a component.
pub const MAX_BLOB: u64 = host_plugin::MAX_COMPONENT as u64;
