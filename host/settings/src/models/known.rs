//! The catalogue of models that the user fetched, in a file beside the configuration.
//!
//! Promises: a file that is there and cannot be used is an error, since its limits would silently be others.
//! Deliberately not here: what is in it, and the network (`host-model`).

use std::fs::File;
use std::io;
use std::path::PathBuf;

use host_files::{Access, PrivateFile};
use host_model::{Catalogue, KnownModels, MAX_CATALOGUE};
use host_text::{Advice, Notice, visible_line};
use jiff::civil::Date;
use url::Url;

use crate::environment::Folders;
use crate::error::{ErrorKind, Fault};

/// Why a catalogue of models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The user's own cannot be read, or is invalid.
    #[error("the catalogue of models `{}` cannot be used", .path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// It is in no known form.
    #[error("`{from}` is not a catalogue of models")]
    NoCatalogue {
        /// Where it is from.
        from: String,
        /// Why, in words.
        why: String,
    },
    /// It cannot be got.
    #[error("the catalogue `{from}` cannot be read")]
    Unreadable {
        /// Where it is from, safe to show.
        from: String,
        /// Why, in words.
        why: String,
    },
    /// It cannot be saved.
    #[error("the catalogue cannot be saved in `{}`: {cause}", .path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for CatalogueError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid { .. } | Self::Unwritable { .. } => ErrorKind::Configuration,
            Self::NoCatalogue { .. } | Self::Unreadable { .. } => ErrorKind::Input,
        }
    }

    fn causes(&self) -> Vec<Notice> {
        match self {
            Self::Invalid { why, .. } | Self::NoCatalogue { why, .. } | Self::Unreadable { why, .. } => {
                vec![why.clone().into()]
            }
            Self::Unwritable { .. } => Vec::new(),
        }
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Invalid { .. } => Some(
                Advice::from("fetch it again with ")
                    .command("model update")
                    .text(", or remove the file to use the built-in one"),
            ),
            Self::NoCatalogue { .. } => Some(
                "give the list of models.dev (https://models.dev/api.json), or a catalogue.json of this program".into(),
            ),
            Self::Unreadable { .. } => Some("give a file, or an address such as https://models.dev/api.json".into()),
            Self::Unwritable { .. } => Some("make its folder writable for you".into()),
        }
    }
}

/// The path of the file.
pub fn path(folders: &Folders) -> PathBuf {
    folders.configuration.join("catalogue.json")
}

fn file(folders: &Folders) -> PrivateFile {
    PrivateFile::new(path(folders), Access::Write, MAX_CATALOGUE)
}

/// Returns what is known about models, with the user's catalogue if there is one.
///
/// # Errors
///
/// If the file is there and cannot be used.
pub fn read(folders: &Folders) -> Result<KnownModels, CatalogueError> {
    let file = file(folders);
    let invalid = |why: String| CatalogueError::Invalid { path: file.path().to_owned(), why };
    match file.read() {
        Ok(Some(text)) => {
            let catalogue = Catalogue::parse(&text).map_err(|error| invalid(error.to_string()))?;
            Ok(KnownModels::new(Some(catalogue)))
        }
        Ok(None) => Ok(KnownModels::default()),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Reads a catalogue as somebody published it: in the host's own form, or as the list of models.dev. `source` is where
/// it is from, and `today` the day on which it was fetched.
///
/// # Errors
///
/// If it is neither.
pub fn parse(text: &str, source: &str, today: Date) -> Result<Catalogue, CatalogueError> {
    if let Ok(catalogue) = Catalogue::parse(text) {
        return Ok(catalogue);
    }
    Catalogue::from_models_dev(text, source, today)
        .map_err(|error| CatalogueError::NoCatalogue { from: source.to_owned(), why: host_text::with_causes(&error) })
}

/// Gets a catalogue from a file or an address (`https://…`).
///
/// # Errors
///
/// If it cannot be read, or is no catalogue.
pub async fn get(from: &str, today: Date) -> Result<Catalogue, CatalogueError> {
    let failed = |why: String| CatalogueError::Unreadable { from: visible_line(from).into_owned(), why };
    let text = match Url::parse(from) {
        Ok(address) if address.has_host() => {
            host_model::fetch(&address).await.map_err(|error| failed(error.to_string()))?
        }
        Ok(_) | Err(_) => {
            let file = File::open(from).map_err(|error| failed(error.to_string()))?;
            host_files::read_text_limited(file, MAX_CATALOGUE).map_err(|error| failed(error.to_string()))?
        }
    };
    parse(&text, from, today)
}

/// Saves a catalogue in place of an earlier one.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(catalogue: &Catalogue, folders: &Folders) -> Result<(), CatalogueError> {
    let file = file(folders);
    let saved = file.lock().and_then(|locked| locked.replace(&catalogue.to_text()));
    saved.map_err(|cause| CatalogueError::Unwritable { path: file.path().to_owned(), cause })
}
