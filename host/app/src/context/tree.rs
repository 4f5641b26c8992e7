//! The folders and files of a workspace as a short tree; upper levels take precedence over deeper ones.
//!
//! Deliberately not here: reading folders; the caller leaves out what may not be seen.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::name;

/// The most entries that are shown. Protects the model's window: it can list what it wants to see.
const MAX_ENTRIES: usize = 200;

/// The most entries of one folder, so that a full one leaves room for the others.
const MAX_IN_FOLDER: usize = 40;

/// The depth of the tree.
const MAX_DEPTH: usize = 4;

/// The most folders that are read. Protects the time until the model is asked.
const MAX_FOLDERS: usize = 40;

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Whether it is a folder.
    pub(super) is_folder: bool,
}

#[derive(Debug)]
struct Node {
    entry: Entry,
    path: String,
    depth: usize,
    /// `None` if it is not a folder, or was not read.
    children: Option<Vec<usize>>,
    /// The number of entries that are left out.
    left_out: usize,
}

/// The tree as lines. `list` gives the entries of a folder by its path beneath the workspace, which is `.` itself.
pub(super) fn tree(mut list: impl FnMut(&str) -> Option<Vec<Entry>>) -> String {
    let root = Entry { name: ".".to_owned(), is_folder: true };
    let mut nodes = vec![Node { entry: root, path: ".".to_owned(), depth: 0, children: None, left_out: 0 }];
    let mut waiting = VecDeque::from([0]);
    let mut read = 0;
    while let Some(at) = waiting.pop_front() {
        let (depth, path) = (nodes[at].depth, nodes[at].path.clone());
        if depth == MAX_DEPTH || read == MAX_FOLDERS || nodes.len() > MAX_ENTRIES {
            continue;
        }
        read += 1;
        let Some(mut entries) = list(&path) else { continue };
        entries.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
        let room = MAX_IN_FOLDER.min(MAX_ENTRIES + 1 - nodes.len());
        nodes[at].left_out = entries.len().saturating_sub(room);
        let first = nodes.len();
        for entry in entries.into_iter().take(room) {
            let path = if path == "." { entry.name.clone() } else { format!("{path}/{}", entry.name) };
            if entry.is_folder {
                waiting.push_back(nodes.len());
            }
            nodes.push(Node { entry, path, depth: depth + 1, children: None, left_out: 0 });
        }
        nodes[at].children = Some((first..nodes.len()).collect());
    }
    let mut text = String::new();
    write(&nodes, 0, &mut text);
    text
}

/// Writes the entries of a folder, a line each. The recursion is as deep as the tree.
fn write(nodes: &[Node], at: usize, text: &mut String) {
    let node = &nodes[at];
    let indent = "  ".repeat(node.depth);
    for child in node.children.iter().flatten().map(|index| (&nodes[*index], *index)) {
        let (child, index) = child;
        let behind = match (child.entry.is_folder, &child.children) {
            (false, _) => "",
            (true, Some(_)) => "/",
            (true, None) => "/…",
        };
        // A string takes everything.
        let _ = writeln!(text, "{indent}{}{behind}", name(&child.entry.name));
        write(nodes, index, text);
    }
    if node.left_out > 0 {
        let _ = writeln!(text, "{indent}… ({} more)", node.left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: impl Into<String>, is_folder: bool) -> Entry {
        Entry { name: name.into(), is_folder }
    }

    #[test]
    fn folders_come_first_and_each_level_is_indented() {
        let text = tree(|path| match path {
            "." => {
                Some(vec![entry("a.txt", false), entry("src", true), entry("b\n.txt", false), entry("closed", true)])
            }
            "src" => Some(vec![entry("main.rs", false)]),
            _ => None,
        });
        assert_eq!(text, "closed/…\nsrc/\n  main.rs\na.txt\nb\\n.txt\n");
        assert_eq!(tree(|_| Some(Vec::new())), "");
    }

    #[test]
    fn context_tree_that_is_large_is_cut_and_marked() {
        let mut read = 0;
        let text = tree(|_| {
            read += 1;
            let folders = (0..30).map(|at| entry(format!("d{at:02}"), true));
            Some(folders.chain((0..30).map(|at| entry(format!("f{at:02}"), false))).collect())
        });
        assert!(read <= MAX_FOLDERS, "{read}");
        let entries = text.lines().filter(|line| !line.contains("more)")).count();
        assert_eq!(entries, MAX_ENTRIES);
        assert!(text.ends_with("f09\n… (20 more)\n"), "{text}");
        assert!(text.contains("d29/…\n"), "what was not read says so");
    }

    #[test]
    fn a_deep_tree_ends_at_the_limit() {
        let text = tree(|_| Some(vec![entry("d", true)]));
        assert_eq!(text, "d/\n  d/\n    d/\n      d/…\n");
    }
}
