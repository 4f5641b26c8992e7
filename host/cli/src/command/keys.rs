//! `host keys`: the keys that sign plugins, and those that a user trusts.
//!
//! Deliberately not here: signing (`plugin sign`), and the rules of a verdict (`host-bundle`).

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use host_bundle::{
    KeyId, KeyPair, OciDigest, Pattern, PublicKey, Purpose, Revocation, Revoked, Rotation, SecretKeyFile, StoreError,
    Trust, TrustStore, TrustedKey,
};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::visible_line;
use jiff::Timestamp;
use serde_json::{Value, json};
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
        Keys::Trust { key, patterns, expires } => {
            let key = public(&key)?;
            let id = key.id();
            let shown: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
            let before = store.change(|trust| {
                let before = purposes(trust, id).filter(|purpose| !patterns.contains(&purpose.pattern));
                let before: Vec<String> = before.map(|purpose| described_purpose(purpose, now)).collect();
                trust.trust(key, patterns, expires, now).map(|()| before)
            });
            let mut said = format!("The key {id} is trusted for {}{}.\n", shown.join(", "), until(expires));
            for purpose in before.map_err(of_store)? {
                let _ = writeln!(said, "It is still trusted for {purpose}.");
            }
            said
        }
        Keys::Distrust { key, patterns } => {
            let id = key_id(&key)?;
            let change = store.change(|trust| {
                let before: Vec<Pattern> = purposes(trust, id).map(|purpose| purpose.pattern.clone()).collect();
                trust.distrust(id, &patterns).map(|kept| (before, kept))
            });
            let (before, kept) = change.map_err(of_store)?;
            let ended = before.iter().filter(|it| kept.iter().all(|purpose| purpose.pattern != **it));
            let ended: Vec<String> = ended.map(|pattern| format!("`{pattern}`")).collect();
            let mut said = format!("The key {id} is no longer trusted for {}.\n", ended.join(", "));
            for purpose in kept {
                let _ = writeln!(said, "It is still trusted for {}.", described_purpose(&purpose, now));
            }
            said
        }
        Keys::Rotate { statement: Some(file), .. } => {
            let rotation =
                Rotation::parse(&text(&file)?).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
            store.change(|trust| trust.rotate(&rotation, now)).map_err(of_store)?;
            format!("The key {} replaces {}.\n", rotation.new_key().id(), rotation.old_key().id())
        }
        Keys::Rotate { key: Some(key), to: Some(to), out, password_file, .. } => {
            say(&key, &to, out.as_deref(), password_file.as_deref(), environment)?
        }
        Keys::Rotate { .. } => {
            return Err(Failure::input("no statement was named").help("host keys rotate FILE, or --key OLD --to NEW"));
        }
        Keys::Revoke { what, reason } => {
            let what = revoked(&what)?;
            let mut said = format!("Revoked permanently: {what}.\n");
            let before = store.change(|trust| {
                let before: Vec<String> = match &what {
                    Revoked::Key(id) => purposes(trust, *id).map(|purpose| described_purpose(purpose, now)).collect(),
                    Revoked::Digest(_) => Vec::new(),
                };
                trust.revoke(what, &reason, now).map(|()| before)
            });
            for purpose in before.map_err(of_store)? {
                let _ = writeln!(said, "It was trusted for {purpose}.");
            }
            said
        }
        Keys::List { json } => list(&store.load().map_err(of_store)?, json, now)?,
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
    let failed = |error: &dyn std::error::Error| Failure::from_error(ErrorKind::Input, error);
    let new = public(to)?;
    let secret = SecretKeyFile::read(key).map_err(|error| failed(&error))?;
    let password = match secret.is_encrypted() {
        true => password::read(&format!("`{}`", key.display()), password, Ask::Once, environment)?,
        false => String::new(),
    };
    let secret = secret.open(&password).map_err(|error| failed(&error))?;
    let rotation = Rotation::make(&secret, new).map_err(|error| failed(&error))?;
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

