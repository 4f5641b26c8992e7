//! Converts a preview to grants: exactly what a call gets when it is approved.
//!
//! Promises: a command becomes a grant for these words and no more, a request one for its method and server, a file one
//! for that file and nothing beneath it. Nothing that the tool's manifest does not request is ever part of it, whatever
//! the preview names.
//!
//! Deliberately not here: whether the call is approved, and the most that may be granted.

use std::path::{Path, PathBuf};

use host_capability::{Capability, Grants, Scope, ScopeError};

use crate::answer::Confirmation;
use crate::origin;
use crate::workspace::{PathError, Workspace};

/// Why something that a preview names cannot be granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TouchError {
    /// It is not a valid path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path to the file contains a symbolic link, so that its name does not identify the file.
    #[error("`{}` is reached by a symbolic link; name the file by its real path `{}`", .path.display(), .real.display())]
    Link {
        /// The named path.
        path: PathBuf,
        /// The path that it leads to.
        real: PathBuf,
    },
    /// It cannot be written as a scope.
    #[error("this cannot be granted")]
    Scope(#[from] ScopeError),
    /// The command has no program.
    #[error("the command does not name a program")]
    NoProgram,
    /// It is not a request that the host sends.
    #[error("{0}")]
    Request(String),
}

impl Confirmation {
    /// Returns what the call may touch besides reading once it is approved: what is named here, and the tool's own
    /// state if it needs that. `needs` is what the tool's manifest requests.
    ///
    /// # Errors
    ///
    /// If something that is named cannot be a grant.
    pub fn touches(&self, needs: &Grants, workspace: &Workspace) -> Result<Grants, TouchError> {
        let besides = match self {
            Self::Exec { argv, .. } => Grants::none().with(Scope::for_command(argv).ok_or(TouchError::NoProgram)?),
            Self::Edit { path, .. } => Grants::none().with(file(path, workspace)?),
            Self::Info { requests, writes, .. } => {
                let files = writes.iter().map(|path| file(path, workspace));
                let requests = requests.iter().map(|(method, url)| request(method, url));
                files.chain(requests).collect::<Result<_, _>>()?
            }
            Self::Edits { changes } => {
                changes.iter().map(|change| file(&change.path, workspace)).collect::<Result<_, _>>()?
            }
            Self::Mcp { .. } | Self::Call => needs.clone(),
        };
        let own_state = needs.scope(Capability::State).cloned();
        let all = own_state.into_iter().fold(besides, Grants::with).meet(needs);
        // An approval of a change does not allow reading more.
        Ok(all.iter().filter(|scope| scope.capability() != Capability::FsRead).cloned().collect())
    }
}

fn file(path: &str, workspace: &Workspace) -> Result<Scope, TouchError> {
    let absolute = workspace.absolute(path)?;
    let real = resolved(&absolute);
    if real != absolute {
        return Err(TouchError::Link { path: PathBuf::from(workspace.shown(&absolute)), real });
    }
    // The name may belong to a folder, now or later.
    Ok(Scope::for_file(Capability::FsWrite, &absolute)?)
}

/// Returns the path with the links in its folders resolved; the part that does not exist yet is kept as written.
fn resolved(path: &Path) -> PathBuf {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    match std::fs::canonicalize(folder) {
        Ok(folder) => folder.join(name),
        Err(_) => resolved(folder).join(name),
    }
}

fn request(method: &str, url: &str) -> Result<Scope, TouchError> {
    let authority = origin::authority(url).map_err(TouchError::Request)?;
    Ok(Scope::for_request(method, &authority)?)
}

#[cfg(test)]
mod tests {
    use host_capability::PluginName;

    use super::*;
    use crate::answer::FileChange;

    fn needs() -> Grants {
        let scope = |(capability, text): (Capability, &str)| Scope::parse_absolute(capability, text).expect("a scope");
        let all = [
            (Capability::FsRead, "/"),
            (Capability::FsWrite, "/"),
            (Capability::Process, "*"),
            (Capability::Http, "* *:* +private"),
            (Capability::State, "write"),
        ];
        all.into_iter().map(scope).collect()
    }

    fn touches(confirmation: &Confirmation, needs: &Grants) -> Result<String, String> {
        let workspace = Workspace::new(PathBuf::from("/no/such/folder"));
        confirmation.touches(needs, &workspace).map(|grants| grants.to_string()).map_err(|error| error.to_string())
    }

    fn exec(argv: &[&str]) -> Confirmation {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Confirmation::Exec { argv, directory: ".".to_owned(), input: None, ground: crate::Ground::Call }
    }

    fn edit(path: &str) -> Confirmation {
        Confirmation::Edit { path: path.to_owned(), unified: String::new(), proposed: String::new() }
    }

    fn info(requests: &[(&str, &str)], writes: &[&str]) -> Confirmation {
        Confirmation::Info {
            text: String::new(),
            requests: requests.iter().map(|(method, url)| ((*method).to_owned(), (*url).to_owned())).collect(),
            writes: writes.iter().map(|path| (*path).to_owned()).collect(),
        }
    }

