//! Files: granted roots, each with the globs that it denies.
//!
//! Paths are absolute, UTF-8 and lexically normal (no `.`, no `..`, no doubled slash). The kernel resolves symbolic
//! links, and a permit's `recheck` judges the result.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::antichain::{Antichain, Element};
use crate::deny::{Deny, any_denies, any_denies_folded, escaped, written};
use crate::error::ScopeError;
use crate::list::{self, Form, Item};
use crate::visible::visible;

/// The files that a grant covers: at least one root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Paths(Antichain<Root>);

/// A file or directory and all beneath it, without what its denies match. Cheap to clone.
///
/// `Ord` is the order of the text, for sorting; which root permits more is not in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root {
    path: Arc<Path>,
    deny: Arc<BTreeSet<Deny>>,
}

impl Paths {
    /// Reads lists of roots and denies; a list's denies hold for the roots of that list.
    pub(crate) fn parse(text: &str, form: Form<'_>) -> Result<Self, ScopeError> {
        let workspace = match form {
            Form::Written(workspace) => Some(usable(workspace)?),
            Form::Stored => None,
        };
        let mut roots = Vec::new();
        for list in list::lists(text, form)? {
            let (deny, allow): (Vec<Item>, Vec<Item>) = list.into_iter().partition(|item| item.deny);
            if allow.is_empty() {
                // A root that is not named would be everything, and nobody wrote that.
                return Err(ScopeError::OnlyDenies { text: visible(text) });
            }
            let parsed = deny.iter().map(|item| Deny::parse(&item.whole.text, workspace.as_deref()));
            // Shared by the roots of a list: a run has dozens of denies.
            let deny = Arc::new(parsed.collect::<Result<BTreeSet<_>, _>>()?);
            for item in allow {
                let path = root_path(&item, workspace.as_deref())?;
                roots.push(Root { path: path.into(), deny: Arc::clone(&deny) });
            }
        }
        // Roots within others are dropped here, so that two spellings of one scope are equal.
        Ok(Self(Antichain::new(roots)))
    }

    /// All files but those that these globs deny, written as behind a `!`, and these paths with all that is beneath
    /// them.
    pub(crate) fn all_but<'a>(globs: &[&str], paths: impl IntoIterator<Item = &'a Path>) -> Result<Self, ScopeError> {
        let globs = globs.iter().map(|glob| Deny::parse(glob, None));
        let all = globs.chain(paths.into_iter().map(Deny::path));
        let deny = Arc::new(all.collect::<Result<BTreeSet<_>, _>>()?);
        Ok(Self::from(Root { path: Path::new("/").into(), deny }))
    }

    /// All files but those that these globs deny, written as behind a `!` by a user who works in this folder.
    pub(crate) fn all_but_in(globs: &[&str], workspace: &Path) -> Result<Self, ScopeError> {
        let workspace = usable(workspace)?;
        let globs = globs.iter().map(|glob| Deny::parse(glob, Some(&workspace)));
        let deny = Arc::new(globs.collect::<Result<BTreeSet<_>, _>>()?);
        Ok(Self::from(Root { path: Path::new("/").into(), deny }))
    }

    /// The file or folder at this path, which is absolute; with `beneath` false, what it contains is denied.
    pub(crate) fn at(path: &Path, beneath: bool) -> Result<Self, ScopeError> {
        let path = path_of(written(path)?, true, None)?;
        let deny = match beneath {
            true => None,
            false => Some(Deny::parse(&format!("{}/*", escaped(written(&path)?.trim_end_matches('/'))), None)?),
        };
        Ok(Self::from(Root { path: path.into(), deny: Arc::new(deny.into_iter().collect()) }))
    }

    /// The roots, sorted by path. One can lie in another when the two deny different things.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = &Root> {
        self.0.iter()
    }

    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let both = self.0.meet(&other.0);
        (!both.is_empty()).then_some(Self(both))
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.join(&other.0))
    }

    pub(crate) fn le(&self, other: &Self) -> bool {
        self.0.le(&other.0)
    }

    /// Returns the root that permits the path, which is normal; the innermost if several do, since it is the most
    /// specific.
    pub(crate) fn permitting(&self, path: &Path) -> Option<&Root> {
        self.roots().rev().find(|root| root.permits(path))
    }
}

impl Root {
    /// The granted path: absolute and normal. It can be that of a file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute globs that it denies, with all that is beneath what they match.
    pub fn deny_globs(&self) -> impl Iterator<Item = &str> {
        self.deny.iter().map(Deny::text)
    }

    /// Returns whether a deny matches the path, which is absolute and normal, or a directory above it.
    pub(crate) fn denies_path(&self, path: &Path) -> bool {
        any_denies(self.deny.iter(), path)
    }

