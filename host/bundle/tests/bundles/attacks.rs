//! One table of attacks on a signed bundle whose publisher is trusted: each is refused, with its reason.
//!
//! The attacker has everything but the publisher's secret key: can change any byte, put any digest right, take
//! signatures of other bundles, and make keys.

use std::collections::BTreeMap;

use host_bundle::{Bundle, OciDigest, Parts, PublicKey, SecretKey, Signature, Trust, Verdict};
use jiff::Timestamp;

use crate::support::{archive, bundle, component, entries, manifest, manifest_json, parts};

fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

fn key() -> SecretKey {
    SecretKey::without_password().expect("random numbers")
}

fn trusting(key: &PublicKey) -> Trust {
    let mut trust = Trust::default();
    trust.trust(key.clone(), vec!["acme/*".parse().expect("a pattern")], None, now()).expect("trusted");
    trust
}

/// Returns the verdict for the user: the keys that were counted, or the reason for the rejection.
fn judged(trust: &Trust, archive: &[u8]) -> Result<Verdict, String> {
    let bundle = Bundle::read_archive(archive).map_err(|error| error.to_string())?;
    trust.check(&bundle, now()).map_err(|refusal| refusal.to_string())
}

/// The same layout with another file.
fn changed(layout: &BTreeMap<String, Vec<u8>>, name: &str, at: usize) -> Vec<u8> {
    let mut layout = layout.clone();
    let bytes = layout.get_mut(name).unwrap_or_else(|| panic!("no {name}"));
    bytes[at] ^= 1;
    archive(&entries(&layout))
}

// promise bundle.signed: No byte of what a bundle's keys signed, nor of their signatures, can change unnoticed. The
//   list of its files (`index.json`) is not signed: whatever it says, what is used is what was signed, or nothing.
#[test]
fn any_byte_changed_anywhere_is_refused_with_its_reason() {
    let secret = key();
    let trust = trusting(secret.public());
    let mut honest = bundle();
    honest.sign(&secret).expect("signed");
    let layout = honest.layout();
    assert!(matches!(judged(&trust, &honest.to_archive()), Ok(Verdict::Signed { .. })));

    let blob = |bytes: &[u8]| format!("blobs/sha256/{}", OciDigest::of(bytes).digits());
    let referrer = &honest.referrers()[0];
    let classes = [
        ("the layout file", "oci-layout".to_owned(), "`oci-layout` is invalid"),
        ("the image manifest", blob(honest.signed_bytes()), "was changed"),
        ("the configuration", blob(honest.manifest().to_json().as_bytes()), "was changed"),
        ("the component", blob(honest.component()), "was changed"),
        ("the README", blob(honest.readme().expect("there")), "was changed"),
        ("the licence", blob(honest.license().expect("there")), "was changed"),
        ("the signature's manifest", blob(&referrer.manifest), "was changed"),
        ("the signature and its comments", blob(honest.signatures()[0].text().as_bytes()), "was changed"),
    ];
    let mut tried = 0;
    for (class, name, says) in &classes {
        for at in 0..layout[name].len() {
            let error = judged(&trust, &changed(&layout, name, at)).expect_err(class);
            assert!(error.contains(says), "{class}, byte {at}: {error}");
            tried += 1;
        }
    }
    // The index is not signed, and lists what is: each of its bytes decides which blobs are read, or says nothing.
    // Whatever it says, what is taken is what was signed.
    for at in 0..layout["index.json"].len() {
        if let Ok(bundle) = Bundle::read_archive(&changed(&layout, "index.json", at)[..]) {
            let used = |bundle: &Bundle| {
                let texts = [bundle.readme(), bundle.license()].map(|text| text.map(<[u8]>::to_vec));
                (bundle.digest().clone(), bundle.component().to_vec(), bundle.signed_bytes().to_vec(), texts)
            };
            assert_eq!(used(&bundle), used(&honest), "byte {at}");
        }
        tried += 1;
    }
    // The archive around them: whatever a changed header leads to, what is taken is what was signed.
    let whole = honest.to_archive();
    for at in (0..whole.len()).filter(|at| at % 512 < 345) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        if let Ok(bundle) = Bundle::read_archive(bytes.as_slice()) {
            assert_eq!((bundle.digest(), bundle.component()), (honest.digest(), honest.component()), "byte {at}");
        }
    }
    assert!(tried > 3000, "{tried}");
}

