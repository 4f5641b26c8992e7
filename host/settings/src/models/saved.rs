//! The model that the user chose at the first start: a service with its key, or a model of a server on this machine.
//!
//! Promises: the file is the user's alone (0600), and a file that others could have read is an error; the key is in no
//! message and no `Debug`; a key for a service's own address goes nowhere else. Deliberately not here: asking.

use std::io;
use std::path::PathBuf;

use host_files::{Access, Exposed, FileError, PrivateFile};
use host_model::{ApiKey, PROVIDERS, ProviderId, Selection};
use host_text::{Advice, Notice, Secret};
use serde::{Deserialize, Serialize};

use crate::environment::Folders;
use crate::error::{ErrorKind, Fault};

/// The largest file that is read. Protects memory; a key has some hundred bytes.
const MAX_FILE: u64 = 64 << 10;

/// The lengths of a key, as those of a plugin's secret.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 8..=8_192;

/// The first lines of the file.
const HEAD: &str =
    "# The model that host uses unless --model or config.toml names one. Remove this file to be asked again.\n";

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedModel {
    /// The usual model of a service, with this key.
    Service {
        /// The service.
        provider: ProviderId,
        /// Its key.
        key: SavedKey,
    },
    /// A model without a key, such as one of a server on this machine.
    Model {
        /// The model, as `--model` takes it.
        id: String,
        /// The base address of its server, if it is not the usual one.
        address: Option<String>,
    },
}

/// Why the saved model cannot be used, or not be saved. No error has the key.
#[derive(Debug, thiserror::Error)]
pub enum SavedModelError {
    /// What the user pasted is none.
    #[error("this is not a key: a key has at least 8 letters and digits, and no blanks")]
    NotAKey,
    /// Other users could have read the key.
    #[error("the saved model `{}` cannot be used", .path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// What others may do.
        how: Exposed,
    },
    /// The file is invalid.
    #[error("the saved model `{}` cannot be used", .path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// The file cannot be written.
    #[error("the model cannot be saved in `{}`: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for SavedModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAKey => ErrorKind::Input,
            Self::Exposed { .. } | Self::Invalid { .. } | Self::Unwritable { .. } => ErrorKind::Configuration,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::NotAKey | Self::Unwritable { .. } => Vec::new(),
            Self::Exposed { how, .. } => vec![how.to_string().into()],
            Self::Invalid { why, .. } => vec![why.clone().into()],
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::NotAKey => Some("copy the key again from the page of the service".into()),
            Self::Exposed { path, .. } => Some(
                format!("chmod 600 '{}', and replace the key if other people use this machine", path.display()).into(),
            ),
            Self::Invalid { .. } => Some("remove the file; `host` on a terminal asks again".into()),
            Self::Unwritable { .. } => {
                Some("make its folder writable for you, or set the key in the environment".into())
            }
        }
    }
}

/// A key as the user pasted it. `Debug` does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedKey(Secret);

impl SavedKey {
    /// Takes a key without surrounding white space.
    ///
    /// # Errors
    ///
    /// If it cannot be a key. The message does not have it.
    pub fn parse(text: &str) -> Result<Self, SavedModelError> {
        let key = text.trim();
        if !KEY_BYTES.contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SavedModelError::NotAKey);
        }
        Ok(Self(Secret::new(key)))
    }

    /// The key as a provider takes it.
    pub fn api_key(&self) -> Option<ApiKey> {
        ApiKey::new(self.0.expose())
    }
}

/// The file. It has no `Debug`: the key is a plain text in it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

/// The path of the file.
pub fn path(folders: &Folders) -> PathBuf {
    folders.configuration.join("credentials.toml")
}

