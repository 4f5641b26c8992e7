//! Changes that a new version of a plugin makes to what the user agreed to, and those that need the user's consent.
//!
//! A pure function of two entries. The version and the signers are judged apart, so that neither hides the other: a
//! downgrade by another key is both.

use host_text::{Advice, Flag};
use semver::Version;

use super::{Locked, Signers};
use crate::oci::OciDigest;
use crate::signature::KeyId;

/// The changes of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Of the version.
    pub version: VersionChange,
    /// Of who made it.
    pub signers: SignerChange,
}

/// The relation of two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionChange {
    /// It is the very same.
    Same,
    /// It is newer.
    Newer {
        /// The installed version.
        from: Version,
        /// The new version.
        to: Version,
    },
    /// It is older: it may bring back a vulnerability that was fixed.
    Downgrade {
        /// The installed version.
        from: Version,
        /// The new version.
        to: Version,
    },
    /// It says that it is the same, and is not. A version is never published twice, so this is suspicious.
    Altered {
        /// The version.
        version: Version,
        /// The installed digest.
        from: OciDigest,
        /// The new digest.
        to: OciDigest,
    },
}

/// The relation of the signers of two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignerChange {
    /// A key that signed the installed version signed this one too, or neither is signed.
    Same,
    /// The installed version is unsigned, and this one is signed.
    Gained(Vec<KeyId>),
    /// No key that signed the installed version signed this one.
    Others {
        /// The signers of the installed version.
        from: Vec<KeyId>,
        /// The signers of the new version.
        to: Vec<KeyId>,
    },
    /// The installed version is signed, and this one is not.
    Lost(Vec<KeyId>),
    /// It is a different plugin.
    Publisher {
        /// The installed name.
        from: String,
        /// The new name.
        to: String,
    },
}

/// The changes that the user allowed with a flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// An older version.
    pub downgrade: bool,
    /// Other signers, or none.
    pub other_signers: bool,
}

/// Why an update is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateRefusal {
    /// It is older.
    #[error("`{plugin}` is installed as {from}, and {to} is older")]
    Downgrade {
        /// The plugin.
        plugin: String,
        /// The installed version.
        from: Version,
        /// The new version.
        to: Version,
    },
    /// The same version is something else.
    #[error(
        "`{plugin}` {version} changed: its digest was `{from}` and is `{to}`. A published version must never change; ask its publisher before you use it"
    )]
    Altered {
        /// The plugin.
        plugin: String,
        /// The version.
        version: Version,
        /// The installed digest.
        from: OciDigest,
        /// The new digest.
        to: OciDigest,
    },
    /// Other keys signed it, or none.
    #[error("`{plugin}` was signed by {}, and this is signed by {}", shown(from), shown(to))]
    Signers {
        /// The plugin.
        plugin: String,
        /// The signers of the installed version.
        from: Vec<KeyId>,
        /// The signers of the new version.
        to: Vec<KeyId>,
    },
    /// It is a different plugin.
    #[error("`{to}` is a different plugin from `{from}` and cannot replace it; install it by its own name")]
    Publisher {
        /// The installed name.
        from: String,
        /// The new name.
        to: String,
    },
}

impl UpdateRefusal {
    /// Returns what the user can do; `None` if the text of the error says it.
    pub fn help(&self) -> Option<Advice> {
        match self {
            Self::Downgrade { .. } => {
                Some(Advice::from("add ").flag(Flag::AllowDowngrade).text(" to install it anyway"))
            }
            Self::Signers { .. } => {
                Some(Advice::from("when the publisher says that this is right, add ").flag(Flag::AllowOtherSigners))
            }
            Self::Altered { .. } | Self::Publisher { .. } => None,
        }
    }
}

/// Returns the changes if `new` replaces `old`. Each is passed with its plugin's name.
pub fn check_update(old: (&str, &Locked), new: (&str, &Locked)) -> Update {
    let ((old_name, old), (new_name, new)) = (old, new);
    let (from, to) = (old.version.clone(), new.version.clone());
    // The part after a `+` does not affect which version is newer.
    let version = match new.version.cmp_precedence(&old.version) {
        std::cmp::Ordering::Equal if old.digest == new.digest => VersionChange::Same,
        std::cmp::Ordering::Equal => {
            VersionChange::Altered { version: to, from: old.digest.clone(), to: new.digest.clone() }
        }
        std::cmp::Ordering::Greater => VersionChange::Newer { from, to },
        std::cmp::Ordering::Less => VersionChange::Downgrade { from, to },
    };
    let signers = match (&old.signers, &new.signers) {
        _ if old_name != new_name => SignerChange::Publisher { from: old_name.to_owned(), to: new_name.to_owned() },
        (Signers::Unsigned, Signers::Unsigned) => SignerChange::Same,
        (Signers::Unsigned, Signers::Keys(keys)) => SignerChange::Gained(keys.clone()),
        (Signers::Keys(keys), Signers::Unsigned) => SignerChange::Lost(keys.clone()),
        (Signers::Keys(from), Signers::Keys(to)) if to.iter().any(|key| from.contains(key)) => SignerChange::Same,
        (Signers::Keys(from), Signers::Keys(to)) => SignerChange::Others { from: from.clone(), to: to.clone() },
    };
    Update { version, signers }
}

