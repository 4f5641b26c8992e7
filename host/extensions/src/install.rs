//! Installing a plugin: whether a bundle may be installed, what the user has to agree to, and keeping it.
//!
//! [`Installer::plan`] decides, a frontend shows the [`InstallQuestion`], and its answer goes to
//! [`Installation::install`]. Promises: nothing is kept before the signatures, the update, the names and the
//! component's own description were checked and the user agreed; what a plugin may do without a question is what the
//! user said, never what a bundle or a project says.
//!
//! Deliberately not here: getting the bundle (`source`), showing the question, and using the plugin (`plugins::store`).

mod lookalikes;
mod question;
mod source;
mod target;
pub mod verified;
mod versions;

use std::fmt;
use std::path::{Path, PathBuf};

use host_agent::Declared;
use host_bundle::{Allow, Bundle, Locked, Refusal, Signers, Verdict, VersionChange, check_update};
use host_capability::Grants;
use host_manifest::{Changes, Manifest, Mismatch};
use host_plugin::{CallError, Plugin, Runtime, admission};
use host_settings::brought::Brought;
use host_settings::environment::Folders;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Flag, Notice};
use jiff::Timestamp;
use semver::Version;

pub use self::question::{InstallAnswer, InstallQuestion};
pub use self::source::{BundleSource, fetch, is_layout, read_bundle, registry_failure};
pub use self::target::{ProjectList, Target};
pub use self::versions::{Published, PublishedVersion, versions};
use crate::hooks::hooks_of;
use crate::plugins;
use crate::plugins::settings;
use crate::plugins::store::{self, Agreed, List, PluginStore};

/// The user's choices from before the question.
#[derive(Clone, Debug, Default)]
pub struct InstallRequest {
    /// Grants that the plugin gets without a question, as `CAPABILITY` or `CAPABILITY=SCOPE`.
    pub grants: Vec<String>,
    /// Whether the user agrees without being asked; each call that is not granted is asked about.
    pub yes: bool,
    /// Changes that an update may make.
    pub allow: Allow,
    /// Whether a bundle without a trusted signature is accepted.
    pub allow_unsigned: bool,
}

/// Decides about installing.
pub struct Installer<'a> {
    /// The user's choices.
    pub request: &'a InstallRequest,
    /// The folders with keys, lists and bundles.
    pub folders: &'a Folders,
    /// Asks a component for its tools.
    pub runtime: &'a Runtime,
    /// The time at which signatures are judged.
    pub now: Timestamp,
}

/// The result of checking a bundle.
pub enum InstallPlan {
    /// This very bundle is installed already, and the request adds nothing.
    AlreadyInstalled(Version),
    /// The bundle may be installed, as soon as the question is answered.
    Ready(Box<Installation>),
}

/// A bundle that passed every check and waits for the user's answer. Only [`Installer::plan`] makes one.
pub struct Installation {
    bundle: Bundle,
    locked: Locked,
    question: InstallQuestion,
    /// Grants from before and from the request.
    agreed: Agreed,
}

/// A plugin that was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallOutcome {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Grants that it has without a question.
    pub agreed: Agreed,
    /// Whether it has tools, and does not only bring files.
    pub has_tools: bool,
    /// Whether it requests a capability, so that a call can be asked about.
    pub has_requests: bool,
    /// Why the project's list does not count yet, if it does not.
    pub note: Option<Notice>,
    /// The configuration that it cannot be used without.
    pub required: Option<String>,
}

impl fmt::Display for InstallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, agreed, has_tools, has_requests, .. } = self;
        write!(f, "Installed `{name}` {version}; ")?;
        match agreed.is_empty() {
            true if !has_tools => f.write_str("it has no tools of its own, so there is nothing to grant"),
            true if !has_requests => f.write_str("it requests nothing, so there is nothing to grant"),
            true => f.write_str("you are asked before each call that does more than read the workspace"),
            false => {
                let granted: Vec<String> = agreed.iter().map(|(name, scope)| format!("{name}={scope}")).collect();
                write!(f, "granted: {}", granted.join(" "))
            }
        }
    }
}

