//! The denial of a check, with the grant that would have allowed the use.
//!
//! It is shown to three readers: the guest as an answer, the model as the reason why a call failed, and the user who
//! can grant. Text that a guest or a manifest wrote is escaped and cut; a suggestion is made only if it can be pasted
//! into a shell unchanged.

use host_text::{Advice, Flag, Wording};

use crate::list::quote;
use crate::visible::{is_plain, shell_word, visible};
use crate::{Capability, PluginName, Scope};

/// The servers that are suggested for a plugin that asks for all of them: those of `https` on the public internet.
pub const ANY_SERVER: &str = "*:443";

/// The grants of a plugin do not cover what it wants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{plugin}` {} `{wanted}`", lacks(*capability, held.is_some()))]
#[non_exhaustive]
pub struct Denied {
    /// The plugin that made the request.
    pub plugin: PluginName,
    /// The capability that it needs.
    pub capability: Capability,
    /// The object of the request: a path, a command, a server. Escaped, and cut to a limit.
    pub wanted: String,
    /// The scope that it has instead; `None` if it has no grant for the capability. Cut to a limit.
    pub held: Option<String>,
    /// How a user can allow it: small first letter, no full stop.
    pub help: Advice,
    /// Whether the grants that it has leave this out.
    pub(crate) is_excluded: bool,
}

impl Denied {
    /// The plugin requests a capability, as its manifest writes the scope, and has nothing of it.
    pub fn ungranted(plugin: &PluginName, capability: Capability, requested: &str) -> Self {
        Self::new(plugin, capability, requested, Some(requested), None)
    }

    /// The same for what a deny of the grant leaves out: no grant and no approval mode changes that.
    pub(crate) fn left_out(self) -> Self {
        let help = Advice::from("its grants exclude it, so remove the ")
            .flag(Flag::Deny)
            .text(", the `[deny]` entry (")
            .command("policy allow")
            .text(") or the `!` of a grant that does; host's own files always stay excluded");
        Self { help, is_excluded: true, ..self }
    }

    /// The same for what the plugin does not even ask for: no grant gives it.
    #[must_use]
    pub fn beyond(self, asked: &Scope) -> Self {
        let (asked, capability) = (visible(&held_text(asked)), self.capability);
        let help = format!("no grant allows it: `{}` asks for {capability} `{asked}` at most", self.plugin.as_str());
        Self { help: help.into(), ..self }
    }

    /// `naming` is the text of a scope that would cover what is wanted, if one can.
    pub(crate) fn new(
        plugin: &PluginName,
        capability: Capability,
        wanted: &str,
        naming: Option<&str>,
        held: Option<&Scope>,
    ) -> Self {
        // A guest wrote the words: a flag is suggested only if pasting it can do nothing else.
        let flag =
            naming.map(|scope| format!("{}:{capability}={scope}", plugin.as_str())).filter(|flag| is_plain(flag));
        let add = Advice::from("to allow it, add ");
        let grant = match flag {
            Some(flag) => add.flag_with(Flag::Grant, shell_word(&flag)),
            None => {
                add.flag_with(Flag::Grant, format!("{plugin}:{capability}=SCOPE")).text(" with a scope that covers it")
            }
        };
        let grant = match naming {
            // `*` alone is pasted and then denied again for any other port.
            Some(ANY_SERVER) if capability == Capability::Http => {
                grant.text(" (port 443 only; `*:*` means every port)")
            }
            Some(_) | None => grant,
        };
        let in_mode = |mode: &str| grant.clone().text(", or ").flag_with(Flag::ApprovalMode, mode);
        let help = match capability {
            // The plugin's own grant replaces that of the mode, and no mode reaches a private address.
            Capability::Http if held.is_some() || naming.is_some_and(names_a_private_host) => grant,
            Capability::FsWrite => in_mode("auto-edit").text(" for the workspace"),
            Capability::Process => in_mode("auto").text(", in which programs are confined"),
            Capability::Http => in_mode("yolo").text(" for public addresses"),
            Capability::State => in_mode("auto-edit"),
            Capability::FsRead | Capability::Tools => grant,
            Capability::Mcp => in_mode("yolo"),
        };
        Self {
            plugin: plugin.clone(),
            capability,
            wanted: visible(wanted),
            held: held.map(|scope| visible(&held_text(scope))),
            help,
            is_excluded: false,
        }
    }

