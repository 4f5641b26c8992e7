//! `host plugin sign`: adds a signature to a bundle.

use host_bundle::{Bundle, SecretKeyError, SecretKeyFile, Signature};
use host_extensions::install;
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::counted;
use tokio_util::sync::CancellationToken;

use super::pack::{Existing, write};
use crate::arguments::bundles::Sign;
use crate::command::keys;
use crate::exit::Code;
use crate::password::{self, Ask};
use crate::printer::Out;

pub(super) fn run(sign: &Sign, environment: &Environment) -> Result<Code, Failure> {
    let failed = |error: SecretKeyError| Failure::from_error(ErrorKind::Input, &error).help_if(error.help());
    if install::is_layout(&sign.file) {
        return Err(Failure::input(format!(
            "`{}` is a folder or a layout, and a signature is added to a file",
            sign.file.display()
        ))
        .help("name the file that `host plugin pack` made"));
    }
    let mut bundle = install::read_bundle(&sign.file)?;
    match (&sign.key, &sign.signature) {
        (Some(key), _) => {
            let secret = SecretKeyFile::read(key).map_err(failed)?;
            let what = format!("`{}`", key.display());
            let password = match secret.is_encrypted() {
                true => password::read(&what, sign.password_file.as_deref(), Ask::Once, environment)?,
                false => String::new(),
            };
            let secret = secret.open(&password).map_err(failed)?;
            bundle.sign(&secret).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
        }
        (None, Some(file)) => add(&mut bundle, &keys::text(file)?)?,
        (None, None) => return Err(Failure::input("no key to sign with").help("add --key FILE")),
    }
    write(&sign.file, &bundle, Existing::Replace)?;
    let said = format!("{}\n{} now\n", bundle.statement(), counted(bundle.signatures().len(), "signature"));
    Out::new(CancellationToken::new()).write(&said);
    Ok(Code::Done)
}

/// Adds a signature that was made elsewhere: one that says that it is of this bundle. Whether it is, `verify` says.
fn add(bundle: &mut Bundle, text: &str) -> Result<(), Failure> {
    let signature = Signature::new(text).map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    let of = signature.statement().map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
    if of != bundle.statement() {
        return Err(Failure::input(format!("the signature is for `{of}`"))
            .cause(format!("this bundle is `{}`", bundle.statement()))
            .help(format!("sign its manifest with minisign -t '{}'", bundle.statement())));
    }
    bundle.add_signature(signature).map_err(|error| Failure::from_error(ErrorKind::Input, &error))
}
