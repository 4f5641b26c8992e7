//! Pulls a bundle from a registry.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use host_bundle::{Bundle, Descriptor, IMAGE_TYPE, MAX_BLOB, MAX_IMAGE, OciDigest, PreferredKeys, Signature};
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderValue, RANGE};

use crate::client::{Asked, Exchange, body, protocol, refused};
use crate::part::{ATTEMPTS, Part};
use crate::{Progress, Reference, Registry, RegistryError, Transfer, Which};

impl Registry {
    /// Gets a bundle with the signatures that refer to it. Its author is not verified yet.
    ///
    /// Others may add what they like to what refers to it. So those that claim a preferred key come first, until one
    /// counts; referrers that are not signatures are skipped, and what is not looked at is counted
    /// ([`Bundle::unread_signatures`]).
    ///
    /// # Errors
    ///
    /// If the registry does not have it, does not send it, or sends something different from what it announced; or if
    /// the content is not a bundle. An interrupted blob is kept, and the next call resumes it.
    pub async fn pull(
        &self,
        reference: &Reference,
        preferred: &PreferredKeys,
        progress: Progress<'_>,
    ) -> Result<Bundle, RegistryError> {
        self.exchange(reference, |exchange| async move { exchange.pull(preferred, progress).await }).await
    }
}