impl Installer<'_> {
    /// Checks a bundle from this source, up to the user's answer. Nothing is kept.
    ///
    /// # Errors
    ///
    /// When the bundle may not be installed: no trusted key signed it, the update is not allowed, a name is taken, or
    /// its manifest does not describe its component.
    pub async fn plan(&self, bundle: Bundle, source: &str, target: &Target) -> Result<InstallPlan, Failure> {
        let manifest = bundle.manifest();
        let name = manifest.name.as_str();
        let (signers, not_counted) = self.signers(&bundle)?;
        let store = PluginStore::new(self.folders);
        let locked = Locked::new(&bundle, source, signers.clone(), Agreed::new());
        let (mut before, mut agreed_before) = (None, Agreed::new());
        if let Some(old) = target.list.file.plugins.get(name) {
            let update = check_update((name, old), (name, &locked));
            update
                .permit(name, self.request.allow)
                .map_err(|error| Failure::from_error(ErrorKind::Untrusted, &error).help_if(error.help()))?;
            before = store.bundle(&old.digest)?;
            if update.version == VersionChange::Same && before.is_some() && self.request.grants.is_empty() {
                return Ok(InstallPlan::AlreadyInstalled(old.version.clone()));
            }
            agreed_before = store.agreed(&old.digest)?;
        }
        let others = self.others(name, target)?;
        check_names(manifest, &others)?;
        let imports = admission::imports(&manifest.plugin_name(), bundle.component())
            .map_err(|error| Failure::from_error(ErrorKind::Input, &error))?;
        self.check_description(&bundle).await?;
        check_agents(manifest)?;
        hooks_of(Brought { plugin: name, files: &manifest.files })?;
        let before = before.as_ref().map(Bundle::manifest);
        let lookalikes = question::new_lookalikes(manifest, before, others.iter().map(|other| &other.manifest));
        let agreed = question::agreed_without_asking(manifest, agreed_before, &self.request.grants)?;
        let changes = before.map(|before| (before.version.clone(), Changes::between(before, manifest)));
        let (capabilities, secrets) =
            (question::new_capabilities(manifest, before), question::new_secrets(manifest, before));
        // What the model will follow is agreed to as what a component may touch is.
        let brings = question::new_files(manifest, before);
        // A flag that grants says nothing about secrets or names, and no call asks about one.
        let is_answered = self.request.yes
            || lookalikes.is_empty()
                && brings.is_empty()
                && secrets.is_empty()
                && (capabilities.is_empty() || !self.request.grants.is_empty());
        let (manifest, unread_signatures) = (manifest.clone(), bundle.unread_signatures());
        let question = InstallQuestion {
            manifest,
            imports,
            signers,
            not_counted,
            unread_signatures,
            lookalikes,
            changes,
            capabilities,
            secrets,
            brings,
            is_answered,
        };
        Ok(InstallPlan::Ready(Box::new(Installation { bundle, locked, question, agreed })))
    }

    /// Returns the trusted signers of the bundle, and why other signatures do not count.
    fn signers(&self, bundle: &Bundle) -> Result<(Signers, Vec<Refusal>), Failure> {
        let trust = store::trusted_keys(self.folders)?;
        let refused = |why: Notice| {
            let name = &bundle.manifest().name;
            let failure = Failure::new(ErrorKind::Untrusted, format!("`{name}` is not installed")).cause(why);
            question::crowded(failure, bundle)
        };
        match trust.check(bundle, self.now) {
            Ok(Verdict::Signed { by, not_counted }) => Ok((Signers::Keys(by), not_counted)),
            // A signature of an untrusted key counts as none.
            Err(refusal @ Refusal::UnknownKey { .. }) if self.request.allow_unsigned => {
                Ok((Signers::Unsigned, vec![refusal]))
            }
            Ok(Verdict::Unsigned) if self.request.allow_unsigned => Ok((Signers::Unsigned, Vec::new())),
            Ok(Verdict::Unsigned) => Err(refused("it is not signed".into()).help(
                Advice::from("ask its publisher for a signed one, or add ")
                    .flag(Flag::AllowUnsigned)
                    .text(" to install this one"),
            )),
            Err(refusal @ Refusal::UnknownKey { .. }) => Err(refused(refusal.notice())
                .help(Advice::from("add ").flag(Flag::AllowUnsigned).text(" to install it anyway"))),
            Err(refusal) => Err(refused(refusal.notice())),
        }
    }

    /// Returns all other plugins that are built in or installed.
    fn others(&self, name: &str, target: &Target) -> Result<Vec<Other>, Failure> {
        let mut others = Vec::new();
        for installed in plugins::built_in_plugins(&PathBuf::from("/"))? {
            others.push(Other { manifest: installed.manifest, remove: None });
        }
        let store = PluginStore::new(self.folders);
        let own = List::own(self.folders)?;
        for (list, flag) in [(&own, " --user"), (&target.list, "")] {
            // The target can be the user's own list.
            let is_again = flag.is_empty() && own.path == list.path;
            for (other, locked) in list.file.plugins.iter().filter(|(other, _)| *other != name && !is_again) {
                if let Some(bundle) = store.bundle(&locked.digest)? {
                    let remove = Some(format!("plugin remove {other}{flag}"));
                    others.push(Other { manifest: bundle.manifest().clone(), remove });
                }
            }
        }
        Ok(others)
    }

    /// Checks that the manifest describes the tools as the component does, which runs for this in a sandbox without
    /// grants: the user sees the manifest, and models get it later.
    async fn check_description(&self, bundle: &Bundle) -> Result<(), InstallError> {
        let manifest = bundle.manifest();
        let name = || manifest.name.clone();
        let plugin = Plugin::new(manifest.plugin_name(), bundle.component().to_vec(), Grants::none());
        let described = self.runtime.describe(&plugin).await;
        let described =
            described.map_err(|cause| InstallError::Description { plugin: name(), cause: Box::new(cause) })?;
        let checked = manifest.check_described(described);
        checked.map_err(|cause| InstallError::Manifest { plugin: name(), cause })
    }
}

