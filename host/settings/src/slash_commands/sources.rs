//! Where command files lie: those of a trusted project, then those of the user, then those that plugins bring.
//!
//! Promises: a file of a project is used with the bytes that were trusted; one of the user is read within a limit, and
//! left out if other users could have written it. A folder of the user that lies in the workspace is left to the
//! project, since tools may change it.
//!
//! Deliberately not here: what a file says.

use std::fs;
use std::path::{Path, PathBuf};

use host_manifest::FileKind;

use super::file::CommandFault;
use crate::brought::{Brought, BroughtText};
use crate::environment::{Environment, Folders};
use crate::file_sizes::MAX_COMMAND_FILE;
use crate::own_text;
use crate::project::ProjectFile;
use crate::project::contents::{CLAUDE, COMMAND_DEPTH, COMMANDS, GEMINI};

/// The most entries of a folder of commands that are looked at. Protects the start from a folder without end.
const MAX_ENTRIES: usize = 1024;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFormat {
    /// As for Claude Code.
    Markdown,
    /// As for Gemini CLI.
    Gemini,
}

/// Whose a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOwner {
    /// A trusted project's.
    Project,
    /// The user's.
    User,
    /// A plugin's, which brings it.
    Plugin,
}

/// Where a command comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandSource {
    /// Whose it is.
    pub owner: CommandOwner,
    /// How its file is written.
    pub format: CommandFormat,
}

/// A command that was found, before its file is understood.
#[derive(Debug)]
pub struct FoundCommand {
    /// Its name, with `:` between folders.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Where it comes from.
    pub source: CommandSource,
    /// The text of the file, or why there is none.
    pub text: Result<String, CommandFault>,
}

impl CommandFormat {
    /// The end of the names of such files.
    fn end(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Gemini => "toml",
        }
    }
}

impl CommandSource {
    /// Whether `@path` in its prompt names a file, or else only in braces.
    pub fn reads_mentions(self) -> bool {
        self.format == CommandFormat::Markdown
    }

    /// Returns its name for a user.
    pub fn words(self) -> &'static str {
        match (self.owner, self.format) {
            (CommandOwner::Plugin, _) => "plugin",
            (CommandOwner::Project | CommandOwner::User, CommandFormat::Gemini) => "gemini",
            (CommandOwner::Project, CommandFormat::Markdown) => "project",
            (CommandOwner::User, CommandFormat::Markdown) => "user",
        }
    }
}

/// Finds all commands, the preferred ones first.
pub fn find(
    project: &[ProjectFile],
    root: &Path,
    workspace: &Path,
    folders: &Folders,
    environment: &Environment,
    plugins: &[Brought<'_>],
) -> Vec<FoundCommand> {
    let of_project = |(folder, format): (&str, CommandFormat)| {
        let above = root.join(folder).join(COMMANDS);
        let files = project.iter().filter(move |file| file.path.starts_with(&above));
        let above = root.join(folder).join(COMMANDS);
        files.filter_map(move |file| of_project(file, &above, format)).collect::<Vec<_>>()
    };
    let kinds = [(CLAUDE, CommandFormat::Markdown), (GEMINI, CommandFormat::Gemini)];
    let mut found: Vec<FoundCommand> = kinds.into_iter().flat_map(of_project).collect();
    let own = [(folders.configuration.join(COMMANDS), CommandFormat::Markdown)];
    let home = environment.home();
    let of_home =
        home.into_iter().flat_map(|home| kinds.map(|(name, format)| (home.join(name).join(COMMANDS), format)));
    for (folder, format) in own.into_iter().chain(of_home) {
        // Without the folder there is nothing in it.
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        if !folder.starts_with(workspace) {
            let mut paths = Vec::new();
            list(&folder, format, COMMAND_DEPTH, &mut paths);
            found.extend(paths.into_iter().filter_map(|path| of_user(path, &folder, format, workspace)));
        }
    }
    found.extend(plugins.iter().flat_map(|plugin| plugin.texts(FileKind::Command)).filter_map(of_plugin));
    found
}

/// A command that a plugin brings, with the text that was signed.
fn of_plugin(brought: BroughtText) -> Option<FoundCommand> {
    let path = PathBuf::from(&brought.path);
    let kinds = [CommandFormat::Markdown, CommandFormat::Gemini];
    let format = kinds.into_iter().find(|format| path.extension().is_some_and(|end| end == format.end()))?;
    let name = name(&path, Path::new(COMMANDS))?;
    let source = CommandSource { owner: CommandOwner::Plugin, format };
    // Its place is shown in a notice.
    let path = PathBuf::from(format!("{}/{}", brought.plugin, brought.path));
    Some(FoundCommand { name, path, source, text: Ok(brought.text) })
}

fn of_project(file: &ProjectFile, above: &Path, format: CommandFormat) -> Option<FoundCommand> {
    let text = match file.is_too_large() {
        true => Err(CommandFault::TooLarge),
        false => String::from_utf8(file.bytes.clone()).map_err(|_| CommandFault::NotUnicode),
    };
    let source = CommandSource { owner: CommandOwner::Project, format };
    Some(FoundCommand { name: name(&file.path, above)?, path: file.path.clone(), source, text })
}

fn of_user(path: PathBuf, above: &Path, format: CommandFormat, workspace: &Path) -> Option<FoundCommand> {
    let text = match fs::canonicalize(&path) {
        Ok(real) if real.starts_with(workspace) => Err(CommandFault::InWorkspace),
        Ok(_) | Err(_) => read(&path),
    };
    Some(FoundCommand {
        name: name(&path, above)?,
        path,
        source: CommandSource { owner: CommandOwner::User, format },
        text,
    })
}

fn read(path: &Path) -> Result<String, CommandFault> {
    own_text::read(path, MAX_COMMAND_FILE)?.ok_or(CommandFault::TooLarge)
}

/// The name of a command by its file: `git/commit.md` is `git:commit`.
fn name(path: &Path, above: &Path) -> Option<String> {
    Some(path.strip_prefix(above).ok()?.with_extension("").to_str()?.replace('/', ":"))
}

/// Collects the files of a folder and those beneath, in the order of their names.
fn list(folder: &Path, format: CommandFormat, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 1 {
                list(&path, format, depth - 1, found);
            }
        } else if path.extension().is_some_and(|end| end == format.end()) && found.len() < MAX_ENTRIES {
            found.push(path);
        }
    }
}