    /// The same where names that differ in the case of letters are one.
    pub(crate) fn denies_folded(&self, path: &Path) -> bool {
        any_denies_folded(self.deny.iter(), path)
    }

    /// Returns whether the path, which is absolute and normal, is beneath the root and not denied.
    pub(crate) fn permits(&self, path: &Path) -> bool {
        path.starts_with(&self.path) && !self.denies_path(path)
    }
}

/// The root alone.
impl From<Root> for Paths {
    fn from(root: Root) -> Self {
        Self(Antichain::new([root]))
    }
}

impl Element for Root {
    fn meet(&self, other: &Self) -> Option<Self> {
        let path = match () {
            () if self.path.starts_with(&other.path) => &self.path,
            () if other.path.starts_with(&self.path) => &other.path,
            () => return None,
        };
        let deny = match () {
            () if self.deny.is_superset(&other.deny) => Arc::clone(&self.deny),
            () => Arc::new(self.deny.union(&other.deny).cloned().collect()),
        };
        Some(Self { path: Arc::clone(path), deny })
    }

    /// Compares denies by their texts, without checking whether one glob implies another. So a root can permit less
    /// than another without being below it, never the other way round.
    fn is_below(&self, other: &Self) -> bool {
        self.path.starts_with(&other.path) && self.deny.is_superset(&other.deny)
    }
}

/// Roots with the same denies in one list, lists separated by `;`.
impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Grouped by what they deny, or a text would repeat all denies behind each root.
        let mut lists: Vec<(&BTreeSet<Deny>, Vec<&Root>)> = Vec::new();
        for root in self.roots() {
            match lists.iter_mut().find(|(deny, _)| **deny == *root.deny) {
                Some((_, roots)) => roots.push(root),
                None => lists.push((&root.deny, vec![root])),
            }
        }
        for (at, (deny, roots)) in lists.into_iter().enumerate() {
            f.write_str(if at > 0 { ";" } else { "" })?;
            for (at, root) in roots.into_iter().enumerate() {
                let path = root.path.to_string_lossy();
                write!(f, "{}{}", if at > 0 { "," } else { "" }, list::quote(&path))?;
            }
            deny.iter().try_for_each(|deny| write!(f, ",!{}", list::quote(deny.text())))?;
        }
        Ok(())
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Paths::from(self.clone()).fmt(f)
    }
}

