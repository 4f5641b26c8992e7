//! The list of a project's files for the user who decides whether to trust it.
//!
//! The author of the project chose the names and the manifests, and must not be able to forge the question: a name
//! never ends its line, never leaves its quotes and has a limit, and so have lists.

use std::fmt::Write as _;
use std::path::Path;

use host_bundle::LockFile;
use host_manifest::{Manifest, Source};
use host_text::escape_name;

use super::{Contents, Part, ProjectFile};

/// The longest name, in characters. A longer one is cut, with a mark.
const NAME: usize = 60;

/// The longest path of a folder.
const PATH: usize = 200;

/// The longest text from a manifest, in characters.
const WORDS: usize = 80;

/// The most capabilities that are shown of a manifest.
const CAPABILITIES: usize = 8;

/// The most plugins that are shown of a lock file.
const PLUGINS: usize = 8;

/// The length of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// For the question.
    Short,
    /// Every file.
    Whole,
}

/// The most files of a short list.
const SHORT: usize = 20;

/// The files, a line each; the most powerful ones come first, so that none can be hidden at the end of a list.
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
        let size = match file.is_too_large() {
            true => "too large, not used".to_owned(),
            false => host_text::counted(file.bytes.len(), "byte"),
        };
        // A string takes everything.
        let _ = writeln!(text, "  `{}`: {} ({size})", name(path), what(path, file, contents));
    }
    if let Some(more) = files.len().checked_sub(taken).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {more} more; `host trust status` lists all");
    }
    if files.is_empty() {
        text.push_str("  nothing any more\n");
    }
    text
}

/// A file whose text is shown to the user who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// Its name beneath `.host/`, safe within quotes in a line.
    pub name: String,
    /// Its text as the project has it, which a frontend must escape. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// The files that say in words what the project sets: its configuration, its rules, its hooks and its MCP servers.
pub fn contents(contents: &Contents) -> Vec<ShownFile> {
    let is_shown = |part| match part {
        Part::Configuration | Part::Rules | Part::Servers | Part::Hooks => true,
        Part::HookProgram
        | Part::ServerFile
        | Part::Program
        | Part::Component
        | Part::Lock
        | Part::Agent
        | Part::Skill
        | Part::Command
        | Part::Manifest => false,
    };
    let shown = contents.iter().filter(|(_, file)| is_shown(file.part));
    shown
        .map(|(path, file)| ShownFile { name: name(path), text: String::from_utf8_lossy(&file.bytes).into_owned() })
        .collect()
}

/// What the files are for, in one line such as `configuration, 2 agents, rules`; empty if there are none.
pub fn summary(contents: &Contents) -> String {
    let count = |part: Part| contents.iter().filter(|(_, file)| file.part == part && !file.is_too_large()).count();
    let parts = [
        (Part::Program, "program"),
        (Part::Component, "plugin"),
        (Part::Agent, "agent"),
        (Part::Skill, "skill"),
        (Part::Command, "command"),
    ];
    let counted = parts.map(|(part, noun)| (count(part), noun)).into_iter().filter(|(count, _)| *count > 0);
    let mut all: Vec<String> = counted.map(|(count, noun)| host_text::counted(count, noun)).collect();
    for (part, word) in [
        (Part::Lock, "locked plugins"),
        (Part::Configuration, "configuration"),
        (Part::Rules, "rules"),
        (Part::Hooks, "hooks"),
        (Part::Servers, "MCP servers"),
    ] {
        if count(part) > 0 {
            all.push(word.to_owned());
        }
    }
    all.join(", ")
}

/// The use of a file.
fn what(path: &str, file: &ProjectFile, contents: &Contents) -> String {
    match file.part {
        Part::Program => "a program, which runs outside of the sandbox with your rights".to_owned(),
        Part::Configuration => "configuration".to_owned(),
        Part::Agent => "an agent that the model can call".to_owned(),
        Part::Command => "a command that you can run, and whose shell lines are asked about".to_owned(),
        Part::Skill => "a skill: instructions that the model can load".to_owned(),
        Part::Rules => "rules for calls".to_owned(),
        Part::Hooks => "hooks, which are programs that run when something happens, such as a call".to_owned(),
        Part::HookProgram => "a program that a hook starts".to_owned(),
        Part::ServerFile => "a file that an MCP server is started with".to_owned(),
        Part::Servers => "MCP servers, which are programs that run and addresses that are reached".to_owned(),
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
                format!(
                    "plugins by other publishers, to install with `host plugin install`: {}{more}",
                    plugins.join(", ")
                )
            }
            Err(_) => "an invalid lock file".to_owned(),
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

/// The requests of a plugin, from its manifest. It can be granted no more.
fn asks(manifest: &ProjectFile) -> String {
    let text = String::from_utf8_lossy(&manifest.bytes);
    let Ok(manifest) = Manifest::parse(&text, Source::File(manifest.path.clone())) else {
        return "a plugin with an invalid manifest".to_owned();
    };
    let scope = |(capability, declared): (&str, &host_manifest::Declared)| {
        format!("{} `{}`", escape_name(capability, WORDS), escape_name(&declared.scope, WORDS))
    };
    let mut asked: Vec<String> = manifest.requests().map(scope).take(CAPABILITIES).collect();
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
