//! The skills of a project, where other agents have theirs: `SKILL.md` in each folder of `.agents/skills` and
//! `.claude/skills`.
//!
//! Promises, as for all files of a project: no link is followed, and reads are bounded. A link is somebody's own
//! arrangement for another agent: nothing behind it is listed. Deliberately not here: what is in a skill.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType};

use super::{Entry, Listing, MAX_ENTRIES, MAX_FILES, Part, Unusable, kind_of, open_folder, place, unreadable};

/// The folders with a folder `skills`, the preferred one first.
pub(crate) const SKILL_FOLDERS: [&str; 2] = [".agents", ".claude"];

/// The folder of all skills.
pub(crate) const SKILLS: &str = "skills";

/// The file of a skill.
pub const SKILL_FILE: &str = "SKILL.md";

impl Listing {
    /// Adds the skills.
    pub(super) fn add_skills(&mut self, top: &OwnedFd) -> Result<(), Unusable> {
        for folder in SKILL_FOLDERS {
            let path = self.root.join(folder);
            let Some(opened) = plain_folder(top, folder, &self.root)? else { continue };
            let Some(skills) = plain_folder(&opened, SKILLS, &path)? else { continue };
            let path = path.join(SKILLS);
            let mut left = MAX_FILES;
            for name in names(&skills, &path)? {
                let Some(skill) = plain_folder(&skills, &name, &path)? else { continue };
                let above = path.join(&name);
                if kind_of(&skill, SKILL_FILE, &above)? != Some(FileType::RegularFile) {
                    continue;
                }
                if left == 0 {
                    *self.unlisted.entry(Part::Skill).or_default() += 1;
                    continue;
                }
                left -= 1;
                let file = format!("{SKILLS}/{name}/{SKILL_FILE}");
                let path = above.join(SKILL_FILE);
                self.entries.insert(format!("{folder}/{file}"), Entry { part: Part::Skill, folder, file, path });
            }
            self.folders.insert(folder, opened);
        }
        Ok(())
    }
}

/// Opens a folder; `None` if there is none, or a link.
pub(super) fn plain_folder(above: &OwnedFd, name: &str, path: &Path) -> Result<Option<OwnedFd>, Unusable> {
    match kind_of(above, name, path)? {
        Some(FileType::Directory) => open_folder(above, name, &path.join(name)),
        Some(_) | None => Ok(None),
    }
}

/// The names in a folder in their order, so that of too many the same ones count each time.
pub(super) fn names(folder: &OwnedFd, path: &Path) -> Result<Vec<String>, Unusable> {
    let entries = Dir::read_from(folder).map_err(|error| unreadable(path, error))?;
    let mut names = Vec::new();
    for (number, entry) in entries.enumerate() {
        let entry = entry.map_err(|error| unreadable(path, error))?;
        if number >= MAX_ENTRIES {
            return Err(Unusable(format!("`{}` has over {MAX_ENTRIES} entries", place(path))));
        }
        // A name that is not text is no skill's.
        names.extend(entry.file_name().to_str().ok().filter(|name| !matches!(*name, "." | "..")).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}