/// Returns the absolute path without `.`, `..` and doubled slashes; `None` if it is relative or leaves `/`.
pub(crate) fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    // A relative path means another file for each reader.
    if parts.next() != Some(Component::RootDir) {
        return None;
    }
    let mut normal = PathBuf::from("/");
    for part in parts {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// Returns the workspace as text, as the base of relative paths.
pub(crate) fn usable(workspace: &Path) -> Result<String, ScopeError> {
    let text = normal(workspace).and_then(|path| path.into_os_string().into_string().ok());
    text.filter(|text| !text.chars().any(host_text::is_unsafe))
        .ok_or_else(|| ScopeError::Workspace { path: visible(&workspace.to_string_lossy()) })
}

fn root_path(item: &Item, workspace: Option<&str>) -> Result<PathBuf, ScopeError> {
    path_of(&item.whole.text, item.whole.quoted, workspace)
}

/// Reads a path as lists name it; `is_quoted` if its characters have no meaning besides themselves.
pub(crate) fn path_of(text: &str, is_quoted: bool, workspace: Option<&str>) -> Result<PathBuf, ScopeError> {
    if text.is_empty() {
        return Err(ScopeError::Empty { text: "''".to_owned() });
    }
    // Quoted, they are names: a folder may be called `*` or `~`.
    if !is_quoted {
        if text == "*" {
            return Ok(PathBuf::from("/"));
        }
        if text.contains(['*', '?']) {
            return Err(ScopeError::Pattern { text: visible(text) });
        }
        // No shell has expanded it, and a folder called `~` is seldom meant.
        if text == "~" || text.starts_with("~/") {
            return Err(ScopeError::Home { path: visible(text) });
        }
    }
    let joined = match workspace {
        // A stored scope is absolute, so that it means the same in every folder.
        Some(workspace) => Path::new(workspace).join(text),
        None if text.starts_with('/') => PathBuf::from(text),
        None => return Err(ScopeError::Relative { path: visible(text) }),
    };
    normal(&joined).ok_or_else(|| ScopeError::LeavesRoot { path: visible(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Paths, ScopeError> {
        Paths::parse(text, Form::Written(Path::new("/w")))
    }

    fn check(text: &str, shown: &str) {
        let paths = parse(text).unwrap();
        assert_eq!(paths.to_string(), shown, "{text}");
        assert_eq!(Paths::parse(shown, Form::Stored), Ok(paths), "{text}");
    }

    #[test]
    fn roots_are_absolute_and_normal() {
        check(".", "/w");
        check("src", "/w/src");
        check("./a//b/../c/", "/w/a/c");
        check("../x", "/x");
        check("/abs/./path", "/abs/path");
        check("*", "/");
        check(".,/tmp/x", "/tmp/x,/w");
        check("my notes,'a,b',./~", "'/w/a,b','/w/my notes','/w/~'");
        check("'a*b',\"it's\"", "'/w/a*b',\"/w/it's\"");
    }

    #[test]
    fn paths_that_are_made_are_those_that_their_text_means() {
        let stored = |text: &str| Paths::parse(text, Form::Stored);
        let all_but = |globs: &[&str], paths: &[&str]| Paths::all_but(globs, paths.iter().map(Path::new));
        assert_eq!(all_but(&[], &[]), stored("*"));
        assert_eq!(all_but(&[".env", "**/x/y"], &["/a/b", "/c,d"]), stored("*,!.env,!**/x/y,!/a/b,!'/c,d'"));
        assert_eq!(all_but(&[], &["/a*"]), stored("*,!'/a[*]'"));
        assert_eq!(Paths::at(Path::new("/a/./b c"), true), stored("'/a/b c'"));
        assert_eq!(Paths::at(Path::new("/"), true), stored("/"));
        assert_eq!(Paths::at(Path::new("/a[b"), false), stored("'/a[b',!'/a[[]b/*'"));
        for refused in
            [all_but(&["a/b"], &[]), all_but(&[], &["a"]), all_but(&["["], &[]), all_but(&[], &["/\u{202e}"])]
        {
            assert!(refused.is_err(), "{refused:?}");
        }
        for path in ["a", "", "/\n", "/a/../.."] {
            assert!(Paths::at(Path::new(path), true).is_err(), "{path:?}");
        }
    }

    #[test]
    fn denies_hold_for_their_list() {
        check(".,!.env,!docs/x", "/w,!'/**/.env',!/w/docs/x");
        check("a,b,!*.{pem,key}", "/w/a,/w/b,!'/**/*.{pem,key}'");
        check("a,!a/x;b", "/w/a,!/w/a/x;/w/b");
        check("!'a,b',.", "/w,!'/**/a,b'");
    }

    #[test]
    fn a_root_within_another_is_swallowed_unless_it_permits_more() {
        check("src,.,src/a", "/w");
        check(".,!x;src,!x", "/w,!'/**/x'");
        check(".,!x;src", "/w,!'/**/x';/w/src");
        check(".,!x;.", "/w");
    }

    #[test]
    fn a_meet_is_the_narrower_path_with_all_denies() {
        let met = |a: &str, b: &str| parse(a).unwrap().meet(&parse(b).unwrap()).map(|paths| paths.to_string());
        assert_eq!(met(".,!x", "src,!y"), Some("/w/src,!'/**/x',!'/**/y'".to_owned()));
        assert_eq!(met("src", "docs"), None);
        assert_eq!(met("src", "srcs"), None);
        assert_eq!(met("*", "a,b"), Some("/w/a,/w/b".to_owned()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "''", "../..", "/..", "!x", ".;!x", "src/*", "a?", "~", "~/x", ".,!..", ".,![", "a\0"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(matches!(Paths::parse("src", Form::Stored), Err(ScopeError::Relative { .. })));
        assert!(matches!(Paths::parse("/a,!b/c", Form::Stored), Err(ScopeError::Relative { .. })));
        for workspace in ["w", "", "/w\n"] {
            assert!(matches!(
                Paths::parse(".", Form::Written(Path::new(workspace))),
                Err(ScopeError::Workspace { .. })
            ));
        }
    }

    #[test]
    fn a_workspace_with_any_printable_name_can_be_stored() {
        for name in ["/a b", "/a,b;c", "/it's \"here\"", "/{x/y}", "/[a]*?", "/!a", "/~", "/a,/b", "/\\"] {
            let paths = Paths::parse(".,!.env,!a/b,src", Form::Written(Path::new(name))).unwrap();
            assert_eq!(Paths::parse(&paths.to_string(), Form::Stored), Ok(paths.clone()), "{name}");
            assert!(paths.permitting(&Path::new(name).join("a/c")).is_some(), "{name}");
            assert!(paths.permitting(&Path::new(name).join("a/b/c")).is_none(), "{name}");
        }
    }
}
