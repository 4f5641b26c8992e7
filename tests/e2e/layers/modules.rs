//! The imports between the modules of a crate, and the cycles in them.
//!
//! A module and the files beneath it are one unit among its siblings: a file may use its parent and its children, which
//! is what a folder is for, and no cycle. Names that a module re-exports count for the module that they come from, so
//! that `use crate::Name` is an import of the file that has it.

use std::collections::{BTreeMap, BTreeSet};

/// The most siblings that may import one another in a circle: a type and its other half.
const MOST: usize = 2;

/// A module by the names on the way to it; the root of the crate is empty.
type Module = Vec<String>;

/// An import: the module that is meant, and the names behind it.
type Path = (Module, Vec<String>);

/// The cycles of more than two siblings; each as its imports, a line each. Files are given by their path beneath
/// `src` with their code.
pub(crate) fn cycles(files: &[(String, String)]) -> Vec<Vec<String>> {
    let crate_ = Crate::new(files);
    // By the parent of the siblings: who imports whom, and the two files that show it.
    let mut levels: BTreeMap<Module, BTreeMap<Module, BTreeMap<Module, String>>> = BTreeMap::new();
    for (from, paths) in &crate_.imports {
        for path in paths {
            let to = crate_.origin(path);
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if shared == from.len() || shared == to.len() {
                continue;
            }
            let (one, other) = (from[..=shared].to_vec(), to[..=shared].to_vec());
            let shown = format!("{} imports {}", file(from), file(&to));
            levels.entry(from[..shared].to_vec()).or_default().entry(one).or_default().entry(other).or_insert(shown);
        }
    }
    let mut found = Vec::new();
    for siblings in levels.values() {
        let mut left: BTreeSet<&Module> = siblings.keys().collect();
        while let Some(module) = left.pop_first() {
            let ring: BTreeSet<&Module> = reached(siblings, module)
                .into_iter()
                .filter(|other| reached(siblings, other).contains(module))
                .collect();
            left.retain(|other| !ring.contains(other));
            if ring.len() > MOST {
                let inside = |(to, shown): (&Module, &String)| ring.contains(to).then(|| shown.clone());
                found.push(ring.iter().flat_map(|from| siblings[*from].iter().filter_map(inside)).collect());
            }
        }
    }
    found
}

