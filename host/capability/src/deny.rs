//! The globs that take something out of a granted root again.
//!
//! A glob is stored absolute, and is known to be one when it was parsed: from then on a check cannot fail. It is
//! compiled once, and a check costs one look at an automaton. It denies what it matches and everything beneath that.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use unicode_normalization::UnicodeNormalization;

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::ScopeError;
use crate::visible::visible;

/// Maximum nesting depth of braces: globset processes them by recursion, which the stack must hold.
const BRACE_LIMIT: usize = 8;

/// Bytes of a glob that is compiled at its first check, where it has neither braces nor classes: it is a glob whatever
/// it says, and what it compiles to is of its length, which is far below any limit. Each costs a tenth of a
/// millisecond, and a run has dozens of the host's own.
const PLAIN_LIMIT: usize = 1024;

/// A glob that denies. Equal and ordered by its text.
#[derive(Clone)]
pub(crate) struct Deny {
    text: Arc<str>,
    /// Compiled when first needed.
    matcher: Arc<OnceLock<Matcher>>,
    /// The same for folded names.
    folded: Arc<OnceLock<Matcher>>,
}

/// What a glob and everything beneath it is found by.
enum Matcher {
    /// A path without anything special in it, which most of the host's own denies are.
    Path(String),
    /// The glob, and the glob followed by `/**`.
    Globs(GlobSet),
    /// Everything: it could not be compiled.
    Everything,
}

impl Matcher {
    fn new(text: &str) -> Self {
        if is_path(text) {
            return Self::Path(text.trim_end_matches('/').to_owned());
        }
        both(text).and_then(|globs| globs.build()).map_or(Self::Everything, Self::Globs)
    }

    fn is_match(&self, path: &Path, candidate: &Candidate<'_>) -> bool {
        match self {
            Self::Path(denied) => {
                let rest = path.as_os_str().as_encoded_bytes().strip_prefix(denied.as_bytes());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            }
            Self::Globs(globs) => globs.is_match_candidate(candidate),
            Self::Everything => true,
        }
    }
}

/// The path as text that can be shown.
///
/// # Errors
///
/// When it is not text, or has a character that cannot be shown.
pub(crate) fn written(path: &Path) -> Result<&str, ScopeError> {
    let shown = path.to_str().filter(|text| !text.chars().any(host_text::is_unsafe));
    shown.ok_or_else(|| ScopeError::Character { text: visible(&path.to_string_lossy()) })
}

/// Returns whether a glob matches itself alone, so that there is nothing to compile.
fn is_path(glob: &str) -> bool {
    !glob.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

impl Deny {
    /// Parses a deny, without its `!`:
    /// * without a slash except at its end, or with `**/` at its start, it applies in every directory;
    /// * otherwise, a relative one is resolved against the workspace; without a workspace, it is an error.
    ///
    /// # Errors
    ///
    /// When it is not a glob, is too large to compile, or could never match: a deny without effect would be mistaken
    /// for an effective one.
    pub(crate) fn parse(text: &str, workspace: Option<&str>) -> Result<Self, ScopeError> {
        let glob = |why: &str| ScopeError::Glob { glob: visible(text), why: why.to_owned() };
        // Normal before it is compiled: `a//b` would match nothing, and a deny without effect is taken for an effective
        // one.
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let relative = parts.join("/");
        if text.is_empty() {
            return Err(glob("it is empty"));
        }
        if relative.split(['/', '{', '}', ',']).any(|part| part == "." || part == "..") {
            return Err(glob("`.` and `..` are not resolved in it"));
        }
        // A slash between braces would deny nothing, and braces within braces multiply.
        check_braces(&relative).map_err(glob)?;
        let everywhere =
            (parts.len() == 1 && !text.trim_end_matches('/').contains('/')) || parts.first() == Some(&"**");
        let absolute = if text.starts_with('/') {
            format!("/{relative}")
        } else if everywhere && !relative.is_empty() {
            // In every folder of the machine and not only of the workspace: a deny follows a file wherever a root
            // leads.
            format!("/**/{}", parts.strip_prefix(&["**"]).filter(|rest| !rest.is_empty()).unwrap_or(&parts).join("/"))
        } else {
            let workspace = workspace.ok_or_else(|| ScopeError::Relative { path: visible(text) })?;
            // The folder of a workspace may have characters that mean something in a glob: `a[b]` was not denied.
            let beneath = escaped(workspace.trim_end_matches('/'));
            format!("{beneath}/{relative}").trim_end_matches('/').to_owned()
        };
        let absolute = if absolute.is_empty() { "/".to_owned() } else { absolute };
        Self::compile(&absolute).map_err(|error| glob(&error.kind().to_string()))
    }

    /// Creates a deny of this path alone, which is absolute, and everything beneath it.
    ///
    /// # Errors
    ///
    /// As [`Deny::parse`], and when it is relative.
    pub(crate) fn path(path: &Path) -> Result<Self, ScopeError> {
        let text = written(path)?;
        if !text.starts_with('/') {
            return Err(ScopeError::Relative { path: visible(text) });
        }
        // Most paths are as a glob has them.
        let is_normal = |text: &str| text.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
        match is_path(text) && !text.contains(',') && is_normal(text) {
            true => Ok(Self { text: text.into(), matcher: Arc::default(), folded: Arc::default() }),
            false => Self::parse(&escaped(text), None),
        }
    }

    fn compile(absolute: &str) -> Result<Self, globset::Error> {
        let matcher = OnceLock::new();
        if absolute.contains(['[', ']', '{', '}', '\\']) || (absolute.len() > PLAIN_LIMIT && !is_path(absolute)) {
            let globs = both(absolute)?;
            if absolute.len() > PLAIN_LIMIT || absolute.contains(['{', '[']) {
                matcher.set(Matcher::Globs(globs.build()?)).ok();
            }
        }
        Ok(Self { text: absolute.into(), matcher: Arc::new(matcher), folded: Arc::default() })
    }

    /// The absolute glob.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it matches the path or a directory above it. The path is absolute and has no `..`.
    fn denies(&self, path: &Path, candidate: &Candidate<'_>) -> bool {
        self.matcher.get_or_init(|| Matcher::new(&self.text)).is_match(path, candidate)
    }
}

/// Returns the text with names that some file systems take for the same made the same: without regard to the case of
/// letters, to how accents are composed, and to what is not seen.
fn folded(text: &str) -> String {
    let seen = text.nfd().filter(|c| !host_text::is_unsafe(*c));
    // Capital first: `ſ` and `s` have one capital, and so have `ẞ` and `ß`.
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
}

/// The glob, and the glob with `/**` behind it. A set is built even for one glob: compiling a single one panics in
/// globset when it is too large.
fn both(absolute: &str) -> Result<GlobSetBuilder, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in [absolute, &format!("{}/**", absolute.trim_end_matches('/'))] {
        let mut builder = GlobBuilder::new(glob);
        set.add(builder.literal_separator(true).backslash_escape(true).empty_alternates(true).build()?);
    }
    Ok(set)
}

