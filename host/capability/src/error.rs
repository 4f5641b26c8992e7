//! Why a text is not a scope, and what to write instead.

use crate::HostError;

/// The reason why a text is not a scope. Its values are safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Longer than is read.
    #[error("a scope of {length} bytes is longer than {limit}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The longest that is read, in bytes.
        limit: usize,
    },
    /// More items than are read.
    #[error("a scope has over {limit} items")]
    TooMany {
        /// The most that are read.
        limit: usize,
    },
    /// A control character, or an invisible one.
    #[error("the scope `{text}` has a character that cannot be shown")]
    Character {
        /// The scope.
        text: String,
    },
    /// A quote without its end.
    #[error("a quote in the scope `{text}` has no end")]
    Quote {
        /// The scope.
        text: String,
    },
    /// Nothing where an item was meant.
    #[error("the scope `{text}` has an empty item")]
    Empty {
        /// The scope or the item.
        text: String,
    },
    /// The workspace cannot be the base of a scope.
    #[error("the workspace `{path}` is not an absolute path of printable characters")]
    Workspace {
        /// The workspace.
        path: String,
    },
    /// A relative path where nothing says what it is relative to.
    #[error("the path `{path}` is relative")]
    Relative {
        /// The path.
        path: String,
    },
    /// A path that `..` leads out of `/`.
    #[error("the path `{path}` leads out of `/`")]
    LeavesRoot {
        /// The path.
        path: String,
    },
    /// A path that starts with `~`.
    #[error("the path `{path}` starts with `~`, which is not expanded here")]
    Home {
        /// The path.
        path: String,
    },
    /// A root with a wildcard.
    #[error("the root `{text}` is a pattern")]
    Pattern {
        /// The root.
        text: String,
    },
    /// Denies without a root.
    #[error("the scope `{text}` only denies, and grants nothing")]
    OnlyDenies {
        /// The scope.
        text: String,
    },
    /// Servers or files without a command before them.
    #[error("the scope `{text}` names servers or files, and no command that may use them")]
    OnlyResources {
        /// The scope.
        text: String,
    },
    /// A deny that is not a usable glob.
    #[error("`!{glob}` is not a pattern that can be matched: {why}")]
    Glob {
        /// The glob without its `!`.
        glob: String,
        /// The rule that it breaks.
        why: String,
    },
    /// `*` next to other words.
    #[error("the command `{text}` has a `*` among its words")]
    PartialCommand {
        /// The command.
        text: String,
    },
    /// Not the form of a request.
    #[error("`{text}` does not have the form `[METHOD ]HOST[:PORT]`")]
    Endpoint {
        /// The item.
        text: String,
    },
    /// Not the form of git's repositories over ssh.
    #[error("`{text}` does not have the form `ssh://[USER@]HOST[:PORT][ +push][ +private]`")]
    Remote {
        /// The item.
        text: String,
    },
    /// Not a host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Not a port.
    #[error("`{text}` is not a port")]
    Port {
        /// The text after the colon.
        text: String,
    },
    /// Not a method.
    #[error("`{text}` is not a list of methods")]
    Method {
        /// The text before the host.
        text: String,
    },
    /// Not a tool of an MCP server.
    #[error("`{text}` does not have the form `SERVER[/TOOL][ read]`")]
    McpTool {
        /// The item.
        text: String,
    },
    /// Not a list of tools.
    #[error("`{text}` is not a tool of the session")]
    Tool {
        /// The item.
        text: String,
    },
    /// Not an access to state.
    #[error("`{text}` is not an access to state")]
    Access {
        /// The item.
        text: String,
    },
}

impl ScopeError {
    /// Returns advice on how to fix it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::TooLong { .. } | Self::TooMany { .. } => "name fewer and wider items",
            Self::Character { .. } => "write it without control characters and invisible ones",
            Self::Quote { .. } => "close the quote, or put the item into quotes of the other kind",
            Self::Empty { .. } => "remove the comma, or write the item that is missing",
            Self::Workspace { .. } => "choose a folder with a printable name",
            Self::Relative { .. } => "write the absolute path",
            Self::LeavesRoot { .. } => "write it with fewer `..`",
            Self::Home { .. } => "write the absolute path, or `./~` for a folder of that name",
            Self::Pattern { .. } => {
                "name the directory; patterns only deny, as in `.,!*.pem`; quote a name that has a `*`"
            }
            Self::OnlyDenies { .. } => "name a root too, as in `.,!*.pem`",
            Self::OnlyResources { .. } => "name the command first, as in `cargo;net=crates.io,*.crates.io`",
            Self::Glob { .. } => "write it like `!.env`, `!*.{pem,key}`, `!docs/private` or `!/home/*/.ssh`",
            Self::PartialCommand { .. } => {
                "leave it out: a command covers all arguments that follow; quote it to mean itself"
            }
            Self::Endpoint { .. } => "write it like `example.com`, `*.example.com:*` or `GET+POST localhost:8080`",
            Self::Remote { .. } => "write it like `ssh://git@example.com`, with ` +push` for what git may also send to",
            Self::Host(_) => "write it like `example.com`, `*.example.com`, `127.0.0.1`, `[::1]` or `*`",
            Self::Port { .. } => "write a number from 1 to 65535, or `*`",
            Self::Method { .. } => "write it like `GET+POST`, or `*` for any",
            Self::Access { .. } => "write `read` or `write`",
            Self::McpTool { .. } => "write it like `github`, `github/search`, `github read` or `*`",
            Self::Tool { .. } => {
                "write names of tools like `read_file,grep`, or `*`, or `*,!shell` for all but `shell`"
            }
        }
    }
}
