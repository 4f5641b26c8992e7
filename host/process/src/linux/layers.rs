//! Layers: what a program changes in a folder lies beside it.
//!
//! The kernel's overlay file system, with its marks in attributes that a user may set (`userxattr`), with and without a
//! user namespace, so that who reads the changes finds one form of them. Nothing is written to the disk at once
//! (`volatile`): each first change of a file would wait for it, and a crash of the machine leaves nothing that is used.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::masks::make_bench;
use super::mount_calls::mount;
use super::remove::remove;
use super::step::{Stepped, check};
use super::way;
use crate::{Layer, StartError};

/// The most folders below the place of a layer. Their names fit into what the kernel takes.
const MAX_BELOW: usize = 64;

/// The length of what the kernel takes as options of a mount, in bytes.
const OPTIONS: usize = 4096;

/// The layers of a program.
#[derive(Debug)]
pub(super) struct Layers {
    mounts: Vec<Overlay>,
    held: Held,
}

/// The locks by which no second program uses the folders of a layer. They end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<Lock>);

impl Held {
    /// Whether there are no layers.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The lock of one layer's folders.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: the guard of another program that is cloned just now has a copy of the descriptor,
        // and the folders would still be in use when the next program starts.
        self.0.unlock().ok();
    }
}

#[derive(Debug)]
struct Overlay {
    place: CString,
    below: Vec<CString>,
    changes: CString,
    work: CString,
}

impl Layers {
    /// Prepares them, which removes what the kernel left of an earlier program.
    pub(super) fn new(layers: &[Layer]) -> Result<Self, StartError> {
        // Those in a folder are mounted after it.
        let sorted: BTreeMap<&[u8], &Layer> =
            layers.iter().map(|layer| (layer.place.as_os_str().as_bytes(), layer)).collect();
        let mut made = Self { mounts: Vec::new(), held: Held::default() };
        for layer in sorted.into_values() {
            made.held.0.push(hold(layer)?);
            made.mounts.push(Overlay::new(layer)?);
        }
        Ok(made)
    }

    /// Returns the locks, which are to be kept until the program and all that it started have ended.
    pub(super) fn take_held(&mut self) -> Held {
        std::mem::take(&mut self.held)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = &CStr> {
        self.mounts.iter().map(|overlay| overlay.place.as_c_str())
    }

    /// Mounts them. Runs between clone and exec.
    pub(super) fn make(&self) -> Stepped {
        self.mounts.iter().try_for_each(Overlay::make)
    }
}

/// Locks the folders of a layer, and makes its work folder usable again.
fn hold(layer: &Layer) -> Result<Lock, StartError> {
    let failed = |source| StartError::Layer { place: layer.place.clone(), folder: layer.work.clone(), source };
    let work = File::open(&layer.work).map_err(failed)?;
    // Two mounts with one work folder are undefined in overlayfs.
    match work.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StartError::LayerInUse { place: layer.place.clone(), changes: layer.changes.clone() });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let work = Lock(work);
    let folder: OwnedFd = work.0.try_clone().map_err(failed)?.into();
    // The kernel marks here that what is in the folders may not have reached the disk, and does not use them again
    // while the mark is there. They belong to this run of the machine, in which nothing was lost.
    match way::list(&folder, "work".as_ref()) {
        Ok(inner) => remove(&inner, "incompat".as_ref()).map_err(|error| failed(error.into()))?,
        Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(failed(error.into())),
    }
    Ok(work)
}

impl Overlay {
    fn new(layer: &Layer) -> Result<Self, StartError> {
        // What is checked here fails with a name; within the clone only a number could be reported.
        let failed =
            |folder: &Path, source| StartError::Layer { place: layer.place.clone(), folder: folder.to_owned(), source };
        let text = |path: &Path| {
            if !std::fs::metadata(path).map_err(|error| failed(path, error))?.is_dir() {
                return Err(failed(path, io::ErrorKind::NotADirectory.into()));
            }
            CString::new(path.as_os_str().as_bytes()).map_err(|error| failed(path, error.into()))
        };
        // The table of descriptors in the clone has a fixed size.
        if layer.below.len() > MAX_BELOW {
            let many = format!("it has {} folders below, more than {MAX_BELOW}", layer.below.len());
            return Err(failed(&layer.place, io::Error::other(many)));
        }
        Ok(Self {
            place: text(&layer.place)?,
            below: layer.below.iter().map(|path| text(path)).collect::<Result<_, _>>()?,
            changes: text(&layer.changes)?,
            work: text(&layer.work)?,
        })
    }

