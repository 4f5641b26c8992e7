//! Replacements for missing imports: functions that trap, each with the name of its import.
//!
//! They serve `describe` and `preview`, which run a component with less than it requests, capabilities that a plugin
//! works without and that were not granted, and interfaces that a runtime imports and that are not implemented
//! ([`crate::admission::EMPTY_WASI`]).
//!
//! Deliberately not here: wasmtime's own `define_unknown_imports_as_traps`. It compares exact names, so it would put a
//! trap over `wasi:cli/environment@0.2.9` although the linker has the compatible `0.2.12`, and no plugin in Python or
//! JavaScript could describe its tools.

use host_capability::Capability;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceType};
use wasmtime_wasi::p2::bindings::io::poll::Pollable as DynPollable;
use wasmtime_wasi::p2::bindings::io::streams::{InputStream as DynInputStream, OutputStream as DynOutputStream};

use crate::admission;
use crate::store::StoreData;

/// The type of a resource in an interface without an implementation. It has no values.
enum Nothing {}

/// Returns the type of a resource in a missing interface: WASI's own if the interface borrows it from one that is
/// linked, since the two must agree.
fn resource(name: &str) -> ResourceType {
    match name {
        "pollable" => ResourceType::host::<DynPollable>(),
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

/// The error of a guest that called a missing function.
#[derive(Debug, thiserror::Error)]
#[error("it called `{called}`, which is not there")]
pub(crate) struct NotThere {
    called: String,
    /// The capability that the function belongs to, if it is one that could be granted.
    pub(crate) capability: Option<Capability>,
}

/// Replaces the imports for which `is_missing` is true by traps, by their name in the component.
pub(crate) fn trap(
    linker: &mut Linker<StoreData>,
    component: &Component,
    is_missing: impl Fn(&str) -> bool,
) -> wasmtime::Result<()> {
    let engine = component.engine();
    for (name, item) in component.component_type().imports(engine) {
        // Admission rejects everything else that a component can import.
        let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
        if !is_missing(name) {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (export, item) in interface.exports(engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    let (called, capability) = (format!("{name}#{export}"), admission::capability(name));
                    // A function for each export: linking compares types, so that one for all would not fit.
                    instance.func_new(export, move |_, _, _, _| {
                        Err(wasmtime::Error::new(NotThere { called: called.clone(), capability }))
                    })?;
                }
                ComponentItem::Resource(_) => {
                    // Resources must be there for the types to match, although no function makes one.
                    instance.resource(export, resource(export), |_, _| Ok(()))?;
                }
                // A type has no value of its own, and interfaces of the contract contain nothing else.
                _ => {}
            }
        }
    }
    Ok(())
}
