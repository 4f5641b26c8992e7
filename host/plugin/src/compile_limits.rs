//! What compiling a component may take, and which part of it was used up.
//!
//! Promises: the limits grow with the code alone, since only code is compiled: data and custom sections, which anybody
//! can add without cost, buy nothing. No component gets more than the absolute limits.
//!
//! Deliberately not here: enforcing it, which is the compiler's.

use std::fmt;
use std::time::Duration;

use wasmparser::{Chunk, Parser, Payload};

/// The most memory of a compilation, in bytes. Protects the machine's memory.
const MAX_MEMORY: u64 = 2 << 30;
/// The most processor time of a compilation. Protects the user who waits.
const MAX_TIME: Duration = Duration::from_secs(300);

/// What the compilation of one component may take. [`CompileLimits::default`] is more than twice what the interpreter
/// of Python takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Bytes of memory, whatever the size of the code. Protects the machine's memory.
    pub memory: u64,
    /// Bytes of memory besides, for each byte of code.
    pub memory_per_byte: u64,
    /// Processor time, whatever the size of the code. Protects the user who waits, and the machine.
    pub time: Duration,
    /// Processor time besides, for each MiB of code.
    pub time_per_mib: Duration,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            memory: 384 << 20,
            memory_per_byte: 80,
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
    /// Returns the memory and the processor time for a component.
    pub(crate) fn of(self, component: &[u8]) -> (u64, Duration) {
        self.of_code(code_size(component))
    }

    fn of_code(self, size: u64) -> (u64, Duration) {
        let mib = size.div_ceil(1 << 20);
        let time = self.time_per_mib.saturating_mul(u32::try_from(mib).unwrap_or(u32::MAX));
        let memory = self.memory.saturating_add(self.memory_per_byte.saturating_mul(size));
        // Options that ask for more are a test's or an embedder's, who know what they compile.
        (memory.min(self.memory.max(MAX_MEMORY)), self.time.saturating_add(time).min(self.time.max(MAX_TIME)))
    }
}

/// Returns the bytes of the code sections of all modules in a component. Only the headers of sections are read, each
/// once, and what follows an invalid one is not code, since it does not compile.
fn code_size(component: &[u8]) -> u64 {
    let mut size = 0_u64;
    // Counted before compiling, since the compiler itself cannot be asked what a component will take.
    let mut parser = Parser::new(0);
    let mut parents = Vec::new();
    let mut rest = component;
    // Ends at what is invalid: it does not compile either, and buys nothing.
    while let Ok(Chunk::Parsed { consumed, payload }) = parser.parse(rest, true) {
        let Some(after) = rest.get(consumed..) else { break };
        rest = after;
        match payload {
            Payload::CodeSectionStart { size: code, .. } => {
                size += u64::from(code);
                // The parser would go through each function, which is the most of a component.
                parser.skip_section();
                let Some(after) = rest.get(code as usize..) else { break };
                rest = after;
            }
            Payload::ModuleSection { parser: nested, .. } | Payload::ComponentSection { parser: nested, .. } => {
                // An explicit stack: nesting is bounded by the parser and not by this thread.
                parents.push(std::mem::replace(&mut parser, nested));
            }
            Payload::End(_) => match parents.pop() {
                Some(parent) => parser = parent,
                None => break,
            },
            _ => {}
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compile_limits_grow_with_the_code_up_to_a_limit() {
        let limits = CompileLimits {
            memory: 100,
            memory_per_byte: 2,
            time: Duration::from_secs(5),
            time_per_mib: Duration::from_secs(3),
        };
        assert_eq!(limits.of_code(0), (100, Duration::from_secs(5)));
        assert_eq!(limits.of_code(1), (102, Duration::from_secs(8)));
        assert_eq!(limits.of_code((1 << 20) + 1), (100 + 2 * ((1 << 20) + 1), Duration::from_secs(11)));
        assert_eq!(CompileLimits { memory_per_byte: u64::MAX, ..limits }.of_code(2).0, MAX_MEMORY);
        assert_eq!(limits.of_code(1 << 40), (MAX_MEMORY, MAX_TIME));
        assert_eq!(CompileLimits { memory: 8 << 30, ..limits }.of_code(1).0, 8 << 30, "it was asked for");
    }

    #[test]
    fn compile_limits_count_the_code_of_all_modules_and_nothing_else() {
        // A module with one function without code: its body is a count, a size and an end.
        let code: &[u8] = &[10, 4, 1, 2, 0, 11];
        let module = [b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0", code].concat();
        assert_eq!(code_size(&module), 4 - 1, "without the count of functions");
        let padding = [&[0, 0x84, 0x80, 0x40, 1, b'x'][..], &vec![0; (1 << 20) + 2]].concat();
        assert_eq!(code_size(&[&module[..], &padding].concat()), 3);
        let mut component = b"\0asm\x0d\0\x01\0".to_vec();
        for _ in 0..2 {
            component.extend([1, u8::try_from(module.len()).expect("it is short")]);
            component.extend(&module);
        }
        component.extend(&padding);
        assert_eq!(code_size(&component), 2 * 3);
        for end in 0..component.len().min(100) {
            assert!(code_size(&component[..end]) <= 2 * 3, "cut after {end} bytes");
        }
        assert_eq!(code_size(b"no component"), 0);
    }
}
