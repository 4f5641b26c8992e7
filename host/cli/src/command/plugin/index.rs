//! `host plugin index`: makes and signs an index of the bundles in a folder.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use host_bundle::{MAX_PLUGIN_INDEX, PluginIndex, SIGNATURE_END, SecretKey, SecretKeyError, SecretKeyFile};
use host_extensions::indexes::{self, IndexRequest};
use host_extensions::plugins::store;
use host_files::{Mode, NewFile};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::counted;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::transfer::{login, reference, unless};
use crate::arguments::indexes::Index;
use crate::exit::Code;
use crate::password::{self, Ask};
use crate::printer::Out;

pub(super) async fn run(index: Index, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let place = index.push.as_deref().map(reference).transpose()?;
    let out = index.out.clone().unwrap_or_else(|| index.folder.join("index.json"));
    let request = IndexRequest {
        folder: index.folder.clone(),
        name: index.name.clone(),
        base: index.base.clone(),
        serial: index.serial,
        before: before(&out)?,
    };
    let made = indexes::make(&request, &store::trusted_keys(&folders)?, Timestamp::now())?;
    let signed =
        made.sign(&secret(&index, environment)?).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let beside = PathBuf::from(format!("{}{SIGNATURE_END}", out.display()));
    write(&beside, signed.signature.as_bytes())?;
    write(&out, &signed.bytes)?;
    let PluginIndex { name, serial, plugins, .. } = &made;
    let count = counted(plugins.len(), "plugin");
    let mut text = format!("{}\nindex `{name}`, serial {serial}, {count}, {}\n", out.display(), signed.digest());
    if let Some(place) = place {
        let pushed = unless(stop, indexes::push(&place, &signed, &folders, login)).await?;
        text.push_str(&format!("{pushed}\n"));
    }
    Out::new(CancellationToken::new()).write(&text);
    Ok(Code::Done)
}

/// The edition that is replaced; `None` if there is none.
fn before(path: &Path) -> Result<Option<PluginIndex>, Failure> {
    let unusable = |why: String| {
        Failure::input(format!("`{}` is not replaced", path.display()))
            .cause(why)
            .help("name another file with --out, or remove this one and add --name and --serial")
    };
    match host_files::read_file(path, MAX_PLUGIN_INDEX) {
        Ok(bytes) => PluginIndex::parse(&bytes).map(Some).map_err(|error| unusable(error.to_string())),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(unusable(error.to_string())),
    }
}

fn secret(index: &Index, environment: &Environment) -> Result<SecretKey, Failure> {
    let failed = |error: SecretKeyError| Failure::from_error(ErrorKind::Input, &error).help_if(error.help());
    let secret = SecretKeyFile::read(&index.key).map_err(failed)?;
    let what = format!("`{}`", index.key.display());
    let password = match secret.is_encrypted() {
        true => password::read(&what, index.password_file.as_deref(), Ask::Once, environment)?,
        false => String::new(),
    };
    secret.open(&password).map_err(failed)
}

/// Writes a file, whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::input(format!("`{}` cannot be written: {error}", path.display()));
    let mut file = NewFile::beside(path, Mode::Umask).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(failed)?;
    file.replace().map_err(failed)
}