fn list(trust: &Trust, json: bool, now: Timestamp) -> Result<String, Failure> {
    if json {
        return printer::json(&described(trust, now));
    }
    let mut text = String::new();
    for known in trust.keys() {
        for purpose in &known.purposes {
            let (_, why) = state(trust, known, Some(purpose), now);
            // A string takes everything.
            let _ = writeln!(text, "{}  {}{}", known.key.id(), purpose.pattern, visible_line(&why));
        }
    }
    if trust.keys().is_empty() {
        text.push_str("No key is trusted.\n");
    }
    for Revocation { what, reason, since } in trust.revoked() {
        let _ = writeln!(text, "revoked: {what}, since {}: {}", since.strftime("%Y-%m-%d"), visible_line(reason));
    }
    Ok(text)
}

/// The purposes of the key with this id, if it is known.
fn purposes(trust: &Trust, id: KeyId) -> impl Iterator<Item = &Purpose> {
    trust.keys().iter().filter(move |known| known.key.id() == id).flat_map(|known| &known.purposes)
}

fn described_purpose(purpose: &Purpose, now: Timestamp) -> String {
    let expired = if purpose.counts(now) { "" } else { " (expired)" };
    format!("`{}`{}{expired}", purpose.pattern, until(purpose.expires))
}

/// Returns whether a key currently counts, for one purpose or for any: a word for programs, and a note for users.
fn state(trust: &Trust, known: &TrustedKey, purpose: Option<&Purpose>, now: Timestamp) -> (&'static str, String) {
    let expires = purpose.and_then(|purpose| purpose.expires);
    let counts = match purpose {
        Some(purpose) => purpose.counts(now),
        None => known.purposes.iter().any(|purpose| purpose.counts(now)),
    };
    if let Some(revocation) = trust.revocation(known.key.id()) {
        ("revoked", format!("  (revoked: {})", revocation.reason))
    } else if let Some(by) = &known.replaced_by {
        ("replaced", format!("  (replaced by {})", by.id()))
    } else if counts {
        ("trusted", until(expires))
    } else {
        ("expired", format!("  (expired,{})", until(expires)))
    }
}

fn until(expires: Option<Timestamp>) -> String {
    expires.map_or_else(String::new, |expires| format!(" until {}", expires.strftime("%Y-%m-%d")))
}

fn described(trust: &Trust, now: Timestamp) -> Value {
    let purpose = |known: &TrustedKey, purpose: &Purpose| {
        json!({
            "pattern": purpose.pattern,
            "since": purpose.since,
            "expires": purpose.expires,
            "state": state(trust, known, Some(purpose), now).0,
        })
    };
    let key = |known: &TrustedKey| {
        json!({
            "id": known.key.id(),
            "key": known.key,
            "for": known.purposes.iter().map(|it| purpose(known, it)).collect::<Vec<_>>(),
            "replaced_by": known.replaced_by.as_ref().map(PublicKey::id),
            "state": state(trust, known, None, now).0,
        })
    };
    let revoked = |Revocation { what, reason, since }: &Revocation| {
        let (kind, value) = match what {
            Revoked::Key(id) => ("key", id.to_string()),
            Revoked::Digest(digest) => ("digest", digest.to_string()),
        };
        json!({"kind": kind, "value": value, "reason": reason, "since": since})
    };
    json!({
        "keys": trust.keys().iter().map(key).collect::<Vec<_>>(),
        "revoked": trust.revoked().iter().map(revoked).collect::<Vec<_>>(),
    })
}

fn of_store(error: StoreError) -> Failure {
    let code = match error {
        StoreError::Trust(_) => ErrorKind::Input,
        StoreError::Unreadable { .. }
        | StoreError::Exposed { .. }
        | StoreError::Malformed { .. }
        | StoreError::Unwritable { .. } => ErrorKind::Configuration,
    };
    Failure::from_error(code, &error)
}
