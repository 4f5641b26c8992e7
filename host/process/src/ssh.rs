//! Git over ssh for a confined program: what it may ask for, and nothing else of ssh.
//!
//! A confined git starts the host's own binary as its ssh ([`run_git_ssh`]), which asks the proxy of its program. The
//! host starts the user's ssh outside of the walls, and the two ends carry bytes. Promises: of a request only its parts
//! are used, each checked here, and the remote command is written again from them, so that nothing that a program wrote
//! becomes an option, a command or a second word of one.
//!
//! Deliberately not here: who may reach what, and which ssh is started, which the caller decides ([`crate::GitSsh`]).

mod client;
mod frame;

use crate::server::Server;

pub(crate) use client::{COMMAND_FIELD, FAMILY_FIELD, METHOD, PROTOCOL_FIELD};
pub use client::{GIT_SSH_ARGUMENT, GitSshCall, run_git_ssh};
pub(crate) use frame::Frame;

/// The longest path of a repository, in bytes. Protects the remote side's command line.
const PATH_LIMIT: usize = 4 << 10;

/// The longest name of a user on a server, in characters.
const USER_LIMIT: usize = 32;

/// What git runs on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitService {
    /// Sends what is fetched.
    UploadPack,
    /// Takes what is sent.
    ReceivePack,
    /// Sends an archive.
    UploadArchive,
}

/// A kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What a confined git wants of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    user: Option<String>,
    host: String,
    port: Option<u16>,
    service: GitService,
    path: String,
    protocol: Option<char>,
    family: Option<Family>,
}

/// Why something is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongRequest {
    /// Not `[USER@]HOST[:PORT]`.
    #[error("this is not a user and a server that git over ssh can reach")]
    Target,
    /// Not a command of git's.
    #[error(
        "only git gets through to ssh here, with git-upload-pack, git-receive-pack or git-upload-archive and the path of a \
         repository"
    )]
    Command,
}

impl GitRequest {
    /// Parses `[USER@]HOST[:PORT]` and the command that git runs there.
    ///
    /// # Errors
    ///
    /// If they are anything else.
    pub(crate) fn parse(target: &str, command: &str) -> Result<Self, WrongRequest> {
        let (user, server) = match target.split_once('@') {
            Some((user, server)) => (Some(user), server),
            None => (None, target),
        };
        let (host, port) = match server.rsplit_once(':') {
            // An IPv6 address without brackets has colons of its own, of which none begins a port.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                // `parse` takes `+22` as well.
                let digits = port.bytes().all(|byte| byte.is_ascii_digit());
                (host, Some(port.parse::<u16>().ok().filter(|_| digits).ok_or(WrongRequest::Target)?))
            }
            _ => (server, None),
        };
        let server = Server::parse(host.as_bytes(), port.unwrap_or(SSH_PORT)).ok_or(WrongRequest::Target)?;
        if !user.is_none_or(is_user) {
            return Err(WrongRequest::Target);
        }
        let (service, path) = parse_command(command).ok_or(WrongRequest::Command)?;
        let user = user.map(str::to_owned);
        Ok(Self { user, host: server.host, port, service, path, protocol: None, family: None })
    }

    /// Adds the version of git's protocol, `version=0` to `version=2`. Anything else is left out, as by a server that
    /// does not know it.
    pub(crate) fn with_protocol(self, protocol: &str) -> Self {
        let version = protocol.strip_prefix("version=").and_then(|version| version.parse::<char>().ok());
        Self { protocol: version.filter(|version| ('0'..='2').contains(version)), ..self }
    }

    /// Limits it to a kind of address.
    pub(crate) fn with_family(self, family: Option<Family>) -> Self {
        Self { family, ..self }
    }

    /// The user on the server, if git names one.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The server: a name in lower case, or an address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, if git names one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// What git runs there.
    pub fn service(&self) -> GitService {
        self.service
    }

    /// Returns the value for `GIT_PROTOCOL`, which ssh is to pass on.
    pub fn protocol(&self) -> Option<String> {
        self.protocol.map(|version| format!("version={version}"))
    }

    /// Returns the arguments for ssh: that it asks nothing and opens nothing else, where it connects to, and the
    /// command.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for option in OPTIONS {
            // Options on the command line win over those of the user's files.
            arguments.extend(["-o".to_owned(), (*option).to_owned()]);
        }
        if self.protocol.is_some() {
            arguments.extend(["-o".to_owned(), "SendEnv=GIT_PROTOCOL".to_owned()]);
        }
        arguments.extend(self.family.map(|family| family.option().to_owned()));
        // Without one the user's own settings for this host decide.
        arguments.extend(self.port.into_iter().flat_map(|port| ["-p".to_owned(), port.to_string()]));
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        // Behind `--` nothing is an option.
        arguments.extend(["--".to_owned(), format!("{user}{}", self.host), self.command()]);
        arguments
    }

    fn command(&self) -> String {
        format!("{} {}", self.service.command(), quoted(&self.path))
    }
}

/// The usual port.
const SSH_PORT: u16 = 22;

/// Options of every ssh that is started. The first value of an option is the one that counts, so that these win over
/// the user's own settings.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "StrictHostKeyChecking=yes",
];

impl GitService {
    const ALL: [Self; 3] = [Self::UploadPack, Self::ReceivePack, Self::UploadArchive];

    fn command(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
            Self::UploadArchive => "git-upload-archive",
        }
    }
}

impl Family {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// The option of ssh.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::V4 => "-4",
            Self::V6 => "-6",
        }
    }
}

fn is_user(user: &str) -> bool {
    (1..=USER_LIMIT).contains(&user.len())
        && !user.starts_with('-')
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Parses `git-upload-pack 'PATH'` and its like, also as `git upload-pack`.
fn parse_command(command: &str) -> Option<(GitService, String)> {
    let rest = command.strip_prefix("git")?;
    let rest = rest.strip_prefix(['-', ' '])?;
    let (name, path) = rest.split_once(' ')?;
    let service = GitService::ALL.into_iter().find(|service| service.command().strip_prefix("git-") == Some(name))?;
    let path = unquoted(path)?;
    // The remote program would take it for an option.
    let is_usual = (1..=PATH_LIMIT).contains(&path.len()) && !path.starts_with('-') && !path.contains(char::is_control);
    is_usual.then_some((service, path))
}

/// Reads one word as git quotes it: in single quotes, with `'\''` and `'\!'` for what ends them.
fn unquoted(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\'')?;
    let mut word = String::new();
    loop {
        let (piece, behind) = rest.split_once('\'')?;
        word.push_str(piece);
        if behind.is_empty() {
            return Some(word);
        }
        // Git quotes nothing else behind a backslash; what differs was not written by git.
        let escaped = behind.strip_prefix('\\')?;
        let c = escaped.chars().next().filter(|c| matches!(c, '\'' | '!'))?;
        word.push(c);
        rest = escaped.get(c.len_utf8()..)?.strip_prefix('\'')?;
    }
}

/// Writes one word as git quotes it.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''").replace('!', r"'\!'"))
}

#[cfg(test)]
mod tests;
