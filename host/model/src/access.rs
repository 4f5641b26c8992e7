//! The settings for reaching a service. The environment is not read here: the caller fills this in.

use std::time::Duration;

use crate::{ApiKey, Login};

/// The settings for reaching a service. The default is the service's own address, and no key.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The base address instead of the service's own, such as `http://127.0.0.1:11434/v1`.
    pub address: Option<String>,
    /// The key.
    pub key: Option<ApiKey>,
    /// The login at Google, instead of a key.
    pub login: Option<Login>,
    /// The Google Cloud project that is billed, for Vertex AI.
    pub project: Option<String>,
    /// The Google Cloud location where the model runs, for Vertex AI; `global` if it is `None`.
    pub location: Option<String>,
    /// Headers to send with each request besides those of the format, such as those that a gateway requires. They may
    /// contain secrets, so they are not shown.
    pub headers: Vec<(String, ApiKey)>,
    /// The proxy to use instead of the one that the environment names.
    pub proxy: Option<String>,
    /// How long the service may send nothing before the reply counts as broken; 300 s if it is `None`.
    pub silence: Option<Duration>,
}