    /// Returns the reason, for a line of its own: ``its http grants are `*.rust-lang.org:443` ``. `None` if it has no
    /// grants, or they exclude it.
    pub fn cause(&self) -> Option<String> {
        // What is excluded lies in what is granted, so that says nothing.
        let held = self.held.as_ref().filter(|_| !self.is_excluded)?;
        Some(match self.capability {
            Capability::FsRead | Capability::FsWrite => format!("it is outside of `{held}`"),
            Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => {
                format!("its {} grants are `{held}`", self.capability)
            }
        })
    }

    /// Explains the denial in one paragraph, for a model, which cannot grant anything itself. What would allow it is
    /// in the terms of the frontend whose user the model speaks to.
    pub fn explain(&self, wording: Wording) -> String {
        let mark = match self.capability {
            Capability::FsRead | Capability::FsWrite => ":",
            Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => ";",
        };
        let cause = self.cause().map(|cause| format!("{mark} {cause}")).unwrap_or_default();
        format!("{self}{cause}. Only the user can change this: {}.", wording.of(&self.help))
    }
}

/// Returns what is said between a plugin and the object of its request.
fn lacks(capability: Capability, has_grants: bool) -> String {
    match capability {
        // Only this file is in question, and not whether the plugin may use files.
        Capability::FsRead if has_grants => "may not read".to_owned(),
        Capability::FsWrite if has_grants => "may not write".to_owned(),
        Capability::FsRead
        | Capability::FsWrite
        | Capability::Process
        | Capability::Http
        | Capability::State
        | Capability::Mcp
        | Capability::Tools => format!("has no {capability} grant for"),
    }
}

/// Returns a scope as a reader sees it. What files of it are denied is long, and says nothing about what it lacks.
fn held_text(scope: &Scope) -> String {
    match scope {
        Scope::FsRead(paths) | Scope::FsWrite(paths) => {
            paths.roots().map(|root| quote(&root.path().to_string_lossy()).into_owned()).collect::<Vec<_>>().join(",")
        }
        Scope::Process(_) | Scope::Http(_) | Scope::State(_) | Scope::Mcp(_) | Scope::Tools(_) => scope.to_string(),
    }
}

