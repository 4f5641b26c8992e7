//! The plugins of others that are used here, by the project's list and the user's.
//!
//! Deliberately not here: using them (`sources`).

use host_bundle::{LockFile, Locked, Refusal, Signers};
use host_settings::environment::Folders;
use host_settings::error::Failure;
use host_text::Notice;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::store::{self, Agreed, List, PluginStore};

/// A plugin in a list.
#[derive(Debug)]
pub struct ListedPlugin {
    /// Whose list has it: `project` or `user`.
    pub whose: &'static str,
    /// Its name.
    pub name: String,
    /// What the list has about it.
    pub locked: Locked,
    /// Whether it is used.
    pub state: PluginUse,
}

/// Whether a plugin is used.
#[derive(Debug)]
pub enum PluginUse {
    /// It is, with what it may do without a question.
    Used(Agreed),
    /// It is not, for this reason.
    Not(Notice),
}

/// Returns the plugins of the project's list and of the user's.
///
/// # Errors
///
/// If the user's list, the store or the trusted keys cannot be read.
pub fn listed(project: LockFile, folders: &Folders) -> Result<Vec<ListedPlugin>, Failure> {
    let mut rows = Vec::new();
    for (whose, file) in [("project", project), ("user", List::own(folders)?.file)] {
        for (name, locked) in file.plugins {
            let state = state(&locked, folders)?;
            rows.push(ListedPlugin { whose, name, locked, state });
        }
    }
    Ok(rows)
}

fn state(locked: &Locked, folders: &Folders) -> Result<PluginUse, Failure> {
    let store = PluginStore::new(folders);
    let Some(bundle) = store.bundle(&locked.digest)? else {
        let not = Notice::from("it is not installed here; ").command("plugin install").text(" gets it");
        return Ok(PluginUse::Not(not));
    };
    match store::trusted_keys(folders)?.check(&bundle, Timestamp::now()) {
        Err(refusal @ (Refusal::RevokedKey { .. } | Refusal::RevokedDigest { .. })) => {
            Ok(PluginUse::Not(refusal.notice()))
        }
        Ok(_) | Err(_) => Ok(PluginUse::Used(store.agreed(&locked.digest)?)),
    }
}

impl ListedPlugin {
    /// Returns it as data.
    pub fn json(&self) -> Value {
        let Self { whose, name, locked, state } = self;
        let (signers, unsigned) = match &locked.signers {
            Signers::Keys(keys) => (keys.iter().map(ToString::to_string).collect::<Vec<_>>(), false),
            Signers::Unsigned => (Vec::new(), true),
        };
        let (used, why, agreed) = match state {
            PluginUse::Used(agreed) => (true, None, agreed.clone()),
            PluginUse::Not(why) => (false, Some(why.to_string()), Agreed::default()),
        };
        json!({
            "plugin": name, "version": locked.version, "list": whose, "source": locked.source, "digest": locked.digest,
            "component": locked.component, "signers": signers, "unsigned": unsigned, "used": used, "why_not": why,
            "granted": agreed,
        })
    }
}
