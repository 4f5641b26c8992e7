//! Why a program did not start.

use std::io;
use std::path::PathBuf;

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program, or no such folder.
    #[error("not found")]
    NotFound,
    /// A word or a variable contains a NUL character, or a variable has no name.
    #[error("a word or a variable of the command is invalid")]
    Invalid,
    /// The machine has no layers.
    #[error("this machine cannot isolate what a program changes in `{}`: {why}", place.display())]
    NoLayers {
        /// The folder of the first layer.
        place: PathBuf,
        /// Why, as a sentence without a full stop.
        why: String,
    },
    /// A folder of a layer is not usable.
    #[error("`{}`, where changes of `{}` are kept, cannot be used: {source}", folder.display(), place.display())]
    Layer {
        /// The folder of the layer.
        place: PathBuf,
        /// The folder that is not usable: the place or one that belongs to it.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program that uses the same folders still runs.
    #[error("another program still changes the copy of `{}` in `{}`: wait for its end", place.display(), changes.display())]
    LayerInUse {
        /// The folder of the layer.
        place: PathBuf,
        /// Where its changes are kept.
        changes: PathBuf,
    },
    /// The machine can hide nothing.
    #[error("`{}` cannot be hidden from a program: this machine has neither mounts nor Landlock for it; see `host doctor`", path.display())]
    NotHidden {
        /// The first file or folder to hide.
        path: PathBuf,
    },
    /// The system did not start it.
    #[error("{step}: {source}")]
    System {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
}