// promise bundle.signed
#[test]
fn any_byte_of_the_signature_changed_with_its_digests_put_right_is_refused() {
    let secret = key();
    let trust = trusting(secret.public());
    let mut honest = bundle();
    honest.sign(&secret).expect("signed");
    let good = honest.signatures()[0].text();
    let line = |number: usize| good.split_inclusive('\n').take(number).map(str::len).sum::<usize>();
    // The untrusted comment is not covered by the signature, as its name says; the last byte is the line's end.
    for at in line(1)..good.len() - 1 {
        let mut bytes = good.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let text = String::from_utf8(bytes).expect("still text");
        let mut forged = bundle();
        forged.add_signature(Signature::new(text).expect("short")).expect("few");
        let error = judged(&trust, &forged.to_archive()).expect_err("it is forged");
        let told = ["does not hold", "is not in your list of keys", "says that it is of"]
            .iter()
            .any(|says| error.contains(says));
        assert!(told, "byte {at}: {error}");
    }
}

// promise bundle.keys: A signature counts for its bundle only, and a key only for the plugins it is trusted for and
//   until it expires.
#[test]
fn bundle_forged_and_copied_signatures_are_rejected_with_their_reason() {
    let (secret, other, stranger) = (key(), key(), key());
    let mut trust = trusting(secret.public());
    trust.trust(other.public().clone(), vec!["other/*".parse().expect("a pattern")], None, now()).expect("trusted");

    let named = |name: &str, version: &str| {
        let mut json = manifest_json();
        json["name"] = name.into();
        json["version"] = version.into();
        Bundle::pack(Parts { manifest: manifest(&json), ..parts() }).expect("packed")
    };
    let signed = |mut bundle: Bundle, keys: &[&SecretKey]| {
        for key in keys {
            bundle.sign(key).expect("signed");
        }
        bundle
    };
    let moved = |from: &Bundle, mut to: Bundle| {
        to.add_signature(from.signatures()[0].clone()).expect("few");
        to
    };
    let honest = signed(bundle(), &[&secret]);
    let evil = || {
        // It imports nothing beyond the manifest, but is a different component.
        let component = component(&["host:cap/http@0.1.0", "host:tool/types@0.1.0"]);
        Bundle::pack(Parts { component, ..parts() }).expect("packed")
    };
    // The comment put right over a signature of other bytes.
    let renamed = |from: &Bundle, mut to: Bundle| {
        let text = from.signatures()[0].text().replace(&from.statement(), &to.statement());
        to.add_signature(Signature::new(text).expect("short")).expect("few");
        to
    };
    for (attack, bundle, says) in [
        ("an honest signature with another comment", renamed(&honest, evil()), "does not hold"),
        (
            "another component under an honest signature",
            moved(&honest, evil()),
            "says that it is of `acme/fetch@1.2.0 sha256:",
        ),
        (
            "an older version's signature",
            moved(&signed(named("acme/fetch", "1.1.0"), &[&secret]), bundle()),
            "says that it is of `acme/fetch@1.1.0",
        ),
        (
            "another plugin's signature",
            moved(&signed(named("acme/other", "1.2.0"), &[&secret]), bundle()),
            "says that it is of `acme/other@1.2.0",
        ),
        ("a stranger's signature", signed(evil(), &[&stranger]), "is not in your list of keys"),
        ("another publisher's signature", signed(evil(), &[&other]), "is trusted for `other/*`, not for `acme/fetch`"),
        ("all of them", moved(&honest, signed(evil(), &[&stranger, &other])), "says that it is of"),
        (
            "a publisher with a name that begins like one",
            signed(named("acme-evil/fetch", "1.0.0"), &[&secret]),
            "is trusted for",
        ),
    ] {
        let error = judged(&trust, &bundle.to_archive()).expect_err(attack);
        assert!(error.contains(says), "{attack}: {error}");
    }
    assert_eq!(judged(&trust, &evil().to_archive()), Ok(Verdict::Unsigned), "what nobody signed is nobody's");

    // Additional signatures by other keys do not invalidate one by the trusted key, and are reported.
    let crowd = signed(bundle(), &[&stranger, &secret, &other]);
    let Ok(Verdict::Signed { by, not_counted }) = judged(&trust, &crowd.to_archive()) else { panic!("it is good") };
    assert_eq!((by, not_counted.len()), (vec![secret.public().id()], 2));
}

