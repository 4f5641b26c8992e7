//! The descriptor of a provider: its names, variables and addresses, and how it is created.
//!
//! Each provider has one, as a constant in its own file; [`PROVIDERS`](crate::PROVIDERS) lists them. Help texts,
//! errors, `host doctor` and the configuration read them from there.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Access, ModelError, ModelSeries, Provider};

/// Creates the provider for a model of this name.
pub(crate) type Connect = fn(&str, Access) -> Result<Arc<dyn Provider>, ModelError>;

/// The descriptor of a provider.
pub struct ProviderSpec {
    /// The name of the provider in ids of models, messages, logs and the configuration.
    pub name: &'static str,
    /// The ids of its models.
    pub models: ModelIds,
    /// The environment variable of its key, as in the service's own clients.
    pub key_variable: Option<&'static str>,
    /// Its address, if it is a service.
    pub address: Option<AddressSpec>,
    /// Whether it is used with a login at Google.
    pub login: LoginSpec,
    /// The models to use if only its key is set.
    pub usual_models: Option<UsualModels>,
    /// Creates the provider for a model. Nothing is sent and no certificate is read before the first request; a script
    /// and a file of credentials are read here.
    pub connect: Connect,
}

/// The ids of the models of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelIds {
    /// `gemini/NAME`, with the service's name for the model.
    Named,
    /// `scripted:FILE`.
    File,
    /// `offline`: it has one model.
    Single,
}

/// The address of a service.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpec {
    /// The environment variable of the base address, as in the service's own clients.
    pub variable: &'static str,
    /// The base address if none is given; `None` if it depends on the location.
    pub default: Option<&'static str>,
    /// An address as an example for messages.
    pub example: &'static str,
}

impl AddressSpec {
    /// Describes a service with one address.
    pub(crate) const fn new(variable: &'static str, default: &'static str) -> Self {
        Self { variable, default: Some(default), example: default }
    }
}

/// Whether a provider is used with a login at Google.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginSpec {
    /// Never.
    Never,
    /// If the configuration says so, instead of a key.
    Optional,
    /// Always.
    Required,
}

/// Models of a provider, by their ids: those that the services' model pages recommended in November 2026.
#[derive(Clone, Copy, Debug)]
pub struct UsualModels {
    /// The model for most tasks, unless the service's own list has a newer one of the series.
    pub main: &'static str,
    /// The model for simple tasks.
    pub simple: &'static str,
    /// The model that picks one of the other two.
    pub classifier: &'static str,
    /// The series of the model for most tasks.
    pub series: ModelSeries,
    /// The page on which a user makes a key.
    pub key_page: &'static str,
}

/// One of [`PROVIDERS`](crate::PROVIDERS). Two are equal if their names are.
#[derive(Clone, Copy)]
pub struct ProviderId(&'static ProviderSpec);

impl ProviderId {
    pub(crate) const fn new(spec: &'static ProviderSpec) -> Self {
        Self(spec)
    }

    /// Returns the name of the provider.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the form of the ids of its models, such as `gemini/NAME`.
    pub fn model_form(self) -> String {
        match self.models {
            ModelIds::Named => format!("{}/NAME", self.name),
            ModelIds::File => format!("{}:FILE", self.name),
            ModelIds::Single => self.name.to_owned(),
        }
    }
}

impl Deref for ProviderId {
    type Target = ProviderSpec;

    fn deref(&self) -> &ProviderSpec {
        self.0
    }
}

impl PartialEq for ProviderId {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ProviderId {}

impl PartialOrd for ProviderId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProviderId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(other.name)
    }
}

impl fmt::Debug for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
