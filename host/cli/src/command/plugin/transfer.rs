//! `host plugin push` and `pull`, and getting a bundle from wherever it is.
//!
//! Deliberately not here: whether anybody is to be believed.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use docker_credential::{CredentialRetrievalError, DockerCredential};
use host_app::environment::{Environment, Folders};
use host_app::error::{ErrorKind, Failure};
use host_bundle::{Bundle, OciDigest};
use host_registry::{Login, Reference, Registry, RegistryError, Transfer};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tokio_util::sync::CancellationToken;

use super::pack::{Existing, file_name, write};
use crate::arguments::shelf::{Pull, Push};
use crate::exit::Code;
use crate::printer::Out;

/// How often what is shown of a transfer moves.
const TICK: Duration = Duration::from_millis(100);

pub(super) async fn push(push: &Push, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let bundle = super::read(&push.file)?;
    let place = reference(&push.reference)?;
    let registry = registry(&place, &environment.folders()?)?;
    let bar = Bar::new(Way::Out, environment);
    let pushed = unless(stop, registry.push(&place, &bundle, &|transfer| bar.show(&transfer))).await;
    drop(bar);
    let pushed = pushed?;
    let count = bundle.signatures().len();
    let signatures = if count == 1 { "1 signature".to_owned() } else { format!("{count} signatures") };
    Out::new(CancellationToken::new()).write(&format!("{pushed}\n{} with {signatures}\n", bundle.statement()));
    Ok(Code::Done)
}

pub(super) async fn pull(pull: &Pull, environment: &Environment, stop: &CancellationToken) -> Result<Code, Failure> {
    let place = reference(&pull.reference)?;
    let bundle = from_registry(&place, &environment.folders()?, environment, stop).await?;
    let out = pull.out.clone().unwrap_or_else(|| PathBuf::from(file_name(bundle.manifest())));
    write(&out, &bundle, if pull.force { Existing::Replace } else { Existing::Refuse })?;
    let said = format!("{}\n{}\n", bundle.statement(), out.display());
    Out::new(CancellationToken::new()).write(&said);
    Ok(Code::Done)
}

