//! The arguments of `host mcp`.

use clap::Subcommand;

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

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
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
        /// The server's name
        name: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect a server, and report what works and what does not
    Test {
        /// The server's name
        name: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
    },
    /// Log in at a server that wants it, in your browser
    Login {
        /// The server's name
        name: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        access: Access,
    },
}
