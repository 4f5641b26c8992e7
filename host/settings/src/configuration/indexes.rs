//! `[indexes.NAME]`: an index of plugins that the user searches.
//!
//! Promises: an index without a key is an error, so that no server can offer plugins by itself. Deliberately not here:
//! getting it (`host_extensions::indexes`). A project has no such key: what a user is offered is for the user to
//! choose.

use host_bundle::PublicKey;
use host_text::exact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::fault::ConfigurationFault;

/// An index of plugins.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexConfig {
    /// Where it is: an `https` address, `REGISTRY/REPOSITORY[:TAG]`, or a path, absolute or beginning with `~/`.
    pub source: String,
    /// The public keys that may sign it, each a line as in a `.pub` file.
    #[schemars(with = "Vec<String>")]
    pub keys: Vec<PublicKey>,
}

impl IndexConfig {
    /// Rejects an index without a key that signs it.
    pub(super) fn check(&self, name: &str) -> Result<(), ConfigurationFault> {
        if self.keys.is_empty() {
            return Err(ConfigurationFault::NoKeys(exact(name).into_owned()));
        }
        Ok(())
    }
}
