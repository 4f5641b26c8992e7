//! The contract of `wit/` as generated Rust, with short names.
//!
//! The worlds here exist only for the generator. A plugin's actual imports are read from the plugin
//! ([`crate::admission`]), and the linker for its grants decides what it gets.

pub(crate) mod child;
pub(crate) mod denial;

wasmtime::component::bindgen!({
    path: ["../../wit/tool", "../../wit/cap"],
    world: "host:runtime/everything",
    inline: "
        package host:runtime;

        world everything {
            import host:tool/context@0.1.0;
            import host:tool/background@0.1.0;
            import host:tool/file-changes@0.1.0;
            import host:cap/fs-read@0.1.0;
            import host:cap/fs-write@0.1.0;
            import host:cap/process@0.1.0;
            import host:cap/http@0.1.0;
            import host:cap/state@0.1.0;
            import host:cap/mcp@0.1.0;
            import host:cap/tools@0.1.0;
            export host:tool/tool@0.1.0;
        }
    ",
    imports: {
        "host:tool/context": trappable,
        "host:cap/fs-read.[method]walk.summary": trappable,
        default: async | trappable,
    },
    exports: { default: async },
    with: {
        "host:cap/fs-read.walk": crate::readable::Walk,
        "host:cap/process.child": crate::bindings::child::Child,
    },
});

pub(crate) use exports::host::tool::tool as exported;
pub(crate) use host::cap::{fs_read, fs_write, http, mcp, process, state, tools, types as cap_types};
pub(crate) use host::tool::{background, context, file_changes, types as tool_types};
