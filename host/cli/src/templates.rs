//! What `host plugin new` writes: for each language the example tool and the binding that it is written with, and the
//! contract. They are embedded, since who writes a plugin has no checkout of this repository.
//!
//! Owns the list and the filling in of names. Writing to a folder is the command's matter.

use std::path::{Path, PathBuf};

/// A plugin to begin with.
pub(crate) struct Template {
    /// The language, as it is called on the command line: the name of its folder in `sdk`.
    language: &'static str,
    /// The files of the plugin, with placeholders.
    files: &'static [(&'static str, &'static str)],
    /// The files of what it is written with, as they are.
    binding: &'static [(&'static str, &'static str)],
}

const TEMPLATES: &[Template] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));
const CONTRACT: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/contract.rs"));

/// The languages that there is a template for.
pub(crate) fn languages() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|template| template.language)
}

/// The files of a new plugin of this name, with its publisher before a slash where it has one. None when there is no
/// template for the language.
pub(crate) fn filled(language: &str, name: &str) -> Option<Vec<(PathBuf, String)>> {
    let template = TEMPLATES.iter().find(|template| template.language == language)?;
    let own = name.rsplit('/').next().unwrap_or(name);
    // What a package of cargo writes for the crate beside it.
    let binding = format!("{{ path = \"sdk/{language}\" }}");
    let mut files = Vec::new();
    for (path, text) in template.files {
        // A manifest has the whole name; a package, a heading and a command the plugin's own.
        let name = if *path == "plugin.toml" { name } else { own };
        files.push((PathBuf::from(path), text.replace("{{name}}", name).replace("{{sdk}}", &binding)));
    }
    let as_it_is = template.binding.iter().chain(CONTRACT);
    files.extend(as_it_is.map(|(path, text)| (PathBuf::from(path), (*text).to_owned())));
    Some(files)
}

/// The commands that a template's page starts with: its first block of shell.
pub(crate) fn commands(files: &[(PathBuf, String)]) -> &str {
    let page = files.iter().find(|(path, _)| path == Path::new("README.md")).map_or("", |(_, text)| text);
    let block = page.split_once("```sh\n").and_then(|(_, rest)| rest.split_once("```"));
    block.map_or("", |(commands, _)| commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_all_that_a_plugin_needs() {
        assert!(languages().count() >= 4);
        for language in languages() {
            let files = filled(language, "acme/words").expect("it is listed");
            let text = |name: &str| {
                let found = files.iter().find(|(path, _)| path == Path::new(name));
                found.map(|(_, text)| text.as_str()).unwrap_or_else(|| panic!("{language} has no {name}"))
            };
            assert!(text("plugin.toml").contains("name = \"acme/words\""), "{language}");
            assert!(text("README.md").starts_with("# words\n"), "{language}");
            assert!(text("wit/tool/tool.wit").contains("interface tool"));
            assert!(commands(&files).contains("host plugin build . --out dist"), "{language}");
            for (path, text) in &files {
                assert!(!text.contains("{{name}}") && !text.contains("{{sdk}}"), "{language}: {}", path.display());
            }
        }
    }
}
