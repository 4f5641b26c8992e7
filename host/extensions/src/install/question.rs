//! The question before a plugin is installed.
//!
//! Promises: the user is not asked again about grants that they agreed to before and that the plugin still requests; a
//! grant is never more than the plugin requests.

use std::collections::BTreeMap;

use host_bundle::{Bundle, Refusal, Signers};
use host_manifest::{Changes, Manifest};
use host_plugin::admission::Imports;
use host_settings::error::{ErrorKind, Failure, Fault};
use host_text::{Advice, Flag, Notice, counted, exact, excerpt};
use semver::Version;

use super::lookalikes;
use crate::plugins::store::Agreed;

/// The plugin to install, its signers, what it could touch, and the differences from the version that it replaces.
#[derive(Clone, Debug)]
pub struct InstallQuestion {
    /// Its manifest.
    pub manifest: Manifest,
    /// The imports of its component.
    pub imports: Imports,
    /// Its trusted signers.
    pub signers: Signers,
    /// The signatures that do not count, and why.
    pub not_counted: Vec<Refusal>,
    /// How many signatures of its source were not looked at.
    pub unread_signatures: usize,
    /// Its names that are easily taken for names of others, and that the version it replaces did not have: a line each,
    /// safe to show.
    pub lookalikes: Vec<String>,
    /// The version that it replaces, and the differences.
    pub changes: Option<(Version, Changes)>,
    /// The scopes that it asks for and the user was not asked about before, by capability.
    pub capabilities: BTreeMap<String, String>,
    /// The servers of each secret that the user was not asked about before.
    pub secrets: BTreeMap<String, Vec<String>>,
    /// What it brings for the model to follow and the user did not agree to before, such as ``the skill `pdf` ``.
    pub brings: Vec<String>,
    /// Whether the request, or the lack of anything new, answers the question: then the answer is
    /// [`InstallAnswer::Install`].
    pub is_answered: bool,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallAnswer {
    /// Install it, and ask about each call that is not granted.
    Install,
    /// Install it, and grant the new capabilities.
    InstallAndGrant,
    /// Do not install it.
    Decline,
}

/// The longest scope in the list of new requests, in characters. Protects the lines below it.
const MAX_SCOPE: usize = 120;

/// The most signatures that are shown with the reason why they do not count. Protects the lines above them: anybody can
/// add a signature.
const MAX_REFUSALS: usize = 8;

impl InstallQuestion {
    /// Returns what it asks for and the user was not asked about before, one line each: capabilities in the order of
    /// their strength, then secrets. Safe to show.
    pub fn new_requests(&self) -> Vec<String> {
        let requests = self.manifest.requests().filter_map(|(name, _)| self.capabilities.get_key_value(name));
        // The whole scope is shown with the manifest.
        let scopes = requests.map(|(name, scope)| format!("{} = {}", exact(name), excerpt(scope, MAX_SCOPE)));
        let secrets = self.secrets.iter();
        let secrets = secrets
            .map(|(name, servers)| format!("your secret `{}`, sent to {}", exact(name), exact(&servers.join(", "))));
        scopes.chain(secrets).collect()
    }

    /// Returns the signatures that do not count, one line each, the gravest first. Safe to show.
    pub fn signatures_without_effect(&self) -> Vec<Notice> {
        let shown = self.not_counted.iter().take(MAX_REFUSALS);
        let mut lines: Vec<Notice> =
            shown.map(|refusal| Notice::from("not counted: ").then(refusal.notice())).collect();
        if let Some(more) = self.not_counted.len().checked_sub(MAX_REFUSALS).filter(|more| *more > 0) {
            let more = format!("not counted: {}; ", counted(more, "more signature"));
            lines.push(Notice::from(more).command("plugin verify").text(" shows all"));
        }
        if self.unread_signatures > 0 {
            lines.push(format!("not looked at: {}", counted(self.unread_signatures, "more signature")).into());
        }
        lines
    }

    /// Returns the failure of a request that leaves the question open where no user can be asked.
    pub fn unanswered(&self) -> Failure {
        let capabilities = self.capabilities.keys().map(|name| format!("`{name}`"));
        let secrets = self.secrets.keys().map(|name| format!("the secret `{name}`"));
        let names: Vec<String> = capabilities.chain(secrets).collect();
        let mut wants: Vec<String> = Vec::new();
        if !names.is_empty() {
            wants.push(format!("asks for {}", names.join(", ")));
        }
        if !self.brings.is_empty() {
            wants.push(format!("brings {}", self.brings.join(", ")));
        }
        if !self.lookalikes.is_empty() {
            wants.push(format!("has names that are easily confused ({})", self.lookalikes.join(", ")));
        }
        let (plugin, wants) = (&self.manifest.name, wants.join(" and "));
        let yes = Advice::from("add ").flag(Flag::Yes);
        let help = match (self.secrets.is_empty(), self.brings.is_empty()) {
            (true, true) if !self.lookalikes.is_empty() => yes.text(", if it is the plugin that you mean"),
            (true, true) => yes
                .text(" to install it and be asked at each call, or ")
                .flag_with(Flag::Grant, "CAPABILITY")
                .text(" to allow that without asking"),
            (false, _) => yes
                .text(", once you have seen where it sends what you give it: ")
                .command("plugin verify")
                .text(" shows a bundle"),
            (true, false) => {
                yes.text(", once you have read it: ").command("plugin verify FILE --files").text(" prints it")
            }
        };
        Failure::input(format!("`{plugin}` {wants}, and there is no terminal to ask on")).help(help)
    }
}

/// Returns the names that are easily taken for those of other plugins, without those that the user agreed to before.
pub(super) fn new_lookalikes<'m>(
    manifest: &Manifest,
    before: Option<&Manifest>,
    others: impl Iterator<Item = &'m Manifest> + Clone,
) -> Vec<String> {
    let known = before.map(|before| lookalikes::of(before, others.clone())).unwrap_or_default();
    lookalikes::of(manifest, others).into_iter().filter(|line| !known.contains(line)).collect()
}

