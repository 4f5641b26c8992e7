//! `host plugin install`: from a bundle that somebody made to a plugin that is used.
//!
//! Promises: nothing is kept before it is known who made it and what it may touch, and the person agreed; what it may do
//! without a question is what was agreed to, never what the bundle or a project says.
//!
//! Deliberately not here: getting the bundle (`transfer`), and using it (`host_app::plugins::store`).

mod agree;

use std::path::PathBuf;

use host_app::environment::{Environment, Folders};
use host_app::error::{ErrorKind, Failure};
use host_app::plugins::settings;
use host_app::plugins::store::{self, List, Shelf};
use host_app::project::{FOLDER, LOCK, Project, Standing};
use host_app::{app_context, plugins};
use host_bundle::{Allow, Bundle, KeyId, Locked, Refusal, Signers, Verdict, VersionChange, check_update};
use host_capability::Grants;
use host_manifest::Changes;
use host_plugin::Plugin;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{build, explain, transfer};
use crate::arguments::shelf::Install;
use crate::exit::Code;
use crate::printer::{self, Out, Style};

pub(super) async fn run(
    install: &Install,
    environment: &Environment,
    stop: CancellationToken,
) -> Result<Code, Failure> {
    let folders = environment.folders()?;
    let mut target = Target::of(install, &folders)?;
    let out = Out::new(stop.clone());
    match &install.source {
        Some(source) => {
            let (bundle, place) = transfer::get(source, install.digest.as_ref(), &folders, environment, &stop).await?;
            one(&bundle, &place, install, &mut target, &folders, environment, &out, &stop).await?;
        }
        None => {
            let missing = target.missing(&folders)?;
            if missing.is_empty() {
                out.write("Every plugin of the list is installed.\n");
            }
            for (name, locked) in missing {
                let (bundle, _) =
                    transfer::get(&locked.source, Some(&locked.digest), &folders, environment, &stop).await?;
                if bundle.manifest().name != name {
                    let found = bundle.manifest().name.clone();
                    return Err(Failure::new(
                        ErrorKind::Untrusted,
                        format!("the list says `{name}`, and it is `{found}`"),
                    ));
                }
                one(&bundle, &locked.source, install, &mut target, &folders, environment, &out, &stop).await?;
            }
        }
    }
    Ok(Code::Done)
}

/// Where it is written down that a plugin is used.
pub(super) struct Target {
    pub(super) list: List,
    /// The project whose list it is, and how it stood before; none for the person's own.
    pub(super) project: Option<Project>,
}

impl Target {
    fn of(install: &Install, folders: &Folders) -> Result<Self, Failure> {
        if install.user {
            return Ok(Self { list: List::own(folders)?, project: None });
        }
        let project = app_context::project(&install.place.request(), folders)?;
        Self::of_project(project)
    }

    pub(super) fn of_project(project: Project) -> Result<Self, Failure> {
        if let Standing::Unusable(why) = &project.standing {
            return Err(
                Failure::new(ErrorKind::Untrusted, "the project's list of plugins cannot be used").cause(why.clone())
            );
        }
        let list = List::at(project.root.join(FOLDER).join(LOCK))?;
        Ok(Self { list, project: Some(project) })
    }

    /// The plugins of the list whose bundles are not here.
    fn missing(&self, folders: &Folders) -> Result<Vec<(String, Locked)>, Failure> {
        let shelf = Shelf::of(folders);
        let mut missing = Vec::new();
        for (name, locked) in &self.list.file.plugins {
            if shelf.bundle(&locked.digest)?.is_none() {
                missing.push((name.clone(), locked.clone()));
            }
        }
        Ok(missing)
    }

