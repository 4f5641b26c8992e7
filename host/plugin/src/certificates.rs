//! The certificates of the system, loaded once for a process: that takes milliseconds.

use std::sync::{Arc, OnceLock};

/// What every connection of a guest trusts.
#[derive(Debug, Default)]
pub(crate) struct Certificates(OnceLock<Result<rustls::ClientConfig, String>>);

impl Certificates {
    /// What TLS needs.
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
