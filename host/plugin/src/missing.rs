//! What stands in the place of an import that is not there: functions that trap, each saying which it is.
//!
//! It is for `describe` and `preview`, which run a component with less than it asks for, for capabilities that a plugin can
//! do without and that were not granted, and for the interfaces that a runtime names and that have nothing behind them
//! ([`crate::admission::EMPTY_WASI`]).
//!
//! Deliberately not here: wasmtime's own `define_unknown_imports_as_traps`. It goes by exact names, so that it puts a
//! trap over `wasi:cli/environment@0.2.9` where the linker holds the compatible `0.2.12`, and no plugin in Python or
//! JavaScript could be asked for its tools.

use host_capability::Capability;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceType};
use wasmtime_wasi::p2::bindings::io::poll::Pollable as DynPollable;
use wasmtime_wasi::p2::bindings::io::streams::{InputStream as DynInputStream, OutputStream as DynOutputStream};

use crate::admission;
use crate::store::CallState;

/// What a resource of an interface is that has nothing behind it. No value of it exists.
enum Nothing {}

/// The type of a resource in an interface that is not there: WASI's own where the interface borrows it from one that
/// is there, since the two must agree.
fn resource(name: &str) -> ResourceType {
    match name {
        "pollable" => ResourceType::host::<DynPollable>(),
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

/// Why a guest ended that called what is not there.
#[derive(Debug, thiserror::Error)]
#[error("it called `{called}`, which is not there")]
pub(crate) struct NotThere {
    called: String,
    /// What would be there, were it granted.
    pub(crate) capability: Option<Capability>,
}

/// Puts traps in the place of the imports of which `is_missing` says so, by their name in the component.
pub(crate) fn trap(
    linker: &mut Linker<CallState>,
    component: &Component,
    is_missing: impl Fn(&str) -> bool,
) -> wasmtime::Result<()> {
    let engine = component.engine();
    for (name, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
        if !is_missing(name) {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (export, item) in interface.exports(engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    let (called, capability) = (format!("{name}#{export}"), admission::capability(name));
                    instance.func_new(export, move |_, _, _, _| {
                        Err(wasmtime::Error::new(NotThere { called: called.clone(), capability }))
                    })?;
                }
                ComponentItem::Resource(_) => {
                    instance.resource(export, resource(export), |_, _| Ok(()))?;
                }
                // A type has no value of its own, and interfaces of the contract hold nothing else.
                _ => {}
            }
        }
    }
    Ok(())
}
