//! Whatever bytes come: an answer, and no panic; and what is taken is what was packed.

use host_bundle::{Bundle, PublicKey, SecretKey, Signature};
use host_manifest::{Manifest, Source, SourceManifest};
use proptest::prelude::*;

use crate::support::{Entry, archive, bundle, entries, manifest_json};

/// A signed bundle's archive, made once.
fn signed() -> &'static (SecretKey, Bundle, Vec<u8>) {
    static SIGNED: std::sync::OnceLock<(SecretKey, Bundle, Vec<u8>)> = std::sync::OnceLock::new();
    SIGNED.get_or_init(|| {
        let key = SecretKey::without_password().expect("random numbers");
        let mut bundle = bundle();
        bundle.sign(&key).expect("signed");
        let bytes = bundle.to_archive();
        (key, bundle, bytes)
    })
}

/// Checks that an accepted bundle is the signed plugin, or is not signed by its key.
fn check(bytes: &[u8]) {
    let (key, honest, _) = signed();
    if let Ok(bundle) = Bundle::read_archive(bytes) {
        let good =
            |signature: &Signature| signature.check(key.public(), bundle.signed_bytes(), &bundle.statement()).is_ok();
        assert!(!bundle.signatures().iter().any(good) || bundle.digest() == honest.digest());
        assert!(bundle.digest() != honest.digest() || bundle.component() == honest.component());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    // promise bundle.bytes: Arbitrary bytes are answered with an error and never cause a panic.
    #[test]
    fn arbitrary_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        check(&bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = SourceManifest::parse(&text, &Source::Bundle);
        let _ = Manifest::parse(&text, Source::Bundle);
        let _ = text.parse::<PublicKey>();
        let (key, _, _) = signed();
        let _ = Signature::new(text).map(|signature| signature.check(key.public(), b"", ""));
    }

    // promise bundle.bytes
    #[test]
    fn a_changed_archive_is_answered(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = signed().2.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check(&bytes);
    }

    // promise bundle.bytes
    #[test]
    fn changed_files_with_right_digests_are_answered(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (_, bundle, _) = signed();
        let mut list = entries(&bundle.layout());
        let which = which.index(list.len());
        let mut bytes = list[which].bytes.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let digest = host_bundle::OciDigest::of(&bytes);
        let name = if list[which].name.starts_with("blobs") { format!("blobs/sha256/{}", digest.digits()) } else { list[which].name.clone() };
        list[which] = Entry::file(&name, &bytes);
        check(&archive(&list));
    }

    #[test]
    fn a_changed_manifest_is_answered(at in any::<prop::sample::Index>(), with in "\\PC{0,8}") {
        let text = manifest_json().to_string();
        let at = at.index(text.len());
        let text = format!("{}{with}{}", &text[..at], &text[at + 1..]);
        let _ = Manifest::parse(&text, Source::Bundle);
    }

    #[test]
    fn a_changed_signature_is_answered(at in any::<prop::sample::Index>(), with in "\\PC{0,8}") {
        let (key, bundle, _) = signed();
        let text = bundle.signatures()[0].text();
        let at = at.index(text.len());
        let text = format!("{}{with}{}", &text[..at], &text[at + 1..]);
        let _ = Signature::new(text).map(|signature| signature.check(key.public(), bundle.signed_bytes(), &bundle.statement()));
    }
}
