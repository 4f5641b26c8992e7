//! `host plugin push` and `pull`, and getting a bundle from wherever it is.
//!
//! Deliberately not here: trust, and how the progress is drawn (`bar`).

mod bar;

use std::future::Future;
use std::path::PathBuf;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use host_bundle::{Bundle, OciDigest};
use host_extensions::indexes::{self, OlderIndex, PluginQuery};
use host_extensions::install::{self, BundleSource, read_bundle, registry_failure};
use host_registry::{LatestTag, Login, NoReference, Pushed, Reference, Registry, Transfer};
use host_settings::environment::Environment;
use host_settings::error::{ErrorKind, Failure};
use host_text::counted;
use tokio_util::sync::CancellationToken;

use self::bar::{Bar, Way};
use super::pack::{Existing, file_name, write};
use crate::arguments::store::{Pull, Push};
use crate::exit::Code;
use crate::printer::Out;

pub(super) async fn push(push: &Push, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let bundle = read_bundle(&push.file)?;
    let place = reference(&push.reference)?;
    let downloads = environment.folders()?.downloads;
    let registry = Registry::new(login(place.registry())?, downloads).map_err(registry_failure)?;
    let bar = Bar::new(Way::Out, environment);
    let show = |transfer: Transfer| bar.show(&transfer);
    let pushed = unless(stop, async { registry.push(&place, &bundle, &show).await.map_err(registry_failure) }).await;
    drop(bar);
    let Pushed { reference: pushed, latest } = pushed?;
    let signatures = counted(bundle.signatures().len(), "signature");
    let latest = match latest {
        LatestTag::Moved => "`latest` is this version now\n".to_owned(),
        LatestTag::Newer(version) => format!("`latest` stays at {version}, which is newer\n"),
        LatestTag::Untouched => String::new(),
    };
    Out::new(CancellationToken::new()).write(&format!("{pushed}\n{} with {signatures}\n{latest}", bundle.statement()));
    Ok(Code::Done)
}

pub(super) async fn pull(pull: &Pull, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let place = reference(&pull.reference)?;
    let folders = environment.folders()?;
    let bar = Bar::new(Way::In, environment);
    let show = |transfer: Transfer| bar.show(&transfer);
    let (bundle, _) = unless(stop, BundleSource::Registry(place).fetch(&folders, login, &show)).await?;
    drop(bar);
    let out = pull.out.clone().unwrap_or_else(|| PathBuf::from(file_name(bundle.manifest())));
    write(&out, &bundle, if pull.force { Existing::Replace } else { Existing::Keep })?;
    let said = format!("{}\n{}\n", bundle.statement(), out.display());
    Out::new(CancellationToken::new()).write(&said);
    Ok(Code::Done)
}

/// Gets a bundle from a registry, a file or folder, a web server, or where an index has it; with how a list names where
/// it was.
pub(super) async fn get(
    source: &str,
    digest: Option<&OciDigest>,
    older: OlderIndex,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<(Bundle, String), Failure> {
    let bar = Bar::new(Way::In, environment);
    let show = |transfer: Transfer| bar.show(&transfer);
    match PluginQuery::parse(source) {
        Some(query) => unless(stop, indexes::fetch(&query, digest, environment, login, older, &show)).await,
        None => {
            let folders = environment.folders()?;
            unless(stop, install::fetch(source, digest, &folders, login, &show)).await
        }
    }
}

pub(super) fn reference(text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error: NoReference| Failure::from_error(ErrorKind::Input, &error))
}

/// The login that Docker keeps for a registry.
pub(super) fn login(registry: &str) -> Result<Option<Login>, Failure> {
    match docker_credential::get_credential(registry) {
        Ok(DockerCredential::UsernamePassword(user, password)) => Ok(Some(Login::Password { user, password })),
        Ok(DockerCredential::IdentityToken(token)) => Ok(Some(Login::Token(token))),
        Err(
            CredentialRetrievalError::ConfigNotFound
            | CredentialRetrievalError::ConfigReadError
            | CredentialRetrievalError::NoCredentialConfigured,
        ) => Ok(None),
        Err(error) => Err(Failure::configuration(format!("cannot read Docker's login for `{registry}`"))
            .cause(error.to_string())
            .help(format!("run `docker logout {registry}`, then `docker login {registry}`"))),
    }
}

/// Runs the work until it ends or the user cancels it, which drops it with what it started.
pub(super) async fn unless<T>(
    stop: &CancellationToken,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        ended = work => ended,
    }
}