/// Why a plugin is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Its component fails when it describes its tools.
    #[error("`{plugin}` is not installed: its component does not describe its tools")]
    Description {
        /// The plugin.
        plugin: String,
        /// Why.
        cause: Box<CallError>,
    },
    /// Its manifest says something else than its component.
    #[error("`{plugin}` is not installed: its manifest does not describe its component")]
    Manifest {
        /// The plugin.
        plugin: String,
        /// Why.
        cause: Mismatch,
    },
    /// Its name is reserved.
    #[error("`{0}` cannot be installed")]
    Reserved(String),
    /// Its name or one of its tools is that of another one.
    #[error("`{plugin}` cannot be installed")]
    Taken {
        /// The plugin.
        plugin: String,
        /// The other one.
        other: String,
        /// What both have.
        what: TakenName,
        /// The command that removes the other one, without the name of the program; `None` if it is built in.
        remove: Option<String>,
    },
    /// An agent that it brings is invalid.
    #[error("`{plugin}` is not installed: its agent `{path}` is invalid")]
    Agent {
        /// The plugin.
        plugin: String,
        /// The file of the agent.
        path: String,
        /// Why, in words.
        why: String,
    },
}

impl Fault for InstallError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Description { .. } | Self::Manifest { .. } => ErrorKind::Untrusted,
            Self::Reserved(_) | Self::Taken { .. } | Self::Agent { .. } => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Description { cause, .. } => vec![cause.to_string().into()],
            Self::Manifest { cause, .. } => vec![cause.to_string().into()],
            Self::Reserved(_) => {
                vec!["the name is reserved for tools that a command of the user or the project lists".to_owned().into()]
            }
            Self::Taken { other, what, .. } => vec![format!("the plugin `{other}` has {what} too").into()],
            Self::Agent { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Description { .. } | Self::Manifest { .. } => Some(
                Advice::from("report it to its publisher; ")
                    .command("plugin build")
                    .text(" and ")
                    .command("plugin pack")
                    .text(" make a manifest that agrees"),
            ),
            Self::Reserved(_) => Some("ask its publisher to rename it".into()),
            Self::Taken { remove, .. } => Some(way_out(remove.as_deref())),
            Self::Agent { .. } => Some("report it to its publisher".into()),
        }
    }
}