/// Returns whether one of these denies the path where a file system takes folded names for the same. A path that is not
/// text is denied if there are any: how it is folded is not known.
pub(crate) fn any_denies_folded<'a>(denies: impl IntoIterator<Item = &'a Deny>, path: &Path) -> bool {
    let mut denies = denies.into_iter().peekable();
    if denies.peek().is_none() {
        return false;
    }
    let Some(path) = path.to_str().map(folded) else { return true };
    let (path, candidate) = (Path::new(&path), Candidate::new(&path));
    denies.any(|deny| deny.folded.get_or_init(|| Matcher::new(&folded(&deny.text))).is_match(path, &candidate))
}

/// The glob that matches this path alone, as a deny (`!`) of a scope has it.
pub(crate) fn escaped(path: &str) -> String {
    // globset's own escaping leaves the backslash, which escapes what follows it.
    globset::escape(path).replace('\\', "\\\\")
}

/// A slash between braces would have to be normalised in each alternative, or it denies nothing.
fn check_braces(glob: &str) -> Result<(), &'static str> {
    let mut depth = 0_usize;
    // A brace in the workspace's own name was written as a class.
    for c in glob.replace("[{]", "").replace("[}]", "").chars() {
        match c {
            '{' if depth == BRACE_LIMIT => return Err("its braces are nested too deeply"),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth > 0 => return Err("it has a slash between braces: write a deny for each alternative"),
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether one of these denies the path, which is absolute and has no `..`.
pub(crate) fn any_denies<'a>(denies: impl IntoIterator<Item = &'a Deny>, path: &Path) -> bool {
    let mut denies = denies.into_iter().peekable();
    if denies.peek().is_none() {
        return false;
    }
    let candidate = Candidate::new(path);
    denies.any(|deny| deny.denies(path, &candidate))
}

impl PartialEq for Deny {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Deny {}

impl PartialOrd for Deny {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Deny {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Deny {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Deny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deny").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &str, stored: &str, denied: &[&str], left: &[&str]) {
        let deny = Deny::parse(glob, Some("/w")).unwrap();
        assert_eq!(deny.text(), stored, "{glob}");
        assert_eq!(Deny::parse(stored, None).as_ref(), Ok(&deny), "{glob}: the stored form is read back");
        for path in denied {
            assert!(any_denies([&deny], Path::new(path)), "{glob} should deny {path}");
        }
        for path in left {
            assert!(!any_denies([&deny], Path::new(path)), "{glob} should not deny {path}");
        }
    }

    #[test]
    fn a_path_without_anything_special_denies_what_its_glob_does() {
        let paths = ["/", "/w", "/w/a", "/w/a/b", "/w/ab", "/w/a.b", "/W/a", "/w/a,b!/x", "/x", "/w/a/\u{301}", "/w/ä"];
        for text in ["/", "/w", "/w/a", "/w/a.b", "/w/a,b!", "/w/ä", "/none"] {
            let globs = both(text).and_then(|globs| globs.build()).expect("it is a glob");
            let matcher = Matcher::new(text);
            assert!(matches!(matcher, Matcher::Path(_)), "{text}");
            for path in paths.map(Path::new) {
                let candidate = Candidate::new(path);
                assert_eq!(
                    matcher.is_match(path, &candidate),
                    globs.is_match_candidate(&candidate),
                    "{text} {}",
                    path.display()
                );
            }
        }
    }

    #[test]
    fn a_name_is_denied_in_every_directory() {
        check(".env", "/**/.env", &["/.env", "/w/.env", "/w/a/b/.env", "/x/.env/y"], &["/w/.envrc", "/w/x.env"]);
        check("*.{pem,key}", "/**/*.{pem,key}", &["/w/a.pem", "/x/.key", "/w/d.key/in"], &["/w/a.pem.txt"]);
        check("target/", "/**/target", &["/w/target", "/w/a/target/debug"], &["/w/targets"]);
        check("**/secret/*", "/**/secret/*", &["/secret/a", "/w/x/secret/a/b"], &["/w/secret"]);
        check("**", "/**/**", &["/w", "/w/a"], &[]);
        check("*", "/**/*", &["/w", "/w/a"], &[]);
    }

    #[test]
    fn a_relative_deny_is_meant_beneath_the_workspace() {
        check("a/b", "/w/a/b", &["/w/a/b", "/w/a/b/c/d"], &["/w/a", "/w/x/a/b", "/a/b"]);
        check("./a", "/w/a", &["/w/a", "/w/a/x"], &["/w/b/a"]);
        check("a//*/./c/", "/w/a/*/c", &["/w/a/x/c", "/w/a/x/c/y"], &["/w/a/x/y/c"]);
        check(".", "/w", &["/w", "/w/a/b"], &["/ww", "/"]);
        check("{a,b}/d", "/w/{a,b}/d", &["/w/a/d", "/w/b/d/e"], &["/w/c/d", "/x/a/d"]);
    }

    #[test]
    fn an_absolute_deny_stays_where_it_is() {
        check("/etc/ssl", "/etc/ssl", &["/etc/ssl", "/etc/ssl/a"], &["/etc", "/w/etc/ssl"]);
        check("/", "/", &["/", "/a", "/a/b"], &[]);
        check("/a/**/b", "/a/**/b", &["/a/b", "/a/x/y/b/c"], &["/a/x"]);
        check("/home/*/.ssh", "/home/*/.ssh", &["/home/u/.ssh/id"], &["/home/u/x/.ssh"]);
    }

    #[test]
    fn the_workspace_is_taken_literally() {
        let deny = Deny::parse("a/b", Some("/w[1]/{x}*")).unwrap();
        assert!(any_denies([&deny], Path::new("/w[1]/{x}*/a/b")));
        assert!(!any_denies([&deny], Path::new("/w1/xx/a/b")));
        assert!(any_denies([&Deny::parse("./a", Some("/")).unwrap()], Path::new("/a/b")));
    }

    #[test]
    fn a_path_is_denied_as_its_escaped_glob_is() {
        for (path, stored) in [
            ("/a/b", "/a/b"),
            ("/a b/ä.c", "/a b/ä.c"),
            ("/", "/"),
            ("//a/./b//", "/a/b"),
            ("/a,b", "/a,b"),
            ("/*[x]{y}?", "/[*][[]x[]][{]y[}][?]"),
            ("/a\\b!'c", r"/a\\b!'c"),
        ] {
            let deny = Deny::path(Path::new(path)).unwrap();
            assert_eq!(deny.text(), stored);
            assert_eq!(Deny::parse(&escaped(path), None).as_ref(), Ok(&deny), "{path}");
        }
        for (path, why) in [("a/b", "relative"), ("", "relative"), ("/a/../b", "`..`"), ("/a\n", "cannot be shown")] {
            let error = Deny::path(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(why), "{path:?}: {error}");
        }
    }

    #[test]
    fn a_glob_without_braces_and_classes_is_one_whatever_it_says() {
        let symbols = ["*", "?", "/", "a", ".", "!", "-", "**/"];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            texts = symbols.iter().flat_map(|symbol| texts.iter().map(move |text| format!("{text}{symbol}"))).collect();
            for text in &texts {
                assert!(both(text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn a_deny_that_could_never_match_is_refused() {
        for glob in ["", "..", "../x", "a/../b", "{./a,b}", "{a,../b}", "{a,/b}", "a{/,b}c", "{a/b,c}", "[", "{a", "a}"]
        {
            assert!(Deny::parse(glob, Some("/w")).is_err(), "{glob}");
        }
        assert!(matches!(Deny::parse("a/b", None), Err(ScopeError::Relative { .. })));
    }

    #[test]
    fn a_heavy_glob_is_an_error_or_a_deny_and_no_panic() {
        for (glob, fits) in [
            ("{a,b,c,d}".repeat(400), true),
            ("**/".repeat(1300) + "x", true),
            ("*".repeat(4000), true),
            ("{".repeat(BRACE_LIMIT) + "a" + &"}".repeat(BRACE_LIMIT), true),
            ("{".repeat(2000) + "a" + &"}".repeat(2000), false),
        ] {
            assert_eq!(Deny::parse(&glob, Some("/w")).is_ok(), fits, "{}…", &glob[..20]);
        }
    }
}
