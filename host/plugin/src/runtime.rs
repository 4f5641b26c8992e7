//! Runs one call: admission, the linker for its grants, a fresh store, the call, and its outcome.
//!
//! Promises: a store is created for one call and dropped with it; dropping the future of a call frees its store at
//! once, whether the guest computes (the epoch makes it yield) or waits in the host (the wait is dropped with it). The
//! linker for a call contains the interfaces that were granted and no others.
//!
//! Starting a runtime is cheap: the engine is created at the first call, a component is compiled at its first use
//! ([`compiled`]).

mod compiled;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::Duration;

use host_capability::{Capability, CapabilitySet, Denied, Grants, PluginName, StatePermit};
use host_message::{CallId, Output, ToolName};
use host_process::SessionNetwork;
use host_programs::{ProgramReach, Programs, Variables};
use host_text::Wording;
use host_undo::{CallRecorder, Recorder};
use tokio::sync::Semaphore;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store};

use crate::access::{Access, CurrentAccess};
use crate::admission::{self, Imports};
use crate::answer::{self, Confirmation, Ground, NamedChanges, ToolDef};
use crate::bindings::{self, EverythingPre};
use crate::cache::{Cache, CacheError};
use crate::certificates::Certificates;
use crate::compiler::{CompileOptions, Compiler};
use crate::denials::{Denials, HostActs};
use crate::difference::{self, There};
use crate::engine::{self, Allocator, MAX_CALLS, Ticker};
use crate::error::{CallError, Failure, RuntimeError};
use crate::guest_clock::Elapsed;
use crate::guest_log::GuestLog;
use crate::limits::{HOST_CALL_FUEL, Limits, MAX_HANDLES, Meter};
use crate::lock::lock;
use crate::made_calls::MadeCalls;
use crate::missing::{self, NotThere};
use crate::open_files::{OpenFiles, Unsaved};
use crate::plugin::{Linked, Missing, Plugin};
use crate::preview_guard::PreviewGuard;
use crate::seen_files::{Current, Looked, SeenFiles};
use crate::shared::Shared;
use crate::store::{Invocation, StoreData};
use crate::wasi;
use crate::workspace::Workspace;

/// The configuration of a runtime. The default grants nothing, stores nothing, and compiles again in each process.
#[derive(Debug, Default)]
pub struct RuntimeOptions {
    /// The folder for compiled components; with `None` they stay in memory only.
    pub cache: Option<PathBuf>,
    /// The folder for the states of plugins; without it, every use of `state` is an error that says so.
    pub state: Option<PathBuf>,
    /// The user's environment, of which programs get what is on a list.
    pub environment: Vec<(OsString, OsString)>,
    /// The names that the user adds to that list; one with a `*` at its end stands for all that begin with it.
    pub variables: Vec<String>,
    /// What those programs may touch, and what else calls may; whoever holds a clone can replace it.
    pub access: CurrentAccess,
    /// The resources that one call may use.
    pub limits: Limits,
    /// How components are compiled.
    pub compile: CompileOptions,
    /// The terms of the frontend.
    pub wording: Wording,
}

/// Runs calls. There is one for each process.
pub struct Runtime {
    engine: OnceLock<(Engine, Allocator, Ticker)>,
    starting: Mutex<()>,
    cache: OnceLock<Result<Cache, CacheError>>,
    cache_folder: Option<PathBuf>,
    /// Reports that there is no cache, when something is compiled for the first time.
    lacks_cache: Once,
    /// The identity of the compiler for releases; `None` if there is none for this system.
    portable: OnceLock<Option<[u8; 32]>>,
    linkers: Mutex<Linkers>,
    pub(crate) running: Semaphore,
    /// Calls that can make calls of their own: fewer than run.
    calling: Semaphore,
    pub(crate) limits: Limits,
    compiler: Compiler,
    shared: Arc<Shared>,
}

/// A linker for each set of capabilities, with and without the inert part of WASI.
type Linkers = HashMap<(CapabilitySet, bool), Arc<Linker<StoreData>>>;

impl Runtime {
    /// Returns whether the programs of calls are confined, by every wall.
    pub fn confines_programs(&self) -> bool {
        self.access().programs.are_confined()
    }

