//! The arguments of `host mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Access, Place};

pub(crate) const MCP_HELP: &str = "A server is configured in your config.toml:

  [mcp.files]
  command = \"npx\"
  args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]

  [mcp.docs]
  url = \"https://mcp.example.com/mcp\"

A trusted project's `.mcp.json` and `.gemini/settings.json` are read, too; docs/mcp.md has all keys.

Examples:
  host mcp list
  host mcp test docs
  host mcp login docs";

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
    /// The file with the token for --http, which is made if it is missing; HOST_MCP_TOKEN, if it is set, is used instead
    /// [default: mcp-token in the folder of host's state]
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