/// What two plugins both have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenName {
    /// The name.
    Plugin(String),
    /// A tool.
    Tool(String),
}

/// As the object of a sentence.
impl fmt::Display for TakenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plugin(name) => write!(f, "the name `{name}`"),
            Self::Tool(name) => write!(f, "a tool `{name}`"),
        }
    }
}

/// What to do so that a plugin is not in the way of another one. `remove` is the command that removes it.
fn way_out(remove: Option<&str>) -> Advice {
    match remove {
        Some(remove) => Advice::default().command(remove).text(", to install this one in its place"),
        None => "it is built in; ask the publisher of the other one to rename it".into(),
    }
}

/// A plugin that is built in or installed already.
struct Other {
    manifest: Manifest,
    /// The command that removes it, without the name of the program; `None` if it is built in.
    remove: Option<String>,
}

/// Checks that no other plugin has its name or the names of its tools.
fn check_names(manifest: &Manifest, others: &[Other]) -> Result<(), InstallError> {
    let name = &manifest.name;
    if name == plugins::DISCOVERED || name == plugins::MCP {
        return Err(InstallError::Reserved(name.clone()));
    }
    for Other { manifest: other, remove } in others {
        let taken = other.tools.iter().find(|tool| manifest.tools.iter().any(|own| own.spec.name == tool.spec.name));
        if other.name == *name || taken.is_some() {
            let what = taken
                .map_or_else(|| TakenName::Plugin(name.clone()), |tool| TakenName::Tool(tool.spec.name.to_string()));
            let (plugin, other, remove) = (name.clone(), other.name.clone(), remove.clone());
            return Err(InstallError::Taken { plugin, other, what, remove });
        }
    }
    Ok(())
}

/// Checks that the agents that it brings can be used.
fn check_agents(manifest: &Manifest) -> Result<(), InstallError> {
    let wrong = |path: &str, why: String| {
        Err(InstallError::Agent { plugin: manifest.name.clone(), path: path.to_owned(), why })
    };
    for (path, content) in manifest.files.iter().filter(|(path, _)| path.starts_with("agents/")) {
        match std::str::from_utf8(content).map(|text| Declared::parse(text, Path::new(path))) {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return wrong(path, error.to_string()),
            Err(error) => return wrong(path, error.to_string()),
        }
    }
    Ok(())
}

impl Installation {
    /// Returns the question for the user.
    pub fn question(&self) -> &InstallQuestion {
        &self.question
    }

    /// Installs the plugin; `None` if the answer declines it.
    ///
    /// # Errors
    ///
    /// When the bundle or the list cannot be written.
    pub fn install(
        self,
        answer: InstallAnswer,
        target: &mut Target,
        folders: &Folders,
    ) -> Result<Option<InstallOutcome>, Failure> {
        let Self { bundle, locked, question, mut agreed } = self;
        match answer {
            InstallAnswer::Decline => return Ok(None),
            InstallAnswer::Install => {}
            InstallAnswer::InstallAndGrant => agreed.extend(question.capabilities),
        }
        let Manifest { name, version, .. } = question.manifest.clone();
        PluginStore::new(folders).keep(&bundle, agreed.clone())?;
        target.list.file.plugins.insert(name.clone(), Locked { grants: agreed.clone(), ..locked });
        let note = target.save(folders)?;
        let required = settings::to_be_set(&question.manifest);
        let has_tools = !question.manifest.tools.is_empty();
        let has_requests = question.manifest.requests().next().is_some();
        Ok(Some(InstallOutcome { name, version, agreed, has_tools, has_requests, note, required }))
    }
}

#[cfg(test)]
mod tests;