    // promise approval.exact: A yes covers the command, file or request that was shown, and ends with the call.
    #[test]
    fn a_yes_grants_what_was_shown_and_no_more() {
        let check = |confirmation: &Confirmation, besides: &str| {
            let got = touches(confirmation, &needs()).expect("it can be granted");
            assert_eq!(got, format!("{besides}state=write"));
        };
        check(&exec(&["sh", "-c", "ls | wc"]), "process=sh -c 'ls | wc' $ ");
        check(&exec(&["git", "status"]), "process=git status $ ");
        check(&edit("src/../a b"), "fs-write='/no/such/folder/a b',!'/no/such/folder/a b/*' ");
        check(&edit("/etc/x"), "fs-write=/etc/x,!'/etc/x/*' ");
        check(&info(&[("GET", "https://example.com/a"), ("POST", "http://[::1]:8/")], &["f"]), {
            "fs-write=/no/such/folder/f,!'/no/such/folder/f/*' http=POST [::1]:8,GET example.com:443 -private "
        });
        let change = |path: &str, proposed| FileChange { path: path.to_owned(), unified: String::new(), proposed };
        let edits = Confirmation::Edits { changes: vec![change("a", Some(String::new())), change("b", None)] };
        check(&edits, {
            "fs-write=/no/such/folder/a,!'/no/such/folder/a/*';/no/such/folder/b,!'/no/such/folder/b/*' "
        });
        check(&info(&[], &[]), "");
        check(&Confirmation::Call, "fs-write=/ process=* http=* *:* +private ");
    }

    // promise preview.file: A grant for a named file covers nothing beneath it, even if it is or becomes a folder.
    #[test]
    fn a_folder_that_was_named_as_a_file_covers_nothing_in_it() {
        let plugin = PluginName::new("x");
        for name in ["f", "a b", "a*", "a[b]", "{a,b}", "a\\b", "a'b", "a\"b", "!a", "a,b", "a;b", "é", "~", "$"] {
            let path = format!("/w/{name}");
            let granted = edit(&path).touches(&needs(), &Workspace::new("/w".into())).expect("it can be granted");
            let permitted = |path: &str| granted.permit_write(&plugin, Path::new(path)).is_ok();
            assert!(permitted(&path), "{granted}");
            // As a rule made by a lasting answer is read back from its file.
            let scope = granted.scope(Capability::FsWrite).expect("it is granted");
            let read = Scope::parse_absolute(Capability::FsWrite, &scope.to_string());
            assert_eq!(read.as_ref(), Ok(scope), "{granted}");
            for other in ["/x", "/x/y", "/.git/config"] {
                assert!(!permitted(&format!("{path}{other}")), "{granted}");
            }
            for other in ["/w/b", "/w/a", "/w/ab", "/w/axb", "/w"] {
                assert!(!permitted(other), "{granted}");
            }
        }
        let everything = edit("/").touches(&needs(), &Workspace::new("/w".into()));
        assert!(everything.is_err() || everything.is_ok_and(|all| all.permit_write(&plugin, Path::new("/x")).is_err()));
    }

    // promise approval.exact
    #[test]
    fn touches_exclude_what_the_tool_does_not_request() {
        let reads = needs().reading();
        for confirmation in [exec(&["rm"]), edit("x"), info(&[("GET", "https://a/")], &["x"]), Confirmation::Call] {
            assert_eq!(touches(&confirmation, &reads).as_deref(), Ok("state=read"), "{confirmation:?}");
        }
        assert_eq!(touches(&Confirmation::Call, &Grants::none()).as_deref(), Ok("nothing"));
    }

    #[test]
    fn touches_that_cannot_be_granted_are_reported() {
        for (confirmation, words) in [
            (exec(&[]), "the command does not name a program"),
            (exec(&[""]), "the command does not name a program"),
            (edit("a\nb"), "this cannot be granted"),
            (edit("../../../../x"), "leads above `/`"),
            (info(&[("GET", "file:///etc/passwd")], &[]), "neither http nor https"),
            (info(&[("GET,*", "https://a/")], &[]), "this cannot be granted"),
        ] {
            let error = touches(&confirmation, &needs()).expect_err("it is refused");
            assert!(error.contains(words), "{error}");
        }
    }

    // promise approval.links: A question names the real path of a file that a symbolic link leads to.
    #[test]
    fn a_file_behind_a_link_is_named_by_its_real_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("it is there");
        std::fs::create_dir(root.join("real")).expect("made");
        std::os::unix::fs::symlink("real", root.join("link")).expect("made");
        let workspace = Workspace::new(root.clone());
        let error = edit("link/deep/f").touches(&needs(), &workspace).expect_err("it is a link");
        assert_eq!(error, TouchError::Link { path: "link/deep/f".into(), real: root.join("real/deep/f") });
        assert!(edit("real/deep/f").touches(&needs(), &workspace).is_ok());
    }
}
