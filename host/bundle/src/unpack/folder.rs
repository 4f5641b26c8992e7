//! Reading a bundle from the folder of an OCI image layout. No link is followed, within it or at its top.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::{EntryFault, Found, UnpackError, is_folder, place};

pub(super) fn read(root: &Path) -> Result<Found, UnpackError> {
    let mut found = Found::default();
    beneath(root, "", &mut found)?;
    Ok(found)
}

fn beneath(root: &Path, folder: &str, found: &mut Found) -> Result<(), UnpackError> {
    let unreadable = |error: io::Error| UnpackError::Unreadable { path: root.join(folder), error };
    for entry in std::fs::read_dir(root.join(folder)).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        found.count()?;
        let own = entry.file_name().to_string_lossy().into_owned();
        let name = if folder.is_empty() { own } else { format!("{folder}/{own}") };
        let fault = |why| UnpackError::Entry { name: name.clone(), why };
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_symlink() {
            return Err(fault(EntryFault::Link));
        } else if kind.is_dir() {
            if !is_folder(&name) {
                return Err(fault(EntryFault::Unknown));
            }
            beneath(root, &name, found)?;
        } else if kind.is_file() {
            // Before it is opened: an unreferenced file is an error.
            place(&name).map_err(fault)?;
            // It could have been replaced: a link is not followed, and a pipe is not waited for.
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
            let file = File::options().read(true).custom_flags(flags).open(entry.path()).map_err(unreadable)?;
            let about = file.metadata().map_err(unreadable)?;
            if !about.is_file() {
                return Err(fault(EntryFault::Device));
            }
            found.file(&name, about.len(), file)?;
        } else {
            return Err(fault(EntryFault::Device));
        }
    }
    Ok(())
}
