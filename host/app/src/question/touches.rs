//! What a call could touch, as a question shows it.
//!
//! Promises: each capability has one line, the strongest first, whatever the scopes of the others say; what a scope
//! leaves out comes after all of them, since it can be long and no protected file is worth as much as a program that
//! may run.

use std::path::{Component, Path, PathBuf};

use host_capability::{Capability, Grants, Paths, Scope};

/// What a call could touch: lines that a frontend must escape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// Each capability with its scope, the strongest first.
    pub capabilities: Vec<String>,
    /// What the scopes leave out.
    pub exceptions: Vec<String>,
}

impl Touches {
    /// Returns what these grants cover.
    pub fn new(grants: &Grants) -> Self {
        let mut touches = Self::default();
        for capability in Capability::STRONGEST_FIRST {
            match grants.scope(capability) {
                None => {}
                Some(Scope::FsRead(paths) | Scope::FsWrite(paths)) => touches.add_paths(capability, paths),
                Some(
                    scope @ (Scope::Process(_) | Scope::Http(_) | Scope::State(_) | Scope::Mcp(_) | Scope::Tools(_)),
                ) => {
                    touches.capabilities.push(format!("{capability}={scope}"));
                }
            }
        }
        touches
    }

    fn add_paths(&mut self, capability: Capability, paths: &Paths) {
        let all: Vec<String> = paths.roots().map(|root| root.path().display().to_string()).collect();
        self.capabilities.push(format!("{capability}={}", all.join(",")));
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for root in paths.roots() {
            let denied = root.deny_globs().filter(|glob| may_be_within(glob, root.path()));
            let (denied, path) = (denied.collect::<Vec<_>>().join(" "), root.path().display().to_string());
            match lists.iter_mut().find(|(known, _)| *known == denied) {
                Some((_, roots)) => roots.push(path),
                None => lists.push((denied, vec![path])),
            }
        }
        let place = |roots: Vec<String>| match roots.len() == all.len() {
            true => capability.to_string(),
            false => format!("{capability} in {}", roots.join(",")),
        };
        let denied = lists.into_iter().filter(|(denied, _)| !denied.is_empty());
        self.exceptions.extend(denied.map(|(denied, roots)| format!("{}: {denied}", place(roots))));
    }
}

/// Returns whether something beneath a folder can match: of what lies elsewhere, such as the host's own folders, a
/// question about this folder says nothing.
fn may_be_within(glob: &str, root: &Path) -> bool {
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let begins: PathBuf = Path::new(glob).components().take_while(is_plain).collect();
    begins.starts_with(root) || root.starts_with(&begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(scopes: &[(Capability, &str)]) -> Grants {
        let scope = |(capability, text): &(Capability, &str)| Scope::parse(*capability, text, Path::new("/w"));
        scopes.iter().map(scope).collect::<Result<_, _>>().expect("scopes")
    }

    // promise approval.strongest: A question shows what a call could touch with the strongest capability first, one
    //   line each; what is left out comes below.
    #[test]
    fn touches_begin_with_the_strongest_capability_whatever_the_others_leave_out() {
        let protected: String = (0..9).map(|number| format!(",!**/.protected-{number}")).collect();
        let files = format!(".{protected}");
        let touches = Touches::new(&grants(&[
            (Capability::FsRead, &files),
            (Capability::FsWrite, &files),
            (Capability::Process, "*"),
            (Capability::Http, "a.example"),
            (Capability::State, "write"),
        ]));
        assert_eq!(
            touches.capabilities,
            ["process=*", "fs-write=/w", "http=a.example:443", "fs-read=/w", "state=write"]
        );
        assert_eq!(touches.exceptions.len(), 2, "{touches:?}");
        assert!(touches.exceptions.iter().all(|line| line.contains("/**/.protected-8")), "{touches:?}");

        let touches = Touches::new(&grants(&[(Capability::FsRead, "a,!**/x;b;/c")]));
        assert_eq!(touches.capabilities, ["fs-read=/c,/w/a,/w/b"]);
        assert_eq!(touches.exceptions, ["fs-read in /w/a: /**/x"]);
        // What lies elsewhere is not an exception of it.
        let touches = Touches::new(&grants(&[(Capability::FsRead, ".,!/home/u/.config,!/w/a,!/w/**/b,!/*/x")]));
        assert_eq!(touches.exceptions, ["fs-read: /*/x /w/**/b /w/a"]);
        assert_eq!(Touches::new(&Grants::none()), Touches::default());
    }
}