    /// Writes the list. A project that was trusted stays so, when nothing but the list is another.
    pub(super) fn save(&mut self, folders: &Folders) -> Result<Option<String>, Failure> {
        let Some(project) = self.project.take() else { return self.list.save().map(|()| None) };
        let root = project.root.clone();
        let was_open = matches!(project.standing, Standing::Nothing | Standing::Trusted(_));
        let before = project.read().1.fingerprint();
        self.list.save()?;
        let (project, contents) = Project::of(&root, folders)?.read();
        let but_the_list = |mut files: std::collections::BTreeMap<String, String>| {
            files.remove(LOCK);
            files
        };
        if was_open && but_the_list(before) == but_the_list(contents.fingerprint()) {
            self.project = Some(project.trust(contents, folders)?);
            return Ok(None);
        }
        let note = project.note();
        self.project = Some(project);
        Ok(note)
    }
}

#[expect(clippy::too_many_arguments, reason = "each is one thing that the person or the machine decided")]
async fn one(
    bundle: &Bundle,
    source: &str,
    install: &Install,
    target: &mut Target,
    folders: &Folders,
    environment: &Environment,
    out: &Out,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let name = bundle.manifest().name.clone();
    let (signers, not_counted) = signers(bundle, install, folders)?;
    let shelf = Shelf::of(folders);
    let old = target.list.file.plugins.get(&name).cloned();
    let new = Locked::new(bundle, source, signers.clone(), Default::default());
    if let Some(old) = &old {
        let allow = Allow { downgrade: install.allow_downgrade, other_signers: install.allow_other_signers };
        let update = check_update((&name, old), (&name, &new));
        update.permit(&name, allow).map_err(|error| Failure::of(ErrorKind::Untrusted, &error))?;
        if update.version == VersionChange::Same && shelf.bundle(&old.digest)?.is_some() && install.grant.is_empty() {
            out.write(&format!("`{name}` {} is installed already.\n", old.version));
            return Ok(());
        }
    }
    is_free(bundle, target, folders)?;

    let before = match &old {
        Some(old) => shelf.bundle(&old.digest)?,
        None => None,
    };
    let style = printer::stdout_style(environment);
    let imports = host_plugin::admission::imports(&bundle.manifest().plugin_name(), bundle.component())
        .map_err(|error| Failure::of(ErrorKind::Input, &error))?;
    says_what_it_is(bundle, environment, stop).await?;
    out.write(&explain::in_words(bundle.manifest(), &imports));
    out.write(&format!("\n{}", made_by(&signers, &not_counted, style)));
    if let Some(before) = &before {
        let changes = Changes::between(before.manifest(), bundle.manifest());
        out.write(&format!("\nSince {}:\n", before.manifest().version));
        for change in changes.iter() {
            out.write(&format!("  {:8} {}\n", change.weight, crate::printer::visible(&change.what)));
        }
    }
    let kept = match &old {
        Some(old) => shelf.agreed(&old.digest)?,
        None => Default::default(),
    };
    let agreed = agree::agreed(bundle, before.as_ref(), kept, install, environment, stop).await?;
    shelf.keep(bundle, agreed.clone())?;
    target.list.file.plugins.insert(name.clone(), Locked { grants: agreed.clone(), ..new });
    let note = target.save(folders)?;
    crate::printer::notes(note.as_slice(), environment);
    let agreed = match agreed.is_empty() {
        true => "each call that needs more than reading the workspace is asked about".to_owned(),
        false => {
            let granted: Vec<String> = agreed.iter().map(|(name, scope)| format!("{name}={scope}")).collect();
            format!("granted: {}", granted.join(" "))
        }
    };
    out.write(&format!("\nInstalled `{}` {}; {agreed}.\n", name, bundle.manifest().version));
    if let Some(lines) = settings::to_be_set(bundle.manifest()) {
        out.write(&format!("It is of use when config.toml says\n\n{lines}"));
    }
    Ok(())
}

