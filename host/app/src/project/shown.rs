//! What a project brings, in words for the person who is to trust it.
//!
//! Whoever wrote the project chose the names and the manifests, and must not be able to write the question: a name never
//! ends its line, nor leaves its quotes, nor is longer than its place, and lists have an end.

use std::fmt::Write as _;
use std::path::Path;

use host_bundle::LockFile;
use host_manifest::{Manifest, Source};
use host_text::escape_name;

use super::{Contents, Part, ProjectFile};

/// The longest name, in characters. A longer one is cut where it is shown, and said to be.
const NAME: usize = 60;

/// The longest path of a folder.
const PATH: usize = 200;

/// The longest words of a manifest.
const WORDS: usize = 80;

/// How many capabilities are shown of a manifest.
const CAPABILITIES: usize = 8;

/// How many plugins are shown of a list of them.
const PLUGINS: usize = 8;

/// How much of a list there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// What a person reads before they answer.
    Short,
    /// Every file.
    Whole,
}

/// How many files a short list has.
const SHORT: usize = 20;

/// What there is, a line for each file; what can do most comes first, so that nothing hides it at the end of a list.
pub fn list(contents: &Contents, length: Length) -> String {
    let mut files: Vec<(&str, &ProjectFile)> =
        contents.iter().filter(|(name, file)| file.part != Part::Manifest || !has_component(name, contents)).collect();
    files.sort_by_key(|(_, file)| file.part);
    let taken = match length {
        Length::Short => SHORT,
        Length::Whole => files.len(),
    };
    let mut text = String::new();
    for (path, file) in files.iter().take(taken) {
        let size = file.bytes.len();
        // A string takes everything.
        let _ = writeln!(text, "  `{}`: {} ({size} bytes)", name(path), what(path, file, contents));
    }
    if let Some(more) = files.len().checked_sub(taken).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {more} more; `host trust status` has them all");
    }
    if files.is_empty() {
        text.push_str("  nothing any more\n");
    }
    text
}

/// What a file is for.
fn what(path: &str, file: &ProjectFile, contents: &Contents) -> String {
    match file.part {
        Part::Program => "a program, which runs outside of the sandbox with your rights".to_owned(),
        Part::Configuration => "configuration".to_owned(),
        Part::Agent => "an agent that the model can call".to_owned(),
        Part::Rules => "rules for calls".to_owned(),
        Part::Lock => match LockFile::parse(&String::from_utf8_lossy(&file.bytes)) {
            Ok(lock) => {
                let plugins: Vec<String> = lock
                    .plugins
                    .iter()
                    .take(PLUGINS)
                    .map(|(plugin, locked)| format!("{} {}", name(plugin), locked.version))
                    .collect();
                let more = lock.plugins.len().saturating_sub(PLUGINS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("plugins that others made, each as you install it: {}{more}", plugins.join(", "))
            }
            Err(_) => "a list of plugins that makes no sense".to_owned(),
        },
        Part::Manifest => "a manifest without a component, which is not used".to_owned(),
        Part::Component => {
            let manifest = path.strip_suffix("wasm").and_then(|stem| contents.get(&format!("{stem}json")));
            match manifest {
                None => "a plugin without a manifest, which cannot be used".to_owned(),
                Some(manifest) => asks(manifest),
            }
        }
    }
}

/// What a plugin asks for, by its manifest. It can be given no more than that.
fn asks(manifest: &ProjectFile) -> String {
    let text = String::from_utf8_lossy(&manifest.bytes);
    let Ok(manifest) = Manifest::parse(&text, Source::File(manifest.path.clone())) else {
        return "a plugin whose manifest makes no sense".to_owned();
    };
    let scope = |(capability, declared): (&String, &host_manifest::Declared)| {
        format!("{} `{}`", escape_name(capability, WORDS), escape_name(&declared.scope, WORDS))
    };
    let mut asked: Vec<String> = manifest.capabilities.iter().map(scope).take(CAPABILITIES).collect();
    if manifest.capabilities.len() > CAPABILITIES {
        asked.push("more".to_owned());
    }
    let asked = if asked.is_empty() { "nothing".to_owned() } else { asked.join(", ") };
    format!("the plugin `{}`, which asks for {asked}", escape_name(&manifest.name, NAME))
}

fn has_component(manifest: &str, contents: &Contents) -> bool {
    manifest.strip_suffix("json").is_some_and(|stem| contents.get(&format!("{stem}wasm")).is_some())
}

/// A name, safe within quotes in a line.
pub fn name(name: &str) -> String {
    escape_name(name, NAME)
}

/// A folder's or file's whole path, safe within quotes in a line.
pub fn path(path: &Path) -> String {
    escape_name(&path.display().to_string(), PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    // promise project.question
    #[test]
    fn a_name_stays_in_its_line_and_its_quotes() {
        for (written, expected) in [
            ("agents/reviewer.md", "agents/reviewer.md"),
            ("prüfer 检查.md", "prüfer 检查.md"),
            ("a\nTrusted already", "a\\nTrusted already"),
            ("a\t\rb", "a\\t\\rb"),
            ("a`: harmless", "a\\u{60}: harmless"),
            ("\u{1b}[2Jx", "\\u{1b}[2Jx"),
            ("x\u{202e}dm.y", "x\\u{202e}dm.y"),
            ("a\u{200b}\u{a0}\u{3000}b", "a\\u{200b}\\u{a0}\\u{3000}b"),
        ] {
            assert_eq!(name(written), expected);
        }
        assert!(name(&"a ".repeat(1000)).ends_with("… (cut)"));
    }
}