/// Adds to a failure about signatures how many there are, if its source has more than a bundle can have.
pub(super) fn crowded(failure: Failure, bundle: &Bundle) -> Failure {
    let (unread, left_out) = (bundle.unread_signatures(), bundle.left_out_signatures());
    if unread == 0 && left_out == 0 {
        return failure;
    }
    let looked_at = bundle.signatures().len() + left_out;
    let failure = failure.cause(format!("{} were looked at, and none counts", counted(looked_at, "signature")));
    let failure = match unread {
        0 => failure,
        more => failure.cause(format!("{} were not looked at", counted(more, "more signature"))),
    };
    failure.help(
        Advice::from(
            "anybody who may push to the registry can add signatures, so report it to its owner; ask the publisher \
             for the bundle \
             as a file, or for an address with ",
        )
        .flag_with(Flag::Digest, bundle.digest().to_string()),
    )
}

/// Returns the grants that the user agreed to before, as far as the plugin still requests them, and those of the
/// request.
pub(super) fn agreed_without_asking(
    manifest: &Manifest,
    before: Agreed,
    grants: &[String],
) -> Result<Agreed, GrantError> {
    let mut agreed: Agreed = before.into_iter().filter(|(name, scope)| manifest.asks_for(name, scope)).collect();
    for text in grants {
        let (name, scope) = granted(manifest, text)?;
        agreed.insert(name, scope);
    }
    Ok(agreed)
}

/// The scopes of capabilities that the version before did not ask for.
pub(super) fn new_capabilities(manifest: &Manifest, before: Option<&Manifest>) -> BTreeMap<String, String> {
    let is_new = |name: &str, scope: &str| before.is_none_or(|before| !before.asks_for(name, scope));
    let new = manifest.capabilities.iter().filter(|(name, declared)| is_new(name, &declared.scope));
    new.map(|(name, declared)| (name.clone(), declared.scope.clone())).collect()
}

/// The secrets that the version before did not send, or not to all of these servers.
pub(super) fn new_secrets(manifest: &Manifest, before: Option<&Manifest>) -> BTreeMap<String, Vec<String>> {
    let new = manifest.secrets.iter().filter(|(name, secret)| {
        let before = before.and_then(|before| before.secrets.get(*name));
        before.is_none_or(|before| !secret.reaches_no_more_than(before))
    });
    new.map(|(name, secret)| (name.clone(), secret.servers.clone())).collect()
}

/// The skills, commands and agents that the version before did not bring, or not like this.
pub(super) fn new_files(manifest: &Manifest, before: Option<&Manifest>) -> Vec<String> {
    let is_new =
        |kind, name: &str| before.is_none_or(|before| !manifest.files.of(kind, name).eq(before.files.of(kind, name)));
    let new = manifest.files.items().into_iter().filter(|(kind, name)| is_new(*kind, name));
    new.map(|(kind, name)| format!("the {kind} `{name}`")).collect()
}

/// Why a capability is not granted at the installation.
#[derive(Debug, thiserror::Error)]
pub(super) enum GrantError {
    /// The plugin does not ask for it.
    #[error("`{plugin}` does not ask for `{name}`")]
    NotAsked {
        /// The plugin.
        plugin: String,
        /// The capability.
        name: String,
        /// What it asks for.
        asked: Vec<String>,
    },
    /// The plugin asks for less.
    #[error("`{plugin}` does not ask for `{name}={scope}`")]
    TooMuch {
        /// The plugin.
        plugin: String,
        /// The capability.
        name: String,
        /// The scope.
        scope: String,
        /// The scope that it asks for.
        declared: String,
    },
}

impl Fault for GrantError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NotAsked { asked, .. } => Some(format!("it asks for {}", asked.join(", ")).into()),
            Self::TooMuch { name, declared, .. } => Some(format!("it asks for `{name}={declared}`").into()),
        }
    }
}

/// A grant of the request: no more than the plugin asks for.
fn granted(manifest: &Manifest, text: &str) -> Result<(String, String), GrantError> {
    let (name, scope) = text.split_once('=').map_or((text, None), |(name, scope)| (name, Some(scope)));
    let Some(declared) = manifest.capabilities.get(name) else {
        let asked = manifest.capabilities.keys().map(|name| format!("`{name}`")).collect();
        return Err(GrantError::NotAsked { plugin: manifest.name.clone(), name: name.to_owned(), asked });
    };
    let scope = scope.unwrap_or(&declared.scope);
    if !manifest.asks_for(name, scope) {
        let (name, scope, declared) = (name.to_owned(), scope.to_owned(), declared.scope.clone());
        return Err(GrantError::TooMuch { plugin: manifest.name.clone(), name, scope, declared });
    }
    Ok((name.to_owned(), scope.to_owned()))
}
