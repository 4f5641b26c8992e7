//! The shell that runs lines.
//!
//! A line is read before it runs, by a grammar that knows where dash and bash differ. What `sh` is depends on the
//! machine and on `PATH`: zsh, ksh and others read some lines otherwise. So the shell is chosen by name, from the
//! system's folders.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The shells that read a line as it was read before: each is dash or bash, or BusyBox's shell, which is a descendant
/// of the same `ash` as dash.
const KNOWN: [&str; 3] = ["dash", "bash", "busybox"];

/// The system's folders, where no project and no user puts a program.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/run/current-system/sw/bin"];

/// A shell that runs lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// The file of the program.
    pub program: PathBuf,
    /// The arguments that make it a shell, before those of `sh`.
    pub arguments: Vec<OsString>,
}

/// Returns the shell of this machine that runs lines, `None` if it has neither dash, bash nor BusyBox. What `/bin/sh`
/// is goes first, so that lines behave as they do in the machine's own scripts. Looks once.
pub fn shell() -> Option<&'static Shell> {
    static SHELL: OnceLock<Option<Shell>> = OnceLock::new();
    SHELL.get_or_init(|| find(Path::new("/"))).as_ref()
}

fn find(root: &Path) -> Option<Shell> {
    let beneath = |path: &str| root.join(path.trim_start_matches('/'));
    let known = |path: &Path| path.file_name().and_then(|name| KNOWN.into_iter().find(|known| name == *known));
    let of_system = beneath("/bin/sh").canonicalize().ok().filter(|path| known(path).is_some());
    let named = || {
        let paths = KNOWN.iter().flat_map(|name| FOLDERS.iter().map(move |folder| format!("{folder}/{name}")));
        paths.map(|path| beneath(&path)).find(|path| path.is_file())
    };
    let program = of_system.or_else(named)?;
    let arguments = if known(&program) == Some("busybox") { vec!["sh".into()] } else { Vec::new() };
    Some(Shell { program, arguments })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// What is found in a machine with these programs, the last of which is what `/bin/sh` links to.
    fn found(programs: &[&str], sh: Option<&str>) -> Option<(String, usize)> {
        let root = tempfile::tempdir().expect("a folder");
        for program in programs.iter().chain(&sh) {
            let path = root.path().join(program.trim_start_matches('/'));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a program");
        }
        fs::create_dir_all(root.path().join("bin")).expect("a folder");
        if let Some(sh) = sh {
            symlink(root.path().join(sh.trim_start_matches('/')), root.path().join("bin/sh")).expect("a link");
        }
        let shell = find(&root.path().canonicalize().expect("a path"))?;
        let name = shell.program.file_name().expect("a name").to_string_lossy().into_owned();
        Some((name, shell.arguments.len()))
    }

    #[test]
    fn shell_is_one_that_reads_lines_as_they_were_read() {
        let is = |name: &str, arguments: usize| Some((name.to_owned(), arguments));
        assert_eq!(found(&["/bin/bash"], Some("/usr/bin/dash")), is("dash", 0));
        assert_eq!(found(&["/bin/dash"], Some("/bin/bash")), is("bash", 0));
        assert_eq!(found(&[], Some("/bin/busybox")), is("busybox", 1));
        assert_eq!(found(&["/bin/bash"], Some("/bin/zsh")), is("bash", 0));
        assert_eq!(found(&["/bin/bash", "/usr/bin/dash"], Some("/bin/mksh")), is("dash", 0));
        assert_eq!(found(&["/run/current-system/sw/bin/bash"], None), is("bash", 0));
        assert_eq!(found(&["/opt/bin/bash"], Some("/bin/zsh")), None);
        assert!(shell().is_some_and(|shell| shell.program.is_absolute()), "this machine has none");
    }
}
