//! What the programs of calls may touch: the folders that they read and change, the user's repositories and caches
//! behind layers, the files that are kept from them, and the variables that they get.
//!
//! Owns how far the programs of a call reach ([`ProgramReach`]), the confinement of the next one ([`Programs::next`]),
//! the layers over git's folders and over caches of package managers, temporary folders, and the list of variables that
//! pass.
//!
//! Promises: a program sees no variable that is not on the list or that looks like a secret; nothing that a confined
//! program leaves in git's folders or in a cache is obeyed or run without walls.
//!
//! Deliberately not here: starting a program and the walls themselves (`host-process`), which call may start which
//! program (`host-plugin`, `host-tool`), and where the user's folders and caches are, which the application says.

mod access;
mod caches;
mod hidden;
mod layer_folders;
mod layer_place;
mod lock;
mod programs;
mod repositories;
mod temporary;
mod variables;
mod walls;

pub use access::{CommandsIn, Offer, ProgramAccess, Unkept};
pub use caches::{CacheLayers, Caches};
pub use programs::{Confined, Programs};
pub use repositories::Repositories;
pub use temporary::TemporaryFolder;
pub use variables::Variables;
pub use walls::{ProgramReach, ProgramWalls};
