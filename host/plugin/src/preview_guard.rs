//! Compares what a call does with what its preview named.
//!
//! Promises: a call whose preview named a command, a file or requests runs that command in that folder, writes that
//! content to that file in place of the one that the preview compared it with, sends those requests, and changes
//! nothing else, however much is granted to its plugin: the rules or the user decided about what was named. Anything
//! that a preview cannot name, such as a program's variables, is not available to such a call; an input is available
//! only if the host named it, and only that one.
//!
//! Reading, the plugin's own state and the grants are not checked here: each use needs a permit too.

use std::path::Path;
use std::sync::Arc;

use host_capability::Capability;

use crate::answer::{Confirmation, Ground, command_line};
use crate::bindings::cap_types::Denial;
use crate::bindings::process::Command;
use crate::difference;
use crate::origin;
use crate::workspace::Workspace;

/// The longest text of a command or an address in a denial, in characters. Protects the model's context.
const WANTED: usize = 200;

/// What the preview of a call named; by default nothing, so that only its grants bind the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreviewGuard(Option<Arc<Confirmation>>);

/// The kind of change to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A file gets new content, which [`PreviewGuard::content`] checks.
    Content,
    /// It is removed, renamed, or created as a folder.
    Name,
}

impl PreviewGuard {
    /// Creates a guard for this preview.
    pub(crate) fn new(confirmation: Option<Arc<Confirmation>>) -> Self {
        // These two name nothing that the guest chooses: the grants bind the call.
        Self(
            confirmation
                .filter(|confirmation| !matches!(**confirmation, Confirmation::Call | Confirmation::Mcp { .. })),
        )
    }

    /// Checks that the program was named with these arguments, this folder and this input, and gets nothing else; and
    /// that it goes on after the call, or on a terminal, only if that was announced.
    pub(crate) fn command(&self, command: &Command, ground: Ground, workspace: &Workspace) -> Result<(), Denial> {
        let refused = |what: &str| Err(denial(Capability::Process, &command_line(&command.argv), what));
        // No preview, no promise to keep: the rules decided about the whole request.
        let Some(shown) = self.0.as_deref() else {
            return match ground {
                Ground::Call => Ok(()),
                Ground::Background => refused("that it goes on in the background"),
                Ground::Terminal => refused("that it goes on in a terminal"),
            };
        };
        // A call that showed a diff runs no program, whatever its plugin is granted.
        let Confirmation::Exec { argv, directory, input, ground: named } = shown else {
            return refused("that it runs this command");
        };
        // Said each way: a program that ends with the call, one that goes on, and one into which later calls type, were
        // different questions.
        if *named != ground {
            return refused(match (named, ground) {
                (_, Ground::Terminal) => "that it goes on in a terminal",
                (Ground::Terminal, _) => "this command, but one in a terminal",
                (_, Ground::Background) => "that it goes on in the background",
                (_, Ground::Call) => "this command, but one in the background",
            });
        }
        if *argv != command.argv {
            return refused("this command");
        }
        // Compared as folders and not as words: `.` and the full path are one.
        if workspace.absolute(directory) != workspace.absolute(&command.directory) {
            return refused(&format!("the folder `{}` for it", host_text::exact(&command.directory)));
        }
        // Only the host names an input, so a guest can give no other.
        if command.stdin.as_deref() != input.as_deref().map(str::as_bytes) {
            return refused("this input for it");
        }
        if !command.environment.is_empty() {
            return refused("variables for it, which no preview can show");
        }
        Ok(())
    }

    /// Checks that the preview named this change of the path, which is absolute.
    pub(crate) fn change(&self, path: &Path, change: Change, workspace: &Workspace) -> Result<(), Denial> {
        let Some(shown) = self.0.as_deref() else { return Ok(()) };
        let is_it = |named: &String| is_path(named, path, workspace);
        let (named, what) = match shown {
            Confirmation::Edit { path, .. } if is_it(path) => (change == Change::Content, "to do this to it"),
            Confirmation::Edits { changes } => match changes.iter().find(|change| is_it(&change.path)) {
                Some(named) => (named.proposed.is_some() == (change == Change::Content), "to do this to it"),
                None => (false, "this file"),
            },
            Confirmation::Info { writes, .. } => (writes.iter().any(is_it), "this file"),
            Confirmation::Edit { .. } | Confirmation::Exec { .. } | Confirmation::Mcp { .. } | Confirmation::Call => {
                (false, "this file")
            }
        };
        if named { Ok(()) } else { Err(denial(Capability::FsWrite, &workspace.shown(path), what)) }
    }

