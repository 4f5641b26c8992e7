//! Which of the signatures that a registry lists for a bundle are fetched.
//!
//! Anybody who may push can list any number of signatures that claim to be of any key. Those that claim a key of the
//! user come first, and the search among them goes on until one of the key counts: forged ones cost the search time,
//! and hide an honest one only from its end.
//!
//! Promises: the search is bounded in number, bytes and time, and what it did not look at is counted.
//!
//! Deliberately not here: which signatures count ([`PreferredKeys`]).

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use host_bundle::{
    Bundle, IMAGE_TYPE, KeyId, Listed, MAX_SIGNATURES, OciDigest, PreferredKeys, SIGNATURE_TYPE, Signature,
};
use tokio::time::Instant;

use crate::client::Exchange;
use crate::pull::is_of_this_one;
use crate::{Progress, RegistryError, Which};

/// Manifests that a list does not say the type of, and that are fetched to see it. Protects the user's time.
const MAX_UNTYPED: usize = 64;
/// Listed manifests that are fetched in the search for a signature that counts. Protects the user's time from forged
/// ones.
const MAX_LOOKED_AT: usize = 4_096;
/// Bytes of them. Protects the user's connection.
const MAX_LOOKED_BYTES: u64 = 16 << 20;
/// Requests for signatures at a time. Protects the registry.
const AT_A_TIME: usize = 8;

/// What a list says of a manifest. What says more is fetched first, and is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// A signature of a key of the user.
    Preferred(KeyId),
    /// A signature of a key that is not named.
    Unnamed,
    /// A signature of another key.
    Other,
    /// Nothing: it may be a signature.
    Untyped,
}

/// What a listed manifest is.
enum Looked {
    Signature(Signature),
    /// Something else, which the list does not call a signature.
    Else,
    /// It is said to be a signature, and is none of this bundle.
    Unusable,
}

/// A search among the signatures of a bundle.
struct Search<'a> {
    preferred: &'a PreferredKeys,
    /// The end of the time for it.
    until: Instant,
    looked_at: usize,
    bytes: u64,
    typed: usize,
    untyped: usize,
    unread: usize,
    /// The keys of which a signature counts.
    found: BTreeSet<KeyId>,
}

impl Exchange<'_> {
    /// Adds the signatures that are listed for a bundle, those that count first, and notes how many others there are.
    pub(crate) async fn add_signatures(
        &self,
        bundle: &mut Bundle,
        preferred: &PreferredKeys,
        progress: Progress<'_>,
    ) -> Result<(), RegistryError> {
        let listed = self.referrers(bundle.digest()).await?;
        // Half of the time: a search through forged signatures must leave enough for the rest.
        let mut search = Search::new(preferred, Instant::now() + self.timer.left() / 2);
        // Those that count come first in the bundle, whose number of signatures is limited.
        let (mut counting, mut others) = (Vec::new(), Vec::new());
        let mut candidates = candidates(&listed, preferred).into_iter();
        loop {
            let page: Vec<_> = candidates.by_ref().filter(|(_, claim)| search.admits(*claim)).take(AT_A_TIME).collect();
            if page.is_empty() {
                break;
            }
            let signed = &*bundle;
            let looks = futures::stream::iter(page).map(|(digest, claim)| self.look(signed, digest, claim, progress));
            // In the order of the list, so that the same registry gives the same result each time.
            let mut looks = looks.buffered(AT_A_TIME);
            while let Some(look) = looks.next().await {
                let (looked, bytes) = look?;
                search.bytes = search.bytes.saturating_add(bytes);
                match looked {
                    Looked::Signature(signature) => match preferred.counts(signed, &signature) {
                        Some(key) => {
                            search.found.insert(key);
                            counting.push(signature);
                        }
                        None => others.push(signature),
                    },
                    Looked::Else => {}
                    // Counted, so that a user learns of signatures which nobody looked at.
                    Looked::Unusable => search.unread += 1,
                }
            }
        }
        let unread = search.unread;
        let left_out = counting.into_iter().chain(others).filter_map(|signature| bundle.add_signature(signature).err());
        let left_out = left_out.count();
        bundle.set_other_signatures(unread, left_out);
        Ok(())
    }

    /// Fetches a listed manifest, and the signature that it has. Returns its bytes, too.
    async fn look(
        &self,
        bundle: &Bundle,
        digest: OciDigest,
        claim: Claim,
        progress: Progress<'_>,
    ) -> Result<(Looked, u64), RegistryError> {
        let nothing = match claim {
            // Only what is listed as a signature has to be there.
            Claim::Untyped => Looked::Else,
            Claim::Preferred(_) | Claim::Unnamed | Claim::Other => Looked::Unusable,
        };
        let manifest = match self.manifest(&Which::Digest(digest), IMAGE_TYPE).await {
            Ok(Some(manifest)) => manifest,
            Ok(None) => return Ok((nothing, 0)),
            Err(error) if is_of_this_one(&error) => return Ok((nothing, 0)),
            Err(error) => return Err(error),
        };
        let bytes = manifest.len() as u64;
        // By the manifest itself: a list may leave out what an entry is.
        if claim == Claim::Untyped && !bundle.is_signed_by(&manifest) {
            return Ok((Looked::Else, bytes));
        }
        match self.signature(bundle, &manifest, progress).await {
            Ok(signature) => {
                let bytes = bytes + signature.text().len() as u64;
                Ok((Looked::Signature(signature), bytes))
            }
            // One broken signature must not hide the others; a registry that is down is an error.
            Err(error) if is_of_this_one(&error) => Ok((Looked::Unusable, bytes)),
            Err(error) => Err(error),
        }
    }
}

