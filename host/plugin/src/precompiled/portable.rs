//! The compiler of a release: for a level of processors that is written down here, whatever machine it runs on.
//!
//! Promises: the same component gives the same code on every machine with the same system and kind of processor,
//! however many cores it has and whatever its processor can do besides.
//!
//! Deliberately not here: compiling for other systems. The engine's compiler is built for the processor that it runs
//! on, and the others would make every binary larger; a release is built on each system anyway.

use std::env::consts::{ARCH, OS};

use wasmtime::Engine;

use crate::engine;

/// Processors that the code of a release runs on. One that lacks a feature compiles for itself.
struct Level {
    architecture: &'static str,
    system: &'static str,
    /// The target that the compiled code names. Which C library the system has makes no difference.
    triple: &'static str,
    /// What it has besides the architecture's first version, by its names in Cranelift.
    features: &'static [&'static str],
}

/// The level x86-64-v2: processors since about 2009, and the default of most virtual machines. Code for v3 (AVX2) is
/// not faster in what the built-in tools do; docs/decisions/0026-compiled-releases.md has the figures.
const X86_64_V2: &[&str] = &["has_cmpxchg16b", "has_popcnt", "has_sse3", "has_ssse3", "has_sse41", "has_sse42"];

/// ARMv8.0, which is every 64-bit processor of ARM. What came later is for atomics and half-precision floats, which no
/// built-in tool uses.
const ARMV8: &[&str] = &[];

const LEVELS: &[Level] = &[
    Level { architecture: "x86_64", system: "linux", triple: "x86_64-unknown-linux-gnu", features: X86_64_V2 },
    Level { architecture: "x86_64", system: "macos", triple: "x86_64-apple-darwin", features: X86_64_V2 },
    Level { architecture: "aarch64", system: "linux", triple: "aarch64-unknown-linux-gnu", features: ARMV8 },
    Level { architecture: "aarch64", system: "macos", triple: "aarch64-apple-darwin", features: ARMV8 },
];

/// Why a component is not compiled for a release.
#[derive(Debug, thiserror::Error)]
pub enum PrecompileError {
    /// No level of processors is written down for this system.
    #[error("no level of processors is defined for {OS} on {ARCH}; add it to `LEVELS`")]
    NoLevel,
    /// The compiler does not start.
    #[error("the compiler does not start: {0:#}")]
    Engine(wasmtime::Error),
    /// The component does not compile.
    #[error("the component does not compile: {0:#}")]
    Compile(wasmtime::Error),
}

/// Compiles components for the machines that a release is for.
pub struct PortableCompiler {
    engine: Engine,
}

impl PortableCompiler {
    /// Creates the compiler for the system it runs on.
    ///
    /// # Errors
    ///
    /// If there is no level of processors for this system, or the compiler does not know it.
    pub fn new() -> Result<Self, PrecompileError> {
        let level = LEVELS.iter().find(|level| (level.architecture, level.system) == (ARCH, OS));
        let level = level.ok_or(PrecompileError::NoLevel)?;
        let engine = engine::portable_engine(level.triple, level.features).map_err(PrecompileError::Engine)?;
        Ok(Self { engine })
    }

    /// Returns a hash over the version and settings of the compiler and the processors that it compiles for. Code is
    /// used only by a host whose own compiler for releases has the same.
    pub fn identity(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        engine::identify(&self.engine, &mut hasher);
        *hasher.finalize().as_bytes()
    }

    /// Compiles a component.
    ///
    /// # Errors
    ///
    /// If it is invalid.
    pub fn compile(&self, component: &[u8]) -> Result<Vec<u8>, PrecompileError> {
        self.engine.precompile_component(component).map_err(PrecompileError::Compile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_code_does_not_depend_on_the_processor() {
        let of_this_machine = engine::compiling_engine().expect("it starts");
        let mut native = blake3::Hasher::new();
        engine::identify(&of_this_machine, &mut native);
        let portable = PortableCompiler::new().expect("this system has a level");
        assert_ne!(portable.identity(), *native.finalize().as_bytes(), "it is what is inferred from this processor");
        assert_eq!(portable.identity(), PortableCompiler::new().expect("again").identity());
    }

    #[test]
    fn portable_levels_are_known_to_the_compiler() {
        for level in LEVELS.iter().filter(|level| level.architecture == ARCH) {
            engine::portable_engine(level.triple, level.features).expect(level.triple);
        }
        assert!(engine::portable_engine(LEVELS[0].triple, &["has_no_such_thing"]).is_err());
    }
}
