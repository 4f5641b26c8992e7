//! `host plugin install`: shows what would be installed, asks, and prints the result.
//!
//! Deliberately not here: whether it may be installed (`host_extensions::install`), and getting the bundle
//! (`transfer`).

mod ask;

use host_app::app;
use host_bundle::{Allow, Bundle, KeyId, Signers};
use host_extensions::install::{InstallAnswer, InstallPlan, InstallQuestion, InstallRequest, Installer, Target};
use host_plugin::Runtime;
use host_settings::environment::{Environment, Folders};
use host_settings::error::{ErrorKind, Failure};
use host_text::visible_line;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::search::older;
use super::{build, transfer};
use crate::arguments::store::Install;
use crate::exit::Code;
use crate::printer::{self, Out, Style};

pub(super) async fn run(
    install: &Install,
    environment: &Environment,
    stop: &CancellationToken,
) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let mut target = match install.user {
        true => Target::for_user(&folders)?,
        false => Target::for_project(app::project(&install.place.request(), &folders)?)?,
    };
    let request = InstallRequest {
        grants: install.grant.clone(),
        yes: install.yes,
        allow: Allow { downgrade: install.allow_downgrade, other_signers: install.allow_other_signers },
        allow_unsigned: install.allow_unsigned,
    };
    let (runtime, out) = (build::runtime(environment), Out::new(stop.clone()));
    let frontend = Frontend { request, folders: &folders, environment, runtime, out, stop };
    let older = older(install.allow_older_index);
    match &install.source {
        Some(source) => {
            let fetched = transfer::get(source, install.digest.as_ref(), older, environment, stop).await?;
            frontend.install(fetched, &mut target).await?;
        }
        None => {
            let missing = target.missing(&folders)?;
            if missing.is_empty() {
                frontend.out.write("All plugins of the list are installed.\n");
            }
            for (name, locked) in missing {
                let (bundle, _) = transfer::get(&locked.source, Some(&locked.digest), older, environment, stop).await?;
                if bundle.manifest().name != name {
                    let found = bundle.manifest().name.clone();
                    return Err(Failure::new(
                        ErrorKind::Untrusted,
                        format!("the list has `{name}`, and the bundle is `{found}`"),
                    ));
                }
                frontend.install((bundle, locked.source), &mut target).await?;
            }
        }
    }
    Ok(Code::Done)
}

/// The terminal, as what installs a plugin sees it.
struct Frontend<'a> {
    request: InstallRequest,
    folders: &'a Folders,
    environment: &'a Environment,
    runtime: Runtime,
    out: Out,
    stop: &'a CancellationToken,
}

impl Frontend<'_> {
    /// Shows what would be installed, asks if something of it is new, and installs it.
    async fn install(&self, (bundle, source): (Bundle, String), target: &mut Target) -> Result<(), Failure> {
        let name = bundle.manifest().name.clone();
        let (request, folders, runtime) = (&self.request, self.folders, &self.runtime);
        let installer = Installer { request, folders, runtime, now: Timestamp::now() };
        let plan = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
            plan = installer.plan(bundle, &source, target) => plan?,
        };
        let installation = match plan {
            InstallPlan::AlreadyInstalled(version) => {
                self.out.write(&format!("`{name}` {version} is already installed.\n"));
                return Ok(());
            }
            InstallPlan::Ready(installation) => installation,
        };
        let question = installation.question();
        self.out.write_entries(&shown(question, printer::stdout_style(self.environment)));
        let answer = match question.is_answered {
            true => InstallAnswer::Install,
            false => ask::answer(question, self.environment, self.stop).await?,
        };
        let outcome = installation.install(answer, target, self.folders)?;
        let outcome = outcome.ok_or_else(|| Failure::new(ErrorKind::Cancelled, "nothing was installed"))?;
        printer::notes(outcome.note.as_slice(), self.environment);
        self.out.write_entries(&format!("\n{outcome}.\n"));
        if let Some(lines) = &outcome.required {
            // As they are, since they are copied into a file.
            self.out.write(&format!("Required configuration (config.toml):\n\n{lines}"));
        }
        Ok(())
    }
}

/// Shows the plugin to install, its signers, and the differences from the version that it replaces.
fn shown(question: &InstallQuestion, style: Style) -> String {
    let mut text = host_manifest::explain(&question.manifest, &question.imports);
    text.push_str(&format!("\n{}", made_by(question, style)));
    for lookalike in &question.lookalikes {
        let warning = style.paint("Easily confused:", anstyle::AnsiColor::Yellow);
        text.push_str(&format!("{warning} {}\n", visible_line(lookalike)));
    }
    if let Some((version, changes)) = &question.changes {
        text.push_str(&match changes.iter().next() {
            Some(_) => format!("\nSince {version}:\n"),
            None => format!("\nSince {version}: no change that is visible to callers or users\n"),
        });
        for change in changes.iter() {
            text.push_str(&format!("  {:8} {}\n", change.weight, visible_line(&change.what)));
        }
    }
    text
}

fn made_by(question: &InstallQuestion, style: Style) -> String {
    let mut text = match &question.signers {
        Signers::Keys(keys) => {
            let keys: Vec<String> = keys.iter().map(KeyId::to_string).collect();
            format!("Signed by {}, which you trust for it.\n", keys.join(", "))
        }
        Signers::Unsigned => {
            let word = style.paint("UNSIGNED", anstyle::AnsiColor::Red);
            format!("{word}: no key that you trust signed it.\n")
        }
    };
    let lines = question.signatures_without_effect();
    lines.iter().for_each(|line| text.push_str(&format!("  {}\n", visible_line(&line.to_string()))));
    text
}
