//! `host keys`: the keys that sign plugins, and those that a user trusts.
//!
//! Deliberately not here: signing (`plugin sign`), the rules of a verdict (`host-bundle`), and what changes in the
//! store (`host_extensions::keys`).

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use host_bundle::{KeyId, KeyPair, OciDigest, PublicKey, Revoked, Rotation, SecretKeyError, SecretKeyFile, TrustStore};
use host_extensions::keys;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::arguments::bundles::Keys;
use crate::exit::Code;
use crate::password::{self, Ask};
use crate::printer::{self, Out};

/// The most bytes that are read of a key, a statement or a signature.
const MAX_TEXT: u64 = 16 << 10;

pub(crate) fn run(keys: Keys, environment: &Environment) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let store = TrustStore::at(folders.keys);
    let now = Timestamp::now();
    let said = match keys {
        Keys::Generate { out, password_file } => {
            let out = out.unwrap_or_else(|| folders.configuration.join("host.key"));
            generate(&out, password_file.as_deref(), environment)?
        }
        Keys::Trust { key, patterns, expires } => keys::trust(&store, public(&key)?, patterns, expires, now)?,
        Keys::Distrust { key, patterns } => keys::distrust(&store, key_id(&key)?, &patterns, now)?,
        Keys::Rotate { statement: Some(file), .. } => keys::rotate(&store, &text(&file)?, now)?,
        Keys::Rotate { key: Some(key), to: Some(to), out, password_file, .. } => {
            say(&key, &to, out.as_deref(), password_file.as_deref(), environment)?
        }
        Keys::Rotate { .. } => {
            return Err(Failure::input("no statement was named").help("host keys rotate FILE, or --key OLD --to NEW"));
        }
        Keys::Revoke { what, reason } => keys::revoke(&store, revoked(&what)?, &reason, now)?,
        Keys::List { json: true } => printer::json(&keys::described(&keys::stored(&store)?, now))?,
        Keys::List { json: false } => keys::list(&keys::stored(&store)?, now),
    };
    Out::new(CancellationToken::new()).write(&said);
    Ok(Code::Done)
}

/// A public key: the key itself, or the file with it.
pub(crate) fn public(given: &str) -> Result<PublicKey, Failure> {
    let path = Path::new(given);
    if !given.starts_with("RW") || path.is_file() {
        let words =
            text(path).map_err(|failure| failure.help("give the key, a line that begins with RW, or its .pub file"))?;
        return words.parse().map_err(|error: host_bundle::KeyError| Failure::from_error(ErrorKind::Input, &error));
    }
    given.parse().map_err(|error: host_bundle::KeyError| Failure::from_error(ErrorKind::Input, &error))
}

/// A short text out of a file.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    host_files::read_text(path, MAX_TEXT)
        .map_err(|error| Failure::input(format!("`{}` cannot be read: {error}", path.display())))
}

fn generate(out: &Path, password: Option<&Path>, environment: &Environment) -> Result<String, Failure> {
    let failed = |path: &Path, error: std::io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(format!("`{}` already exists", path.display()))
            .help("a key file is never overwritten; name another file with --out"),
        _ => Failure::input(format!("`{}` cannot be written: {error}", path.display())),
    };
    let beside = out.with_extension("pub");
    // Before a password is asked for in vain.
    for path in [out, &beside] {
        if path.symlink_metadata().is_ok() {
            return Err(failed(path, io::ErrorKind::AlreadyExists.into()));
        }
    }
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(out, error))?;
    }
    let what = format!("`{}`", out.display());
    let password = password::read(&what, password, Ask::Twice, environment)?;
    let pair = KeyPair::generate(&password).map_err(|error| Failure::from_error(ErrorKind::Configuration, &error))?;
    pair.write(out).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let mut file = File::create_new(&beside).map_err(|error| failed(&beside, error))?;
    file.write_all(pair.public().to_file().as_bytes()).map_err(|error| failed(&beside, error))?;
    Ok(format!(
        "The secret key is `{}`: keep it and its password to yourself.\nThe public key is `{}`: publish it.\n\n{}\n",
        out.display(),
        beside.display(),
        pair.public()
    ))
}

/// Makes the publisher's statement that a new key replaces an old one.
fn say(
    key: &Path,
    to: &str,
    out: Option<&Path>,
    password: Option<&Path>,
    environment: &Environment,
) -> Result<String, Failure> {
    let failed = |error: SecretKeyError| Failure::from_error(ErrorKind::Input, &error).help_if(error.help());
    let new = public(to)?;
    let secret = SecretKeyFile::read(key).map_err(failed)?;
    let password = match secret.is_encrypted() {
        true => password::read(&format!("`{}`", key.display()), password, Ask::Once, environment)?,
        false => String::new(),
    };
    let secret = secret.open(&password).map_err(failed)?;
    let rotation = Rotation::make(&secret, new).map_err(failed)?;
    let Some(out) = out else { return Ok(rotation.to_text()) };
    let unwritable = |error: std::io::Error| Failure::input(format!("`{}` cannot be written: {error}", out.display()));
    let mut file = File::create_new(out).map_err(unwritable)?;
    file.write_all(rotation.to_text().as_bytes()).map_err(unwritable)?;
    let (old, new) = (rotation.old_key().id(), rotation.new_key().id());
    Ok(format!("`{}` states that the key {new} replaces {old}: publish it.\n", out.display()))
}

fn revoked(what: &str) -> Result<Revoked, Failure> {
    if what.starts_with("sha256:") {
        let digest: Result<OciDigest, _> = what.parse();
        return digest.map(Revoked::Digest).map_err(|error| Failure::from_error(ErrorKind::Input, &error));
    }
    key_id(what).map(Revoked::Key)
}

/// The id of a key: the id itself, or that of the key or of the file with it.
fn key_id(given: &str) -> Result<KeyId, Failure> {
    given.parse().or_else(|_| public(given).map(|key| key.id()))
}
