//! What plugins bring besides tools: their files, in a folder where they can be read.
//!
//! A plugin's skills and commands are used from a folder of the host's own, since a skill has scripts and other files.
//! Promises: each file there is as the signed manifest has it, even if it was changed since.
//!
//! Deliberately not here: what a skill, a command or an agent is.

use std::io;
use std::path::PathBuf;

use host_manifest::{FileKind, Files};
use host_text::Advice;

use crate::environment::Folders;
use crate::error::{ErrorKind, Fault};
use crate::placed::{AgreedFile, placed};

/// Why what a plugin brings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BroughtError {
    /// Its files cannot be written into the folder of the host.
    #[error("the files of the plugin `{plugin}` cannot be kept: {cause}")]
    Unwritable {
        /// The plugin.
        plugin: String,
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Fault for BroughtError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Configuration
    }

    fn help(&self) -> Option<Advice> {
        match self {
            Self::Unwritable { folder, .. } => {
                Some(format!("make `{}` a folder that only you can write", folder.display()).into())
            }
        }
    }
}

/// What a plugin brings.
#[derive(Clone, Copy, Debug)]
pub struct Brought<'p> {
    /// The plugin's name.
    pub plugin: &'p str,
    /// Its files.
    pub files: &'p Files,
}

/// A text that a plugin brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtText {
    /// The plugin's name.
    pub plugin: String,
    /// The path among its files.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Brought<'_> {
    /// Returns the texts of one kind; what is not text is left out.
    pub fn texts(self, kind: FileKind) -> Vec<BroughtText> {
        let Self { plugin, files } = self;
        let of_kind = files.items().into_iter().filter(|(other, _)| *other == kind);
        let paths: Vec<(&str, &[u8])> =
            of_kind.flat_map(|(kind, name)| files.of(kind, &name).collect::<Vec<_>>()).collect();
        let text = |(path, content): (&str, &[u8])| {
            let text = std::str::from_utf8(content).ok()?.to_owned();
            Some(BroughtText { plugin: plugin.to_owned(), path: path.to_owned(), text })
        };
        paths.into_iter().filter_map(text).collect()
    }

    /// Returns the folder with the files that the plugin brings, with `skills` and `commands` in it; `None` if it
    /// brings nothing. The folder is made, or made right.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn unpacked(self, folders: &Folders) -> Result<Option<PathBuf>, BroughtError> {
        let files = self.files;
        if files.is_empty() {
            return Ok(None);
        }
        let agreed: Vec<AgreedFile<'_>> =
            files.iter().map(|(path, bytes)| AgreedFile { path, bytes, is_program: is_script(bytes) }).collect();
        let folder = placed(&agreed, &folders.brought).map_err(|error| {
            let (plugin, folder) = (self.plugin.to_owned(), folders.brought.clone());
            BroughtError::Unwritable { plugin, folder, cause: error }
        })?;
        Ok(Some(folder))
    }
}

/// Whether a file says which program runs it.
fn is_script(content: &[u8]) -> bool {
    content.starts_with(b"#!")
}
