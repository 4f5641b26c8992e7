//! The commands that pack, sign and verify, and those of the keys, as a publisher and a user type them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use host_bundle::{Bundle, LockFile, Locked, Signers};
use host_tests::host::Host;
use host_tests::pty::Pty;
use host_tests::snapshot::Transcript;
use host_tests::{repository, transcript_snapshot};
use serde_json::{Value, json};

use crate::publisher::done;

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

fn make_key(host: &Host, name: &str) {
    done(host.run_of(&["keys", "generate", "--out", &format!("{name}.key"), "--password-file", "password"]));
}

fn sign(host: &Host, file: &str, key: &str) {
    done(host.run_of(&["plugin", "sign", file, "--key", key, "--password-file", "password"]));
}

const FILE: &str = "acme+ls-0.1.0.tar";

#[test]
fn a_plugin_is_packed_signed_trusted_and_verified() {
    let (host, mut cases) = (publisher(), Transcript::default());
    let packed = done(host.run_of(&["plugin", "pack", "dist"]));
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    assert_eq!(packed.stdout, format!("acme/ls 0.1.0  {}  {FILE}\n", bundle.digest()));
    assert_eq!(bundle.readme(), Some(&b"# ls\n"[..]));
    assert_eq!(bundle.license(), Some(&b"Do what you like.\n"[..]));
    cases.run(&host, &["plugin", "pack", "dist/acme+ls.wasm"]);
    done(host.run_of(&["plugin", "pack", "dist/acme+ls.wasm", "--out", "again.tar"]));
    let read = |name: &str| std::fs::read(host.repository().join(name)).expect("read");
    assert!(read(FILE) == read("again.tar"), "the same input gives the same bytes");

    cases.run(&host, &["plugin", "verify", FILE]);
    make_key(&host, "acme");
    let public = String::from_utf8(read("acme.pub")).expect("text");
    sign(&host, FILE, "acme.key");
    cases.run(&host, &["plugin", "verify", FILE]);
    done(host.run_of(&["plugin", "verify", FILE, "--key", "acme.pub"]));
    done(host.run_of(&["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "2999-12-31"]));
    let verified = done(host.run_of(&["plugin", "verify", FILE]));
    let id = bundle_signer(&host);
    assert!(verified.stdout.contains(&format!("signed by {id}")), "{verified:?}");
    cases.add(format!("host plugin verify {FILE}, signed by a trusted key"), &verified);
    let told = done(host.run_of(&["plugin", "verify", FILE, "--json"])).json();
    assert_eq!((&told["verdict"], &told["signed_by"]), (&json!("signed"), &json!([id])));

    let listed = done(host.run_of(&["keys", "list", "--json"])).json();
    assert_eq!(listed["keys"][0]["key"], public.lines().nth(1).expect("a key"));
    assert_eq!((&listed["keys"][0]["state"], &listed["keys"][0]["id"]), (&json!("trusted"), &json!(id)));
    let shown = done(host.run_of(&["keys", "list"])).stdout;
    assert_eq!(shown, format!("{id}  acme/* until 2999-12-31\n"));

    // Trusting it for more changes nothing of what it was trusted for before, and each is shown with its own end.
    let said = done(host.run_of(&["keys", "trust", "acme.pub", "--for", "other/x"])).stdout;
    let before = "It is still trusted for `acme/*` until 2999-12-31.\n";
    assert_eq!(said, format!("The key {id} is trusted for `other/x`.\n{before}"));
    let shown = done(host.run_of(&["keys", "list"])).stdout;
    assert_eq!(shown, format!("{id}  acme/* until 2999-12-31\n{id}  other/x\n"));
    let listed = done(host.run_of(&["keys", "list", "--json"])).json();
    let ends: Vec<&Value> =
        listed["keys"][0]["for"].as_array().into_iter().flatten().map(|it| &it["expires"]).collect();
    assert_eq!(ends, [&json!("2999-12-31T00:00:00Z"), &Value::Null], "{listed}");

    // And it ends for one pattern alone.
    let distrust = ["keys", "distrust", "acme.pub"];
    cases.run(&host, &[&distrust[..], &["--for", "acme/ls"]].concat());
    let said = done(host.run_of(&[&distrust[..], &["--for", "other/x"]].concat())).stdout;
    assert_eq!(said, format!("The key {id} is no longer trusted for `other/x`.\n{before}"));
    assert_eq!(done(host.run_of(&["keys", "list"])).stdout, format!("{id}  acme/* until 2999-12-31\n"));
    let said = done(host.run_of(&["keys", "distrust", &id])).stdout;
    assert_eq!(said, format!("The key {id} is no longer trusted for `acme/*`.\n"));
    assert_eq!(done(host.run_of(&["keys", "list"])).stdout, "No key is trusted.\n");
    cases.run(&host, &distrust);
    cases.run(&host, &["plugin", "verify", FILE]);

    // What is known now is what a lock file keeps.
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    let locked = Locked::new(&bundle, "here", Signers::Keys(vec![id.parse().expect("an id")]), [].into());
    let file = LockFile { plugins: [("acme/ls".to_owned(), locked)].into() };
    assert_eq!(LockFile::parse(&file.to_toml()), Ok(file));
    transcript_snapshot!(cases, @r"
    # host plugin pack dist/acme+ls.wasm
    exit: 42
    ----- stderr
    error: `acme+ls-0.1.0.tar` already exists
    help: name another file with --out, or add --force to replace the file and all signatures in it

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: it has no signature
    help: ask its publisher for a signed one; what it may touch is bounded by your grants either way

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: the key [KEY] is not in your list of keys; get the publisher's key file from a source that \
    you trust, then run `host keys trust FILE --for acme/ls`

    # host plugin verify acme+ls-0.1.0.tar, signed by a trusted key
    exit: 0
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    signed by [KEY]

    # host keys distrust acme.pub --for acme/ls
    exit: 42
    ----- stderr
    error: the key [KEY] is not trusted for `acme/ls`, but for `acme/*`, `other/x`; name one of these

    # host keys distrust acme.pub
    exit: 42
    ----- stderr
    error: the key [KEY] is not trusted for anything
    help: `host keys list` shows the trusted keys

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: the key [KEY] is not in your list of keys; get the publisher's key file from a source that \
    you trust, then run `host keys trust FILE --for acme/ls`
    ");
}

/// The id of the key that signed the bundle.
fn bundle_signer(host: &Host) -> String {
    let bundle = Bundle::read(&host.repository().join(FILE)).expect("it is whole");
    bundle.signatures()[0].key_id().expect("a signature").to_string()
}

// promise bundle.revoked
#[test]
fn keys_are_rotated_and_revoked_and_a_bundle_with_them() {
    let (host, mut cases) = (publisher(), Transcript::default());
    let bundle = done(host.run_of(&["plugin", "pack", "dist"])).stdout;
    let digest = bundle.split_whitespace().find(|word| word.starts_with("sha256:")).expect("a digest");
    for key in ["old", "new", "stranger"] {
        make_key(&host, key);
    }
    sign(&host, FILE, "old.key");
    done(host.run_of(&["keys", "trust", "old.pub", "--for", "acme/ls"]));
    let say = ["keys", "rotate", "--to", "new.pub", "--password-file", "password", "--key"];
    done(host.run_of(&[&say[..], &["old.key", "--out", "word"]].concat()));
    done(host.run_of(&[&say[..], &["stranger.key", "--out", "lie"]].concat()));
    cases.run(&host, &["keys", "rotate", "lie"]);
    done(host.run_of(&["keys", "rotate", "word"]));
    cases.run(&host, &["plugin", "verify", FILE]);
    sign(&host, FILE, "new.key");
    cases.run(&host, &["plugin", "verify", FILE]);
    cases.run(&host, &["keys", "revoke", "new.pub", "--reason", "stolen"]);
    cases.run(&host, &["plugin", "verify", FILE]);
    cases.run(&host, &["plugin", "verify", FILE, "--key", "new.pub"]);
    cases.run(&host, &["keys", "trust", "new.pub", "--for", "acme/*"]);
    sign(&host, FILE, "stranger.key");
    done(host.run_of(&["keys", "trust", "stranger.pub", "--for", "acme/*"]));
    done(host.run_of(&["plugin", "verify", FILE]));
    done(host.run_of(&["keys", "revoke", digest, "--reason", "it sends your files away"]));
    cases.run(&host, &["plugin", "verify", FILE]);
    cases.run(&host, &["keys", "list"]);
    transcript_snapshot!(cases, @r"
    # host keys rotate lie
    exit: 42
    ----- stderr
    error: the key [KEY] is not trusted, so it cannot name its successor
    help: `host keys list` shows the trusted keys

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: the key [KEY] was replaced by [KEY]; ask the publisher for a bundle that the new key signed

    # host plugin verify acme+ls-0.1.0.tar
    exit: 0
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    signed by [KEY]
    not counted: the key [KEY] was replaced by [KEY]; ask the publisher for a bundle that the new key signed

    # host keys revoke new.pub --reason stolen
    exit: 0
    ----- stdout
    Revoked permanently: the key [KEY].
    It was trusted for `acme/ls`.

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: the key [KEY] is revoked: stolen; ask the publisher for a bundle that another key signed

    # host plugin verify acme+ls-0.1.0.tar --key new.pub
    exit: 55
    ----- stderr
    error: the key [KEY] is revoked (stolen) and cannot be trusted again; trust a different key of the \
    publisher

    # host keys trust new.pub --for acme/*
    exit: 42
    ----- stderr
    error: the key [KEY] is revoked (stolen) and cannot be trusted again; trust a different key of the \
    publisher

    # host plugin verify acme+ls-0.1.0.tar
    exit: 55
    ----- stdout
    acme/ls 0.1.0  sha256:[DIGEST]
    Lists a folder.
    tools: ls
    asks for fs-read: *, to list the entries of a directory
    ----- stderr
    error: `acme+ls-0.1.0.tar` is not signed by a key that you trust
      caused by: `sha256:[DIGEST]` is revoked: it sends your files away; do not use it, and ask its \
    publisher for another version

    # host keys list
    exit: 0
    ----- stdout
    [KEY]  acme/ls  (replaced by [KEY])
    [KEY]  acme/ls  (revoked: stolen)
    [KEY]  acme/*
    revoked: the key [KEY], since [DATE]: stolen
    revoked: sha256:[DIGEST], since [DATE]: it sends your files away
    ");
}

#[test]
fn bundle_that_was_changed_is_invalid_and_the_error_names_the_reason() {
    let (host, mut cases) = (publisher(), Transcript::default());
    done(host.run_of(&["plugin", "pack", "dist"]));
    let path = host.repository().join(FILE);
    let honest = std::fs::read(&path).expect("read");
    let at = honest.windows(8).position(|bytes| bytes == b"\0asm\x0d\0\x01\0").expect("the component");
    let mut changed = honest.clone();
    changed[at + 100] ^= 1;
    std::fs::write(&path, changed).expect("written");
    cases.run(&host, &["plugin", "verify", FILE]);
    std::fs::write(&path, &honest[..honest.len() / 2]).expect("written");
    cases.run(&host, &["plugin", "verify", FILE]);
    cases.run(&host, &["plugin", "verify", "nothing.tar"]);
    transcript_snapshot!(cases, @"
    # host plugin verify acme+ls-0.1.0.tar
    exit: 42
    ----- stderr
    error: cannot read the bundle `acme+ls-0.1.0.tar`
      caused by: the blob `sha256:[DIGEST]` was changed: its bytes have the digest `sha256:[DIGEST]`
    help: get it again from its publisher; `host plugin pack` makes one

    # host plugin verify acme+ls-0.1.0.tar
    exit: 42
    ----- stderr
    error: cannot read the bundle `acme+ls-0.1.0.tar`
      caused by: it has `blobs/sha256/[DIGEST]`, whose size is not the declared one
    help: get it again from its publisher; `host plugin pack` makes one

    # host plugin verify nothing.tar
    exit: 42
    ----- stderr
    error: cannot read the bundle `nothing.tar`
      caused by: the bundle `nothing.tar` cannot be read: No such file or directory (os error 2)
    help: check the path, and that you may read it
    ");
}

#[test]
fn bundle_that_cannot_be_packed_or_signed_reports_what_to_do() {
    let mut cases = Transcript::default();
    let host = publisher()
        .file("empty/x.txt", "")
        .file("source/plugin.toml", "name = \"x\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\n");
    cases.run(&host, &["plugin", "pack", "empty"]);
    cases.run(&host, &["plugin", "pack", "password"]);
    cases.run(&host, &["plugin", "pack", "source"]);
    let plain = repository().join("plugins/dist/ls.wasm").display().to_string();
    cases.run(&host, &["plugin", "pack", &plain]);
    done(host.run_of(&["plugin", "pack", "dist"]));
    make_key(&host, "acme");

    cases.run(&host, &["plugin", "sign", FILE, "--key", "acme.key"]);
    cases.run(&host, &["plugin", "sign", FILE, "--key", "acme.pub"]);
    let host = host.file("wrong", "incorrect horse\n");
    set_mode(&host.repository().join("wrong"), 0o644);
    let wrong = ["plugin", "sign", FILE, "--key", "acme.key", "--password-file", "wrong"];
    cases.run(&host, &wrong);
    set_mode(&host.repository().join("wrong"), 0o600);
    cases.run(&host, &wrong);
    set_mode(&host.repository().join("acme.key"), 0o644);
    cases.run(&host, &wrong);
    cases.run(&host, &["keys", "generate", "--out", "acme.key", "--password-file", "password"]);
    cases.run(&host, &["keys", "generate", "--out", "other.key"]);
    cases.run(&host, &["keys", "trust", "acme.pub", "--for", "*"]);
    cases.run(&host, &["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "soon"]);
    cases.run(&host, &["keys", "trust", "acme.pub", "--for", "acme/*", "--expires", "2001-01-01"]);
    transcript_snapshot!(cases, @r#"
    # host plugin pack empty
    exit: 42
    ----- stderr
    error: `empty` has neither a plugin.toml nor a component
    help: build the plugin first: host plugin build FOLDER --out DIR

    # host plugin pack password
    exit: 42
    ----- stderr
    error: `password` is neither a plugin's folder nor its component
    help: name a folder with a plugin.toml, or the .wasm file that `host plugin build --out DIR` made

    # host plugin pack source
    exit: 42
    ----- stderr
    error: `x` has no description; add `description = "…"`, one line, to its plugin.toml and build it again

    # host plugin pack [SOURCES]/plugins/dist/ls.wasm
    exit: 42
    ----- stderr
    error: `ls` has no description; add `description = "…"`, one line, to its plugin.toml and build it again

    # host plugin sign acme+ls-0.1.0.tar --key acme.key
    exit: 42
    ----- stderr
    error: cannot ask for the password of `acme.key`: there is no terminal
    help: add --password-file FILE, whose first line is the password

    # host plugin sign acme+ls-0.1.0.tar --key acme.pub
    exit: 42
    ----- stderr
    error: `acme.pub` is a public key, and only a secret key signs
    help: name the file that `host keys generate` wrote beside it

    # host plugin sign acme+ls-0.1.0.tar --key acme.key --password-file wrong
    exit: 42
    ----- stderr
    error: the password file `wrong` is not used: other users can read or write it (its mode is 644)
    help: chmod 600 'wrong'

    # host plugin sign acme+ls-0.1.0.tar --key acme.key --password-file wrong
    exit: 42
    ----- stderr
    error: the password does not open the secret key `acme.key`

    # host plugin sign acme+ls-0.1.0.tar --key acme.key --password-file wrong
    exit: 42
    ----- stderr
    error: other users can access the secret key `acme.key` (other users can read or write it (its mode is \
    644)); run chmod 600 'acme.key'

    # host keys generate --out acme.key --password-file password
    exit: 42
    ----- stderr
    error: `acme.key` already exists
    help: a key file is never overwritten; name another file with --out

    # host keys generate --out other.key
    exit: 42
    ----- stderr
    error: cannot ask for the password of `other.key`: there is no terminal
    help: add --password-file FILE, whose first line is the password

    # host keys trust acme.pub --for *
    exit: 42
    ----- stderr
    error: invalid value '*' for '--for <PATTERN>': invalid pattern `*`: use PUBLISHER/* or PUBLISHER/NAME

    For more information, try '--help'.

    # host keys trust acme.pub --for acme/* --expires soon
    exit: 42
    ----- stderr
    error: invalid value 'soon' for '--expires <DATE>': invalid date `soon`; write it as [DATE]

    For more information, try '--help'.

    # host keys trust acme.pub --for acme/* --expires 2001-01-01
    exit: 42
    ----- stderr
    error: the key [KEY] expired at [TIME]
    help: give a later --expires
    "#);
}

// promise bundle.secret-key
#[test]
fn a_password_is_asked_for_twice_where_it_is_made_and_is_never_shown() {
    let host = publisher();
    done(host.run_of(&["plugin", "pack", "dist"]));
    let mut terminal = Pty::start(host.command_of(&["keys", "generate", "--out", "acme.key"]), 100, 24);
    terminal.sees("Password of `acme.key`: ").types("correct horse\n");
    terminal.sees("Repeat the password: ").types("correct horse\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    assert!(!terminal.written().contains("correct"), "{}", terminal.written());
    let mut terminal = Pty::start(host.command_of(&["plugin", "sign", FILE, "--key", "acme.key"]), 100, 24);
    terminal.sees("Password of `acme.key`: ").types("correct horse\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    assert!(!terminal.written().contains("correct"), "{}", terminal.written());
    done(host.run_of(&["plugin", "verify", FILE, "--key", "acme.pub"]));

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
    let packed = done(host.run_of(&["plugin", "pack", &guest.display().to_string(), "--out", "guest.tar"]));
    assert!(packed.stdout.starts_with("misbehave 0.1.0  sha256:"), "{}", packed.stdout);
    let bundle = Bundle::read(&host.repository().join("guest.tar")).expect("it is whole");
    assert!(bundle.manifest().tools.iter().any(|tool| tool.spec.input_schema["type"] == "object"));
}

#[test]
fn the_schemas_of_both_manifests_are_printed() {
    let host = publisher();
    for of in ["plugin", "manifest"] {
        let schema = done(host.run_of(&["schema", of])).json();
        assert_eq!(schema["type"], "object", "{of}");
        assert!(schema["properties"]["capabilities"].is_object(), "{of}");
    }
    let manifest = std::fs::read(host.repository().join("dist/acme+ls.json")).expect("read");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let schema = done(host.run_of(&["schema", "manifest"])).json();
    assert_eq!(host_schema::Schema::compile(&schema).expect("it is a schema").check(&manifest), Ok(()));
}
