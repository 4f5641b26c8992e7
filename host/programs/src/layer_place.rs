//! Whether layers can lie in a folder.

use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use tempfile::TempDir;

/// Says that layers can lie in a folder: its file system is not an overlay itself, and keeps the kernel's marks.
#[cfg(target_os = "linux")]
pub(crate) fn usable(place: &Path) -> io::Result<()> {
    /// From the kernel's `magic.h`.
    const OVERLAY: i64 = 0x794c_7630;
    std::fs::create_dir_all(place)?;
    if rustix::fs::statfs(place)?.f_type == OVERLAY {
        return Err(io::Error::other(format!("`{}` is on an overlay file system", place.display())));
    }
    let probe = TempDir::with_prefix_in("layer-", place)?;
    Ok(rustix::fs::setxattr(probe.path(), "user.overlay.host", b"y", rustix::fs::XattrFlags::empty())?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn usable(_place: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
