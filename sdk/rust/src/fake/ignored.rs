//! What ignore files leave out. The workspace counts as a git repository, so that its `.gitignore` files count.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::WORKSPACE;
use super::tree::{Node, Tree};

/// The files with rules, the strongest first.
const IGNORE_FILES: &[&str] = &[".hostignore", ".ignore", ".gitignore"];

/// The rules of all ignore files of the workspace.
pub(super) struct Rules {
    /// For each kind of file the folders that have one, the deepest first.
    kinds: Vec<Vec<(PathBuf, Gitignore)>>,
}

impl Rules {
    pub(super) fn of(tree: &Tree) -> Self {
        let kinds = IGNORE_FILES.iter().map(|name| {
            let mut found = Vec::new();
            let mut folders = vec![PathBuf::from(WORKSPACE)];
            while let Some(folder) = folders.pop() {
                for (path, node) in tree.children(&folder) {
                    match node {
                        Node::Folder => folders.push(path.to_owned()),
                        Node::File { content, .. } if path.ends_with(name) => {
                            found.push((folder.clone(), rules(&folder, content)));
                        }
                        Node::File { .. } => {}
                    }
                }
            }
            found.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.components().count()));
            found
        });
        Self { kinds: kinds.collect() }
    }

    /// Whether a rule names this very path.
    pub(super) fn name(&self, path: &Path, is_folder: bool) -> bool {
        for kind in &self.kinds {
            for (_, rules) in kind.iter().filter(|(folder, _)| path.starts_with(folder) && path != folder) {
                match rules.matched(path, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }

    /// Whether a rule leaves out this path or a folder above it.
    pub(super) fn leave_out(&self, path: &Path, is_folder: bool) -> bool {
        let Ok(way) = path.strip_prefix(WORKSPACE) else { return false };
        let depth = way.components().count();
        path.ancestors().take(depth).any(|above| self.name(above, is_folder || above != path))
    }
}

/// An invalid line counts for nothing, as it does for git.
fn rules(folder: &Path, content: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(content).lines() {
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
