//! Where the compiled form of a plugin comes from: the user's cache, the binary, or the compiler, in this order.
//!
//! Promises: code of the binary is put into the cache at its first use, so that later processes map it like any other
//! entry; if that fails it is used all the same. A cache that cannot be used is reported when something is compiled
//! because of it, and not before.
//!
//! Deliberately not here: what makes an entry of the cache trusted (`cache`), or code of the binary (`precompiled`).

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::Runtime;
use crate::cache::{Cache, Lookup};
use crate::error::{CallError, RuntimeError};
use crate::plugin::{Linked, Missing, Plugin};
use crate::precompiled::PortableCompiler;

impl Runtime {
    /// Compiles a plugin, or loads its compiled form, so that its first call does not wait.
    ///
    /// # Errors
    ///
    /// If the component is not a plugin, or does not compile.
    pub async fn prepare(&self, plugin: &Plugin) -> Result<(), CallError> {
        plugin.imports()?;
        self.compiled(plugin).await?;
        Ok(())
    }

    /// Starts the engine, and loads and links the compiled form, so that it is ready for a first call. Compiles
    /// nothing; errors are left for the call to report. It blocks for about a millisecond, or some more where the code
    /// of the binary was never used, and belongs on a thread of its own.
    pub fn warm(&self, plugin: &Plugin) {
        let (Ok((engine, ..)), Ok(imports)) = (self.engine(), plugin.imports()) else { return };
        if !plugin.compiled.initialized()
            && let Some(component) = self.at_hand(engine, plugin)
        {
            // A call that was faster has set its own, and that one stays.
            plugin.compiled.set(component).ok();
        }
        if let Some(component) = plugin.compiled.get() {
            let linked = Linked { granted: imports.capabilities, missing: Missing::Refuse };
            self.link(plugin, component, imports, linked).ok();
        }
    }

    pub(crate) async fn compiled<'a>(&self, plugin: &'a Plugin) -> Result<&'a Component, RuntimeError> {
        let (engine, ..) = self.engine()?;
        plugin
            .compiled
            .get_or_try_init(async || {
                if let Some(component) = self.at_hand(engine, plugin) {
                    return Ok(component);
                }
                self.report_missing_cache();
                // Two processes that begin at once would compile the same, and the slower one for nothing.
                let turn = match self.cache() {
                    Some(cache) => cache.wait_for_turn(engine, plugin.digest()).await,
                    None => None,
                };
                if turn.is_some()
                    && let Some(component) = self.at_hand(engine, plugin)
                {
                    return Ok(component);
                }
                let (component, code) = self.compiler.compile(engine, plugin).await?;
                if let Some(cache) = self.cache()
                    && let Err(error) = code.and_then(|code| cache.store(engine, plugin.digest(), &code))
                {
                    tracing::warn!(plugin = %plugin.name(), %error, "the compiled component cannot be kept");
                }
                Ok(component)
            })
            .await
    }

    /// Returns the compiled form if there is one: nothing is compiled.
    fn at_hand(&self, engine: &Engine, plugin: &Plugin) -> Option<Component> {
        let cache = self.cache();
        match cache.map(|cache| cache.load(engine, plugin.digest())) {
            Some(Lookup::Hit(component)) => return Some(component),
            Some(Lookup::Miss | Lookup::Refused) | None => {}
        }
        let precompiled = plugin.precompiled?;
        // Starting a second engine takes a fraction of a millisecond, and is not needed once the cache has the code.
        let portable = self.portable.get_or_init(|| Some(PortableCompiler::new().ok()?.identity()));
        let component = precompiled
            .load(engine, portable.as_ref()?, plugin.digest())
            .inspect_err(|error| tracing::debug!(plugin = %plugin.name(), %error, "its code in the binary is not used"))
            .ok()?;
        if let Some(cache) = cache
            && let Err(error) = cache.store(engine, plugin.digest(), precompiled.code())
        {
            tracing::debug!(plugin = %plugin.name(), %error, "its code stays in the binary");
        }
        Some(component)
    }

    pub(crate) fn cache(&self) -> Option<&Cache> {
        let folder = self.cache_folder.as_deref()?;
        self.cache.get_or_init(|| Cache::open(folder)).as_ref().ok()
    }

    /// Returns the program that compiles apart from this process.
    pub(crate) fn compile_program(&self) -> Option<&Path> {
        self.compiler.program()
    }

    fn report_missing_cache(&self) {
        if let Some(Err(error)) = self.cache.get() {
            self.lacks_cache.call_once(|| tracing::warn!("{error}; components are compiled again in each process"));
        }
    }
}
