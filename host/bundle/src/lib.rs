//! What a plugin is shipped as: its manifest, its component, and where both came from.
//!
//! Owns the manifest (what a person wrote in `plugin.toml`, and what was made of it when the plugin was built), the
//! build from sources to a component (in each language), the provenance file that lets anybody repeat it, what is different between two
//! versions ([`Changes`]), what a plugin travels in (the [`Bundle`], which is packed, read from anybody's file, and
//! signed), whose bundles a user believes ([`Trust`]), and the file that says what was installed ([`LockFile`]).
//!
//! Promises: a [`Bundle`] is one whose parts agree, whoever made them; nothing is written while one is read; what is
//! signed are the bytes that are checked.
//!
//! Deliberately not here: running a guest, not even to ask it for its tools. Who builds a plugin hands over what
//! the guest said ([`Manifest::new`]). Nor where a user's files are, what time it is, and the logins for a [`Registry`]:
//! those come from the caller.

mod build;
mod bundle;
mod changes;
mod lock;
mod manifest;
mod oci;
mod provenance;
mod registry;
mod shown;
mod signature;
mod trust;
mod unpack;

pub use build::{BuildError, BuiltComponent, COMPONENTIZER, TARGET, Toolchain, Tools, build, compiler, read_manifest};
pub use bundle::{
    Bundle, COMPONENT_TYPE, ContentError, LICENSE_TYPE, MANIFEST_TYPE, MAX_SIGNATURES, MINISIG_TYPE, PLUGIN_TYPE,
    PackError, Parts, README_TYPE, Referrer, SCHEMA_TYPE, SIGNATURE_TYPE, SignError,
};
pub use changes::{Change, Changes, VersionVerdict, Weight};
pub use lock::{
    Allow, LockError, LockFile, Locked, SignerChange, Signers, Update, UpdateRefusal, VersionChange, check_update,
};
pub use manifest::{
    Build, ConfigKey, ConfigType, Declared, DeclaredSecret, Language, Manifest, ManifestError, Mismatch, Source, SourceManifest,
    ToolEntry, check_name, shipped_schema, written_schema,
};
pub use oci::{Descriptor, EMPTY_TYPE, IMAGE_TYPE, INDEX_TYPE, ImageManifest, NoDigest, OciDigest};
pub use provenance::{Provenance, ProvenanceEntry};
pub use registry::{Login, NoReference, Progress, Reference, Registry, RegistryError, Transfer, Which};
pub use signature::{
    KeyError, KeyId, KeyPair, PublicKey, SecretKey, SecretKeyError, SecretKeyFile, Signature, SignatureError,
};
pub use trust::{
    NoPattern, Pattern, Refusal, Revocation, Revoked, Rotation, RotationError, StoreError, Trust, TrustError,
    TrustStore, TrustedKey, Verdict,
};
pub use unpack::{EntryFault, UnpackError};
