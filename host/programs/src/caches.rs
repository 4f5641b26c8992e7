//! Caches of package managers behind the walls.
//!
//! A program that downloads sees the user's cache through a layer that belongs to this workspace: what it adds is there
//! for the next one, until the machine is started again, and the user's own cache stays as it is. So nothing that a
//! confined program left there is ever built or run without walls.
//!
//! Deliberately not here: which programs have which caches, which the application says, and the servers.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use host_process::{Confinement, Layer, level, remove_tree};

use crate::access::ProgramAccess;
use crate::layer_place::usable;

/// Where Linux names the run of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The caches of a family of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The programs, by their names.
    pub programs: &'static [&'static str],
    /// The folders, absolute. Those that do not exist are left out.
    pub folders: Vec<PathBuf>,
    /// The folders that a program makes where there is none, each with the name of the program. They are made for it,
    /// empty: it cannot make them itself, because what is around them cannot be changed, and would fail at its first
    /// download.
    pub first: Vec<(&'static str, PathBuf)>,
}

/// The layers of the caches that a program sees. Others wait for none of them: who comes second sees the user's own.
#[derive(Debug, Default)]
pub struct CacheLayers {
    /// Each with its lock, which is held until the program and all that it started have ended.
    layers: Vec<(Layer, File)>,
}

impl CacheLayers {
    /// Prepares those of the programs that these commands name.
    pub(crate) fn new(access: &ProgramAccess, commands: &[Vec<String>]) -> Self {
        let mut found = Self::default();
        let (Some(place), Some(workspace)) = (&access.layers, access.writable.first()) else { return found };
        let names: Vec<&str> = commands.iter().flat_map(|command| named(command)).collect();
        // Only what the words of the command name: each layer is a mount, and its folder is then taken for all other
        // programs.
        let is_meant = |caches: &&Caches| names.iter().any(|name| caches.programs.contains(name));
        let meant: Vec<&Caches> = access.caches.iter().filter(is_meant).collect();
        // Without layers the cache stays read-only; written directly, a confined program could leave code for the
        // user's own.
        if meant.is_empty() || level().no_layers().is_some() {
            return found;
        }
        let first = meant.iter().flat_map(|caches| &caches.first);
        // The program cannot make it: what is around it is read-only to it. The host does, empty.
        for (_, folder) in first.filter(|(program, folder)| names.contains(program) && !folder.exists()) {
            // Where it cannot be made, the program says what it misses.
            if let Err(error) = fs::create_dir_all(folder) {
                tracing::debug!(cache = %folder.display(), "no cache for a layer: {error}");
            }
        }
        let folders = meant.iter().flat_map(|caches| &caches.folders).filter(|path| path.is_dir());
        for folder in folders {
            // Without its layer a program has the cache as the user has it, and is told what it was kept from.
            match layer(place, workspace, folder) {
                Ok(layer) => found.layers.extend(layer),
                Err(error) => tracing::warn!(cache = %folder.display(), "no layer over a cache: {error}"),
            }
        }
        found
    }

    /// Adds them to what the program may touch.
    pub(crate) fn confine(&self, confinement: &mut Confinement) {
        confinement.layers.extend(self.layers.iter().map(|(layer, _)| layer.clone()));
    }
}

/// Returns the programs that a command may be: its own name, and the module that Python runs.
fn named(command: &[String]) -> impl Iterator<Item = &str> {
    let program = command.first().map(|program| program.rsplit('/').next().unwrap_or(program));
    let module = command.iter().skip_while(|word| *word != "-m").nth(1).map(String::as_str);
    program.into_iter().chain(module)
}

/// Prepares the layer of a folder; `None` if another program uses it.
fn layer(place: &Path, workspace: &Path, folder: &Path) -> io::Result<Option<(Layer, File)>> {
    // By workspace and cache: what one project downloads must not be code of another.
    let mut name = blake3::Hasher::new();
    for path in [workspace, folder] {
        name.update(path.as_os_str().as_encoded_bytes()).update(&[0]);
    }
    let own = place.join("caches").join(&*name.finalize().to_hex());
    usable(place)?;
    fs::create_dir_all(&own)?;
    // Two mounts of one layer would damage it.
    let lock = OpenOptions::new().create(true).append(true).mode(0o600).open(own.join("lock"))?;
    match lock.try_lock() {
        Ok(()) => {}
        // The other program has the layer; this one sees the cache without it.
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    let (changes, work) = (own.join("changes"), own.join("work"));
    // What is in a layer is not safe from a crash of the machine: it is that of one run of it.
    let run = fs::read_to_string(BOOT)?;
    // A crash of the machine may have left half of what was written, since the overlay does not wait for the disk.
    if fs::read_to_string(own.join("run")).ok().as_ref() != Some(&run) {
        for folder in [&changes, &work] {
            remove_tree(folder)?;
        }
        fs::write(own.join("run"), run)?;
    }
    for folder in [&changes, &work] {
        fs::create_dir_all(folder)?;
    }
    Ok(Some((Layer { place: fs::canonicalize(folder)?, below: Vec::new(), changes, work }, lock)))
}
