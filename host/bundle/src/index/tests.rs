//! Indexes that are invalid, forged, or signed by others.

use serde_json::json;

use super::*;

const ENTRY: &str = r#"{"name": "acme/fetch", "version": "1.0.0", "publisher": "acme", "description": "Fetches.",
    "license": "MIT", "source": "fetch.tar", "keys": ["RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"],
    "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "capabilities": {"http": "*"}, "tools": [{"name": "fetch", "description": "Fetches."}]}"#;

fn index() -> PluginIndex {
    let entry = serde_json::from_str(ENTRY).expect("an entry");
    PluginIndex::new("acme".to_owned(), 3, Timestamp::UNIX_EPOCH, vec![entry])
}

fn secret() -> SecretKey {
    SecretKey::without_password().expect("random numbers")
}

// promise index.signed: An index is used only if one of the keys that are configured for it signed exactly its bytes;
//   the signature of a bundle is not accepted for an index.
#[test]
fn index_opens_for_the_key_that_signed_it_and_no_other() {
    let (mine, other) = (secret(), secret());
    let (keys, others) = ([mine.public().clone()], [other.public().clone()]);
    let signed = index().sign(&mine).expect("signed");
    let trust = Trust::default();
    assert_eq!(signed.open(&keys, &trust).expect("it is mine"), index());
    assert!(matches!(signed.open(&others, &trust), Err(IndexError::OtherKey { by, .. }) if by == mine.public().id()));
    assert!(matches!(signed.open(&[], &trust), Err(IndexError::OtherKey { .. })));

    for at in 0..signed.bytes.len() {
        let mut changed = signed.clone();
        changed.bytes[at] ^= 1;
        assert!(changed.open(&keys, &trust).is_err(), "the byte {at}");
    }
    let longer = SignedIndex { bytes: [&signed.bytes[..], b" "].concat(), ..signed.clone() };
    assert!(matches!(longer.open(&keys, &trust), Err(IndexError::Signature(_))));
    for statement in [format!("acme/fetch@1.0.0 {}", signed.digest()), signed.digest().to_string()] {
        let signature = Signature::make(&mine, &signed.bytes, &statement).expect("signed").text().to_owned();
        let forged = SignedIndex { signature, ..signed.clone() };
        assert!(matches!(forged.open(&keys, &trust), Err(IndexError::Signature(_))), "{statement}");
    }
    for signature in [String::new(), "x".repeat(5_000), signed.signature.replace("plugin", "another")] {
        let forged = SignedIndex { signature: signature.clone(), ..signed.clone() };
        assert!(forged.open(&keys, &trust).is_err(), "{signature}");
    }

    let mut trust = Trust::default();
    let revoked = crate::trust::Revoked::Key(mine.public().id());
    trust.revoke(revoked, "stolen", Timestamp::UNIX_EPOCH).expect("revoked");
    assert_eq!(
        signed.open(&keys, &trust).expect_err("revoked").to_string(),
        format!("its key {} is revoked: stolen", mine.public().id())
    );
}