    /// Returns what calls may touch that start now.
    pub fn access(&self) -> Arc<Access> {
        self.shared.access.now()
    }

    /// Returns the network that the programs of calls share, where they are confined.
    pub fn program_network(&self) -> &SessionNetwork {
        &self.shared.programs.network
    }

    /// Sets the editor whose open files calls read. There is one; a second is ignored.
    pub fn set_open_files(&self, files: Arc<dyn OpenFiles>) {
        self.shared.unsaved.set(files);
    }

    /// Returns a value that a plugin stored for a project, as the plugin would get it; `None` if there is none, or the
    /// runtime has no folder for such values. Nothing is made by looking.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn stored(
        &self,
        _permit: &StatePermit,
        plugin: &PluginName,
        project: &Path,
        key: &str,
    ) -> io::Result<Option<Vec<u8>>> {
        match self.shared.state.as_deref() {
            Some(states) => crate::state::stored(states, plugin, project, key),
            None => Ok(None),
        }
    }

    /// Returns the variables of a program that runs without a question because it only reads.
    pub fn variables_of_reading(&self) -> Vec<(OsString, OsString)> {
        self.shared.variables.for_reach(ProgramReach::Reading, &self.access().programs.writable)
    }

    /// Creates a runtime. Starts nothing yet.
    pub fn new(options: RuntimeOptions) -> Self {
        Self {
            engine: OnceLock::new(),
            starting: Mutex::new(()),
            cache: OnceLock::new(),
            cache_folder: options.cache,
            lacks_cache: Once::new(),
            portable: OnceLock::new(),
            linkers: Mutex::default(),
            running: Semaphore::new(MAX_CALLS as usize),
            calling: Semaphore::new(MAX_CALLS as usize / 4),
            limits: options.limits,
            compiler: Compiler::new(options.compile),
            shared: Arc::new(Shared {
                variables: Variables::new(options.environment, &options.variables),
                programs: Programs::default(),
                access: options.access,
                state: options.state,
                certificates: Certificates::default(),
                unsaved: Unsaved::default(),
                wording: options.wording,
                log: Arc::default(),
            }),
        }
    }

    /// Returns what all calls share, for what else starts programs and sends requests.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the terms of the frontend.
    pub fn wording(&self) -> Wording {
        self.shared.wording
    }

    /// Returns how instances get their memory; starts the engine.
    ///
    /// # Errors
    ///
    /// If the engine does not start.
    pub fn allocator(&self) -> Result<Allocator, RuntimeError> {
        Ok(self.engine()?.1)
    }

    /// Runs a call.
    ///
    /// # Errors
    ///
    /// Any failure of the call. The runtime is unaffected.
    pub async fn call(&self, plugin: &Plugin, invocation: Invocation) -> Result<Output, CallError> {
        let tool = invocation.tool.to_string();
        let imports = plugin.imports()?;
        // Never more than both: what the user granted and what the plugin asked for.
        let grants = Arc::new(invocation.grants.meet(plugin.declared()));
        let mut optional = plugin.optional();
        // What this tool does not need may be missing, whatever other tools of the plugin need.
        Capability::ALL.into_iter().filter(|capability| !invocation.needs.contains(*capability)).for_each(|unneeded| {
            optional.insert(unneeded);
        });
        let granted = admission::admit(plugin.name(), imports, plugin.declared(), optional, &grants)?;
        // Linked as functions that end the call as denied: the guest would otherwise not even start.
        let missing = if granted == imports.capabilities { Missing::Refuse } else { Missing::Deny };
        let linked = Linked { granted, missing };
        // By what was granted and not by what is imported: a plugin without a grant for programs has no reason to take
        // an hour. One that waits for a program in the background, which the user was told of, has a limit on that.
        let can_wait = invocation.background.as_ref().is_some_and(|programs| programs.has_any(plugin.name()));
        let limit = if can_wait { self.limits.process_time } else { self.time_limit(granted) };
        let request = invocation.request();
        let seen = invocation.seen.clone();
        let invocation = Invocation { grants, ..invocation };
        let (outcome, acts) = self
            .run(plugin, linked, invocation, limit, async |guest, store| {
                guest.host_tool_tool().call_call(store, &request).await
            })
            .await?;
        // Converted after the store is gone, so that large answers do not hold a place of the pool.
        let output = answer::output(&tool, outcome, &acts)?;
        if let Some(seen) = seen {
            // Only for a call that succeeded: of a failed one the model sees nothing.
            seen.take(acts.looked, &output);
        }
        Ok(output)
    }

    /// Asks a plugin what a call would do. It runs with the reading part of the grants; the use of anything else is a
    /// trap.
    ///
    /// # Errors
    ///
    /// As [`Runtime::call`].
    pub async fn preview(&self, plugin: &Plugin, invocation: Invocation) -> Result<Option<Confirmation>, CallError> {
        let tool = invocation.tool.to_string();
        let request = invocation.request();
        // Kept for the comparison below: the host reads the file with the plugin's rights and no more.
        let grants = invocation.grants.meet(plugin.declared());
        let workspace = Arc::clone(&invocation.workspace);
        let (seen, changes) = (invocation.seen.clone(), invocation.changes.clone());
        let absent = invocation.absent.clone();
        let ((answer, announced, named), acts) = self
            .look(plugin, invocation, async |guest, store| {
                let answer = guest.host_tool_tool().call_preview(&mut *store, &request).await?;
                let state = store.data_mut();
                Ok((answer, state.announced, std::mem::take(&mut state.named)))
            })
            .await?;
        let confirmation = answer::confirmation(&tool, answer, announced, named, &acts)?;
        let Some(confirmation) = confirmation else { return Ok(None) };
        let Some(edited) = edited(&confirmation) else { return Ok(Some(confirmation)) };
        self.refuse_unsaved(&workspace, &edited).await?;
        let name = plugin.name().clone();
        let compared = tokio::task::spawn_blocking(move || {
            let there = |path: &str| match workspace.absolute(path) {
                Ok(absolute) if absent.contains(&absolute) => Some(None),
                Ok(_) | Err(_) => difference::there(path, &name, &grants, &workspace),
            };
            if let Some(seen) = &seen {
                unchanged(&confirmation, seen, changes.as_deref(), &|path| there(path)?)?;
            }
            // The diff is made from the file's real content: the plugin's own is kept only if it says the same.
            Ok(answer::checked(confirmation, there))
        });
        let lost =
            |error| RuntimeError::Instantiate { plugin: plugin.name().to_string(), error: wasmtime::Error::new(error) };
        compared.await.map_err(lost)?.map(Some)
    }

    /// Fails if a file that is to be written has changes in an editor that are not saved: the write would be refused,
    /// so there is nothing to ask.
    async fn refuse_unsaved(&self, workspace: &Workspace, files: &[String]) -> Result<(), CallError> {
        for path in files {
            if let Ok(absolute) = workspace.absolute(path)
                && self.shared.unsaved.text(workspace.root(), &absolute).await.is_some()
            {
                return Err(CallError::Unsaved { file: workspace.shown(&absolute) });
            }
        }
        Ok(())
    }

    /// Asks a plugin for the arguments of a call that the user changed: `text` replaces the content or the command that
    /// its preview proposed. It runs like a preview.
    ///
    /// # Errors
    ///
    /// As [`Runtime::call`].
    pub async fn revise(
        &self,
        plugin: &Plugin,
        invocation: Invocation,
        text: &str,
    ) -> Result<serde_json::Map<String, serde_json::Value>, CallError> {
        let tool = invocation.tool.to_string();
        let request = invocation.request();
        let (answer, acts) = self
            .look(plugin, invocation, async |guest, store| {
                guest.host_tool_tool().call_revise(store, &request, text).await
            })
            .await?;
        answer::arguments(&tool, answer, &acts)
    }

    /// Runs a guest with the reading part of the grants; the use of anything else is a trap. Returns what [`Self::run`]
    /// does.
    async fn look<T>(
        &self,
        plugin: &Plugin,
        invocation: Invocation,
        guest: impl AsyncFnOnce(&bindings::Everything, &mut Store<StoreData>) -> wasmtime::Result<T>,
    ) -> Result<(T, HostActs), CallError> {
        let grants = Arc::new(invocation.grants.meet(plugin.declared()).reading());
        let linked = Linked { granted: grants.capabilities(), missing: Missing::Trap };
        // Looking at a call changes nothing, ends no program, takes no output from it, asks no server and calls no
        // tool.
        let invocation = Invocation { grants, background: None, changes: None, mcp: None, tools: None, ..invocation };
        self.run(plugin, linked, invocation, self.limits.time, guest).await
    }

    /// Asks a plugin for its tools, without any capability.
    ///
    /// # Errors
    ///
    /// If it is not a plugin, or its description breaks the contract's limits.
    pub async fn describe(&self, plugin: &Plugin) -> Result<Vec<ToolDef>, CallError> {
        // What is no plugin has no description, and is not taken for one that has no tools.
        plugin.imports()?;
        if plugin.is_empty() {
            return Ok(Vec::new());
        }
        let linked = Linked { granted: CapabilitySet::default(), missing: Missing::Trap };
        let (id, tool) = (CallId::new("describe"), ToolName::new("describe"));
        let (grants, nowhere) = (Arc::new(Grants::none()), Arc::new(Workspace::nowhere()));
        let invocation = Invocation::new(id, tool, String::new(), grants, nowhere);
        let (tools, _) = self
            .run(plugin, linked, invocation, self.limits.time, async |guest, store| {
                guest.host_tool_tool().call_describe(store).await
            })
            .await?;
        answer::tools(tools)
    }

    /// Runs a guest, with the grants of the call as they are; returns its answer, and what the host did to the call.
    async fn run<T>(
        &self,
        plugin: &Plugin,
        linked: Linked,
        invocation: Invocation,
        limit: Duration,
        guest: impl AsyncFnOnce(&bindings::Everything, &mut Store<StoreData>) -> wasmtime::Result<T>,
    ) -> Result<(T, HostActs), CallError> {
        let tool = invocation.tool.to_string();
        let cancel = invocation.cancel.clone();
        // Linking may compile, for seconds; a cancelled call must not wait for that.
        let pre = tokio::select! {
            biased;
            pre = self.linked(plugin, linked) => pre?,
            // It may have to be compiled, which knows of no cancelling.
            () = cancel.cancelled() => return Err(Failure::Cancelled(String::new()).into()),
        };
        // The semaphores are never closed, so waiting for them only ends with a permit. The first one leaves places for
        // the calls that a call makes, which would otherwise wait for those that wait for them.
        let _calling = match linked.granted.contains(Capability::Tools) {
            true => self.calling.acquire().await.ok(),
            false => None,
        };
        let _running = self.running.acquire().await.ok();
        let mut store = self.store(plugin, invocation)?;
        // The tools that it calls have limits of their own, and wait for the user.
        let clock = store.data().made.clock.clone();
        // One future for starting and running, so that one limit covers both.
        let work = async {
            let instance = pre.instantiate_async(&mut store).await.map_err(|error| {
                // A start function can trap like any other code of the guest.
                if error.downcast_ref::<wasmtime::Trap>().is_some() {
                    Failed::Guest(error)
                } else {
                    Failed::Start(error)
                }
            })?;
            guest(&instance, &mut store).await.map_err(Failed::Guest)
        };
        // Around the future and not in wasmtime, whose own timeout is not reliable in `run_concurrent`.
        match clock.timeout(limit, work).await {
            Ok(Ok(value)) => {
                let StoreData { denials, looked, .. } = store.into_data();
                Ok((value, HostActs { denials, looked, cancelled: cancel.is_cancelled() }))
            }
            Ok(Err(Failed::Start(error))) => {
                Err(RuntimeError::Instantiate { plugin: plugin.name().to_string(), error }.into())
            }
            // A trap of a replaced import is a denial, which the user can do something about.
            Ok(Err(Failed::Guest(error))) => match denied(plugin, linked.missing, &error) {
                Some(denied) => Err(denied.into()),
                None => Err(explain(tool, error, store.into_data())),
            },
            // The future is dropped by now, and with it the store: nothing of the guest goes on.
            Err(Elapsed) => Err(CallError::TimedOut { tool, limit }),
        }
    }

    /// Creates the store of one call, with its limits.
    pub(crate) fn store(&self, plugin: &Plugin, mut call: Invocation) -> Result<Store<StoreData>, RuntimeError> {
        let (engine, _, ticker) = self.engine()?;
        // The guest has its own copy.
        call.arguments = String::new();
        let state = StoreData {
            plugin: plugin.name().clone(),
            asked_servers: plugin.declared().scope(Capability::Http).cloned(),
            shown: PreviewGuard::new(call.shown.take()),
            shared: Arc::clone(&self.shared),
            // Once, so that all programs of the call start with the same access.
            access: self.shared.access.now(),
            changes: call.changes.take().map(|recorder| CallRecorder::new(recorder, call.id.as_str())),
            call,
            // What this call reads counts only when it has succeeded.
            looked: Looked::default(),
            announced: Ground::default(),
            made: MadeCalls::default(),
            named: NamedChanges::default(),
            denials: Denials::default(),
            emitted: 0,
            log: GuestLog::new(plugin.name(), &self.shared.log),
            panic: None,
            meter: Meter::new(self.limits.memory),
            table: ResourceTable::with_capacity(0),
            walks: 0,
            has_walked: false,
            programs: 0,
            wasi: None,
            // The clock of epochs runs as long as some store lives.
            _ticking: ticker.tick(),
        };
        let mut store = Store::new(engine, state);
        // A guest can make handles without end.
        store.data_mut().table.set_max_capacity(MAX_HANDLES);
        store.limiter(|state| &mut state.meter);
        // Yields at each tick and never traps: the limit on time is the future's.
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        // Bounds what one call copies into the host, such as a list of strings.
        store.set_hostcall_fuel(HOST_CALL_FUEL);
        store.set_max_component_handles(MAX_HANDLES);
        Ok(store)
    }

    async fn linked(&self, plugin: &Plugin, linked: Linked) -> Result<Arc<EverythingPre<StoreData>>, CallError> {
        if let Some(pre) = lock(&plugin.linked).get(&linked) {
            return Ok(Arc::clone(pre));
        }
        // Before it is compiled: what is no component is not given to the compiler.
        let imports = plugin.imports()?;
        let component = self.compiled(plugin).await?;
        self.link(plugin, component, imports, linked)
    }

    fn link(
        &self,
        plugin: &Plugin,
        component: &Component,
        imports: &Imports,
        linked: Linked,
    ) -> Result<Arc<EverythingPre<StoreData>>, CallError> {
        // Once for each set of grants: linking costs more than an empty call.
        if let Some(pre) = lock(&plugin.linked).get(&linked) {
            return Ok(Arc::clone(pre));
        }
        let failed = |error| {
            let plugin = plugin.name().to_string();
            // A function that this host does not have is the sign of a plugin that was built for a newer one.
            match imports.newer_contract() {
                Some(contract) => RuntimeError::Newer { plugin, contract, error },
                None => RuntimeError::Instantiate { plugin, error },
            }
        };
        let linker = self.linker(linked.granted, imports.wasi).map_err(failed)?;
        // Granted interfaces that the host implements are never replaced.
        let traps = linked.missing != Missing::Refuse;
        let pre = if traps || imports.empty {
            let mut linker = Linker::clone(&linker);
            let granted = traps.then_some(linked.granted);
            missing::trap(&mut linker, component, |name| admission::is_missing(name, granted))
                .and_then(|()| linker.instantiate_pre(component))
        } else {
            linker.instantiate_pre(component)
        };
        let pre = Arc::new(pre.and_then(EverythingPre::new).map_err(failed)?);
        // Two calls may link at once; the second result is the same and replaces the first.
        lock(&plugin.linked).insert(linked, Arc::clone(&pre));
        Ok(pre)
    }

    /// Returns the linker that contains these capabilities, what is always linked, and nothing else.
    pub(crate) fn linker(&self, granted: CapabilitySet, wasi: bool) -> wasmtime::Result<Arc<Linker<StoreData>>> {
        // One linker for each set: which interfaces exist in a call is decided by which linker it has, not by a check.
        if let Some(linker) = lock(&self.linkers).get(&(granted, wasi)) {
            return Ok(Arc::clone(linker));
        }
        let (engine, ..) = self.engine().map_err(wasmtime::Error::new)?;
        let mut linker = Linker::<StoreData>::new(engine);
        bindings::context::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        bindings::background::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        bindings::file_changes::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
        for capability in granted.iter() {
            // Without a wildcard: a new capability has to be linked here or does not compile.
            match capability {
                Capability::FsRead => bindings::fs_read::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::FsWrite => bindings::fs_write::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::Process => bindings::process::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::Http => bindings::http::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::State => bindings::state::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::Mcp => bindings::mcp::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
                Capability::Tools => bindings::tools::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?,
            }
        }
        if wasi {
            wasi::add_to_linker(&mut linker)?;
        }
        let linker = Arc::new(linker);
        lock(&self.linkers).insert((granted, wasi), Arc::clone(&linker));
        Ok(linker)
    }

    pub(crate) fn engine(&self) -> Result<&(Engine, Allocator, Ticker), RuntimeError> {
        if let Some(started) = self.engine.get() {
            return Ok(started);
        }
        let _one_at_a_time = lock(&self.starting);
        if let Some(started) = self.engine.get() {
            return Ok(started);
        }
        let (engine, allocator) = engine::new_engine(self.limits.memory).map_err(RuntimeError::Engine)?;
        let ticker = Ticker::start(&engine).map_err(RuntimeError::Ticker)?;
        Ok(self.engine.get_or_init(|| (engine, allocator, ticker)))
    }

    /// Returns how long a call with these capabilities may take. What it imports does not count: a plugin that may
    /// start no program waits for none.
    fn time_limit(&self, granted: CapabilitySet) -> Duration {
        if granted.contains(Capability::Process) { self.limits.process_time } else { self.limits.time }
    }
}

