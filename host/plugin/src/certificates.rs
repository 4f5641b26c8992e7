//! The system's certificates, loaded once per process because that takes milliseconds.

use std::sync::{Arc, OnceLock};

/// The certificates that every connection of a guest trusts.
#[derive(Debug, Default)]
pub(crate) struct Certificates(OnceLock<Result<rustls::ClientConfig, String>>);

impl Certificates {
    /// Returns the TLS configuration.
    pub(crate) fn tls(&self) -> Result<rustls::ClientConfig, String> {
        self.0
            .get_or_init(|| {
                use rustls_platform_verifier::BuilderVerifierExt;
                let provider = Arc::new(rustls::crypto::ring::default_provider());
                rustls::ClientConfig::builder_with_provider(provider)
                    .with_safe_default_protocol_versions()
                    .and_then(BuilderVerifierExt::with_platform_verifier)
                    .map(|builder| builder.with_no_client_auth())
                    .map_err(|error| error.to_string())
            })
            .clone()
    }
}
