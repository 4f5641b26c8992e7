//! The name of a plugin, as a type, so that it is not taken for a tool's.

use std::fmt;
use std::sync::Arc;

use crate::visible::visible;

/// A plugin's name, as its manifest gives it. Cheap to clone: permits carry it.
///
/// Any text is accepted, since the code that admits a plugin has the rules for names. `Display` is safe for a terminal
/// whatever the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(Arc<str>);

impl PluginName {
    /// Takes the text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into().into())
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&visible(&self.0))
    }
}