impl Exchange<'_> {
    async fn pull(&self, preferred: &PreferredKeys, progress: Progress<'_>) -> Result<Bundle, RegistryError> {
        let Self { reference, timer, .. } = self;
        timer.begin(format!("the manifest `{}`", reference.which()));
        let image = self.manifest(&reference.which(), IMAGE_TYPE).await?;
        let image = image.ok_or_else(|| RegistryError::NotFound {
            registry: reference.registry().to_owned(),
            what: format!("`{}:{}`", reference.repository(), reference.which()),
        })?;
        let mut blobs = BTreeMap::new();
        for descriptor in Bundle::wanted(&image)? {
            timer.expect(descriptor.size);
            timer.begin(format!("the blob {}", descriptor.digest));
            self.blob(&descriptor, &mut blobs, progress).await?;
        }
        let mut bundle = Bundle::from_blobs(image, blobs.into_values())?;
        timer.begin("the list of signatures");
        self.add_signatures(&mut bundle, preferred, progress).await?;
        Ok(bundle)
    }

    /// Gets the signature in a manifest that refers to a bundle.
    pub(crate) async fn signature(
        &self,
        bundle: &Bundle,
        manifest: &[u8],
        progress: Progress<'_>,
    ) -> Result<Signature, RegistryError> {
        let name = OciDigest::of(manifest);
        let layer = bundle.signature_layer(manifest)?;
        let mut text = BTreeMap::new();
        self.blob(&layer, &mut text, progress).await?;
        let text = text.into_values().next().unwrap_or_default();
        let text = String::from_utf8(text)
            .map_err(|_| protocol(self.reference, format!("the signature {name} is not UTF-8 text")))?;
        Signature::new(text).map_err(|error| protocol(self.reference, format!("{name}: {error}")))
    }

    /// Gets a manifest; `None` if the registry has none.
    pub(crate) async fn manifest(&self, which: &Which, accept: &'static str) -> Result<Option<Vec<u8>>, RegistryError> {
        let mut asked = Asked::get(self.url(&format!("manifests/{which}"))?);
        asked.headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let answer = self.ask(&asked).await?;
        let what = format!("the manifest `{which}`");
        match answer.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            _ => return Err(refused(self.reference.registry(), &what, answer).await),
        }
        let bytes = body(self.reference.registry(), &what, answer, MAX_IMAGE).await?;
        match which {
            Which::Digest(wanted) if OciDigest::of(&bytes) != *wanted => Err(RegistryError::Changed {
                registry: self.reference.registry().to_owned(),
                wanted: wanted.clone(),
                found: OciDigest::of(&bytes),
            }),
            Which::Digest(_) | Which::Tag(_) => Ok(Some(bytes)),
        }
    }

    /// Gets a blob, unless it is already there.
    pub(crate) async fn blob(
        &self,
        descriptor: &Descriptor,
        found: &mut BTreeMap<OciDigest, Vec<u8>>,
        progress: Progress<'_>,
    ) -> Result<(), RegistryError> {
        let Descriptor { digest, size, .. } = descriptor;
        // Two layers may be the same bytes, such as two schemas.
        if found.contains_key(digest) {
            return Ok(());
        }
        // Under the digest: what an interrupted download left is found by any later one of the same blob.
        let mut part = Part::open(&self.registry.downloads, digest.digits(), MAX_BLOB)?;
        for _ in 0..ATTEMPTS {
            // The size is a part of the descriptor, and with it of what is signed.
            if part.done > *size {
                part.restart()?;
            }
            if part.done < *size {
                self.go_on(descriptor, &mut part, progress).await?;
            }
            if part.done == *size {
                break;
            }
        }
        if part.done < *size {
            let (registry, digest) = (self.reference.registry().to_owned(), digest.clone());
            return Err(RegistryError::BrokeOff { registry, digest, done: part.done, total: Some(*size) });
        }
        let bytes = part.finish(*size)?;
        let came = OciDigest::of(&bytes);
        // Hashed as a whole once more: a part may have come from several transfers.
        if came != *digest {
            let (registry, wanted) = (self.reference.registry().to_owned(), digest.clone());
            return Err(RegistryError::Changed { registry, wanted, found: came });
        }
        found.insert(digest.clone(), bytes);
        Ok(())
    }

    /// Requests what is missing of a blob, and receives it.
    async fn go_on(
        &self,
        descriptor: &Descriptor,
        part: &mut Part,
        progress: Progress<'_>,
    ) -> Result<(), RegistryError> {
        let Descriptor { digest, size, .. } = descriptor;
        let mut asked = Asked::get(self.url(&format!("blobs/{digest}"))?);
        if part.done > 0
            && let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", part.done))
        {
            asked.headers.insert(RANGE, range);
        }
        // Asked for as usual, so that a token that has expired is renewed.
        let answer = self.ask(&asked).await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT if part.done > 0 => {}
            // The server does not support ranges, or our part belongs to a different blob.
            StatusCode::OK => part.restart()?,
            StatusCode::RANGE_NOT_SATISFIABLE => return part.restart(),
            _ => return Err(refused(self.reference.registry(), &format!("the blob {digest}"), answer).await),
        }
        let mut stream = answer.bytes_stream();
        while let Some(piece) = stream.next().await {
            // What came so far is kept, and the next attempt resumes.
            let Ok(piece) = piece else { return Ok(()) };
            // The registry cannot make the file longer than what is signed says.
            if part.done + piece.len() as u64 > *size {
                part.restart()?;
                let (registry, what) = (self.reference.registry().to_owned(), digest.to_string());
                return Err(RegistryError::TooLarge { registry, what, limit: *size });
            }
            part.add(&piece)?;
            progress(Transfer { digest: digest.clone(), done: part.done, total: *size });
        }
        if part.done == *size && part.digest() != *digest {
            let found = part.digest();
            // Resuming from it would fail again.
            part.restart()?;
            let (registry, wanted) = (self.reference.registry().to_owned(), digest.clone());
            return Err(RegistryError::Changed { registry, wanted, found });
        }
        Ok(())
    }
}

/// Whether an error is about one signature, which whoever added it can cause, and not about the registry.
pub(crate) fn is_of_this_one(error: &RegistryError) -> bool {
    match error {
        RegistryError::NotFound { .. }
        | RegistryError::Changed { .. }
        | RegistryError::Content(_)
        | RegistryError::Refused(_)
        | RegistryError::Protocol { .. }
        | RegistryError::TooLarge { .. }
        | RegistryError::BrokeOff { .. }
        | RegistryError::Status { .. } => true,
        RegistryError::Unauthorized { .. }
        | RegistryError::Insecure { .. }
        | RegistryError::Redirected { .. }
        | RegistryError::TooSlow { .. }
        | RegistryError::Io { .. }
        | RegistryError::Client(_)
        | RegistryError::Unreachable { .. } => false,
    }
}