/// The archive of a bundle with the signatures of others like it beside its own, as many as there are.
fn crowded(honest: &Bundle, others: &[Bundle]) -> Vec<u8> {
    let mut layout = honest.layout();
    let mut index: serde_json::Value = serde_json::from_slice(&layout["index.json"]).expect("JSON");
    for other in others {
        let theirs: serde_json::Value = serde_json::from_slice(&other.layout()["index.json"]).expect("JSON");
        let signatures = theirs["manifests"].as_array().expect("a list").iter().skip(1).cloned();
        // A stranger's come first.
        let list = index["manifests"].as_array_mut().expect("a list");
        signatures.for_each(|signature| list.insert(1, signature));
        layout.extend(other.layout().into_iter().filter(|(name, _)| name.starts_with("blobs/")));
    }
    layout.insert("index.json".to_owned(), index.to_string().into_bytes());
    archive(&entries(&layout))
}

// promise bundle.crowd: However many signatures others add to a bundle, those of trusted keys count; what is not looked
//   at is said.
#[test]
fn bundle_crowd_of_signatures_neither_blocks_nor_hides_a_trusted_one() {
    let secret = key();
    let trust = trusting(secret.public());
    let mut honest = bundle();
    honest.sign(&secret).expect("signed");
    let crowd: Vec<Bundle> = (0..4)
        .map(|_| {
            let mut crowd = bundle();
            let stranger = key();
            while crowd.signatures().len() < host_bundle::MAX_SIGNATURES {
                crowd.sign(&stranger).expect("signed");
            }
            crowd
        })
        .collect();
    let Ok(Verdict::Signed { by, not_counted }) = judged(&trust, &crowded(&honest, &crowd)) else { panic!("blocked") };
    assert_eq!((by, not_counted.len()), (vec![secret.public().id()], 4 * host_bundle::MAX_SIGNATURES));

    // Nor do forgeries that name the trusted key.
    let mut forgeries = bundle();
    for number in 0..40 {
        let mut lines: Vec<String> = honest.signatures()[0].text().lines().map(str::to_owned).collect();
        let at = 40 + number;
        let other = if &lines[1][at..=at] == "A" { "B" } else { "A" };
        lines[1].replace_range(at..=at, other);
        forgeries.add_signature(Signature::new(lines.join("\n") + "\n").expect("short")).expect("few");
    }
    let Ok(Verdict::Signed { by, not_counted }) = judged(&trust, &crowded(&honest, &[forgeries])) else {
        panic!("blocked")
    };
    assert_eq!((by, not_counted.len()), (vec![secret.public().id()], 40));
    assert!(not_counted.iter().all(|refusal| refusal.to_string().contains("does not hold")), "{not_counted:?}");
}

// promise bundle.untrusted-comment: The untrusted comment of a signature, which anybody can change, is not read: the
//   signature holds with any, and is the same signature.
#[test]
fn bundle_untrusted_comment_is_neither_read_nor_shown_nor_another_signature() {
    let secret = key();
    let trust = trusting(secret.public());
    let mut honest = bundle();
    honest.sign(&secret).expect("signed");
    let good = honest.signatures()[0].text().to_owned();
    let commented = |words: &str| {
        let (_, covered) = good.split_once('\n').expect("a line");
        Signature::new(format!("untrusted comment: {words}\n{covered}")).expect("short")
    };
    for number in 0..100 {
        honest.add_signature(commented(&format!("number {number}"))).expect("it is the same one");
    }
    assert_eq!(honest.signatures().len(), 1);
    let mut changed = bundle();
    changed.add_signature(commented("verified by acme\u{202e}")).expect("few");
    let verdict = judged(&trust, &changed.to_archive()).expect("it holds");
    assert!(!format!("{verdict:?}").contains("verified"), "{verdict:?}");
    // Nor does the reason for a rejection repeat it.
    let error = judged(&Trust::default(), &changed.to_archive()).expect_err("nobody trusts it");
    assert!(!error.contains("verified"), "{error}");
}
