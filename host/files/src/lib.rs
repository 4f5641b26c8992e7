//! Private files: read within a limit, trusted only if no other user could have written them, replaced whole or not at
//! all.
//!
//! Owns the bounded read, the one rule about owners and modes, the atomic replacement with its synchronisation, private
//! folders, locks between processes, chained lines, the real paths of many files, and whether a folder takes names of
//! another case for the same.
//!
//! Deliberately not here: the contents and the path of a file, and files of a workspace, which a guest reaches through
//! permits and an open folder (`host-plugin`).

mod chain;
pub mod letter_case;
mod private;
mod read;
mod real_paths;
mod write;

pub use chain::{Chain, ChainError, ChainFault, ChainStore, Examined, LineState, Sealed, without_link};
pub use private::{Access, Exposed, Locked, PrivateFile, check, check_own, is_private, lock, read_own};
pub use read::{
    FileError, Input, open_file, read_file, read_found, read_input, read_limited, read_text, read_text_limited,
};
pub use real_paths::RealPaths;
pub use write::{Mode, NewFile, UNFINISHED, append_private, create, create_private, make_private_folder, replace};
