//! Whom a user believes: until when, for what, and what stays revoked whatever else is said.

use std::os::unix::fs::{PermissionsExt, symlink};

use host_bundle::{
    Bundle, OciDigest, Parts, Pattern, PublicKey, Refusal, Revoked, Rotation, SecretKey, Trust, TrustError, TrustStore,
    Verdict,
};
use jiff::Timestamp;

use crate::support::{bundle, parts};

fn key() -> SecretKey {
    SecretKey::without_password().expect("random numbers")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn now() -> Timestamp {
    at("2026-11-20T12:00:00Z")
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| text.parse().expect("a pattern")).collect()
}

fn signed(keys: &[&SecretKey]) -> Bundle {
    let mut bundle = bundle();
    for key in keys {
        bundle.sign(key).expect("signed");
    }
    bundle
}

fn counted(verdict: Result<Verdict, Refusal>) -> Vec<String> {
    match verdict {
        Ok(Verdict::Signed { by, .. }) => by.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

// promise bundle.keys
#[test]
fn keys_pattern_covers_only_the_plugins_of_its_publisher() {
    for (pattern, plugin, covers) in [
        ("acme/*", "acme/fetch", true),
        ("acme/*", "acme", false),
        ("acme/*", "acmes/fetch", false),
        ("acme/*", "fetch", false),
        ("acme/fetch", "acme/fetch", true),
        ("acme/fetch", "acme/fetch2", false),
        ("acme/fetch", "evil/fetch", false),
    ] {
        assert_eq!(patterns(&[pattern])[0].covers(plugin), covers, "{pattern} {plugin}");
    }
    for text in ["", "*", "*/*", "acme", "acme/", "/fetch", "acme/*x", "acme/a/b", "Acme/*", "acme/**", "../*"] {
        assert!(text.parse::<Pattern>().is_err(), "{text}");
    }
}

// promise bundle.keys
#[test]
fn a_key_counts_until_it_expires_and_for_what_it_is_trusted_for() {
    let secret = key();
    let id = secret.public().id();
    let mut trust = Trust::default();
    let bundle = signed(&[&secret]);
    assert!(matches!(trust.check(&bundle, now()), Err(Refusal::UnknownKey { key, .. }) if key == id));
    let past = trust.trust(secret.public().clone(), patterns(&["acme/*"]), Some(now()), now());
    assert!(matches!(past, Err(TrustError::Past { .. })), "{past:?}");
    let nothing = trust.trust(secret.public().clone(), Vec::new(), None, now());
    assert!(matches!(nothing, Err(TrustError::Patterns { .. })), "{nothing:?}");

    let many: Vec<String> = (0..101).map(|number| format!("acme/p{number}")).collect();
    let many = patterns(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let refused = trust.trust(secret.public().clone(), many, None, now());
    assert!(matches!(refused, Err(TrustError::Patterns { found: 101, .. })), "{refused:?}");

    let end = at("2027-01-01T00:00:00Z");
    trust.trust(secret.public().clone(), patterns(&["acme/fetch"]), Some(end), now()).expect("trusted");
    assert_eq!(counted(trust.check(&bundle, at("2026-12-31T23:59:59Z"))), [id.to_string()]);
    assert_eq!(trust.check(&bundle, end), Err(Refusal::ExpiredKey { key: id, expired: end }));

    let mut elsewhere = Trust::default();
    elsewhere.trust(secret.public().clone(), patterns(&["acme/other"]), None, now()).expect("trusted");
    assert!(matches!(elsewhere.check(&bundle, now()), Err(Refusal::NotForPlugin { .. })));
    elsewhere.trust(secret.public().clone(), patterns(&["acme/fetch"]), None, now()).expect("trusted for both");
    let kept: Vec<&Pattern> = elsewhere.keys()[0].purposes.iter().map(|purpose| &purpose.pattern).collect();
    assert_eq!(kept, patterns(&["acme/fetch", "acme/other"]).iter().collect::<Vec<_>>());
    assert_eq!(counted(elsewhere.check(&bundle, now())), [id.to_string()]);
}

// promise bundle.purposes: A key is trusted for each pattern until a time of its own: trusting it for more, or longer,
//   does not change the others.
#[test]
fn keys_trust_for_one_pattern_leaves_the_end_of_another() {
    let secret = key();
    let (public, id) = (secret.public().clone(), secret.public().id());
    let bundle = signed(&[&secret]);
    let (soon, late) = (at("2027-01-01T00:00:00Z"), at("2028-01-01T00:00:00Z"));
    let mut trust = Trust::default();
    trust.trust(public.clone(), patterns(&["acme/fetch"]), Some(soon), now()).expect("trusted");
    for (pattern, expires) in [("other/*", None), ("acme/other", Some(late))] {
        trust.trust(public.clone(), patterns(&[pattern]), expires, now()).expect("trusted");
    }
    assert_eq!(counted(trust.check(&bundle, now())), [id.to_string()]);
    assert_eq!(trust.check(&bundle, soon), Err(Refusal::ExpiredKey { key: id, expired: soon }));

    // Of two patterns that cover a plugin, the one that still counts is enough.
    trust.trust(public.clone(), patterns(&["acme/*"]), Some(late), now()).expect("trusted");
    assert_eq!(counted(trust.check(&bundle, soon)), [id.to_string()]);
    assert_eq!(trust.check(&bundle, late), Err(Refusal::ExpiredKey { key: id, expired: late }));

    // The user's new word about the same pattern replaces the old one.
    trust.trust(public.clone(), patterns(&["acme/*"]), None, late).expect("trusted");
    assert_eq!(counted(trust.check(&bundle, late)), [id.to_string()]);
    let nothing = trust.trust(public, Vec::new(), None, now());
    assert!(matches!(nothing, Err(TrustError::Patterns { found: 0, .. })), "{nothing:?}");

    // A new key in its place has what still counts, each with its own time.
    let new = key();
    let mut trust = Trust::default();
    for (pattern, expires) in [("acme/fetch", Some(late)), ("acme/old", Some(soon)), ("other/*", None)] {
        trust.trust(secret.public().clone(), patterns(&[pattern]), expires, now()).expect("trusted");
    }
    trust.rotate(&Rotation::make(&secret, new.public().clone()).expect("said"), soon).expect("the old key said so");
    let kept: Vec<(String, Option<Timestamp>)> =
        trust.keys()[1].purposes.iter().map(|purpose| (purpose.pattern.to_string(), purpose.expires)).collect();
    assert_eq!(kept, [("acme/fetch".to_owned(), Some(late)), ("other/*".to_owned(), None)]);
}

#[test]
fn keys_trust_ends_for_the_patterns_that_are_named() {
    let secret = key();
    let (public, id) = (secret.public().clone(), secret.public().id());
    let bundle = signed(&[&secret]);
    let trusted = || {
        let mut trust = Trust::default();
        trust.trust(public.clone(), patterns(&["acme/*", "acme/fetch", "other/x"]), None, now()).expect("trusted");
        trust
    };
    let check = |ended: &[&str], kept: &[&str]| {
        let mut trust = trusted();
        let left = trust.distrust(id, &patterns(ended)).expect("ended");
        let left: Vec<Pattern> = left.into_iter().map(|purpose| purpose.pattern).collect();
        assert_eq!(left, patterns(kept), "{ended:?}");
        trust.check(&bundle, now())
    };
    assert_eq!(counted(check(&["acme/fetch"], &["acme/*", "other/x"])), [id.to_string()], "the other one covers it");
    let ended = check(&["acme/*", "acme/fetch"], &["other/x"]);
    assert!(matches!(ended, Err(Refusal::NotForPlugin { .. })), "{ended:?}");
    for all in [&[][..], &["other/x", "acme/fetch", "acme/*"]] {
        let ended = check(all, &[]);
        assert!(matches!(ended, Err(Refusal::UnknownKey { .. })), "{ended:?}");
    }

    // An error changes nothing.
    let mut trust = trusted();
    let refused = trust.distrust(id, &patterns(&["acme/fetch", "acme/other"]));
    assert!(matches!(refused, Err(TrustError::NotFor { .. })), "{refused:?}");
    let stranger = key().public().id();
    assert_eq!(trust.distrust(stranger, &[]), Err(TrustError::NotListed { key: stranger }));
    assert_eq!(trust, trusted());
    // It is not a revocation.
    trust.distrust(id, &[]).expect("ended");
    trust.trust(public.clone(), patterns(&["acme/*"]), None, now()).expect("trusted again");
}

// promise bundle.key-list
#[test]
fn keys_list_of_the_first_layout_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.toml");
    let store = TrustStore::at(path.clone());
    let (old, new) = (key(), key());
    let text = format!(
        "version = 1\n\n[[key]]\nkey = \"{}\"\npatterns = [\"acme/other\", \"acme/*\"]\nsince = \
         \"2026-11-20T12:00:00Z\"\nexpires = \"2027-01-01T00:00:00Z\"\nreplaced_by = \"{}\"\n\n[[key]]\nkey = \"{}\"\n\
         patterns = [\"acme/fetch\"]\nsince = \"2026-11-20T12:00:00Z\"\n\n[[revoked]]\nreason = \"bad\"\nsince = \
         \"2026-11-20T12:00:00Z\"\n\n[revoked.what]\nkey = \"E7620F1842B4E81F\"\n",
        old.public(),
        new.public(),
        new.public()
    );
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
    let read = store.load().expect("it is a list");
    let end = Some(at("2027-01-01T00:00:00Z"));
    let purposes = |key: usize| -> Vec<(String, Option<Timestamp>)> {
        read.keys()[key].purposes.iter().map(|purpose| (purpose.pattern.to_string(), purpose.expires)).collect()
    };
    assert_eq!(purposes(0), [("acme/*".to_owned(), end), ("acme/other".to_owned(), end)]);
    assert_eq!(read.keys()[0].replaced_by.as_ref(), Some(new.public()));
    assert_eq!((purposes(1), read.revoked().len()), (vec![("acme/fetch".to_owned(), None)], 1));
    // The next change writes the layout of today, with the same in it.
    store.change(|_| Ok(())).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    assert!(text.contains("version = 2\n") && text.contains("[[key.for]]\n"), "{text}");
    assert_eq!(store.load().expect("it is a list"), read);
}

// promise bundle.revoked: A revocation is permanent, whatever signatures the bundle has.
#[test]
fn keys_revocation_overrides_everything_and_is_permanent() {
    let (good, bad) = (key(), key());
    let mut trust = Trust::default();
    for key in [&good, &bad] {
        trust.trust(key.public().clone(), patterns(&["acme/*"]), None, now()).expect("trusted");
    }
    let id = bad.public().id();
    trust.revoke(Revoked::Key(id), "it was stolen", now()).expect("revoked");
    trust.revoke(Revoked::Key(id), "it was found again", now()).expect("nothing to do");
    assert_eq!(trust.revoked().len(), 1);
    assert_eq!(
        trust.check(&signed(&[&bad]), now()),
        Err(Refusal::RevokedKey { key: id, reason: "it was stolen".to_owned() })
    );
    // The signature of the other key is valid, and that of the revoked key is reported but not counted.
    let Ok(Verdict::Signed { by, not_counted }) = trust.check(&signed(&[&good, &bad]), now()) else { panic!() };
    assert_eq!(by, [good.public().id()]);
    assert!(matches!(not_counted.as_slice(), [Refusal::RevokedKey { .. }]), "{not_counted:?}");
    // Of an installed bundle only what was revoked counts, and it counts as ever.
    let stranger = key();
    let revoked = Refusal::RevokedKey { key: id, reason: "it was stolen".to_owned() };
    for (keys, judged) in [
        (vec![&bad], Err(revoked.clone())),
        (vec![&bad, &stranger], Err(revoked)),
        (vec![&good, &bad], Ok(())),
        (vec![&stranger], Ok(())),
        (vec![], Ok(())),
    ] {
        assert_eq!(trust.check_installed(&signed(&keys), now()), judged, "{} keys", keys.len());
    }
    let mut forged = signed(&[&bad]);
    // A signature of the trusted key for something else does not outweigh the revoked one.
    let mut other = Bundle::pack(Parts { readme: None, ..parts() }).expect("it is packed");
    other.sign(&good).expect("signed");
    forged.add_signature(other.signatures()[0].clone()).expect("added");
    assert!(matches!(trust.check_installed(&forged, now()), Err(Refusal::RevokedKey { .. })));
    let again = trust.trust(bad.public().clone(), patterns(&["acme/*"]), None, now());
    assert!(matches!(again, Err(TrustError::Revoked { .. })), "{again:?}");
    let word = Rotation::make(&bad, key().public().clone()).expect("said");
    assert!(matches!(trust.rotate(&word, now()), Err(TrustError::Revoked { .. })));
    let word = Rotation::make(&good, bad.public().clone()).expect("said");
    assert!(matches!(trust.rotate(&word, now()), Err(TrustError::Revoked { .. })));

    let bundle = signed(&[&good]);
    for digest in [bundle.digest(), bundle.component_digest()] {
        let mut trust = trust.clone();
        trust.revoke(Revoked::Digest(digest.clone()), "it sends your files away", now()).expect("revoked");
        for refused in [trust.check(&bundle, now()).map(drop), trust.check_installed(&bundle, now())] {
            assert!(matches!(&refused, Err(Refusal::RevokedDigest { digest: it, .. }) if it == digest), "{refused:?}");
        }
    }
    for reason in ["", " ", "a\nb", "\u{1b}[2J", &"x".repeat(501)] {
        let refused = trust.revoke(Revoked::Digest(OciDigest::of(b"")), reason, now());
        assert_eq!(refused, Err(TrustError::Reason), "{reason:?}");
    }
}

// promise bundle.rotation: A new key replaces an old one only with the old key's signature, and is trusted for no more
//   and no longer.
#[test]
fn keys_new_key_replaces_an_old_one_only_with_its_signature() {
    let (old, new, thief) = (key(), key(), key());
    let end = at("2027-01-01T00:00:00Z");
    let mut trust = Trust::default();
    trust.trust(old.public().clone(), patterns(&["acme/*"]), Some(end), now()).expect("trusted");
    let word = Rotation::make(&old, new.public().clone()).expect("said");
    assert_eq!(Rotation::parse(&word.to_text()), Ok(word.clone()));
    assert!(Rotation::make(&old, old.public().clone()).is_err());

    // A thief's words: with a key of their own, with the old key's name over their signature, with the new key changed.
    let own = Rotation::make(&thief, thief.public().clone());
    assert!(own.is_err());
    let theirs = Rotation::make(&thief, key().public().clone()).expect("said");
    assert!(matches!(trust.rotate(&theirs, now()), Err(TrustError::NotTrusted { .. })));
    let renamed = |text: String, from: &PublicKey, to: &PublicKey| {
        Rotation::parse(&text.replace(&from.to_string(), &to.to_string())).expect("it looks right")
    };
    let lies = [
        renamed(theirs.to_text(), thief.public(), old.public()),
        renamed(word.to_text(), new.public(), thief.public()),
    ];
    for lie in &lies {
        let refused = trust.rotate(lie, now());
        assert!(matches!(refused, Err(TrustError::Rotation(_))), "{refused:?}");
    }
    // A signature of a bundle is not such a statement.
    let signature = signed(&[&old]).signatures()[0].text().to_owned();
    let text = format!("host key rotation\nold {}\nnew {}\n{signature}", old.public(), thief.public());
    let refused = trust.rotate(&Rotation::parse(&text).expect("it looks right"), now());
    assert!(matches!(refused, Err(TrustError::Rotation(_))), "{refused:?}");
    assert_eq!(trust.keys().len(), 1);
    assert!(matches!(trust.rotate(&word, end), Err(TrustError::Past { .. })));

    trust.rotate(&word, now()).expect("the old key said so");
    assert_eq!(counted(trust.check(&signed(&[&new]), now())), [new.public().id().to_string()]);
    assert!(matches!(trust.check(&signed(&[&new]), end), Err(Refusal::ExpiredKey { .. })), "it is trusted no longer");
    let refused = trust.check(&signed(&[&old]), now());
    assert!(matches!(&refused, Err(Refusal::ReplacedKey { by, .. }) if *by == new.public().id()), "{refused:?}");
    assert!(matches!(trust.rotate(&word, now()), Err(TrustError::Already { .. })));
    let second = Rotation::make(&old, thief.public().clone()).expect("said");
    assert!(matches!(trust.rotate(&second, now()), Err(TrustError::Replaced { .. })), "an old key has one word");
    let back = trust.trust(old.public().clone(), patterns(&["acme/*"]), None, now());
    assert!(matches!(back, Err(TrustError::Replaced { .. })), "{back:?}");
    for text in ["", "host key rotation\n", &word.to_text().replace("new ", "knew "), &"x".repeat(9000)] {
        assert!(Rotation::parse(text).is_err(), "{text}");
    }
}

// promise bundle.key-list: The list of trusted keys is replaced atomically and rejected if others could have written
//   it.
#[test]
fn keys_trusted_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/keys.toml");
    let store = TrustStore::at(path.clone());
    assert_eq!(store.load().expect("nobody yet"), Trust::default());
    std::thread::scope(|scope| {
        for number in 0..16 {
            let store = &store;
            scope.spawn(move || {
                let pattern = patterns(&[&format!("acme/p{number}")]);
                store.change(|trust| trust.trust(key().public().clone(), pattern, None, now())).expect("written");
                let digest = Revoked::Digest(OciDigest::of(&[number]));
                store.change(|trust| trust.revoke(digest, "bad", now())).expect("written");
            });
        }
    });
    let trust = store.load().expect("it is right");
    assert_eq!((trust.keys().len(), trust.revoked().len()), (16, 16));
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
    let before = std::fs::read(&path).expect("read");
    let refused = store.change(|trust| trust.trust(key().public().clone(), Vec::new(), None, now()));
    assert!(refused.is_err() && std::fs::read(&path).expect("read") == before, "what fails changes nothing");
}

// promise bundle.key-list
#[test]
fn keys_list_that_is_invalid_or_that_others_could_have_written_is_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.toml");
    let store = TrustStore::at(path.clone());
    let public = key().public().clone();
    let set = |mode: u32| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
    store.change(|trust| trust.trust(public.clone(), patterns(&["acme/*"]), None, now())).expect("written");
    for (mode, right) in [(0o600, true), (0o644, true), (0o620, false), (0o602, false), (0o666, false)] {
        set(mode);
        let read = store.load().map(drop).map_err(|error| error.to_string());
        assert_eq!(read.is_ok(), right, "{mode:o}");
        assert!(right || read.expect_err("refused").contains("chmod 600"));
    }
    let good = std::fs::read_to_string(&path).expect("read");
    let entry = good.split_once("[[key]]").expect("a key").1.to_owned();
    let purpose = good.split_once("[[key.for]]").expect("a purpose").1.to_owned();
    let revoked =
        "[[revoked]]\nreason = \"r\"\nsince = \"2026-11-20T12:00:00Z\"\nwhat = { key = \"E7620F1842B4E81F\" }\n";
    for (text, says) in [
        (String::new(), "version"),
        ("version = 3\n".to_owned(), "version is 3"),
        (good.replace("pattern =", "patterns ="), "unknown field `patterns`"),
        (good.replace("version = 2", "version = 1"), "unknown field `for`"),
        (format!("{good}\n[[key.for]]{purpose}"), "has `acme/*` twice"),
        (format!("version = 2\n[[key]]\nkey = \"{public}\"\nfor = []\n"), "has 0 patterns"),
        (good.replace("acme/*", "*"), "invalid pattern"),
        (good.replace("RW", "RX"), "invalid minisign public key"),
        (format!("{good}\n[[key]]{entry}"), "is in it twice"),
        ("x".repeat(17 << 20), "over the limit"),
        (format!("version = 1\n{}", revoked.repeat(10_001)), "over 10000 entries"),
    ] {
        std::fs::write(&path, &text).expect("written");
        set(0o600);
        let error = store.load().expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
        let changed = store.change(|trust| trust.revoke(Revoked::Key(public.id()), "r", now()));
        assert!(changed.is_err() && std::fs::read_to_string(&path).expect("read") == text, "it is not overwritten");
    }
    std::fs::remove_file(&path).expect("removed");
    symlink("/dev/null", &path).expect("a link");
    assert!(store.load().is_err(), "a device is no file");
}
