//! A component as a source found it, with what is known about it beforehand.
//!
//! Deliberately not here: its manifest, and where it was found.

use host_capability::{Grants, PluginName};
use host_plugin::{ComponentBytes, Digest, Plugin, Precompiled};

/// A component, with what need not be computed of it.
pub(crate) struct LoadedComponent {
    bytes: ComponentBytes,
    /// Its own digest; with `None` it is computed when it is needed, unless it names a stored component.
    digest: Option<Digest>,
    /// Its machine code, if the binary has it.
    precompiled: Option<Precompiled>,
}

impl LoadedComponent {
    /// A component that was read, or is stored.
    pub(crate) fn new(bytes: impl Into<ComponentBytes>, digest: Option<Digest>) -> Self {
        Self { bytes: bytes.into(), digest, precompiled: None }
    }

    /// A component of the binary.
    pub(crate) fn built_in(bytes: &'static [u8], digest: Digest, precompiled: Option<Precompiled>) -> Self {
        Self { bytes: bytes.into(), digest: Some(digest), precompiled }
    }

    /// Returns the plugin with this component, whose manifest requests `declared`.
    pub(crate) fn into_plugin(self, name: PluginName, declared: Grants) -> Plugin {
        let mut plugin = Plugin::new(name, self.bytes, declared);
        if let Some(digest) = self.digest {
            plugin = plugin.with_digest(digest);
        }
        if let Some(precompiled) = self.precompiled {
            plugin = plugin.with_precompiled(precompiled);
        }
        plugin
    }
}
