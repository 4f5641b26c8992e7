//! Recognises failures that a program's confinement caused, and says what would allow it.
//!
//! A program only sees an error of the system, and prints it in its own words. A line that is not recognised, or only
//! looks like one of these, costs the user a hint and nothing else: it is said that the program was confined, not that
//! this is why it failed.

use std::path::Path;

use host_capability::Resources;
use host_process::{Moved, MovedTo};
use host_programs::{Offer, ProgramAccess};
use host_text::{Advice, Flag, Wording};

/// How much of the end of a program's errors is looked at, in bytes.
pub(super) const LOOKED_AT: usize = 16 << 10;

/// The longest path that is shown.
const LONGEST: usize = 200;

/// The most files that one failure names.
const MOST: usize = 8;

/// Messages about files, in lower case, and whether the file was certainly to be changed.
const FILES: &[(&str, bool)] = &[
    ("read-only file system", true),
    ("erofs", true),
    ("permission denied", false),
    ("operation not permitted", false),
    ("eacces", false),
    ("eperm", false),
];

/// What git says of a folder that is not there for it, in lower case.
const NO_REPOSITORY: &str = "does not appear to be a git repository";

/// Messages of programs that need what is nowhere behind the walls, in lower case: the user's keys for signing, a
/// service of the machine, a screen.
const MACHINE: &[&str] = &[
    "gpg failed to sign",
    "gpg: signing failed",
    "gpg: decryption failed",
    "docker daemon",
    "docker.sock",
    "podman.sock",
    "failed to connect to bus",
    "cannot open display",
    "missing x server or $display",
];

/// Messages about the network, in lower case.
const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "enetunreach",
    "dns error",
    "no such host",
];

/// Explains what was moved from where a program may make nothing.
pub(super) fn moved(moved: &Moved) -> String {
    let shown = |path: &Path| host_text::exact(&path.display().to_string()).to_string();
    let from = shown(&moved.from);
    match &moved.to {
        MovedTo::Aside(to) => format!("a confined program may not make `{from}`: it is now `{}`", shown(to)),
        MovedTo::Removed => {
            format!("a confined program may not make `{from}`, and it could not be moved: it was removed")
        }
        MovedTo::Left(error) => {
            format!("a confined program may not make `{from}`, and it could not be moved ({error}): remove it")
        }
    }
}

/// A file that a failed program may have been kept from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File<'e> {
    path: &'e str,
    /// Whether it was certainly to be changed.
    changes: bool,
}

/// Returns the files that a failed program may have been kept from.
pub(super) fn files(errors: &str) -> Vec<File<'_>> {
    let mut found = Vec::new();
    for line in errors.lines() {
        let lower = line.to_lowercase();
        let known = FILES.iter().find(|(message, _)| lower.contains(message)).map(|(_, changes)| *changes);
        let Some(changes) = known.or(lower.contains(NO_REPOSITORY).then_some(false)) else { continue };
        let Some(path) = path(line) else { continue };
        // Of a folder that is there, git says so where it may not look; `own_tmp` knows why one in `/tmp` is missing.
        if known.is_none() && (path.starts_with("/tmp/") || !Path::new(path).is_dir()) {
            continue;
        }
        let file = File { path, changes };
        if found.len() < MOST && !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

impl<'e> File<'e> {
    /// Its path, as the program named it.
    pub(super) fn path(&self) -> &'e Path {
        Path::new(self.path)
    }

    /// Returns what the user could grant so that the program may use it, if that can be asked about.
    pub(super) fn offer(&self, programs: &ProgramAccess) -> Option<Offer> {
        programs.offer(Path::new(self.path), self.changes)
    }

    /// Says what would allow it.
    pub(super) fn line(&self, plugin: &str, program: &str, offer: Option<&Offer>, wording: Wording) -> String {
        let key = if self.changes { "writable" } else { "readable` or `writable" };
        let grant = offer.and_then(|offer| {
            let resource = match offer {
                Offer::Read(path) => Resources { reads: vec![path.clone()], ..Resources::default() },
                Offer::Write(path) => Resources { writes: vec![path.clone()], ..Resources::default() },
            };
            // Quotes would end those around the grant.
            Some(format!("{plugin}:process={program}{resource}")).filter(|grant| !grant.contains('\''))
        });
        let confined =
            Advice::from(format!("this program is confined: if it needs `{}`, ", host_text::exact(self.path)));
        let confined = match grant {
            Some(grant) => confined.text("add ").flag_with(Flag::Grant, format!("'{grant}'")).text(", or "),
            None => confined,
        };
        wording.of(&confined.text(format!("add that to `{key}` of [confine] in your configuration")))
    }

    /// Says what would allow it to an MCP server.
    pub(super) fn line_of_server(&self, server: &str) -> String {
        let path = host_text::exact(self.path);
        let key = if self.changes { format!("`write = [\"{path}\"]`") } else { format!("`read = [\"{path}\"]`") };
        format!("this program is confined: if it needs `{path}`, add {key} to [mcp.{server}]")
    }
}