    /// Mounts it. Runs between clone and exec.
    ///
    /// The folders are named by descriptors: their own names can be longer than the kernel takes, and have characters
    /// that mean something there.
    fn make(&self) -> Stepped {
        // Kept open until the mount is made: the options name folders by `/proc/self/fd`.
        let mut opened = Opened { descriptors: [-1; MAX_BELOW + 3], count: 0 };
        let mut options = Options { text: [0; OPTIONS], length: 0 };
        // The folder itself is the top of what is below: what it holds is seen before what the others do.
        options.add(b"lowerdir=")?;
        options.add_folder(opened.open(&self.place)?)?;
        for folder in &self.below {
            options.add(b":")?;
            options.add_folder(opened.open(folder)?)?;
        }
        options.add(b",upperdir=")?;
        options.add_folder(opened.open(&self.changes)?)?;
        options.add(b",workdir=")?;
        options.add_folder(opened.open(&self.work)?)?;
        // Redirections and files without their contents are off with the first; what reads the changes knows neither.
        options.add(b",userxattr,index=off,volatile\0")?;
        mount_overlay(&self.place, CStr::from_bytes_until_nul(&options.text).map_err(|_| libc::EINVAL)?)
    }
}

/// Tries out whether this process can mount a layer, in a folder of its own. Runs between clone and exec.
pub(super) fn try_out() -> Stepped {
    make_bench()?;
    for folder in [c"/proc/place", c"/proc/changes", c"/proc/work"] {
        // SAFETY: the path ends with NUL.
        check(unsafe { libc::mkdir(folder.as_ptr(), 0o700) }.into())?;
    }
    let options = c"lowerdir=/proc/place,upperdir=/proc/changes,workdir=/proc/work,userxattr,index=off,volatile";
    mount_overlay(c"/proc/place", options)
}

fn mount_overlay(place: &CStr, options: &CStr) -> Stepped {
    mount(c"overlay", place, libc::MS_NOSUID | libc::MS_NODEV, options)
}

/// Folders that are open until this is dropped.
struct Opened {
    descriptors: [c_int; MAX_BELOW + 3],
    count: usize,
}

impl Opened {
    fn open(&mut self, folder: &CStr) -> Result<c_int, i32> {
        let slot = self.descriptors.get_mut(self.count).ok_or(libc::EMFILE)?;
        // SAFETY: the path ends with NUL.
        let opened = unsafe { libc::open(folder.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) };
        check(opened.into())?;
        *slot = opened;
        self.count += 1;
        Ok(opened)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        for descriptor in self.descriptors.iter().take(self.count) {
            // SAFETY: it is open, and nobody else's.
            unsafe { libc::close(*descriptor) };
        }
    }
}

/// The options of a mount, put together without allocating.
struct Options {
    text: [u8; OPTIONS],
    length: usize,
}

impl Options {
    fn add(&mut self, text: &[u8]) -> Stepped {
        let end = self.length + text.len();
        self.text.get_mut(self.length..end).ok_or(libc::E2BIG)?.copy_from_slice(text);
        self.length = end;
        Ok(())
    }

    /// Adds the name that a folder has by its descriptor.
    fn add_folder(&mut self, descriptor: c_int) -> Stepped {
        self.add(b"/proc/self/fd/")?;
        let mut digits = [0_u8; 10];
        let mut first = digits.len();
        let mut rest = descriptor.unsigned_abs();
        loop {
            first -= 1;
            // Formatting would allocate.
            let digit = u8::try_from(rest % 10).unwrap_or_default();
            *digits.get_mut(first).ok_or(libc::EINVAL)? = b'0' + digit;
            rest /= 10;
            if rest == 0 || first == 0 {
                break;
            }
        }
        self.add(digits.get(first..).ok_or(libc::EINVAL)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_is_free_as_soon_as_its_lock_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let layer = Layer { place: path.clone(), below: Vec::new(), changes: path.clone(), work: path };
        let lock = hold(&layer).expect("it is free");
        assert!(matches!(hold(&layer), Err(StartError::LayerInUse { .. })));
        // As a clone has it that begins just now.
        let _copy = lock.0.try_clone().expect("copied");
        drop(lock);
        hold(&layer).expect("it is free again");
    }

    #[test]
    fn layer_names_its_folders_by_descriptors() {
        let mut options = Options { text: [0; OPTIONS], length: 0 };
        for descriptor in [0, 7, 10, 1_234, c_int::MAX] {
            options.add_folder(descriptor).expect("it fits");
        }
        let text = std::str::from_utf8(options.text.get(..options.length).expect("within")).expect("text");
        let expected = [0, 7, 10, 1_234, c_int::MAX].map(|descriptor| format!("/proc/self/fd/{descriptor}"));
        assert_eq!(text, expected.concat());
        assert_eq!(options.add(&[0; OPTIONS]), Err(libc::E2BIG));
    }
}