/// All that a module imports, and what that imports, and so on.
fn reached<'a>(siblings: &'a BTreeMap<Module, BTreeMap<Module, String>>, from: &Module) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&'a Module> = siblings.get(from).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(module) = waiting.pop() {
        if reached.insert(module) {
            waiting.extend(siblings.get(module).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

fn file(module: &Module) -> String {
    if module.is_empty() { "lib.rs".to_owned() } else { format!("{}.rs", module.join("/")) }
}

struct Crate {
    modules: BTreeSet<Module>,
    imports: BTreeMap<Module, Vec<Path>>,
    /// What a module re-exports under a name.
    exports: BTreeMap<(Module, String), Path>,
}

impl Crate {
    fn new(files: &[(String, String)]) -> Self {
        let module = |file: &str| match file.strip_suffix(".rs").unwrap_or(file) {
            "lib" | "main" => Module::new(),
            path => path.split('/').map(str::to_owned).collect(),
        };
        let modules = files.iter().map(|(file, _)| module(file)).collect();
        let mut all = Self { modules, imports: BTreeMap::new(), exports: BTreeMap::new() };
        for (file, code) in files {
            all.read(&module(file), code);
        }
        all
    }

    fn read(&mut self, module: &Module, code: &str) {
        let (uses, rest) = uses(code);
        let mut imports = Vec::new();
        for (is_public, tree) in uses {
            for names in branches(&tree) {
                let name = names.last().cloned().unwrap_or_default();
                let Some(path) = self.resolve(module, &names) else { continue };
                if is_public {
                    self.exports.insert((module.clone(), name), path.clone());
                }
                imports.push(path);
            }
        }
        imports.extend(paths(&rest).iter().filter_map(|names| self.resolve(module, names)));
        self.imports.insert(module.clone(), imports);
    }

    /// The module of this crate that a path begins with; `None` if it begins with something else.
    fn resolve(&self, module: &Module, names: &[String]) -> Option<Path> {
        let mut at = module.clone();
        let mut rest = names.iter().peekable();
        match rest.peek()?.as_str() {
            "crate" => (at, _) = (Module::new(), rest.next()),
            "self" => _ = rest.next(),
            "super" => {
                while rest.next_if(|name| *name == "super").is_some() {
                    at.pop()?;
                }
            }
            name if self.modules.contains(&[&at[..], &[name.to_owned()]].concat()) => {}
            _ => return None,
        }
        while let Some(name) = rest.peek() {
            let deeper = [&at[..], &[(*name).clone()]].concat();
            if !self.modules.contains(&deeper) {
                break;
            }
            (at, _) = (deeper, rest.next());
        }
        Some((at, rest.cloned().collect()))
    }

    /// The module that a name comes from.
    fn origin(&self, (module, names): &Path) -> Module {
        let (mut module, mut name) = (module.clone(), names.first().cloned());
        // A name is seldom passed on more than twice; this ends for names that are passed in a circle too.
        for _ in 0..8 {
            let Some((from, rest)) = name.take().and_then(|name| self.exports.get(&(module.clone(), name))) else {
                break;
            };
            (module, name) = (from.clone(), rest.first().cloned());
        }
        module
    }
}

/// The trees of the `use` items, each with whether it re-exports, and the code without them.
fn uses(code: &str) -> (Vec<(bool, String)>, String) {
    let (mut uses, mut left) = (Vec::new(), String::new());
    let mut at = 0;
    while let Some(found) = code[at..].find("use ").map(|found| at + found) {
        let before = &code[at..found];
        let begins = before.chars().next_back().is_none_or(char::is_whitespace);
        let end = code[found..].find(';').map(|end| found + end);
        let (true, Some(end)) = (begins, end) else {
            left.push_str(&code[at..found + 4]);
            at = found + 4;
            continue;
        };
        let head = before.trim_end();
        let is_public = head.ends_with("pub")
            || head.ends_with(')') && head.rfind("pub(").is_some_and(|at| !head[at..].contains(';'));
        left.push_str(before);
        uses.push((is_public, code[found + 4..end].split_whitespace().collect::<Vec<_>>().join(" ")));
        at = end + 1;
    }
    left.push_str(&code[at..]);
    (uses, left)
}

/// The paths of a tree of imports.
fn branches(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((head, inner)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return vec![path.split("::").map(|name| name.trim().to_owned()).collect()];
    };
    let head: Vec<String> =
        head.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let mut all = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    all.extend(branches(part).into_iter().map(|path| [&head[..], &path].concat()));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    all
}

/// The paths in an expression or a type: words with `::` between them.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(|c| !is_word(c))
        .filter(|word| word.contains("::") && !word.starts_with(':'))
        .map(|word| word.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>())
        .filter(|names: &Vec<String>| !names.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], found: &[&[&str]]) {
        let files: Vec<(String, String)> =
            files.iter().map(|(file, code)| ((*file).to_owned(), (*code).to_owned())).collect();
        assert_eq!(cycles(&files), found, "{files:?}");
    }

    #[test]
    fn modules_made_up_cycle_is_found() {
        let ring = ["a.rs imports b.rs", "b.rs imports c.rs", "c.rs imports d.rs", "d.rs imports a.rs"];
        let abc = [
            ("a.rs", "use crate::b::{self, One};"),
            ("b.rs", "use std::{fs, io};\nuse super::c::Two;"),
            ("c.rs", "fn f() { crate::d::three(); }"),
        ];
        // Through a path, through a re-export at the root, through a type.
        for closes in ["use crate::a;", "pub(crate) use crate::{Four as Five};", "struct X(super::a::Four);"] {
            let root = ("lib.rs", "mod a;\npub use a::{Four, Six};\npub use self::b::One;");
            check(&[&abc[..], &[("d.rs", closes), root]].concat(), &[&ring]);
        }
        // Three are too many already.
        let three = [("a.rs", "use crate::b;"), ("b.rs", "use crate::c;"), ("c.rs", "use crate::a;"), ("lib.rs", "")];
        check(&three, &[&["a.rs imports b.rs", "b.rs imports c.rs", "c.rs imports a.rs"]]);
        // Below a folder, and between folders.
        let deep: Vec<(String, &str)> = abc.iter().map(|(file, code)| (format!("x/{file}"), *code)).collect();
        let deep: Vec<(&str, String)> =
            deep.iter().map(|(file, code)| (file.as_str(), code.replace("crate::", "super::"))).collect();
        let mut deep: Vec<(&str, &str)> = deep.iter().map(|(file, code)| (*file, code.as_str())).collect();
        deep.extend([("x/d.rs", "use super::a::Four;"), ("x.rs", "mod a;"), ("lib.rs", "mod x;")]);
        let below: Vec<String> =
            ring.iter().map(|line| format!("x/{}", line.replace("imports ", "imports x/"))).collect();
        check(&deep, &[&below.iter().map(String::as_str).collect::<Vec<_>>()]);
        let between =
            [&abc[..], &[("d.rs", "mod e;"), ("d/e.rs", "use crate::a::Four;"), ("lib.rs", "mod a;")]].concat();
        check(&between, &[&["a.rs imports b.rs", "b.rs imports c.rs", "c.rs imports d.rs", "d/e.rs imports a.rs"]]);
    }

    #[test]
    fn modules_that_form_no_cycle_are_not_reported() {
        check(&[("a.rs", "use crate::b;"), ("b.rs", "use crate::a;"), ("c.rs", "use crate::a;"), ("lib.rs", "")], &[]);
        let family = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b;\nmod c;\nmod d;\nmod e;\nuse b::One;\nuse self::{c::Two, d::*, e::Four};"),
            ("a/b.rs", "use super::Two;"),
            ("a/c.rs", "use super::*;"),
            ("a/d.rs", "use crate::a::Root;"),
            ("a/e.rs", "fn f(a: super::Root) {}"),
        ];
        check(&family, &[]);
    }
}
