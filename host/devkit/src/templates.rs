//! New plugins: for each language the example tool, the binding that it is written with, and the contract.
//!
//! Promises: a name that no plugin can have is rejected before anything is written, and nothing is overwritten. The
//! files are embedded, since an author has no checkout of this repository.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use host_manifest::{ManifestError, Source, SourceManifest, check_name};

use crate::license::NEW_LICENSE_TEXT;

/// A plugin to begin with.
struct Template {
    /// The language, as it is called on the command line: the name of its folder in `sdk`.
    language: &'static str,
    /// The files of the plugin, with placeholders.
    files: &'static [(&'static str, &'static str)],
    /// The files of what it is written with, as they are.
    binding: &'static [(&'static str, &'static str)],
}

const TEMPLATES: &[Template] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));
/// The files of `wit/`.
pub(crate) const CONTRACT: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/contract.rs"));

/// The languages that have a template.
pub fn template_languages() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|template| template.language)
}

/// The files of a new plugin.
#[derive(Clone, Debug)]
pub struct NewPlugin {
    files: Vec<(PathBuf, String)>,
    is_rust: bool,
}

/// Why a new plugin is not made.
#[derive(Debug, thiserror::Error)]
pub enum NewPluginError {
    /// The name is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The language has no template.
    #[error("there is no template for `{0}`")]
    NoTemplate(String),
    /// The folder has something in it.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The folder cannot be used.
    #[error("`{}` cannot be used: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
}

impl NewPluginError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NotEmpty(_) => Some("name another folder with --in FOLDER; nothing is overwritten"),
            Self::Manifest(_) | Self::NoTemplate(_) | Self::Folder { .. } | Self::Write { .. } => None,
        }
    }
}

impl NewPlugin {
    /// Fills in the template of a language for a plugin of this name, with its publisher before a slash if it has one.
    ///
    /// # Errors
    ///
    /// When the name is invalid, or the language has no template.
    pub fn from_template(language: &str, name: &str) -> Result<Self, NewPluginError> {
        check_name(name)?;
        let template = TEMPLATES.iter().find(|template| template.language == language);
        let template = template.ok_or_else(|| NewPluginError::NoTemplate(language.to_owned()))?;
        let own = name.rsplit('/').next().unwrap_or(name);
        // A path dependency on the crate next to the package.
        let binding = format!("{{ path = \"sdk/{language}\" }}");
        let mut files = Vec::new();
        for (path, text) in template.files {
            // A manifest has the whole name; a package, a heading and a command the plugin's own.
            let name = if *path == "plugin.toml" { name } else { own };
            files.push((PathBuf::from(path), text.replace("{{name}}", name).replace("{{sdk}}", &binding)));
        }
        let as_it_is = template.binding.iter().chain(CONTRACT);
        files.push((PathBuf::from("LICENSE"), NEW_LICENSE_TEXT.to_owned()));
        files.extend(as_it_is.map(|(path, text)| (PathBuf::from(path), (*text).to_owned())));
        for (path, text) in files.iter().filter(|(path, _)| path == Path::new("plugin.toml")) {
            SourceManifest::parse(text, &Source::File(path.clone()))?;
        }
        Ok(Self { files, is_rust: language == "rust" })
    }

    /// The files, by their path in the plugin's folder.
    pub fn files(&self) -> &[(PathBuf, String)] {
        &self.files
    }

    /// Whether the compiler of its language needs a target of its own.
    pub fn needs_target(&self) -> bool {
        self.is_rust
    }

    /// The commands that the template's page starts with: its first block of shell.
    pub fn commands(&self) -> &str {
        let page = self.files.iter().find(|(path, _)| path == Path::new("README.md")).map_or("", |(_, text)| text);
        let block = page.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```"));
        block.map_or("", |(commands, _)| commands)
    }

    /// Writes the files into a folder that is empty or not there.
    ///
    /// # Errors
    ///
    /// When the folder is not empty, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), NewPluginError> {
        let unusable = |error| NewPluginError::Folder { folder: folder.to_owned(), error };
        match std::fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return Err(NewPluginError::NotEmpty(folder.to_owned())),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(unusable(error)),
            Ok(false) | Err(_) => {}
        }
        for (path, text) in &self.files {
            let path = folder.join(path);
            let failed = |error| NewPluginError::Write { path: path.clone(), error };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(failed)?;
            }
            let mut file = std::fs::File::create_new(&path).map_err(failed)?;
            file.write_all(text.as_bytes()).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::license::{NEW_LICENSE, license_gap};

    #[test]
    fn each_language_has_all_that_a_plugin_needs() {
        assert!(template_languages().count() >= 4);
        for language in template_languages() {
            let plugin = NewPlugin::from_template(language, "acme/words").expect("it is listed");
            let text = |name: &str| {
                let found = plugin.files().iter().find(|(path, _)| path == Path::new(name));
                found.map(|(_, text)| text.as_str()).unwrap_or_else(|| panic!("{language} has no {name}"))
            };
            assert!(text("plugin.toml").contains("name = \"acme/words\""), "{language}");
            let manifest = SourceManifest::parse(text("plugin.toml"), &Source::BuiltIn("test")).expect("it is one");
            assert_eq!(manifest.license, NEW_LICENSE, "{language}");
            assert!(text("LICENSE").contains("Apache License") && license_gap(text("LICENSE")).is_none(), "{language}");
            assert!(text("README.md").starts_with("# words\n"), "{language}");
            assert!(text("wit/tool/tool.wit").contains("interface tool"));
            assert!(plugin.commands().contains("host plugin build . --out dist"), "{language}");
            for (path, text) in plugin.files() {
                assert!(!text.contains("{{name}}") && !text.contains("{{sdk}}"), "{language}: {}", path.display());
            }
        }
    }
}
