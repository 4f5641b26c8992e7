//! The commands that pack, sign and verify, and those of the keys, as a publisher and a user type them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use host_bundle::{Bundle, LockFile, Locked, Signers};
use host_tests::host::{Ended, Host};
use host_tests::pty::Pty;
use host_tests::repository;
use serde_json::{Value, json};

/// A repository with the plugin `acme/ls` as `host plugin build` leaves it, and a password in a file.
fn publisher() -> Host {
    let dist = repository().join("plugins/dist");
    let component = std::fs::read(dist.join("ls.wasm")).expect("it is built");
    let mut manifest: Value =
        serde_json::from_slice(&std::fs::read(dist.join("ls.json")).expect("it is built")).expect("JSON");
    manifest["name"] = "acme/ls".into();
    manifest["description"] = "Lists a folder.".into();
    let host = Host::new(Vec::<String>::new())
        .file("dist/acme+ls.wasm", component)
        .file("dist/acme+ls.json", manifest.to_string())
        .file("dist/README.md", "# ls\n")
        .file("dist/LICENSE", "Do what you like.\n")
        .file("password", "correct horse\n");
    set_mode(&host.repository().join("password"), 0o600);
    host
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
}

/// Runs a command that has to work; what it printed.
#[track_caller]
fn done(host: &Host, arguments: &[&str]) -> Ended {
    let ended = host.run_of(arguments);
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended
}

/// Runs a command that has to be refused, with this code and these words.
#[track_caller]
fn refused(host: &Host, code: i32, says: &str, arguments: &[&str]) {
    let ended = host.run_of(arguments);
    assert!(ended.code == Some(code) && ended.stderr.contains(says), "{arguments:?}: {says} in {ended:?}");
}

fn make_key(host: &Host, name: &str) {
    done(host, &["keys", "generate", "--out", &format!("{name}.key"), "--password-file", "password"]);
}

fn sign(host: &Host, file: &str, key: &str) {
    done(host, &["plugin", "sign", file, "--key", key, "--password-file", "password"]);
}

const FILE: &str = "acme+ls-0.1.0.tar";