impl SavedModel {
    /// Reads the saved choice; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the file is invalid, or others could have read it.
    pub fn read(folders: &Folders) -> Result<Option<Self>, SavedModelError> {
        let file = file(folders);
        let path = || file.path().to_owned();
        let invalid = |why: String| SavedModelError::Invalid { path: path(), why };
        let text = match file.read() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(FileError::Exposed(how @ Exposed::Readable(_))) => {
                return Err(SavedModelError::Exposed { path: path(), how });
            }
            Err(error) => return Err(invalid(error.to_string())),
        };
        // The parser's full error shows the invalid line, which may have the key.
        let document: Document =
            toml::from_str(&text).map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
        match document {
            Document { provider: Some(name), key: Some(key), model: None, address: None } => {
                let provider = PROVIDERS.iter().find(|provider| provider.name() == name).copied();
                let provider = provider.filter(|provider| provider.usual_models.is_some());
                let provider =
                    provider.ok_or_else(|| invalid("its `provider` is not a service with keys".to_owned()))?;
                let key = SavedKey::parse(&key).map_err(|failure| invalid(failure.to_string()))?;
                Ok(Some(Self::Service { provider, key }))
            }
            Document { provider: None, key: None, model: Some(id), address } => {
                id.parse::<Selection>().map_err(|error| invalid(error.to_string()))?;
                Ok(Some(Self::Model { id, address }))
            }
            Document { .. } => Err(invalid("it needs `provider` and `key`, or `model`".to_owned())),
        }
    }

    /// Saves the choice in place of an earlier one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, folders: &Folders) -> Result<(), SavedModelError> {
        let file = file(folders);
        let unwritable = |cause| SavedModelError::Unwritable { path: file.path().to_owned(), cause };
        let (provider, key, model, address) = match self {
            Self::Service { provider, key } => {
                (Some(provider.name().to_owned()), Some(key.0.expose().to_owned()), None, None)
            }
            Self::Model { id, address } => (None, None, Some(id.clone()), address.clone()),
        };
        let text = toml::to_string(&Document { provider, key, model, address });
        let text = text.map_err(|error| unwritable(io::Error::other(error)))?;
        file.lock().and_then(|locked| locked.replace(&format!("{HEAD}{text}"))).map_err(unwritable)
    }

    /// The model that it names itself.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Model { id, .. } => Some(id),
            Self::Service { .. } => None,
        }
    }

    /// The key of a service, if it is this one.
    pub fn key_of(&self, provider: ProviderId) -> Option<ApiKey> {
        match self {
            // A service can have two wires, which share their key.
            Self::Service { provider: saved, key } if saved.key_variable == provider.key_variable => key.api_key(),
            Self::Service { .. } | Self::Model { .. } => None,
        }
    }

    /// The address of a provider's server, if it has one of its own.
    pub(super) fn address_of(&self, provider: ProviderId) -> Option<&str> {
        match self {
            Self::Model { id, address } => {
                let is_its = id.parse::<Selection>().is_ok_and(|selection| selection.provider == provider);
                address.as_deref().filter(|_| is_its)
            }
            Self::Service { .. } => None,
        }
    }
}

fn file(folders: &Folders) -> PrivateFile {
    PrivateFile::new(path(folders), Access::ReadOrWrite, MAX_FILE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use host_model::{Anthropic, OpenAi};

    use super::*;
    use crate::environment::{Environment, Terminals};

    const KEY: &str = "sk-ant-s3cret-s3cret";

    fn world() -> (tempfile::TempDir, Folders) {
        let home = tempfile::tempdir().expect("a folder");
        let environment = Environment::new(BTreeMap::new(), Some(home.path().to_owned()), Terminals::default());
        let folders = environment.folders().expect("there is a home");
        (home, folders)
    }

    // promise model.saved: A saved key is readable by its user alone, and in no message.
    #[test]
    fn saved_key_is_the_users_alone_and_not_shown() {
        let (_home, folders) = world();
        assert_eq!(SavedModel::read(&folders).expect("nothing yet"), None);
        let key = SavedKey::parse(&format!(" {KEY}\n")).expect("a key");
        let saved = SavedModel::Service { provider: Anthropic::PROVIDER, key };
        saved.save(&folders).expect("saved");
        let path = path(&folders);
        assert_eq!(path.metadata().expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(SavedModel::read(&folders).expect("read"), Some(saved.clone()));
        assert!(!format!("{saved:?}").contains(KEY));
        assert!(saved.key_of(Anthropic::PROVIDER).is_some() && saved.key_of(OpenAi::PROVIDER).is_none());
        for (mode, text) in [
            (0o644, std::fs::read_to_string(&path).expect("read")),
            (0o600, format!("key = {KEY}\n")),
            (0o600, format!("provider = \"nobody\"\nkey = \"{KEY}\"\n")),
            (0o600, format!("key = \"{KEY}\"\n")),
            (0o600, format!("provider = \"openai\"\nkey = \"{KEY}\\u001b[2J\"\n")),
            (0o600, format!("model = \"{KEY}\"\nkey = \"{KEY}\"\n")),
            (0o600, format!("{KEY} = 1\n")),
        ] {
            std::fs::write(&path, &text).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
            let failure = SavedModel::read(&folders).expect_err(&text);
            let hidden = !format!("{failure:?}").contains(KEY);
            // A word in the place of a key's name is not a key.
            assert!(hidden || text.starts_with(KEY), "{failure:?}");
        }
    }

    #[test]
    fn saved_model_has_the_address_of_its_own_server_only() {
        let (_home, folders) = world();
        let address = Some("http://127.0.0.1:1234/v1".to_owned());
        let saved = SavedModel::Model { id: "openai/qwen3".to_owned(), address: address.clone() };
        saved.save(&folders).expect("saved");
        let read = SavedModel::read(&folders).expect("read").expect("it is there");
        assert_eq!((read.id(), read.address_of(OpenAi::PROVIDER)), (Some("openai/qwen3"), address.as_deref()));
        assert_eq!((read.address_of(Anthropic::PROVIDER), read.key_of(OpenAi::PROVIDER)), (None, None));
    }

    #[test]
    fn saved_key_is_checked_before_it_is_kept() {
        for wrong in ["", "short", "two words here", "sk-\u{1b}[2Jxxxxxx", "schlüssel-schlüssel"] {
            let failure = SavedKey::parse(wrong).expect_err(wrong);
            assert!(wrong.is_empty() || !failure.to_string().contains(wrong));
        }
    }
}
