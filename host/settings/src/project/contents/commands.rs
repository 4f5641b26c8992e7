//! The command files of a project, where other agents have theirs: `.claude/commands/**/*.md` and
//! `.gemini/commands/**/*.toml`.
//!
//! Promises, as for all files of a project: no link is followed, and reads are bounded. A link is somebody's own
//! arrangement for another agent: nothing behind it is listed. Deliberately not here: what is in a file.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::FileType;

use super::skills::{names, plain_folder};
use super::{Entry, Listing, MAX_ENTRIES, MAX_FILES, Part, Unusable, kind_of};

/// The folder of Claude Code.
pub(crate) const CLAUDE: &str = ".claude";

/// The folder of Gemini CLI.
pub(crate) const GEMINI: &str = ".gemini";

/// The folder of the commands in each.
pub(crate) const COMMANDS: &str = "commands";

/// How many folders deep commands are looked for. Protects against a folder without end.
pub(crate) const COMMAND_DEPTH: usize = 4;

/// A search for command files of one kind.
struct Search {
    folder: &'static str,
    /// The end of their names.
    end: &'static str,
    /// How many more are listed.
    files: usize,
    /// How many more names are looked at. Protects against folders without end.
    names: usize,
}

impl Listing {
    /// Adds the command files.
    pub(super) fn add_commands(&mut self, top: &OwnedFd) -> Result<(), Unusable> {
        for (folder, end) in [(CLAUDE, ".md"), (GEMINI, ".toml")] {
            let path = self.root.join(folder);
            let Some(opened) = plain_folder(top, folder, &self.root)? else { continue };
            let Some(commands) = plain_folder(&opened, COMMANDS, &path)? else { continue };
            let mut search = Search { folder, end, files: MAX_FILES, names: MAX_ENTRIES };
            self.add_beneath(&commands, &path.join(COMMANDS), COMMANDS, &mut search, COMMAND_DEPTH)?;
            self.folders.insert(folder, opened);
        }
        Ok(())
    }

    fn add_beneath(
        &mut self,
        opened: &OwnedFd,
        path: &Path,
        beneath: &str,
        search: &mut Search,
        depth: usize,
    ) -> Result<(), Unusable> {
        for name in names(opened, path)? {
            let Some(names) = search.names.checked_sub(1) else { return Ok(()) };
            search.names = names;
            let (folder, file) = (search.folder, format!("{beneath}/{name}"));
            match kind_of(opened, &name, path)? {
                Some(FileType::RegularFile) if name.ends_with(search.end) => match search.files.checked_sub(1) {
                    Some(files) => {
                        search.files = files;
                        let entry = Entry { part: Part::Command, folder, file: file.clone(), path: path.join(&name) };
                        self.entries.insert(format!("{folder}/{file}"), entry);
                    }
                    None => *self.unlisted.entry(Part::Command).or_default() += 1,
                },
                Some(FileType::Directory) if depth > 1 => {
                    let Some(inner) = plain_folder(opened, &name, path)? else { continue };
                    self.add_beneath(&inner, &path.join(&name), &file, search, depth - 1)?;
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}