/// Checks that what a preview names is as the model last saw it. `there` reads it as the plugin may.
fn unchanged(
    confirmation: &Confirmation,
    seen: &SeenFiles,
    changes: Option<&Recorder>,
    there: &dyn Fn(&str) -> Option<There>,
) -> Result<(), CallError> {
    for file in confirmation.writes() {
        let Some(now) = there(file) else { continue };
        let current = Current { content: &now.content, changed: now.changed };
        if let Some(changed) = seen.changed(&now.path, current, changes) {
            return Err(CallError::Changed { file: file.to_owned(), difference: changed.difference });
        }
    }
    Ok(())
}

/// Returns the files whose new contents a preview proposes; `None` if it names no files, which are compared with what
/// the model saw.
fn edited(confirmation: &Confirmation) -> Option<Vec<String>> {
    match confirmation {
        Confirmation::Edit { path, .. } => Some(vec![path.clone()]),
        Confirmation::Edits { changes } => Some(changes.iter().map(|change| change.path.clone()).collect()),
        Confirmation::Info { .. } => Some(Vec::new()),
        Confirmation::Exec { .. } | Confirmation::Mcp { .. } | Confirmation::Call => None,
    }
}

enum Failed {
    Start(wasmtime::Error),
    Guest(wasmtime::Error),
}

/// Returns the denial that ended a guest, if it used an optional capability that was not granted.
fn denied(plugin: &Plugin, missing: Missing, error: &wasmtime::Error) -> Option<Denied> {
    let capability = error.downcast_ref::<NotThere>()?.capability.filter(|_| missing == Missing::Deny)?;
    let scope = plugin.declared().scope(capability)?;
    Some(Denied::ungranted(plugin.name(), capability, &admission::suggested(scope)))
}

/// Converts what ended a guest into an error that explains it.
fn explain(tool: String, error: wasmtime::Error, state: StoreData) -> CallError {
    if let Some(limit) = state.meter.met {
        return CallError::Limit { tool, limit };
    }
    let backtrace = error.downcast_ref::<wasmtime::WasmBacktrace>().map(answer::backtrace).unwrap_or_default();
    let trap = match error.downcast_ref::<wasmtime::Trap>() {
        Some(trap) => trap.to_string(),
        None => format!("{}", error.root_cause()),
    };
    CallError::Crashed { tool, trap, panic: state.panic, backtrace }
}

#[cfg(test)]
mod tests;
