//! A plugin as the runtime knows it: its component, what its manifest asks for, and its compiled form once it
//! was needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use host_capability::{CapabilitySet, Grants, PluginName};
use tokio::sync::OnceCell;
use wasmtime::component::Component;

use crate::admission::{self, AdmissionError, Imports};
use crate::bindings::EverythingPre;
use crate::digest::Digest;
use crate::store::CallState;

/// A plugin. Making one reads nothing and compiles nothing; that happens at its first call.
pub struct Plugin {
    name: PluginName,
    component: Cow<'static, [u8]>,
    declared: Grants,
    optional: CapabilitySet,
    imports: OnceLock<Imports>,
    digest: OnceLock<Digest>,
    pub(crate) compiled: OnceCell<Component>,
    pub(crate) linked: Mutex<HashMap<Linked, Arc<EverythingPre<CallState>>>>,
}

/// Which linker a component was linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Linked {
    /// The capabilities that are there.
    pub(crate) granted: CapabilitySet,
    /// Whether what is missing traps when it is called, rather than refuses the component.
    pub(crate) missing: Missing,
}

/// What becomes of an import that is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Missing {
    /// The component cannot be linked: the rule for each call, but for what is optional.
    Refuse,
    /// The component is linked, and calling the import is a trap: for `describe` and `preview`, which run a
    /// component with less than it asks for.
    Trap,
    /// The same for a capability that is optional: the call ends there, as a refusal that says what would grant it.
    Deny,
}

impl Plugin {
    /// A plugin with this component, whose manifest asks for `declared`.
    pub fn new(name: PluginName, component: impl Into<Cow<'static, [u8]>>, declared: Grants) -> Self {
        Self {
            name,
            component: component.into(),
            declared,
            optional: CapabilitySet::default(),
            imports: OnceLock::new(),
            digest: OnceLock::new(),
            compiled: OnceCell::new(),
            linked: Mutex::default(),
        }
    }

    /// The same plugin with a digest that was made before, such as when the host was built: taking it of a large
    /// component costs milliseconds. It must be the component's own: what was compiled is found by it.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Self {
        Self { digest: digest.into(), ..self }
    }

    /// The same plugin, which can do without these capabilities: a call is run where one of them is not granted, and
    /// refused when it uses that one.
    #[must_use]
    pub fn with_optional(self, optional: CapabilitySet) -> Self {
        Self { optional, ..self }
    }

    /// The capabilities that it can do without.
    pub fn optional(&self) -> CapabilitySet {
        self.optional
    }

    /// Its name, as grants and refusals have it.
    pub fn name(&self) -> &PluginName {
        &self.name
    }

    /// What its manifest asks for.
    pub fn declared(&self) -> &Grants {
        &self.declared
    }

    /// The component.
    pub fn component(&self) -> &[u8] {
        &self.component
    }

    /// The digest of the component.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| Digest::of(&self.component))
    }

    /// What the component asks for.
    ///
    /// # Errors
    ///
    /// When it is no plugin: see [`admission::imports`].
    pub fn imports(&self) -> Result<&Imports, AdmissionError> {
        if let Some(imports) = self.imports.get() {
            return Ok(imports);
        }
        let imports = admission::imports(&self.name, &self.component)?;
        Ok(self.imports.get_or_init(|| imports))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({}, {} bytes)", self.name, self.component.len())
    }
}
