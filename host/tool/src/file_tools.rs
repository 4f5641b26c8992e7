//! The names of the built-in tools that change files by their content, which rules, settings and the names of other
//! agents treat as one another's.
//!
//! Deliberately not here: which of them a model is offered, and what they do (`plugins/`).

/// Replaces a passage of a file.
pub const EDIT: &str = "edit";

/// Writes a whole file.
pub const WRITE_FILE: &str = "write_file";

/// Changes several files with a patch.
pub const APPLY_PATCH: &str = "apply_patch";

/// The tools in whose place [`APPLY_PATCH`] is: a model has them or the patch, and what is said about changes of one
/// holds for the other.
pub const IN_PLACE_OF_PATCHES: [&str; 2] = [EDIT, WRITE_FILE];