impl Update {
    /// Checks that the user allowed every change. What no flag allows is reported first.
    ///
    /// # Errors
    ///
    /// See [`UpdateRefusal`].
    pub fn permit(&self, plugin: &str, allow: Allow) -> Result<(), UpdateRefusal> {
        let plugin = plugin.to_owned();
        // What no flag allows comes first, so that nobody tries flags in vain.
        if let SignerChange::Publisher { from, to } = &self.signers {
            return Err(UpdateRefusal::Publisher { from: from.clone(), to: to.clone() });
        }
        // The same version with other bytes is a mistake or an attack, and never an update.
        if let VersionChange::Altered { version, from, to } = &self.version {
            let (version, from, to) = (version.clone(), from.clone(), to.clone());
            return Err(UpdateRefusal::Altered { plugin, version, from, to });
        }
        // Signers and version are judged apart: a downgrade by another key is both.
        match &self.signers {
            SignerChange::Others { from, to } if !allow.other_signers => {
                return Err(UpdateRefusal::Signers { plugin, from: from.clone(), to: to.clone() });
            }
            SignerChange::Lost(from) if !allow.other_signers => {
                return Err(UpdateRefusal::Signers { plugin, from: from.clone(), to: Vec::new() });
            }
            // Written out: a new kind of change must be decided on here.
            SignerChange::Same
            | SignerChange::Gained(_)
            | SignerChange::Others { .. }
            | SignerChange::Lost(_)
            | SignerChange::Publisher { .. } => {}
        }
        match &self.version {
            VersionChange::Downgrade { from, to } if !allow.downgrade => {
                Err(UpdateRefusal::Downgrade { plugin, from: from.clone(), to: to.clone() })
            }
            VersionChange::Same
            | VersionChange::Newer { .. }
            | VersionChange::Downgrade { .. }
            | VersionChange::Altered { .. } => Ok(()),
        }
    }
}

fn shown(keys: &[KeyId]) -> String {
    match keys {
        [] => "nobody".to_owned(),
        keys => keys.iter().map(KeyId::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const ONE: &str = "E7620F1842B4E81F";
    const TWO: &str = "0123456789ABCDEF";

    fn locked(version: &str, bytes: &str, signers: &[&str]) -> Locked {
        let keys: Vec<KeyId> = signers.iter().map(|id| id.parse().expect("an id")).collect();
        Locked {
            source: "here".to_owned(),
            version: version.parse().expect("a version"),
            digest: OciDigest::of(bytes.as_bytes()),
            component: OciDigest::of(b"component"),
            signers: if keys.is_empty() { Signers::Unsigned } else { Signers::Keys(keys) },
            grants: BTreeMap::new(),
        }
    }

    // promise install.version
    #[test]
    fn lock_update_needs_exactly_the_flags_for_what_it_changes() {
        let none = Allow::default();
        let older = Allow { downgrade: true, ..none };
        let others = Allow { other_signers: true, ..none };
        let all = Allow { downgrade: true, other_signers: true };
        for (old, new, allow, says) in [
            (("1.2.0", "a", &[ONE][..]), ("1.2.0", "a", &[ONE][..]), none, None),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[ONE]), none, None),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[TWO, ONE]), none, None),
            (("1.2.0", "a", &[]), ("1.3.0", "b", &[]), none, None),
            (("1.2.0", "a", &[]), ("1.3.0", "b", &[TWO]), none, None),
            (("1.2.0", "a", &[ONE]), ("1.1.9", "b", &[ONE]), none, Some("is installed as 1.2.0, and 1.1.9 is older")),
            (("1.2.0", "a", &[ONE]), ("1.2.0-rc.1", "b", &[ONE]), none, Some("is older; add --allow-downgrade")),
            (("1.2.0", "a", &[ONE]), ("1.1.9", "b", &[ONE]), others, Some("is older; add --allow-downgrade")),
            (("1.2.0", "a", &[ONE]), ("1.1.9", "b", &[ONE]), older, None),
            (("1.2.0", "a", &[ONE]), ("1.2.0", "b", &[ONE]), all, Some("changed: its digest was")),
            (("1.2.0+one", "a", &[ONE]), ("1.2.0+two", "b", &[ONE]), all, Some("changed: its digest was")),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[TWO]), none, Some("was signed by E7620F1842B4E81F, and this is")),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[TWO]), others, None),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[]), older, Some("signed by nobody")),
            (("1.2.0", "a", &[ONE]), ("1.3.0", "b", &[]), others, None),
            // One flag does not imply the other.
            (("1.2.0", "a", &[ONE]), ("1.1.0", "b", &[TWO]), older, Some("--allow-other-signers")),
            (("1.2.0", "a", &[ONE]), ("1.1.0", "b", &[TWO]), others, Some("--allow-downgrade")),
            (("1.2.0", "a", &[ONE]), ("1.1.0", "b", &[TWO]), all, None),
        ] {
            let lock = |(version, bytes, signers): (&str, &str, &[&str])| locked(version, bytes, signers);
            let update = check_update(("acme/x", &lock(old)), ("acme/x", &lock(new)));
            match (update.permit("acme/x", allow), says) {
                (Ok(()), None) => {}
                (Err(refusal), Some(says))
                    if Advice::on(refusal.to_string(), refusal.help()).to_string().contains(says) => {}
                (other, says) => panic!("{old:?} to {new:?}: {other:?}, and not {says:?}"),
            }
        }
    }

    #[test]
    fn another_publishers_plugin_takes_no_place_whatever_is_allowed() {
        let (old, new) = (locked("1.0.0", "a", &[ONE]), locked("1.1.0", "b", &[ONE]));
        let update = check_update(("acme/x", &old), ("evil/x", &new));
        let refusal = update.permit("acme/x", Allow { downgrade: true, other_signers: true }).expect_err("another");
        assert!(refusal.to_string().contains("`evil/x` is a different plugin from `acme/x`"));
        assert_eq!(update.version, VersionChange::Newer { from: Version::new(1, 0, 0), to: Version::new(1, 1, 0) });
    }
}