    /// Checks that the content of a file that was named is what was shown.
    pub(crate) fn content(&self, path: &Path, content: &[u8], workspace: &Workspace) -> Result<(), Denial> {
        let shown = match self.0.as_deref() {
            Some(Confirmation::Edit { proposed, .. }) => Some(proposed),
            Some(Confirmation::Edits { changes }) => {
                changes.iter().find(|change| is_path(&change.path, path, workspace)).and_then(|it| it.proposed.as_ref())
            }
            Some(
                Confirmation::Exec { .. } | Confirmation::Info { .. } | Confirmation::Mcp { .. } | Confirmation::Call,
            )
            | None => return Ok(()),
        };
        if shown.is_some_and(|proposed| proposed.as_bytes() == content) {
            return Ok(());
        }
        Err(denial(Capability::FsWrite, &workspace.shown(path), "this content of it"))
    }

    /// Whether the diff that was shown is one of the file at the path as it is now: `there`, or `None` for nothing.
    pub(crate) fn replaces(&self, path: &Path, there: Option<&[u8]>, workspace: &Workspace) -> bool {
        match self.0.as_deref() {
            Some(Confirmation::Edit { path, unified, proposed }) => {
                difference::still_applies(path, unified, there, proposed)
            }
            Some(Confirmation::Edits { changes }) => {
                changes.iter().find(|change| is_path(&change.path, path, workspace)).is_some_and(|change| {
                    let proposed = change.proposed.as_deref().unwrap_or("");
                    difference::still_applies(&change.path, &change.unified, there, proposed)
                })
            }
            Some(
                Confirmation::Exec { .. } | Confirmation::Info { .. } | Confirmation::Mcp { .. } | Confirmation::Call,
            )
            | None => true,
        }
    }

    /// Checks that the request was named. The targets of redirects are not checked here: the guest did not choose them.
    pub(crate) fn request(&self, method: &str, url: &str) -> Result<(), Denial> {
        let Some(shown) = self.0.as_deref() else { return Ok(()) };
        let named = match shown {
            Confirmation::Info { requests, .. } => {
                requests.iter().any(|(known, address)| known == method && origin::same_request(address, url))
            }
            Confirmation::Exec { .. } | Confirmation::Edit { .. } | Confirmation::Edits { .. } => false,
            Confirmation::Mcp { .. } | Confirmation::Call => false,
        };
        if named { Ok(()) } else { Err(denial(Capability::Http, &format!("{method} {url}"), "this request")) }
    }
}

/// Whether a path that a preview named is this absolute one.
fn is_path(named: &str, path: &Path, workspace: &Workspace) -> bool {
    workspace.absolute(named).is_ok_and(|named| named == path)
}

