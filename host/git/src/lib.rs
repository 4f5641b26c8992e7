//! Git's own folder: what git obeys in it, and what of a program's changes to it may come back.
//!
//! A program that is confined sees `.git` through a layer of its own. [`Before`] remembers the real folder, and
//! [`carry_over`] brings back the files that are known, valid, and run nothing when the user's own git finds them.
//! [`Repository`] is what git itself takes for one, [`is_inert_at`] says whether it makes git run something, [`obeyed`]
//! what its settings name besides, [`users_ssh_command`] which ssh the user's git starts, [`Search`] finds the
//! repositories in a tree, [`changed_files`] counts the files that are not as git has them, and [`check_nested`] says
//! whether a repository that a program made in a tree may stay.
//!
//! Promises: files of a repository are read within a limit, never through a link at their end, and never waited for;
//! what cannot be read as git reads it counts as hostile; nothing is written through a link, over a file that changed
//! meanwhile, or without git's own lock; git beside it never sees a ref before its objects.
//!
//! Deliberately not here: running git, how the layer is made (`host-process`), which folders a program may touch,
//! whether objects are what their names say (git checks that itself), and repositories with `reftable`, which count as
//! hostile.

mod address;
mod before;
mod carry;
mod changed;
mod config;
mod content;
mod index;
mod inert;
mod judge;
mod kind;
mod names;
mod nested;
mod obeyed;
mod operation;
mod packs;
mod place;
mod repository;
mod search;
mod settings;
mod ssh_command;
mod why;

pub use before::Before;
pub use carry::{CarriedOver, Change, ChangeKind, Changes, Left, carry_over};
pub use changed::changed_files;
pub use inert::{Whose, is_inert};
pub use nested::{Harmful, check_nested};
pub use obeyed::obeyed;
pub use repository::{Repository, Unclear, branch, folders_of, is_inert_at};
pub use search::Search;
pub use ssh_command::{names_ssh_command, users_ssh_command};
pub use why::Why;