/// Messages about a file that is not there, in lower case.
const MISSING: &[&str] = &["no such file", "not found", "does not exist", "does not appear to be", "cannot find"];

/// Returns a line if a failed program was to use a file of the user's `/tmp`, which it does not see. `sees` says which
/// paths there it does.
pub(super) fn own_tmp(argv: &[String], errors: &str, sees: impl Fn(&Path) -> bool) -> Option<String> {
    let lower = errors.to_lowercase();
    if !MISSING.iter().any(|message| lower.contains(message)) {
        return None;
    }
    let is_hidden = |path: &&str| path.starts_with("/tmp/") && !sees(Path::new(path));
    let path = words(argv, errors).filter(is_hidden).find(|path| Path::new(path).symlink_metadata().is_ok())?;
    Some(format!(
        "this program has a `/tmp` of its own, and `{}` is not in it: use a folder of the workspace, or add that to \
         `readable` of [confine] in your configuration",
        host_text::exact(path)
    ))
}

/// Returns a line if a failed program needs what no door in its walls leads to, so that only running it without them
/// helps.
pub(super) fn machine(errors: &str) -> Option<String> {
    let lower = errors.to_lowercase();
    let folder = || lower.contains(NO_REPOSITORY) && !files(errors).is_empty();
    (MACHINE.iter().any(|message| lower.contains(message)) || folder()).then(|| {
        "this needs something of the machine that is not behind the walls: run the same command again, and the user, if \
         there is one, is asked whether it may run without them"
            .to_owned()
    })
}

/// Messages about a file that is hidden, in lower case.
const HIDDEN: &[&str] = &["permission denied", "eacces", "no such device or address", "enxio"];

/// Returns a line if a program that failed in this folder was to use a file that the user keeps from programs, as
/// `hides` says.
pub(super) fn kept(argv: &[String], errors: &str, folder: &Path, hides: impl Fn(&Path) -> bool) -> Option<String> {
    let lower = errors.to_lowercase();
    if !HIDDEN.iter().any(|message| lower.contains(message)) {
        return None;
    }
    let is_kept = |path: &&str| hides(&folder.join(path)) && folder.join(path).symlink_metadata().is_ok();
    let path = words(argv, errors).find(is_kept)?;
    Some(format!("the user keeps `{}` from all programs and tools (`host policy list`)", host_text::exact(path)))
}

/// Returns what can be paths in a command and in the errors of its program.
fn words<'t>(argv: &'t [String], errors: &'t str) -> impl Iterator<Item = &'t str> {
    let texts = argv.iter().map(String::as_str).chain(errors.lines());
    let words = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || "'\"`:,;()<>=".contains(c)));
    words.filter(|word| !word.is_empty() && word.len() <= LONGEST)
}

/// Messages of ssh, in lower case.
const UNKNOWN_KEY: &str = "host key verification failed";
const NO_KEY: &str = "permission denied (";

