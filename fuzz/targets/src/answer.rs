//! Answers of guests: any memory, read as the contract's types.

use std::sync::{Arc, OnceLock};

use host_capability::{Grants, PluginName};
use host_message::{CallId, Output, OutputPart, ToolName};
use host_plugin::{Confirmation, Invocation, Plugin, Runtime, RuntimeOptions, Workspace};

use crate::guest;

/// The most bytes that one answer can bring into the host, however often it names the same ones.
const MOST: usize = 32 << 20;

struct Bench {
    waits: tokio::runtime::Runtime,
    runtime: Runtime,
    plugin: Plugin,
}

/// The first byte picks what is asked of the guest, and the others are the memory that it answers with. An answer is
/// bounded, and an error is an error.
pub fn answer(data: &[u8]) {
    let Some((asked, memory)) = data.split_first().filter(|(_, memory)| memory.len() <= 64 << 10) else { return };
    static BENCH: OnceLock<Bench> = OnceLock::new();
    let Bench { waits, runtime, plugin } = BENCH.get_or_init(|| Bench {
        waits: waits(),
        runtime: Runtime::new(RuntimeOptions::default()),
        plugin: plugin(),
    });
    let invocation = invocation(memory);
    waits.block_on(async {
        match asked % 3 {
            0 => assert!(runtime.call(plugin, invocation).await.map_or(0, |output| size(&output)) <= MOST),
            1 => {
                let shown = runtime.preview(plugin, invocation).await;
                assert!(shown.map_or(0, |shown| shown.as_ref().map_or(0, preview_size)) <= MOST);
            }
            _ => {
                let arguments = runtime.revise(plugin, invocation, "text").await.unwrap_or_default();
                assert!(serde_json::Value::Object(arguments).to_string().len() <= 2 * MOST);
            }
        }
    });
}

fn size(output: &Output) -> usize {
    let parts = output.content.iter().map(|part| match part {
        OutputPart::Text(text) => text.len(),
        OutputPart::Data(data) => data.base64.len() / 4 * 3,
        OutputPart::Link { uri, title } => uri.len() + title.as_ref().map_or(0, String::len),
    });
    parts.sum()
}

fn preview_size(shown: &Confirmation) -> usize {
    match shown {
        Confirmation::Exec { argv, directory, input, .. } => {
            argv.iter().map(String::len).sum::<usize>() + directory.len() + input.as_ref().map_or(0, String::len)
        }
        Confirmation::Edit { path, unified, proposed } => path.len() + unified.len() + proposed.len(),
        Confirmation::Edits { changes } => changes
            .iter()
            .map(|change| change.path.len() + change.unified.len() + change.proposed.as_ref().map_or(0, String::len))
            .sum(),
        Confirmation::Info { text, requests, writes } => {
            let requests = requests.iter().map(|(method, url)| method.len() + url.len());
            text.len() + requests.chain(writes.iter().map(String::len)).sum::<usize>()
        }
        Confirmation::Mcp { server, identity, tool, changed } => {
            server.len() + identity.len() + tool.len() + changed.as_ref().map_or(0, String::len)
        }
        Confirmation::Call => 0,
    }
}

pub(crate) fn waits() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

pub(crate) fn plugin() -> Plugin {
    static COMPONENT: OnceLock<Vec<u8>> = OnceLock::new();
    Plugin::new(PluginName::new("guest"), COMPONENT.get_or_init(guest::component).clone(), Grants::none())
}

/// A call that the guest answers with this memory.
pub(crate) fn invocation(memory: &[u8]) -> Invocation {
    let (id, tool) = (CallId::new("1"), ToolName::new("answers"));
    let arguments = guest::arguments(memory);
    Invocation::new(id, tool, arguments, Arc::new(Grants::none()), Arc::new(Workspace::new("/".into())))
}