/// Gets a bundle from a registry, a file or folder, or a web server; with how a list names where it was.
pub(super) async fn get(
    source: &str,
    digest: Option<&OciDigest>,
    folders: &Folders,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<(Bundle, String), Failure> {
    if source.starts_with("https://") || source.starts_with("http://") {
        let Some(digest) = digest else {
            return Err(Failure::input(format!("nobody says what is to come from `{source}`"))
                .help("add --digest sha256:…, as the publisher says it"));
        };
        let bar = Bar::new(Way::In, environment);
        let show = |transfer: Transfer| bar.show(&transfer);
        let bundle = unless(stop, host_registry::download(source, digest, &folders.downloads, &show)).await?;
        return Ok((bundle, source.to_owned()));
    }
    let path = Path::new(source);
    let (bundle, place) = if path.exists() {
        let place = std::fs::canonicalize(path)
            .map_err(|error| Failure::input(format!("`{source}` cannot be read: {error}")))?;
        (super::read(path)?, place.display().to_string())
    } else {
        let place: Reference = source.parse().map_err(|error: host_registry::NoReference| {
            Failure::input(format!("there is no file `{source}`, and it is no bundle in a registry"))
                .cause(error.to_string())
        })?;
        let bundle = from_registry(&place, folders, environment, stop).await?;
        let place = place.pinned(bundle.digest().clone()).to_string();
        (bundle, place)
    };
    match digest {
        Some(wanted) if wanted != bundle.digest() => {
            Err(Failure::new(ErrorKind::Untrusted, format!("`{source}` is another bundle"))
                .cause(format!("it is {}, and not {wanted}", bundle.digest()))
                .help("ask the publisher which digest is right before you use either"))
        }
        Some(_) | None => Ok((bundle, place)),
    }
}

async fn from_registry(
    place: &Reference,
    folders: &Folders,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Bundle, Failure> {
    let registry = registry(place, folders)?;
    let bar = Bar::new(Way::In, environment);
    unless(stop, registry.pull(place, &|transfer| bar.show(&transfer))).await
}

fn reference(text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error: host_registry::NoReference| Failure::of(ErrorKind::Input, &error))
}

fn registry(place: &Reference, folders: &Folders) -> Result<Registry, Failure> {
    let login = login(place.registry())?;
    Registry::new(login, folders.downloads.clone()).map_err(failed)
}

/// The login that Docker keeps for a registry.
fn login(registry: &str) -> Result<Option<Login>, Failure> {
    match docker_credential::get_credential(registry) {
        Ok(DockerCredential::UsernamePassword(user, password)) => Ok(Some(Login::Password { user, password })),
        Ok(DockerCredential::IdentityToken(token)) => Ok(Some(Login::Token(token))),
        Err(
            CredentialRetrievalError::ConfigNotFound
            | CredentialRetrievalError::ConfigReadError
            | CredentialRetrievalError::NoCredentialConfigured,
        ) => Ok(None),
        Err(error) => Err(Failure::configuration(format!("Docker's login for `{registry}` cannot be read"))
            .cause(error.to_string())
            .help(format!("`docker logout {registry}` takes it away, `docker login {registry}` makes it anew"))),
    }
}

fn failed(error: RegistryError) -> Failure {
    let code = match error {
        RegistryError::Unauthorized { .. } => ErrorKind::Authentication,
        RegistryError::Changed { .. }
        | RegistryError::Content(_)
        | RegistryError::Refused(_)
        | RegistryError::Insecure { .. } => ErrorKind::Untrusted,
        RegistryError::Io { .. } | RegistryError::Client(_) => ErrorKind::Configuration,
        RegistryError::Unreachable { .. }
        | RegistryError::NotFound { .. }
        | RegistryError::Status { .. }
        | RegistryError::Protocol { .. }
        | RegistryError::TooLarge { .. }
        | RegistryError::BrokeOff { .. } => ErrorKind::Input,
    };
    Failure::of(code, &error)
}

/// Which way something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

/// What is shown of a transfer, on standard error where that is a terminal; each blob begins anew. It goes when it is
/// dropped, however the transfer ended.
struct Bar {
    bar: ProgressBar,
    way: Way,
    of: Mutex<Option<OciDigest>>,
}

impl Bar {
    fn new(way: Way, environment: &Environment) -> Self {
        let target = match environment.stderr_is_terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { bar, way, of: Mutex::default() }
    }

    fn show(&self, transfer: &Transfer) {
        let mut of = self.of.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if of.as_ref() != Some(&transfer.digest) {
            let template = match (self.way, transfer.total) {
                // How much has gone out is known when all of it was taken.
                (Way::Out, _) => "{spinner} sending {msg}, {total_bytes}, {elapsed}",
                (Way::In, 0) => "{spinner} getting {msg}, {bytes}, {speed}",
                // It fits a terminal of 80 columns.
                (Way::In, _) => "getting {msg} [{bar:20}] {bytes} of {total_bytes}, {speed}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                // What was there before is no part of how fast it comes.
                let before = transfer.done;
                let speed = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let came = state.pos().saturating_sub(before) as f64;
                    // A string takes everything.
                    let _ = write!(out, "{}/s", HumanBytes((came / state.elapsed().as_secs_f64().max(0.1)) as u64));
                };
                let style = style.with_key("speed", speed);
                self.bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
            }
            self.bar.reset();
            self.bar.set_length(transfer.total);
            self.bar.set_message(transfer.digest.digits().chars().take(12).collect::<String>());
            // Before there is something to show it would be an empty bar.
            self.bar.enable_steady_tick(TICK);
            *of = Some(transfer.digest.clone());
        }
        self.bar.set_position(transfer.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // What moves it holds it too.
        self.bar.finish_and_clear();
    }
}

/// Ends the work when the person ends it; what has come of it is kept for the next time.
async fn unless<T>(
    stop: &CancellationToken,
    work: impl Future<Output = Result<T, RegistryError>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        ended = work => ended.map_err(failed),
    }
}
