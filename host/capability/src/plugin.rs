//! The name of a plugin, as a type, so that it is not taken for a tool's.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

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

// A map is searched by text, too: the derived order and hash are those of the text.
impl Borrow<str> for PluginName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for PluginName {
    fn eq(&self, text: &str) -> bool {
        *self.0 == *text
    }
}

impl<'de> Deserialize<'de> for PluginName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&visible(&self.0))
    }
}