// promise index.bounded: An index is limited in its size, its plugins and each of their texts, and names each version
//   and each digest once.
#[test]
fn index_that_breaks_a_rule_is_refused_even_if_it_is_signed() {
    let honest = serde_json::to_value(index()).expect("JSON");
    let check = |change: &dyn Fn(&mut Value), says: &str| {
        let mut value = honest.clone();
        change(&mut value);
        let error = PluginIndex::parse(value.to_string().as_bytes()).expect_err(says).to_string();
        assert!(error.contains(says) && error.len() < 2_000, "{says}: {error}");
    };
    let entry = |key: &'static str, value: Value| move |it: &mut Value| it["plugins"][0][key] = value.clone();
    check(&|it| it["index"] = json!(2), "its layout is 2, and this host reads 1");
    check(&|it| it["more"] = json!(2), "unknown field `more`");
    check(&|it| it["name"] = json!("a\u{1b}b"), "its name `a\\u{1b}b`");
    check(&|it| it["serial"] = json!(-1), "invalid value");
    check(&|it| it["plugins"] = vec![it["plugins"][0].clone(); 10_001].into(), "over the limit of 10000");
    check(&|it| it["plugins"] = vec![it["plugins"][0].clone(); 2].into(), "duplicate version 1.0.0");
    check(
        &|it| {
            let mut again = it["plugins"][0].clone();
            again["version"] = json!("1.0.1");
            it["plugins"] = json!([it["plugins"][0].clone(), again]);
        },
        "duplicate digest sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    check(&entry("name", json!("fetch")), "its name is not PUBLISHER/NAME");
    check(&entry("name", json!("acme/../x")), "its name is not PUBLISHER/NAME");
    check(&entry("publisher", json!("other")), "its publisher is `other`");
    check(&entry("description", json!("x".repeat(1_001))), "its description");
    check(&entry("description", json!(" ")), "its description");
    check(&entry("source", json!("x".repeat(1_001))), "its source");
    check(&entry("keys", json!([])), "0 keys");
    check(&entry("keys", json!(["RW"])), "invalid minisign public key");
    check(&entry("digest", json!("sha256:0")), "invalid digest");
    check(&entry("capabilities", json!({"root": "*"})), "`root` is not a capability");
    check(&entry("tools", vec![json!({"name": "a", "description": "b"}); 129].into()), "129 tools");
    check(&entry("tools", json!([{"name": "a", "description": "b".repeat(501)}])), "is too long");
    let text = honest.to_string();
    for (key, again) in [
        ("serial", text.replacen("\"serial\":3", "\"serial\":3,\"serial\":4", 1)),
        ("plugins.capabilities.http", text.replacen("{\"http\":\"*\"}", "{\"http\":\"*\",\"http\":\"a.example\"}", 1)),
    ] {
        assert_ne!(again, text);
        let error = PluginIndex::parse(again.as_bytes()).expect_err(key).to_string();
        assert!(error.contains(&format!("duplicate key `{key}` at line 1")), "{error}");
    }
    let large = vec![b' '; MAX_PLUGIN_INDEX as usize + 1];
    assert!(matches!(PluginIndex::parse(&large), Err(IndexError::TooLarge { .. })));
    assert!(PluginIndex::parse(b"[]").is_err() && PluginIndex::parse(b"").is_err());
}

#[test]
fn index_schema_accepts_what_is_written() {
    let schema = host_schema::Schema::compile(&index_schema()).expect("a schema");
    let mut value = serde_json::to_value(index()).expect("JSON");
    assert!(schema.check(&value).is_ok());
    value["plugins"][0]["more"] = json!(1);
    assert!(schema.check(&value).is_err());
}

#[test]
fn index_artifact_has_the_index_and_its_signature() {
    let signed = index().sign(&secret()).expect("signed");
    let (manifest, blobs) = signed.artifact();
    let [index, signature] = SignedIndex::layers(&manifest).expect("an index");
    assert_eq!(index.digest, OciDigest::of(&blobs[1]));
    assert_eq!(signature.digest, OciDigest::of(&blobs[2]));
    let twice = String::from_utf8(manifest.clone()).expect("text").replacen('{', "{\"layers\":[],", 1);
    let error = SignedIndex::layers(twice.as_bytes()).expect_err("twice").to_string();
    assert!(error.contains("duplicate key `layers`"), "{error}");
    let value: Value = serde_json::from_slice(&manifest).expect("JSON");
    let check = |change: &dyn Fn(&mut Value), says: &str| {
        let mut value = value.clone();
        change(&mut value);
        let error = SignedIndex::layers(value.to_string().as_bytes()).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    };
    check(&|it| it["artifactType"] = json!("application/vnd.host.plugin.v1"), "its `artifactType`");
    check(&|it| it["layers"] = json!([]), "does not have one layer");
    check(&|it| it["layers"][0]["size"] = json!(MAX_PLUGIN_INDEX + 1), "over 8388608");
    check(&|it| it["layers"][1]["size"] = json!(5_000), "over 4096");
}