/// Returns a line if ssh failed; `ran` says whether it was the user's own, outside of the walls.
pub(super) fn ssh(errors: &str, ran: bool) -> Option<String> {
    let lower = errors.to_lowercase();
    if ran && lower.contains(UNKNOWN_KEY) {
        return Some(
            "ssh does not know the key of this server: run `ssh HOST` once yourself, and compare the key that it shows"
                .to_owned(),
        );
    }
    if ran && lower.contains(NO_KEY) {
        return Some("ssh asks for no passphrase here: add your key to the agent with `ssh-add`".to_owned());
    }
    let failed = |line: &str| line.starts_with("ssh: ") && (names_network(line) || line.starts_with("ssh: connect "));
    (!ran && lower.lines().any(failed)).then(|| {
        "this program is confined, and ssh does not reach a server from there: only git does, through the ssh that the \
         host starts for it, unless `core.sshCommand` of the repository, `GIT_SSH_COMMAND` or `GIT_SSH` names another; \
         `host doctor` says whether this machine can do that"
            .to_owned()
    })
}

/// Whether a program's errors are about reaching a server.
pub(super) fn names_network(errors: &str) -> bool {
    let lower = errors.to_lowercase();
    NETWORK.iter().any(|message| lower.contains(message))
}

/// Returns a line if a failed program may have been kept from a server without asking the proxy for it.
pub(super) fn network(plugin: &str, program: &str, errors: &str, wording: Wording) -> Option<String> {
    names_network(errors).then(|| {
        let confined = Advice::from("this program is confined and reaches only granted servers; to allow one, add ");
        wording.of(&confined.flag_with(Flag::Grant, format!("'{plugin}:process={program};net=HOST'")))
    })
}

/// Returns the first absolute path in a line, but for that of the program which prints it.
fn path(line: &str) -> Option<&str> {
    let Some((first, behind)) = line.split_once(": ").filter(|(first, _)| first.starts_with('/')) else {
        return first_path(line);
    };
    // In `/home/a/run.sh: 3: cannot create log: …` the script is what prints it, and the file has a relative name. Only
    // right before the message a path is what the message is about.
    let is_file = || {
        let behind = behind.trim_start().to_lowercase();
        FILES.iter().any(|(message, _)| behind.starts_with(message))
    };
    first_path(behind).or_else(|| first_path(first).filter(|_| is_file()))
}

