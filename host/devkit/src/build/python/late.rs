//! What the functions of Python modules import, found in their text when a component is made: afterwards there are no
//! files to import from.
//!
//! An import that is indented is one; it may also stand in a class or behind an `if`, where importing it again does
//! nothing. Text that only looks like one names a module that does not exist, which is passed over. The interpreter's
//! own parser would do this more exactly, but it would run in the component, and what it leaves in memory would be part
//! of it.
//!
//! Deliberately not here: names that are computed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The imports of a module's functions: what is imported, and the part of it that may be a module, or nothing.
pub(super) type Imports = BTreeSet<(String, String)>;

/// The name of the module in a file, and of the package that its relative imports start from.
fn names(file: &Path) -> (String, String) {
    let parts: Vec<String> = file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    match parts.split_last() {
        Some((last, package)) if last == "__init__" => (package.join("."), package.join(".")),
        Some((_, package)) => (parts.join("."), package.join(".")),
        None => (String::new(), String::new()),
    }
}

/// Finds the late imports of one file.
pub(super) fn imports(file: &Path, text: &str) -> Imports {
    let (_, package) = names(file);
    let mut found = Imports::new();
    for line in text.lines().filter(|line| line.starts_with([' ', '\t'])) {
        let line = line.trim_start();
        let listed = |text: &str| -> Vec<String> {
            let text = text.split(['#', ';', '\\']).next().unwrap_or_default();
            let one = |name: &str| {
                name.trim_matches(['(', ')', ' ']).split(" as ").next().unwrap_or_default().trim().to_owned()
            };
            text.split(',').map(one).filter(|name| is_name(name)).collect()
        };
        if let Some(rest) = line.strip_prefix("import ") {
            found.extend(listed(rest).into_iter().map(|name| (name, String::new())));
        } else if let Some((from, parts)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            let Some(name) = absolute(from.trim(), &package) else { continue };
            found.insert((name.clone(), String::new()));
            found.extend(listed(parts).into_iter().map(|part| (name.clone(), part)));
        }
    }
    found
}

/// The name of what a module of a package imports from.
fn absolute(from: &str, package: &str) -> Option<String> {
    let name = from.trim_start_matches('.');
    let up = from.len() - name.len();
    let mut parts: Vec<&str> = package.split('.').filter(|_| up > 0).collect();
    parts.truncate((parts.len() + 1).checked_sub(up.max(1))?);
    parts.extend(Some(name).filter(|name| !name.is_empty()));
    let name = parts.join(".");
    is_name(&name).then_some(name)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// The text of a Python module with the imports of each file.
pub(super) fn module(files: &[(&Path, Imports)]) -> String {
    let mut text = "LATE = {\n".to_owned();
    for (file, imports) in files.iter().filter(|(file, imports)| !imports.is_empty() && is_name(&names(file).0)) {
        // A string takes everything. Names have no character that would end one in Python.
        let _ = write!(text, "    \"{}\": [", names(file).0);
        for (name, part) in imports {
            let _ = write!(text, "(\"{name}\", \"{part}\"), ");
        }
        text.push_str("],\n");
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_imports_are_found_with_their_packages() {
        let text = "import os\ndef f():\n    import json, a.b as c  # why\n    from . import near\n    from ..up import (one,\n        two)\n    \
                    from far.away import x as y\n    from ... import lost\n    \"\"\"import the \"quoted\" words\"\"\"\n";
        let found = imports(Path::new("pack/inner/mod.py"), text);
        let expected = [
            ("a.b", ""),
            ("far.away", ""),
            ("far.away", "x"),
            ("json", ""),
            ("pack.inner", ""),
            ("pack.inner", "near"),
            ("pack.up", ""),
            ("pack.up", "one"),
        ];
        assert_eq!(found, expected.map(|(name, part)| (name.to_owned(), part.to_owned())).into());
        let package = imports(Path::new("pack/__init__.py"), "def f():\n\tfrom .inner import mod\n");
        assert!(package.contains(&("pack.inner".to_owned(), "mod".to_owned())), "{package:?}");
        assert_eq!(imports(Path::new("plugin.py"), "import a\nfrom b import c\n"), Imports::new());
        let text = module(&[(Path::new("pack/__init__.py"), package)]);
        assert_eq!(text, "LATE = {\n    \"pack\": [(\"pack.inner\", \"\"), (\"pack.inner\", \"mod\"), ],\n}\n");
    }
}
