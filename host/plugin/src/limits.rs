//! The resources that one call may use, with what each limit protects.
//!
//! Deliberately not here: what a call may touch, which the grants decide, and the limits of single capabilities, which
//! are beside the code that they guard.

use std::time::Duration;

use wasmtime::ResourceLimiter;

const MIB: usize = 1 << 20;

/// The resources that one call may use. [`Limits::default`] suits every built-in tool.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a call that may run no programs may take. Protects the run from a plugin that loops or waits forever.
    pub time: Duration,
    /// How long a call that is granted programs may take: those have their own limit on silence, and builds take long.
    pub process_time: Duration,
    /// Bytes of linear memory, all memories of the plugin together. Protects the machine's memory.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(120), process_time: Duration::from_secs(3600), memory: 256 * MIB }
    }
}

/// The largest file that is read or written as a whole. Protects the memory of the host and the guest.
pub(crate) const MAX_WHOLE: u64 = 20 << 20;
/// The largest component that is read. Protects the compiler: JavaScript and Python runtimes are 12 to 18 MB, and
/// Python with a large package such as sympy 73 MB.
pub const MAX_COMPONENT: usize = 96 * MIB;

/// The most bytes that a guest may pass in one host call or as its result. Protects the host's memory; the largest
/// legitimate use is to write a file of 20 MiB.
pub(crate) const HOST_CALL_FUEL: usize = 32 * MIB;

/// The most live handles of a call, of every kind. Protects the host's tables.
pub(crate) const MAX_HANDLES: usize = 1_000;

/// The most walks that a call has open. Protects the host's memory and threads: each walk reads ahead on threads of its
/// own. A tool needs one, or one more within it.
pub(crate) const MAX_WALKS: usize = 4;

/// The most programs that a call has running or unread. Protects the machine's processes and the host's descriptors and
/// memory: each has pipes, and up to a megabyte of unread output.
pub(crate) const MAX_PROGRAMS: usize = 16;

/// The most core instances of a component. Protects the host's tables; the largest legitimate ones have about a dozen.
pub(crate) const MAX_INSTANCES: usize = 64;

/// The most linear memories of a component. Protects the pool of memories.
pub(crate) const MAX_MEMORIES: usize = 8;

/// The most tables of a component, and the most elements of each. Protects the host's memory.
pub(crate) const MAX_TABLES: usize = 32;
/// See [`MAX_TABLES`].
pub(crate) const MAX_TABLE_ELEMENTS: usize = 100_000;

/// The size of the wasm stack, in bytes. Protects the fiber's stack, which is larger by what host calls need.
pub(crate) const MAX_WASM_STACK: usize = MIB;
/// The size of a fiber's stack, in bytes.
pub(crate) const FIBER_STACK: usize = 2 * MIB;

/// The most text that a call may return in all. Protects the history and the terminal.
pub(crate) const MAX_OUTPUT_TEXT: usize = 8 * MIB;
/// The most parts that a call may return. Protects the history, of which each is an entry.
pub(crate) const MAX_PARTS: usize = 1_000;
/// The most values, at all depths, in JSON that a call returns. Protects the host's memory: a value may be two
/// characters long and takes up to some 700 bytes once it is read.
pub(crate) const MAX_VALUES: usize = 100_000;
/// The largest preview in all. Protects the terminal of the user who is asked, and the host's memory.
pub(crate) const MAX_PREVIEW: usize = 24 * MIB;
/// The most words of a command that a preview may list. Protects the host's memory.
pub(crate) const MAX_PREVIEW_ITEMS: usize = 1_000;
/// The most requests and files that a preview may list. Protects the user who reads them: all are shown, since an
/// approval grants all.
pub(crate) const MAX_PREVIEW_NAMED: usize = 100;
/// The most data that a call may return in all. Protects the request to the model.
pub(crate) const MAX_OUTPUT_DATA: usize = 24 * MIB;

/// The limit that stopped a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::memory`].
    Memory,
    /// The elements of a table.
    Table,
}

/// Denies growth beyond the limits, and remembers that it did, so that the trap that follows can be explained.
#[derive(Debug)]
pub(crate) struct Meter {
    allowed: usize,
    used: usize,
    /// The limit that was reached first.
    pub(crate) met: Option<Limit>,
}

impl Meter {
    pub(crate) fn new(allowed: usize) -> Self {
        Self { allowed, used: 0, met: None }
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.allowed || maximum.is_some_and(|maximum| desired > maximum) {
            self.met.get_or_insert(Limit::Memory);
            return Ok(false);
        }
        self.used = used;
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > MAX_TABLE_ELEMENTS || maximum.is_some_and(|maximum| desired > maximum) {
            self.met.get_or_insert(Limit::Table);
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }
}
