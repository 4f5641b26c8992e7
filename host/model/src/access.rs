//! What it takes to reach a service. The environment is not read here: the caller fills this in.

use std::time::Duration;

use crate::{ApiKey, Login};

/// What it takes to reach a service. The default is its own address, and no key.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The base address instead of the service's own, such as `http://127.0.0.1:11434/v1`.
    pub address: Option<String>,
    /// The key.
    pub key: Option<ApiKey>,
    /// The login at Google, instead of a key.
    pub login: Option<Login>,
    /// The project of Google Cloud that pays, for Vertex AI.
    pub project: Option<String>,
    /// The place of Google Cloud where the model runs, for Vertex AI; `global` if it is `None`.
    pub location: Option<String>,
    /// Headers to send with each request besides those of the format, such as those that a gateway wants. They may
    /// hold secrets, so they are not shown.
    pub headers: Vec<(String, ApiKey)>,
    /// The proxy to use instead of the one that the environment names.
    pub proxy: Option<String>,
    /// How long the service may send nothing before the reply counts as broken; 300 s if it is `None`.
    pub silence: Option<Duration>,
}
