//! The catalogue of models that the user fetched, in a file beside the configuration.
//!
//! Promises: a file that is there and cannot be used is an error, since its limits would silently be others. Deliberately
//! not here: what is in it, and the network (`host-model`).

use std::fs::File;
use std::path::PathBuf;

use host_files::{Access, PrivateFile};
use host_model::{Catalogue, KnownModels, MAX_CATALOGUE};
use host_text::visible_line;
use jiff::civil::Date;
use url::Url;

use crate::environment::Folders;
use crate::error::Failure;

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
pub fn read(folders: &Folders) -> Result<KnownModels, Failure> {
    let file = file(folders);
    let invalid = |why: String| {
        Failure::configuration(format!("the catalogue of models `{}` cannot be used", file.path().display()))
            .cause(why)
            .help("fetch it again with `host model update`, or remove the file to use the built-in one")
    };
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
pub fn parse(text: &str, source: &str, today: Date) -> Result<Catalogue, Failure> {
    if let Ok(catalogue) = Catalogue::parse(text) {
        return Ok(catalogue);
    }
    Catalogue::from_models_dev(text, source, today).map_err(|error| {
        Failure::input(format!("`{source}` is no catalogue of models"))
            .cause(host_text::with_causes(&error))
            .help("give the list of models.dev (https://models.dev/api.json), or a catalogue.json of this program")
    })
}

/// Gets a catalogue from a file or an address (`https://…`).
///
/// # Errors
///
/// If it cannot be read, or is no catalogue.
pub async fn get(from: &str, today: Date) -> Result<Catalogue, Failure> {
    let failed = |why: String| {
        Failure::input(format!("the catalogue `{}` cannot be read", visible_line(from)))
            .cause(why)
            .help("give a file, or an address such as https://models.dev/api.json")
    };
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
pub fn save(catalogue: &Catalogue, folders: &Folders) -> Result<(), Failure> {
    let file = file(folders);
    file.lock().and_then(|locked| locked.replace(&catalogue.to_text())).map_err(|error| {
        Failure::configuration(format!("the catalogue cannot be saved in `{}`: {error}", file.path().display()))
            .help("make its folder writable for you")
    })
}
