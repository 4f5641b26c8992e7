//! The files of a fake host: a map from absolute paths to what is there.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::WORKSPACE;

/// The longest path, as the host has it.
const MAX_PATH: usize = 4096;

/// The largest file that is handed over or written whole, as the host has it.
pub(super) const MAX_WHOLE: u64 = 20 << 20;

/// When the first file was changed, in milliseconds since the Unix epoch.
const EPOCH: u64 = 1_700_000_000_000;

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Folder,
    File { content: Vec<u8>, modified: u64 },
}

/// What stands in the way of looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is nothing.
    Nothing,
    /// A file is where a folder would have to be.
    Blocked,
}

/// All files and folders.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
    clock: u64,
}

impl Default for Tree {
    fn default() -> Self {
        let nodes = Path::new(WORKSPACE).ancestors().map(|path| (path.to_owned(), Node::Folder)).collect();
        Self { nodes, clock: EPOCH }
    }
}

/// The absolute path that a plugin means, or why it is none. As in the host: nothing is looked up.
pub(super) fn absolute(path: &str) -> Result<PathBuf, String> {
    if path.len() > MAX_PATH {
        return Err(format!("the path has {} bytes, and a path may have {MAX_PATH}", path.len()));
    }
    if path.contains('\0') {
        return Err(format!("the path `{}` has a NUL character in it", path.escape_debug()));
    }
    let mut absolute = PathBuf::from(if path.starts_with('/') { "/" } else { WORKSPACE });
    for component in Path::new(path).components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => {
                if !absolute.pop() {
                    return Err(format!("the path `{}` leads above `/`", path.escape_debug()));
                }
            }
            Component::Normal(name) => absolute.push(name),
        }
    }
    Ok(absolute)
}

/// How a path is told: relative to the workspace where it lies in it.
pub(super) fn shown(absolute: &Path) -> String {
    let shown = absolute.strip_prefix(WORKSPACE).unwrap_or(absolute);
    if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.to_string_lossy().into_owned() }
}

/// SHA-256 as 64 lower-case hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Tree {
    /// What is at the path.
    pub(super) fn find(&self, path: &Path) -> Result<&Node, Missing> {
        if let Some(node) = self.nodes.get(path) {
            return Ok(node);
        }
        let blocked = path.ancestors().skip(1).any(|above| matches!(self.nodes.get(above), Some(Node::File { .. })));
        Err(if blocked { Missing::Blocked } else { Missing::Nothing })
    }

    /// What is directly in a folder: each path and what is there, in the reverse order of the names.
    pub(super) fn children<'t>(&'t self, folder: &'t Path) -> impl Iterator<Item = (&'t Path, &'t Node)> {
        let all = self.nodes.iter().rev().map(|(path, node)| (path.as_path(), node));
        all.filter(move |(path, _)| path.parent() == Some(folder))
    }

    /// Puts a file there, and the folders above it.
    pub(super) fn write(&mut self, path: &Path, content: &[u8]) {
        self.make_folder(path.parent().unwrap_or(Path::new("/")));
        self.clock += 1;
        let node = Node::File { content: content.to_vec(), modified: self.clock };
        self.nodes.insert(path.to_owned(), node);
    }

    /// Makes a folder and those above it that are missing.
    pub(super) fn make_folder(&mut self, path: &Path) {
        for folder in path.ancestors() {
            self.nodes.entry(folder.to_owned()).or_insert(Node::Folder);
        }
    }

    /// Takes away what is at the path.
    pub(super) fn remove(&mut self, path: &Path) {
        self.nodes.remove(path);
    }

    /// Gives a file, or a folder with all that is in it, another name.
    pub(super) fn rename(&mut self, source: &Path, target: &Path) {
        let moved: Vec<PathBuf> = self.nodes.keys().filter(|path| path.starts_with(source)).cloned().collect();
        for path in moved {
            if let (Some(node), Ok(rest)) = (self.nodes.remove(&path), path.strip_prefix(source)) {
                let to = if rest.as_os_str().is_empty() { target.to_owned() } else { target.join(rest) };
                self.nodes.insert(to, node);
            }
        }
    }

    /// A test's file.
    pub(super) fn put(&mut self, path: &str, content: &[u8]) {
        let absolute = self.free(path);
        assert!(!matches!(self.nodes.get(&absolute), Some(Node::Folder)), "`{path}` is a folder already");
        self.write(&absolute, content);
    }

    /// A test's folder.
    pub(super) fn put_folder(&mut self, path: &str) {
        let absolute = self.free(path);
        assert!(!matches!(self.nodes.get(&absolute), Some(Node::File { .. })), "`{path}` is a file already");
        self.make_folder(&absolute);
    }

    fn free(&self, path: &str) -> PathBuf {
        let absolute = absolute(path).unwrap_or_else(|why| panic!("{why}"));
        let blocked = self.find(&absolute).err() == Some(Missing::Blocked);
        assert!(!blocked, "`{path}` cannot be there: a file is where a folder would have to be");
        absolute
    }

    pub(super) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        match self.nodes.get(&absolute(path).ok()?)? {
            Node::File { content, .. } => Some(content.clone()),
            Node::Folder => None,
        }
    }

    pub(super) fn files(&self) -> Vec<String> {
        let files = self.nodes.iter().filter(|(_, node)| matches!(node, Node::File { .. }));
        files.map(|(path, _)| shown(path)).collect()
    }
}
