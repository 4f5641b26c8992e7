//! Evaluations of the agent: tasks with a small repository each, and what must hold when it is done.
//!
//! Owns the form of a [`Case`], running one with a binary of the host, and the judgement. A case runs against any
//! model, or against a recording. The host is used as a user uses it, by its command line alone: an evaluation holds
//! for what is shipped.
//!
//! Deliberately not here: what a model is told (`host-agent`), and benchmarks of speed (`benches`).

pub mod case;
pub mod judge;
pub mod report;
pub mod run;

pub use case::{Case, CaseError};
pub use judge::judge;
pub use report::{Report, Row};
pub use run::{Finished, Setup};
