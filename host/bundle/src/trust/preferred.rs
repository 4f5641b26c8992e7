//! The keys whose signatures are looked for first, among all that anybody may have added to a bundle in a registry.

use jiff::Timestamp;

use super::{Trust, TrustedKey};
use crate::bundle::Bundle;
use crate::signature::{KeyId, Signature};

/// Keys that a user trusts, and the time at which their signatures are judged. [`PreferredKeys::default`] has none.
#[derive(Clone, Debug, Default)]
pub struct PreferredKeys {
    trust: Trust,
    now: Timestamp,
}

impl Trust {
    /// Returns the keys whose signatures are looked for first: neither revoked nor replaced.
    pub fn preferred(&self, now: Timestamp) -> PreferredKeys {
        PreferredKeys { trust: self.clone(), now }
    }
}

impl PreferredKeys {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.trust.keys.iter().any(|known| self.is_in_use(known))
    }

    /// Whether this is one of them.
    pub fn contains(&self, key: KeyId) -> bool {
        self.trust.keys.iter().any(|known| known.key.id() == key && self.is_in_use(known))
    }

    /// Returns the key for which a signature counts; `None` if it does not.
    pub fn counts(&self, bundle: &Bundle, signature: &Signature) -> Option<KeyId> {
        self.trust.judge(signature, bundle, self.now).ok()
    }

    fn is_in_use(&self, known: &TrustedKey) -> bool {
        known.replaced_by.is_none() && self.trust.revocation(known.key.id()).is_none()
    }
}