fn first_path(line: &str) -> Option<&str> {
    let starts = line.char_indices().filter(|(_, c)| *c == '/').map(|(at, _)| at);
    let begins_word =
        |at: &usize| line[..*at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"/._~-".contains(c));
    let start = starts.into_iter().find(begins_word)?;
    let path = &line[start..];
    let end = path.find(|c: char| c.is_whitespace() || "'\"`:,;()<>".contains(c)).unwrap_or(path.len());
    let path = path[..end].trim_end_matches('.');
    (path.len() > 1 && path.len() <= LONGEST).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_machine_has_is_recognised() {
        for (errors, is_it) in [
            ("gpg: signing failed: Permission denied\nerror: gpg failed to sign the data", true),
            (
                "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
                true,
            ),
            ("qt.qpa.xcb: Cannot open display: :0", true),
            ("fatal: '/var' does not appear to be a git repository", true),
            ("fatal: '/var/none.git' does not appear to be a git repository", false),
            ("cat: x: Permission denied", false),
            ("", false),
        ] {
            assert_eq!(machine(errors).is_some(), is_it, "{errors}");
        }
    }

    #[test]
    fn what_is_offered_is_named_as_a_grant() {
        let file = File { path: "/home/a/.cache/x/new", changes: true };
        let line = |offer: Option<Offer>| file.line("shell", "make", offer.as_ref(), Wording::default());
        let begin = "this program is confined: if it needs `/home/a/.cache/x/new`, ";
        let end = "add that to `writable` of [confine] in your configuration";
        assert_eq!(line(None), format!("{begin}{end}"));
        let write = Offer::Write("/home/a/.cache/x".into());
        let grant = "add --grant 'shell:process=make;write=/home/a/.cache/x', or ";
        assert_eq!(line(Some(write)), format!("{begin}{grant}{end}"));
        assert_eq!(line(Some(Offer::Read("/home/a b".into()))), format!("{begin}{end}"));
    }

    #[test]
    fn file_of_the_users_tmp_is_recognised_where_a_program_does_not_see_it() {
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let path = folder.path().display().to_string();
        let argv = |line: String| ["sh", "-c", &line].map(str::to_owned);
        let line = |line: String, errors: &str, sees: bool| own_tmp(&argv(line), errors, |_| sees);
        let push = || format!("git push '{path}/../{}' main", folder.path().file_name().expect("a name").display());
        let missing = "fatal: '/x' does not appear to be a git repository";
        let said = line(format!("git push {path} main"), missing, false).expect("it is there");
        assert!(
            said.starts_with(&format!("this program has a `/tmp` of its own, and `{path}` is not in it: ")),
            "{said}"
        );
        assert!(line(push(), missing, false).is_some(), "any path to it");
        assert_eq!(line(format!("git push {path} main"), missing, true), None, "it is seen");
        assert_eq!(line(format!("git push {path} main"), "rejected", false), None, "something else failed");
        assert_eq!(line(format!("git push {path}-none main"), missing, false), None, "it is nowhere");
        let printed = format!("ls: cannot access '{path}': No such file or directory");
        assert!(line("./list".to_owned(), &printed, false).is_some(), "the program names it");
    }

    #[test]
    fn confinement_is_recognised_in_what_programs_print() {
        let files = |changes: bool, path: &'static str| vec![File { path, changes }];
        let either = false;
        for (errors, expected) in [
            ("cat: /root/.ssh/id: Permission denied\n", files(either, "/root/.ssh/id")),
            ("touch: cannot touch '/root/new': Read-only file system\n", files(true, "/root/new")),
            (
                "error: failed to open: /root/.cargo/registry/x.crate\n\nCaused by:\n  Read-only file system (os error 30)",
                vec![],
            ),
            ("PermissionError: [Errno 13] Permission denied: '/home/a/.config/x'", files(either, "/home/a/.config/x")),
            ("Error: EACCES: permission denied, mkdir '/home/a/.npm/_logs'", files(either, "/home/a/.npm/_logs")),
            ("open /root/.cache/go-build/x: read-only file system", files(true, "/root/.cache/go-build/x")),
            ("sh: 1: ./run: Permission denied", vec![]),
            ("/usr/bin/dash: 0: cannot open /root/run: Permission denied", files(either, "/root/run")),
            ("/root/run: Permission denied", files(either, "/root/run")),
            ("/root/run: Read-only file system", files(true, "/root/run")),
            ("/root/run.sh: 3: cannot create log.txt: Read-only file system", vec![]),
            ("/root/run.sh: line 3: ./log.txt: Permission denied", vec![]),
            ("/root/run.sh: 3: cannot create /root/log.txt: Read-only file system", files(true, "/root/log.txt")),
            ("all is well in /root", vec![]),
            ("fatal: '/var' does not appear to be a git repository", files(either, "/var")),
            ("fatal: '/var/none.git' does not appear to be a git repository", vec![]),
            ("fatal: '/tmp/none.git' does not appear to be a git repository", vec![]),
            ("fatal: 'origin' does not appear to be a git repository", vec![]),
        ] {
            assert_eq!(super::files(errors), expected, "{errors}");
            assert_eq!(network("shell", "x", errors, Wording::default()), None, "{errors}");
        }
        for errors in [
            "curl: (6) Could not resolve host: example.com",
            "curl: (7) Failed to connect to 192.0.2.1 port 80: Network is unreachable",
            "npm error code EAI_AGAIN",
            "go: dial tcp: lookup proxy.golang.org: Temporary failure in name resolution",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        ] {
            let found = network("shell", "npm", errors, Wording::default()).expect("it is recognised");
            assert!(found.ends_with("add --grant 'shell:process=npm;net=HOST'"), "{found:?}");
            assert_eq!(ssh(errors, false), None, "{errors}");
        }
    }

    #[test]
    fn failures_of_ssh_are_explained_by_where_it_ran() {
        let unresolved = "ssh: Could not resolve hostname example.org: Temporary failure in name resolution\nfatal: x";
        let inside = ssh(unresolved, false).expect("it is recognised");
        assert!(inside.contains("`core.sshCommand`") && !inside.contains("--grant"), "{inside}");
        assert_eq!(ssh(unresolved, true), None, "it was outside, and the walls are not why");
        let known = |errors: &str| ssh(errors, true).expect("it is recognised");
        assert!(known("Host key verification failed.\n").contains("run `ssh HOST` once"));
        assert!(known("git@example.org: Permission denied (publickey).").contains("`ssh-add`"));
        assert_eq!(ssh("rm: cannot remove 'x': Permission denied", true), None);
    }
}
