//! Debian's `minisign` takes what we sign, and we take what it signs.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use host_bundle::{
    Bundle, KeyPair, Parts, PublicKey, Rotation, SecretKey, SecretKeyError, SecretKeyFile, Signature, Trust, Verdict,
};
use host_tests::pty::Pty;
use host_tests::{debian, repository};

/// A plugin of ours, named as a publisher would.
fn bundle() -> Bundle {
    let mut manifest = host_tests::built_in_manifest("ls");
    manifest.name = "acme/ls".to_owned();
    manifest.description = Some("Lists a folder.".to_owned());
    let component = std::fs::read(repository().join("plugins/dist/ls.wasm")).expect("it is built");
    Bundle::pack(Parts { manifest, component, readme: None, license: None }).expect("packed")
}

/// Runs it; what it said, when it was content.
fn minisign(arguments: &[&dyn AsRef<OsStr>]) -> Result<String, String> {
    let program = debian::program("minisign").expect("it can be had");
    let mut command = program.command();
    for argument in arguments {
        command.arg(argument.as_ref());
    }
    let output = command.stdin(std::process::Stdio::null()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(said) } else { Err(said) }
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).expect("written");
}

// promise bundle.minisign: Signatures are compatible with minisign in both directions.
#[test]
fn minisign_takes_what_we_sign_and_refuses_what_was_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let pair = KeyPair::generate("correct horse").expect("made");
    pair.write(&at("acme.key")).expect("written");
    write(&at("acme.pub"), pair.public().to_file());
    let secret = SecretKeyFile::read(&at("acme.key")).expect("read").open("correct horse").expect("opened");
    let mut bundle = bundle();
    bundle.sign(&secret).expect("signed");
    write(&at("manifest.json"), bundle.signed_bytes());
    write(&at("manifest.json.minisig"), bundle.signatures()[0].text());
    let verify = || minisign(&[&"-V", &"-p", &at("acme.pub"), &"-m", &at("manifest.json")]);
    let said = verify().expect("it holds");
    assert!(said.contains("Signature and comment signature verified"), "{said}");
    assert!(said.contains(&format!("Trusted comment: {}", bundle.statement())), "{said}");

    let mut changed = bundle.signed_bytes().to_vec();
    changed[10] ^= 1;
    write(&at("manifest.json"), changed);
    assert!(verify().expect_err("it was changed").contains("verification failed"));
    write(&at("manifest.json"), bundle.signed_bytes());
    write(&at("manifest.json.minisig"), bundle.signatures()[0].text().replace("acme/ls@", "evil/ls@"));
    assert!(verify().expect_err("the comment was changed").contains("verification failed"));

    let new = SecretKey::without_password().expect("random numbers");
    let word = Rotation::make(&secret, new.public().clone()).expect("said").to_text();
    let (lines, signature) = word.split_at(word.find("untrusted").expect("a signature"));
    write(&at("word"), lines);
    write(&at("word.minisig"), signature);
    minisign(&[&"-V", &"-p", &at("acme.pub"), &"-m", &at("word")]).expect("a change of keys is a signature like any");
}

#[test]
fn minisign_opens_our_secret_keys_with_their_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let pair = KeyPair::generate("correct horse").expect("made");
    pair.write(&at("acme.key")).expect("written");
    let mut bundle = bundle();
    write(&at("manifest.json"), bundle.signed_bytes());
    let mut command = debian::program("minisign").expect("it can be had").command();
    command
        .arg("-S")
        .arg("-s")
        .arg(at("acme.key"))
        .arg("-m")
        .arg(at("manifest.json"))
        .arg("-t")
        .arg(bundle.statement());
    let mut terminal = Pty::start(command, 80, 24);
    terminal.sees("Password:").types("correct horse\n");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.screen());
    let text = std::fs::read_to_string(at("manifest.json.minisig")).expect("signed");
    bundle.add_signature(Signature::new(text).expect("short")).expect("few");
    let checked = bundle.signatures()[0].check(pair.public(), bundle.signed_bytes(), &bundle.statement());
    assert_eq!(checked, Ok(()));
}

// promise bundle.minisign
#[test]
fn we_take_what_minisign_signs_and_its_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    // Without a password: it asks for one on a terminal alone.
    minisign(&[&"-G", &"-W", &"-p", &at("acme.pub"), &"-s", &at("acme.key")]).expect("keys");
    let key: PublicKey = std::fs::read_to_string(at("acme.pub")).expect("read").parse().expect("a key");
    let mut bundle = bundle();
    write(&at("manifest.json"), bundle.signed_bytes());
    let sign = |comment: &str, more: &[&dyn AsRef<OsStr>]| {
        let (key, file, to) = (at("acme.key"), at("manifest.json"), at("signature"));
        let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&"-S", &"-s", &key, &"-m", &file, &"-x", &to, &"-t", &comment];
        arguments.extend(more);
        minisign(&arguments).expect("signed");
        Signature::new(std::fs::read_to_string(at("signature")).expect("read")).expect("short")
    };
    let good = sign(&bundle.statement(), &[]);
    assert_eq!(good.check(&key, bundle.signed_bytes(), &bundle.statement()), Ok(()));
    for bad in [sign("acme/ls@9.9.9 sha256:0", &[]), sign(&bundle.statement(), &[&"-l"])] {
        assert!(bad.check(&key, bundle.signed_bytes(), &bundle.statement()).is_err(), "{}", bad.text());
    }
    bundle.add_signature(good).expect("few");
    let read = Bundle::read_archive(bundle.to_archive().as_slice()).expect("it is whole");
    let now = "2026-11-20T12:00:00Z".parse().expect("a time");
    let mut trust = Trust::default();
    trust.trust(key.clone(), vec!["acme/*".parse().expect("a pattern")], None, now).expect("trusted");
    assert!(matches!(trust.check(&read, now), Ok(Verdict::Signed { by, .. }) if by == [key.id()]));

    // Its secret key signs through us, once nobody else may read it.
    std::fs::set_permissions(at("acme.key"), PermissionsExt::from_mode(0o644)).expect("set");
    assert!(matches!(SecretKeyFile::read(&at("acme.key")), Err(SecretKeyError::Exposed { .. })));
    std::fs::set_permissions(at("acme.key"), PermissionsExt::from_mode(0o600)).expect("set");
    let file = SecretKeyFile::read(&at("acme.key")).expect("read");
    assert!(!file.is_encrypted());
    let secret = file.open("").expect("opened");
    assert_eq!(secret.public(), &key);
    let mut again = Bundle::read_archive(bundle.to_archive().as_slice()).expect("it is whole");
    again.sign(&secret).expect("signed");
    assert_eq!(again.signatures().len(), 2);
}
