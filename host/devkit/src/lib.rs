//! The author's side of plugins: new ones, builds in each language, cases, checks, and the loop that repeats them.
//!
//! Owns the compilers of each language, the adoption of components that were built elsewhere, the provenance file that
//! makes a build repeatable, the cases in a plugin's folder `tests`, the rules of `host plugin check`, the templates of
//! `host plugin new`, and the contract for other tools.
//!
//! Promises: the same sources and the same compiler give the same bytes; a missing compiler is an error with the line
//! that gets it; a case runs in the same sandbox as any call.
//!
//! Deliberately not here: anything that `host run` needs, arguments, printing, and exit codes.

mod adopt;
mod build;
mod built;
mod cases;
mod check;
mod dev;
mod license;
mod provenance;
mod target;
mod templates;
mod wit;

pub use adopt::{AdoptError, AdoptOptions, adopt};
pub use build::{
    BuildError, BuiltComponent, COMPONENTIZER, Programs, TARGET, Toolchain, Tools, build, compiler, read_manifest,
};
pub use built::{
    BuildOutput, BuiltPlugin, PluginError, Reason, Stale, build_plugins, compile, describe, read_built, read_shipped,
};
pub use cases::{CaseError, CaseFileError, CaseOptions, CaseResult, run_cases};
pub use check::{CheckError, CheckReport, Finding, Severity, Since, check, read_released};
pub use dev::{Changed, DevError, DevEvent, DevOptions, DevSession, OnDevEvent, TooManySources, WatchError};
pub use license::{LICENSE_FILES, license_file, license_gap};
pub use provenance::{Origin, Provenance, ProvenanceEntry};
pub use target::{AddTargetError, add_target, lacks_target};
pub use templates::{NewPlugin, NewPluginError, template_languages};
pub use wit::{PlainContract, WriteContractError};
