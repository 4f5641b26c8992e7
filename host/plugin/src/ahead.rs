//! Compiling the plugins of the binary ahead of their first calls.
//!
//! The first start after an installation finds nothing compiled, and the largest built-in tool takes a second or two of
//! processor time. While a user waits for a model's reply, a processor is free.
//!
//! Promises: one thread, of the lowest priority, so nothing waits for it; what was compiled is kept for later
//! processes. A call that comes first compiles for itself, on all cores.
//!
//! Deliberately not here: the plugins of others, which are compiled when they are installed or called, apart and within
//! limits (`compiler`). A faster compiler for the first call was tried: wasmtime's single-pass register allocator takes
//! half the time, and is not recommended where security matters (`wasmtime::RegallocAlgorithm`); without optimisations,
//! which it does support, the time is 0.9 of the usual.

use crate::engine;
use crate::plugin::Plugin;
use crate::runtime::Runtime;

impl Runtime {
    /// Compiles those of these plugins that are part of the binary and that were never compiled, in this order, for the
    /// cache. Without a cache it does nothing. Errors are left for the call to report.
    ///
    /// It blocks for seconds, and lowers the priority of its thread for good: it belongs on a thread of its own.
    pub fn compile_ahead<'a>(&self, plugins: impl IntoIterator<Item = &'a Plugin>) {
        // Without a cache the code would be compiled again by the call that needs it.
        let (Ok((engine, ..)), Some(cache)) = (self.engine(), self.cache()) else { return };
        let mut compiler = None;
        for (plugin, component) in plugins.into_iter().filter_map(|plugin| Some((plugin, plugin.built_in()?))) {
            // Another process may have compiled it meanwhile.
            self.warm(plugin);
            if plugin.compiled.initialized() {
                continue;
            }
            let compiler = match &mut compiler {
                Some(compiler) => compiler,
                none => {
                    // Only once there is something to compile: the priority cannot be raised again.
                    host_process::yield_to_other_threads();
                    // The usual engine compiles on all cores, and would take them from the call that is under way.
                    let Ok(started) = engine::single_threaded_engine() else { return };
                    none.insert(started)
                }
            };
            let stored = compiler
                .precompile_component(component)
                .map_err(std::io::Error::other)
                // Through the cache and not directly: the engine here is another one, whose components the calls cannot
                // use.
                .and_then(|code| cache.store(engine, plugin.digest(), &code));
            match stored {
                Ok(()) => self.warm(plugin),
                Err(error) => {
                    // A full disk is not fuller for the next.
                    tracing::info!(plugin = %plugin.name(), %error, "no component is compiled ahead of its first call");
                    return;
                }
            }
        }
    }
}