impl<'a> Search<'a> {
    fn new(preferred: &'a PreferredKeys, until: Instant) -> Self {
        let (looked_at, bytes, typed, untyped, unread) = (0, 0, 0, 0, 0);
        Self { preferred, until, looked_at, bytes, typed, untyped, unread, found: BTreeSet::new() }
    }

    /// Whether a manifest is fetched; counts it otherwise.
    fn admits(&mut self, claim: Claim) -> bool {
        let is_first = match claim {
            Claim::Preferred(_) | Claim::Unnamed | Claim::Other => self.typed < MAX_SIGNATURES,
            Claim::Untyped => self.untyped < MAX_UNTYPED,
        };
        let is_sought = match claim {
            Claim::Preferred(key) => !self.found.contains(&key),
            Claim::Unnamed | Claim::Untyped => self.found.is_empty() && !self.preferred.is_empty(),
            Claim::Other => false,
        };
        let has_rest = self.looked_at < MAX_LOOKED_AT && self.bytes < MAX_LOOKED_BYTES && Instant::now() < self.until;
        if !(is_first || is_sought && has_rest) {
            self.unread += 1;
            return false;
        }
        self.looked_at += 1;
        match claim {
            Claim::Preferred(_) | Claim::Unnamed | Claim::Other => self.typed += 1,
            Claim::Untyped => self.untyped += 1,
        }
        true
    }
}

/// Returns what may be a signature, each once, in the order in which it is fetched. Equal claims keep the order of the
/// list: an attacker can choose the digest of a forged signature, but cannot list it before those that are there.
fn candidates(listed: &[Listed], preferred: &PreferredKeys) -> Vec<(OciDigest, Claim)> {
    let mut claims: BTreeMap<OciDigest, (Claim, usize)> = BTreeMap::new();
    for (at, listed) in listed.iter().enumerate() {
        // Other kinds of digests belong to other artifacts.
        let Ok(digest) = listed.digest.parse::<OciDigest>() else { continue };
        let claim = match listed.artifact_type.as_deref().unwrap_or_default() {
            SIGNATURE_TYPE => match listed.claimed_key().map(str::parse::<KeyId>) {
                // Only a claim: whether the signature is one of this key shows when it is verified.
                Some(Ok(key)) if preferred.contains(key) => Claim::Preferred(key),
                None => Claim::Unnamed,
                Some(Ok(_) | Err(_)) => Claim::Other,
            },
            "" if listed.media_type.is_empty() || listed.media_type == IMAGE_TYPE => Claim::Untyped,
            _ => continue,
        };
        let known = claims.entry(digest).or_insert((claim, at));
        known.0 = known.0.min(claim);
    }
    let mut candidates: Vec<_> = claims.into_iter().collect();
    // Which of the keys it claims says nothing.
    let rank = |claim: Claim| match claim {
        Claim::Preferred(_) => 0,
        Claim::Unnamed => 1,
        Claim::Other => 2,
        Claim::Untyped => 3,
    };
    candidates.sort_by_key(|(_, (claim, at))| (rank(*claim), *at));
    candidates.into_iter().map(|(digest, (claim, _))| (digest, claim)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use host_bundle::{SecretKey, Trust};

    use super::*;

    #[test]
    fn registry_search_for_a_signature_is_bounded_and_ends_with_one_that_counts() {
        let (acme, other) = (trusted(), trusted());
        let (mut trust, now) = (Trust::default(), "2026-01-01T00:00:00Z".parse().expect("a time"));
        for key in [&acme, &other] {
            let pattern = "acme/*".parse().expect("a pattern");
            trust.trust(key.public().clone(), vec![pattern], None, now).expect("trusted");
        }
        let preferred = trust.preferred(now);
        let (of_acme, of_other) = (Claim::Preferred(acme.public().id()), Claim::Preferred(other.public().id()));
        let later = || Instant::now() + Duration::from_secs(60);
        let admitted = |search: &mut Search<'_>, claim: Claim| (0..5_000).filter(|_| search.admits(claim)).count();

        for (claim, found, count) in [
            (of_acme, None, MAX_LOOKED_AT),
            (of_acme, Some(&acme), MAX_SIGNATURES),
            // That of another key may be wanted as well.
            (of_acme, Some(&other), MAX_LOOKED_AT),
            (Claim::Unnamed, None, MAX_LOOKED_AT),
            (Claim::Unnamed, Some(&acme), MAX_SIGNATURES),
            (Claim::Other, None, MAX_SIGNATURES),
            (Claim::Untyped, None, MAX_LOOKED_AT),
            (Claim::Untyped, Some(&acme), MAX_UNTYPED),
        ] {
            let mut search = Search::new(&preferred, later());
            search.found.extend(found.map(|key| key.public().id()));
            assert_eq!(admitted(&mut search, claim), count, "{claim:?}");
            assert_eq!(search.unread, 5_000 - count, "{claim:?}");
        }
        let none = PreferredKeys::default();
        assert_eq!(admitted(&mut Search::new(&none, later()), Claim::Unnamed), MAX_SIGNATURES);
        let mut late = Search::new(&preferred, Instant::now());
        assert_eq!(admitted(&mut late, of_other), MAX_SIGNATURES, "its time is over");
        let mut full = Search { bytes: MAX_LOOKED_BYTES, ..Search::new(&preferred, later()) };
        assert_eq!(admitted(&mut full, of_other), MAX_SIGNATURES, "its bytes are used up");
    }

    fn trusted() -> SecretKey {
        SecretKey::without_password().expect("made")
    }
}
