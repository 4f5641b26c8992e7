//! The author's side of plugins: from sources in any language to components, and what says where they came from.
//!
//! Owns the build of each language and the provenance file that lets anybody repeat a build.
//!
//! Promises: the same sources and the same compiler give the same bytes; a missing compiler is an error with the line
//! that gets it.
//!
//! Deliberately not here: anything that `host run` needs, arguments, printing, and exit codes.

mod build;
mod provenance;

pub use build::{BuildError, BuiltComponent, COMPONENTIZER, TARGET, Toolchain, Tools, build, compiler, read_manifest};
pub use provenance::{Provenance, ProvenanceEntry};
