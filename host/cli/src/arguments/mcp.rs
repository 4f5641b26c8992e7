//! The arguments of `host mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Access, Place};

pub(crate) const MCP_HELP: &str = "`host mcp add` writes a server into your config.toml:

  [mcp.files]
  command = \"npx\"
  args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]

  [mcp.docs]
  url = \"https://mcp.example.com/mcp\"

A trusted project's `.mcp.json` and `.gemini/settings.json` are read, too; docs/mcp.md has all keys.

Examples:
  host mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  host mcp add docs https://mcp.example.com/mcp
  host mcp list
  host mcp test docs
  host mcp login docs";

/// Help on adding a server.
const ADD_HELP: &str =
    "The server goes into your config.toml, or with --scope project into the .mcp.json at the top of \
the project, which everyone who works on it gets. The value of each --env and --header of your own goes into a private \
file. A program is confined: --net, --read and --write name what it may use besides; what npx, uvx and other package \
runners fetch from their registry needs no flag.

Examples:
  host mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  host mcp add github --env GITHUB_TOKEN=… --net api.github.com -- github-mcp-server stdio
  host mcp add docs https://mcp.example.com/mcp --header 'Authorization: Bearer …'
  host mcp add docs --scope project -- npx -y @example/docs-server";

/// Help on serving; it names every client that can start the server.
const SERVE_HELP: &str =
    "Without --http the server speaks on standard input and output, as a program that a client starts. Configure it \
there as the command `host` with the arguments `mcp serve -C /path/to/repository`; docs/mcp.md has the \
configuration of each client.

A call that nothing allows is asked about in the client, if it can show a form; otherwise it is denied, and the \
message names the flag that allows it.

Examples:
  host mcp serve -C ~/src/project
  host mcp serve --approval-mode auto-edit
  host mcp serve --grant 'shell:process=cargo test' --deny '*:http'
  host mcp serve --http 127.0.0.1:8033";

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Serve the tools to other agents, over the Model Context Protocol
    #[command(after_help = SERVE_HELP)]
    Serve(Serve),
    /// Add a server: a program with its arguments, or an address
    #[command(after_help = ADD_HELP)]
    Add(Add),
    /// Remove a server from your config.toml, or from the project's .mcp.json
    #[command(after_help = "Examples:\n  host mcp remove docs\n  host mcp remove docs --scope project")]
    Remove(Remove),
    /// List the configured MCP servers, and whether each can be used
    List {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a server offers, and what it says about itself
    Show {
        #[command(flatten)]
        server: Named,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect a server, and report what works and what does not
    Test(Named),
    /// Log in at a server that wants it, in your browser
    Login(Named),
}

/// Whose file a server is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    User,
    Project,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Stdio,
    Http,
    Sse,
}

/// `host mcp add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The server's name
    pub(crate) name: String,
    /// The address of the server, or behind `--` its command
    #[arg(required = true, value_name = "URL|COMMAND")]
    pub(crate) target: Vec<String>,
    /// Whose file it goes into: user (your config.toml, for every folder) or project (its .mcp.json)
    #[arg(short, long, value_enum, default_value_t = Scope::User, value_name = "SCOPE", hide_possible_values = true)]
    pub(crate) scope: Scope,
    /// stdio (a program) or http (an address) [default: what the server looks like]
    #[arg(short, long, value_enum, value_name = "TRANSPORT", hide_possible_values = true)]
    pub(crate) transport: Option<Transport>,
    /// A variable for the program; `${VARIABLE}` is one of your environment. May be repeated
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A header field of each request to the address. May be repeated
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// A server that the program may reach, such as api.github.com. May be repeated
    #[arg(long, value_name = "SERVER")]
    pub(crate) net: Vec<String>,
    /// A file or folder outside of the workspace that the program may read. May be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<String>,
    /// A file or folder outside of the workspace that the program may change. May be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<String>,
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// `host mcp remove`.
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The server's name
    pub(crate) name: String,
    /// Whose file it is removed from: user (your config.toml) or project (its .mcp.json)
    #[arg(short, long, value_enum, default_value_t = Scope::User, value_name = "SCOPE", hide_possible_values = true)]
    pub(crate) scope: Scope,
    /// Work in this folder instead of the current one
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// One of the configured servers.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The server's name
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) access: Access,
}

/// `host mcp serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve on HTTP at this address, instead of on standard input and output; port 0 is any that is free. Clients need
    /// the token
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// The file with the token for --http, which is made if it is missing; HOST_MCP_TOKEN, if it is set, is used
    /// instead [default: mcp-token in the folder of host's state]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// A name by which clients on other machines reach the server; needed for an address that is not of this machine
    /// alone. There is no TLS: put a proxy before it. May be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) host_name: Vec<String>,
    /// The model of agents that want none of their own, PROVIDER/NAME [default: the configured one; without any, agents
    /// are not served]
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) access: Access,
}
