//! A plugin's manifest: what its author wrote, what is shipped, and what differs between two versions.
//!
//! Owns `plugin.toml` ([`SourceManifest`]) and the shipped manifest ([`Manifest`]), the settings and secrets that a
//! plugin declares, the JSON Schemas of both files, the comparison of two versions ([`Changes`]),
//! and the explanation of what a plugin may touch ([`explain()`]).
//!
//! Promises: an unknown key is an error that names the nearest known one, and so is a duplicate key; a shipped manifest
//! is all that the host needs to declare the plugin's tools to a model without running it.
//!
//! Deliberately not here: files and the network. The caller reads the text and says where it came from ([`Source`]).

mod changes;
mod explain;
mod manifest;
mod shown;
mod unique_keys;

pub use changes::{Change, Changes, VersionVerdict, Weight};
pub use explain::explain;
pub use manifest::{
    Build, ConfigKey, ConfigType, Declared, DeclaredSecret, FileKind, Files, FilesError, Language, Manifest,
    ManifestError, Mismatch, Source, SourceManifest, ToolEntry, check_name, is_name, shipped_schema, written_schema,
};
pub use shown::{cut, cut_lines};
pub use unique_keys::check_unique_keys;
