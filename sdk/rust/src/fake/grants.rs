//! What a fake host grants, in the host's own words and by the host's own code.

use std::path::Path;

use host_capability::{Capability, Denied, Grants, PluginName, Scope};

use super::WORKSPACE;
use crate::Tool;
use crate::bindings::host::cap::types::Denial;

/// Reading and changing the workspace, any program, any server, the state, any tool of an MCP server or of the session.
pub(super) fn everything() -> Grants {
    ["fs-read=.", "fs-write=.", "process=*", "http=* *:* +private", "state=write", "mcp=*", "tools=*"]
        .into_iter()
        .map(scope)
        .collect()
}

/// The scope that `CAPABILITY=SCOPE` writes.
pub(super) fn scope(words: &str) -> Scope {
    let Some((name, text)) = words.split_once('=') else {
        panic!("`{words}` grants nothing: it is written CAPABILITY=SCOPE, such as `fs-read=src`");
    };
    Scope::parse(capability(name), text, Path::new(WORKSPACE)).unwrap_or_else(|error| panic!("`{words}`: {error}"))
}

fn capability(name: &str) -> Capability {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The grants without anything of one capability.
pub(super) fn without(grants: &Grants, capability: Capability) -> Grants {
    grants.iter().filter(|scope| scope.capability() != capability).cloned().collect()
}

/// The grants without what `CAPABILITY` or `CAPABILITY=SCOPE` names.
pub(super) fn denied(grants: &Grants, words: &str) -> Grants {
    let Some((name, text)) = words.split_once('=') else { return without(grants, capability(words)) };
    let capability = capability(name);
    match capability {
        Capability::FsRead | Capability::FsWrite => {
            let rest = scope(&format!("{capability}=*,!{text}"));
            grants
                .iter()
                .filter_map(|held| if held.capability() == capability { held.meet(&rest) } else { Some(held.clone()) })
                .collect()
        }
        Capability::Process | Capability::Http | Capability::State | Capability::Mcp | Capability::Tools => panic!(
            "`{words}`: a part of `{name}` cannot be denied here; deny all of it (`{name}`), or grant less with `grant`"
        ),
    }
}

/// What of the grants a call of the tool holds: what it asks for, and no more.
pub(super) fn of_tool(grants: &Grants, tool: &Tool) -> Grants {
    let asked = tool.capabilities().iter().map(|need| scope(&format!("{}={}", need.name, need.scope)));
    grants.meet(&asked.collect())
}

/// The plugin, as refusals name it.
pub(super) fn plugin() -> PluginName {
    PluginName::new("plugin")
}

/// A refusal in the contract's words.
pub(super) fn denial(refused: &Denied) -> Denial {
    Denial {
        capability: refused.capability.name().to_owned(),
        wanted: refused.wanted.clone(),
        help: refused.explain(Default::default()),
    }
}