fn denial(capability: Capability, wanted: &str, what: &str) -> Denial {
    let wanted: String = host_text::excerpt(wanted, WANTED);
    let help = format!(
        "`{wanted}`: the preview of this call did not name {what}, and a call can change only what its preview named; if a file was changed in the meantime, make the call again"
    );
    Denial { capability: capability.name().to_owned(), wanted, help }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::answer::FileChange;

    fn workspace() -> Workspace {
        Workspace::new(PathBuf::from("/w"))
    }

    fn shown(confirmation: Confirmation) -> PreviewGuard {
        PreviewGuard::new(Some(Arc::new(confirmation)))
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn command(argv: &[&str], directory: &str) -> Command {
        Command {
            argv: words(argv),
            directory: directory.to_owned(),
            environment: Vec::new(),
            stdin: None,
            silence_limit: None,
        }
    }

    fn exec() -> PreviewGuard {
        shown(Confirmation::Exec {
            argv: words(&["git", "status"]),
            directory: "src".to_owned(),
            input: None,
            ground: Ground::Call,
        })
    }

    fn edit() -> PreviewGuard {
        shown(Confirmation::Edit { path: "./a/../f".to_owned(), unified: String::new(), proposed: "new".to_owned() })
    }

    fn info() -> PreviewGuard {
        shown(Confirmation::Info {
            text: String::new(),
            requests: vec![("GET".to_owned(), "https://example.com/a?b#c".to_owned())],
            writes: words(&["f", "/etc/g"]),
        })
    }

    #[test]
    fn a_command_runs_as_it_was_shown_or_not_at_all() {
        let check = |command: &Command| exec().command(command, Ground::Call, &workspace()).is_ok();
        for directory in ["src", "./src/", "x/../src", "/w/src"] {
            assert!(check(&command(&["git", "status"], directory)), "{directory}");
        }
        for argv in [&["git", "push", "-f"][..], &["git"], &["git", "status", ""], &["/usr/bin/git", "status"], &[]] {
            assert!(!check(&command(argv, "src")), "{argv:?}");
        }
        for directory in ["", ".", "src/x", "/src", "../w", "/etc"] {
            assert!(!check(&command(&["git", "status"], directory)), "{directory}");
        }
        let plain = command(&["git", "status"], "src");
        assert!(!check(&Command { stdin: Some(b"rm -rf .".to_vec()), ..plain.clone() }));
        assert!(!check(&Command { stdin: Some(Vec::new()), ..plain.clone() }));
        assert!(!check(&Command { environment: vec![("GIT_PAGER".to_owned(), "rm".to_owned())], ..plain }));
    }

    // promise background.asked: A program goes on after its call only if the preview that was decided about said so.
    #[test]
    fn a_command_goes_on_after_its_call_only_if_that_was_shown() {
        let all = [Ground::Call, Ground::Background, Ground::Terminal];
        let named = |ground| {
            let (argv, directory) = (words(&["serve"]), ".".to_owned());
            shown(Confirmation::Exec { argv, directory, input: None, ground })
        };
        let check =
            |guard: &PreviewGuard, ground| guard.command(&command(&["serve"], "."), ground, &workspace()).is_ok();
        for shown in all {
            for ground in all {
                assert_eq!(check(&named(shown), ground), shown == ground, "{shown:?} {ground:?}");
            }
        }
        for unnamed in [PreviewGuard::default(), shown(Confirmation::Call)] {
            let runs = all.map(|ground| check(&unnamed, ground));
            assert_eq!(runs, [true, false, false]);
        }
        for other in [edit(), info()] {
            assert!(all.iter().all(|ground| !check(&other, *ground)));
        }
    }

    // promise preview.command
    #[test]
    fn a_command_reads_the_input_that_was_shown_and_no_other() {
        let input = Some("{\"a\":1}".to_owned());
        let exec = shown(Confirmation::Exec {
            argv: words(&["tools", "a"]),
            directory: ".".to_owned(),
            input,
            ground: Ground::Call,
        });
        let check = |stdin: Option<&[u8]>| {
            let stdin = stdin.map(<[u8]>::to_vec);
            exec.command(&Command { stdin, ..command(&["tools", "a"], "") }, Ground::Call, &workspace()).is_ok()
        };
        assert!(check(Some(b"{\"a\":1}")));
        for other in [&b""[..], b"{\"a\": 1}", b"{\"a\":1}\n", b"{\"a\":2}", b"{}\0"] {
            assert!(!check(Some(other)), "{other:?}");
        }
        assert!(!check(None), "it would do something else without it");
    }

    #[test]
    fn a_file_gets_the_content_that_was_shown_and_nothing_else_is_done_to_it() {
        let change = |path: &str, change| edit().change(Path::new(path), change, &workspace()).is_ok();
        assert!(change("/w/f", Change::Content));
        assert!(!change("/w/f", Change::Name));
        for other in ["/w/F", "/w/f/x", "/w/a/f", "/w", "/f"] {
            assert!(!change(other, Change::Content), "{other}");
        }
        let content = |content: &[u8]| edit().content(Path::new("/w/f"), content, &workspace()).is_ok();
        assert!(content(b"new"));
        for other in [&b""[..], b"new\n", b"New", b"new\0"] {
            assert!(!content(other), "{other:?}");
        }
    }

    #[test]
    fn preview_guard_knows_a_file_that_changed_after_it_was_shown() {
        let shown = |unified: &str, proposed: &str| {
            shown(Confirmation::Edit {
                path: "f".to_owned(),
                unified: unified.to_owned(),
                proposed: proposed.to_owned(),
            })
        };
        let replaces =
            |guard: &PreviewGuard, there: Option<&[u8]>| guard.replaces(Path::new("/w/f"), there, &workspace());
        let edit = shown("--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n", "a\nx\nc\n");
        assert!(replaces(&edit, Some(b"a\nb\nc\n")));
        for other in
            [None, Some(&b""[..]), Some(b"a\nb\nd\n"), Some(b"a\nb\nc\nd\n"), Some(b"a\nx\nc\n"), Some(b"b\nb\nc\n")]
        {
            assert!(!replaces(&edit, other), "{other:?}");
        }
        let new = shown("--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+x\n", "x\n");
        assert!(replaces(&new, None) && replaces(&new, Some(b"")) && !replaces(&new, Some(b"written meanwhile\n")));
        // A plugin that may not read it shows that, and overwrites what is there.
        let unseen = shown("--- a/f (cannot be read)\n+++ b/f (cannot be read)\n@@ -0,0 +1,1 @@\n+x\n", "x\n");
        assert!(replaces(&unseen, None) && replaces(&unseen, Some(b"anything")));
        assert!(replaces(&info(), Some(b"anything")) && replaces(&PreviewGuard::default(), None));
    }

    #[test]
    fn preview_guard_of_several_files_allows_each_change_as_it_was_shown() {
        let change = |path: &str, unified: &str, proposed: Option<&str>| FileChange {
            path: path.to_owned(),
            unified: unified.to_owned(),
            proposed: proposed.map(str::to_owned),
        };
        let guard = shown(Confirmation::Edits {
            changes: vec![
                change("f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", Some("b\n")),
                change("sub/../g", "--- a/g\n+++ b/g\n@@ -1 +0,0 @@\n-old\n", None),
            ],
        });
        let (f, g, h) = (Path::new("/w/f"), Path::new("/w/g"), Path::new("/w/h"));
        for (path, change, allowed) in [
            (f, Change::Content, true),
            (f, Change::Name, false),
            (g, Change::Name, true),
            (g, Change::Content, false),
            (h, Change::Content, false),
            (h, Change::Name, false),
        ] {
            assert_eq!(guard.change(path, change, &workspace()).is_ok(), allowed, "{path:?} {change:?}");
        }
        let content = |path, content: &[u8]| guard.content(path, content, &workspace()).is_ok();
        assert!(content(f, b"b\n") && !content(f, b"c\n") && !content(g, b"b\n") && !content(h, b"b\n"));
        let replaces = |path, there: &[u8]| guard.replaces(path, Some(there), &workspace());
        assert!(replaces(f, b"a\n") && !replaces(f, b"x\n") && !replaces(h, b"a\n"));
        // What is removed is what was shown.
        assert!(replaces(g, b"old\n") && !replaces(g, b"old\nand new\n"));
        assert!(guard.request("GET", "https://example.org/").is_err());
    }

    #[test]
    fn files_and_requests_that_a_list_does_not_have_are_refused() {
        for (path, named) in [("/w/f", true), ("/etc/g", true), ("/w/etc/g", false), ("/w/f/x", false), ("/w", false)] {
            for way in [Change::Content, Change::Name] {
                assert_eq!(info().change(Path::new(path), way, &workspace()).is_ok(), named, "{path}");
            }
        }
        for (method, url, named) in [
            ("GET", "https://example.com/a?b#c", true),
            ("GET", "https://EXAMPLE.com:443/a?b", true),
            ("HEAD", "https://example.com/a?b", false),
            ("GET", "https://example.com/a?b&secret=x", false),
            ("GET", "https://example.com/", false),
            ("GET", "http://example.com/a?b", false),
            ("GET", "https://example.com.evil/a?b", false),
            ("GET", "https://example.com/%61?b", false),
            ("GET", "no address", false),
        ] {
            assert_eq!(info().request(method, url).is_ok(), named, "{method} {url}");
        }
    }

    #[test]
    fn preview_guard_allows_only_what_was_shown() {
        let (command, file) = (command(&["git", "status"], "."), Path::new("/w/f"));
        for other in [edit(), info()] {
            assert!(other.command(&command, Ground::Call, &workspace()).is_err());
        }
        for other in [exec(), edit()] {
            assert!(other.request("GET", "https://example.com/a?b").is_err());
        }
        assert!(exec().change(file, Change::Content, &workspace()).is_err());
        let nothing = shown(Confirmation::Info { text: String::new(), requests: Vec::new(), writes: Vec::new() });
        assert!(nothing.change(file, Change::Content, &workspace()).is_err());
    }

    #[test]
    fn preview_guard_leaves_a_call_without_a_preview_to_its_grants() {
        for all in [PreviewGuard::default(), shown(Confirmation::Call)] {
            assert!(all.command(&command(&["rm"], "/"), Ground::Call, &workspace()).is_ok());
            assert!(all.change(Path::new("/x"), Change::Name, &workspace()).is_ok());
            assert!(all.content(Path::new("/x"), b"x", &workspace()).is_ok());
            assert!(all.request("POST", "http://localhost/").is_ok());
        }
    }

    #[test]
    fn preview_guard_denial_names_what_was_not_shown_and_no_more_than_needed() {
        let long = command(&["git", &"\u{1b}".repeat(100_000)], "src");
        let refused = exec().command(&long, Ground::Call, &workspace()).expect_err("it was not shown");
        assert!(refused.help.contains("did not name this command"), "{}", refused.help);
        assert!(refused.help.len() < 4_000 && !refused.help.contains('\u{1b}'));
    }
}
