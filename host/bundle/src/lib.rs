//! What a plugin is shipped as: its manifest, its component, and where both came from.
//!
//! Owns the manifest (what a person wrote in `plugin.toml`, and what was made of it when the plugin was built), the
//! build from sources to a component, the provenance file that lets anybody repeat it, and what a plugin travels in (the
//! [`Bundle`], which is packed, read from anybody's file, and signed).
//!
//! Promises: a [`Bundle`] is one whose parts agree, whoever made them; nothing is written while one is read; what is
//! signed are the bytes that are checked.
//!
//! Deliberately not here: running a guest, not even to ask it for its tools. Who builds a plugin hands over what
//! the guest said ([`Manifest::new`]). Nor a network: a registry is handed a bundle's blobs, and its answer comes back
//! through [`Bundle::from_image`].

mod build;
mod bundle;
mod manifest;
mod oci;
mod provenance;
mod signature;
mod unpack;

pub use build::{BuildError, BuiltComponent, COMPONENTIZER, TARGET, Tools, build, compiler};
pub use bundle::{
    Bundle, COMPONENT_TYPE, ContentError, LICENSE_TYPE, MANIFEST_TYPE, MAX_SIGNATURES, MINISIG_TYPE, PLUGIN_TYPE,
    PackError, Parts, README_TYPE, Referrer, SCHEMA_TYPE, SIGNATURE_TYPE, SignError,
};
pub use manifest::{
    Build, Declared, Manifest, ManifestError, Source, SourceManifest, ToolEntry, shipped_schema, written_schema,
};
pub use oci::{Descriptor, EMPTY_TYPE, IMAGE_TYPE, INDEX_TYPE, ImageManifest, NoDigest, OciDigest};
pub use provenance::{Provenance, ProvenanceEntry};
pub use signature::{
    KeyError, KeyId, KeyPair, PublicKey, SecretKey, SecretKeyError, SecretKeyFile, Signature, SignatureError,
};
pub use unpack::{EntryFault, UnpackError};
