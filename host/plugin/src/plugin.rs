//! A plugin as the runtime knows it: its component, what its manifest requests, and its compiled form once it was
//! needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use host_capability::{CapabilitySet, Grants, PluginName};
use tokio::sync::OnceCell;
use wasmtime::component::Component;

use crate::admission::{self, AdmissionError, EMPTY_COMPONENT, Imports};
use crate::bindings::EverythingPre;
use crate::component::{ComponentBytes, ComponentError};
use crate::digest::Digest;
use crate::precompiled::Precompiled;
use crate::store::StoreData;

/// A plugin. Creating one reads and compiles nothing; that happens at its first call.
pub struct Plugin {
    name: PluginName,
    component: ComponentBytes,
    declared: Grants,
    optional: CapabilitySet,
    imports: OnceLock<Imports>,
    digest: OnceLock<Digest>,
    pub(crate) precompiled: Option<Precompiled>,
    pub(crate) compiled: OnceCell<Component>,
    pub(crate) linked: Mutex<HashMap<Linked, Arc<EverythingPre<StoreData>>>>,
}

/// The linker that a component was linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Linked {
    /// The capabilities that it contains.
    pub(crate) granted: CapabilitySet,
    /// What happens to the missing ones.
    pub(crate) missing: Missing,
}

/// The treatment of an import that is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Missing {
    /// The component cannot be linked: the rule for each call, except for optional capabilities.
    Refuse,
    /// The component is linked, and calling the import is a trap: for `describe` and `preview`, which run a component
    /// with less than it requests.
    Trap,
    /// The same for an optional capability: the call ends with a denial that says what would grant it.
    Deny,
}

impl Plugin {
    /// Creates a plugin with this component, whose manifest requests `declared`.
    pub fn new(name: PluginName, component: impl Into<ComponentBytes>, declared: Grants) -> Self {
        let component = component.into();
        let digest = match &component {
            ComponentBytes::Stored(stored) => stored.digest().clone().into(),
            ComponentBytes::BuiltIn(_) | ComponentBytes::Held(_) => OnceLock::new(),
        };
        Self {
            name,
            component,
            declared,
            optional: CapabilitySet::default(),
            imports: OnceLock::new(),
            digest,
            precompiled: None,
            compiled: OnceCell::new(),
            linked: Mutex::default(),
        }
    }

    /// Sets a digest that was computed before, such as when the host was built: to compute that of a large component
    /// takes milliseconds. It must be the component's own: the compiled form is found by it.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Self {
        Self { digest: digest.into(), ..self }
    }

    /// Sets the machine code that came with the binary. If it is not that of the component, or this machine cannot run
    /// it, the component is compiled as without it.
    #[must_use]
    pub fn with_precompiled(self, precompiled: Precompiled) -> Self {
        Self { precompiled: Some(precompiled), ..self }
    }

    /// Sets the capabilities that the plugin works without: a call runs even if one of them is not granted, and is
    /// denied if it uses that one.
    #[must_use]
    pub fn with_optional(self, optional: CapabilitySet) -> Self {
        Self { optional, ..self }
    }

    /// Returns the capabilities that it works without.
    pub fn optional(&self) -> CapabilitySet {
        self.optional
    }

    /// Returns its name, as grants and denials use it.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// Returns what its manifest requests.
    pub fn declared(&self) -> &Grants {
        &self.declared
    }

    /// Returns the component; one that is stored is read for this.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or was changed: see [`ComponentError`].
    pub fn component(&self) -> Result<Cow<'_, [u8]>, ComponentError> {
        self.component.get()
    }

    /// The same, without keeping the thread that waits for it.
    pub(crate) async fn component_aside(&self) -> Result<Cow<'_, [u8]>, ComponentError> {
        self.component.get_aside().await
    }

    /// Returns the size of the component, in bytes.
    pub fn size(&self) -> u64 {
        self.component.size()
    }

    /// Whether it brings only files: its component has nothing in it.
    pub fn is_empty(&self) -> bool {
        // Nothing else is a component of this size.
        self.size() == EMPTY_COMPONENT.len() as u64
    }

    /// Returns the component if it is part of the binary, whose author answers for it.
    pub(crate) fn built_in(&self) -> Option<&'static [u8]> {
        match self.component {
            ComponentBytes::BuiltIn(bytes) => Some(bytes),
            ComponentBytes::Held(_) | ComponentBytes::Stored(_) => None,
        }
    }

    /// Returns the digest of the component.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| match &self.component {
            ComponentBytes::BuiltIn(bytes) => Digest::of(bytes),
            ComponentBytes::Held(bytes) => Digest::of(bytes),
            ComponentBytes::Stored(stored) => stored.digest().clone(),
        })
    }

    /// Returns the imports of the component.
    ///
    /// # Errors
    ///
    /// If it is not a plugin: see [`admission::imports`].
    pub fn imports(&self) -> Result<&Imports, AdmissionError> {
        if let Some(imports) = self.imports.get() {
            return Ok(imports);
        }
        let read_at = |at, into: &mut [u8]| self.component.read_unchecked(at, into);
        let imports = admission::imports_within(&self.name, self.size(), read_at)?;
        Ok(self.imports.get_or_init(|| imports))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({}, {} bytes)", self.name, self.size())
    }
}
