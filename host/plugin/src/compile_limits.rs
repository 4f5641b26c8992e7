//! What compiling a component may take, and which part of it was used up.
//!
//! Deliberately not here: enforcing it, which is the compiler's.

use std::fmt;
use std::time::Duration;

/// What the compilation of one component may take. [`CompileLimits::default`] is more than twice what the interpreter of
/// Python takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Bytes of memory, whatever the size of the component. Protects the machine's memory.
    pub memory: u64,
    /// Bytes of memory besides, for each byte of the component.
    pub memory_per_byte: u64,
    /// Processor time, whatever the size of the component. Protects the user who waits, and the machine.
    pub time: Duration,
    /// Processor time besides, for each MiB of the component.
    pub time_per_mib: Duration,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            memory: 384 << 20,
            memory_per_byte: 32,
            time: Duration::from_secs(60),
            time_per_mib: Duration::from_secs(10),
        }
    }
}

/// The limit that stopped a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileLimit {
    /// Bytes of memory.
    Memory(u64),
    /// Processor time.
    Time(Duration),
}

impl fmt::Display for CompileLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => write!(f, "{} MiB of memory", bytes >> 20),
            Self::Time(time) => write!(f, "{} s of processor time", time.as_secs()),
        }
    }
}

impl CompileLimits {
    /// Returns the memory and the processor time for a component of this size.
    pub(crate) fn of(self, size: usize) -> (u64, Duration) {
        let size = size as u64;
        let mib = size.div_ceil(1 << 20);
        let time = self.time_per_mib.saturating_mul(u32::try_from(mib).unwrap_or(u32::MAX));
        (self.memory.saturating_add(self.memory_per_byte.saturating_mul(size)), self.time.saturating_add(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compile_limits_grow_with_the_component() {
        let limits = CompileLimits {
            memory: 100,
            memory_per_byte: 2,
            time: Duration::from_secs(5),
            time_per_mib: Duration::from_secs(3),
        };
        assert_eq!(limits.of(0), (100, Duration::from_secs(5)));
        assert_eq!(limits.of(1), (102, Duration::from_secs(8)));
        assert_eq!(limits.of((1 << 20) + 1), (100 + 2 * ((1 << 20) + 1), Duration::from_secs(11)));
        assert_eq!(CompileLimits { memory_per_byte: u64::MAX, ..limits }.of(2).0, u64::MAX);
    }
}
