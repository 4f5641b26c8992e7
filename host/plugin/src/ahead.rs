//! Compiling the plugins of the binary ahead of their first calls.
//!
//! The first start after an installation finds nothing compiled, and the largest built-in tool takes a second or two of
//! processor time. A run with one prompt ends before that: what a thread of it had begun was lost, and the next run
//! began again. So a process of its own compiles, which goes on when the run has ended ([`process`]).
//!
//! Promises: nothing is compiled twice, by whichever process, unless one waits for too long; what was compiled is kept
//! at once. A call that comes first compiles for itself, on all cores.
//!
//! Deliberately not here: the plugins of others, which are compiled when they are installed or called, apart and within
//! limits (`compiler`). A faster compiler for the first call was tried: wasmtime's single-pass register allocator takes
//! half the time, and is not recommended where security matters (`wasmtime::RegallocAlgorithm`); without optimisations,
//! which it does support, the time is 0.9 of the usual.

pub(crate) mod process;
pub(crate) mod record;

use std::io;

use wasmtime::Engine;

use self::record::Record;
use crate::cache::{Asked, Cache};
use crate::engine;
use crate::plugin::Plugin;
use crate::runtime::Runtime;

impl Runtime {
    /// Has those of these plugins compiled for the cache that are part of the binary and that never were. Without a
    /// cache it does nothing. Errors are left for the call to report.
    ///
    /// A process of the binary does it, and goes on if this process ends. If there is no such program
    /// ([`CompileOptions::program`](crate::CompileOptions)) this thread does it, and keeps the lowest priority. Either
    /// way it blocks for seconds: it belongs on a thread of its own.
    pub fn compile_ahead<'a>(&self, plugins: impl IntoIterator<Item = &'a Plugin>) {
        // Without a cache the code would be compiled again by the call that needs it.
        let (Ok((engine, ..)), Some(cache)) = (self.engine(), self.cache()) else { return };
        let missing: Vec<&Plugin> = plugins.into_iter().filter(|plugin| self.is_missing(plugin)).collect();
        if missing.is_empty() {
            return;
        }
        let Some(program) = self.compile_program() else {
            // Only once there is something to compile: the priority cannot be raised again.
            host_process::yield_to_other_threads();
            return self.compile_missing(engine, cache, &missing, &mut |_| {});
        };
        match process::run(program, cache.folder()) {
            Ok(()) => missing.into_iter().for_each(|plugin| self.warm(plugin)),
            Err(error) => tracing::info!(%error, "no component is compiled ahead of its first call"),
        }
    }

    /// Compiles those of these plugins for the cache that are part of the binary and that never were, in this order,
    /// unless another process does: the work of the process that answers to [`AHEAD_NAME`](crate::AHEAD_NAME). Ends at
    /// the first error, since a full disk is not fuller for the next.
    pub fn compile_here<'a>(&self, plugins: impl IntoIterator<Item = &'a Plugin>) {
        let (Ok((engine, ..)), Some(cache)) = (self.engine(), self.cache()) else { return };
        // Kept until the end: it is the lock, too.
        let Some(mut record) = Record::begin(cache.folder()) else { return };
        cache.sweep();
        let missing: Vec<&Plugin> = plugins.into_iter().filter(|plugin| self.is_missing(plugin)).collect();
        self.compile_missing(engine, cache, &missing, &mut |plugin| record.compiles(plugin));
    }

    /// Returns whether a process is compiling the plugins of the binary for the cache.
    pub fn is_compiled_ahead(&self) -> bool {
        self.cache().is_some_and(|cache| record::is_running(cache.folder()))
    }

    /// Whether a plugin is part of the binary and was not compiled. One that was is loaded.
    fn is_missing(&self, plugin: &Plugin) -> bool {
        if plugin.built_in().is_none() {
            return false;
        }
        self.warm(plugin);
        !plugin.compiled.initialized()
    }

    fn compile_missing(&self, engine: &Engine, cache: &Cache, missing: &[&Plugin], begins: &mut dyn FnMut(&Plugin)) {
        // The usual engine compiles on all cores, and would take them from the call that is under way.
        let Ok(compiler) = engine::single_threaded_engine() else { return };
        let work = Ahead { runtime: self, engine, cache, compiler };
        let mut busy = Vec::new();
        for plugin in missing {
            match work.compile(plugin, begins) {
                Ok(Compiled::Kept) => {}
                Ok(Compiled::ByAnother) => busy.push(*plugin),
                Err(error) => {
                    tracing::info!(plugin = %plugin.name(), %error, "no component is compiled ahead of its first call");
                    return;
                }
            }
        }
        // A process that was compiling one of these may have been ended since.
        for plugin in busy {
            if let Err(error) = work.compile(plugin, begins) {
                tracing::info!(plugin = %plugin.name(), %error, "it is compiled at its first call");
            }
        }
    }
}

/// What became of a plugin that was missing.
enum Compiled {
    /// It is in the cache.
    Kept,
    /// Another process compiles it.
    ByAnother,
}

struct Ahead<'a> {
    runtime: &'a Runtime,
    engine: &'a Engine,
    cache: &'a Cache,
    compiler: Engine,
}

impl Ahead<'_> {
    fn compile(&self, plugin: &Plugin, begins: &mut dyn FnMut(&Plugin)) -> io::Result<Compiled> {
        let Some(component) = plugin.built_in() else { return Ok(Compiled::Kept) };
        // Where there are no turns nothing can be stored either, which is reported below.
        let _turn = match self.cache.ask_turn(self.engine, plugin.digest()) {
            Asked::Taken(turn) => Some(turn),
            Asked::Busy(_) => return Ok(Compiled::ByAnother),
            Asked::Unable => return Err(io::Error::other("the cache cannot be written")),
        };
        // Another process may have compiled it meanwhile.
        if !self.runtime.is_missing(plugin) {
            return Ok(Compiled::Kept);
        }
        // Before the work that would be for nothing.
        if !self.cache.has_room_for(component.len()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        begins(plugin);
        let code = self.compiler.precompile_component(component).map_err(io::Error::other)?;
        // Through the cache and not directly: the engine here is another one, whose components the calls cannot use.
        self.cache.store(self.engine, plugin.digest(), &code)?;
        self.runtime.warm(plugin);
        Ok(Compiled::Kept)
    }
}
