//! Bundles: the file in which a plugin is distributed, its signatures, and the list of installed plugins.
//!
//! Owns the OCI shapes of a bundle, packing one ([`Parts`]), reading an untrusted one ([`Bundle`]), signatures, the
//! keys that a user trusts ([`Trust`]), the lock file ([`LockFile`]), and indexes of plugins ([`PluginIndex`]).
//!
//! Promises: the parts of a [`Bundle`] agree, whoever made it; reading one writes nothing; the bytes that are signed
//! are the bytes that are checked.
//!
//! Deliberately not here: HTTP (`host-registry`), running a guest, and the paths of a user's files and the current
//! time, which the caller passes.

mod bundle;
mod index;
mod listing;
mod lock;
mod oci;
mod signature;
mod sizes;
mod trust;
mod unpack;

pub use bundle::{
    Bundle, BundleFiles, COMPONENT_TYPE, ContentError, KEY_ANNOTATION, LICENSE_TYPE, MANIFEST_TYPE, MAX_IMAGE,
    MAX_SIGNATURES, MINISIG_TYPE, PLUGIN_TYPE, PackError, Parts, README_TYPE, Referrer, SCHEMA_TYPE, SIGNATURE_TYPE,
    SignError,
};
pub use index::{
    IndexEntry, IndexError, IndexTool, MAX_INDEX_SIGNATURE, MAX_PLUGIN_INDEX, PLUGIN_INDEX_JSON, PLUGIN_INDEX_TYPE,
    PluginIndex, SIGNATURE_END, SignedIndex, UnsignedBundle, index_schema,
};
pub use listing::{Listed, listing};
pub use lock::{
    Allow, LockError, LockFile, Locked, SignerChange, Signers, Update, UpdateRefusal, VersionChange, check_update,
};
pub use oci::{Descriptor, EMPTY_TYPE, IMAGE_TYPE, INDEX_TYPE, ImageManifest, Index, NoDigest, OciDigest};
pub use signature::{
    KeyError, KeyId, KeyPair, PublicKey, SecretKey, SecretKeyError, SecretKeyFile, Signature, SignatureError,
};
pub use sizes::{MAX_BLOB, MAX_BUNDLE};
pub use trust::{
    NoPattern, Pattern, PreferredKeys, Purpose, Refusal, Revocation, Revoked, Rotation, RotationError, StoreError,
    Trust, TrustError, TrustStore, TrustedKey, Verdict,
};
pub use unpack::{EntryFault, StoredBundle, UnpackError};
