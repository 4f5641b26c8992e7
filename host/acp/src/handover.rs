//! What a client hands over with a new session: its folder and its MCP servers, as plain values.

use std::path::PathBuf;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::McpServer;
use host_settings::request::{FolderRequest, McpEndpoint, McpServerRequest};
use host_text::excerpt;

use crate::errors::invalid;

/// The most MCP servers of one session. Protects the list of tools and the start of a session.
const MAX_SERVERS: usize = 100;

/// How much of a path a message repeats, in characters.
const SHOWN_PATH: usize = 200;

/// Returns the folder of a session.
///
/// # Errors
///
/// If it is not an absolute path, or there are other folders.
pub(crate) fn folder(cwd: PathBuf, others: &[PathBuf], any_folder: bool) -> Result<FolderRequest, Error> {
    if !cwd.is_absolute() {
        let shown = excerpt(&cwd.to_string_lossy(), SHOWN_PATH);
        return Err(invalid(format!("the folder `{shown}` is not an absolute path"), "send the whole path as `cwd`"));
    }
    if let Some(other) = others.first() {
        return Err(invalid(
            format!("more than one folder is not supported: `{}`", excerpt(&other.to_string_lossy(), SHOWN_PATH)),
            "open it as a session of its own, or name it among the arguments with which the editor starts this agent",
        ));
    }
    Ok(FolderRequest { folder: Some(cwd), any_folder })
}

/// Returns the MCP servers of a session.
///
/// # Errors
///
/// If there are too many, or one has a transport that is not known.
pub(crate) fn servers(servers: Vec<McpServer>) -> Result<Vec<McpServerRequest>, Error> {
    if servers.len() > MAX_SERVERS {
        let message = format!("{} MCP servers are over the limit of {MAX_SERVERS}", servers.len());
        return Err(invalid(message, "hand over fewer servers"));
    }
    servers.into_iter().map(server).collect()
}

fn server(server: McpServer) -> Result<McpServerRequest, Error> {
    let headers = |headers: Vec<agent_client_protocol::v1::schema::HttpHeader>| {
        headers.into_iter().map(|header| (header.name, header.value)).collect()
    };
    Ok(match server {
        McpServer::Stdio(server) => McpServerRequest {
            name: server.name,
            endpoint: McpEndpoint::Command {
                command: server.command,
                args: server.args,
                env: server.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
            },
        },
        McpServer::Http(server) => McpServerRequest {
            name: server.name,
            endpoint: McpEndpoint::Address { url: server.url, headers: headers(server.headers) },
        },
        McpServer::Sse(server) => {
            return Err(invalid(
                format!("the MCP server `{}` uses HTTP with SSE, which is not supported", excerpt(&server.name, 60)),
                "use a server on standard streams or on streamable HTTP",
            ));
        }
        _ => return Err(invalid("an MCP server has an unknown transport", "use a server on standard streams")),
    })
}
