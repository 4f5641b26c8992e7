//! The one engine of the process, and the clock that makes computing guests yield.
//!
//! Promises: a guest that computes yields its thread within two ticks, so code that waits for it, or drops it, is never
//! blocked by it. Without a running guest nothing ticks, so an idle host costs nothing.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limits::{FIBER_STACK, MAX_INSTANCES, MAX_MEMORIES, MAX_TABLE_ELEMENTS, MAX_TABLES, MAX_WASM_STACK};

/// How often a computing guest yields its thread. Long enough to cost nothing, short enough for a user who presses
/// Ctrl-C.
const TICK: Duration = Duration::from_millis(10);

/// The most calls that run at once in one process; others wait for their turn. Protects memory and the pool of
/// instances: each may hold a fiber and its memories. The pool's address space is reserved, but not used before they
/// do.
pub const MAX_CALLS: u32 = 64;

/// Bytes of a slot that stay resident for the next call, so that a small guest's memory is cleared by `memset`
/// rather than by giving pages back and faulting them in again. Linux 6.7 and later say which pages a call wrote
/// (`PAGEMAP_SCAN`), and only those are cleared; elsewhere it is the lowest ones.
const KEEP_RESIDENT: usize = 256 << 10;

/// How instances get their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// From a pool that was reserved at the start: an empty call takes microseconds.
    Pooling,
    /// From the system at each call, if the address space for a pool is not available (`ulimit -v`). The same limits
    /// hold; each call takes some hundred microseconds more.
    OnDemand,
}

/// Builds the engine: pooling if the system allows it.
///
/// # Errors
///
/// If this machine cannot run compiled code at all.
pub(crate) fn new_engine(memory: usize) -> wasmtime::Result<(Engine, Allocator)> {
    match Engine::new(&config(Some(memory))) {
        Ok(engine) => Ok((engine, Allocator::Pooling)),
        Err(error) => {
            tracing::warn!(%error, "no address space for a pool of instances; each call will be slower");
            Ok((Engine::new(&config(None))?, Allocator::OnDemand))
        }
    }
}

/// Builds an engine that compiles for [`new_engine`], whose code depends on nothing of how instances get their memory.
/// It reserves no address space, which is limited where it is used.
///
/// # Errors
///
/// If this machine cannot run compiled code at all.
pub(crate) fn compiling_engine() -> wasmtime::Result<Engine> {
    Engine::new(&config(None))
}

/// Builds an engine like [`compiling_engine`] that compiles on the thread that asks for it and on no other.
///
/// # Errors
///
/// If this machine cannot run compiled code at all.
pub(crate) fn single_threaded_engine() -> wasmtime::Result<Engine> {
    let mut config = config(None);
    config.parallel_compilation(false);
    Engine::new(&config)
}

/// Builds an engine like [`compiling_engine`] that compiles for every machine with these processors (`triple`,
/// `features` by their names in Cranelift), and not for the one it runs on.
///
/// # Errors
///
/// If Cranelift does not know one of the names, or compiles for other processors only.
pub(crate) fn portable_engine(triple: &str, features: &[&str]) -> wasmtime::Result<Engine> {
    let mut config = config(None);
    config.target(triple)?;
    for feature in features {
        // SAFETY: each is a feature of processors, and code that uses one is loaded only where the processor has it:
        // `Component::deserialize` looks for it.
        unsafe { config.cranelift_flag_enable(feature) };
    }
    Engine::new(&config)
}

/// Adds to a hash what code must have been compiled with to be this engine's: its version and settings, and the
/// processors that it compiles for. It is the same in every process.
pub(crate) fn identify(engine: &Engine, hasher: &mut blake3::Hasher) {
    engine.precompile_compatibility_hash().hash(&mut Identity(hasher));
}

/// Feeds a [`Hash`] into a hash that is the same in every process.
struct Identity<'a>(&'a mut blake3::Hasher);

impl Hasher for Identity<'_> {
    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

fn config(pool: Option<usize>) -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true);
    // Epochs and no fuel: counting instructions made guests two to three times slower.
    config.epoch_interruption(true);
    config.max_wasm_stack(MAX_WASM_STACK);
    // A guest runs on a fiber of its own, and is suspended there while a host function waits.
    config.async_stack_size(FIBER_STACK);
    // A memory begins as a mapping of the component's data, and pages are copied when they are written.
    config.memory_init_cow(true);
    // A backtrace names functions, and needs neither the offsets in the component nor tables for the system's unwinder.
    // Both would be read, hashed and registered at each start: a third of a compiled component.
    config.generate_address_map(false);
    config.native_unwind_info(false);
    // Calls are short, and each has a fresh instance: making its memory each time would take longer than the call.
    if let Some(memory) = pool {
        let mut pooling = PoolingAllocationConfig::new();
        pooling
            .total_component_instances(MAX_CALLS)
            .total_core_instances(MAX_CALLS * 4)
            .total_memories(MAX_CALLS)
            .total_tables(MAX_CALLS * 4)
            .total_stacks(MAX_CALLS)
            .max_core_instances_per_component(MAX_INSTANCES as u32)
            .max_memories_per_component(MAX_MEMORIES as u32)
            .max_tables_per_component(MAX_TABLES as u32)
            .table_elements(MAX_TABLE_ELEMENTS)
            .max_memory_size(memory)
            // Pages that are cleared by hand and not given back: giving back and faulting in again costs more for a
            // few.
            .linear_memory_keep_resident(KEEP_RESIDENT)
            // Finds what a call wrote to where the kernel can say it; elsewhere all of it is cleared.
            .pagemap_scan(wasmtime::Enabled::Auto)
            .table_keep_resident(KEEP_RESIDENT)
            .max_unused_warm_slots(16);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling));
    } else {
        // Where address space is limited (`ulimit -v`), the pool cannot be reserved.
        config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    }
    config
}

/// The thread that ticks while a guest runs. It ends with the engine.
#[derive(Debug)]
pub(crate) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

/// A running guest; dropping it ends the ticks for that guest.
#[derive(Debug)]
pub(crate) struct Ticking(Arc<AtomicUsize>);

impl Ticker {
    /// Starts the thread, parked.
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (engine, guests) = (engine.weak(), Arc::clone(&running));
        let thread = thread::Builder::new().name("epoch".to_owned()).spawn(move || {
            loop {
                if guests.load(Ordering::Acquire) == 0 {
                    // Woken by the next call, or occasionally to check whether the engine still exists.
                    thread::park_timeout(Duration::from_secs(60));
                } else {
                    thread::sleep(TICK);
                }
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Self { running, thread: thread.thread().clone() })
    }

    /// Ticks until the returned value is dropped.
    pub(crate) fn tick(&self) -> Ticking {
        if self.running.fetch_add(1, Ordering::AcqRel) == 0 {
            self.thread.unpark();
        }
        Ticking(Arc::clone(&self.running))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
