//! A bundle from any web server: its archive, at an address.

use reqwest::{StatusCode, Url};

use super::client::{Http, body, is_safe, refused, send};
use super::{Progress, RegistryError, Transfer};
use crate::bundle::Bundle;
use crate::oci::OciDigest;
use crate::unpack::MAX_BUNDLE;

/// What the headers of an archive take besides the files in it: 512 bytes before and up to 511 behind each.
const FRAME: u64 = 1 << 20;

impl Bundle {
    /// Gets the archive at an address, which has to be `https`, or of this machine. What is wanted is known by its digest
    /// alone, since the address says nothing of who put it there.
    ///
    /// # Errors
    ///
    /// When the server does not give it, it is no bundle, or it is another one.
    pub async fn download(url: &str, wanted: &OciDigest, progress: Progress<'_>) -> Result<Self, RegistryError> {
        let protocol = |why: String| RegistryError::Protocol { registry: url.to_owned(), why };
        let address = Url::parse(url).map_err(|error| protocol(error.to_string()))?;
        let server = address.host_str().unwrap_or_default().to_owned();
        if !is_safe(&address) {
            return Err(RegistryError::Insecure { registry: server, url: url.to_owned() });
        }
        let http = Http::new()?;
        let answer = send(&server, http.0.get(address)).await?;
        if answer.status() != StatusCode::OK {
            return Err(refused(&server, &format!("`{url}`"), answer).await);
        }
        let total = answer.content_length().unwrap_or_default();
        progress(Transfer { digest: wanted.clone(), done: 0, total });
        let bytes = body(&server, &format!("`{url}`"), answer, MAX_BUNDLE + FRAME).await?;
        progress(Transfer { digest: wanted.clone(), done: bytes.len() as u64, total: bytes.len() as u64 });
        let bundle = Self::read_archive(bytes.as_slice())?;
        if bundle.digest() != wanted {
            let (wanted, found) = (wanted.clone(), bundle.digest().clone());
            return Err(RegistryError::Changed { registry: server, wanted, found });
        }
        Ok(bundle)
    }
}
