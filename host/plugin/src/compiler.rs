//! Compiling the components of others: in a process of its own, whose memory and time are limited.
//!
//! The size of a component says little about what it takes to compile it: one of 4 MB took 1.6 GB and 19 s. The
//! compiler has no limit of its own and cannot be cancelled, but a process can be both.
//!
//! Promises: a component that takes too much ends that process and nothing else; dropping the future of a compilation
//! ends its process; nobody but this process writes to the cache. Components of the binary are compiled in this
//! process.
//!
//! Deliberately not here: the cache, and which program is the compiler, which the binary decides.

mod process;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use host_capability::PluginName;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Component;

pub use self::process::{COMPILER_NAME, compile_to, read_component};
use crate::compile_limits::CompileLimits;
use crate::error::RuntimeError;
use crate::plugin::Plugin;

/// The most components that are compiled at once in processes of their own. Protects the machine's memory.
const MAX_AT_ONCE: usize = 2;

/// How components are compiled. The default compiles in this process, without limits.
#[derive(Clone, Default)]
pub struct CompileOptions {
    /// The program that compiles components that are not part of the binary: the binary itself, which answers to
    /// [`COMPILER_NAME`]. With `None` they are compiled in this process.
    pub program: Option<PathBuf>,
    /// What a compilation in that program may take.
    pub limits: CompileLimits,
    /// Receives what is compiled. It must not block.
    pub listener: Option<Arc<dyn Fn(CompileEvent) + Send + Sync>>,
}

/// What is compiled. Each beginning has one end, however the compilation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileEvent {
    /// The component of this plugin is compiled from now on, which can take long.
    Began(PluginName),
    /// It was compiled, or failed, or was cancelled.
    Ended(PluginName),
}

impl fmt::Debug for CompileOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileOptions").field("program", &self.program).field("limits", &self.limits).finish()
    }
}

/// Compiles the components of one runtime.
#[derive(Debug)]
pub(crate) struct Compiler {
    options: CompileOptions,
    processes: Semaphore,
}

impl Compiler {
    pub(crate) fn new(options: CompileOptions) -> Self {
        Self { options, processes: Semaphore::new(MAX_AT_ONCE) }
    }

    /// Returns the program that compiles apart.
    pub(crate) fn program(&self) -> Option<&Path> {
        self.options.program.as_deref()
    }

    /// Compiles the component of a plugin; returns its machine code, too.
    pub(crate) async fn compile(
        &self,
        engine: &Engine,
        plugin: &Plugin,
    ) -> Result<(Component, io::Result<Vec<u8>>), RuntimeError> {
        // Tells the user what a first use waits for, until it is dropped.
        let _begun = self.options.begin(plugin.name());
        let component = plugin.component_aside().await?;
        let compiled = match &self.options.program {
            // The binary's own components are as trusted as the host, and compiled without a process.
            Some(program) if plugin.built_in().is_none() => {
                // The semaphore is never closed, so waiting for it only ends with a permit.
                let _one = self.processes.acquire().await.ok();
                let code = process::compile(program, self.options.limits, plugin.name(), &component).await?;
                let engine = engine.clone();
                // Loading maps and checks megabytes of machine code.
                tokio::task::spawn_blocking(move || {
                    // SAFETY: this binary wrote the code, in a process that this one started, and nobody else can write
                    // to the pipe between the two.
                    let component = unsafe { Component::deserialize(&engine, &code) };
                    component.map(|component| (component, Ok(code)))
                })
            }
            Some(_) | None => {
                // It keeps all cores busy for up to seconds, so it must not run on a thread that others wait for.
                let (engine, bytes) = (engine.clone(), component.into_owned());
                tokio::task::spawn_blocking(move || {
                    let component = Component::new(&engine, bytes)?;
                    let code = component.serialize().map_err(io::Error::other);
                    Ok((component, code))
                })
            }
        };
        compiled.await?.map_err(|error| RuntimeError::Compile { plugin: plugin.name().to_string(), error })
    }
}

impl CompileOptions {
    /// Reports that a component is compiled until the returned value is dropped.
    fn begin(&self, plugin: &PluginName) -> Begun<'_> {
        if let Some(listener) = &self.listener {
            listener(CompileEvent::Began(plugin.clone()));
        }
        Begun { options: self, plugin: plugin.clone() }
    }
}

/// A compilation that was reported.
struct Begun<'a> {
    options: &'a CompileOptions,
    plugin: PluginName,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(listener) = &self.options.listener {
            listener(CompileEvent::Ended(self.plugin.clone()));
        }
    }
}