/// Returns whether the text of an `http` scope names a server on this machine or in a private network.
fn names_a_private_host(scope: &str) -> bool {
    matches!(Scope::parse_absolute(Capability::Http, scope), Ok(Scope::Http(servers)) if servers.name_a_private_host())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use host_text::CUT_MARK;

    use super::*;
    use crate::visible::SHOWN_LIMIT;

    fn denied(capability: Capability, wanted: &str) -> Denied {
        Denied::ungranted(&PluginName::new("fetch"), capability, wanted)
    }

    #[test]
    fn denied_beyond_what_the_plugin_asks_for_names_no_grant() {
        let asked = Scope::parse(Capability::Http, "*,*:80", Path::new("/w")).unwrap();
        let help = denied(Capability::Http, "example.com:81").beyond(&asked).help.to_string();
        assert_eq!(help, "no grant allows it: `fetch` asks for http `*:80,*:443` at most");
    }

    #[test]
    fn denied_names_the_grants_that_are_held_and_the_one_that_would_allow_it() {
        let scope = Scope::parse(Capability::Http, "*.rust-lang.org", Path::new("/w")).unwrap();
        let wanted = "api.example.com:443";
        let no = Denied::new(&PluginName::new("fetch"), Capability::Http, wanted, Some(wanted), Some(&scope));
        assert_eq!(no.to_string(), "`fetch` has no http grant for `api.example.com:443`");
        assert_eq!(no.cause().unwrap(), "its http grants are `*.rust-lang.org:443`");
        assert_eq!(no.help.to_string(), "to allow it, add --grant fetch:http=api.example.com:443");
        assert_eq!(
            no.explain(Wording::default()),
            "`fetch` has no http grant for `api.example.com:443`; its http grants are `*.rust-lang.org:443`. Only the \
             user can change this: to allow it, add --grant fetch:http=api.example.com:443."
        );
    }

    #[test]
    fn denied_file_is_outside_of_what_is_granted_or_excluded() {
        let grants = crate::Grants::none().with(Scope::parse(Capability::FsRead, ".,!.env", Path::new("/w")).unwrap());
        let explained = |path| {
            let denied = grants.permit_read(&PluginName::new("grep"), Path::new(path)).unwrap_err();
            denied.explain(Wording::default()).split(". Only").next().unwrap_or_default().to_owned()
        };
        assert_eq!(explained("/etc/passwd"), "`grep` may not read `/etc/passwd`: it is outside of `/w`");
        assert_eq!(explained("/w/.env"), "`grep` may not read `/w/.env`");
        // Without any grant it is the grant that is named.
        assert_eq!(denied(Capability::FsWrite, "a").to_string(), "`fetch` has no fs-write grant for `a`");
    }

    #[test]
    fn changing_files_and_running_programs_name_the_mode_that_allows_them() {
        let help = |capability| denied(capability, "x").help.to_string();
        assert_eq!(
            help(Capability::FsWrite),
            "to allow it, add --grant fetch:fs-write=x, or --approval-mode auto-edit for the workspace"
        );
        assert_eq!(
            help(Capability::Process),
            "to allow it, add --grant fetch:process=x, or --approval-mode auto, in which programs are confined"
        );
        assert_eq!(help(Capability::FsRead), "to allow it, add --grant fetch:fs-read=x");
        let http = |wanted| denied(Capability::Http, wanted).help.to_string();
        let public = "to allow it, add --grant fetch:http=a.b:443, or --approval-mode yolo for public addresses";
        assert_eq!(http("a.b:443"), public);
        for private in ["127.0.0.1:443", "localhost:443", "a.b:443,10.0.0.1:80"] {
            assert_eq!(http(private), format!("to allow it, add --grant fetch:http={private}"));
        }
    }

    // promise plugin.port: What is suggested for requests to any server names its port.
    #[test]
    fn denied_for_any_server_names_the_port_that_a_grant_is_for() {
        assert_eq!(
            denied(Capability::Http, ANY_SERVER).help.to_string(),
            "to allow it, add --grant 'fetch:http=*:443' (port 443 only; `*:*` means every port), or --approval-mode yolo for \
             public addresses"
        );
        let whole = |text: &str| Scope::parse(Capability::Http, text, Path::new("/w")).unwrap();
        assert_eq!(whole(ANY_SERVER), whole("*"), "it is what `*` means");
    }

    #[test]
    fn denied_by_an_exclusion_suggests_no_grant_and_no_approval_mode() {
        let workspace = Path::new("/w");
        let grants = crate::Grants::none().with(Scope::parse(Capability::FsWrite, ".,!.git", workspace).unwrap());
        let no = grants.permit_write(&PluginName::new("edit"), Path::new("/w/.git/config")).unwrap_err();
        assert_eq!(
            no.help.to_string(),
            "its grants exclude it, so remove the --deny, the `[deny]` entry (`host policy allow`) or the `!` of a \
             grant \
             that does; host's own files always stay excluded"
        );
        let no = grants.permit_write(&PluginName::new("edit"), Path::new("/etc/x")).unwrap_err();
        assert!(no.help.to_string().contains("--approval-mode auto-edit"), "{}", no.help);
    }

    #[test]
    fn a_suggestion_survives_a_shell() {
        let help = |wanted| denied(Capability::FsRead, wanted).help.to_string();
        assert_eq!(help("/a b"), "to allow it, add --grant 'fetch:fs-read=/a b'");
        assert_eq!(help("/a';rm -rf ~;'"), r"to allow it, add --grant 'fetch:fs-read=/a'\'';rm -rf ~;'\'''");
        assert_eq!(help("*"), "to allow it, add --grant 'fetch:fs-read=*'");
    }

    // promise plugin.messages
    #[test]
    fn denied_text_from_a_guest_is_escaped_and_cut() {
        let escapes = denied(Capability::FsRead, "/a\u{1b}[2J\n\u{202e}b");
        assert_eq!(escapes.wanted, r"/a\u{1b}[2J\n\u{202e}b");
        assert!(!escapes.help.to_string().contains("[2J"), "{}", escapes.help);
        let long = denied(Capability::FsRead, &"ä".repeat(100_000));
        assert_eq!(long.wanted, format!("{}{CUT_MARK}", "ä".repeat(SHOWN_LIMIT)));
        assert!(long.explain(Wording::default()).chars().count() < 3 * SHOWN_LIMIT);
        let name = Denied::ungranted(&PluginName::new("x\u{7}"), Capability::State, "write");
        assert!(!name.explain(Wording::default()).contains('\u{7}'));
    }
}
