//! What a plugin is shipped as: its manifest, its component, and where both came from.
//!
//! Owns the manifest (what a person wrote in `plugin.toml`, and what was made of it when the plugin was built), the
//! build from sources to a component (in each language), and the provenance file that lets anybody repeat it.
//!
//! Deliberately not here: running a guest, not even to ask it for its tools. Who builds a plugin hands over what
//! the guest said ([`Manifest::new`]). Signing, packing and registries will live here; they do not exist yet.

mod build;
mod manifest;
mod provenance;

pub use build::{
    Build, BuildError, BuiltComponent, COMPONENTIZER, Language, TARGET, Toolchain, Tools, build, compiler,
};
pub use manifest::{Declared, Manifest, ManifestError, Source, SourceManifest, ToolEntry};
pub use provenance::{Provenance, ProvenanceEntry};
