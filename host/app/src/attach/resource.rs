//! `@server:uri` in a prompt: a resource of an MCP server behind the prompt.
//!
//! Promises: only a server that is configured is asked, by its exact name; a prompt that the user did not type, such as
//! a script's, attaches a resource only if the user granted the server, or marked it as one whose reading needs no
//! question.

use host_capability::{Capability, McpServerName, Scope};
use host_extensions::grants::UserGrants;
use host_extensions::plugins::PluginOrigin;
use host_extensions::servers::McpHub;
use host_message::Output;
use host_plugin::McpError;
use host_settings::error::Failure;
use host_text::{Advice, Flag};

use super::mention::Mention;
use super::{Author, refused};
use crate::app::App;

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    server: McpServerName,
    uri: String,
}

/// The resource that a mention means; `None` if there is no such server.
///
/// # Errors
///
/// If its author may not attach it.
pub(super) fn resolve(
    mention: &Mention,
    author: Author,
    app: &App,
    grants: &UserGrants,
) -> Result<Option<Resource>, Failure> {
    let Some((servers, server)) = server_of(mention, app) else { return Ok(None) };
    let known = servers.statuses().into_iter().find(|status| status.name == server);
    let known = known.map(|status| status.resources).unwrap_or_default();
    let uris = mention.candidates().into_iter().filter_map(|path| path.split_once(':')).map(|(_, uri)| uri);
    let uris: Vec<&str> = uris.filter(|uri| !uri.is_empty()).collect();
    let listed = uris.iter().find(|uri| known.iter().any(|resource| resource.uri == **uri));
    // One that is not listed can be of a template: punctuation behind it is the sentence's.
    let Some(uri) = listed.or(uris.last()) else { return Ok(None) };
    let resource = Resource { server, uri: (*uri).to_owned() };
    if author == Author::User || is_granted(&resource.server, servers, app, grants) {
        return Ok(Some(resource));
    }
    let name = &resource.server;
    Err(refused(&resource.shown())
        .cause(format!("the user was not asked whether the MCP server `{name}` may be used"))
        .help(
            Advice::from("add ")
                .flag_with(Flag::Grant, format!("mcp:mcp={name}"))
                .text(", or take the `@` away; write `\\@` for a plain `@`"),
        ))
}

fn server_of<'a>(mention: &Mention, app: &'a App) -> Option<(&'a McpHub, McpServerName)> {
    let servers = app.mcp.as_deref()?;
    let (name, _) = mention.path.split_once(':')?;
    let server = servers.servers().iter().find(|server| server.name.as_str() == name)?;
    Some((servers, server.name.clone()))
}

fn is_granted(server: &McpServerName, servers: &McpHub, app: &App, grants: &UserGrants) -> bool {
    if servers.servers().iter().any(|known| known.name == *server && known.trusts_hints) {
        return true;
    }
    let plugin = app.plugins.iter().find(|plugin| plugin.origin == PluginOrigin::Mcp);
    let granted = plugin.map(|plugin| grants.granted_to(plugin));
    let reading = Scope::for_reading_mcp_tools(server);
    granted.is_some_and(|granted| granted.scope(Capability::Mcp).is_some_and(|held| reading.le(held)))
}

impl Resource {
    /// Its name as it is written in a prompt, without the `@`.
    pub(super) fn shown(&self) -> String {
        format!("{}:{}", self.server, self.uri)
    }

    /// Reads it.
    pub(super) async fn read(&self, app: &App) -> Result<Output, Failure> {
        let servers = app.mcp.as_ref().ok_or_else(|| refused(&self.shown()))?;
        let content = servers.connected().resource(&self.server, &self.uri).await;
        let content = content.map_err(|error: McpError| refused(&self.shown()).cause(error.to_string()))?;
        Ok(Output { content, ..Output::default() })
    }
}