#[test]
fn a_plugin_is_packed_signed_trusted_and_verified() {
    let host = publisher();
    let packed = done(&host, &["plugin", "pack", "dist"]);
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    assert_eq!(packed.stdout, format!("acme/ls 0.1.0  {}  {FILE}\n", bundle.digest()));
    assert_eq!(bundle.readme(), Some(&b"# ls\n"[..]));
    assert_eq!(bundle.license(), Some(&b"Do what you like.\n"[..]));
    refused(&host, 42, "already exists", &["plugin", "pack", "dist/acme+ls.wasm"]);
    done(&host, &["plugin", "pack", "dist/acme+ls.wasm", "--out", "again.tar"]);
    let read = |name: &str| std::fs::read(host.repository().join(name)).expect("read");
    assert!(read(FILE) == read("again.tar"), "the same input gives the same bytes");

    refused(&host, 55, "it has no signature", &["plugin", "verify", FILE]);
    make_key(&host, "acme");
    let public = String::from_utf8(read("acme.pub")).expect("text");
    sign(&host, FILE, "acme.key");
    refused(&host, 55, "is not in your list of keys; get the publisher's key file", &["plugin", "verify", FILE]);
    done(&host, &["plugin", "verify", FILE, "--key", "acme.pub"]);
    done(&host, &["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "2999-12-31"]);
    let verified = done(&host, &["plugin", "verify", FILE]);
    let id = bundle_signer(&host);
    for words in ["acme/ls 0.1.0  sha256:", "Lists a folder.", "asks for fs-read: *, to", &format!("signed by {id}")] {
        assert!(verified.stdout.contains(words), "{words} in {}", verified.stdout);
    }
    let told = done(&host, &["plugin", "verify", FILE, "--json"]).json();
    assert_eq!((&told["verdict"], &told["signed_by"]), (&json!("signed"), &json!([id])));

    let listed = done(&host, &["keys", "list", "--json"]).json();
    assert_eq!(listed["keys"][0]["key"], public.lines().nth(1).expect("a key"));
    assert_eq!((&listed["keys"][0]["state"], &listed["keys"][0]["id"]), (&json!("trusted"), &json!(id)));
    let shown = done(&host, &["keys", "list"]).stdout;
    assert_eq!(shown, format!("{id}  acme/* until 2999-12-31\n"));

    // Trusting it for more changes nothing of what it was trusted for before, and each is shown with its own end.
    let said = done(&host, &["keys", "trust", "acme.pub", "--for", "other/x"]).stdout;
    let before = "It is still trusted for `acme/*` until 2999-12-31.\n";
    assert_eq!(said, format!("The key {id} is trusted for `other/x`.\n{before}"));
    let shown = done(&host, &["keys", "list"]).stdout;
    assert_eq!(shown, format!("{id}  acme/* until 2999-12-31\n{id}  other/x\n"));
    let listed = done(&host, &["keys", "list", "--json"]).json();
    let ends: Vec<&Value> =
        listed["keys"][0]["for"].as_array().into_iter().flatten().map(|it| &it["expires"]).collect();
    assert_eq!(ends, [&json!("2999-12-31T00:00:00Z"), &Value::Null], "{listed}");

    // And it ends for one pattern alone.
    let distrust = ["keys", "distrust", "acme.pub"];
    refused(&host, 42, "is not trusted for `acme/ls`, but for", &[&distrust[..], &["--for", "acme/ls"]].concat());
    let said = done(&host, &[&distrust[..], &["--for", "other/x"]].concat()).stdout;
    assert_eq!(said, format!("The key {id} is no longer trusted for `other/x`.\n{before}"));
    assert_eq!(done(&host, &["keys", "list"]).stdout, format!("{id}  acme/* until 2999-12-31\n"));
    let said = done(&host, &["keys", "distrust", &id]).stdout;
    assert_eq!(said, format!("The key {id} is no longer trusted for `acme/*`.\n"));
    assert_eq!(done(&host, &["keys", "list"]).stdout, "No key is trusted.\n");
    refused(&host, 42, "is not trusted for anything", &distrust);
    refused(&host, 55, "is not in your list of keys; get the publisher's key file", &["plugin", "verify", FILE]);

    // What is known now is what a lock file keeps.
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    let locked = Locked::new(&bundle, "here", Signers::Keys(vec![id.parse().expect("an id")]), [].into());
    let file = LockFile { plugins: [("acme/ls".to_owned(), locked)].into() };
    assert_eq!(LockFile::parse(&file.to_toml()), Ok(file));
}

/// The id of the key that signed the bundle.
fn bundle_signer(host: &Host) -> String {
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    bundle.signatures()[0].key_id().expect("a signature").to_string()
}

// promise bundle.revoked
#[test]
fn keys_are_rotated_and_revoked_and_a_bundle_with_them() {
    let host = publisher();
    let bundle = done(&host, &["plugin", "pack", "dist"]).stdout;
    let digest = bundle.split_whitespace().find(|word| word.starts_with("sha256:")).expect("a digest");
    for key in ["old", "new", "stranger"] {
        make_key(&host, key);
    }
    sign(&host, FILE, "old.key");
    done(&host, &["keys", "trust", "old.pub", "--for", "acme/ls"]);
    let say = ["keys", "rotate", "--to", "new.pub", "--password-file", "password", "--key"];
    done(&host, &[&say[..], &["old.key", "--out", "word"]].concat());
    done(&host, &[&say[..], &["stranger.key", "--out", "lie"]].concat());
    refused(&host, 42, "is not trusted, so it cannot name its successor", &["keys", "rotate", "lie"]);
    done(&host, &["keys", "rotate", "word"]);
    refused(&host, 55, "was replaced by", &["plugin", "verify", FILE]);
    sign(&host, FILE, "new.key");
    let verified = done(&host, &["plugin", "verify", FILE]).stdout;
    assert!(verified.contains("not counted: the key") && verified.contains("signed by"), "{verified}");

    let said = done(&host, &["keys", "revoke", "new.pub", "--reason", "stolen"]).stdout;
    assert!(
        said.starts_with("Revoked permanently: the key ") && said.ends_with("It was trusted for `acme/ls`.\n"),
        "{said}"
    );
    refused(&host, 55, "is revoked: stolen", &["plugin", "verify", FILE]);
    refused(&host, 55, "is revoked", &["plugin", "verify", FILE, "--key", "new.pub"]);
    refused(
        &host,
        42,
        "is revoked (stolen) and cannot be trusted again",
        &["keys", "trust", "new.pub", "--for", "acme/*"],
    );
    sign(&host, FILE, "stranger.key");
    done(&host, &["keys", "trust", "stranger.pub", "--for", "acme/*"]);
    done(&host, &["plugin", "verify", FILE]);
    done(&host, &["keys", "revoke", digest, "--reason", "it sends your files away"]);
    refused(&host, 55, "is revoked: it sends your files away", &["plugin", "verify", FILE]);
    let shown = done(&host, &["keys", "list"]).stdout;
    for words in ["(replaced by", "(revoked: stolen)", "revoked: sha256:"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
}

#[test]
fn bundle_that_was_changed_is_invalid_and_the_error_names_the_reason() {
    let host = publisher();
    done(&host, &["plugin", "pack", "dist"]);
    let path = host.repository().join(FILE);
    let honest = std::fs::read(&path).expect("read");
    let at = honest.windows(8).position(|bytes| bytes == b"\0asm\x0d\0\x01\0").expect("the component");
    let mut changed = honest.clone();
    changed[at + 100] ^= 1;
    std::fs::write(&path, changed).expect("written");
    refused(&host, 42, "was changed: its bytes have the digest", &["plugin", "verify", FILE]);
    std::fs::write(&path, &honest[..honest.len() / 2]).expect("written");
    refused(&host, 42, "cannot read the bundle", &["plugin", "verify", FILE]);
    refused(&host, 42, "cannot read the bundle `nothing.tar`", &["plugin", "verify", "nothing.tar"]);
}

#[test]
fn bundle_that_cannot_be_packed_or_signed_reports_what_to_do() {
    let host = publisher()
        .file("empty/x.txt", "")
        .file("source/plugin.toml", "name = \"x\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\n");
    refused(&host, 42, "build the plugin first", &["plugin", "pack", "empty"]);
    refused(&host, 42, "neither a plugin's folder nor its component", &["plugin", "pack", "password"]);
    refused(&host, 42, "has no description; add `description", &["plugin", "pack", "source"]);
    let plain = repository().join("plugins/dist/ls.wasm").display().to_string();
    refused(&host, 42, "has no description", &["plugin", "pack", &plain]);
    done(&host, &["plugin", "pack", "dist"]);
    make_key(&host, "acme");

    let sign = |more: &[&str], says: &str| refused(&host, 42, says, &[&["plugin", "sign", FILE], more].concat());
    sign(&["--key", "acme.key"], "add --password-file FILE");
    sign(&["--key", "acme.pub"], "chmod 600");
    let host = host.file("wrong", "incorrect horse\n");
    set_mode(&host.repository().join("wrong"), 0o644);
    let wrong = ["plugin", "sign", FILE, "--key", "acme.key", "--password-file", "wrong"];
    refused(&host, 42, "other users can read or write it", &wrong);
    set_mode(&host.repository().join("wrong"), 0o600);
    refused(&host, 42, "the password does not open the secret key `acme.key`", &wrong);
    set_mode(&host.repository().join("acme.key"), 0o644);
    refused(&host, 42, "help: chmod 600".trim_start_matches("help: "), &wrong);
    refused(&host, 42, "already exists", &["keys", "generate", "--out", "acme.key", "--password-file", "password"]);
    refused(&host, 42, "there is no terminal", &["keys", "generate", "--out", "other.key"]);
    refused(&host, 42, "invalid pattern `*`", &["keys", "trust", "acme.pub", "--for", "*"]);
    refused(&host, 42, "invalid date", &["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "soon"]);
    refused(
        &host,
        42,
        "give a later --expires",
        &["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "2001-01-01"],
    );
}

// promise bundle.secret-key
#[test]
fn a_password_is_asked_for_twice_where_it_is_made_and_is_never_shown() {
    let host = publisher();
    done(&host, &["plugin", "pack", "dist"]);
    let mut terminal = Pty::start(host.command_of(&["keys", "generate", "--out", "acme.key"]), 100, 24);
    terminal.sees("Password of `acme.key`: ").types("correct horse\n");
    terminal.sees("Repeat the password: ").types("correct horse\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    assert!(!terminal.written().contains("correct"), "{}", terminal.written());
    let mut terminal = Pty::start(host.command_of(&["plugin", "sign", FILE, "--key", "acme.key"]), 100, 24);
    terminal.sees("Password of `acme.key`: ").types("correct horse\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    assert!(!terminal.written().contains("correct"), "{}", terminal.written());
    done(&host, &["plugin", "verify", FILE, "--key", "acme.pub"]);

    let mut terminal = Pty::start(host.command_of(&["keys", "generate", "--out", "other.key"]), 100, 24);
    terminal.sees("Password of `other.key`: ").types("one\n").sees("Repeat the password: ").types("two\n");
    assert_eq!(terminal.ends(), Some(42), "{}", terminal.screen());
    let mut terminal = Pty::start(host.command_of(&["keys", "generate", "--out", "other.key"]), 100, 24);
    terminal.sees("Password of `other.key`: ").types("on\u{3}");
    assert_eq!(terminal.ends(), Some(130), "{}", terminal.screen());
    assert!(!host.repository().join("other.key").exists());
}

#[test]
fn a_plugin_is_packed_from_its_sources() {
    host_tests::add_target();
    let guest = repository().join("tests/guests/misbehave");
    let mut host = publisher();
    // Where the compilers are; the rest of the environment stays the test's own.
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let usual = std::env::home_dir().unwrap_or_default().join(usual);
        host = host.env(name, std::env::var_os(name).unwrap_or(usual.into()));
    }
    let packed = done(&host, &["plugin", "pack", &guest.display().to_string(), "--out", "guest.tar"]);
    assert!(packed.stdout.starts_with("misbehave 0.1.0  sha256:"), "{}", packed.stdout);
    let bundle = Bundle::read(&host.repository().join("guest.tar")).expect("it is whole");
    assert!(bundle.manifest().tools.iter().any(|tool| tool.spec.input_schema["type"] == "object"));
}

#[test]
fn the_schemas_of_both_manifests_are_printed() {
    let host = publisher();
    for of in ["plugin", "manifest"] {
        let schema = done(&host, &["schema", of]).json();
        assert_eq!(schema["type"], "object", "{of}");
        assert!(schema["properties"]["capabilities"].is_object(), "{of}");
    }
    let manifest = std::fs::read(host.repository().join("dist/acme+ls.json")).expect("read");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let schema = done(&host, &["schema", "manifest"]).json();
    assert_eq!(host_schema::Schema::compile(&schema).expect("it is a schema").check(&manifest), Ok(()));
}
