//! The assertion that a service account signs to get a token: a JSON web token by RFC 7523, with RS256 of RFC 7518.
//!
//! The library that makes the signatures of TLS signs it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::SignatureScheme;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SigningKey;
use serde::Serialize;
use url::Url;

use super::credentials::Account;

/// All of Google's services that the account may use; Google decides which those are.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// How long an assertion is valid: the longest time that Google accepts.
const LIFETIME: Duration = Duration::from_secs(3600);

/// Reads the private key from PEM text.
///
/// # Errors
///
/// The reason, without any part of the key.
pub(super) fn key(pem: &str) -> Result<Arc<dyn SigningKey>, String> {
    let der = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| "its `private_key` is not PEM".to_owned())?;
    let key = rustls::crypto::ring::sign::any_supported_type(&der)
        .map_err(|_| "its `private_key` is not a key that can sign".to_owned())?;
    match key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]) {
        Some(_) => Ok(key),
        None => Err("its `private_key` is not an RSA key".to_owned()),
    }
}

impl Account {
    /// Signs the assertion for the token endpoint at this address.
    ///
    /// # Errors
    ///
    /// The library's error if it cannot sign.
    pub(super) fn assertion(&self, endpoint: &Url, now: SystemTime) -> Result<String, rustls::Error> {
        let issued = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let header = Header { alg: "RS256", typ: "JWT", kid: self.key_id.as_deref() };
        let claims = Claims {
            iss: &self.email,
            scope: SCOPE,
            aud: endpoint.as_str(),
            iat: issued.as_secs(),
            exp: (issued + LIFETIME).as_secs(),
        };
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let signer = self.key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        let signer = signer.ok_or_else(|| rustls::Error::General("it is not an RSA key".to_owned()))?;
        let signature = signer.sign(signed.as_bytes())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn encoded(value: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).expect("every key is text and no serialiser is our own"))
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    scope: &'static str,
    aud: &'a str,
    iat: u64,
    exp: u64,
}