/// Who signed a bundle, of those whom the person trusts, and which signatures were not counted.
fn signers(bundle: &Bundle, install: &Install, folders: &Folders) -> Result<(Signers, Vec<Refusal>), Failure> {
    let trust = store::believed(folders)?;
    let refused = |why: String| {
        Failure::new(ErrorKind::Untrusted, format!("`{}` is not installed", bundle.manifest().name)).cause(why)
    };
    match trust.check(bundle, Timestamp::now()) {
        Ok(Verdict::Signed { by, not_counted }) => Ok((Signers::Keys(by), not_counted)),
        // A key that nobody trusts says no more than none.
        Err(refusal @ Refusal::UnknownKey { .. }) if install.allow_unsigned => Ok((Signers::Unsigned, vec![refusal])),
        Ok(Verdict::Unsigned) if install.allow_unsigned => Ok((Signers::Unsigned, Vec::new())),
        Ok(Verdict::Unsigned) => Err(refused("nobody has signed it".to_owned())
            .help("ask its publisher for a signed one; --allow-unsigned takes it nevertheless, this once")),
        Err(refusal @ Refusal::UnknownKey { .. }) => {
            Err(refused(refusal.to_string()).help("--allow-unsigned takes it nevertheless, this once"))
        }
        Err(refusal) => Err(refused(refusal.to_string())),
    }
}

/// Whether the manifest says of the tools what the component says, which is asked in a sandbox that has nothing: what the
/// person is shown, and a model is told from then on, is the manifest.
async fn says_what_it_is(bundle: &Bundle, environment: &Environment, stop: &CancellationToken) -> Result<(), Failure> {
    let manifest = bundle.manifest();
    let refused = |why: &str| {
        Failure::new(ErrorKind::Untrusted, format!("`{}` is not installed: {why}", manifest.name))
            .help("tell its publisher; `host plugin build` and `host plugin pack` make a manifest that agrees")
    };
    let plugin = Plugin::new(manifest.plugin_name(), bundle.component().to_vec(), Grants::none());
    let runtime = build::runtime(environment);
    let described = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(Failure::new(ErrorKind::Cancelled, "cancelled")),
        described = runtime.describe(&plugin) => described,
    };
    let described =
        described.map_err(|error| refused("its component does not say which tools it has").cause(error.to_string()))?;
    manifest
        .check_described(described)
        .map_err(|mismatch| refused("its manifest is not what its component says").cause(mismatch.to_string()))
}

/// Whether its name and those of its tools are nobody else's.
fn is_free(bundle: &Bundle, target: &Target, folders: &Folders) -> Result<(), Failure> {
    let root = PathBuf::from("/");
    let name = &bundle.manifest().name;
    if name == plugins::DISCOVERED {
        return Err(Failure::input(format!("`{name}` cannot be installed"))
            .cause("tools that a command tells of are the plugin with this name")
            .help("ask its publisher for one with a name of its own"));
    }
    let mut others = Vec::new();
    for installed in plugins::built_in(&root)? {
        others.push(installed.manifest);
    }
    let shelf = Shelf::of(folders);
    for (other, locked) in List::own(folders)?.file.plugins.iter().chain(&target.list.file.plugins) {
        if other != name
            && let Some(bundle) = shelf.bundle(&locked.digest)?
        {
            others.push(bundle.manifest().clone());
        }
    }
    for other in others {
        let taken =
            other.tools.iter().find(|tool| bundle.manifest().tools.iter().any(|own| own.spec.name == tool.spec.name));
        if other.name == *name || taken.is_some() {
            let what = taken.map_or(format!("the name `{name}`"), |tool| format!("a tool `{}`", tool.spec.name));
            return Err(Failure::input(format!("`{name}` cannot be installed"))
                .cause(format!("the plugin `{}` has {what} too", other.name))
                .help(format!("`host plugin remove {}`, where it is no built-in one", other.name)));
        }
    }
    Ok(())
}

fn made_by(signers: &Signers, not_counted: &[Refusal], style: Style) -> String {
    let mut text = match signers {
        Signers::Keys(keys) => {
            let keys: Vec<String> = keys.iter().map(KeyId::to_string).collect();
            format!("Signed by {}, whom you trust for it.\n", keys.join(", "))
        }
        Signers::Unsigned => {
            let word = style.paint("UNSIGNED", anstyle::AnsiColor::Red);
            format!("{word}: nobody whom you trust says that it is its publisher's.\n")
        }
    };
    for refusal in not_counted {
        text.push_str(&format!("  not counted: {}\n", crate::printer::visible(&refusal.to_string())));
    }
    text
}
