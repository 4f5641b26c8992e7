//! Shell lines and known programs: what a command would run and write, as far as its text determines it.
//!
//! Owns the grammar of shell lines ([`read`]), the facts about single programs, and [`analyse`], which takes a command
//! apart into the simple commands that would run, with the reasons why something about them is not clear.
//!
//! It promises to end for any text, without a panic and with bounded recursion, and to do no I/O.
//!
//! Deliberately not here: rules, grants, and whether a command may run. `host-tool` decides that from the findings.

mod analysis;
mod grammar;
mod hazard;
mod inner;
mod looks;
mod named_path;
mod options;
pub mod programs;
mod reading;
mod registries;
mod usage;
mod variable;
mod word;

pub use analysis::{Analysis, Command, analyse, analyse_line, base_name};
pub use grammar::{Line, Redirect, SimpleCommand, read};
pub use hazard::{Hazard, HazardKind};
pub use inner::{Inner, Wrapped};
pub use named_path::NamedPath;
pub use reading::Reads;
pub use registries::{REGISTRIES, Registry, registry_of};
pub use word::{Word, quote};
